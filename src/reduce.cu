// SPDX-License-Identifier: MIT
// The reductions: check, choose how the vectors are read, launch; wait for the number if the caller
// wants it on the host.
#include "tinyblas/reduce.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>

#include "check.hpp"
#include "device/runtime.hpp"
#include "kernels/reduce/1_naive.cuh"
#include "kernels/reduce/2_texture.cuh"
#include "kernels/reduce/3_tuned.cuh"
#include "log.hpp"
#include "workspace.hpp"

namespace tinyblas {
namespace {

/// What one call is about. `y` repeats `x` where there is one operand.
template <class T>
struct Call {
    const char* operation;
    Context& context;
    VectorView<const T> x, y;
};

template <class T>
void check(const Call<T>& call, ReduceKernel kernel) {
    check_vector(call.operation, "x", call.x);
    check_vector(call.operation, "y", call.y);
    require(call.x.size == call.y.size, call.operation, ": y has ", call.y.size,
            " elements but x has ", call.x.size, ": must be equal");
    require(kernel >= ReduceKernel::best && kernel <= ReduceKernel::tuned, call.operation,
            ": options.kernel is ", static_cast<int>(kernel),
            ": must be best, naive, texture or tuned");
}

template <class T>
bool is_contiguous(const VectorView<const T>& view) {
    return view.increment == 1 || view.size <= 1;
}
template <class T>
bool is_aligned(const VectorView<const T>& view) {
    return is_contiguous(view) && reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
}
template <class T>
StridedOperand<T> strided(const VectorView<const T>& view) {
    return {view.size > 0 ? &view(0) : view.data, view.size > 1 ? view.increment : 1};
}

/// The ranges of the textures that show a contiguous vector; none if it needs too many.
template <class T, int count>
std::size_t texture_ranges(const Call<T>& call, const VectorView<const T>& view,
                           TextureOperand<T, count>& operand,
                           std::array<TextureRange, TexturePool::capacity>& ranges,
                           std::size_t used) {
    constexpr std::int64_t texel = count * sizeof(T);
    const int device = call.context.device();
    const auto address = reinterpret_cast<std::uintptr_t>(view.data);
    const auto before =
        static_cast<std::int64_t>(address % device::texture_alignment(device, call.operation));
    const auto longest =
        static_cast<std::uint64_t>(device::longest_texture(texel, device, call.operation));
    const int shift = std::bit_width(longest - texture_reach) - 1;
    const std::int64_t bytes = before + view.size * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t of_one = texel << shift;
    const std::int64_t textures = (bytes + of_one - 1) / of_one;
    if (textures > TextureOperand<T, count>::most_textures || bytes / texel > UINT32_MAX) return 0;
    operand.data = view.data;
    operand.texels_before = static_cast<unsigned>(before / texel);
    operand.shift = shift;
    const auto* const start = reinterpret_cast<const std::byte*>(view.data) - before;
    for (std::int64_t t = 0; t < textures; ++t) {
        const auto size =
            static_cast<std::size_t>(std::min(of_one + texel * texture_reach, bytes - t * of_one));
        ranges[used + static_cast<std::size_t>(t)] = {start + t * of_one, size,
                                                      static_cast<int>(texel)};
    }
    return static_cast<std::size_t>(textures);
}

/// Makes textures of the call's `operands` vectors; false if none can show them.
template <int count, class T>
bool show(const Call<T>& call, int operands, TextureOperand<T, count>& x,
          TextureOperand<T, count>& y) {
    std::array<TextureRange, TexturePool::capacity> ranges;
    std::array<device::Texture, TexturePool::capacity> textures;
    const std::size_t of_x = texture_ranges(call, call.x, x, ranges, 0);
    const std::size_t of_y = operands == 2 ? texture_ranges(call, call.y, y, ranges, of_x) : 0;
    if (of_x == 0 || (of_y == 0 && operands == 2)) return false;
    call.context.workspace().textures(call.context.stream(), std::span(ranges).first(of_x + of_y),
                                      textures, call.operation);
    std::copy_n(textures.begin(), of_x, x.textures);
    std::copy_n(textures.begin() + of_x, of_y, y.textures);
    return true;
}

/// False if no textures can show the vectors.
template <class Sum, int count, class T>
bool run_texture(const Call<T>& call, const ReduceEnd<Sum>& end) {
    TextureOperand<T, count> x{}, y{};
    if (!show(call, Sum::operands, x, y)) return false;
    launch_reduce_texture(call.operation, call.context.stream(), x, y, call.x.size, end);
    return true;
}

template <class Sum, class T>
ReduceKernel run(const Call<T>& call, const ReduceEnd<Sum>& end, ReduceKernel kernel) {
    const auto stream = call.context.stream();
    const auto [operation, context, x, y] = call;
    if (kernel == ReduceKernel::naive) {
        launch_reduce_naive(operation, stream, strided(x), strided(y), x.size, end);
        return kernel;
    }
    const bool aligned = is_aligned(x) && is_aligned(y);
    if (kernel == ReduceKernel::texture && x.size > 0 && is_contiguous(x) && is_contiguous(y)) {
        const bool shown =
            aligned ? run_texture<Sum, group_size<T>>(call, end) : run_texture<Sum, 1>(call, end);
        if (shown) return kernel;
    }
    if (aligned)
        launch_reduce_tuned(operation, stream, AlignedOperand<T>{x.data}, AlignedOperand<T>{y.data},
                            x.size, end);
    else
        launch_reduce_tuned(operation, stream, strided(x), strided(y), x.size, end);
    return ReduceKernel::tuned;
}

/// `counters`: of the workspace.
template <class Sum, class T>
ReduceChoice enqueue(Sum sum, const Call<T>& call, const ReduceResult<T>& result, void* counters,
                     ReduceKernel kernel) {
    Context& context = call.context;
    context.note(call.operation);
    using Shared = ReduceWorkspace<typename Sum::Total>;
    static_assert(sizeof(Shared) <= Workspace::counter_bytes);
    const bool cluster = context.compute_capability() >= 90;
    kernel = run<Sum>(call, {result, static_cast<Shared*>(counters), cluster, sum}, kernel);
    if (logs())
        log_reduction<T>(call.operation, call.x, Sum::operands == 2 ? &call.y : nullptr, kernel);
    return {kernel};
}

/// The form with a device result.
template <class Sum, class T>
ReduceChoice reduce(Sum sum, const Call<T>& call, T* result, ReduceOptions options) {
    check(call, options.kernel);
    require(result, call.operation, ": result is null: must point to one element");
    Context& context = call.context;
    const device::Guard guard(context.device(), call.operation);
    void* const counters = context.workspace().counters(
        context.stream(), Workspace::CountersOf::reductions, call.operation);
    return enqueue(sum, call, {result, nullptr, 0}, counters, options.kernel);
}

/// Looks at the words until they carry the number of the call; false if that takes long.
bool poll(std::uint64_t* words, int count, std::uint32_t call) {
    constexpr auto patience = std::chrono::microseconds(200);
    const auto has_come = [&] {
        for (int w = 0; w < count; ++w)
            if (std::atomic_ref(words[w]).load(std::memory_order_acquire) >> 32 != call)
                return false;
        return true;
    };
    const auto start = std::chrono::steady_clock::now();
    do {
        for (int look = 0; look < 64; ++look)
            if (has_come()) return true;
    } while (std::chrono::steady_clock::now() - start < patience);
    return has_come();
}

/// The form with a host result.
template <class Sum, class T>
T reduce(Sum sum, const Call<T>& call, ReduceOptions options) {
    check(call, options.kernel);
    if (call.x.size == 0) return 0;
    Context& context = call.context;
    const device::Guard guard(context.device(), call.operation);
    require(!device::is_capturing(context.stream(), call.operation), call.operation,
            ": the context's stream is being captured, where no result can be waited for: must be "
            "called with a pointer to a device result");
    constexpr int count = sizeof(T) / sizeof(std::uint32_t);
    Workspace& workspace = context.workspace();
    void* const counters = workspace.lasting_counters(
        context.stream(), Workspace::CountersOf::reductions, call.operation);
    const auto [words, number] = workspace.host_words(call.operation);
    enqueue(sum, call, {nullptr, words, number}, counters, options.kernel);
    if (!poll(words, count, number)) {
        device::synchronize(context.stream(), call.operation);
        if (!poll(words, count, number))
            fail(Status::device_error, call.operation, ": the device delivered no result");
    }
    std::uint32_t halves[count];
    for (int w = 0; w < count; ++w) halves[w] = static_cast<std::uint32_t>(words[w]);
    T value;
    std::memcpy(&value, halves, sizeof value);
    return value;
}

/// As BLAS has it for asum: no elements.
template <class T>
VectorView<const T> forward_only(VectorView<const T> x) {
    if (x.increment <= 0) x.size = std::min<std::int64_t>(x.size, 0);
    return x;
}

}  // namespace

const char* to_string(ReduceKernel kernel) noexcept {
    switch (kernel) {
        case ReduceKernel::best: return "best";
        case ReduceKernel::naive: return "naive";
        case ReduceKernel::texture: return "texture";
        case ReduceKernel::tuned: return "tuned";
        case ReduceKernel::none: return "none";
    }
    return "unknown";
}

ReduceKernel reduce_kernel(std::string_view name) {
    for (auto kernel :
         {ReduceKernel::best, ReduceKernel::naive, ReduceKernel::texture, ReduceKernel::tuned})
        if (name == to_string(kernel)) return kernel;
    fail(Status::invalid_argument, "reduce: there is no rung '", name,
         "': must be best, naive, texture or tuned");
}

float asum(Context& context, VectorView<const float> x, ReduceOptions options) {
    x = forward_only(x);
    return reduce(Elements<float>::absolute(), Call<float>{"asum", context, x, x}, options);
}
double asum(Context& context, VectorView<const double> x, ReduceOptions options) {
    x = forward_only(x);
    return reduce(Elements<double>::absolute(), Call<double>{"asum", context, x, x}, options);
}
ReduceChoice asum(Context& context, VectorView<const float> x, float* result,
                  ReduceOptions options) {
    x = forward_only(x);
    return reduce(Elements<float>::absolute(), Call<float>{"asum", context, x, x}, result, options);
}
ReduceChoice asum(Context& context, VectorView<const double> x, double* result,
                  ReduceOptions options) {
    x = forward_only(x);
    return reduce(Elements<double>::absolute(), Call<double>{"asum", context, x, x}, result,
                  options);
}

float dot(Context& context, VectorView<const float> x, VectorView<const float> y,
          ReduceOptions options) {
    return reduce(Products<float>(), Call<float>{"dot", context, x, y}, options);
}
double dot(Context& context, VectorView<const double> x, VectorView<const double> y,
           ReduceOptions options) {
    return reduce(Products<double>(), Call<double>{"dot", context, x, y}, options);
}
ReduceChoice dot(Context& context, VectorView<const float> x, VectorView<const float> y,
                 float* result, ReduceOptions options) {
    return reduce(Products<float>(), Call<float>{"dot", context, x, y}, result, options);
}
ReduceChoice dot(Context& context, VectorView<const double> x, VectorView<const double> y,
                 double* result, ReduceOptions options) {
    return reduce(Products<double>(), Call<double>{"dot", context, x, y}, result, options);
}

float nrm2(Context& context, VectorView<const float> x, ReduceOptions options) {
    return reduce(Norm<float>(), Call<float>{"nrm2", context, x, x}, options);
}
double nrm2(Context& context, VectorView<const double> x, ReduceOptions options) {
    return reduce(Norm<double>(), Call<double>{"nrm2", context, x, x}, options);
}
ReduceChoice nrm2(Context& context, VectorView<const float> x, float* result,
                  ReduceOptions options) {
    return reduce(Norm<float>(), Call<float>{"nrm2", context, x, x}, result, options);
}
ReduceChoice nrm2(Context& context, VectorView<const double> x, double* result,
                  ReduceOptions options) {
    return reduce(Norm<double>(), Call<double>{"nrm2", context, x, x}, result, options);
}

float sum(Context& context, VectorView<const float> x, ReduceOptions options) {
    return reduce(Elements<float>(), Call<float>{"sum", context, x, x}, options);
}
double sum(Context& context, VectorView<const double> x, ReduceOptions options) {
    return reduce(Elements<double>(), Call<double>{"sum", context, x, x}, options);
}
ReduceChoice sum(Context& context, VectorView<const float> x, float* result,
                 ReduceOptions options) {
    return reduce(Elements<float>(), Call<float>{"sum", context, x, x}, result, options);
}
ReduceChoice sum(Context& context, VectorView<const double> x, double* result,
                 ReduceOptions options) {
    return reduce(Elements<double>(), Call<double>{"sum", context, x, x}, result, options);
}

}  // namespace tinyblas
