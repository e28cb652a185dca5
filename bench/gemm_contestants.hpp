// SPDX-License-Identifier: MIT
// Who takes part in a case of gemm: the library as the case asks, the best that the reference's
// heuristics propose, a plain copy.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "gemm_case.hpp"
#include "race.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/packed.hpp"

namespace tinyblas::bench {

/// Scratch memory for one product, as cuBLAS is given its workspace: else each call in a graph
/// would have memory of its own.
class OwnScratch {
  public:
    OwnScratch(Context& context, std::size_t bytes)
        : context_(context), memory_(1, static_cast<std::int64_t>(bytes)) {
        context.set_scratch(memory_.view().data, bytes);
    }
    OwnScratch(const OwnScratch&) = delete;
    OwnScratch& operator=(const OwnScratch&) = delete;
    ~OwnScratch() {
        try {
            context_.synchronize();
            context_.set_scratch(nullptr, 0);
        } catch (const std::exception& error) {  // what failed has been reported
            std::fprintf(stderr, "%s\n", error.what());
        }
    }

  private:
    Context& context_;
    Matrix<char> memory_;
};

template <class T>
GemmChoice run(Context& context, const Product<T>& x, const GemmOptions& options) {
    if (x.batch == 0) return gemm(context, x.alpha, x.a, x.b, x.beta, x.c, options);
    if (!x.of_a)
        return gemm_strided_batched(context, x.alpha, x.a, x.a_stride, x.b, x.b_stride, x.beta, x.c,
                                    x.c_stride, x.batch, options);
    return gemm_batched(context, x.alpha, MatrixArray<const T>::like(x.of_a, x.a),
                        MatrixArray<const T>::like(x.of_b, x.b), x.beta,
                        MatrixArray<T>::like(x.of_c, x.c), x.batch, options);
}

/// A product or a batch of them, and what the library says of it.
template <class T>
class Ours {
  public:
    /// The product may change its alpha and beta.
    Ours(Context& context, const Product<T>& x, const GemmCase& one) {
        const GemmOptions options = {one.rung, one.entry, one.precision};
        const Shape& shape = one.shape;
        work_ = [=, this, &context, &x] { choice_ = run(context, x, options); };
        const bool strict = one.precision == Precision::fp32_strict;
        scratch_.emplace(context, strict ? strict_scratch(shape)
                                         : gemm_scratch_bytes(shape.m, shape.n, shape.k));
        if constexpr (std::is_same_v<T, float>) {
            if (strict || x.batch > 0) return;
            explanation_ = explain(context, 1, x.a, x.b, 0, x.c, options);
            strict_ = [=, &context, &x] {
                run(context, x, {GemmKernel::best, -1, Precision::fp32_strict});
            };
            if (!shape.packed) return;
            packed_ = pack(context, x.b);
            work_ = [=, this, &context, &x] {
                choice_ = gemm(context, x.alpha, x.a, packed_, x.beta, x.c, options);
            };
        }
    }
    Ours(const Ours&) = delete;
    Ours& operator=(const Ours&) = delete;

    const Work& work() const { return work_; }
    const Work& strict() const { return strict_; }  // the same product; empty for strict ones
    const GemmChoice& choice() const { return choice_; }
    std::string label() const { return shown(choice_, explanation_.verdict); }

  private:
    /// More than any strict rung takes: copies of the operands, and parts of C.
    static std::size_t strict_scratch(const Shape& shape) {
        const std::int64_t elements = shape.m * shape.k + shape.k * shape.n + 2 * shape.m * shape.n;
        const std::int64_t parts = emulated() ? 16 << 20 : 128 << 20;
        return static_cast<std::size_t>(parts + elements * std::int64_t(sizeof(T)));
    }

    std::optional<OwnScratch> scratch_;
    PackedMatrix packed_;
    Work work_, strict_;
    GemmChoice choice_;
    GemmExplanation explanation_;
};

/// Copies as many bytes as a batch reads and writes, if no cache holds them.
template <class T>
class CopyOfAsMuch {
  public:
    CopyOfAsMuch(Context& context, const Shape& shape) {
        const std::int64_t all = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
        bytes_ = shape.products() * all * std::int64_t(sizeof(T));
        if (emulated() || shape.batch == 0 || copies_beyond_caches(bytes_) > 1) return;
        from_ = Matrix<char>(1, bytes_ / 2);
        to_ = Matrix<char>(1, bytes_ / 2);
        work_ = plain_copy(context, to_.view().data, from_.view().data, bytes_ / 2);
    }
    const Work& work() const { return work_; }
    double bytes() const { return static_cast<double>(bytes_); }

  private:
    std::int64_t bytes_;
    Matrix<char> from_, to_;
    Work work_;
};

/// The fastest of at most `most` ways that the reference's heuristics propose besides its default;
/// empty if there is none.
template <class T>
Work best_proposal(Session& session, const Product<T>& product, int most) {
    Work best;
    double least = std::numeric_limits<double>::infinity();
    std::vector<Work> proposals;
    try {
        proposals = session.reference->gemm_proposals(product, most);
    } catch (const Error& error) {  // no failure of ours
        std::fprintf(stderr, "no proposals: %s\n", error.what());
    }
    for (const Work& work : proposals) {
        try {
            double seconds = make_batch(session.context, 1, work)->seconds();
            constexpr double few = 1e-3, enough = 3e-3;  // to tell them apart
            if (seconds < few) seconds = sized_batch(session.context, work, enough)->seconds();
            if (seconds >= least) continue;
            least = seconds;
            best = work;
        } catch (const Error&) {
            continue;  // proposed, but refused
        }
    }
    return best;
}

}  // namespace tinyblas::bench
