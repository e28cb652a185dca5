// SPDX-License-Identifier: MIT
// What only a GPU can show of polyval: capture in CUDA graphs, polynomials on two streams at once,
// no allocation, vectors past 2^31 elements, and long polynomials in place over many of them.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "polyval_problem.hpp"

namespace tinyblas::test {
namespace {

constexpr PolyvalOptions all_options[] = {{PolyvalKernel::naive},
                                          {PolyvalKernel::constant},
                                          {PolyvalKernel::tuned},
                                          {PolyvalKernel::tuned, true}};

/// What enqueue() puts on the context's stream, as a graph.
class Captured {
  public:
    template <class Enqueue>
    Captured(Context& context, Enqueue enqueue) {
        cudaGraph_t graph = nullptr;
        EXPECT_EQ(cudaStreamBeginCapture(context.stream(), cudaStreamCaptureModeGlobal),
                  cudaSuccess);
        enqueue();
        EXPECT_EQ(cudaStreamEndCapture(context.stream(), &graph), cudaSuccess);
        EXPECT_EQ(cudaGraphInstantiateWithFlags(&replay_, graph, 0), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    ~Captured() { EXPECT_EQ(cudaGraphExecDestroy(replay_), cudaSuccess); }
    void launch(Context& context) {
        EXPECT_EQ(cudaGraphLaunch(replay_, context.stream()), cudaSuccess);
    }

  private:
    cudaGraphExec_t replay_ = nullptr;
};

template <class T>
class PolyvalCuda : public testing::Test {
  protected:
    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PolyvalCuda, Types);

/// Whether the result is right: plain rungs to the bit, the compensated one by its accuracy.
template <class T>
testing::AssertionResult right(PolyvalProblem<T>& p, const PolyvalOptions& options) {
    return options.compensated ? accurate(p) : chained(p);
}

// The host's array is overwritten after the capture; x changes between replays; the context does
// other work in between, which must not touch what the graph keeps.
TYPED_TEST(PolyvalCuda, CapturedThenReplayed) {
    using T = TypeParam;
    for (const PolyvalOptions& options : all_options)
        for (const std::int64_t degree : {0, 7, 200, 20000})
            for (const bool in_place : {false, true}) {
                PolyvalProblem<T> p(700, degree, 1), other(900, degree, 2);
                p.in_place = in_place;
                const std::vector<T> kept = p.coefficients;
                Captured graph(this->context, [&] { p.enqueue(this->context, options); });
                std::fill(p.coefficients.begin(), p.coefficients.end(), poison<T>());
                p.coefficients = kept;
                for (int round = 0; round < 3; ++round) {
                    other.run(this->context, options);
                    EXPECT_TRUE(right(other, options));
                    p.x.fill([&] { return static_cast<T>(2 * p.random.uniform() - 1); });
                    p.upload(this->context);
                    graph.launch(this->context);
                    p.download(this->context);
                    EXPECT_TRUE(right(p, options))
                        << to_string(options.kernel) << ", round " << round;
                }
            }
}

// Two polynomials of the same shape on two streams, many times, as calls and as graphs.
TYPED_TEST(PolyvalCuda, StreamsDoNotDisturbEachOther) {
    using T = TypeParam;
    Context second;
    for (const PolyvalOptions& options : all_options)
        for (const std::int64_t degree : {7, 200, 9000}) {
            PolyvalProblem<T> p(1 << 16, degree, 3), q(1 << 16, degree, 4);
            p.upload(this->context);
            q.upload(second);
            this->context.synchronize();
            second.synchronize();
            Captured p_graph(this->context, [&] { p.enqueue(this->context, options); });
            Captured q_graph(second, [&] { q.enqueue(second, options); });
            for (int turn = 0; turn < 10; ++turn) {
                p.enqueue(this->context, options);
                q_graph.launch(second);
                p_graph.launch(this->context);
                q.enqueue(second, options);
            }
            p.download(this->context);
            q.download(second);
            if (options.compensated && degree > 300) continue;  // the wide reference takes long
            EXPECT_TRUE(right(p, options)) << to_string(options.kernel);
            EXPECT_TRUE(right(q, options)) << to_string(options.kernel);
        }
}

TYPED_TEST(PolyvalCuda, AWarmContextAllocatesNothing) {
    const auto free_memory = [] {
        std::size_t free = 0, total = 0;
        EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
        return free;
    };
    PolyvalProblem<TypeParam> p(500, 9000, 5);
    p.in_place = true;
    for (const PolyvalOptions& options : all_options) p.run(this->context, options);
    const std::size_t before = free_memory();
    for (int repeat = 0; repeat < 20; ++repeat)
        for (const PolyvalOptions& options : all_options) p.enqueue(this->context, options);
    EXPECT_EQ(free_memory(), before);
    this->context.synchronize();
}

// In place and past what parameters hold, over more elements than the chain's scratch has room for.
TYPED_TEST(PolyvalCuda, InPlaceManyElementsManyCoefficients) {
    using T = TypeParam;
    for (const PolyvalKernel kernel : {PolyvalKernel::constant, PolyvalKernel::tuned})
        for (const int storage : {0, 4, 5}) {
            PolyvalProblem<T> p((5 << 20) + 7, polyval_long_slots<T> + 500, 6,
                                vector_storages[storage]);
            p.in_place = true;
            p.run(this->context, {kernel});
            // A sample, because horner() takes microseconds an element: all over, and where one
            // part of the elements ends.
            std::vector<std::int64_t> sample = {p.size() - 1};
            for (std::int64_t i = 0; i < p.size(); i += 26207) sample.push_back(i);
            for (std::int64_t end = 1 << 20; end < p.size(); end += 1 << 20)
                for (std::int64_t i = end - 5; i < end + 5; ++i)
                    sample.push_back(std::min(i, p.size() - 1));
            for (const std::int64_t i : sample)
                ASSERT_EQ(bits(p.result(i)), bits(horner(p.coefficients, p.argument(i))))
                    << i << ", " << to_string(kernel) << "; " << p;
            EXPECT_TRUE(surroundings_intact(p));
        }
}

// More than 2^31 elements, and increments whose products pass 2^31. Looked at in windows.
TYPED_TEST(PolyvalCuda, PastTwoToThe31) {
    using T = TypeParam;
    constexpr std::int64_t size = (std::int64_t{1} << 31) + 7, window = 4096;
    Matrix<T> x(1, size), y(1, size);
    std::vector<std::int64_t> starts = {0, size - window};
    for (std::int64_t power = 2 * window; power < size - window; power *= 2)
        starts.push_back(power - window / 2);
    starts.push_back((std::int64_t{1} << 31) - window);
    std::vector<T> coefficients(10), host(window), back(window);
    Random random(7);
    for (T& a : coefficients) a = static_cast<T>(2 * random.uniform() - 1);
    const auto as_row = [](std::vector<T>& v) {
        return MatrixView<T>::row_major(v.data(), 1, window);
    };
    const auto argument = [](std::int64_t i) { return static_cast<T>(i % 1021) / 512 - 1; };
    const auto each_window = [&](Matrix<T>& in, auto action) {
        for (const std::int64_t start : starts) action(start, in.view().block(0, start, 1, window));
    };
    for (const PolyvalOptions& options : all_options)
        for (const bool in_place : {false, true}) {
            ASSERT_EQ(cudaMemset(x.view().data, 0, size * sizeof(T)), cudaSuccess);
            ASSERT_EQ(cudaMemset(y.view().data, 0xff, size * sizeof(T)), cudaSuccess);
            ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
            each_window(x, [&](std::int64_t start, MatrixView<T> part) {
                for (std::int64_t e = 0; e < window; ++e) host[e] = argument(start + e);
                copy(this->context, as_row(host), part);
            });
            Matrix<T>& output = in_place ? x : y;
            polyval(this->context, std::span<const T>(coefficients), x.view().row(0),
                    output.view().row(0), options);
            each_window(output, [&](std::int64_t start, MatrixView<T> part) {
                copy(this->context, part, as_row(back));
                this->context.synchronize();
                for (std::int64_t e = 0; e < window; ++e) {
                    const T expected = horner(coefficients, argument(start + e));
                    ASSERT_LE(std::abs(back[e] - expected),
                              options.compensated ? 100 * unit_roundoff<T> : 0)
                        << start + e << ", " << to_string(options.kernel);
                }
            });
        }
}

TYPED_TEST(PolyvalCuda, FarApart) {
    using T = TypeParam;
    constexpr std::int64_t far = (std::int64_t{1} << 26) + 1, size = 33;  // 33 of them pass 2^31
    Matrix<T> buffer(1, (size - 1) * far + 2);
    T* data = buffer.view().data;
    const std::vector<T> coefficients = {1, 2, 3};
    std::vector<T> host(size), back(size);
    for (std::int64_t i = 0; i < size; ++i) host[i] = static_cast<T>(i);
    for (const std::int64_t increment : {far, -far})
        for (const PolyvalOptions& options : all_options) {
            const auto as_column = [&](T* first) {
                return MatrixView<T>{first + (increment < 0 ? (size - 1) * far : 0), size, 1,
                                     increment, 1};
            };
            copy(this->context, MatrixView<T>::row_major(host.data(), size, 1), as_column(data));
            polyval(this->context, std::span<const T>(coefficients),
                    VectorView<const T>{data, size, increment},
                    VectorView<T>{data + 1, size, increment}, options);
            copy(this->context, as_column(data + 1),
                 MatrixView<T>::row_major(back.data(), size, 1));
            this->context.synchronize();
            for (std::int64_t i = 0; i < size; ++i)
                ASSERT_EQ(back[i], host[i] * (3 * host[i] + 2) + 1) << to_string(options.kernel);
        }
}

}  // namespace
}  // namespace tinyblas::test
