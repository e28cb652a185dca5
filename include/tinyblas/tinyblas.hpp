// SPDX-License-Identifier: MIT
// The whole C++ interface. The adapter eigen.hpp is opt-in: include it by name.
#pragma once

#include "tinyblas/context.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/gemm.hpp"
#include "tinyblas/gemv.hpp"
#include "tinyblas/matrix.hpp"
#include "tinyblas/matrix_array.hpp"
#include "tinyblas/packed.hpp"
#include "tinyblas/polyval.hpp"
#include "tinyblas/precision.hpp"
#include "tinyblas/reduce.hpp"
#include "tinyblas/transpose.hpp"
