// SPDX-License-Identifier: MIT
// A polynomial as one writes it with Thrust: the rival of polyval, which cuBLAS does not have.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/version.h>

#include "../machine.hpp"

namespace tinyblas::bench {
namespace {

template <class T>
struct Horner {
    const T* coefficients;
    std::int64_t count;
    __device__ T operator()(T x) const {
        T y = coefficients[count - 1];
        for (std::int64_t j = count - 2; j >= 0; --j) y = fma(y, x, coefficients[j]);
        return y;
    }
};

}  // namespace

template <class T>
Work thrust_polyval(Context& context, VectorView<const T> coefficients, VectorView<const T> x,
                    VectorView<T> y) {
    return [=, &context] {
        const auto from = thrust::device_pointer_cast(x.data);
        thrust::transform(thrust::cuda::par_nosync.on(context.stream()), from, from + x.size,
                          thrust::device_pointer_cast(y.data),
                          Horner<T>{coefficients.data, coefficients.size});
    };
}

std::string thrust_name() {
    return "thrust::transform " + std::to_string(THRUST_MAJOR_VERSION) + "." +
           std::to_string(THRUST_MINOR_VERSION);
}

template Work thrust_polyval(Context&, VectorView<const float>, VectorView<const float>,
                             VectorView<float>);
template Work thrust_polyval(Context&, VectorView<const double>, VectorView<const double>,
                             VectorView<double>);

}  // namespace tinyblas::bench
