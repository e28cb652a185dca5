// SPDX-License-Identifier: MIT
// What a library costs before and beside the arithmetic: the first gemm, the host's time for each
// further one, device memory held. With the CUDA runtime already up; each library alone in a
// process of its own.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "cuda/check.hpp"
#include "tinyblas/gemm.hpp"
#include "tinyblas/matrix.hpp"

namespace {

using namespace tinyblas;
using bench::check;

constexpr int n = 64;
constexpr int processes = 3;  // of each library: the median of their figures counts

struct Figures {
    double first_ms = 0;    // context or handle, first gemm, synchronize
    double enqueue_us = 0;  // host time of one gemm that is not waited for
    double memory_mb = 0;   // device memory that context and first gemm hold
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double free_megabytes() {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return static_cast<double>(free) / 1e6;
}

template <class T>
T median(std::vector<T> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

/// `start` creates the library's context and runs its first gemm; `gemm` enqueues one more.
Figures measure(const std::function<void()>& start, const std::function<void()>& gemm) {
    Figures figures;
    const double memory = free_megabytes(), time = now();
    start();
    check(cudaDeviceSynchronize(), "first gemm");
    figures.first_ms = 1e3 * (now() - time);
    figures.memory_mb = memory - free_megabytes();

    std::vector<double> enqueue;
    for (int batch = 0; batch < 50; ++batch) {  // short enough for the GPU's queue never to fill
        for (int call = 0; call < 100; ++call) {
            const double before = now();
            gemm();
            enqueue.push_back(1e6 * (now() - before));
        }
        check(cudaDeviceSynchronize(), "gemm");
    }
    figures.enqueue_us = median(enqueue);
    return figures;
}

Figures measure_tinyblas() {
    check(cudaFree(nullptr), "cudaFree");
    Matrix<float> a(n, n), b(n, n), c(n, n);
    Context* context = nullptr;
    const auto gemm = [&] { tinyblas::gemm(*context, 1, a, b, 0, c.view()); };
    const Figures figures = measure([&] { context = new Context, gemm(); }, gemm);
    delete context;
    return figures;
}

Figures measure_cublas() {
    check(cudaFree(nullptr), "cudaFree");
    Matrix<float> a(n, n), b(n, n), c(n, n);
    cublasHandle_t handle = nullptr;
    const float alpha = 1, beta = 0;
    const auto gemm = [&] {
        const auto status =
            cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, b.view().data, n,
                        a.view().data, n, &beta, c.view().data, n);
        if (status != CUBLAS_STATUS_SUCCESS)
            throw Error(Status::device_error, "cublasSgemm failed");
    };
    const Figures figures = measure([&] { cublasCreate(&handle), gemm(); }, gemm);
    cublasDestroy(handle);
    return figures;
}

/// `work` in a process of its own, forked before this one has touched CUDA.
Figures isolated(Figures (*work)()) {
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0) throw Error(Status::internal_error, "pipe failed");
    const pid_t child = fork();
    if (child < 0) throw Error(Status::internal_error, "fork failed");
    if (child == 0) {
        int code = 1;
        try {
            const Figures figures = work();
            if (write(ends[1], &figures, sizeof figures) == sizeof figures) code = 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "FAILED: %s\n", error.what());
        }
        _exit(code);
    }
    close(ends[1]);
    Figures figures;
    const bool complete = read(ends[0], &figures, sizeof figures) == sizeof figures;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (!complete) throw Error(Status::device_error, "a child process measured nothing");
    return figures;
}

Figures medians(const char* name, Figures (*work)()) {
    std::vector<double> first, enqueue, memory;
    for (int process = 0; process < processes; ++process) {
        std::fprintf(stderr, "startup of %s, process %d of %d\n", name, process + 1, processes);
        const Figures figures = isolated(work);
        first.push_back(figures.first_ms);
        enqueue.push_back(figures.enqueue_us);
        memory.push_back(figures.memory_mb);
    }
    return {median(first), median(enqueue), median(memory)};
}

void write_json(const char* path, const Figures& ours, const Figures& cublas) {
    FILE* file = std::fopen(path, "w");
    if (!file) throw Error(Status::invalid_argument, std::string(path) + ": cannot be written");
    const auto line = [&](const char* name, const Figures& figures, const char* end) {
        std::fprintf(file,
                     "  \"%s\": {\"first_gemm_ms\": %.3f, \"enqueue_us\": %.3f, "
                     "\"device_memory_mb\": %.3f}%s\n",
                     name, figures.first_ms, figures.enqueue_us, figures.memory_mb, end);
    };
    std::fprintf(file, "{\n");
    line("tinyblas", ours, ",");
    line("cublas", cublas, "");
    std::fprintf(file, "}\n");
    if (std::fclose(file) != 0)
        throw Error(Status::device_error, std::string(path) + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
    const std::string flag = argc > 1 ? argv[1] : "";
    if (argc > 1 && (flag != "--json" || argc != 3)) {
        std::printf("bench_startup [--json FILE]: what starting tinyblas and cuBLAS costs\n");
        return flag == "--help" ? 0 : 2;
    }
    try {
        const Figures ours = medians("tinyblas", measure_tinyblas);
        const Figures cublas = medians("cuBLAS", measure_cublas);
        std::printf("with the CUDA runtime up, sgemm of n = %d      tinyblas    cuBLAS\n", n);
        const auto row = [](const char* what, double one, double other) {
            std::printf("%-46s %8.2f  %8.2f\n", what, one, other);
        };
        row("context and first gemm, ms", ours.first_ms, cublas.first_ms);
        row("host time to enqueue one more, us", ours.enqueue_us, cublas.enqueue_us);
        row("device memory held, MB", ours.memory_mb, cublas.memory_mb);
        if (argc == 3) write_json(argv[2], ours, cublas);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_startup: %s\n", error.what());
        return 1;
    }
}
