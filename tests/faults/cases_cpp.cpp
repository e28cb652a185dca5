// SPDX-License-Identifier: MIT
// The calls of the C++ interface, each in the forms that take different ways to the device.
#include <type_traits>

#include "cases.hpp"

namespace tinyblas::faults {
namespace {

template <class T>
constexpr const char* type_name = std::is_same_v<T, float> ? "float" : "double";

/// Calls body(T()) for float and double.
template <class Body>
void for_both_types(Body body) {
    body(float());
    body(double());
}

/// The rungs of an operation, `best` first.
template <class Kernel>
std::vector<Kernel> rungs() {
    std::vector<Kernel> all;
    for (int rung = 0; rung < static_cast<int>(Kernel::none); ++rung)
        all.push_back(static_cast<Kernel>(rung));
    return all;
}

struct Extents {
    std::int64_t m, n, k;
};
constexpr Extents extents[] = {{20, 21, 22}, {700, 690, 680}, {33, 40, 9000}, {1, 690, 680}};

std::string shown(const Extents& x) {
    return std::to_string(x.m) + "x" + std::to_string(x.n) + "x" + std::to_string(x.k);
}

void add_contexts(std::vector<Case>& cases) {
    cases.push_back({"Context()", "context", [](Bench&) { Context(); }});
    cases.push_back({"Context(stream)", "context", [](Bench& b) { Context(b.stream); }});
    const auto use_owner = [](Bench& b) {
        asum(b.owner, b.vector<const float>(0, 100), b.operand<float>(2));
    };
    cases.push_back({"set_stream", "set_stream", [](Bench& b) { b.move(b.owner); }, use_owner});
    cases.push_back({"a call on another stream", "asum", use_owner, [=](Bench& b) {
                         use_owner(b);
                         b.move(b.owner);
                     }});
    cases.push_back({"more textures than are kept", "asum", [](Bench& b) {
                         for (int i = 0; i < 70; ++i)
                             asum(b.context,
                                  VectorView<const float>{b.operand<float>(0) + 128 * i, 100},
                                  b.operand<float>(2), {.kernel = ReduceKernel::texture});
                     }});
    cases.push_back({"moved", "asum", [=](Bench& b) {
                         Context moved = std::move(b.owner);
                         b.owner = std::move(moved);
                         use_owner(b);
                     }});
    cases.push_back({"synchronize", "context", [](Bench& b) { b.context.synchronize(); }});
    cases.push_back({"scratch", "context", [](Bench& b) { b.context.scratch(b.growing *= 2); }});
    const auto set_scratch = [](Bench& b) {
        b.context.set_scratch(b.operand<float>(2), std::size_t{4} * Bench::operand_elements);
    };
    cases.push_back({"set_scratch", "context", set_scratch});
    cases.push_back({"gemm with scratch memory of the caller's", "gemm",
                     [](Bench& b) {
                         gemm(b.context, 2.0f, b.matrix<const float>(0, 300, 310),
                              b.matrix<const float>(0, 310, 320), 0.0f,
                              b.matrix<float>(1, 300, 320), {.kernel = GemmKernel::split});
                     },
                     set_scratch});
    cases.push_back({"load_tuning", "context", [](Bench& b) { b.context.load_tuning(nullptr); }});
}

void add_matrices(std::vector<Case>& cases) {
    for (const auto memory :
         {Memory::device, Memory::device_pitched, Memory::pinned, Memory::pinned_portable,
          Memory::write_combined, Memory::mapped, Memory::managed})
        cases.push_back({"Matrix in memory " + std::to_string(static_cast<int>(memory)), "matrix",
                         [=](Bench&) { Matrix<float>(7, 5, memory); }});
}

void add_copies(std::vector<Case>& cases) {
    const auto add = [&](const char* name, auto from_of, auto to_of) {
        cases.push_back({std::string("copy ") + name, "copy",
                         [=](Bench& b) { copy(b.context, from_of(b), to_of(b)); }});
    };
    const auto on_device = [](int number) {
        return [=](Bench& b) { return b.matrix<float>(number, 20, 30); };
    };
    const auto block = [](Bench& b) { return b.matrix<float>(1, 50, 50).block(3, 4, 20, 30); };
    const auto transposed_block = [](Bench& b) {
        return b.matrix<float>(1, 50, 50).block(3, 4, 30, 20).transposed();
    };
    const auto spread = [](Bench& b) {
        return MatrixView<float>{b.operand<float>(1), 20, 30, 100, 3};
    };
    const auto pageable = [](Bench& b) {
        return MatrixView<float>::row_major(b.pageable.data(), 20, 30);
    };
    const auto pageable_columns = [](Bench& b) {
        return MatrixView<float>::column_major(b.pageable.data(), 20, 30);
    };
    add("contiguous", on_device(0), on_device(1));
    add("of rows", on_device(0), block);
    add("by a kernel", on_device(0), transposed_block);
    add("from the host", pageable, on_device(0));
    add("to the host", on_device(0), pageable);
    add("from the host, turned", pageable_columns, on_device(0));
    add("from the host, spread", pageable_columns, spread);
    add("to the host, turned", on_device(0), pageable_columns);
    add("to the host, from spread", spread, pageable_columns);
    add(
        "on the host",
        [](Bench& b) { return MatrixView<float>::row_major(b.pageable.data(), 20, 30); },
        [](Bench& b) { return MatrixView<float>::column_major(b.pageable.data() + 1000, 20, 30); });
}

template <class T>
void add_gemm(std::vector<Case>& cases, GemmKernel kernel, Precision precision, Extents x) {
    const std::string form = std::string(to_string(kernel)) + " " + to_string(precision) + " " +
                             type_name<T> + " " + shown(x);
    const GemmOptions options{.kernel = kernel, .precision = precision};
    cases.push_back({"gemm " + form, "gemm", [=](Bench& b) {
                         gemm(b.context, T(2), b.matrix<const T>(0, x.m, x.k),
                              b.matrix<const T>(1, x.k, x.n), T(3), b.matrix<T>(2, x.m, x.n),
                              options);
                     }});
    if (x.m > 100) return;
    cases.push_back({"gemm_strided_batched " + form, "gemm", [=](Bench& b) {
                         gemm_strided_batched(b.context, T(2), b.matrix<const T>(0, x.m, x.k),
                                              x.m * x.k, b.matrix<const T>(1, x.k, x.n), 0, T(3),
                                              b.matrix<T>(2, x.m, x.n), x.m * x.n, 3, options);
                     }});
}

template <class T>
void add_gemm_batched(std::vector<Case>& cases) {
    for (const std::int64_t n : {3, 20, 100, 256})
        cases.push_back({std::string("gemm_batched ") + type_name<T> + " " + std::to_string(n),
                         "gemm", [=](Bench& b) {
                             const auto array = [&]<class U>(U* const* data) {
                                 return MatrixArray<U>::row_major(data, n, n, n);
                             };
                             gemm_batched(b.context, T(2), array(b.operand<const T* const>(0)),
                                          array(b.operand<const T* const>(1)), T(3),
                                          array(b.operand<T* const>(2)), 100);
                         }});
}

void add_gemms(std::vector<Case>& cases) {
    add_gemm_batched<float>(cases);
    add_gemm_batched<double>(cases);
    for (const GemmKernel kernel : rungs<GemmKernel>())
        for (const Extents& x : extents) {
            add_gemm<float>(cases, kernel, Precision::fp32_strict, x);
            add_gemm<float>(cases, kernel, Precision::fp32, x);
            add_gemm<double>(cases, kernel, Precision::fp32_strict, x);
        }
    cases.push_back({"gemm of any strides", "gemm", [](Bench& b) {
                         const MatrixView<float> c = {b.operand<float>(2), 40, 50, 200, 3};
                         gemm(b.context, 2.0f, b.matrix<const float>(0, 40, 60),
                              b.matrix<const float>(1, 50, 60).transposed(), 0.0f, c);
                     }});
    cases.push_back({"gemm without products", "gemm", [](Bench& b) {
                         gemm(b.context, 0.0f, b.matrix<const float>(0, 40, 60),
                              b.matrix<const float>(1, 60, 50), 0.0f, b.matrix<float>(2, 40, 50));
                     }});
    const auto with_explain = [](Bench& b) {
        explain(b.context, 2.0f, b.matrix<const float>(0, 700, 690),
                b.matrix<const float>(1, 690, 680), 0.0f, b.matrix<float>(2, 700, 680),
                {.precision = Precision::fp32});
    };
    cases.push_back({"explain", "explain", with_explain});
    cases.push_back({"explain double", "explain", [](Bench& b) {
                         explain(b.context, 2.0, b.matrix<const double>(0, 700, 690),
                                 b.matrix<const double>(1, 690, 680), 0.0,
                                 b.matrix<double>(2, 700, 680));
                     }});
}

void add_packs(std::vector<Case>& cases) {
    cases.push_back({"pack", "pack", [](Bench& b) {
                         pack(b.context, b.matrix<const float>(1, 300, 310).transposed());
                     }});
    for (const std::int64_t m : {3, 700})
        cases.push_back(
            {"gemm with a packed matrix, m = " + std::to_string(m), "gemm",
             [=](Bench& b) {
                 gemm(b.context, 2.0f, b.matrix<const float>(0, m, 690), *b.packed, 0.0f,
                      b.matrix<float>(2, m, 680), {.precision = Precision::fp32});
             },
             [](Bench& b) { b.packed = pack(b.context, b.matrix<const float>(1, 690, 680)); }});
}

template <class T>
void add_gemvs(std::vector<Case>& cases) {
    for (const GemvKernel kernel : rungs<GemvKernel>())
        for (const auto& x : {std::pair(50, 60), std::pair(1000, 1000), std::pair(3, 300000),
                              std::pair(300000, 3)}) {
            const int m = x.first, n = x.second;
            for (const bool turned : {false, true})
                cases.push_back({std::string("gemv ") + to_string(kernel) + " " + type_name<T> +
                                     " " + std::to_string(m) + "x" + std::to_string(n) +
                                     (turned ? " transposed" : ""),
                                 "gemv", [=](Bench& b) {
                                     auto a = b.matrix<const T>(0, m, n);
                                     if (turned) a = b.matrix<const T>(0, n, m).transposed();
                                     gemv(b.context, T(2), a, b.vector<const T>(1, n), T(3),
                                          b.vector<T>(2, m), {.kernel = kernel});
                                 }});
        }
    cases.push_back({std::string("ger ") + type_name<T>, "ger", [](Bench& b) {
                         ger(b.context, T(2), b.vector<const T>(0, 100), b.vector<const T>(1, 90),
                             b.matrix<T>(2, 100, 90));
                     }});
}

template <class Element>
void add_transposes(std::vector<Case>& cases) {
    for (const TransposeKernel kernel : rungs<TransposeKernel>()) {
        const std::string form =
            std::string(to_string(kernel)) + " of " + std::to_string(sizeof(Element)) + " bytes";
        const TransposeOptions options{.kernel = kernel};
        cases.push_back({"transpose " + form, "transpose", [=](Bench& b) {
                             transpose(b.context, b.matrix<const Element>(0, 200, 300),
                                       b.matrix<Element>(1, 300, 200), options);
                         }});
        cases.push_back({"transpose in place, " + form, "transpose", [=](Bench& b) {
                             transpose(b.context, b.matrix<Element>(0, 300, 300), options);
                         }});
    }
}

template <class T>
void add_reductions(std::vector<Case>& cases) {
    for (const ReduceKernel kernel : rungs<ReduceKernel>())
        for (const std::int64_t n : {100, 1000000}) {
            const std::string form = std::string(" ") + to_string(kernel) + " " + type_name<T> +
                                     " n = " + std::to_string(n);
            const ReduceOptions options{.kernel = kernel};
            // reduction(context, x, y, ..., options) on host and device.
            const auto add = [&](const char* name, auto reduction) {
                cases.push_back({name + form, name, [=](Bench& b) {
                                     reduction(b, b.vector<const T>(0, n), options);
                                 }});
                cases.push_back({name + (" to the device" + form), name, [=](Bench& b) {
                                     reduction(b, b.vector<const T>(0, n), b.operand<T>(2),
                                               options);
                                 }});
            };
            add("asum", [](Bench& b, auto x, auto... more) { asum(b.context, x, more...); });
            add("dot", [](Bench& b, auto x, auto... more) { dot(b.context, x, x, more...); });
            add("nrm2", [](Bench& b, auto x, auto... more) { nrm2(b.context, x, more...); });
            add("sum", [](Bench& b, auto x, auto... more) { sum(b.context, x, more...); });
        }
}

template <class T>
void add_vectors(std::vector<Case>& cases) {
    const std::string type = type_name<T>;
    cases.push_back({"axpy " + type, "axpy", [](Bench& b) {
                         axpy(b.context, T(2), b.vector<const T>(0, 100), b.vector<T>(1, 100));
                     }});
    cases.push_back(
        {"scal " + type, "scal", [](Bench& b) { scal(b.context, T(2), b.vector<T>(1, 100, 3)); }});
    static const std::vector<T> coefficients(20000, T(1));
    for (const PolyvalKernel kernel : rungs<PolyvalKernel>())
        for (const bool compensated : {false, true})
            for (const std::size_t count : {10, 20000})
                for (const int y : {0, 1}) {
                    const PolyvalOptions options{.kernel = kernel, .compensated = compensated};
                    cases.push_back({"polyval " + type + " " + to_string(kernel) +
                                         (compensated ? " compensated " : " ") +
                                         std::to_string(count) + (y == 0 ? " in place" : ""),
                                     "polyval", [=](Bench& b) {
                                         polyval(b.context, std::span(coefficients.data(), count),
                                                 b.vector<const T>(0, 1000), b.vector<T>(y, 1000),
                                                 options);
                                     }});
                }
}

}  // namespace

std::vector<Case> cases_cpp() {
    std::vector<Case> cases;
    add_contexts(cases);
    add_matrices(cases);
    add_copies(cases);
    add_gemms(cases);
    add_packs(cases);
    for_both_types([&]<class T>(T) {
        add_gemvs<T>(cases);
        add_reductions<T>(cases);
        add_vectors<T>(cases);
    });
    add_transposes<std::uint16_t>(cases);
    add_transposes<float>(cases);
    add_transposes<double>(cases);
    struct alignas(16) Sixteen {
        double x, y;
    };
    add_transposes<Sixteen>(cases);
    return cases;
}

}  // namespace tinyblas::faults
