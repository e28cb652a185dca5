// SPDX-License-Identifier: MIT
// polyval: check, trivial cases, orient, choose, launch in as many pieces as the coefficients need.
#include "tinyblas/polyval.hpp"

#include <algorithm>

#include "check.hpp"
#include "device/runtime.hpp"
#include "kernels/polyval/1_naive.cuh"
#include "kernels/polyval/2_constant.cuh"
#include "kernels/polyval/3_tuned.cuh"
#include "kernels/polyval/compensated.cuh"
#include "log.hpp"

namespace tinyblas {
namespace {

void check_options(const PolyvalOptions& options) {
    require(options.kernel >= PolyvalKernel::best && options.kernel <= PolyvalKernel::tuned,
            "polyval: options.kernel is ", static_cast<int>(options.kernel),
            ": must be best, naive, constant or tuned");
    require(!options.compensated || options.kernel == PolyvalKernel::best ||
                options.kernel == PolyvalKernel::tuned,
            "polyval: options.compensated is true: must be false for the rung ",
            to_string(options.kernel));
}

template <class T>
void check_extents(std::span<const T> coefficients, VectorView<const T> x, VectorView<T> y) {
    require(!coefficients.empty(), "polyval: coefficients are empty: must be at least 1");
    require(coefficients.data(), "polyval: coefficients are null: must point to ",
            coefficients.size(), " coefficients");
    require(x.size >= 0, "polyval: x has ", x.size, " elements: must be at least 0");
    require(y.size == x.size, "polyval: y has ", y.size, " elements but x has ", x.size,
            ": must be equal");
}

template <class T>
void check_vectors(VectorView<const T> x, VectorView<T> y) {
    require(x.data, "polyval: x is null: must point to ", x.size, " elements");
    require(y.data, "polyval: y is null: must point to ", y.size, " elements");
    require(has_addresses(x), "polyval: x has an increment of ", x.increment, ": ", x.size,
            " elements must lie within the address space");
    require(has_addresses(y), "polyval: y has an increment of ", y.increment, ": ", y.size,
            " elements must lie within the address space");
    require(y.increment != 0 || y.size == 1, "polyval: y has an increment of 0: must not be 0 for ",
            y.size, " elements");
    const bool same = x.data == y.data && (x.increment == y.increment || x.size == 1);
    require(same || !overlap(Track(x), Track(y)),
            "polyval: y overlaps x: must lie apart, or be the very same view");
}

/// Order does not matter: y is walked upwards. A single element is walked in any way.
template <class T>
PolyvalOperands<T> orient(VectorView<const T> x, VectorView<T> y) {
    if (y.size == 1) x.increment = y.increment = 1;
    if (y.increment < 0) {
        x.increment = -x.increment;
        y.increment = -y.increment;
    }
    return {y.size, {&x(0), x.increment}, {}, {y.data, y.increment}};
}

/// launch(operands, piece) for pieces whose steps fit kernel parameters. In between the chain waits
/// in y; where y is x, in scratch, for some elements at a time.
template <class T, class Launch>
void evaluate_in_pieces(Context& context, std::span<const T> coefficients,
                        const PolyvalOperands<T>& v, Launch launch) {
    constexpr std::int64_t longest = polyval_most_steps<T>;
    constexpr std::int64_t elements_at_a_time = 1 << 20;
    const auto degree = static_cast<std::int64_t>(coefficients.size()) - 1;
    const bool waits_in_scratch = v.x.first == v.y.first && degree > longest;
    const std::int64_t part = waits_in_scratch ? std::min(v.size, elements_at_a_time) : v.size;
    PolyvalVector<T> scratch;
    if (waits_in_scratch)
        scratch.first =
            static_cast<T*>(context.scratch(static_cast<std::size_t>(part) * sizeof(T)));

    for (std::int64_t i = 0; i < v.size; i += part) {
        const PolyvalVector<T> y = {&v.y(i), v.y.stride};
        const PolyvalVector<T> between = waits_in_scratch ? scratch : y;
        PolyvalOperands<T> next = {std::min(part, v.size - i), {&v.x(i), v.x.stride}, {}, between};
        for (std::int64_t below = degree; !next.chain.first || below > 0;) {
            const auto steps = static_cast<int>(std::min(below, longest));
            below -= steps;
            if (below == 0) next.y = y;
            launch(next, PolyvalPiece<T>{coefficients.data() + below, steps, !next.chain.first});
            next.chain = {between.first, between.stride};
        }
    }
}

/// The coefficients in device memory.
template <class T>
const T* upload(Context& context, std::span<const T> coefficients) {
    auto* scratch = static_cast<T*>(context.scratch(coefficients.size_bytes()));
    launch_polyval_upload(context.stream(), coefficients.data(),
                          static_cast<std::int64_t>(coefficients.size()), scratch);
    return scratch;
}

template <class T>
void evaluate(Context& context, std::span<const T> coefficients, const PolyvalOperands<T>& v,
              PolyvalKernel kernel, bool compensated) {
    const device::Stream stream = context.stream();
    const auto degree = static_cast<std::int64_t>(coefficients.size()) - 1;
    if (compensated)
        return launch_polyval_compensated(stream, v, upload(context, coefficients), degree);
    if (kernel == PolyvalKernel::naive)
        return launch_polyval_naive(stream, v, upload(context, coefficients), degree);
    if (kernel == PolyvalKernel::constant)
        return evaluate_in_pieces(context, coefficients, v,
                                  [&](const auto& operands, const auto& piece) {
                                      launch_polyval_constant(stream, operands, piece);
                                  });
    evaluate_in_pieces(context, coefficients, v, [&](const auto& operands, const auto& piece) {
        launch_polyval_tuned(stream, context.multiprocessors(), operands, piece);
    });
}

template <class T>
PolyvalChoice run(Context& context, std::span<const T> coefficients, VectorView<const T> x,
                  VectorView<T> y, const PolyvalOptions& options) {
    check_options(options);
    check_extents(coefficients, x, y);
    if (x.size == 0) return {};
    check_vectors(x, y);

    const PolyvalKernel kernel =
        options.kernel == PolyvalKernel::best ? PolyvalKernel::tuned : options.kernel;
    const device::Guard guard(context.device(), "polyval");
    context.note("polyval");
    evaluate(context, coefficients, orient(x, y), kernel, options.compensated);
    if (logs()) log_polyval(coefficients.size(), x, y, options, kernel);
    return {kernel};
}

}  // namespace

const char* to_string(PolyvalKernel kernel) noexcept {
    switch (kernel) {
        case PolyvalKernel::best: return "best";
        case PolyvalKernel::naive: return "naive";
        case PolyvalKernel::constant: return "constant";
        case PolyvalKernel::tuned: return "tuned";
        case PolyvalKernel::none: return "none";
    }
    return "unknown";
}

PolyvalKernel polyval_kernel(std::string_view name) {
    for (auto kernel :
         {PolyvalKernel::best, PolyvalKernel::naive, PolyvalKernel::constant, PolyvalKernel::tuned})
        if (name == to_string(kernel)) return kernel;
    fail(Status::invalid_argument, "polyval: there is no rung '", name,
         "': must be best, naive, constant or tuned");
}

PolyvalChoice polyval(Context& context, std::span<const float> coefficients,
                      VectorView<const float> x, VectorView<float> y, PolyvalOptions options) {
    return run(context, coefficients, x, y, options);
}
PolyvalChoice polyval(Context& context, std::span<const double> coefficients,
                      VectorView<const double> x, VectorView<double> y, PolyvalOptions options) {
    return run(context, coefficients, x, y, options);
}

}  // namespace tinyblas
