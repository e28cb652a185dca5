// SPDX-License-Identifier: MIT
// What the error tests of the C interface share. A test gives an operation's arguments by name,
// spoils some and expects the exact sentence; no operand may have changed in the end.
#pragma once

#include <deque>
#include <sstream>
#include <string>
#include <type_traits>

#include "pick.hpp"
#include "reference.hpp"
#include "tinyblas/tinyblas.h"

namespace tinyblas::test {

/// A pointer as the sentences show it.
inline std::string shown(const void* pointer) {
    std::ostringstream words;
    words << pointer;
    return words.str();
}

template <class T>
class CApiErrors : public testing::Test {
  protected:
    CApiErrors() { EXPECT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS); }
    ~CApiErrors() override {
        EXPECT_EQ(tinyblas_synchronize(context), TINYBLAS_SUCCESS);
        for (Operand<T>& operand : operands_) {
            operand.download(memory_);
            EXPECT_TRUE(operand.intact());
        }
        EXPECT_EQ(tinyblas_destroy(context), TINYBLAS_SUCCESS);
    }

    /// Device memory for rows x columns elements, between guard bands.
    T* operand(std::int64_t rows, std::int64_t columns) {
        Operand<T>& made = operands_.emplace_back(rows, columns);
        made.fill([value = 0]() mutable { return static_cast<T>(++value); });
        made.upload(memory_);
        memory_.synchronize();
        return made.device().data;
    }

    /// The call with these arguments must be refused in exactly these words.
    template <class Arguments>
    requires requires(Arguments arguments) { arguments.call(); }
    void expect_refused(const Arguments& arguments, const std::string& words) {
        EXPECT_EQ(arguments.call(), TINYBLAS_INVALID_ARGUMENT) << words;
        const std::string type = pick<T>("s", "d");
        EXPECT_EQ(tinyblas_last_error(), "tinyblas_" + type + arguments.name + ": " + words);
    }
    template <class Arguments>
    void expect_accepted(const Arguments& arguments) {
        EXPECT_EQ(arguments.call(), TINYBLAS_SUCCESS) << tinyblas_last_error();
    }

    tinyblas_context context = nullptr;

  private:
    Context memory_;
    std::deque<Operand<T>> operands_;
};

}  // namespace tinyblas::test
