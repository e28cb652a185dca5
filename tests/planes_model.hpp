// SPDX-License-Identifier: MIT
// gemm's operands in parts, as the definition in kernels/gemm/planes.hpp says, computed on the host
// in double; and what it takes to run the pre-pass and compare.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <ostream>
#include <utility>
#include <vector>

#include "device_buffer.hpp"
#include "gemm_planes.hpp"
#include "reference.hpp"

namespace tinyblas::test {

/// The rows of an operand as the pre-pass sees them: those of op(A), or the columns of B.
struct Rows {
    std::int64_t rows, k;
    std::vector<float> values;  // (rows, k)

    Rows(std::int64_t rows, std::int64_t k)
        : rows(rows), k(k), values(static_cast<std::size_t>(rows * k)) {}
    float& operator()(std::int64_t row, std::int64_t p) {
        return values[static_cast<std::size_t>(row * k + p)];
    }
    float operator()(std::int64_t row, std::int64_t p) const {
        return values[static_cast<std::size_t>(row * k + p)];
    }
    template <class Make>
    void fill(Make make) {
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t p = 0; p < k; ++p) (*this)(row, p) = static_cast<float>(make(row, p));
    }
};

/// x rounded to `digits` significant bits, the last worth 2^least at least: to the nearest, ties to
/// even.
inline double round_to(double x, int digits, int least) {
    if (x == 0) return x;
    const int last = std::max(std::ilogb(x) - (digits - 1), least);
    return std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
}

inline double value_of_fp16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, hidden = exponent > 0 ? 1024 : 0;
    const double size = std::ldexp((bits & 1023) + hidden, std::max(exponent, 1) - 25);
    return bits & 0x8000 ? -size : size;
}

/// What the pre-pass is to write for an operand.
class PlanesModel {
  public:
    PlanesModel(const Rows& x, GemmParts kind)
        : rows(x.rows),
          k(x.k),
          kind(kind),
          groups((k + 255) / 256),
          chunks((k + 63) / 64),
          row_bricks((rows + 63) / 64),
          bricks(static_cast<std::size_t>(row_bricks * chunks * parts() * 64 * 64)),
          exponents(static_cast<std::size_t>(row_bricks * groups * 64), 7),
          findings(static_cast<std::size_t>((rows + 31) / 32)) {
        for (std::int64_t row = 0; row < rows; ++row) {
            find_exponents(x, row);
            for (std::int64_t p = 0; p < k; ++p) split(x(row, p), row, p);
            for (std::int64_t group = 0; group < groups; ++group) judge(x, row, group);
        }
    }

    int parts() const { return kind == GemmParts::fp16x2 ? 2 : 3; }
    int& exponent(std::int64_t row, std::int64_t group) {
        return exponents[static_cast<std::size_t>((row / 64 * groups + group) * 64 + row % 64)];
    }
    std::size_t place(std::int64_t row, std::int64_t p, int part) const {
        const std::int64_t brick = (row / 64 * chunks + p / 64) * parts() + part;
        const std::int64_t piece = p / 8 % 8 ^ row % 8;
        return static_cast<std::size_t>(brick * 4096 + row % 64 * 64 + piece * 8 + p % 8);
    }

    const std::int64_t rows, k;
    const GemmParts kind;
    const std::int64_t groups, chunks, row_bricks;
    std::vector<std::uint16_t> bricks;
    std::vector<int> exponents;
    std::vector<unsigned> findings;

  private:
    static constexpr int none = -1000;

    /// Of a row's smallest and largest numbers in a group.
    std::pair<int, int> ends_of_group(const Rows& x, std::int64_t row, std::int64_t group) const {
        int least = -none, largest = none;
        for (std::int64_t p = group * 256; p < std::min(k, (group + 1) * 256); ++p) {
            if (x(row, p) == 0 || !std::isfinite(x(row, p))) continue;
            least = std::min(least, std::ilogb(x(row, p)));
            largest = std::max(largest, std::ilogb(x(row, p)));
        }
        return {least, largest};
    }
    /// That of the largest, or the next 8 n - 1 above it, if no number lies 2^28 below that.
    int exponent_of_group(const Rows& x, std::int64_t row, std::int64_t group) const {
        const auto [least, largest] = ends_of_group(x, row, group);
        if (largest == none) return none;
        const int even = static_cast<int>(std::floor((double{1} * largest + 8) / 8)) * 8 - 1;
        return least < even - 28 ? largest : even;
    }

