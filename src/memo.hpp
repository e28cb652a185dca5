// SPDX-License-Identifier: MIT
// What a costly function of few numbers gave for recent arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tinyblas {

/// `count` numbers in, a Value out. Arguments that share a slot push each other out. Not to be
/// shared between threads; one that never asks takes no memory for it.
template <std::size_t count, class Value>
class Memo {
  public:
    using Key = std::array<std::int64_t, count>;

    template <class Make>
    const Value& operator()(const Key& key, Make make) {
        std::uint64_t hash = 0;
        for (const std::int64_t number : key)
            hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
        if (!slots_) slots_ = std::make_unique<Slots>();
        Slot& slot = (*slots_)[hash >> (64 - slots_log2)];
        if (!slot.used || slot.key != key) {
            slot.value = make();
            slot.key = key;
            slot.used = true;
        }
        return slot.value;
    }

  private:
    static constexpr int slots_log2 = 4;
    struct Slot {
        Key key = {};
        Value value = {};
        bool used = false;
    };
    using Slots = std::array<Slot, std::size_t{1} << slots_log2>;
    std::unique_ptr<Slots> slots_;
};

}  // namespace tinyblas
