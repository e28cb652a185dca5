// SPDX-License-Identifier: MIT
// A batch of products as a test sees it: its operands, the ways to give them, and how each product
// is judged.
#pragma once

#include <algorithm>
#include <array>

#include "gemm_problem.hpp"
#include "kernels/gemm/batched_operands.hpp"

namespace tinyblas::test {

/// How the matrices of a batch lie to each other in one matrix, `gap` lines of poison behind each.
struct Along {
    bool columns = false;  // side by side; else one below the other
    std::int64_t gap = 0;
};
inline constexpr Along below = {}, beside = {.columns = true};

/// Side by side across the lines, of which those of four matrices are a multiple of 16 bytes: all
/// matrices begin at one, or, if `odd`, one of four does.
constexpr Along across_lines(bool by_column, std::int64_t rows, std::int64_t columns, bool odd) {
    const std::int64_t extent = by_column ? rows : columns;
    return {!by_column, (4 - extent % 4) % 4 + (odd ? 1 : 0)};
}

/// `count` matrices of rows x columns.
template <class T>
class BatchOperand {
  public:
    BatchOperand(std::int64_t rows, std::int64_t columns, std::int64_t count, Along along,
                 const Storage& storage)
        : count(count),
          whole_(along.columns ? rows : count * (rows + along.gap),
                 along.columns ? count * (columns + along.gap) : columns, storage),
          rows_(rows),
          columns_(columns),
          along_(along) {
        whole_.fill(poison<T>);
    }

    MatrixView<T> before(std::int64_t e) { return in(whole_.before(), e); }
    MatrixView<T> after(std::int64_t e) { return in(whole_.after(), e); }
    MatrixView<T> device(std::int64_t e) { return in(whole_.device(), e); }
    std::int64_t stride() {
        const MatrixView<T> view = whole_.before();
        return along_.columns ? (columns_ + along_.gap) * view.column_stride
                              : (rows_ + along_.gap) * view.row_stride;
    }
    const char* name() const { return whole_.name(); }

    template <class Make>
    void fill(Make make) {
        for (std::int64_t e = 0; e < count; ++e)
            for (std::int64_t i = 0; i < rows_; ++i)
                for (std::int64_t j = 0; j < columns_; ++j) before(e)(i, j) = make();
    }
    void upload(Context& context) { whole_.upload(context); }
    void download(Context& context) { whole_.download(context); }

    /// As Operand has it: with `but_matrices`, of what lies outside the matrices.
    testing::AssertionResult intact(bool but_matrices = false) {
        const auto around = whole_.intact(but_matrices);
        const std::int64_t size = along_.columns ? columns_ : rows_, step = size + along_.gap;
        if (!around || !but_matrices) return around;
        for (std::int64_t line = 0; line < count * step; ++line) {
            if (line % step < size) continue;
            for (std::int64_t at = 0; at < (along_.columns ? rows_ : columns_); ++at) {
                const std::int64_t i = along_.columns ? at : line, j = along_.columns ? line : at;
                if (bits(whole_.before()(i, j)) != bits(whole_.after()(i, j)))
                    return testing::AssertionFailure()
                           << "between matrices, (" << i << ", " << j << ") of all changed";
            }
        }
        return around;
    }

    const std::int64_t count;

  private:
    MatrixView<T> in(MatrixView<T> all, std::int64_t e) const {
        return along_.columns ? all.block(0, e * (columns_ + along_.gap), rows_, columns_)
                              : all.block(e * (rows_ + along_.gap), 0, rows_, columns_);
    }

    Operand<T> whole_;
    std::int64_t rows_, columns_;
    Along along_;
};

/// Values in device memory.
template <class Value>
Matrix<Value> on_device(Context& context, std::vector<Value> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    Matrix<Value> there(1, count);
    copy(context, MatrixView<Value>::row_major(values.data(), 1, count), there);
    context.synchronize();
    return there;
}

enum class Given { by_strides, by_pointers };

template <class T>
struct BatchProblem {
    BatchProblem(Shape shape, std::int64_t count, std::array<Along, 3> along = {},
                 std::array<Storage, 3> storage = {storages[0], storages[0], storages[0]})
        : shape(shape),
          a(shape.m, shape.k, count, along[0], storage[0]),
          b(shape.k, shape.n, count, along[1], storage[1]),
          c(shape.m, shape.n, count, along[2], storage[2]),
          random(static_cast<std::uint64_t>(shape.m * 7 + shape.n * 5 + shape.k * 3 + count)) {}

    std::array<BatchOperand<T>*, 3> operands() { return {&a, &b, &c}; }
    std::int64_t count() const { return c.count; }

