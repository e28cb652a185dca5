// SPDX-License-Identifier: MIT
// cuBLAS beside us: default math, a workspace of 32 MiB. It thinks column-major, so a row-major
// product is transposed(C) = transposed(B) transposed(A). The entry points with 64-bit extents.
#include <cublas_v2.h>

#include "../machine.hpp"
#include "check.hpp"
#include "cublas_error.hpp"
#include "heuristics.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas::bench {
namespace {

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
    explicit Cublas(Context& context) : context_(context), workspace_(1, workspace_bytes) {
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

    void gemm(const Product<float>& product) override {
        run(cublasSgemm_64, cublasSgemmStridedBatched_64, cublasSgemmBatched_64, product);
    }
    void gemm(const Product<double>& product) override {
        run(cublasDgemm_64, cublasDgemmStridedBatched_64, cublasDgemmBatched_64, product);
    }
    std::vector<Work> gemm_proposals(const Product<float>& product, int most) override {
        return heuristic_gemms(context_, product, most, workspace_.view().data, workspace_bytes);
    }
    std::vector<Work> gemm_proposals(const Product<double>& product, int most) override {
        return heuristic_gemms(context_, product, most, workspace_.view().data, workspace_bytes);
    }

    void gemv(MatrixView<const float> a, VectorView<const float> x, VectorView<float> y) override {
        run(cublasSgemv_64, a, x, y);
    }
    void gemv(MatrixView<const double> a, VectorView<const double> x,
              VectorView<double> y) override {
        run(cublasDgemv_64, a, x, y);
    }
    void ger(VectorView<const float> x, VectorView<const float> y, MatrixView<float> a) override {
        run(cublasSger_64, x, y, a);
    }
    void ger(VectorView<const double> x, VectorView<const double> y,
             MatrixView<double> a) override {
        run(cublasDger_64, x, y, a);
    }

    void axpy(float alpha, VectorView<const float> x, VectorView<float> y) override {
        run(cublasSaxpy_64, alpha, x, y);
    }
    void axpy(double alpha, VectorView<const double> x, VectorView<double> y) override {
        run(cublasDaxpy_64, alpha, x, y);
    }
    void scal(float alpha, VectorView<float> x) override {
        check(cublasSscal_64(handle_, x.size, &alpha, x.data, x.increment), "cublasSscal");
    }
    void scal(double alpha, VectorView<double> x) override {
        check(cublasDscal_64(handle_, x.size, &alpha, x.data, x.increment), "cublasDscal");
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
    template <class Gemm, class StridedBatched, class Batched, class T>
    void run(Gemm gemm, StridedBatched strided_batched, Batched batched, const Product<T>& x) {
        const Transposed a(x.a), b(x.b);
        const std::int64_t m = x.c.columns, n = x.c.rows, k = x.a.columns, ld = x.c.row_stride;
        cublasStatus_t status;
        if (x.batch == 0)
            status = gemm(handle_, b.op, a.op, m, n, k, &x.alpha, x.b.data, b.ld, x.a.data, a.ld,
                          &x.beta, x.c.data, ld);
        else if (!x.of_a)
            status = strided_batched(handle_, b.op, a.op, m, n, k, &x.alpha, x.b.data, b.ld,
                                     x.b_stride, x.a.data, a.ld, x.a_stride, &x.beta, x.c.data, ld,
                                     x.c_stride, x.batch);
        else
            status = batched(handle_, b.op, a.op, m, n, k, &x.alpha, x.of_b, b.ld, x.of_a, a.ld,
                             &x.beta, x.of_c, ld, x.batch);
        check(status, "cublas gemm");
    }

    template <class Gemv, class T>
    void run(Gemv gemv, MatrixView<const T> a, VectorView<const T> x, VectorView<T> y) {
        const T alpha = 1, beta = 0;
        const bool along = a.column_stride == 1;  // cuBLAS sees transposed(A), or A
        check(
            gemv(handle_, along ? CUBLAS_OP_T : CUBLAS_OP_N, along ? a.columns : a.rows,
                 along ? a.rows : a.columns, &alpha, a.data, along ? a.row_stride : a.column_stride,
                 x.data, x.increment, &beta, y.data, y.increment),
            "cublas gemv");
    }
    template <class Ger, class T>
    void run(Ger ger, VectorView<const T> x, VectorView<const T> y, MatrixView<T> a) {
        const T alpha = 1;
        check(ger(handle_, a.columns, a.rows, &alpha, y.data, y.increment, x.data, x.increment,
                  a.data, a.row_stride),
              "cublas ger");
    }

    template <class Axpy, class T>
    void run(Axpy axpy, T alpha, VectorView<const T> x, VectorView<T> y) {
        check(axpy(handle_, x.size, &alpha, x.data, x.increment, y.data, y.increment),
              "cublas axpy");
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
    Context& context_;
    Matrix<char> workspace_;
    cublasHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Reference> make_reference(Context& context) {
    return std::make_unique<Cublas>(context);
}

}  // namespace tinyblas::bench
