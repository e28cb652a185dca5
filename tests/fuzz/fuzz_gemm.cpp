// SPDX-License-Identifier: MIT
// gemm: alone, in batches of both kinds, and with scratch memory of the caller's.
#include <algorithm>
#include <array>
#include <string_view>

#include "operations.hpp"
#include "tests/pick.hpp"

namespace tinyblas::fuzz {
namespace {

using test::pick;

/// Numbers of the arguments from a on, in each of the forms; 0: there is none.
struct Numbers {
    int a, lda, stride_a, b, ldb, stride_b, c, ldc, stride_c, batch;
};
constexpr Numbers of_one = {9, 10, 0, 11, 12, 0, 14, 15, 0, 0};
constexpr Numbers of_strides = {9, 10, 11, 12, 13, 14, 16, 17, 18, 19};
constexpr Numbers of_arrays = {9, 10, 0, 11, 12, 0, 14, 15, 0, 16};

/// What the forms have in common, drawn in the order of the signature.
template <class T>
struct Product {
    Product(Draw& draw, const char* function, const Numbers& form)
        : numbers(form),
          context(draw_context(draw)),
          layout(draw_layout(draw)),
          opa(draw_op(draw)),
          opb(draw_op(draw)),
          m(draw.extent()),
          n(draw.extent()),
          k(draw.extent()),
          alpha(static_cast<T>(draw.factor())),
          beta(static_cast<T>(draw.factor())),
          row_major(layout == TINYBLAS_ROW_MAJOR),
          attempt(function, draw) {
        if (numbers.batch) batch = draw.once_in(32) ? draw.extreme() : draw.byte() % 6;
        lda = draw.leading_dimension(least_ld(row_major, rows(opa, m, k), columns(opa, m, k)));
        ldb = draw.leading_dimension(least_ld(row_major, rows(opb, k, n), columns(opb, k, n)));
        ldc = draw.leading_dimension(least_ld(row_major, m, n));
        writes = m > 0 && n > 0 && batch != 0;
        reads = writes && k > 0 && alpha != 0;
        a = stored(opa, m, k, lda, reads);
        b = stored(opb, k, n, ldb, reads);
        c = stored(TINYBLAS_NO_TRANS, m, n, ldc, writes);
    }

    static std::int64_t rows(tinyblas_op op, std::int64_t rows, std::int64_t columns) {
        return op == TINYBLAS_NO_TRANS ? rows : columns;
    }
    static std::int64_t columns(tinyblas_op op, std::int64_t rows_of, std::int64_t columns_of) {
        return rows(op, columns_of, rows_of);
    }
    Operand<T> stored(tinyblas_op op, std::int64_t rows_of, std::int64_t columns_of,
                      std::int64_t ld, bool touched) const {
        if (!touched) return {};
        return {.grid = matrix_grid(row_major, rows(op, rows_of, columns_of),
                                    columns(op, rows_of, columns_of), ld),
                .count = numbers.batch ? batch : 1};
    }

    /// A stride for a batch of `operand`: often such that the matrices lie apart.
    static std::int64_t draw_stride(Draw& draw, const Operand<T>& operand) {
        const Wide apart = operand.empty() ? 0 : operand.grid.high();
        const unsigned kind = draw.byte();
        if (kind < 200 && apart < greatest / 2)
            return static_cast<std::int64_t>(kind % 2 ? apart : -apart) + kind % 3;
        return kind < 230 ? kind % 64 - 20 : kind < 248 ? 0 : draw.extreme();
    }

    void fill() {
        attempt.fill(a);
        attempt.fill(b);
        if (beta != 0) attempt.fill(c);  // else NaN, which must not be read
    }

    void require_matrix(const Operand<T>& x, bool touched, std::int64_t ld, std::int64_t least,
                        int number, const char* name, const char* ld_name) {
        Verdict& verdict = attempt.verdict;
        verdict.require_data(x, touched, number, name);
        verdict.require(ld >= least, number + 1, ld_name);
        Operand<T> one = x;
        one.count = 1;
        if (&numbers == &of_arrays) one.data = nullptr;  // nobody knows where the matrices are
        verdict.require_reach(one, touched, number + 1, ld_name);
    }
    void require_arguments() {
        Verdict& verdict = attempt.verdict;
        verdict.require(context, 1, "context");
        verdict.require(is_layout(layout), 2, "layout");
        verdict.require(is_op(opa), 3, "opa");
        verdict.require(is_op(opb), 4, "opb");
        verdict.require(m >= 0, 5, "m");
        verdict.require(n >= 0, 6, "n");
        verdict.require(k >= 0, 7, "k");
        verdict.require(&numbers != &of_arrays || !reads || k <= std::int64_t{1} << 34, 7, "k");
        require_matrix(a, reads, lda, least_ld(row_major, rows(opa, m, k), columns(opa, m, k)),
                       numbers.a, "a", "lda");
        if (numbers.stride_a)
            verdict.require_reach(a, reads && batch > 0, numbers.stride_a, "stride_a");
        require_matrix(b, reads, ldb, least_ld(row_major, rows(opb, k, n), columns(opb, k, n)),
                       numbers.b, "b", "ldb");
        if (numbers.stride_b)
            verdict.require_reach(b, reads && batch > 0, numbers.stride_b, "stride_b");
        require_matrix(c, writes, ldc, least_ld(row_major, m, n), numbers.c, "c", "ldc");
        if (numbers.stride_c)
            verdict.require_reach(c, writes && batch > 0, numbers.stride_c, "stride_c");
        verdict.require(batch >= 0, numbers.batch, "batch");
    }
    void require_apart() {
        if (attempt.verdict.refused() || c.empty()) return;
        const Marks<T> marks(c);
        attempt.verdict.require(marks.distinct(), numbers.stride_c, "stride_c");
        attempt.verdict.require(!marks.meet(a) && !marks.meet(b), numbers.c, "c");
    }

