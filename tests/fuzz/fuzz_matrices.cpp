// SPDX-License-Identifier: MIT
// transpose, gemv and ger.
#include "operations.hpp"
#include "tests/pick.hpp"

namespace tinyblas::fuzz {
namespace {

using test::pick;

template <class T>
Operand<T> matrix(tinyblas_layout layout, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                  bool touched) {
    if (!touched) return {};
    return {.grid = matrix_grid(layout == TINYBLAS_ROW_MAJOR, rows, columns, ld)};
}
template <class T>
Operand<T> vector(std::int64_t n, std::int64_t increment, bool touched) {
    return {.grid = vector_grid(touched ? std::max<std::int64_t>(n, 0) : 0, increment)};
}

/// Arguments `number` and the one behind it.
template <class T>
void require_matrix(Verdict& verdict, const Operand<T>& x, bool touched, std::int64_t ld,
                    std::int64_t least, int number, const char* name, const char* ld_name) {
    verdict.require_data(x, touched, number, name);
    verdict.require(ld >= least, number + 1, ld_name);
    verdict.require_reach(x, touched, number + 1, ld_name);
}
template <class T>
void require_vector(Verdict& verdict, const Operand<T>& x, int number, const char* name,
                    const char* increment_name) {
    verdict.require_data(x, !x.empty(), number, name);
    verdict.require_reach(x, true, number + 1, increment_name);
}

}  // namespace

template <class T>
void transpose(Draw& draw) {
    tinyblas_set_transpose_kernel(the_context(), draw.rung({"best", "naive", "padded", "tuned"}));
    const tinyblas_context context = draw_context(draw);
    const tinyblas_layout layout = draw_layout(draw);
    const bool row_major = layout == TINYBLAS_ROW_MAJOR;
    std::int64_t rows = draw.extent(), cols = draw.extent();
    const bool in_place = draw.once_in(6);
    if (in_place) cols = rows;
    const std::int64_t least_a = least_ld(row_major, rows, cols),
                       least_b = least_ld(row_major, cols, rows);
    const std::int64_t lda = draw.leading_dimension(least_a);
    const std::int64_t ldb = in_place ? lda : draw.leading_dimension(least_b);
    const bool moves = rows > 0 && cols > 0;

    Attempt<T> attempt(pick<T>("tinyblas_stranspose", "tinyblas_dtranspose"), draw);
    Verdict& verdict = attempt.verdict;
    Operand<T> a = matrix<T>(layout, rows, cols, lda, moves);
    Operand<T> b = matrix<T>(layout, cols, rows, ldb, moves);
    attempt.place({&a, &b});
    if (in_place) attempt.place_at(b, a);
    attempt.fill(a);

    verdict.require(context, 1, "context");
    verdict.require(is_layout(layout), 2, "layout");
    verdict.require(rows >= 0, 3, "rows");
    verdict.require(cols >= 0, 4, "cols");
    require_matrix(verdict, a, moves, lda, least_a, 5, "a", "lda");
    require_matrix(verdict, b, moves, ldb, least_b, 7, "b", "ldb");
    if (!attempt.possible()) return;
    const bool same = a.data == b.data && rows == cols && lda == ldb;
    if (!verdict.refused() && moves && !same) verdict.require(!Marks<T>(b).meet(a), 7, "b");
    attempt.run(
        [&] {
            return pick<T>(tinyblas_stranspose, tinyblas_dtranspose)(context, layout, rows, cols,
                                                                     a.data, lda, b.data, ldb);
        },
        [&] { b.for_each([&](Wide i, Wide j, Wide) { b.expected(i, j) = a.before(j, i); }); },
        [&](auto& words) {
            words << "layout " << layout << ", rows " << rows << ", cols " << cols << ", a "
                  << a.data << ", lda " << lda << ", b " << b.data << ", ldb " << ldb;
        });
}

template <class T>
void gemv(Draw& draw) {
    const tinyblas_context context = draw_context(draw);
    const tinyblas_layout layout = draw_layout(draw);
    const tinyblas_op op = draw_op(draw);
    const std::int64_t m = draw.extent(), n = draw.extent();
    const T alpha = static_cast<T>(draw.factor()), beta = static_cast<T>(draw.factor());
    const std::int64_t least_a = least_ld(layout == TINYBLAS_ROW_MAJOR, m, n);
    const std::int64_t lda = draw.leading_dimension(least_a);
    const std::int64_t incx = draw.increment(), incy = draw.increment();
    const bool plain = op == TINYBLAS_NO_TRANS;
    const std::int64_t rows = plain ? m : n, columns = plain ? n : m;
    const bool reads = rows > 0 && columns > 0 && alpha != 0;

    Attempt<T> attempt(pick<T>("tinyblas_sgemv", "tinyblas_dgemv"), draw);
    Verdict& verdict = attempt.verdict;
    Operand<T> a = matrix<T>(layout, m, n, lda, reads);
    Operand<T> x = vector<T>(columns, incx, reads), y = vector<T>(rows, incy, true);
    attempt.place({&a, &x, &y});
    attempt.fill(a);
    attempt.fill(x);
    if (beta != 0) attempt.fill(y);

    verdict.require(context, 1, "context");
    verdict.require(is_layout(layout), 2, "layout");
    verdict.require(is_op(op), 3, "op");
    verdict.require(m >= 0, 4, "m");
    verdict.require(n >= 0, 5, "n");
    require_matrix(verdict, a, reads, lda, least_a, 7, "a", "lda");
    require_vector(verdict, x, 9, "x", "incx");
    require_vector(verdict, y, 12, "y", "incy");
    verdict.require(incy != 0 || rows <= 1, 13, "incy");
    if (!attempt.possible()) return;
    if (!verdict.refused() && reads) {
        const Marks<T> marks(y);
        verdict.require(!marks.meet(a) && !marks.meet(x), 12, "y");
    }
    attempt.run(
        [&] {
            return pick<T>(tinyblas_sgemv, tinyblas_dgemv)(context, layout, op, m, n, alpha, a.data,
                                                           lda, x.data, incx, beta, y.data, incy);
        },
        [&] {
            for (Wide i = 0; i < rows; ++i) {
                double sum = 0;
                if (reads)
                    for (Wide j = 0; j < columns; ++j)
                        sum += static_cast<double>(plain ? a.before(i, j) : a.before(j, i)) *
                               static_cast<double>(x.before(j));
                const double rest = beta == 0 ? 0 : beta * static_cast<double>(y.before(i));
                y.expected(i) = static_cast<T>(alpha * sum + rest);
            }
        },
        [&](auto& words) {
            words << "layout " << layout << ", op " << op << ", m " << m << ", n " << n
                  << ", alpha " << alpha << ", a " << a.data << ", lda " << lda << ", x " << x.data
                  << ", incx " << incx << ", beta " << beta << ", y " << y.data << ", incy "
                  << incy;
        });
}

template <class T>
void ger(Draw& draw) {
    const tinyblas_context context = draw_context(draw);
    const tinyblas_layout layout = draw_layout(draw);
    const std::int64_t m = draw.extent(), n = draw.extent();
    const T alpha = static_cast<T>(draw.factor());
    const std::int64_t incx = draw.increment(), incy = draw.increment();
    const std::int64_t least_a = least_ld(layout == TINYBLAS_ROW_MAJOR, m, n);
    const std::int64_t lda = draw.leading_dimension(least_a);
    const bool writes = m > 0 && n > 0 && alpha != 0;

    Attempt<T> attempt(pick<T>("tinyblas_sger", "tinyblas_dger"), draw);
    Verdict& verdict = attempt.verdict;
    Operand<T> x = vector<T>(m, incx, writes), y = vector<T>(n, incy, writes);
    Operand<T> a = matrix<T>(layout, m, n, lda, writes);
    attempt.place({&x, &y, &a});
    attempt.fill(x);
    attempt.fill(y);
    attempt.fill(a);

    verdict.require(context, 1, "context");
    verdict.require(is_layout(layout), 2, "layout");
    verdict.require(m >= 0, 3, "m");
    verdict.require(n >= 0, 4, "n");
    require_vector(verdict, x, 6, "x", "incx");
    require_vector(verdict, y, 8, "y", "incy");
    require_matrix(verdict, a, writes, lda, least_a, 10, "a", "lda");
    if (!attempt.possible()) return;
    if (!verdict.refused() && writes) {
        const Marks<T> marks(a);
        verdict.require(!marks.meet(x) && !marks.meet(y), 10, "a");
    }
    attempt.run(
        [&] {
            return pick<T>(tinyblas_sger, tinyblas_dger)(context, layout, m, n, alpha, x.data, incx,
                                                         y.data, incy, a.data, lda);
        },
        [&] {
            a.for_each([&](Wide i, Wide j, Wide) {
                a.expected(i, j) = a.before(i, j) + alpha * x.before(i) * y.before(j);
            });
        },
        [&](auto& words) {
            words << "layout " << layout << ", m " << m << ", n " << n << ", alpha " << alpha
                  << ", x " << x.data << ", incx " << incx << ", y " << y.data << ", incy " << incy
                  << ", a " << a.data << ", lda " << lda;
        });
}

template void transpose<float>(Draw&);
template void transpose<double>(Draw&);
template void gemv<float>(Draw&);
template void gemv<double>(Draw&);
template void ger<float>(Draw&);
template void ger<double>(Draw&);

}  // namespace tinyblas::fuzz
