// SPDX-License-Identifier: MIT
// Every SIMT kernel of the library on a small problem, and what its instructions ask of memory: a
// line each, with the source's place and a verdict. Device emulation counts; no GPU is needed.
// trace_kernels [FILTER]: only kernels whose title contains FILTER.
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

#include "device/emulation/trace.hpp"
#include "kernels/gemm/tiles.hpp"
#include "kernels/transpose/tiles.hpp"
#include "tinyblas/tinyblas.hpp"

namespace tinyblas {
namespace {

struct Case {
    std::string title;
    std::function<void(Context&)> run;
};

template <class T>
constexpr const char* name_of = sizeof(T) == sizeof(float) ? "float" : "double";

/// A matrix of numbers, 1 2 3 ...
template <class T>
Matrix<T> numbers(std::int64_t rows, std::int64_t columns, Layout layout = Layout::row_major) {
    Matrix<T> matrix(rows, columns, Memory::managed, layout);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            matrix(i, j) = static_cast<T>(1 + (i * columns + j) % 100);
    return matrix;
}
template <class T>
VectorView<const T> as_vector(const Matrix<T>& row) {
    return row.view().row(0);
}

// --- gemm ----------------------------------------------------------------------------------------

template <class T>
void multiply(Context& context, Layout a_layout, GemmOptions options) {
    constexpr std::int64_t extent = 128;
    const auto a = numbers<T>(extent, extent, a_layout);
    const auto b = numbers<T>(extent, extent);
    auto c = numbers<T>(extent, extent);
    gemm(context, T(2), a.view(), b.view(), T(1), c.view(), options);
}

template <class T>
void add_gemm(std::vector<Case>& cases) {
    for (const Layout layout : {Layout::row_major, Layout::column_major}) {
        const std::string what = std::string(" ") + name_of<T> + " 128 x 128 x 128, A " +
                                 (layout == Layout::row_major ? "row" : "column") + "-major";
        const auto add = [&](const std::string& rung, GemmOptions options) {
            cases.push_back({"gemm " + rung + what,
                             [=](Context& context) { multiply<T>(context, layout, options); }});
        };
        for (const auto kernel : {GemmKernel::naive, GemmKernel::tiled})
            add(to_string(kernel), {kernel, -1});
        if constexpr (std::is_same_v<T, float>)
            add("split, the pre-pass included,", {GemmKernel::split, -1});
        for (int entry = 0; entry < gemm_entries; ++entry)
            if (size_of(gemm_table[entry].type) == sizeof(T) && runs_on(gemm_table[entry], 90))
                add("tuned, entry " + std::to_string(entry), {GemmKernel::tuned, entry});
    }
}

// --- copy and transpose --------------------------------------------------------------------------

template <class T>
void add_copy(std::vector<Case>& cases) {
    cases.push_back({std::string("copy strided ") + name_of<T> + " 64 x 64, to the other layout",
                     [](Context& context) {
                         const auto from = numbers<T>(64, 64);
                         Matrix<T> to(64, 64, Memory::managed, Layout::column_major);
                         copy(context, from.view(), to);
                     }});
}

template <class T>
void add_transpose(std::vector<Case>& cases) {
    const auto add = [&](const std::string& rung, TransposeOptions options, std::int64_t rows,
                         bool in_place) {
        cases.push_back({"transpose " + rung + ' ' + name_of<T> + ' ' + std::to_string(rows) +
                             " x 128" + (in_place ? ", in place" : ""),
                         [=](Context& context) {
                             auto a = numbers<T>(rows, 128);
                             Matrix<T> b(128, rows, Memory::managed);
                             if (in_place)
                                 transpose(context, a, options);
                             else
                                 transpose(context, a.view(), b, options);
                         }});
    };
    for (const bool in_place : {false, true})
        for (const auto kernel : {TransposeKernel::naive, TransposeKernel::padded})
            add(to_string(kernel), {kernel, -1}, 128, in_place);
    for (int entry = 0; entry < transpose_entries; ++entry) {
        const TransposeForm form = transpose_table[entry].form;
        if (transpose_table[entry].element_size == sizeof(T))
            add(std::string("tuned, ") + to_string(form) + ", entry " + std::to_string(entry),
                {TransposeKernel::tuned, entry}, form == TransposeForm::slim ? 4 : 128,
                form == TransposeForm::in_place);
    }
}

// --- Vectors -------------------------------------------------------------------------------------

template <class T>
void add_reduce(std::vector<Case>& cases) {
    constexpr std::int64_t size = 20000;
    for (const auto kernel : {ReduceKernel::naive, ReduceKernel::texture, ReduceKernel::tuned}) {
        const auto add = [&](const char* operation, auto run) {
            cases.push_back({std::string(operation) + ' ' + to_string(kernel) + ' ' + name_of<T> +
                                 ' ' + std::to_string(size),
                             [=](Context& context) {
                                 const auto x = numbers<T>(1, size), y = numbers<T>(1, size);
                                 run(context, as_vector(x), as_vector(y), ReduceOptions{kernel});
                             }});
        };
        add("asum", [](auto& context, auto x, auto, auto options) { asum(context, x, options); });
        add("nrm2", [](auto& context, auto x, auto, auto options) { nrm2(context, x, options); });
        add("sum", [](auto& context, auto x, auto, auto options) { sum(context, x, options); });
        add("dot",
            [](auto& context, auto x, auto y, auto options) { dot(context, x, y, options); });
    }
}

template <class T>
void add_polyval(std::vector<Case>& cases) {
    const auto add = [&cases](const char* rung, int degree, PolyvalOptions options) {
        cases.push_back({std::string("polyval ") + rung + ' ' + name_of<T> +
                             " 4096 points, degree " + std::to_string(degree),
                         [=](Context& context) {
                             const std::vector<T> coefficients(degree + 1, T(0.5));
                             const auto x = numbers<T>(1, 4096);
                             Matrix<T> y(1, 4096, Memory::managed);
                             polyval(context, coefficients, as_vector(x), y.view().row(0), options);
                         }});
    };
    for (const auto kernel : {PolyvalKernel::naive, PolyvalKernel::constant, PolyvalKernel::tuned})
        for (const int degree : {7, 100}) add(to_string(kernel), degree, {.kernel = kernel});
    add("compensated", 7, {.compensated = true});
}

template <class T>
void add_updates(std::vector<Case>& cases) {
    cases.push_back({std::string("axpy ") + name_of<T> + " 4096", [](Context& context) {
                         const auto x = numbers<T>(1, 4096);
                         auto y = numbers<T>(1, 4096);
                         axpy(context, T(2), as_vector(x), y.view().row(0));
                     }});
    cases.push_back({std::string("scal ") + name_of<T> + " 4096", [](Context& context) {
                         auto x = numbers<T>(1, 4096);
                         scal(context, T(2), x.view().row(0));
                     }});
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    const auto of_type = [&]<class T>(T) {
        add_gemm<T>(cases);
        add_copy<T>(cases);
        add_transpose<T>(cases);
        add_reduce<T>(cases);
        add_polyval<T>(cases);
        add_updates<T>(cases);
    };
    of_type(float());
    of_type(double());
    return cases;
}

void run(const std::string& filter) {
    device::Trace trace;
    Context context;
    int shown = 0;
    for (const Case& one : all_cases()) {
        if (one.title.find(filter) == std::string::npos) continue;
        one.run(context);
        context.synchronize();
        std::cout << "== " << one.title << '\n';
        for (const device::TracedLaunch& launch : trace.take()) std::cout << launch << '\n';
        ++shown;
    }
    if (shown == 0) {
        std::cout << "no kernel's title contains '" << filter << "'; there are\n";
        for (const Case& one : all_cases()) std::cout << "  " << one.title << '\n';
    }
}

}  // namespace
}  // namespace tinyblas

int main(int count, char** arguments) {
    try {
        tinyblas::run(count > 1 ? arguments[1] : "");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