    /// The last thing to be looked at, as far as there is anything to do.
    void require_rung(std::string_view name) {
        const bool of_floats =
            name == "sliced" || name == "pipelined" || name == "skinny" || name == "split";
        const bool of_type = name != (std::is_same_v<T, float> ? "tensor" : "") &&
                             !(of_floats && std::is_same_v<T, double>);
        const bool does_something = writes && (reads || beta != 1);
        const bool is_skinny = (m <= 64 || n <= 64) && k <= (std::min(m, n) <= 32 ? 512 : 128);
        const bool fits = name == "gemv"     ? !does_something || m == 1 || n == 1
                          : name == "skinny" ? !writes || !reads || is_skinny
                                             : true;
        attempt.verdict.require_else(batch == 0 || (name != "hopper" && of_type && fits),
                                     "gemm: options.kernel is ");
    }

    void expect() {
        const bool turned_a = opa != TINYBLAS_NO_TRANS, turned_b = opb != TINYBLAS_NO_TRANS;
        c.for_each([&](Wide i, Wide j, Wide e) {
            double sum = 0;
            if (reads)
                for (Wide p = 0; p < k; ++p)
                    sum += static_cast<double>(turned_a ? a.before(p, i, e) : a.before(i, p, e)) *
                           static_cast<double>(turned_b ? b.before(j, p, e) : b.before(p, j, e));
            const double rest = beta == 0 ? 0 : beta * static_cast<double>(c.before(i, j, e));
            c.expected(i, j, e) = static_cast<T>(alpha * sum + rest);
        });
    }

    void show(std::ostream& words) const {
        words << "layout " << layout << ", opa " << opa << ", opb " << opb << ", m " << m << ", n "
              << n << ", k " << k << ", alpha " << alpha << ", a " << a.data << ", lda " << lda
              << ", stride_a " << static_cast<std::int64_t>(a.stride) << ", b " << b.data
              << ", ldb " << ldb << ", stride_b " << static_cast<std::int64_t>(b.stride)
              << ", beta " << beta << ", c " << c.data << ", ldc " << ldc << ", stride_c "
              << static_cast<std::int64_t>(c.stride) << ", batch " << batch;
    }

