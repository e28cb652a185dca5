// SPDX-License-Identifier: MIT
// Ranges on the time line of NVIDIA's tools (Nsight Systems), one an operation, in the domain
// "tinyblas"; nothing unless the build has TINYBLAS_NVTX.
#pragma once

#ifdef TINYBLAS_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace tinyblas::device {

#ifdef TINYBLAS_NVTX
inline nvtxDomainHandle_t range_domain() {
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("tinyblas");
    return domain;
}
inline void begin_range(const char* operation) noexcept {
    nvtxEventAttributes_t range = {};
    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    range.messageType = NVTX_MESSAGE_TYPE_ASCII;
    range.message.ascii = operation;
    nvtxDomainRangePushEx(range_domain(), &range);
}
inline void end_range() noexcept { nvtxDomainRangePop(range_domain()); }
#else
inline void begin_range(const char*) noexcept {}
inline void end_range() noexcept {}
#endif

}  // namespace tinyblas::device
