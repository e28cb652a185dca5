// SPDX-License-Identifier: MIT
// One launcher an entry of a tuning table.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

namespace tinyblas {

/// make(std::integral_constant<int, e>()) for each entry e: the launcher of its kernel, or null
/// where another file compiles it.
template <class Launcher, int entries, class Make>
constexpr std::array<Launcher, entries> launcher_table(Make make) {
    return [&]<int... entry>(std::integer_sequence<int, entry...>) {
        return std::array<Launcher, entries>{make(std::integral_constant<int, entry>())...};
    }
    (std::make_integer_sequence<int, entries>());
}

}  // namespace tinyblas
