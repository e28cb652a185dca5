// SPDX-License-Identifier: MIT
// cuBLAS beside us: default math, a workspace of 32 MiB, row-major products as transposed(C) =
// transposed(B) transposed(A).
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

  private:
    template <class Gemm, class T>
    void run(Gemm gemm, MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
        const T alpha = 1, beta = 0;
        const Transposed at(a), bt(b);
        check(gemm(handle_, bt.op, at.op, c.columns, c.rows, a.columns, &alpha, b.data, bt.ld,
                   a.data, at.ld, &beta, c.data, c.row_stride),
              "cublas gemm");
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
