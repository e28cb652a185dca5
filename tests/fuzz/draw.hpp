// SPDX-License-Identifier: MIT
// A fuzzer's bytes as arguments. Most calls are drawn in haste, in tiny extents; most of these are
// spoiled, that is, have a bad argument or several, for a refusal takes a tenth of the time of
// the smallest launch. With care, one input in 32: calls that are valid most of the time, some of
// them in extents past the edges of tiles. A sum over all bytes decides which, for a fuzzer that
// could choose would spend its time on the calls that take longest. When the fuzzer's bytes have
// come to an end, random ones follow, which depend on all of them: an input is many calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>

namespace tinyblas::fuzz {

inline constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

class Draw {
  public:
    Draw(const std::uint8_t* data, std::size_t size)
        : next_(data),
          end_(data + size),
          random_(std::accumulate(data, end_, std::uint64_t{1},
                                  [](auto hash, auto byte) { return (hash ^ byte) * factor_; })),
          hasty_((random_ >> 32) % 32 != 0) {}

    /// Before each call.
    void begin_call() { spoiled_ = hasty_ && byte() % 16 != 0; }
    bool hasty() const { return hasty_; }

    bool empty() const { return next_ == end_; }
    unsigned byte() {
        if (!empty()) return *next_++;
        random_ = random_ * factor_ + 1;
        return static_cast<unsigned>(random_ >> 56);
    }
    /// One time in n.
    bool once_in(unsigned n) { return byte() % n == n - 1; }
    /// Whether an argument is a bad one: one time in n, more often in a spoiled call.
    bool bad(unsigned n) { return once_in(spoiled_ ? 5 : n); }
    /// 0 to n - 1.
    std::int64_t below(std::int64_t n) {
        const unsigned high = byte();
        return n > 0 ? (high << 8 | byte()) % n : 0;
    }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[byte() % values.size()];
    }

    /// The name of a rung; in haste mostly the first, which is best.
    const char* rung(std::initializer_list<const char*> names) {
        return hasty_ && !once_in(16) ? *names.begin() : one_of(names);
    }

    /// Numbers that no extent, leading dimension or increment should be, or only in good company.
    std::int64_t extreme() {
        constexpr std::int64_t one = 1;
        return one_of({-one, least, greatest, one << 31, one << 32, one << 40, one << 60, one << 61,
                       one << 62, least + 1, greatest - 1, -(one << 62), (one << 62) + 1,
                       3 * (one << 60), -2 * one, one << 33});
    }
    std::int64_t extent() {
        const unsigned kind = byte();
        if (hasty_) return kind < (spoiled_ ? 192 : 250) ? kind % 5 : extreme();
        if (kind < 160) return kind % 21;
        if (kind < 244) return kind % 4;
        return kind < 252 ? 20 + byte() % 51 : extreme();
    }
    /// At least `smallest`, most often; a little more, now and then.
    std::int64_t leading_dimension(std::int64_t smallest) {
        const unsigned kind = byte();
        if (kind < 100) return smallest;
        if (kind < (spoiled_ ? 192 : 244))
            return smallest < greatest - 8 ? smallest + kind % 5 : smallest;
        return kind % 3 == 0 ? smallest - 1 : kind % 3 == 1 ? 0 : extreme();
    }
    std::int64_t increment() {
        const unsigned kind = byte();
        if (kind < 100) return 1;
        if (kind < (spoiled_ ? 192 : 244)) return static_cast<std::int64_t>(kind % 8) - 3;
        return kind % 2 == 0 ? 0 : extreme();
    }
    /// A factor whose products stay exact.
    int factor() { return one_of({1, 0, -1, 2, -2, 1, 3, 0}); }

  private:
    static constexpr std::uint64_t factor_ = 6364136223846793005;  // of Knuth's generator
    const std::uint8_t *next_, *end_;
    std::uint64_t random_;
    bool hasty_, spoiled_ = false;
};

}  // namespace tinyblas::fuzz
