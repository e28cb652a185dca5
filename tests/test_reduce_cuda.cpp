// SPDX-License-Identifier: MIT
// What only a GPU can show of the reductions: capture in CUDA graphs that outlive the context,
// textures and memory that do not leak, vectors longer than 2^31 elements.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "graph.hpp"
#include "reduce_model.hpp"
#include "reference.hpp"
#include "tinyblas/reduce.hpp"

namespace tinyblas::test {
namespace {

constexpr ReduceKernel rungs[] = {ReduceKernel::naive, ReduceKernel::texture, ReduceKernel::tuned};

/// Random elements that the host can see too.
Matrix<float> random_vector(std::int64_t n, std::uint64_t seed) {
    Matrix<float> x(1, n, Memory::managed);
    Random random(seed);
    for (std::int64_t i = 0; i < n; ++i) x(0, i) = static_cast<float>(random.normal());
    return x;
}
VectorView<const float> view(const Matrix<float>& x) { return x.view().row(0); }

// Captured as the first call of a context, which is gone when the graph runs, twice and on other
// streams, beside other work.
TEST(ReduceGraph, OutlivesItsContext) {
    for (const std::int64_t n : {100, 5000, 100000, 3000001})
        for (const ReduceKernel rung : rungs) {
            auto x = random_vector(n, 1), y = random_vector(n, 2);
            Matrix<float> results(1, 3, Memory::managed);
            std::optional<Context> first(std::in_place);
            Graph graph(*first, [&] {
                asum(*first, view(x), &results(0, 0), {rung});
                dot(*first, view(x), view(y), &results(0, 1), {rung});
                nrm2(*first, view(y), &results(0, 2), {rung});
            });
            EXPECT_EQ(graph.nodes(), 3u);
            first.reset();
            Context context, beside;
            for (int round = 0; round < 3; ++round) {
                for (std::int64_t i = 0; i < n; i += 7) x(0, i) = -2 * x(0, i);
                for (int i = 0; i < 3; ++i) results(0, i) = poison<float>();
                graph.replay(context.stream());
                Matrix<float> other(1, 1);
                for (int repeat = 0; repeat < 4; ++repeat)
                    dot(beside, view(x), view(y), other.view().data, {rung});
                context.synchronize();
                beside.synchronize();
                EXPECT_EQ(bits(results(0, 0)), bits(asum(beside, view(x), {rung}))) << n;
                EXPECT_EQ(bits(results(0, 1)), bits(dot(beside, view(x), view(y), {rung}))) << n;
                EXPECT_EQ(bits(results(0, 2)), bits(nrm2(beside, view(y), {rung}))) << n;
            }
        }
}

TEST(ReduceGraph, AHostResultIsRefused) {
    auto x = random_vector(1000, 1);
    Context context;
    Matrix<float> result(1, 1, Memory::managed);
    Graph graph(context, [&] {
        EXPECT_TRUE(refuses([&] { asum(context, view(x)); }, {"asum", "being captured"}));
        asum(context, view(x), result.view().data);  // the capture goes on
    });
    EXPECT_EQ(graph.nodes(), 1u);
    graph.replay(context.stream());
    context.synchronize();
    EXPECT_EQ(result(0, 0), asum(context, view(x)));
}

TEST(ReduceCuda, GraphsLeaveNothingBehind) {
    auto x = random_vector(300000, 1);
    Matrix<float> result(1, 1);
    const auto use = [&] {
        Context context;
        Graph graph(context, [&] {
            for (int call = 0; call < 20; ++call)
                asum(context, view(x), result.view().data, {ReduceKernel::texture});
        });
        graph.replay(context.stream());
        context.synchronize();
    };
    for (int warm_up = 0; warm_up < 3; ++warm_up) use();
    const std::size_t before = free_memory();
    for (int repeat = 0; repeat < 50; ++repeat) use();
    Context().workspace();  // its end collects what the last graph kept
    EXPECT_GE(free_memory() + (2 << 20), before);
}

// A million textures would fill any table of them.
TEST(ReduceCuda, AMillionPointers) {
    auto x = random_vector(1 << 16, 1);
    Context context;
    Matrix<float> result(1, 1, Memory::managed);
    const auto call = [&](std::int64_t first, std::int64_t n) {
        asum(context, {x.view().data + first, n, 1}, result.view().data, {ReduceKernel::texture});
    };
    call(0, 100);
    context.synchronize();
    const std::size_t before = free_memory();
    for (std::int64_t i = 0; i < 1000000; ++i) call(i % 65000, 100 + i % 400);
    context.synchronize();
    EXPECT_GE(free_memory() + (2 << 20), before);
    EXPECT_EQ(result(0, 0), asum(context, VectorView<const float>{x.view().data + 999999 % 65000,
                                                                  100 + 999999 % 400, 1}));
}

/// n elements that repeat `period` ones, made on the device by doubling.
class Periodic {
  public:
    Periodic(std::int64_t n, std::uint64_t seed) : n_(n), x_(1, n) {
        Random random(seed);
        for (float& element : period_) element = static_cast<float>(random.normal());
        float* const data = x_.view().data;
        EXPECT_EQ(
            cudaMemcpy(data, period_.data(), sizeof(float) * period_.size(), cudaMemcpyDefault),
            cudaSuccess);
        for (std::int64_t have = size(); have < n; have *= 2)
            EXPECT_EQ(cudaMemcpy(data + have, data, sizeof(float) * std::min(have, n - have),
                                 cudaMemcpyDefault),
                      cudaSuccess);
    }
    /// sum of f over the elements, in double
    template <class F>
    double sum(F f) const {
        double whole = 0, part = 0;
        for (std::int64_t i = 0; i < size(); ++i) {
            whole += f(static_cast<double>(period_[i]));
            if (i < n_ % size()) part += f(static_cast<double>(period_[i]));
        }
        return whole * static_cast<double>(n_ / size()) + part;
    }
    double first() const { return period_[0]; }
    VectorView<const float> view() { return x_.view().row(0); }

  private:
    static constexpr std::int64_t size() { return 1 << 20; }
    std::int64_t n_;
    std::vector<float> period_ = std::vector<float>(size());
    Matrix<float> x_;
};

TEST(ReduceCuda, MoreThan2To31Elements) {
    constexpr std::int64_t n = (std::int64_t{1} << 31) + 7;
    Context context;
    Periodic x(n, 1);
    const double absolute = x.sum([](double v) { return std::abs(v); });
    const double square = x.sum([](double v) { return v * v; });
    for (const ReduceKernel rung : rungs) {
        EXPECT_NEAR(asum(context, x.view(), {rung}), absolute, 4e-6 * absolute);
        EXPECT_NEAR(dot(context, x.view(), x.view(), {rung}), square, 4e-6 * square);
        EXPECT_NEAR(nrm2(context, x.view(), {rung}), std::sqrt(square), 4e-6 * std::sqrt(square));
    }
    const VectorView<const float> off{x.view().data + 1, n - 1, 1};
    const double less = absolute - std::abs(x.first());
    for (const ReduceKernel rung : rungs)
        EXPECT_NEAR(asum(context, off, {rung}), less, 4e-6 * absolute);
}

}  // namespace
}  // namespace tinyblas::test
