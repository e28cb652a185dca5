// SPDX-License-Identifier: MIT
// One way to launch all kernels: the code that each of them needs of its own is an array of
// pointers to its parameters.
#pragma once

#include <vector_types.h>

#include <cstddef>

#include "device/runtime.hpp"

namespace tinyblas::device {

struct Launch {
    const char* operation;  // for errors
    dim3 grid, block;
    std::size_t large_shared;  // bytes, what the kernel takes through large_shared()
    Stream stream;
    unsigned cluster = 1;    // blocks along the grid's x, which they divide
    bool uncached = false;   // as much of the first-level cache as can be becomes shared memory
    bool dependent = false;  // it may start while the kernel before it still runs
    int more = -1;  // all the same, a multiprocessor takes at most so many blocks more than
                    // its share; -1: as many as it has room for
};

/// Enqueues kernel(*parameters[0], *parameters[1], ...). Throws Error if that fails.
void enqueue(const Launch& launch, const void* kernel, void** parameters);

template <class... Parameters, class... Arguments>
void enqueue(const Launch& launch, void (*kernel)(Parameters...), const Arguments&... arguments) {
    [&](Parameters... parameters) {
        void* all[] = {&parameters..., nullptr};
        enqueue(launch, reinterpret_cast<const void*>(kernel), all);
    }(static_cast<Parameters>(arguments)...);
}

}  // namespace tinyblas::device
