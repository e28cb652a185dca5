// SPDX-License-Identifier: MIT
// Context: a stream, its scratch memory and the device's properties. One per host thread and
// stream.
#pragma once

#include <cstddef>
#include <memory>

#include "tinyblas/export.h"
#include "tinyblas/precision.hpp"

struct CUstream_st;  // *cudaStream_t points to it

namespace tinyblas {

class GemmTuning;
class Workspace;

/// Where operations run. A context belongs to the device that is current when it is created; its
/// calls make that device current for their own duration. Distinct contexts may be used on distinct
/// threads at once; one context, by one thread at a time. Operations are enqueued on the context's
/// stream and return before they finish. They allocate and synchronize nothing unless their comment
/// says so, so that they can be captured in a CUDA graph.
class TINYBLAS_API Context {
  public:
    /// Owns a new stream that does not wait for the default stream.
    /// @throws Error  no_device, unsupported_device (compute capability below 8.0), device_error
    Context();

    /// Uses the caller's stream (null: the default stream), which must outlive the context's use of
    /// it.
    explicit Context(CUstream_st* stream);

    /// Takes over what the other context has; that one may only be assigned to or destroyed.
    Context(Context&& other) noexcept;
    Context& operator=(Context&& other) noexcept;
    ~Context();

    /// Runs what follows on the caller's stream. An owned stream is destroyed once its work is
    /// done. Operations that share the context's memory with earlier ones on the old stream wait
    /// for these there.
    /// @throws Error  device_error
    void set_stream(CUstream_st* stream);
    CUstream_st* stream() const noexcept { return stream_; }

    /// Waits for everything enqueued so far. Throws Error: device_error if any of it failed, naming
    /// the last operation; invalid_argument while the stream is being captured.
    void synchronize();

    /// The number that CUDA gives the context's device.
    int device() const noexcept { return device_; }
    /// Ten times the major version plus the minor one: 90 on an H200 (89 if the library was built
    /// without 90a). Device emulation reports 90.
    int compute_capability() const noexcept { return compute_capability_; }
    int multiprocessors() const noexcept { return multiprocessors_; }
    /// Bytes a second that the device's memory can move, by its clock and bus: 4.81e12 on an H200;
    /// 0 if CUDA does not say.
    double memory_speed() const noexcept { return memory_speed_; }

    /// What gemm of float matrices computes with from now on, unless its options say otherwise;
    /// fp32_strict at first. Throws Error (invalid_argument) for a value that is none.
    void set_precision(Precision precision);
    Precision precision() const noexcept { return precision_; }

    /// At least `bytes` bytes of device memory, 256-byte aligned, kept until the context ends and
    /// shared by its operations. Growing it waits for the stream. While the stream is being
    /// captured: memory of the CUDA graph's own, which lives as long as the graph. Throws Error
    /// (out_of_memory, device_error).
    void* scratch(std::size_t bytes);

    /// The caller's device memory in place of what scratch() allocates, captured or not, from now
    /// on; null and 0: the context's own again. It must outlive what uses it, replays of graphs
    /// included, and nothing else may use it meanwhile. Operations that need more than `bytes` say
    /// so (out_of_memory); gemm falls back to what fits where it may choose.
    /// @param memory  a multiple of 256
    /// @param bytes   how many there are
    /// @throws Error  invalid_argument
    void set_scratch(void* memory, std::size_t bytes);
    /// The bytes that set_scratch() gave; the greatest number while memory is the context's own.
    std::size_t scratch_limit() const noexcept { return scratch_limit_; }

    /// From now on strict products whose rung gemm would choose by its estimates take the one that
    /// the file names for their type, layouts and extents, as `tune_gemm --write` measured it on a
    /// GPU such as this; null: by its estimates again. A rung asked for by name stays, and so do
    /// products without a line, or whose rung cannot run them. Bits are those of the rung.
    /// src/gemm_tuning.hpp shows the format.
    /// @throws Error  invalid_argument: the file cannot be read, or a line is wrong (its number,
    /// the word, the bound); what was loaded before stays
    void load_tuning(const char* path);
    /// What was loaded; else null. For the library's own operations, as is workspace().
    const GemmTuning* tuning() const noexcept { return tuning_.get(); }
    Workspace& workspace();

    /// What synchronize() names if the device fails: the operation enqueued last, a string with
    /// static lifetime.
    void note(const char* operation) noexcept { operation_ = operation; }

  private:
    void adopt(Context& other) noexcept;
    void release() noexcept;

    CUstream_st* stream_ = nullptr;
    bool owns_stream_ = false;
    int device_ = 0;
    int compute_capability_ = 0;
    int multiprocessors_ = 0;
    double memory_speed_ = 0;
    Precision precision_ = Precision::fp32_strict;
    std::size_t scratch_limit_ = static_cast<std::size_t>(-1);
    Workspace* workspace_ = nullptr;  // made at first use
    std::shared_ptr<const GemmTuning> tuning_;
    const char* operation_ = "context";
};

}  // namespace tinyblas
