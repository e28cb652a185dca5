// SPDX-License-Identifier: MIT
// The C interface: contexts, the choice of rungs, errors. The operations are in c_api_matrix.cpp,
// c_api_reduce.cpp and c_api_vector.cpp.
#include "c_api.hpp"

#include <string>
#include <string_view>

namespace tinyblas {
namespace {

thread_local std::string last_error;

/// `parse` knows the rung of a name, or throws; `names` lists them.
template <class Kernel>
tinyblas_status set_kernel(const char* function, tinyblas_context context,
                           Rung<Kernel> tinyblas_context_s::*rung, const char* name,
                           Kernel (*parse)(std::string_view), const char* names) {
    return guarded(function, [&] {
        require_context(context);
        require_pointer(name != nullptr, 2, "name");
        try {
            (context->*rung).asked = parse(name);
        } catch (const Error&) {
            require_argument(false, 2, "name", name, names);
        }
    });
}

template <class Kernel>
tinyblas_status get_kernel(const char* function, tinyblas_context context,
                           Rung<Kernel> tinyblas_context_s::*rung, const char** name) {
    return guarded(function, [&] {
        require_context(context);
        require_pointer(name != nullptr, 2, "name");
        *name = to_string((context->*rung).ran);
    });
}

}  // namespace

tinyblas_status report(Status status, const char* function, const char* sentence) noexcept {
    try {
        last_error = std::string(function) + ": " + sentence;
    } catch (...) {
        last_error.clear();
    }
    return static_cast<tinyblas_status>(status);
}

}  // namespace tinyblas

using namespace tinyblas;

tinyblas_status tinyblas_create(tinyblas_context* context) {
    return guarded(__func__, [&] {
        require_pointer(context != nullptr, 1, "context");
        *context = nullptr;
        *context = new tinyblas_context_s;
    });
}

tinyblas_status tinyblas_destroy(tinyblas_context context) {
    return guarded(__func__, [&] { delete context; });
}

tinyblas_status tinyblas_set_stream(tinyblas_context context, void* stream) {
    return guarded(__func__, [&] {
        require_context(context);
        context->context.set_stream(static_cast<CUstream_st*>(stream));
    });
}

tinyblas_status tinyblas_synchronize(tinyblas_context context) {
    return guarded(__func__, [&] {
        require_context(context);
        context->context.synchronize();
    });
}

tinyblas_status tinyblas_set_precision(tinyblas_context context, tinyblas_precision precision) {
    return guarded(__func__, [&] {
        require_context(context);
        require_argument(precision == TINYBLAS_FP32_STRICT || precision == TINYBLAS_FP32, 2,
                         "precision", static_cast<int>(precision), "201 or 202");
        context->context.set_precision(precision == TINYBLAS_FP32 ? Precision::fp32
                                                                  : Precision::fp32_strict);
    });
}

tinyblas_status tinyblas_set_scratch(tinyblas_context context, void* memory, uint64_t bytes) {
    return guarded(__func__, [&] {
        require_context(context);
        require_argument(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0, 2, "memory", memory,
                         "a multiple of 256");
        require_argument(memory || bytes == 0, 3, "bytes", bytes, "0 for no memory");
        context->context.set_scratch(memory, bytes);
    });
}

tinyblas_status tinyblas_load_tuning(tinyblas_context context, const char* path) {
    return guarded(__func__, [&] {
        require_context(context);
        context->context.load_tuning(path);
    });
}

tinyblas_status tinyblas_sgemm_scratch_bytes(int64_t m, int64_t n, int64_t k, uint64_t* bytes) {
    return guarded(__func__, [&] {
        require_argument(m >= 0, 1, "m", m, "at least 0");
        require_argument(n >= 0, 2, "n", n, "at least 0");
        require_argument(k >= 0, 3, "k", k, "at least 0");
        require_pointer(bytes != nullptr, 4, "bytes");
        *bytes = gemm_scratch_bytes(m, n, k);
    });
}

tinyblas_status tinyblas_set_gemm_kernel(tinyblas_context context, const char* name) {
    return set_kernel(
        __func__, context, &tinyblas_context_s::gemm, name, gemm_kernel,
        "best, naive, tiled, tuned, sliced, pipelined, skinny, tensor, gemv, split or hopper");
}
tinyblas_status tinyblas_set_transpose_kernel(tinyblas_context context, const char* name) {
    return set_kernel(__func__, context, &tinyblas_context_s::transpose, name, transpose_kernel,
                      "best, naive, padded or tuned");
}
tinyblas_status tinyblas_set_reduce_kernel(tinyblas_context context, const char* name) {
    return set_kernel(__func__, context, &tinyblas_context_s::reduce, name, reduce_kernel,
                      "best, naive, texture or tuned");
}
tinyblas_status tinyblas_set_polyval_kernel(tinyblas_context context, const char* name) {
    return set_kernel(__func__, context, &tinyblas_context_s::polyval, name, polyval_kernel,
                      "best, naive, constant or tuned");
}

tinyblas_status tinyblas_get_gemm_kernel(tinyblas_context context, const char** name) {
    return get_kernel(__func__, context, &tinyblas_context_s::gemm, name);
}
tinyblas_status tinyblas_get_transpose_kernel(tinyblas_context context, const char** name) {
    return get_kernel(__func__, context, &tinyblas_context_s::transpose, name);
}
tinyblas_status tinyblas_get_reduce_kernel(tinyblas_context context, const char** name) {
    return get_kernel(__func__, context, &tinyblas_context_s::reduce, name);
}
tinyblas_status tinyblas_get_polyval_kernel(tinyblas_context context, const char** name) {
    return get_kernel(__func__, context, &tinyblas_context_s::polyval, name);
}

const char* tinyblas_status_string(tinyblas_status status) {
    return to_string(static_cast<Status>(status));
}

const char* tinyblas_last_error(void) { return last_error.c_str(); }
