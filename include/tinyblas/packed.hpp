// SPDX-License-Identifier: MIT
// PackedMatrix: the right operand of many products, split into parts once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tinyblas/gemm.hpp"

namespace tinyblas {

struct PackedOperand;  // what the library keeps: bricks, exponents, findings and a copy

/// B of k x n as gemm with Precision::fp32 reads it, in device memory of its own: a copy, and on a
/// GPU of compute capability 9.0 its parts. Movable, not copyable. It serves any context of its
/// device, several at once too, and must outlive the work that uses it, replays of CUDA graphs
/// included.
class TINYBLAS_API PackedMatrix {
  public:
    PackedMatrix() noexcept;
    /// Takes over what the other holds.
    PackedMatrix(PackedMatrix&& other) noexcept;
    PackedMatrix& operator=(PackedMatrix&& other) noexcept;
    ~PackedMatrix();

    std::int64_t rows() const noexcept;     ///< k; 0 if nothing was packed
    std::int64_t columns() const noexcept;  ///< n; 0 if nothing was packed
    int device() const noexcept;            ///< that holds it
    std::size_t bytes() const noexcept;  ///< of device memory: about 8 an element, 4 without parts

    /// For the library's own operations; null in a matrix that was never packed, or moved from.
    const PackedOperand* operand() const noexcept { return operand_.get(); }
    explicit PackedMatrix(std::unique_ptr<PackedOperand> operand) noexcept;

  private:
    std::unique_ptr<PackedOperand> operand_;
};

/// Packs `b`, any strides, which may change afterwards. Allocates, and waits until it is done: the
/// stream must not be being captured.
/// @throws Error  invalid_argument (extents below 0, null data), out_of_memory, device_error
TINYBLAS_API PackedMatrix pack(Context& context, MatrixView<const float> b);

/// gemm with a packed B, the same bits as with the matrix that was packed, whatever the path: parts
/// that fp16 cannot hold, and strict products, come from a copy of that matrix. What gemm says of
/// `b` holds for it. Less scratch memory is taken than gemm_scratch_bytes() tells.
/// @throws Error  as gemm does, and invalid_argument if `b` is empty, or of another device
TINYBLAS_API GemmChoice gemm(Context& context, float alpha, MatrixView<const float> a,
                             const PackedMatrix& b, float beta, MatrixView<float> c,
                             GemmOptions options = {});

}  // namespace tinyblas
