// SPDX-License-Identifier: MIT
#include "tinyblas/error.hpp"

namespace tinyblas {

const char* to_string(Status status) noexcept {
    switch (status) {
        case Status::success: return "success";
        case Status::invalid_argument: return "invalid argument";
        case Status::out_of_memory: return "out of memory";
        case Status::no_device: return "no device";
        case Status::unsupported_device: return "unsupported device";
        case Status::device_error: return "device error";
        case Status::internal_error: return "internal error";
    }
    return "unknown status";
}

}  // namespace tinyblas