    template <class Make>
    void fill(Make make) {
        for (BatchOperand<T>* operand : operands())
            operand->fill([&] { return static_cast<T>(make(random)); });
    }
    void fill_integers() {
        fill([](Random& r) { return r.integer(-3, 3); });
    }
    void fill_normal() {
        fill([](Random& r) { return r.normal(); });
    }
    /// All products alike.
    void fill_normal_alike() {
        for (BatchOperand<T>* operand : operands())
            for (std::int64_t e = 0; e < count(); ++e) {
                Random same(11);
                for (std::int64_t i = 0; i < operand->before(e).rows; ++i)
                    for (std::int64_t j = 0; j < operand->before(e).columns; ++j)
                        operand->before(e)(i, j) = static_cast<T>(same.normal());
            }
    }

    /// Which matrices product e is of: with pointers, A runs backwards and C is a turn ahead.
    std::int64_t a_of(std::int64_t e) const { return by_pointers() ? count() - 1 - e : e; }
    std::int64_t c_of(std::int64_t e) const { return by_pointers() ? (e + 1) % count() : e; }
    bool by_pointers() const { return given == Given::by_pointers; }

    /// Where all A, then all B, then all C of the products lie.
    std::vector<T*> pointers() {
        std::vector<T*> all;
        for (std::int64_t e = 0; e < count(); ++e) all.push_back(a.device(a_of(e)).data);
        for (std::int64_t e = 0; e < count(); ++e) all.push_back(b.device(e).data);
        for (std::int64_t e = 0; e < count(); ++e) all.push_back(c.device(c_of(e)).data);
        return all;
    }

    /// As kernels are given it.
    GemmBatch<T> batch(T* const* pointers) {
        const auto operand = [&](BatchOperand<T>& matrices, T* const* first) {
            MatrixView<T> view = matrices.device(0);
            if (by_pointers()) view.data = nullptr;
            return GemmBatchOperand<T>{view, matrices.stride(), by_pointers() ? first : nullptr};
        };
        const auto read = [&](BatchOperand<T>& matrices, T* const* first) {
            const GemmBatchOperand<T> own = operand(matrices, first);
            return GemmBatchOperand<const T>{own.first, own.stride, own.pointers};
        };
        return {alpha,
                read(a, pointers),
                read(b, pointers + count()),
                beta,
                operand(c, pointers + 2 * count()),
                count()};
    }

    GemmChoice enqueue(Context& context, T* const* pointers, GemmOptions options = {}) {
        if (!by_pointers())
            return gemm_strided_batched(context, alpha, a.device(0), a.stride(), b.device(0),
                                        b.stride(), beta, c.device(0), c.stride(), count(),
                                        options);
        const auto array = [](T* const* first, MatrixView<T> like) {
            return MatrixArray<T>::like(first, like);
        };
        return gemm_batched(context, alpha, array(pointers, a.device(0)),
                            array(pointers + count(), b.device(0)), beta,
                            array(pointers + 2 * count(), c.device(0)), count(), options);
    }
    GemmChoice run(Context& context, GemmOptions options = {}) {
        GemmChoice choice;
        run(context, [&](T* const* pointers) { choice = enqueue(context, pointers, options); });
        return choice;
    }
    /// What enqueue(pointers) does with the operands.
    template <class Enqueue>
    void run(Context& context, Enqueue enqueue) {
        for (BatchOperand<T>* operand : operands()) operand->upload(context);
        const Matrix<T*> array = on_device(context, pointers());
        enqueue(array.view().data);
        for (BatchOperand<T>* operand : operands()) operand->download(context);
    }