    /// Whether a row of the strip is so large or small that groups of it might drift too far.
    bool is_far(const Rows& x, std::int64_t strip) const {
        for (std::int64_t row = strip * 32; row < std::min(rows, (strip + 1) * 32); ++row)
            for (std::int64_t group = 0; group < groups; ++group) {
                const int largest = ends_of_group(x, row, group).second;
                if (largest != none && std::abs(largest) > 20) return groups > 1;
            }
        return false;
    }

    /// Of a row in its groups. A zero group has 7, or where rows are far, the one before it, or the
    /// first after it.
    void find_exponents(const Rows& x, std::int64_t row) {
        const bool far = is_far(x, row / 32);
        std::vector<int> own;
        for (std::int64_t group = 0; group < groups; ++group) {
            const int e = exponent_of_group(x, row, group);
            own.push_back(e == none && !far ? 7 : e);
        }
        int least = -none, most = none, last = none, first = none, highest = none;
        for (std::int64_t group = 0; group < groups; ++group) {
            const int largest = ends_of_group(x, row, group).second;
            const int e = own[static_cast<std::size_t>(group)];
            highest = std::max(highest, e);
            if (first == none) first = e;
            if (largest == none) continue;
            least = std::min(least, largest);
            most = std::max(most, largest);
        }
        if (most - least > 40) finding(row) |= gemm_wide;
        if (most - least > 48) finding(row) |= gemm_strict;
        for (std::int64_t group = 0; group < groups; ++group) {
            const int e = own[static_cast<std::size_t>(group)];
            if (e != none) last = e;
            exponent(row, group) = first == none               ? 7
                                   : kind == GemmParts::bf16x3 ? highest
                                   : last == none              ? first
                                                               : last;
        }
    }

    void judge(const Rows& x, std::int64_t row, std::int64_t group) {
        int below = 0;
        const std::int64_t end = std::min(k, (group + 1) * 256);
        for (std::int64_t p = group * 256; p < end; ++p)
            if (!std::isfinite(x(row, p))) finding(row) |= gemm_strict;
        const int e = exponent_of_group(x, row, group);
        if (e == none) return;
        for (std::int64_t p = group * 256; p < end; ++p) {
            const double size = std::fabs(static_cast<double>(x(row, p)));
            if (size == 0) continue;
            if (size < std::ldexp(1, e - 28)) ++below;
            if (size < std::ldexp(1, e - 36)) finding(row) |= gemm_wide;
            if (size < std::ldexp(1, e - 48)) finding(row) |= gemm_strict;
        }
        if (below > 2) finding(row) |= gemm_wide;
    }

    void split(float x, std::int64_t row, std::int64_t p) {
        if (!std::isfinite(x)) return;
        const int e = exponent(row, p / 256);
        if (kind == GemmParts::fp16x2) {
            const double y = std::ldexp(x, 14 - e);
            const double high = round_to(y, 11, -24);
            const double low = round_to(std::ldexp(y - high, 11), 11, -24);
            bricks[place(row, p, 0)] = fp16(high);
            bricks[place(row, p, 1)] = fp16(low);
            if (low != 0) finding(row) |= gemm_has_low;
        } else {
            double rest = std::ldexp(x, 50 - e);
            for (int part = 0; part < 3; ++part) {
                const double high = round_to(rest, 8, -133);
                bricks[place(row, p, part)] = bf16(high);
                rest -= high;
            }
        }
    }

    static std::uint16_t fp16(double x) {
        const unsigned sign = std::signbit(x) ? 0x8000 : 0;
        if (x == 0) return static_cast<std::uint16_t>(sign);
        const int e = std::max(std::ilogb(x), -14);
        const auto digits = static_cast<unsigned>(std::ldexp(std::fabs(x), 10 - e));
        return static_cast<std::uint16_t>(sign | (digits + (static_cast<unsigned>(e + 14) << 10)));
    }
    static std::uint16_t bf16(double x) {
        return static_cast<std::uint16_t>(bits(static_cast<float>(x)) >> 16);
    }

