// SPDX-License-Identifier: MIT
// Every public call, as what can be tried again and again: cases_cpp.cpp and cases_c.cpp list them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tinyblas/tinyblas.h"
#include "tinyblas/tinyblas.hpp"

namespace tinyblas::faults {

/// What is there before a call. Kernels do not run, so that operands have no values.
struct Bench {
    Bench();
    ~Bench();
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    /// Operand number 0, 1 or 2: device memory for 1024 x 1024 elements.
    template <class T>
    T* operand(int number) {
        return reinterpret_cast<T*>(memory.view().data) + number * operand_elements;
    }
    template <class T>
    MatrixView<T> matrix(int number, std::int64_t rows, std::int64_t columns) {
        return MatrixView<T>::row_major(operand<T>(number), rows, columns);
    }
    template <class T>
    VectorView<T> vector(int number, std::int64_t n, std::int64_t increment = 1) {
        return {operand<T>(number), n, increment};
    }
    static constexpr std::int64_t operand_elements = 1 << 20;

    /// From one stream to the other.
    void move(Context& moved);

    CUstream_st *stream, *other;
    Context context;     // on stream
    tinyblas_context c;  // so is this one
    Context owner;       // on a stream of its own
    Matrix<double> memory;
    std::vector<float> pageable;
    std::optional<PackedMatrix> packed;
    std::size_t growing = 1000;
};

struct Case {
    std::string name;
    std::string operation;  // what every sentence begins with
    std::function<void(Bench&)> run;
    std::function<void(Bench&)> prepare = [](Bench&) {};  // before each run
    bool lets_go = false;                                 // and nothing else: succeeds always
};

std::vector<Case> cases_cpp();
std::vector<Case> cases_c();

}  // namespace tinyblas::faults
