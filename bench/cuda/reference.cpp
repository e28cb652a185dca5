// SPDX-License-Identifier: MIT
// cuBLAS beside us: default math, a workspace of 32 MiB. It thinks column-major, so a row-major
// product is transposed(C) = transposed(B) transposed(A). The entry points with 64-bit extents.
#include <cublas_v2.h>

#include "../machine.hpp"
#include "check.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {
namespace {

void check(cublasStatus_t status, const char* operation) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw Error(Status::device_error,
                    std::string(operation) + ": " + cublasGetStatusString(status));
}

/// A matrix as cuBLAS, which thinks column-major, sees its transpose.
struct Transposed {
    template <class T>
    explicit Transposed(MatrixView<const T> view)
        : op(view.column_stride == 1 ? CUBLAS_OP_N : CUBLAS_OP_T),
          ld(view.column_stride == 1 ? view.row_stride : view.column_stride) {}
    cublasOperation_t op;
    std::int64_t ld;
};

class Cublas : public Reference {
  public:
    explicit Cublas(Context& context) : workspace_(1, workspace_bytes) {
        check(cublasCreate(&handle_), "cublasCreate");
        check(cublasSetStream(handle_, context.stream()), "cublasSetStream");
        check(cublasSetWorkspace(handle_, workspace_.view().data, workspace_bytes),
              "cublasSetWorkspace");
    }
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;
    ~Cublas() override { cublasDestroy(handle_); }

    std::string name() const override {
        int number = 0;
        check(cublasGetVersion(handle_, &number), "cublasGetVersion");
        return "cuBLAS " + std::to_string(number / 10000) + "." +
               std::to_string(number / 100 % 100) + "." + std::to_string(number % 100);
    }

    void gemm(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) override {
        run(cublasSgemm_64, a, b, c);
    }
    void gemm(MatrixView<const double> a, MatrixView<const double> b,
              MatrixView<double> c) override {
        run(cublasDgemm_64, a, b, c);
    }

    void transpose(MatrixView<const float> a, MatrixView<float> b) override {
        run(cublasSgeam_64, a, b);
    }
    void transpose(MatrixView<const double> a, MatrixView<double> b) override {
        run(cublasDgeam_64, a, b);
    }

    void reduce(Reduction operation, VectorView<const float> x, VectorView<const float> y,
                float* result) override {
        run(cublasSasum_64, cublasSdot_64, cublasSnrm2_64, operation, x, y, result);
    }
    void reduce(Reduction operation, VectorView<const double> x, VectorView<const double> y,
                double* result) override {
        run(cublasDasum_64, cublasDdot_64, cublasDnrm2_64, operation, x, y, result);
    }

    float asum(VectorView<const float> x) override {
        float result = 0;
        check(cublasSasum_64(handle_, x.size, x.data, x.increment, &result), "cublasSasum");
        return result;
    }

  private:
    template <class Gemm, class T>
    void run(Gemm gemm, MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
        const T alpha = 1, beta = 0;
        const Transposed at(a), bt(b);
        check(gemm(handle_, bt.op, at.op, c.columns, c.rows, a.columns, &alpha, b.data, bt.ld,
                   a.data, at.ld, &beta, c.data, c.row_stride),
              "cublas gemm");
    }

    /// C = transposed(A) + 0 C, where cuBLAS sees transposed(B) as C.
    template <class Geam, class T>
    void run(Geam geam, MatrixView<const T> a, MatrixView<T> b) {
        const T alpha = 1, beta = 0;
        check(geam(handle_, CUBLAS_OP_T, CUBLAS_OP_N, a.rows, a.columns, &alpha, a.data,
                   a.row_stride, &beta, b.data, b.row_stride, b.data, b.row_stride),
              "cublas geam");
    }

    template <class Sum, class Dot, class T>
    void run(Sum asum, Dot dot, Sum nrm2, Reduction operation, VectorView<const T> x,
             VectorView<const T> y, T* result) {
        check(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
        cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
        if (operation == Reduction::asum)
            status = asum(handle_, x.size, x.data, x.increment, result);
        if (operation == Reduction::dot)
            status = dot(handle_, x.size, x.data, x.increment, y.data, y.increment, result);
        if (operation == Reduction::nrm2)
            status = nrm2(handle_, x.size, x.data, x.increment, result);
        check(status, "cublas reduction");
        check(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
    }

    static constexpr std::int64_t workspace_bytes = 32 << 20;
    Matrix<char> workspace_;
    cublasHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Reference> make_reference(Context& context) {
    return std::make_unique<Cublas>(context);
}

}  // namespace tinyblas::bench
