// SPDX-License-Identifier: MIT
// One call of the C interface: what is expected of it, and the comparison with what has happened.
// Elements are small integers, so that results are exact.
#pragma once

#include <initializer_list>
#include <iostream>
#include <sstream>
#include <string>

#include "memory.hpp"
#include "tinyblas/tinyblas.h"

namespace tinyblas::fuzz {

/// Ends the program with a finding.
[[noreturn]] void found(const std::string& sentence);
/// Each call of a function is counted; progress is told from time to time.
void count_call(const char* function, bool refused);
long calls_made();
/// Whether calls are printed before they are made: the environment has TINYBLAS_FUZZ_SHOW.
bool shows_calls();

/// What the arguments are expected to lead to: the call is refused because of the first bad one.
class Verdict {
  public:
    void require(bool valid, int number, const char* name) {
        if (!refused() && !valid) number_ = number, name_ = name;
    }
    template <class T>
    void require_data(const Operand<T>& operand, bool touched, int number, const char* name) {
        require(operand.data || !touched, number, name);
    }
    /// All elements have addresses; `number` is that of the stride.
    template <class T>
    void require_reach(const Operand<T>& operand, bool touched, int number, const char* name) {
        if (!touched || operand.empty()) return;
        constexpr Wide size = sizeof(T);
        const Wide address = reinterpret_cast<std::intptr_t>(operand.data);
        require(operand.high() <= (greatest - address) / size && operand.low() >= -address / size,
                number, name);
    }

    /// What is wrong is no argument: the sentence begins with `words`.
    void require_else(bool valid, const char* words) {
        if (!refused() && !valid) words_ = words;
    }

    bool refused() const { return number_ != 0 || *words_ != 0; }
    /// What is wrong about a call's status and sentence; empty if nothing is.
    std::string compare(const char* function, tinyblas_status status) const;

  private:
    int number_ = 0;
    const char *name_ = "", *words_ = "";
};

/// A call whose operands are of type T.
template <class T>
class Attempt {
  public:
    Attempt(const char* function, Draw& draw)
        : function_(function), draw_(draw), state_(draw.byte()) {}

    /// Gives the operands memory, each its own or, now and then, all of them some of the same; and
    /// pointers, a few of them null. Operands too large for memory get a pointer to nothing: only
    /// a call that is refused may have one.
    void place(std::initializer_list<Operand<T>*> operands) {
        constexpr Wide most = 1 << 14;
        Wide all = 0;
        for (const Operand<T>* operand : operands) {
            too_large_ = too_large_ || operand->exceeds(most);
            if (!too_large_) all += operand->high() - operand->low();
        }
        const bool together = draw_.once_in(8) && !too_large_;
        if (together) add_array(all);
        for (Operand<T>* operand : operands) {
            const Wide size = too_large_ ? 1 : operand->high() - operand->low();
            const Wide lead = together ? draw_.below(static_cast<std::int64_t>(all - size + 1))
                                       : draw_.byte() % 4;
            if (!together) add_array(size + lead);
            operand->array = arrays_.back().get();
            operand->origin = too_large_ ? 0 : lead - operand->low();
            operand->data = operand->array->now.get() + operand->origin;
            if (draw_.bad(24)) operand->data = nullptr;
        }
    }
    /// One operand in the place of another.
    void place_at(Operand<T>& operand, const Operand<T>& other) {
        operand.array = other.array;
        operand.origin = other.origin;
        operand.data = other.data;
    }

    /// Small integers, -`magnitude` to `magnitude`.
    void fill(const Operand<T>& operand, int magnitude = 3) {
        if (too_large_) return;
        operand.for_each([&](Wide i, Wide j, Wide e) {
            state_ = state_ * 1103515245 + 12345;
            operand.before(i, j, e) =
                static_cast<T>(static_cast<int>((state_ >> 16) % (2 * magnitude + 1)) - magnitude);
        });
    }

    /// Whether the call can be made: accepted, it needs memory.
    bool possible() const { return verdict.refused() || !too_large_; }

    /// Compares. The call changes memory only through call(); expect() sets what is expected of an
    /// accepted one. `show` puts the arguments into a stream, for a finding.
    template <class Call, class Expect, class Show>
    void run(Call call, Expect expect, Show show) {
        if (!possible()) return;
        for (auto& array : arrays_) array->begin();
        const auto words = [&] {
            std::ostringstream out;
            show(out);
            return std::string(function_) + ": " + out.str();
        };
        if (shows_calls()) std::cerr << words() << std::endl;
        const tinyblas_status status = call();
        if (!verdict.refused()) expect();
        std::string wrong = verdict.compare(function_, status);
        for (const auto& array : arrays_)
            if (wrong.empty() && !array->is_as_expected())
                wrong =
                    verdict.refused() ? "refused, and yet memory has changed" : "a wrong result";
        count_call(function_, verdict.refused());
        if (!wrong.empty()) found(wrong + "\n" + words());
    }

    Verdict verdict;

  private:
    void add_array(Wide size) {
        arrays_.push_back(std::make_unique<Array<T>>(static_cast<std::size_t>(size)));
    }

    const char* function_;
    Draw& draw_;
    unsigned state_;
    bool too_large_ = false;
    std::vector<std::unique_ptr<Array<T>>> arrays_;
};

}  // namespace tinyblas::fuzz
