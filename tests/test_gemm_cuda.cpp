// SPDX-License-Identifier: MIT
// What only a GPU can show of gemm: capture in a CUDA graph, no allocation, errors that arrive
// late, extents past 2^31.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <vector>

#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

class GemmGraph : public GemmVariants {
  protected:
    template <class T>
    void enqueue(GemmProblem<T>& p) {
        gemm(context, p.alpha, p.a.device(), p.b.device(), p.beta, p.c.device(), options);
    }
};
TINYBLAS_FOR_EACH_GEMM_VARIANT(GemmGraph);

// Captured as the first call of the context (run by ctest: of the process), replayed on inputs that
// changed in between.
TEST_P(GemmGraph, CapturedThenReplayed) {
    run([&]<class T>(T) {
        GemmProblem<T> p({70, 45, 21}, 1);
        p.beta = 2;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t replay = nullptr;
        ASSERT_EQ(cudaStreamBeginCapture(context.stream(), cudaStreamCaptureModeGlobal),
                  cudaSuccess);
        enqueue(p);
        ASSERT_EQ(cudaStreamEndCapture(context.stream(), &graph), cudaSuccess);
        std::size_t nodes = 0;
        ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
        const bool packs = options.kernel == GemmKernel::pipelined;
        EXPECT_EQ(nodes, packs ? 2u : 1u);
        ASSERT_EQ(cudaGraphInstantiateWithFlags(&replay, graph, 0), cudaSuccess);
        for (int round = 0; round < 3; ++round) {
            p.fill_integers();
            for (Operand<T>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
            ASSERT_EQ(cudaGraphLaunch(replay, context.stream()), cudaSuccess);
            for (Operand<T>* operand : {&p.a, &p.b, &p.c}) operand->download(context);
            EXPECT_TRUE(exact(p)) << "round " << round;
        }
        EXPECT_EQ(cudaGraphExecDestroy(replay), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    });
}

std::size_t free_memory() {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
}

TEST_P(GemmGraph, AWarmContextAllocatesNothing) {
    run([&]<class T>(T) {
        GemmProblem<T> p({70, 45, 21}, 2),
            general({70, 45, 21}, 2, storages[7], storages[8], storages[7]);
        for (GemmProblem<T>* problem : {&p, &general}) {
            problem->fill_integers();
            problem->run(context, options);
        }
        const std::size_t before = free_memory();
        for (int repeat = 0; repeat < 100; ++repeat) {
            enqueue(p);
            enqueue(general);
        }
        EXPECT_EQ(free_memory(), before);
        context.synchronize();
        EXPECT_EQ(free_memory(), before);
    });
}

// Products one after the other, each of which reads the one before: a kernel that begins while
// others run must neither miss what those write nor be missed. Operands begin beside multiples of
// 16 bytes, so that edges of C have a kernel of their own, beside tiles that are cut and whole
// ones.
TEST(GemmCuda, ProductsOfProductsWithEdges) {
    Context context;
    if (context.compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0";
    for (const std::int64_t n : {1152, 2048}) {
        const Storage shifted = {.name = "shifted", .ld_extra = 4, .offset = 1};
        const Storage by_column = {
            .name = "shifted_by_column", .by_column = true, .ld_extra = 8, .offset = 3};
        Operand<float> a(n, n, by_column), b(n, n, shifted), c(n, n, shifted), d(n, n, shifted);
        Random random(11);
        for (Operand<float>* operand : {&a, &b})
            operand->fill([&] { return static_cast<float>(random.integer(-1, 1)); });
        for (Operand<float>* operand : {&a, &b, &c, &d}) operand->upload(context);
        const auto run = [&](GemmKernel kernel) {
            const GemmOptions options = {.kernel = kernel};
            gemm(context, 1.0f, a.device(), b.device(), 0.0f, c.device(), options);
            gemm(context, 1.0f, transposed(c.device()), b.device(), 0.0f, d.device(), options);
            gemm(context, 1.0f, a.device(), c.device(), 1.0f, d.device(), options);
        };
        run(GemmKernel::tuned);
        d.download(context);
        std::vector<float> expected;
        const auto each = [&](auto&& body) {
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j) body(d.after()(i, j));
        };
        each([&](float x) { expected.push_back(x); });
        const float poison = std::numeric_limits<float>::quiet_NaN();
        for (int repeat = 0; repeat < 10; ++repeat) {
            for (Operand<float>* operand : {&c, &d}) {
                operand->fill([&] { return poison; });
                operand->upload(context);
            }
            run(GemmKernel::pipelined);
            d.download(context);
            std::size_t at = 0, wrong = 0;
            each([&](float x) { wrong += x != expected[at++]; });
            ASSERT_EQ(wrong, 0u) << n << ", repeat " << repeat;
        }
    }
}

TEST(GemmCuda, AContextLeavesNothingBehind) {
    const auto use = [] {
        Context context;
        context.scratch(8 << 20);
    };
    use();
    const std::size_t before = free_memory();
    for (int repeat = 0; repeat < 20; ++repeat) use();
    EXPECT_EQ(free_memory(), before);
}

// Large C that memory operations have set right before, to which products are added: what blocks
// read of it keeps multiprocessors busy while others multiply. `most`: how far elements may be from
// those of the rung naive.
template <class T>
void add_to_a_large_c(const GemmOptions& options, T most) {
    struct Case {
        Shape shape;
        bool transposed_a, transposed_b;
        std::int64_t shift_a, shift_b, shift_c, lda, ldb, ldc;
    };
    Context context;
    for (const Case& one : {Case{{4978, 1096, 608}, false, false, 0, 0, 0, 612, 1100, 1100},
                            Case{{1617, 3498, 302}, false, false, 2, 1, 1, 308, 3502, 3504},
                            Case{{4351, 1928, 300}, true, false, 1, 3, 3, 4352, 1928, 1928},
                            Case{{1408, 3584, 224}, false, true, 3, 2, 2, 232, 232, 3592},
                            Case{{1664, 1792, 512}, false, false, 1, 0, 2, 516, 1795, 1795},
                            Case{{2048, 2304, 256}, true, true, 0, 0, 0, 2048, 256, 2304}}) {
        const auto [m, n, k] = one.shape;
        const auto view = [](Matrix<T>& memory, std::int64_t rows, std::int64_t columns,
                             bool transposed, std::int64_t shift, std::int64_t ld) {
            return MatrixView<T>{memory.view().data + shift, rows, columns, transposed ? 1 : ld,
                                 transposed ? ld : 1};
        };
        const auto memory = [&](std::int64_t lines, std::int64_t ld) {
            return Matrix<T>(1, lines * ld + 8);
        };
        Matrix<T> a = memory(one.transposed_a ? k : m, one.lda);
        Matrix<T> b = memory(one.transposed_b ? n : k, one.ldb);
        Matrix<T> c = memory(m, one.ldc);
        Random random(3);
        for (Matrix<T>* operand : {&a, &b}) {
            std::vector<T> host(static_cast<std::size_t>(operand->view().columns));
            for (T& x : host) x = static_cast<T>(random.integer(-1000, 1000)) / 1024;
            copy(context, MatrixView<const T>::row_major(host.data(), 1, operand->view().columns),
                 *operand);
            context.synchronize();
        }
        const auto result = [&](const GemmOptions& chosen) {
            const auto bytes = static_cast<std::size_t>(c.view().columns) * sizeof(T);
            // What is there before it is set would show.
            EXPECT_EQ(cudaMemset(c.view().data, 0x44, bytes), cudaSuccess);
            EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
            EXPECT_EQ(cudaMemsetAsync(c.view().data, 0, bytes, context.stream()), cudaSuccess);
            gemm(context, T(1), view(a, m, k, one.transposed_a, one.shift_a, one.lda),
                 view(b, k, n, one.transposed_b, one.shift_b, one.ldb), T(0.5),
                 view(c, m, n, false, one.shift_c, one.ldc), chosen);
            std::vector<T> host(static_cast<std::size_t>(c.view().columns));
            copy(context, c, MatrixView<T>::row_major(host.data(), 1, c.view().columns));
            context.synchronize();
            return host;
        };
        const std::vector<T> expected = result({.kernel = GemmKernel::naive});
        for (int repeat = 0; repeat < 5; ++repeat) {
            const std::vector<T> got = result(options);
            std::size_t wrong = 0, first = 0;
            for (std::size_t at = 0; at < got.size(); ++at)
                if (!(std::abs(got[at] - expected[at]) <= most) && wrong++ == 0) first = at;
            ASSERT_EQ(wrong, 0u) << m << " x " << n << " x " << k << ", repeat " << repeat
                                 << ": element " << first << " is " << got[first] << ", not "
                                 << expected[first];
        }
    }
}

TEST_P(GemmGraph, AddsToALargeCThatWasSetRightBefore) {
    run([&]<class T>(T) {
        // Chains in the order of k have naive's bits.
        const bool one_chain = options.kernel == GemmKernel::tuned ||
                               options.kernel == GemmKernel::tiled ||
                               options.kernel == GemmKernel::naive;
        add_to_a_large_c<T>(options,
                            one_chain ? T(0) : static_cast<T>(sizeof(T) == 4 ? 1e-3 : 1e-11));
    });
}

// A failure on the device shows only later, and then in every call. Run in a process of its own,
// whose CUDA context it ends.
void fail_late() {
    Context context;
    const auto nowhere = MatrixView<float>::row_major(reinterpret_cast<float*>(0x1000), 8, 8);
    const auto elsewhere = MatrixView<float>::row_major(reinterpret_cast<float*>(0x9000), 8, 8);
    gemm(context, 1.0f, nowhere, nowhere, 0.0f, elsewhere);
    int errors = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
        try {
            if (attempt == 0)
                context.synchronize();
            else
                gemm(context, 1.0f, nowhere, nowhere, 0.0f, elsewhere);
        } catch (const Error& error) {
            std::cerr << error.what() << "; ";
            errors += error.status() == Status::device_error;
        }
    }
    try {
        const Context next;
    } catch (const Error& error) {
        std::cerr << error.what() << "; ";
    }
    std::cerr << errors << " errors\n";
}

TEST(GemmCudaDeathTest, LateErrorsNameTheOperationAndTheProcessSurvives) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            fail_late();
            std::exit(0);
        },
        testing::ExitedWithCode(0), "^gemm: .*(illegal|700).*; gemm: .*; .*2 errors");
}

