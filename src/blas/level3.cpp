// SPDX-License-Identifier: MIT
// gemm: bad arguments, quick returns, then the device or the host.
#include <algorithm>

#include "blas/dispatch.hpp"
#include "blas/host.hpp"
#include "blas/routines.hpp"
#include "tinyblas/gemm.hpp"

namespace tinyblas::blas {
namespace {

// Beside an H200 one core is as fast for squares of about 53 (float 56, double 50): some 25 us.
constexpr double gemm_limit = 150'000;

bool is_transposed(char op) { return op != 'N' && op != 'n'; }

bool is_op(char op) {
    constexpr char all[] = {'N', 'n', 'T', 't', 'C', 'c'};
    return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

/// X as it is stored, where op(X) is rows x columns.
template <class T>
MatrixView<const T> stored(char op, const T* data, int rows, int columns, int ld) {
    if (is_transposed(op)) std::swap(rows, columns);
    return {data, rows, columns, 1, ld};
}

template <class T>
MatrixView<const T> applied(char op, MatrixView<const T> x) {
    return is_transposed(op) ? x.transposed() : x;
}

}  // namespace

template <class T>
int first_bad(const GemmArguments<T>& x) {
    if (!is_op(x.opa)) return 1;
    if (!is_op(x.opb)) return 2;
    if (x.m < 0) return 3;
    if (x.n < 0) return 4;
    if (x.k < 0) return 5;
    if (x.lda < std::max(1, is_transposed(x.opa) ? x.k : x.m)) return 8;
    if (x.ldb < std::max(1, is_transposed(x.opb) ? x.n : x.k)) return 10;
    if (x.ldc < std::max(1, x.m)) return 13;
    return 0;
}

template <class T>
void gemm(Counter& counter, const GemmArguments<T>& x) {
    const bool no_products = x.alpha == T(0) || x.k == 0;
    if (x.m == 0 || x.n == 0 || (no_products && x.beta == T(1))) return;
    const auto a = stored(x.opa, x.a, x.m, x.k, x.lda);
    const auto b = stored(x.opb, x.b, x.k, x.n, x.ldb);
    const MatrixView<T> c = {x.c, x.m, x.n, 1, x.ldc};
    const double work = no_products ? 0 : static_cast<double>(x.m) * x.n * x.k;
    const bool computed = computed_on_device(counter, work, gemm_limit, [&](Staging& staging) {
        const MatrixView<const T> on_device_a = staging.upload(0, a);
        const MatrixView<const T> on_device_b = staging.upload(1, b);
        const auto on_device_c =
            x.beta == T(0) ? staging.room<T>(2, x.m, x.n) : staging.upload<T>(2, c);
        tinyblas::gemm(staging.context(), x.alpha, applied(x.opa, on_device_a),
                       applied(x.opb, on_device_b), x.beta, on_device_c);
        staging.download(on_device_c, c);
    });
    if (!computed) host::gemm(x.alpha, applied(x.opa, a), applied(x.opb, b), x.beta, c);
}

template int first_bad(const GemmArguments<float>&);
template int first_bad(const GemmArguments<double>&);
template void gemm(Counter&, const GemmArguments<float>&);
template void gemm(Counter&, const GemmArguments<double>&);

}  // namespace tinyblas::blas