    const Numbers& numbers;
    tinyblas_context context;
    tinyblas_layout layout;
    tinyblas_op opa, opb;
    std::int64_t m, n, k;
    T alpha, beta;
    bool row_major;
    std::int64_t lda, ldb, ldc, batch = 1;
    bool writes, reads;
    Operand<T> a, b, c;
    Attempt<T> attempt;
};

/// A rung, best half of the time; most others run any call on operands of type T.
template <class T>
std::string_view draw_kernel(Draw& draw) {
    const char* const name =
        draw.rung({"best", "best", "best", "naive", "tiled", "tuned", "gemv",
                   pick<T>("sliced", "tensor"), pick<T>("pipelined", "tensor"),
                   pick<T>("split", "sliced"), "skinny", pick<T>("tensor", "split"), "hopper"});
    if (tinyblas_set_gemm_kernel(the_context(), name) != TINYBLAS_SUCCESS)
        found(tinyblas_last_error());
    tinyblas_set_precision(
        the_context(), draw.once_in(draw.hasty() ? 64 : 4) ? TINYBLAS_FP32 : TINYBLAS_FP32_STRICT);
    return name;
}

template <class T>
void run(Product<T>& x, std::string_view kernel, auto call) {
    x.require_arguments();
    if (!x.attempt.possible()) return;
    x.require_apart();
    x.require_rung(kernel);
    x.attempt.run(
        call, [&] { x.expect(); }, [&](auto& words) { x.show(words); });
}

}  // namespace

template <class T>
void gemm(Draw& draw) {
    const auto kernel = draw_kernel<T>(draw);
    Product<T> x(draw, pick<T>("tinyblas_sgemm", "tinyblas_dgemm"), of_one);
    x.attempt.place({&x.a, &x.b, &x.c});
    x.fill();
    run(x, kernel, [&] {
        return pick<T>(tinyblas_sgemm, tinyblas_dgemm)(x.context, x.layout, x.opa, x.opb, x.m, x.n,
                                                       x.k, x.alpha, x.a.data, x.lda, x.b.data,
                                                       x.ldb, x.beta, x.c.data, x.ldc);
    });
}

template <class T>
void gemm_strided_batched(Draw& draw) {
    const auto kernel = draw_kernel<T>(draw);
    Product<T> x(draw, pick<T>("tinyblas_sgemm_strided_batched", "tinyblas_dgemm_strided_batched"),
                 of_strides);
    for (Operand<T>* operand : {&x.a, &x.b, &x.c})
        operand->stride = Product<T>::draw_stride(draw, *operand);
    x.attempt.place({&x.a, &x.b, &x.c});
    x.fill();
    run(x, kernel, [&] {
        return pick<T>(tinyblas_sgemm_strided_batched, tinyblas_dgemm_strided_batched)(
            x.context, x.layout, x.opa, x.opb, x.m, x.n, x.k, x.alpha, x.a.data, x.lda,
            static_cast<std::int64_t>(x.a.stride), x.b.data, x.ldb,
            static_cast<std::int64_t>(x.b.stride), x.beta, x.c.data, x.ldc,
            static_cast<std::int64_t>(x.c.stride), x.batch);
    });
}

// The matrices lie as in a batch with strides, apart: pointers cannot be checked.
template <class T>
void gemm_batched(Draw& draw) {
    tinyblas_set_gemm_kernel(the_context(), "best");
    Product<T> x(draw, pick<T>("tinyblas_sgemm_batched", "tinyblas_dgemm_batched"), of_arrays);
    for (Operand<T>* operand : {&x.a, &x.b, &x.c})
        operand->stride = operand->empty() ? 0 : operand->grid.high();
    for (Operand<T>* operand : {&x.a, &x.b, &x.c}) x.attempt.place({operand});
    x.fill();
    std::vector<T*> pointers[3];
    T** arrays[3];
    int number = 0;
    for (Operand<T>* operand : {&x.a, &x.b, &x.c}) {
        std::vector<T*>& of_operand = pointers[number];
        if (x.attempt.possible() && operand->array)
            for (Wide e = 0; e < operand->count; ++e)
                of_operand.push_back(operand->array->now.get() + operand->index(0, 0, e));
        of_operand.shrink_to_fit();
        if (of_operand.empty()) of_operand.push_back(nullptr);  // an array that nobody looks at
        arrays[number++] = operand->data ? of_operand.data() : nullptr;
    }
    run(x, "best", [&] {
        return pick<T>(tinyblas_sgemm_batched, tinyblas_dgemm_batched)(
            x.context, x.layout, x.opa, x.opb, x.m, x.n, x.k, x.alpha, arrays[0], x.lda, arrays[1],
            x.ldb, x.beta, arrays[2], x.ldc, x.batch);
    });
}

// Scratch memory of exactly what is needed, less, or none; a rung asked for by name needs it.
void gemm_with_scratch(Draw& draw) {
    if (draw.hasty() && !draw.once_in(8))
        return gemm<float>(draw);  // from parts, products take long
    const bool named = draw.once_in(2), enough = !draw.once_in(4);
    tinyblas_set_gemm_kernel(the_context(), named ? "split" : "best");
    tinyblas_set_precision(the_context(), TINYBLAS_FP32);
    Product<float> x(draw, "tinyblas_sgemm", of_one);
    x.context = the_context();
    std::uint64_t bytes = 0;
    const bool valid = x.m >= 0 && x.n >= 0 && x.k >= 0;
    const auto status = tinyblas_sgemm_scratch_bytes(x.m, x.n, x.k, &bytes);
    count_call("tinyblas_sgemm_scratch_bytes", !valid);
    if (status != (valid ? TINYBLAS_SUCCESS : TINYBLAS_INVALID_ARGUMENT))
        found(std::string("tinyblas_sgemm_scratch_bytes: status ") + std::to_string(status) + ", " +
              tinyblas_last_error());
    x.attempt.place({&x.a, &x.b, &x.c});
    x.fill();
    x.require_arguments();
    if (bytes > 1 << 24 || x.attempt.verdict.refused() || !x.attempt.possible()) return;
    if (!enough) bytes = std::min<std::uint64_t>(bytes, 256);
    const auto memory = std::make_unique<std::byte[]>(bytes + 256);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
    auto* const aligned = memory.get() + (256 - address % 256);
    if (tinyblas_set_scratch(the_context(), aligned, bytes) != TINYBLAS_SUCCESS)
        found(tinyblas_last_error());
    if (enough || !named) {
        run(x, named ? "split" : "best", [&] {
            return tinyblas_sgemm(x.context, x.layout, x.opa, x.opb, x.m, x.n, x.k, x.alpha,
                                  x.a.data, x.lda, x.b.data, x.ldb, x.beta, x.c.data, x.ldc);
        });
    }
    tinyblas_set_scratch(the_context(), nullptr, 0);
}

template void gemm<float>(Draw&);
template void gemm<double>(Draw&);
template void gemm_strided_batched<float>(Draw&);
template void gemm_strided_batched<double>(Draw&);
template void gemm_batched<float>(Draw&);
template void gemm_batched<double>(Draw&);

}  // namespace tinyblas::fuzz