// More than 2^31 rows or columns; B or A of one element each, so that C holds a copy of the other.
// Looked at in windows: at both ends and around each power of two.
class GemmCudaLarge : public GemmVariants {
  protected:
    static constexpr std::int64_t extent = (std::int64_t{1} << 31) + 10007;
    static constexpr std::int64_t window = 4096;

    template <class T>
    void check(bool tall) {
        Matrix<T> buffer(1, extent), scale(1, 1), output(1, extent);
        ASSERT_EQ(cudaMemset(buffer.view().data, 0, extent * sizeof(T)), cudaSuccess);
        ASSERT_EQ(cudaMemset(output.view().data, 0xff, extent * sizeof(T)), cudaSuccess);
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        const T two = 2;
        copy(context, MatrixView<const T>::row_major(&two, 1, 1), scale);

        std::vector<std::int64_t> starts = {0, extent - window};
        for (std::int64_t power = 2 * window; power < extent; power *= 2)
            starts.push_back(power - window / 2);
        std::vector<T> host(window), back(window);
        const auto as_row = [](std::vector<T>& v) {
            return MatrixView<T>::row_major(v.data(), 1, window);
        };
        const auto fill = [&](std::int64_t start) {
            for (std::int64_t e = 0; e < window; ++e)
                host[e] = static_cast<T>((start / window + e) % 1001 - 500);
        };
        for (std::int64_t start : starts) {
            fill(start);
            copy(context, as_row(host), buffer.view().block(0, start, 1, window));
        }
        const auto product = [&, input = buffer.view(), result = output.view()] {
            if (tall)
                gemm(context, T(1), input.transposed(), scale, T(0), result.transposed(), options);
            else
                gemm(context, T(1), scale, input, T(0), result, options);
        };
        if (options.kernel == GemmKernel::sliced || options.kernel == GemmKernel::pipelined) {
            EXPECT_TRUE(
                refuses(product, {std::string("options.kernel is ") + to_string(options.kernel),
                                  std::to_string(extent)}));
            return;
        }
        product();
        for (std::int64_t start : starts) {
            fill(start);
            copy(context, output.view().block(0, start, 1, window), as_row(back));
            context.synchronize();
            for (std::int64_t e = 0; e < window; ++e)
                ASSERT_EQ(back[e], 2 * host[e]) << "element " << start + e << " of " << extent;
        }
        // Between the windows there are zeros.
        for (std::int64_t start = 3 * window; start + window < extent; start += extent / 97) {
            copy(context, buffer.view().block(0, start, 1, window), as_row(host));
            copy(context, output.view().block(0, start, 1, window), as_row(back));
            context.synchronize();
            for (std::int64_t e = 0; e < window; ++e)
                ASSERT_EQ(back[e], 2 * host[e]) << "element " << start + e << " of " << extent;
        }
    }
};
TINYBLAS_FOR_EACH_GEMM_VARIANT(GemmCudaLarge);
INSTANTIATE_TEST_SUITE_P(Skinny, GemmCudaLarge,
                         testing::Values(GemmVariant{Scalar::float32, {GemmKernel::skinny, -1}}));

