// SPDX-License-Identifier: MIT
// dot, asum, nrm2, axpy, scal: quick returns, then the device or the host.
#include <limits>

#include "blas/dispatch.hpp"
#include "blas/host.hpp"
#include "blas/routines.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas::blas {
namespace {

// The processor sums a vector up while it would copy it to where the bus can take it: beside an
// H200 one core wins up to 2^22 elements and about draws beyond. It computes unless told otherwise.
constexpr double vector_limit = std::numeric_limits<double>::infinity();

template <class T>
MatrixView<T> as_matrix(VectorView<T> x) {
    return {&x(0), x.size, 1, x.increment, 1};
}

template <class T>
VectorView<T> upload(Staging& staging, int operand, VectorView<const T> x) {
    return staging.upload<T>(operand, as_matrix(x)).column(0);
}

template <class T>
void download(Staging& staging, VectorView<T> from, VectorView<T> to) {
    staging.download<T>(as_matrix(from), as_matrix(to));
}

template <class Body>
bool computed_on_device(Counter& counter, std::int64_t n, Body&& body) {
    return blas::computed_on_device(counter, static_cast<double>(n), vector_limit, body);
}

}  // namespace

template <class T>
T dot(Counter& counter, VectorView<const T> x, VectorView<const T> y) {
    counter.count_call();
    if (x.size <= 0) return 0;
    T result = 0;
    const bool computed = computed_on_device(counter, x.size, [&](Staging& staging) {
        const VectorView<const T> one = upload(staging, 0, x), other = upload(staging, 1, y);
        result = tinyblas::dot(staging.context(), one, other);
    });
    return computed ? result : host::dot(x, y);
}

template <class T>
T asum(Counter& counter, VectorView<const T> x) {
    counter.count_call();
    if (x.size <= 0 || x.increment <= 0) return 0;
    T result = 0;
    const bool computed = computed_on_device(counter, x.size, [&](Staging& staging) {
        result = tinyblas::asum(staging.context(), upload(staging, 0, x));
    });
    return computed ? result : host::asum(x);
}

template <class T>
T nrm2(Counter& counter, VectorView<const T> x) {
    counter.count_call();
    if (x.size <= 0) return 0;
    T result = 0;
    const bool computed = computed_on_device(counter, x.size, [&](Staging& staging) {
        result = tinyblas::nrm2(staging.context(), upload(staging, 0, x));
    });
    return computed ? result : host::nrm2(x);
}

template <class T>
void axpy(Counter& counter, T alpha, VectorView<const T> x, VectorView<T> y) {
    counter.count_call();
    if (x.size <= 0 || alpha == T(0)) return;
    // With an increment of 0 one element takes all the sums, one after the other.
    const std::int64_t work = y.increment == 0 ? 0 : y.size;
    const bool computed = computed_on_device(counter, work, [&](Staging& staging) {
        const VectorView<const T> from = upload(staging, 0, x);
        const VectorView<T> to = upload<T>(staging, 1, y);
        tinyblas::axpy(staging.context(), alpha, from, to);
        download(staging, to, y);
    });
    if (!computed) host::axpy(alpha, x, y);
}

template <class T>
void scal(Counter& counter, T alpha, VectorView<T> x) {
    counter.count_call();
    if (x.size <= 0 || x.increment <= 0) return;
    const bool computed = computed_on_device(counter, x.size, [&](Staging& staging) {
        const VectorView<T> all = upload<T>(staging, 0, x);
        tinyblas::scal(staging.context(), alpha, all);
        download(staging, all, x);
    });
    if (!computed) host::scal(alpha, x);
}

template float dot(Counter&, VectorView<const float>, VectorView<const float>);
template double dot(Counter&, VectorView<const double>, VectorView<const double>);
template float asum(Counter&, VectorView<const float>);
template double asum(Counter&, VectorView<const double>);
template float nrm2(Counter&, VectorView<const float>);
template double nrm2(Counter&, VectorView<const double>);
template void axpy(Counter&, float, VectorView<const float>, VectorView<float>);
template void axpy(Counter&, double, VectorView<const double>, VectorView<double>);
template void scal(Counter&, float, VectorView<float>);
template void scal(Counter&, double, VectorView<double>);

}  // namespace tinyblas::blas
