// SPDX-License-Identifier: MIT
#pragma once

namespace tinyblas::device {

/// Tensor cores are not emulated: the library is built without kernels for them.
inline constexpr bool has_wgmma = false;

}  // namespace tinyblas::device
