// SPDX-License-Identifier: MIT
// pack: a matrix's parts of fp16, made once, beside a copy for all that these cannot do. Where no
// product takes parts, the copy alone.
#include "gemm_pack.hpp"

#include <utility>

#include "check.hpp"
#include "device/runtime.hpp"
#include "gemm_accurate.hpp"
#include "gemm_call.hpp"
#include "kernels/gemm/tiles.hpp"
#include "tinyblas/packed.hpp"

namespace tinyblas {
namespace {

/// Planes of rows x k, and the memory for them.
void allocate_planes(PackedOperand& operand, std::int64_t rows, std::int64_t k) {
    operand.planes = {nullptr, nullptr, nullptr, rows, k};
    const GemmPlanes& p = operand.planes;
    const auto whole_rows = static_cast<std::size_t>(p.row_bricks() * gemm_brick);
    const auto bricks = whole_rows * static_cast<std::size_t>(p.chunks() * gemm_brick) *
                        gemm_parts(GemmParts::fp16x2) * sizeof(std::uint16_t);
    const auto exponents = whole_rows * static_cast<std::size_t>(p.groups()) * sizeof(int);
    const auto findings = static_cast<std::size_t>(p.all_findings());
    operand.memory_bytes = bricks + exponents + findings;
    std::size_t pitch = 0;
    operand.memory.reset(
        device::allocate(Memory::device, operand.memory_bytes, 1, 1, pitch, "pack"));
    auto* const memory = static_cast<std::byte*>(operand.memory.get());
    operand.planes.bricks = reinterpret_cast<std::uint16_t*>(memory);
    operand.planes.exponents = reinterpret_cast<int*>(memory + bricks);
    operand.planes.findings = reinterpret_cast<std::uint8_t*>(memory + bricks + exponents);
}

}  // namespace

PackedMatrix::PackedMatrix() noexcept = default;
PackedMatrix::PackedMatrix(std::unique_ptr<PackedOperand> operand) noexcept
    : operand_(std::move(operand)) {}
PackedMatrix::PackedMatrix(PackedMatrix&& other) noexcept = default;
PackedMatrix& PackedMatrix::operator=(PackedMatrix&& other) noexcept = default;
PackedMatrix::~PackedMatrix() = default;

std::int64_t PackedMatrix::rows() const noexcept { return operand_ ? operand_->copy.rows() : 0; }
std::int64_t PackedMatrix::columns() const noexcept {
    return operand_ ? operand_->copy.columns() : 0;
}
int PackedMatrix::device() const noexcept { return operand_ ? operand_->device : -1; }
std::size_t PackedMatrix::bytes() const noexcept {
    if (!operand_) return 0;
    const MatrixView<const float> copy = std::as_const(operand_->copy).view();
    return operand_->memory_bytes +
           static_cast<std::size_t>(copy.rows * copy.row_stride) * sizeof(float);
}

PackedMatrix pack(Context& context, MatrixView<const float> b) {
    require(b.rows >= 0 && b.columns >= 0, "pack: b is ", b.rows, " x ", b.columns,
            ": extents must be at least 0");
    const bool empty = b.rows == 0 || b.columns == 0;
    require(b.data || empty, "pack: b is null: must point to ", b.rows, " x ", b.columns,
            " elements");
    require(b.rows <= gemm_tuned_longest_k, "pack: b has ", b.rows, " rows: must be at most ",
            gemm_tuned_longest_k);
    const device::Guard guard(context.device(), "pack");
    require(!device::is_capturing(context.stream(), "pack"),
            "pack: the context's stream is being captured, where nothing can be waited for: must "
            "be called before");
    auto operand = std::make_unique<PackedOperand>();
    operand->device = context.device();
    operand->copy =
        step_of("pack", [&] { return Matrix<float>(b.rows, b.columns, Memory::device_pitched); });
    if (!empty) {
        // Rows end in a vector of which kernels read a part: none of it is left unset.
        const MatrixView<float> whole = operand->copy.view();
        device::set_to_zero(whole.data,
                            static_cast<std::size_t>(whole.rows * whole.row_stride) * sizeof(float),
                            "pack");
        step_of("pack", [&] { copy(context, b, operand->copy); });
    }
    if (!empty && context.compute_capability() == 90) {  // elsewhere products are strict
        allocate_planes(*operand, b.columns, b.rows);
        const GemmPlanes& planes = operand->planes;
        const auto notes = static_cast<std::size_t>(planes.row_bricks() * planes.groups()) *
                           gemm_brick * sizeof(int);
        context.note("pack");
        auto* const memory = static_cast<int*>(context.scratch(notes));
        step_of("pack", [&] {
            pack_planes(context, std::as_const(operand->copy).view().transposed(), planes, memory);
        });
    }
    if (!empty) context.synchronize();
    return PackedMatrix(std::move(operand));
}

GemmChoice gemm(Context& context, float alpha, MatrixView<const float> a, const PackedMatrix& b,
                float beta, MatrixView<float> c, GemmOptions options) {
    const PackedOperand* const operand = b.operand();
    require(operand, "gemm: b is empty: must be a packed matrix");
    require(operand->device == context.device(), "gemm: b was packed on device ", operand->device,
            ": must be on device ", context.device());
    return enqueue_gemm(context, prepare_gemm(context, alpha, a, operand->copy.view(), beta, c,
                                              options, &operand->planes));
}

}  // namespace tinyblas
