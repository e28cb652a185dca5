// SPDX-License-Identifier: MIT
// Included by a program whose kernels are compiled for compute capability 9.0 alone: on another GPU
// its tests are skipped.
#pragma once

#include <gtest/gtest.h>

#include "tinyblas/context.hpp"

namespace tinyblas::test {

struct Needs90 : testing::Environment {
    void SetUp() override {
        if (Context().compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    }
};
inline const auto* const needs_90 = testing::AddGlobalTestEnvironment(new Needs90);

}  // namespace tinyblas::test
