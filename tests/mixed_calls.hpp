// SPDX-License-Identifier: MIT
// A thread's share of a test under load: a context, operands of its own that are alike in all
// threads, and calls of every operation, each of which leaves its result in one place.
#pragma once

#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "accurate_gemm.hpp"
#include "tinyblas/tinyblas.hpp"

namespace tinyblas::test {

/// What calls of one type read and write. Extents leave an edge to every tile.
template <class T>
struct MixedOperands {
    static constexpr std::int64_t side = 131, inner = 270, length = side * inner, batch = 8;

    explicit MixedOperands(Context& context) {
        Random random(1);
        Matrix<T> staged(1, length, Memory::pinned);
        for (Matrix<T>* to : {&a_, &graded_, &broken_, &before_}) {
            for (std::int64_t i = 0; i < length; ++i)
                staged(0, i) = static_cast<T>(random.normal());
            if (to == &graded_)  // more than two fp16 parts hold, less than three bf16 parts do
                for (std::int64_t i = 0; i < length; ++i)
                    staged(0, i) = static_cast<T>((1 + random.uniform()) * (i % 2 ? 1 : -0x1p-34));
            if (to == &broken_) staged(0, length / 2) = INFINITY;
            copy(context, staged, *to);
            context.synchronize();
        }
        Matrix<T*> lists(3, batch, Memory::pinned);
        for (std::int64_t e = 0; e < batch; ++e) {
            lists(0, e) = &a_.view()(0, 20 * e);
            lists(1, e) = &graded_.view()(0, 20 * e);
            lists(2, e) = &out_.view()(0, 20 * e);
        }
        copy(context, lists, pointers_);
        context.synchronize();
    }

    MatrixView<const T> a() const { return matrix(a_.view().data); }
    MatrixView<const T> graded() const { return matrix(graded_.view().data); }
    MatrixView<const T> broken() const { return matrix(broken_.view().data); }
    MatrixView<const T> b() const { return a().transposed(); }
    MatrixView<T> out() { return matrix(out_.view().data); }
    MatrixView<T> c() { return out().block(0, 0, side, side); }
    VectorView<const T> x(std::int64_t n) const { return {a_.view().data, n, 1}; }
    VectorView<const T> y(std::int64_t n) const { return {graded_.view().data, n, 1}; }
    VectorView<T> result(std::int64_t n) { return {out_.view().data, n, 1}; }
    /// `batch` matrices of n x n elements, n at most 20, side by side in a (list 0), graded (1) or
    /// the result (2).
    template <class U>
    MatrixArray<U> list(int number, std::int64_t n) {
        return MatrixArray<U>::row_major(const_cast<U* const*>(&pointers_.view()(number, 0)), n, n,
                                         inner);
    }

    /// What a call leaves in the result, which is the same before each.
    template <class Call>
    std::vector<T> after(Context& context, Call&& call) {
        copy(context, before_, out_);
        call();
        copy(context, out_, seen_);
        context.synchronize();
        return {&seen_(0, 0), &seen_(0, 0) + length};
    }

  private:
    template <class U>
    static MatrixView<U> matrix(U* data) {
        return {data, side, inner, inner, 1};
    }

    Matrix<T> a_{1, length}, graded_{1, length}, broken_{1, length}, before_{1, length};
    Matrix<T> out_{1, length}, seen_{1, length, Memory::pinned};
    Matrix<T*> pointers_{3, batch};
};

/// Every operation, both types, every strict rung of gemm that this device has, and each route from
/// parts.
class MixedCalls {
  public:
    MixedCalls() {
        add_both(single_);
        add_both(double_);
        packed_ = pack(context_, single_.b());
        const GemmKernel split = split_or_best(context_);
        for (const GemmKernel kernel : {split, runs_hopper(context_) ? GemmKernel::hopper : split})
            for (const MatrixView<const float> a :
                 {single_.a(), single_.graded(), single_.broken()})
                add(single_, [=](Context& context, auto& o) {
                    gemm(context, 1.5f, a, o.b(), 0.5f, o.c(), {kernel});
                });
        add(single_,
            [this](Context& context, auto& o) { gemm(context, 1, o.graded(), packed_, 1, o.c()); });
    }

    std::size_t size() const { return calls_.size(); }
    /// What a result is before a call.
    bool is_untouched(const std::vector<std::byte>& bits) {
        const auto before = [&](auto& operands) {
            return bytes_of_all(operands.after(context_, [] {}));
        };
        return bits == before(single_) || bits == before(double_);
    }
    /// The guard's verdicts on the operands of products from parts.
    std::vector<GemmVerdict> verdicts() {
        std::vector<GemmVerdict> all;
        for (const MatrixView<const float> a : {single_.a(), single_.graded(), single_.broken()})
            all.push_back(
                explain(context_, 1, a, single_.b(), 0, single_.c(), {split_or_best(context_)})
                    .verdict);
        return all;
    }
    /// The bits of call number `i`'s result.
    std::vector<std::byte> run(std::size_t i) { return calls_[i](); }

