// SPDX-License-Identifier: MIT
// What a benchmark needs of the machine under it. Two twins implement it: the folders cuda/ and
// emulated/.
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

/// Enqueues one call on the context's stream.
using Work = std::function<void()>;

/// Many calls timed as one. On a GPU: replays of a CUDA graph between two events, so that no launch
/// from the host is timed.
class Batch {
  public:
    virtual ~Batch() = default;
    /// Runs the batch; seconds a call.
    virtual double seconds() = 0;
};
std::unique_ptr<Batch> make_batch(Context& context, int calls, const Work& work);

/// The library to compare with.
class Reference {
  public:
    virtual ~Reference() = default;
    virtual std::string name() const = 0;
    /// C = A B. Of each operand's strides one is 1; C's rows are contiguous.
    virtual void gemm(MatrixView<const float> a, MatrixView<const float> b,
                      MatrixView<float> c) = 0;
    virtual void gemm(MatrixView<const double> a, MatrixView<const double> b,
                      MatrixView<double> c) = 0;
};
/// cuBLAS on the context's stream; null under emulation.
std::unique_ptr<Reference> make_reference(Context& context);

/// What a kernel of nothing but fused multiply-adds in type T reaches; zeros under emulation.
struct Peak {
    double flops;  // a second
    double hertz;  // the multiprocessors' clock meanwhile
};
template <class T>
Peak fma_peak(Context& context);

/// `count` elements of the normal distribution N(0, 1), the same for the same seed; or all NaN.
template <class T>
void fill_normal(Context& context, T* data, std::int64_t count, std::uint64_t seed);
template <class T>
void fill_nan(Context& context, T* data, std::int64_t count);

/// The largest |c - r| / (|A| |B|), r = A B to twice T's precision, over sampled entries (see
/// samples.hpp), in units of T's rounding unit: 2^-24 or 2^-53. NaN in C gives infinity. Waits for
/// the stream.
template <class T>
double worst_error(Context& context, MatrixView<const T> a, MatrixView<const T> b,
                   MatrixView<const T> c);

}  // namespace tinyblas::bench
