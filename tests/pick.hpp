// SPDX-License-Identifier: MIT
// The function of a type: pick<T>(tinyblas_sgemm, tinyblas_dgemm).
#pragma once

#include <type_traits>

namespace tinyblas::test {

template <class T, class Single, class Double>
constexpr auto pick([[maybe_unused]] Single single, [[maybe_unused]] Double of_double) {
    if constexpr (std::is_same_v<T, float>)
        return single;
    else
        return of_double;
}

}  // namespace tinyblas::test