    unsigned& finding(std::int64_t row) { return findings[static_cast<std::size_t>(row / 32)]; }
};

/// How an operand's elements lie in memory.
struct PlanesLayout {
    const char* name;
    bool along_rows = false;  // neighbours are elements of a column of op(A), of a row of B
    std::int64_t stride = 1;  // of neighbours
    std::int64_t extra = 0;   // elements between two runs of neighbours
    std::int64_t offset = 0;  // of the first from a multiple of 16 bytes
    std::int64_t factor = 1;  // 0: all runs are the same; -1: backwards
};
inline std::ostream& operator<<(std::ostream& out, const PlanesLayout& layout) {
    return out << layout.name;
}

/// A multiple of 4 as far apart as `extra` lets them be.
inline constexpr PlanesLayout k_neighbours = {.name = "k_neighbours"};
inline constexpr PlanesLayout row_neighbours = {.name = "row_neighbours", .along_rows = true};
inline constexpr PlanesLayout planes_layouts[] = {
    k_neighbours,
    row_neighbours,
    {.name = "k_off_1", .offset = 1},
    {.name = "k_off_2_odd_ld", .extra = 1, .offset = 2},
    {.name = "k_off_3_far", .extra = 6, .offset = 3},
    {.name = "rows_off_1", .along_rows = true, .offset = 1},
    {.name = "rows_off_2_odd_ld", .along_rows = true, .extra = 3, .offset = 2},
    {.name = "rows_off_3_far", .along_rows = true, .extra = 5, .offset = 3},
    {.name = "k_every_third", .stride = 3, .extra = 2},
    {.name = "rows_every_second", .along_rows = true, .stride = 2, .offset = 1},
    {.name = "k_runs_backwards", .factor = -1},
    {.name = "rows_runs_backwards", .along_rows = true, .factor = -1},
    {.name = "k_backwards", .stride = -1, .extra = 4},
    {.name = "rows_backwards", .along_rows = true, .stride = -1},
};

/// An operand in memory and the parts that the pre-pass makes of it.
class Planes {
  public:
    Planes(const Rows& x, const PlanesLayout& layout = k_neighbours)
        : x_(x),
          shape_{nullptr, nullptr, nullptr, x.rows, x.k},
          bricks_(static_cast<std::size_t>(shape_.row_bricks() * shape_.chunks() * 3 * 4096)),
          exponents_(static_cast<std::size_t>(shape_.row_bricks() * shape_.groups() * 64)),
          wide_exponents_(exponents_.size()),
          findings_(static_cast<std::size_t>(shape_.all_findings())),
          memory_(place(layout)) {
        std::fill(memory_.begin(), memory_.end(), poison<float>());
        for (std::int64_t row = 0; row < x.rows; ++row)
            for (std::int64_t p = 0; p < x.k; ++p)
                memory_[static_cast<std::size_t>(first_ + row * row_stride_ + p * k_stride_)] =
                    x(row, p);
        forget();
    }

    /// Nothing is written yet.
    void forget() {
        std::memset(bricks_.data(), 0xFF, bricks_.size() * sizeof(std::uint16_t));
        std::memset(exponents_.data(), 0xFF, exponents_.size() * sizeof(int));
        std::memset(wide_exponents_.data(), 0xFF, wide_exponents_.size() * sizeof(int));
        std::memset(findings_.data(), 0xFF, findings_.size());
    }
    void set(std::int64_t row, std::int64_t p, float value) {
        x_(row, p) = value;
        memory_[static_cast<std::size_t>(first_ + row * row_stride_ + p * k_stride_)] = value;
    }

