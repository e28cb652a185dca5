// SPDX-License-Identifier: MIT
// One transpose call as a test sees it: operands of random bits between guard bands, what ran, and
// whether every bit arrived and none outside the view changed.
#pragma once

#include <complex>
#include <cstring>
#include <optional>
#include <ostream>
#include <utility>

#include "kernels/transpose/tiles.hpp"
#include "reference.hpp"
#include "tinyblas/transpose.hpp"

namespace tinyblas::test {

/// A matrix in a buffer of random bits (NaNs with every payload among them), on the host before and
/// after, and on the device.
template <class T>
class BitOperand {
  public:
    BitOperand(std::int64_t rows, std::int64_t columns, const Storage& storage, Random& random)
        : name_(storage.name) {
        const std::int64_t runs = storage.by_column ? columns : rows;
        const std::int64_t length = storage.by_column ? rows : columns;
        const std::int64_t step = storage.element_stride;
        const std::int64_t ld =
            std::max<std::int64_t>(1, length * step) * storage.ld_factor + storage.ld_extra;
        const bool empty = runs == 0 || length == 0;
        const std::int64_t span = empty ? 0 : (runs - 1) * ld + (length - 1) * step + 1;
        before_.resize(static_cast<std::size_t>(guard + storage.offset + span + guard));
        for (T& element : before_) element = random_bits(random);
        after_ = before_;
        device_ = Matrix<T>(1, static_cast<std::int64_t>(before_.size()));
        view_ = {nullptr, rows, columns, storage.by_column ? step : ld,
                 storage.by_column ? ld : step};
        first_ = guard + storage.offset;
        if (storage.flip_rows && !empty) {
            first_ += (rows - 1) * view_.row_stride;
            view_.row_stride = -view_.row_stride;
        }
        if (storage.flip_columns && !empty) {
            first_ += (columns - 1) * view_.column_stride;
            view_.column_stride = -view_.column_stride;
        }
    }

    const char* name() const { return name_; }
    MatrixView<T> before() { return in(before_.data()); }
    MatrixView<T> after() { return in(after_.data()); }
    MatrixView<T> device() { return in(device_.view().data); }

    void upload(Context& context) { copy(context, whole(before_), device_); }
    void download(Context& context) {
        copy(context, device_, whole(after_));
        context.synchronize();
    }

    /// Whether the buffer is as it was; with `but_view`, whether all of it outside the view is.
    testing::AssertionResult intact(bool but_view = false) {
        std::vector<bool> may_change(before_.size(), false);
        for (std::int64_t i = 0; but_view && i < view_.rows; ++i)
            for (std::int64_t j = 0; j < view_.columns; ++j)
                may_change[static_cast<std::size_t>(&before()(i, j) - before_.data())] = true;
        for (std::size_t at = 0; at < before_.size(); ++at)
            if (!may_change[at] && !same_bits(before_[at], after_[at]))
                return testing::AssertionFailure()
                       << "element " << static_cast<std::int64_t>(at) - first_
                       << " from (0, 0) of a " << view_.rows << " x " << view_.columns << " "
                       << name_ << " operand changed";
        return testing::AssertionSuccess();
    }

    static bool same_bits(const T& x, const T& y) { return std::memcmp(&x, &y, sizeof(T)) == 0; }

  private:
    static constexpr std::int64_t guard = 128;

    static T random_bits(Random& random) {
        std::int64_t words[(sizeof(T) + 7) / 8];
        for (std::int64_t& word : words) {
            word = random.integer(0, std::numeric_limits<std::int64_t>::max() - 1);
            word ^= word << 1;  // the sign, too
        }
        T element;
        std::memcpy(&element, words, sizeof(T));
        return element;
    }
    static MatrixView<T> whole(std::vector<T>& buffer) {
        return MatrixView<T>::row_major(buffer.data(), 1, static_cast<std::int64_t>(buffer.size()));
    }
    MatrixView<T> in(T* buffer) const {
        return {buffer + first_, view_.rows, view_.columns, view_.row_stride, view_.column_stride};
    }

    const char* name_;
    std::vector<T> before_, after_;
    Matrix<T> device_;
    MatrixView<T> view_;
    std::int64_t first_ = 0;  // where element (0, 0) lies in the buffers
};

/// B = transposed(A) for A of m x n; without `b_storage`, A = transposed(A).
template <class T>
struct TransposeProblem {
    TransposeProblem(std::int64_t m, std::int64_t n, std::uint64_t seed,
                     const Storage& a_storage = storages[0], const Storage& b_storage = storages[0])
        : random(seed), a(m, n, a_storage, random), b(std::in_place, n, m, b_storage, random) {}
    TransposeProblem(std::int64_t n, std::uint64_t seed, const Storage& storage)
        : random(seed), a(n, n, storage, random) {}

    MatrixView<T> target() { return b ? b->device() : a.device(); }