    Shape shape;
    BatchOperand<T> a, b, c;
    Random random;
    T alpha = 2, beta = -1;
    Given given = Given::by_strides;
};

template <class T>
std::ostream& operator<<(std::ostream& out, const BatchProblem<T>& p) {
    return out << p.count() << " times " << p.shape.m << " x " << p.shape.n << " x " << p.shape.k
               << (p.by_pointers() ? ", by pointers" : "") << ", alpha " << p.alpha << ", beta "
               << p.beta << ", a " << p.a.name() << ", b " << p.b.name() << ", c " << p.c.name();
}

/// Judges every element of every C by accept(e, i, j, result), and what lies around them.
template <class T, class Accept>
testing::AssertionResult judge(BatchProblem<T>& p, const char* kind, Accept accept) {
    for (std::int64_t e = 0; e < p.count(); ++e) {
        const MatrixView<T> result = p.c.after(p.c_of(e));
        for (std::int64_t i = 0; i < result.rows; ++i)
            for (std::int64_t j = 0; j < result.columns; ++j)
                if (!accept(e, i, j, result(i, j)))
                    return testing::AssertionFailure()
                           << "product " << e << ", c(" << i << ", " << j << ") = " << result(i, j)
                           << " is not " << kind << "; " << p;
    }
    for (auto intact : {p.a.intact(), p.b.intact(), p.c.intact(true)})
        if (!intact) return intact << "; " << p;
    return testing::AssertionSuccess();
}

/// For small integers: what Eigen says, tolerance 0.
template <class T>
testing::AssertionResult exact(BatchProblem<T>& p) {
    std::vector<WideMatrix<T>> expected;
    for (std::int64_t e = 0; e < p.count(); ++e) {
        WideMatrix<T> value = WideMatrix<T>::Zero(p.shape.m, p.shape.n);
        if (p.alpha != 0) {
            value = p.alpha * wide_product<T>(widen(p.a.before(p.a_of(e))), widen(p.b.before(e)));
        }
        if (p.beta != 0) value += p.beta * widen(p.c.before(p.c_of(e)));
        expected.push_back(std::move(value));
    }
    return judge(p, "exact", [&](auto e, auto i, auto j, T x) {
        return x == expected[static_cast<std::size_t>(e)](i, j);
    });
}

/// The chain of multiply-adds, bit for bit: what GemmKernel::batched promises.
template <class T>
testing::AssertionResult chained(BatchProblem<T>& p) {
    return judge(p, "the chain of multiply-adds", [&](auto e, auto i, auto j, T x) {
        const MatrixView<T> a = p.a.before(p.a_of(e)), b = p.b.before(e);
        T sum = 0;
        for (std::int64_t q = 0; p.alpha != 0 && q < a.columns; ++q)
            sum = std::fma(a(i, q), b(q, j), sum);
        T value = p.alpha * sum;
        if (p.beta != 0) value = std::fma(p.beta, p.c.before(p.c_of(e))(i, j), value);
        return same(x, value);
    });
}

/// For reals: within the tolerance of the wide result. Written so that NaN fails.
template <class T>
testing::AssertionResult close(BatchProblem<T>& p) {
    return judge(p, "within the tolerance", [&](auto e, auto i, auto j, T x) {
        const MatrixView<T> a = p.a.before(p.a_of(e)), b = p.b.before(e);
        const T old = p.c.before(p.c_of(e))(i, j);
        Wide<T> sum = 0, magnitude = 0;
        for (std::int64_t q = 0; q < a.columns; ++q) {
            sum += Wide<T>(a(i, q)) * b(q, j);
            magnitude += std::abs(Wide<T>(a(i, q)) * b(q, j));
        }
        const Wide<T> scaled = p.beta == 0 ? 0 : p.beta * Wide<T>(old);
        const Wide<T> expected = p.alpha * sum + scaled;
        return std::abs(x - expected) <=
               tolerance<T>(a.columns, std::abs(p.alpha) * magnitude, std::abs(scaled), expected);
    });
}

/// For products filled alike: the bits of the first one, whatever their place.
template <class T>
testing::AssertionResult alike(BatchProblem<T>& p) {
    return judge(p, "the first product's", [&](auto, auto i, auto j, T x) {
        return bits(x) == bits(p.c.after(p.c_of(0))(i, j));
    });
}

template <class T>
constexpr Scalar scalar_of = std::is_same_v<T, float> ? Scalar::float32 : Scalar::float64;

struct BatchCase {
    Shape shape;
    std::int64_t count;
};
/// Small batches for every kernel and every entry of its table on a GPU of compute capability 9.0
/// and under emulation, but for those below. Edges are full and ragged.
inline constexpr BatchCase batch_cases[] = {
    {{4, 4, 4}, 9},     {{3, 4, 2}, 9},      {{8, 8, 8}, 5},      {{7, 5, 8}, 6},
    {{16, 16, 16}, 9},  {{16, 12, 20}, 6},   {{31, 33, 40}, 3},   {{27, 30, 9}, 265},
    {{33, 34, 50}, 65}, {{49, 50, 33}, 65},  {{65, 66, 9}, 57},   {{130, 66, 37}, 2},
    {{5, 70, 30}, 60},  {{129, 70, 258}, 2}, {{129, 70, 150}, 2}, {{33, 17, 35}, 129},
    {{97, 17, 37}, 65}, {{33, 40, 401}, 3},  {{1, 41, 30}, 7},    {{37, 1, 290}, 5},
};
/// The kernels for squares of floats, without gaps and by strides.
inline constexpr BatchCase square_cases[] = {
    {{16, 16, 16}, 514}, {{32, 32, 32}, 513}, {{64, 64, 64}, 101}};

template <class T>
std::vector<BatchCase> cases_of() {
    std::vector<BatchCase> all(std::begin(batch_cases), std::end(batch_cases));
    if (std::is_same_v<T, float>)
        all.insert(all.end(), std::begin(square_cases), std::end(square_cases));
    return all;
}

}  // namespace tinyblas::test
