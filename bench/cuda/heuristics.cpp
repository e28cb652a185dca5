// SPDX-License-Identifier: MIT
// cublasLt: a product described once, and what its heuristics propose for it. It thinks
// column-major, as cuBLAS does: transposed(C) = transposed(B) transposed(A).
#include "heuristics.hpp"

#include <cublasLt.h>

#include <memory>
#include <type_traits>

#include "cublas_error.hpp"

namespace tinyblas::bench {
namespace {

template <class Attribute>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t name,
         const Attribute& value) {
    check(cublasLtMatmulDescSetAttribute(description, name, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
}

template <class Attribute>
void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
         const Attribute& value) {
    check(cublasLtMatrixLayoutSetAttribute(layout, name, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
}

/// A product as cublasLt sees it.
template <class T>
class Description {
  public:
    Description(const Product<T>& product) : product_(product) {
        constexpr bool single = std::is_same_v<T, float>;
        constexpr auto compute = single ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F;
        check(cublasLtCreate(&handle_), "cublasLtCreate");
        check(cublasLtMatmulDescCreate(&description_, compute, type), "cublasLtMatmulDescCreate");
        const cublasOperation_t op_a = op(product.a), op_b = op(product.b);
        set(description_, CUBLASLT_MATMUL_DESC_TRANSA, op_b);
        set(description_, CUBLASLT_MATMUL_DESC_TRANSB, op_a);
        b_ = layout(product.b, product.b_stride);
        a_ = layout(product.a, product.a_stride);
        c_ = layout(MatrixView<const T>(product.c), product.c_stride);
    }
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;
    ~Description() {
        for (const cublasLtMatrixLayout_t layout : {a_, b_, c_})
            cublasLtMatrixLayoutDestroy(layout);
        cublasLtMatmulDescDestroy(description_);
        cublasLtDestroy(handle_);
    }

    std::vector<cublasLtMatmulAlgo_t> proposals(int most, std::size_t workspace_bytes) const {
        cublasLtMatmulPreference_t preference = nullptr;
        check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
        std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
        int count = 0;
        const Product<T>& x = product_;
        // cublasLt's A is our B.
        align(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, x.b.data, x.b_stride);
        align(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, x.a.data, x.a_stride);
        align(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, x.c.data, x.c_stride);
        align(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, x.c.data, x.c_stride);
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace_bytes, sizeof workspace_bytes);
        const auto status = cublasLtMatmulAlgoGetHeuristic(handle_, description_, b_, a_, c_, c_,
                                                           preference, most, found.data(), &count);
        cublasLtMatmulPreferenceDestroy(preference);
        std::vector<cublasLtMatmulAlgo_t> proposals;
        if (status == CUBLAS_STATUS_NOT_SUPPORTED) return proposals;
        check(status, "cublasLtMatmulAlgoGetHeuristic");
        for (int i = 0; i < count; ++i)
            if (found[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
                proposals.push_back(found[static_cast<std::size_t>(i)].algo);
        return proposals;
    }

    void run(const cublasLtMatmulAlgo_t& algorithm, void* workspace, std::size_t workspace_bytes,
             CUstream_st* stream) const {
        check(cublasLtMatmul(handle_, description_, &product_.alpha, product_.b.data, b_,
                             product_.a.data, a_, &product_.beta, product_.c.data, c_,
                             product_.c.data, c_, &algorithm, workspace, workspace_bytes, stream),
              "cublasLtMatmul");
    }

  private:
    static constexpr cudaDataType_t type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

    /// What may be relied on: else it takes 256 bytes for granted.
    static void align(cublasLtMatmulPreference_t preference,
                      cublasLtMatmulPreferenceAttributes_t name, const void* data,
                      std::int64_t stride) {
        const auto place = reinterpret_cast<std::uintptr_t>(data) |
                           static_cast<std::uintptr_t>(stride * std::int64_t(sizeof(T))) | 256;
        const auto bytes = static_cast<std::uint32_t>(place & -place);
        check(cublasLtMatmulPreferenceSetAttribute(preference, name, &bytes, sizeof bytes),
              "cublasLtMatmulPreferenceSetAttribute");
    }
    static cublasOperation_t op(MatrixView<const T> x) {
        return x.column_stride == 1 ? CUBLAS_OP_N : CUBLAS_OP_T;
    }
    /// The transpose of x as it lies: column-major.
    cublasLtMatrixLayout_t layout(MatrixView<const T> x, std::int64_t stride) const {
        const bool along_rows = x.column_stride == 1;
        cublasLtMatrixLayout_t layout = nullptr;
        check(cublasLtMatrixLayoutCreate(
                  &layout, type, static_cast<std::uint64_t>(along_rows ? x.columns : x.rows),
                  static_cast<std::uint64_t>(along_rows ? x.rows : x.columns),
                  along_rows ? x.row_stride : x.column_stride),
              "cublasLtMatrixLayoutCreate");
        if (product_.batch > 0) {
            set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int>(product_.batch));
            set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
        }
        return layout;
    }

    Product<T> product_;
    cublasLtHandle_t handle_ = nullptr;
    cublasLtMatmulDesc_t description_ = nullptr;
    cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

}  // namespace

template <class T>
std::vector<Work> heuristic_gemms(Context& context, const Product<T>& product, int most,
                                  void* workspace, std::size_t workspace_bytes) {
    std::vector<Work> works;
    if (most == 0 || product.of_a) return works;  // pointers: not described here
    const auto described = std::make_shared<const Description<T>>(product);
    for (const auto& algorithm : described->proposals(most, workspace_bytes))
        works.push_back([=, &context] {
            described->run(algorithm, workspace, workspace_bytes, context.stream());
        });
    return works;
}

template std::vector<Work> heuristic_gemms(Context&, const Product<float>&, int, void*,
                                           std::size_t);
template std::vector<Work> heuristic_gemms(Context&, const Product<double>&, int, void*,
                                           std::size_t);

}  // namespace tinyblas::bench