TEST_P(GemmCudaLarge, ManyColumns) {
    run([&]<class T>(T) { check<T>(false); });
}

TEST_P(GemmCudaLarge, ManyRows) {
    run([&]<class T>(T) { check<T>(true); });
}

// C of more than 2^31 elements in many rows and columns, each row a pattern that tells rows and
// columns apart.
TEST_P(GemmCudaLarge, ManyElements) {
    run([&]<class T>(T) {
        constexpr std::int64_t n = 46349;  // n * n passes 2^31
        static_assert(n * n > std::int64_t{1} << 31);
        std::vector<T> rows(n), columns(n);
        for (std::int64_t i = 0; i < n; ++i) {
            rows[i] = static_cast<T>(i % 1021);
            columns[i] = static_cast<T>(i % 2039);
        }
        Matrix<T> a(n, 2), b(2, n), c(n, n);
        std::vector<T> ones(n, T(1));
        const auto as_row = [](std::vector<T>& v) {
            return MatrixView<T>::row_major(v.data(), 1, n);
        };
        copy(context, as_row(rows).transposed(), a.view().block(0, 0, n, 1));
        copy(context, as_row(ones).transposed(), a.view().block(0, 1, n, 1));
        copy(context, as_row(ones), b.view().block(0, 0, 1, n));
        copy(context, as_row(columns), b.view().block(1, 0, 1, n));
        const auto product = [&] { gemm(context, T(4), a, b, T(0), c, options); };
        if (options.kernel == GemmKernel::skinny) {
            EXPECT_TRUE(refuses(product, {"options.kernel is skinny", std::to_string(n)}));
            return;
        }
        product();  // c(i, j) = 4 (rows[i] + columns[j])
        std::vector<T> back(n);
        for (std::int64_t step = 0; step <= 100;
             ++step) {  // 101 rows, the first and the last among them
            const std::int64_t i = step * (n - 1) / 100;
            copy(context, c.view().block(i, 0, 1, n), as_row(back));
            context.synchronize();
            for (std::int64_t j = 0; j < n; ++j)
                ASSERT_EQ(back[j], 4 * (rows[i] + columns[j])) << i << ", " << j;
        }
    });
}

}  // namespace
}  // namespace tinyblas::test
