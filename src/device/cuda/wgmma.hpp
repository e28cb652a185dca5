// SPDX-License-Identifier: MIT
#pragma once

namespace tinyblas::device {

/// Whether the library is built with kernels for the tensor cores of compute capability 9.0a.
inline constexpr bool has_wgmma = true;

}  // namespace tinyblas::device
