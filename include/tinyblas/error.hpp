// SPDX-License-Identifier: MIT
// What can go wrong: a Status for programs to branch on and a sentence for people to read.
#pragma once

#include <stdexcept>
#include <string>

#include "tinyblas/export.h"

namespace tinyblas {

/// The kinds of failure. The values are those of tinyblas_status in the C ABI.
enum class Status : int {
    success = 0,
    invalid_argument = 1,  ///< an argument is outside its bounds; nothing was written
    out_of_memory = 2,     ///< the host or the device could not provide the memory asked for
    no_device = 3,         ///< no driver, no GPU, or a driver older than the CUDA runtime
    unsupported_device =
        4,               ///< the GPU is older than the library's kernels (compute capability 8.0)
    device_error = 5,    ///< the device reported a failure, perhaps of an earlier operation
    internal_error = 6,  ///< a defect of the library
};

/// A few words for `status`, such as "invalid argument".
TINYBLAS_API const char* to_string(Status status) noexcept;

/// What the library throws. what() names the operation, the argument, its value and the bound.
class TINYBLAS_API Error : public std::runtime_error {
  public:
    /// A failure of the kind `status`, with the sentence that what() gives.
    Error(Status status, const std::string& sentence)
        : std::runtime_error(sentence), status_(status) {}

    /// What kind of failure it is.
    Status status() const noexcept { return status_; }

  private:
    Status status_;
};

}  // namespace tinyblas