    /// What the library must find out about the operands, extents of 1 aside.
    TransposeOperands operands() {
        MatrixView<T> from = a.device(), to = target();
        if (from.column_stride != 1 && from.row_stride == 1) {
            from = from.transposed();
            to = to.transposed();
        }
        const auto bits = reinterpret_cast<std::uintptr_t>(from.data) |
                          reinterpret_cast<std::uintptr_t>(to.data) |
                          static_cast<std::uintptr_t>(from.row_stride * std::int64_t{sizeof(T)}) |
                          static_cast<std::uintptr_t>(to.row_stride * std::int64_t{sizeof(T)});
        return {static_cast<int>(sizeof(T)),
                from.rows,
                from.columns,
                from.column_stride == 1 && to.column_stride == 1,
                bits % 16 == 0,
                !b};
    }

    TransposeChoice run(Context& context, TransposeOptions options = {}) {
        a.upload(context);
        if (b) b->upload(context);
        const TransposeChoice choice = b ? transpose<T>(context, a.device(), b->device(), options)
                                         : transpose<T>(context, a.device(), options);
        a.download(context);
        if (b) b->download(context);
        return choice;
    }

    /// Whether the target is A transposed, bit for bit, and all else is as it was.
    testing::AssertionResult right() {
        const MatrixView<T> from = a.before(), to = b ? b->after() : a.after();
        for (std::int64_t i = 0; i < from.rows; ++i)
            for (std::int64_t j = 0; j < from.columns; ++j)
                if (!BitOperand<T>::same_bits(from(i, j), to(j, i)))
                    return testing::AssertionFailure()
                           << "element (" << j << ", " << i << ") is wrong; " << *this;
        for (auto intact : {a.intact(!b), b ? b->intact(true) : testing::AssertionSuccess()})
            if (!intact) return intact << "; " << *this;
        return testing::AssertionSuccess();
    }

    friend std::ostream& operator<<(std::ostream& out, const TransposeProblem& p) {
        TransposeProblem& q = const_cast<TransposeProblem&>(p);
        return out << sizeof(T) << " bytes, " << q.a.before().rows << " x " << q.a.before().columns
                   << ", a " << p.a.name() << ", b " << (p.b ? p.b->name() : "is a");
    }

    Random random;
    BitOperand<T> a;
    std::optional<BitOperand<T>> b;
};

/// A rung, or a line of the tuning table, for one element size.
struct TransposeVariant {
    int element_size;
    TransposeOptions options;
};

inline std::string name(const TransposeVariant& v) {
    const std::string size = "bytes" + std::to_string(v.element_size) + "_";
    if (v.options.entry < 0) return size + to_string(v.options.kernel);
    return size + to_string(transpose_table[v.options.entry].form) + "_" +
           std::to_string(v.options.entry);
}
inline std::ostream& operator<<(std::ostream& out, const TransposeVariant& v) {
    return out << name(v);
}

/// best, every rung and every line of the table, for each element size.
inline std::vector<TransposeVariant> transpose_variants() {
    std::vector<TransposeVariant> all;
    for (int size : {2, 4, 8, 16}) {
        for (TransposeKernel kernel : {TransposeKernel::best, TransposeKernel::naive,
                                       TransposeKernel::padded, TransposeKernel::tuned})
            all.push_back({size, {kernel, -1}});
        for (int entry = 0; entry < transpose_entries; ++entry)
            if (transpose_table[entry].element_size == size)
                all.push_back({size, {TransposeKernel::tuned, entry}});
    }
    return all;
}

/// A suite over all variants: run(test) calls test with an element of the variant's size, which
/// tells a generic lambda its T.
class TransposeVariants : public testing::TestWithParam<TransposeVariant> {
  protected:
    template <class Test>
    void run(Test test) {
        switch (GetParam().element_size) {
            case 2: return test(std::uint16_t{});
            case 4: return test(0.0f);
            case 8: return test(0.0);
            default: return test(std::complex<double>());
        }
    }

    /// Runs the problem and judges the result; an entry that the operands do not suit must be
    /// refused, and nothing written.
    template <class T>
    testing::AssertionResult passes(TransposeProblem<T>& p) {
        if (options.entry < 0 || can_run(transpose_table[options.entry], p.operands())) {
            p.run(context, options);
            return p.right();
        }
        auto refused = refuses([&] { p.run(context, options); },
                               {"options.entry is " + std::to_string(options.entry)});
        if (!refused) return refused << "; " << p;
        p.a.download(context);
        if (auto intact = p.a.intact(); !intact) return intact << "; " << p;
        if (!p.b) return testing::AssertionSuccess();
        p.b->download(context);
        return p.b->intact();
    }

    /// Whether the variant is an entry of the form.
    bool is(TransposeForm form) const {
        return options.entry >= 0 && transpose_table[options.entry].form == form;
    }

    Context context;
    TransposeOptions options = GetParam().options;
};

#define TINYBLAS_FOR_EACH_TRANSPOSE_VARIANT(suite)                             \
    INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(transpose_variants()), \
                             [](const auto& info) { return name(info.param); })

}  // namespace tinyblas::test
