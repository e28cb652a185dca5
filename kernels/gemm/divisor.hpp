// SPDX-License-Identifier: MIT
// Division by a number that the host knows. Source: T. Granlund, P. L. Montgomery, Division by
// invariant integers using multiplication, PLDI 1994.
#pragma once

#include <bit>
#include <cstdint>

namespace tinyblas {

/// n / divisor, rounded down, by a multiply and a shift, where a GPU's division takes twenty
/// instructions, one after the other. For divisors from 1 and n, both below 2^31.
class Divisor {
  public:
    constexpr explicit Divisor(unsigned divisor)
        : shift_(31 + std::bit_width(divisor - 1)),
          factor_(static_cast<unsigned>(((std::uint64_t{1} << shift_) - 1) / divisor + 1)) {}

    constexpr unsigned quotient(unsigned n) const {
        return static_cast<unsigned>(std::uint64_t{n} * factor_ >> shift_);
    }

  private:
    // factor = 2^shift / divisor, rounded up: below 2^32, and off by less than 2^shift / 2^31.
    int shift_;
    unsigned factor_;
};

}  // namespace tinyblas