    GemmPlanes view(GemmParts kind) {
        GemmPlanes planes = shape_;
        planes.bricks = bricks_.data();
        planes.exponents = kind == GemmParts::fp16x2 ? exponents_.data() : wide_exponents_.data();
        planes.findings = findings_.data();
        return planes;
    }
    GemmPlanesTask task(GemmParts kind) {
        return {memory_.data() + first_, row_stride_,           k_stride_, view(kind),
                exponents_.data(),       wide_exponents_.data()};
    }
    /// The task of an operand that is in parts already.
    GemmPlanesTask packed(GemmParts kind) {
        GemmPlanesTask task = this->task(kind);
        task.data = nullptr;
        return task;
    }

    const Rows& values() const { return x_; }
    /// Of each strip, what was found in its groups together.
    std::vector<unsigned> findings() {
        std::vector<unsigned> found(static_cast<std::size_t>(shape_.strips()));
        const auto pitch = static_cast<std::size_t>(shape_.findings_pitch());
        for (std::size_t i = 0; i < findings_.size(); ++i) found[i / pitch] |= findings_[i];
        return found;
    }

    /// Whether everything that the pass writes is as the model has it.
    testing::AssertionResult as_defined(GemmParts kind) {
        const PlanesModel model(x_, kind);
        const GemmPlanes planes = view(kind);
        for (std::size_t i = 0; i < model.exponents.size(); ++i)
            if (planes.exponents[i] != model.exponents[i])
                return testing::AssertionFailure()
                       << "exponent " << i << " is " << planes.exponents[i] << ", not "
                       << model.exponents[i];
        for (std::size_t i = 0; i < model.bricks.size(); ++i)
            if (planes.bricks[i] != model.bricks[i])
                return testing::AssertionFailure()
                       << "place " << i % 4096 << " of brick " << i / 4096 << " holds "
                       << planes.bricks[i] << ", not " << model.bricks[i];
        const std::vector<unsigned> found = findings();
        for (std::size_t i = 0; kind == GemmParts::fp16x2 && i < found.size(); ++i)
            if (found[i] != model.findings[i])
                return testing::AssertionFailure() << "findings of strip " << i << " are "
                                                   << found[i] << ", not " << model.findings[i];
        return testing::AssertionSuccess();
    }
    /// Whether the pass has written nothing but what an earlier one has.
    bool untouched(GemmParts kind) {
        const GemmPlanes planes = view(kind);
        return std::all_of(planes.exponents, planes.exponents + exponents_.size(),
                           [](int e) { return e == -1; });
    }

  private:
    /// Finds strides and the first element; returns how many elements there are in all.
    std::size_t place(const PlanesLayout& layout) {
        const std::int64_t length = layout.along_rows ? x_.rows : x_.k;
        const std::int64_t runs = layout.along_rows ? x_.k : x_.rows;
        const std::int64_t step = std::abs(layout.stride);
        const std::int64_t run = ((length * step + 3) / 4 * 4 + layout.extra) * layout.factor;
        const std::int64_t span = std::abs(run) * (runs - 1) + step * (length - 1) + 1;
        first_ = 8 + layout.offset;
        if (layout.stride < 0) first_ += step * (length - 1);
        if (run < 0) first_ -= run * (runs - 1);
        row_stride_ = layout.along_rows ? layout.stride : run;
        k_stride_ = layout.along_rows ? run : layout.stride;
        return static_cast<std::size_t>(8 + layout.offset + span + 8);
    }

    Rows x_;
    GemmPlanes shape_;
    std::int64_t first_ = 0, row_stride_ = 0, k_stride_ = 0;
    Buffer<std::uint16_t> bricks_;
    Buffer<int> exponents_, wide_exponents_;
    Buffer<std::uint8_t> findings_;
    Buffer<float> memory_;
};

/// Runs the pre-pass on both and waits.
template <GemmParts kind>
void make_planes(const GemmPlanesTask& a, const GemmPlanesTask& b) {
    launch_gemm_planes<kind>(nullptr, a, b);
    if (kind == GemmParts::fp16x2) launch_gemm_planes_drift(nullptr, a, b);
    device::synchronize(nullptr, "test");
}
template <GemmParts kind>
void make_planes(Planes& a, Planes& b) {
    make_planes<kind>(a.task(kind), b.task(kind));
}

}  // namespace tinyblas::test