  private:
    template <class T>
    static std::vector<std::byte> bytes_of_all(const std::vector<T>& values) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
        return {bytes, bytes + values.size() * sizeof(T)};
    }

    template <class T, class Call>
    void add(MixedOperands<T>& operands, Call call) {
        calls_.push_back([this, &operands, call] {
            return bytes_of_all(operands.after(context_, [&] { call(context_, operands); }));
        });
    }

    template <class T>
    void add_both(MixedOperands<T>& operands) {
        using O = MixedOperands<T>;
        constexpr Scalar type = sizeof(T) == 4 ? Scalar::float32 : Scalar::float64;
        for (const GemmVariant& variant : gemm_variants()) {
            const GemmOptions options = variant.options;
            if (variant.type == type && runs_here(context_, options))
                add(operands, [=](Context& context, O& o) {
                    gemm(context, T(1.5), o.graded(), o.b(), T(0.5), o.c(), options);
                });
        }
        add(operands, [](Context& context, O& o) {  // long and thin
            constexpr std::int64_t k = O::length / 5;
            gemm(context, T(1), MatrixView<const T>::row_major(o.x(0).data, 3, k),
                 MatrixView<const T>::row_major(o.y(0).data, k, 5), T(1),
                 o.out().block(0, 0, 3, 5));
        });
        for (const std::int64_t n : {4, 16, 33})
            add(operands, [=](Context& context, O& o) {
                gemm_strided_batched(context, T(2), o.a().block(0, 0, n, n), n,
                                     o.graded().block(0, 0, n, n), n, T(1),
                                     o.out().block(0, 0, n, n), 33, O::batch);
            });
        add(operands, [](Context& context, O& o) {
            gemm_batched(context, T(1), o.template list<const T>(0, 20),
                         o.template list<const T>(1, 20), T(1), o.template list<T>(2, 20),
                         O::batch);
        });
        add(operands, [](Context& context, O& o) {
            gemv(context, T(2), o.a(), o.y(O::inner), T(1), o.result(O::side));
        });
        add(operands, [](Context& context, O& o) {
            gemv(context, T(2), o.b(), o.y(O::side), T(1), o.result(O::inner));
        });
        add(operands, [](Context& context, O& o) {
            ger(context, T(2), o.x(O::side), o.y(O::inner), o.out());
        });
        add(operands, [](Context& context, O& o) {
            transpose(context, o.a().block(0, 0, 100, O::side), o.out().block(0, 0, O::side, 100));
        });
        add(operands,
            [](Context& context, O& o) { transpose(context, MatrixView<const T>(o.c()), o.c()); });
        for (const ReduceKernel kernel :
             {ReduceKernel::naive, ReduceKernel::texture, ReduceKernel::tuned})
            add(operands, [=](Context& context, O& o) {
                for (int i = 0; i < 4; ++i) {
                    const std::int64_t n = O::length >> 4 * i;
                    asum(context, o.x(n), &o.out()(0, i), {kernel});
                    dot(context, o.x(n), o.y(n), &o.out()(1, i), {kernel});
                    nrm2(context, o.x(n), &o.out()(2, i), {kernel});
                    sum(context, o.x(n), &o.out()(3, i), {kernel});
                }
            });
        add(operands, [](Context& context, O& o) {  // results that travel by way of the host
            const T scale = asum(context, o.x(1000)) - dot(context, o.x(9000), o.y(9000));
            axpy(context, scale, o.x(O::length), o.result(O::length));
            scal(context, T(0.7), o.result(O::length));
        });
        for (const std::size_t count : {6u, 300u, 9000u})
            add(operands, [coefficients = std::vector<T>(count, T(0.5))](Context& context, O& o) {
                polyval(context, coefficients, o.x(999), o.result(999));
            });
    }

    Context context_;
    MixedOperands<float> single_{context_};
    MixedOperands<double> double_{context_};
    PackedMatrix packed_;
    std::vector<std::function<std::vector<std::byte>()>> calls_;
};

/// The bits of all calls of one thread alone.
inline std::vector<std::vector<std::byte>> bits_alone() {
    MixedCalls calls;
    std::vector<std::vector<std::byte>> all;
    for (std::size_t i = 0; i < calls.size(); ++i) all.push_back(calls.run(i));
    return all;
}

/// A thread's `count` calls in an order of its own. Returns how many gave other bits than alone.
inline int differing(MixedCalls& calls, std::uint64_t seed, int count,
                     const std::vector<std::vector<std::byte>>& alone) {
    Random random(seed);
    int all = 0;
    for (int repeat = 0; repeat < count; ++repeat) {
        const auto i = static_cast<std::size_t>(
            random.integer(0, static_cast<std::int64_t>(calls.size()) - 1));
        all += calls.run(i) != alone[i];
    }
    return all;
}

/// body(thread) on eight threads at once.
template <class Body>
void on_eight_threads(const Body& body) {
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 8; ++number) threads.emplace_back(body, number);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace tinyblas::test
