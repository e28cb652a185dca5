// SPDX-License-Identifier: MIT
// What a benchmark needs of the machine under it: clocks, limits, the libraries to compare with.
// Two twins implement it and data.hpp: the folders cuda/ and emulated/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tinyblas/context.hpp"
#include "tinyblas/view.hpp"

namespace tinyblas::bench {

/// Whether a CPU emulates the GPU, so that times say nothing about GPUs.
bool emulated();

/// Names and values to record beside the figures: the GPU, its driver, its clocks.
using Facts = std::vector<std::pair<std::string, std::string>>;
Facts machine_facts();

/// Enqueues one call on the context's stream. Empty where there is nothing to run.
using Work = std::function<void()>;

/// Many calls timed as one.
class Batch {
  public:
    virtual ~Batch() = default;
    /// Runs the batch; seconds a call.
    virtual double seconds() = 0;
};
/// On a GPU, between two events: replays of a CUDA graph, so that no launch from the host is timed,
/// or long calls as they are. The graph holds at least `rotation` calls and the batch a whole
/// number of graphs: a work that walks through so many copies of its operands meets each of them
/// equally often.
std::unique_ptr<Batch> make_batch(Context& context, int calls, const Work& work, int rotation = 1);

/// The reductions of reduce.hpp.
enum class Reduction { asum, dot, nrm2, sum };

/// C = alpha A B + beta C, or `batch` of them whose matrices lie so many elements apart, or, with
/// of_a, of_b and of_c, where these pointers in device memory say.
template <class T>
struct Product {
    MatrixView<const T> a, b;
    MatrixView<T> c;
    T alpha = 1, beta = 0;
    std::int64_t batch = 0;  // 0: one product
    std::int64_t a_stride = 0, b_stride = 0, c_stride = 0;
    const T* const* of_a = nullptr;
    const T* const* of_b = nullptr;
    T* const* of_c = nullptr;
};

/// The library to compare with. Results of reductions are in device memory.
class Reference {
  public:
    virtual ~Reference() = default;
    virtual std::string name() const = 0;
    /// Of each operand's strides one is 1; C's rows are contiguous.
    virtual void gemm(const Product<float>& product) = 0;
    virtual void gemm(const Product<double>& product) = 0;
    /// At most `most` other ways to do it that the library's heuristics propose, the most promising
    /// first.
    virtual std::vector<Work> gemm_proposals(const Product<float>& product, int most) = 0;
    virtual std::vector<Work> gemm_proposals(const Product<double>& product, int most) = 0;
    /// y = A x; one of A's strides is 1. A = A + x transposed(y); A's rows are contiguous.
    virtual void gemv(MatrixView<const float> a, VectorView<const float> x,
                      VectorView<float> y) = 0;
    virtual void gemv(MatrixView<const double> a, VectorView<const double> x,
                      VectorView<double> y) = 0;
    virtual void ger(VectorView<const float> x, VectorView<const float> y, MatrixView<float> a) = 0;
    virtual void ger(VectorView<const double> x, VectorView<const double> y,
                     MatrixView<double> a) = 0;
    /// y = alpha x + y. x = alpha x.
    virtual void axpy(float alpha, VectorView<const float> x, VectorView<float> y) = 0;
    virtual void axpy(double alpha, VectorView<const double> x, VectorView<double> y) = 0;
    virtual void scal(float alpha, VectorView<float> x) = 0;
    virtual void scal(double alpha, VectorView<double> x) = 0;
    /// B = transposed(A), both with contiguous rows and apart.
    virtual void transpose(MatrixView<const float> a, MatrixView<float> b) = 0;
    virtual void transpose(MatrixView<const double> a, MatrixView<double> b) = 0;
    /// Any reduction but sum, which it lacks.
    virtual void reduce(Reduction operation, VectorView<const float> x, VectorView<const float> y,
                        float* result) = 0;
    virtual void reduce(Reduction operation, VectorView<const double> x, VectorView<const double> y,
                        double* result) = 0;
    /// asum in the form that waits for the number.
    virtual float asum(VectorView<const float> x) = 0;
};
/// cuBLAS on the context's stream; null under emulation.
std::unique_ptr<Reference> make_reference(Context& context);

/// y_i = the polynomial at x_i as one writes it with Thrust: thrust::transform with Horner's rule,
/// the coefficients in device memory. Empty under emulation.
template <class T>
Work thrust_polyval(Context& context, VectorView<const T> coefficients, VectorView<const T> x,
                    VectorView<T> y);
std::string thrust_name();

/// What memory allows: the runtime's copy of `bytes` bytes from device memory to device memory; a
/// kernel that does nothing but read `bytes` bytes of x, and as many of y unless that is null.
/// Empty under emulation.
Work plain_copy(Context& context, void* to, const void* from, std::int64_t bytes);
Work plain_read(Context& context, const void* x, const void* y, std::int64_t bytes);

/// What a kernel of nothing but fused multiply-adds in type T reaches; zeros under emulation.
struct Peak {
    double flops;  // a second
    double hertz;  // the multiprocessors' clock meanwhile
};
template <class T>
Peak fma_peak(Context& context);

}  // namespace tinyblas::bench
