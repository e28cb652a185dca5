// SPDX-License-Identifier: MIT
// The contract between the twins of device.hpp and of device/runtime.hpp: kernels and calls whose
// results are the same on a GPU and under device emulation. What a GPU would not survive is planted
// in test_emulation.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <device.hpp>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "device/runtime.hpp"
#include "device_buffer.hpp"
#include "tinyblas/context.hpp"
#include "tinyblas/error.hpp"

namespace tinyblas {
namespace {

using test::Buffer;

/// Launches and waits, so that the host may read the results.
template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), dim3 grid, dim3 block, const Arguments&... arguments) {
    device::launch("test", kernel, grid, block, nullptr, arguments...);
    device::synchronize(nullptr, "test");
}

struct Seen {
    unsigned thread[3], block[3], block_extent[3], grid_extent[3];
};

__global__ void look(Seen* seen) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    seen[block * blockDim.x * blockDim.y * blockDim.z + thread] = {
        {threadIdx.x, threadIdx.y, threadIdx.z},
        {blockIdx.x, blockIdx.y, blockIdx.z},
        {blockDim.x, blockDim.y, blockDim.z},
        {gridDim.x, gridDim.y, gridDim.z}};
}

TEST(Launch, EveryThreadOfEveryBlockRunsOnceAndKnowsItsPlace) {
    const dim3 grid(3, 2, 4), block(5, 3, 2);
    Buffer<Seen> seen(720);
    run(look, grid, block, seen.data());
    std::size_t next = 0;
    for (unsigned bz = 0; bz < 4; ++bz)
        for (unsigned by = 0; by < 2; ++by)
            for (unsigned bx = 0; bx < 3; ++bx)
                for (unsigned z = 0; z < 2; ++z)
                    for (unsigned y = 0; y < 3; ++y)
                        for (unsigned x = 0; x < 5; ++x) {
                            const Seen expected = {{x, y, z}, {bx, by, bz}, {5, 3, 2}, {3, 2, 4}};
                            EXPECT_EQ(std::memcmp(&seen[next++], &expected, sizeof expected), 0);
                        }
}

struct Pair {
    std::int64_t first;
    double second;
};

__global__ void pass(double* to, Pair pair, float third, const double* fourth) {
    *to =
        static_cast<double>(pair.first) + pair.second + static_cast<double>(third) + __ldg(fourth);
}

TEST(Launch, ConvertsArgumentsAndRunsOnAStream) {
    Buffer<double> values(2);
    values[1] = 1000;
    const device::Stream stream = device::create_stream();
    device::launch("test", pass, 1, 1, stream, values.data(), Pair{1, 20}, 300, values.data() + 1);
    device::synchronize(stream, "test");
    EXPECT_EQ(values[0], 1321);
    device::destroy_stream(stream);
}

TEST(Launch, RefusesWhatNoDeviceCanRunAndWorksAfterwards) {
    Buffer<Seen> seen(2048);
    EXPECT_THROW(run(look, 0, 1, seen.data()), Error);
    EXPECT_THROW(run(look, 1, 2048, seen.data()), Error);
    EXPECT_THROW(run(look, 1, dim3(64, 32), seen.data()), Error);
    EXPECT_THROW(run(look, dim3(1, 65536), 1, seen.data()), Error);
    run(look, 1, 1024, seen.data());
    EXPECT_EQ(seen[1023].thread[0], 1023u);
}

__global__ void reverse(int* values) {
    auto& line = device::shared<struct Line, int[256]>();
    auto& other = device::shared<struct Other, int[256]>();
    auto& wide = device::shared<struct Line, double[256]>();
    const unsigned i = threadIdx.x;
    line[i] = values[i];
    other[i] = 1000 * values[i];
    wide[i] = 0.5 * values[i];
    __syncthreads();
    const unsigned j = blockDim.x - 1 - i;
    values[i] = line[j] + other[j] + static_cast<int>(2 * wide[j]);
}

TEST(Shared, IsOneForABlockAndDistinctByTagAndType) {
    Buffer<int> values(256);
    for (int i = 0; i < 256; ++i) values[i] = i;
    run(reverse, 1, 256, values.data());
    for (int i = 0; i < 256; ++i) EXPECT_EQ(values[i], 1002 * (255 - i));
}

struct Large {
    int values[16 * 1024];  // 64 KB
};
constexpr int large_size = sizeof(Large) / sizeof(int);

/// Block b turns the line large_size * b, large_size * b + 1, ... around.
__global__ void reverse_large(int* to) {
    auto& line = device::large_shared<Large>().values;
    auto& first = device::shared<struct First, int[32]>();
    const int begin = static_cast<int>(blockIdx.x) * large_size;
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    if (thread < 32) first[thread] = begin;
    for (int i = thread; i < large_size; i += threads) line[i] = i;
    __syncthreads();
    for (int i = thread; i < large_size; i += threads)
        to[begin + i] = first[i % 32] + line[large_size - 1 - i];
}

TEST(LargeShared, Is64KilobytesOfEachBlockBesideTheOrdinary) {
    constexpr int blocks = 5;
    Buffer<int> to(std::size_t{blocks} * large_size);
    device::launch_large("test", reverse_large, blocks, 128, sizeof(Large), nullptr, to.data());
    device::synchronize(nullptr, "test");
    int wrong = 0;
    for (int block = 0; block < blocks; ++block)
        for (int i = 0; i < large_size; ++i)
            wrong += to[block * large_size + i] != (block + 1) * large_size - 1 - i ? 1 : 0;
    EXPECT_EQ(wrong, 0);
}

/// One warpgroup gives up registers, two claim what it gave; where that is no instruction, nothing.
__global__ __launch_bounds__(384, 1) void pass_registers(int* to) {
    const int thread = static_cast<int>(threadIdx.x);
    int value = thread;
    if (thread < 128) {
        device::give_up_registers<40>();
        value += 1000;
    } else {
        device::claim_registers<232>();
        value += 2000;
    }
    __syncthreads();
    to[thread] = value + __shfl_xor_sync(0xFFFFFFFF, value, 1);
}

TEST(Registers, PassFromWarpgroupToWarpgroupAndKeepTheirValues) {
    Buffer<int> to(384);
    run(pass_registers, 1, 384, to.data());
    for (int i = 0; i < 384; ++i) EXPECT_EQ(to[i], i + (i ^ 1) + 2 * (i < 128 ? 1000 : 2000)) << i;
}

__global__ void half_returns(int* values) {
    auto& sum = device::shared<struct Sum, int[64]>();
    if (threadIdx.x >= 64) return;
    sum[threadIdx.x] = values[threadIdx.x];
    for (unsigned reach = 32; reach > 0; reach /= 2) {
        __syncthreads();
        if (threadIdx.x < reach) sum[threadIdx.x] += sum[threadIdx.x + reach];
    }
    __threadfence();
    if (threadIdx.x == 0) values[0] = sum[0];
}

TEST(Barrier, DoesNotWaitForThreadsThatReturned) {
    Buffer<int> values(64);
    for (int i = 0; i < 64; ++i) values[i] = i;
    run(half_returns, 1, 128, values.data());
    EXPECT_EQ(values[0], 63 * 64 / 2);
}

/// Thread t copies `count` elements, of which (t + shift) % (count + 1) are valid.
template <class T, int count>
__global__ void copy_some(T* to, const T* from, int shift) {
    auto& tile = device::shared<struct Tile, T[32 * count]>();
    const int first = static_cast<int>(threadIdx.x) * count;
    device::copy_async<count>(device::SharedPointer<T>(&tile[0]) + first, from + first,
                              (static_cast<int>(threadIdx.x) + shift) % (count + 1));
    device::close_copy_group();
    device::wait_for_copies<0>();
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < 32 * count; i += 32) to[i] = tile[i];
}

template <class T, int count>
void expect_partial_copies() {
    Buffer<T> from(32 * count), to(32 * count);
    for (int i = 0; i < 32 * count; ++i) from[i] = static_cast<T>(i + 1);
    for (int shift = 0; shift <= count; ++shift) {
        run(copy_some<T, count>, 1, 32, to.data(), from.data(), shift);
        for (int i = 0; i < 32 * count; ++i) {
            const int valid = (i / count + shift) % (count + 1);
            EXPECT_EQ(to[i], i % count < valid ? from[i] : T(0)) << i << " of " << valid;
        }
    }
}

TEST(CopyAsync, ReadsTheValidElementsAndZeroesTheRest) {
    expect_partial_copies<float, 1>();
    expect_partial_copies<float, 2>();
    expect_partial_copies<float, 4>();
    expect_partial_copies<double, 1>();
    expect_partial_copies<double, 2>();
}

__global__ void copy_in_groups(float* to, const float* from) {
    auto& stages = device::shared<struct Stages, float[3][32]>();
    const int i = static_cast<int>(threadIdx.x);
    for (int stage = 0; stage < 3; ++stage) {
        const int element = 32 * stage + i;
        device::copy_async<1>(device::SharedPointer<float>(&stages[stage][i]), from + element);
        device::close_copy_group();
    }
    device::wait_for_copies<2>();
    to[i] = stages[0][i];
    device::close_copy_group();  // an empty group counts
    device::wait_for_copies<2>();
    to[32 + i] = stages[1][i];
    device::wait_for_copies<0>();
    to[64 + i] = stages[2][i];
}

TEST(CopyAsync, ArrivesGroupByGroup) {
    Buffer<float> from(96), to(96);
    for (int i = 0; i < 96; ++i) from[i] = static_cast<float>(i);
    run(copy_in_groups, 1, 32, to.data(), from.data());
    EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
}

template <class T>
__global__ void move_vectors(T* to, T* from) {
    constexpr int vector = 16 / sizeof(T);
    auto& tile = device::shared<struct Tile, T[32 * vector]>();
    const int first = static_cast<int>(threadIdx.x) * vector;
    T values[vector], others[vector];
    device::load_vector(values, from + first);
    device::store_vector(&tile[first], values);
    __syncthreads();
    device::load_vector(others, device::SharedPointer<T>(tile) + (31 * vector - first));
    device::store_vector(to + first, others);
}

template <class T>
void expect_vectors_moved() {
    constexpr int vector = 16 / sizeof(T);
    Buffer<T> from(32 * vector), to(32 * vector);
    for (int i = 0; i < 32 * vector; ++i) from[i] = static_cast<T>(i);
    run(move_vectors<T>, 1, 32, to.data(), from.data());
    for (int i = 0; i < 32 * vector; ++i)
        EXPECT_EQ(to[i], from[(31 - i / vector) * vector + i % vector]);
}

TEST(Vectors, AreSixteenBytes) {
    expect_vectors_moved<float>();
    expect_vectors_moved<double>();
}

template <class T>
__global__ void add_products(T* sums, const T* x, const T* y, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    T sum = device::opaque(sums[i]);
    device::multiply_add(sum, x[i], y[i]);
    sums[i] = sum;
}

template <class T, class Bits>
void expect_one_rounding() {
    constexpr int count = 20000;
    Buffer<T> sums(count), x(count), y(count);
    std::mt19937_64 random(1);
    const auto any = [&] { return std::bit_cast<T>(static_cast<Bits>(random())); };
    const auto unit = [&] {
        return std::ldexp(static_cast<T>(random() >> 11), -53) * (random() % 2 == 0 ? 1 : -1);
    };
    const T tiny = std::ldexp(T(1), -std::numeric_limits<T>::digits / 2 - 1);
    for (int i = 0; i < count; ++i) {
        // Any bit patterns; ordinary numbers; products that cancel all but their last bits.
        x[i] = i % 4 == 0 ? any() : i % 4 == 1 ? unit() : 1 + tiny * static_cast<T>(i);
        y[i] = i % 4 == 0 ? any() : i % 4 == 1 ? unit() : 1 - tiny * static_cast<T>(i);
        sums[i] = i % 4 == 0 ? any() : i % 4 == 1 ? unit() : i % 4 == 2 ? -1 : -x[i] * y[i];
    }
    std::vector<T> expected(count);
    for (int i = 0; i < count; ++i) expected[i] = std::fma(x[i], y[i], sums[i]);
    run(add_products<T>, (count + 255) / 256, 256, sums.data(), x.data(), y.data(), count);
    for (int i = 0; i < count; ++i) {
        if (std::isnan(expected[i]))
            EXPECT_TRUE(std::isnan(sums[i]));
        else
            EXPECT_EQ(std::bit_cast<Bits>(sums[i]), std::bit_cast<Bits>(expected[i]))
                << x[i] << " * " << y[i];
    }
}

TEST(MultiplyAdd, RoundsOnce) {
    Buffer<float> sum(1), x(1);
    sum[0] = -(1 + 0x1p-11f);
    x[0] = 1 + 0x1p-12f;  // squared: 1 + 2^-11 + 2^-24
    run(add_products<float>, 1, 1, sum.data(), x.data(), x.data(), 1);
    EXPECT_EQ(sum[0], 0x1p-24f);
}
TEST(MultiplyAdd, GivesTheBitsOfFmaInFloat) { expect_one_rounding<float, std::uint32_t>(); }
TEST(MultiplyAdd, GivesTheBitsOfFmaInDouble) { expect_one_rounding<double, std::uint64_t>(); }

constexpr unsigned everyone = 0xFFFFFFFF;
constexpr int shuffles = 8;

template <class T>
__global__ void shuffle_all_ways(T* to) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    T* line = to + static_cast<int>(threadIdx.x) * shuffles;
    const T own = static_cast<T>(threadIdx.x) + T(1);
    line[0] = __shfl_sync(everyone, own, 7);
    line[1] = __shfl_sync(everyone, own, lane + 1, 8);
    line[2] = __shfl_up_sync(everyone, own, 3u);
    line[3] = __shfl_up_sync(everyone, own, 3u, 8);
    line[4] = __shfl_down_sync(everyone, own, 5u);
    line[5] = __shfl_down_sync(everyone, own, 5u, 16);
    line[6] = __shfl_xor_sync(everyone, own, 6);
    line[7] = __shfl_xor_sync(everyone, own, 9, 8);
}

template <class T>
void expect_shuffled() {
    constexpr int threads = 96;
    Buffer<T> to(threads * shuffles);
    run(shuffle_all_ways<T>, 1, threads, to.data());
    for (int thread = 0; thread < threads; ++thread) {
        const int lane = thread % 32;
        const int sources[shuffles] = {
            7,
            lane / 8 * 8 + (lane + 1) % 8,
            lane < 3 ? lane : lane - 3,
            lane % 8 < 3 ? lane : lane - 3,
            lane + 5 > 31 ? lane : lane + 5,
            lane % 16 + 5 > 15 ? lane : lane + 5,
            lane ^ 6,
            (lane ^ 9) / 8 > lane / 8 ? lane : lane ^ 9,
        };
        for (int i = 0; i < shuffles; ++i)
            EXPECT_EQ(to[thread * shuffles + i], static_cast<T>(thread - lane + sources[i] + 1))
                << "thread " << thread << ", shuffle " << i;
    }
}

TEST(Warp, ShufflesReachWhatTheWidthAllows) {
    expect_shuffled<float>();
    expect_shuffled<double>();
    expect_shuffled<int>();
    expect_shuffled<unsigned>();
}

__global__ void vote(unsigned* to) {
    auto& flags = device::shared<struct Flags, unsigned[32]>();
    const unsigned lane = threadIdx.x;
    const unsigned half = lane < 16 ? 0x0000FFFF : 0xFFFF0000;
    const unsigned first = lane * 5;
    unsigned* line = to + first;
    if (lane < 16)  // halves part and vote on their own
        line[0] = __ballot_sync(half, lane % 3 == 0);
    else
        line[0] = __ballot_sync(half, lane % 5 == 0);
    line[1] = static_cast<unsigned>(__any_sync(half, lane == 3));
    line[2] = static_cast<unsigned>(__all_sync(half, lane >= 16) != 0);
    flags[lane] = lane;
    __syncwarp();
    line[3] = flags[31 - lane];
    line[4] = __shfl_xor_sync(half, lane, 1);
}

TEST(Warp, VotesAndHalvesOfAWarp) {
    Buffer<unsigned> to(160);
    run(vote, 1, 32, to.data());
    unsigned thirds = 0, fifths = 0;
    for (unsigned lane = 0; lane < 16; ++lane) thirds |= (lane % 3 == 0 ? 1u : 0u) << lane;
    for (unsigned lane = 16; lane < 32; ++lane) fifths |= (lane % 5 == 0 ? 1u : 0u) << lane;
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned* line = &to[lane * std::size_t{5}];
        EXPECT_EQ(line[0], lane < 16 ? thirds : fifths);
        EXPECT_EQ(line[1] != 0, lane < 16);
        EXPECT_EQ(line[2] != 0, lane >= 16);
        EXPECT_EQ(line[3], 31 - lane);
        EXPECT_EQ(line[4], lane ^ 1);
    }
}

constexpr std::size_t reductions = 5;

__global__ void reduce_warps(unsigned* to, const unsigned* from) {
    const unsigned thread = threadIdx.x, lane = thread % 32;
    unsigned* line = to + thread * reductions;
    const unsigned x = from[thread];
    line[0] = __reduce_max_sync(everyone, x);
    line[1] = static_cast<unsigned>(__reduce_max_sync(everyone, static_cast<int>(x)));
    line[2] = __reduce_add_sync(everyone, x);
    line[3] = __reduce_or_sync(everyone, x);
    if (lane < 16)  // halves part and reduce on their own
        line[4] = __reduce_max_sync(0x0000FFFF, x);
    else
        line[4] = __reduce_add_sync(0xFFFF0000, x);
}

TEST(Warp, ReducesIntegers) {
    constexpr unsigned threads = 96;
    Buffer<unsigned> from(threads), to(threads * reductions);
    std::mt19937 random(3);
    for (unsigned i = 0; i < threads; ++i) from[i] = i < 32 ? i : static_cast<unsigned>(random());
    run(reduce_warps, 1, threads, to.data(), from.data());
    for (unsigned warp = 0; warp < threads; warp += 32) {
        unsigned most = 0, sum = 0, either = 0, lower_most = 0, upper_sum = 0;
        int signed_most = std::numeric_limits<int>::min();
        for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned x = from[warp + lane];
            most = std::max(most, x);
            signed_most = std::max(signed_most, static_cast<int>(x));
            sum += x;
            either |= x;
            if (lane < 16)
                lower_most = std::max(lower_most, x);
            else
                upper_sum += x;
        }
        for (unsigned lane = 0; lane < 32; ++lane) {
            const unsigned* line = &to[(warp + lane) * reductions];
            EXPECT_EQ(line[0], most);
            EXPECT_EQ(static_cast<int>(line[1]), signed_most);
            EXPECT_EQ(line[2], sum);
            EXPECT_EQ(line[3], either);
            EXPECT_EQ(line[4], lane < 16 ? lower_most : upper_sum);
        }
    }
}

/// Thread `one` of each round says yes; a quarter of the threads returned before.
__global__ void ask_block(int* to, int rounds) {
    if (threadIdx.x % 4 == 3) return;
    for (int one = 0; one < rounds; ++one) {
        const int answer = __syncthreads_or(static_cast<int>(threadIdx.x) == one ? 64 : 0);
        if (threadIdx.x == 0) to[one] = answer != 0 ? 1 : 0;
    }
}

TEST(Barrier, TellsWhetherAnyThreadSaidYes) {
    constexpr int rounds = 100, threads = 80;
    Buffer<int> to(rounds);
    run(ask_block, 1, threads, to.data(), rounds);
    for (int one = 0; one < rounds; ++one)
        EXPECT_EQ(to[one], one < threads && one % 4 != 3 ? 1 : 0) << one;
}

/// to_i = from_(i + 1) + 1, once what the kernel before has written is there.
__global__ void pass_around(int* to, const int* from, int count) {
    device::let_dependents_start();
    device::wait_for_launcher();
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) to[i] = from[(i + 1) % count] + 1;
}

TEST(Launch, DependentKernelsSeeWhatTheOneBeforeHasWritten) {
    constexpr int count = 100000, rounds = 20;
    Buffer<int> values(count), others(count);
    for (int i = 0; i < count; ++i) values[i] = i;
    const device::Stream stream = device::create_stream();
    for (int round = 0; round < rounds; ++round)
        device::launch_dependent("test", pass_around, (count + 127) / 128, 128, stream,
                                 round % 2 == 0 ? others.data() : values.data(),
                                 round % 2 == 0 ? values.data() : others.data(), count);
    device::synchronize(stream, "test");
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += values[i] != (i + rounds) % count + rounds ? 1 : 0;
    EXPECT_EQ(wrong, 0);
    device::destroy_stream(stream);
}

/// The block's multiprocessor; in emulation each has one of its own.
__device__ int own_multiprocessor() {
#ifdef __CUDA_ARCH__
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
#else
    return static_cast<int>(blockIdx.x);
#endif
}

/// Where blocks are, which take some time.
__global__ void note_places(int* places) {
    device::wait_for_launcher();
    device::let_dependents_start();
    if (threadIdx.x != 0) return;
    places[blockIdx.x] = own_multiprocessor();
    if constexpr (device::reallocates_registers) device::let_time_pass(20'000);
}

// Kernels that start early and would all find room on the multiprocessors that are free, or get
// free first. Every block runs, everywhere; that they are spread, a GPU has to show.
TEST(Launch, EvenKernelsGiveNoMultiprocessorMoreBlocksThanOthers) {
    const device::Properties own = device::properties(device::current_device());
    const bool starts_early = own.compute_capability == 90;
    const int multiprocessors = own.multiprocessors;
    const device::Stream stream = device::create_stream();
    Buffer<int> first_places(1);
    for (int launch = 0; launch < 50; ++launch)  // until others are forgotten
        device::launch_evenly("test", note_places, 1, 64, 0, stream, first_places.data());
    for (const int blocks : {multiprocessors / 2, multiprocessors - 10, multiprocessors,
                             multiprocessors + 7, 3 * multiprocessors}) {
        constexpr int rounds = 4;
        Buffer<int> places(rounds * blocks);
        for (int i = 0; i < rounds * blocks; ++i) places[i] = -1;
        for (int round = 0; round < rounds; ++round)
            device::launch_evenly("test", note_places, static_cast<unsigned>(blocks), 64, 0, stream,
                                  places.data() + round * blocks);
        device::synchronize(stream, "test");
        for (int round = 0; round < rounds; ++round) {
            std::map<int, int> count;
            for (int i = 0; i < blocks; ++i) ++count[places[round * blocks + i]];
            EXPECT_EQ(count.count(-1), 0u) << "of " << blocks << " blocks, some have not run";
            const int most =
                starts_early ? (blocks + multiprocessors - 1) / multiprocessors : blocks;
            for (const auto& [place, all] : count)
                ASSERT_LE(all, most) << "multiprocessor " << place << " of " << blocks << " blocks";
        }
    }
    device::destroy_stream(stream);
}

/// Compute capability 9.0: a ring of stages between one warp, which brings them, and two others,
/// which read them.
constexpr int ring_stages = 3, ring_width = 64, ring_tile_rows = 4;
struct RingShared {
    alignas(128) float stages[ring_stages][ring_tile_rows * ring_width];
    std::uint64_t full[ring_stages], empty[ring_stages];
};
struct RingAddress {
    device::SharedAddress stages, full, empty;
    __device__ explicit RingAddress(RingShared& ring)
        : stages(device::SharedPointer<float>(&ring.stages[0][0]).address()),
          full(device::SharedPointer<std::uint64_t>(ring.full).address()),
          empty(device::SharedPointer<std::uint64_t>(ring.empty).address()) {}
};
__device__ RingAddress make_ring(RingShared& ring, unsigned loaders) {
    const RingAddress address(ring);
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < ring_stages; ++stage) {
            device::make_barrier(address.full + stage * 8, loaders);
            device::make_barrier(address.empty + stage * 8, 2);
        }
        device::publish_barriers();
    }
    __syncthreads();
    return address;
}
/// to[block][step] = the stage of each step, read by 64 threads.
__device__ void read_ring(RingShared& ring, const RingAddress& address, float* to, int steps) {
    to += static_cast<int>(blockIdx.x) * steps * (ring_tile_rows * ring_width);
    const int thread = static_cast<int>(threadIdx.x) - 32;
    for (int step = 0; step < steps; ++step) {
        const int stage = step % ring_stages;
        device::wait_for_phase(address.full + stage * 8,
                               static_cast<unsigned>(step / ring_stages % 2));
        constexpr int elements = ring_tile_rows * ring_width;
        for (int i = thread; i < elements; i += 64) to[step * elements + i] = ring.stages[stage][i];
        __syncwarp();
        if (thread % 32 == 0) device::arrive(address.empty + stage * 8);
    }
}
/// Step by step, once the stage is free.
template <class Bring>
__device__ void fill_ring(const RingAddress& address, int steps, Bring&& bring) {
    for (int step = 0; step < steps; ++step) {
        const int stage = step % ring_stages;
        device::wait_for_phase(address.empty + stage * 8,
                               static_cast<unsigned>(step / ring_stages % 2) ^ 1);
        bring(step, stage);
    }
}
constexpr int ring_stage_bytes = ring_tile_rows * ring_width * 4;

__global__ void relay_rows(float* to, const float* from, int steps) {
    if constexpr (!device::reallocates_registers) return device::trap();
    auto& ring = device::shared<struct RelayRows, RingShared>();
    const RingAddress address = make_ring(ring, 1);
    if (threadIdx.x >= 32) return read_ring(ring, address, to, steps);
    const int lane = static_cast<int>(threadIdx.x);
    fill_ring(address, steps, [&](int step, int stage) {
        if (lane == 0) device::arrive_expecting(address.full + stage * 8, ring_stage_bytes);
        if (lane < ring_tile_rows)
            device::copy_bulk(address.stages + stage * ring_stage_bytes + lane * ring_width * 4,
                              from + (step * ring_tile_rows + lane) * ring_width, ring_width * 4,
                              address.full + stage * 8);
    });
}
/// Tiles along the first rows, then along the next ones.
__global__ void relay_tiles(float* to, const __grid_constant__ device::TileMap map, int across,
                            int steps) {
    if constexpr (!device::reallocates_registers) return device::trap();
    auto& ring = device::shared<struct RelayTiles, RingShared>();
    const RingAddress address = make_ring(ring, 1);
    if (threadIdx.x >= 32) return read_ring(ring, address, to, steps);
    if (threadIdx.x > 0) return;
    fill_ring(address, steps, [&](int step, int stage) {
        device::arrive_expecting(address.full + stage * 8, ring_stage_bytes);
        device::copy_tile(address.stages + stage * ring_stage_bytes, map,
                          step / across * ring_tile_rows, step % across * ring_width,
                          address.full + stage * 8);
    });
}
/// All lanes write what they read, beside a copy of the last row.
__global__ void relay_by_hand(float* to, const float* from, int steps) {
    if constexpr (!device::reallocates_registers) return device::trap();
    auto& ring = device::shared<struct RelayByHand, RingShared>();
    const RingAddress address = make_ring(ring, 2);
    if (threadIdx.x >= 32) return read_ring(ring, address, to, steps);
    const int lane = static_cast<int>(threadIdx.x);
    constexpr int by_hand = (ring_tile_rows - 1) * ring_width;
    fill_ring(address, steps, [&](int step, int stage) {
        const float* const start = from + step * ring_tile_rows * ring_width;
        for (int i = lane; i < by_hand; i += 32) ring.stages[stage][i] = start[i];
        device::publish_to_copies();
        __syncwarp();
        if (lane == 0) {
            device::copy_bulk(address.stages + stage * ring_stage_bytes + by_hand * 4,
                              start + by_hand, ring_width * 4, address.full + stage * 8);
            device::arrive_expecting(address.full + stage * 8, ring_width * 4);
            device::arrive(address.full + stage * 8);
        }
    });
}

TEST(Phases, CarryRowsThroughARing) {
    if (Context().compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    constexpr int blocks = 3, steps = 20, elements = ring_tile_rows * ring_width;
    Buffer<float> from(steps * elements), to(blocks * steps * elements);
    for (int i = 0; i < steps * elements; ++i) from[i] = static_cast<float>(i);
    for (const auto kernel : {relay_rows, relay_by_hand}) {
        std::fill(to.begin(), to.end(), -1.0f);
        run(kernel, blocks, 96, to.data(), from.data(), steps);
        for (int block = 0; block < blocks; ++block)
            EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin() + block * from.size()));
    }
}

TEST(Phases, CarryTilesWithZerosOutsideTheMatrix) {
    if (Context().compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    constexpr int rows = 6, columns = 131, stride = 136, across = 3, steps = 6;
    constexpr int elements = ring_tile_rows * ring_width, blocks = 2;
    Buffer<float> from(rows * stride), to(blocks * steps * elements);
    for (int i = 0; i < rows * stride; ++i)
        from[i] = i % stride < columns ? static_cast<float>(i + 1) : NAN;
    const auto map =
        device::map_tiles(from.data(), rows, columns, stride, ring_tile_rows, ring_width, "test");
    run(relay_tiles, blocks, 96, to.data(), map, across, steps);
    for (int round = 0; round < blocks * steps; ++round)
        for (int i = 0; i < elements; ++i) {
            const int step = round % steps;
            const int row = step / across * ring_tile_rows + i / ring_width;
            const int column = step % across * ring_width + i % ring_width;
            const float expected =
                row < rows && column < columns ? from[row * stride + column] : 0.0f;
            EXPECT_EQ(to[round * elements + i], expected) << row << ", " << column;
        }
}

struct SwizzledShared {
    alignas(512) float tile[16][16];
    std::uint64_t barrier;
};
/// to = a tile of 16 x 16 from (row, column) on, as it lies in shared memory.
__device__ __forceinline__ void take_tile(float* to, const device::TileMap& map, int row,
                                          int column) {
    auto& shared = device::shared<struct SwizzledTile, SwizzledShared>();
    const auto barrier = device::SharedPointer<std::uint64_t>(&shared.barrier).address();
    if (threadIdx.x == 0) {
        device::make_barrier(barrier, 1);
        device::publish_barriers();
        device::arrive_expecting(barrier, sizeof shared.tile);
        device::copy_tile(device::SharedPointer<float>(&shared.tile[0][0]).address(), map, row,
                          column, barrier);
    }
    __syncthreads();
    device::wait_for_phase(barrier, 0);
    for (unsigned i = threadIdx.x; i < 256; i += 32) to[i] = shared.tile[i / 16][i % 16];
}
__global__ void swizzled_tile(float* to, const __grid_constant__ device::TileMap map, int row,
                              int column) {
    if constexpr (!device::reallocates_registers) return device::trap();
    take_tile(to, map, row, column);
}
__global__ void write_maps(device::TileMap* maps, const __grid_constant__ device::TileMap like,
                           const float* data, int apart) {
    if constexpr (!device::reallocates_registers) return device::trap();
    device::write_tile_map(maps + threadIdx.x, like, data + static_cast<int>(threadIdx.x) * apart);
}
__global__ void tile_of_written_map(float* to, const device::TileMap* maps, int row, int column) {
    if constexpr (!device::reallocates_registers) return device::trap();
    const device::TileMap& map = maps[blockIdx.x];
    device::acquire_tile_map(&map);
    take_tile(to + blockIdx.x * 256, map, row, column);
}

TEST(Phases, SwizzledTilesPutVectorsOfEightRowsIntoAllBanks) {
    if (Context().compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    constexpr int rows = 30, columns = 24, stride = 28, row = 17, column = 12;
    Buffer<float> from(rows * stride), to(256);
    for (int i = 0; i < rows * stride; ++i)
        from[i] = i % stride < columns ? static_cast<float>(i + 1) : NAN;
    const auto map = device::map_tiles(from.data(), rows, columns, stride, 16, 16, "test", true);
    run(swizzled_tile, 1, 32, to.data(), map, row, column);
    for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 16; ++c) {
            const bool inside = row + r < rows && column + c < columns;
            const float expected = inside ? from[(row + r) * stride + column + c] : 0.0f;
            EXPECT_EQ(to[r * 16 + (c / 4 ^ r / 2 % 4) * 4 + c % 4], expected) << r << ", " << c;
        }
}

TEST(Phases, MapsWrittenByAKernelAreOfOtherMatrices) {
    if (Context().compute_capability() != 90) GTEST_SKIP() << "needs compute capability 9.0a";
    constexpr int rows = 13, columns = 24, stride = 28, maps = 5, apart = 4 * stride + 4;
    Buffer<float> from(rows * stride + maps * apart), to(maps * 256);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
    Matrix<std::byte> memory(1, maps * sizeof(device::TileMap));
    auto* const written = reinterpret_cast<device::TileMap*>(memory.view().data);
    const auto like = device::map_tiles(from.data(), rows, columns, stride, 16, 16, "test", true);
    for (int round = 0; round < 3; ++round) {  // over those of the round before
        const float* const first = from.data() + round * 4;
        run(write_maps, 1, maps, written, like, first, apart);
        run(tile_of_written_map, maps, 32, to.data(), written, 2, 12);
        for (int i = 0; i < maps * 256; ++i) {
            const int r = i % 256 / 16, c = i % 16, row = 2 + r;
            const int column = 12 + (c / 4 ^ r / 2 % 4) * 4 + c % 4;
            const float expected = row < rows && column < columns
                                       ? from[static_cast<std::size_t>(round * 4 + i / 256 * apart +
                                                                       row * stride + column)]
                                       : 0.0f;
            EXPECT_EQ(to[static_cast<std::size_t>(i)], expected)
                << i / 256 << ": " << r << ", " << c;
        }
    }
}

TEST(Phases, AMapOfWhatTheCopyEngineCannotReadIsRefused) {
    Buffer<float> from(64);
    EXPECT_THROW(device::map_tiles(from.data() + 1, 4, 8, 8, 4, 8, "test"), Error);
    EXPECT_THROW(device::map_tiles(from.data(), 4, 7, 7, 4, 8, "test"), Error);
    EXPECT_THROW(device::map_tiles(from.data(), 4, 8, 8, 4, 260, "test"), Error);
    EXPECT_THROW(device::map_tiles(from.data(), 4, 8, 8, 4, 32, "test", true), Error);
}

/// A kind of number of 16 bits, as its definition says: `digits` significant bits, the last of
/// which is never worth less than 2^least; `largest` and what is nearer to it than to Inf stay
/// finite.
struct Narrow {
    int digits, least;
    double largest;
    static constexpr std::uint32_t sign = 0x8000;

    std::uint32_t infinity() const { return sign - (1u << (digits - 1)); }
    double value(std::uint32_t bits) const {
        const std::uint32_t magnitude = bits & ~sign;
        const auto exponent = static_cast<int>(magnitude >> (digits - 1));
        const std::uint32_t hidden = exponent > 0 ? 1u << (digits - 1) : 0;
        const double size = std::ldexp((magnitude & ((1u << (digits - 1)) - 1)) | hidden,
                                       std::max(exponent, 1) - 1 + least);
        return bits & sign ? -size : size;
    }
    std::uint32_t bits(float x) const {
        const double size = std::fabs(static_cast<double>(x));
        std::uint32_t magnitude = infinity();
        if (size < largest + std::ldexp(1, std::ilogb(largest) - digits)) {
            const int last = size > 0 ? std::max(std::ilogb(size) - (digits - 1), least) : least;
            const double rounded = std::nearbyint(std::ldexp(size, -last));
            // A subnormal's bits count its last place; each doubling adds 2^(digits - 1).
            magnitude = static_cast<std::uint32_t>(rounded) +
                        (static_cast<std::uint32_t>(last - least) << (digits - 1));
        }
        return magnitude | (std::signbit(x) ? sign : 0);
    }
};
const Narrow fp16{11, -24, 65504}, bf16{8, -133, 0x1.fep127};

struct Narrowed {
    std::uint16_t fp16, bf16;
    std::uint32_t fp16_pair, bf16_pair;
};
__global__ void narrow(Narrowed* to, const float* from, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const float x = from[i], next = from[(i + 1) % count];
    to[i] = {device::to_fp16(x), device::to_bf16(x), device::to_fp16_pair(x, next),
             device::to_bf16_pair(x, next)};
}

TEST(Narrow, RoundsToTheNearestAsTheDefinitionSays) {
    std::vector<float> all;
    // Around every number and every midpoint of two neighbours, and any bits.
    for (const Narrow& kind : {fp16, bf16})
        for (std::uint32_t bits = 0; bits < kind.infinity(); ++bits)
            for (const double x : {kind.value(bits), (kind.value(bits) + kind.value(bits + 1)) / 2})
                for (const int step : {-1, 0, 1}) {
                    const auto near = static_cast<std::uint32_t>(
                        static_cast<int>(std::bit_cast<std::uint32_t>(static_cast<float>(x))) +
                        step);
                    all.push_back(std::bit_cast<float>(near & 0x7FFFFFFF));
                    all.push_back(-all.back());
                }
    std::mt19937 random(1);
    for (int i = 0; i < 100000; ++i)
        all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    const int count = static_cast<int>(all.size());
    Buffer<float> from(all.size());
    Buffer<Narrowed> to(all.size());
    std::copy(all.begin(), all.end(), from.begin());
    run(narrow, (count + 255) / 256, 256, to.data(), from.data(), count);
    int wrong = 0;
    const auto expect = [&](std::uint32_t found, const Narrow& kind, float x) {
        const bool good =
            std::isnan(x) ? (found & ~Narrow::sign) > kind.infinity() : found == kind.bits(x);
        if (!good && ++wrong < 10) ADD_FAILURE() << x << " became " << std::hex << found;
    };
    for (int i = 0; i < count; ++i) {
        const Narrowed& found = to[i];
        const float next = from[(i + 1) % count];
        expect(found.fp16, fp16, from[i]);
        expect(found.bf16, bf16, from[i]);
        expect(found.fp16_pair & 0xFFFF, fp16, from[i]);
        expect(found.bf16_pair & 0xFFFF, bf16, from[i]);
        expect(found.fp16_pair >> 16, fp16, next);
        expect(found.bf16_pair >> 16, bf16, next);
    }
    EXPECT_EQ(wrong, 0);
}

struct Widened {
    float fp16, bf16, fp16_low, fp16_high, bf16_low, bf16_high;
};
__global__ void widen(Widened* to) {
    const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
    const auto narrow = static_cast<std::uint16_t>(bits);
    const std::uint32_t pair = (bits ^ 0x5A5A) << 16 | bits;
    Widened found;
    found.fp16 = device::from_fp16(narrow);
    found.bf16 = device::from_bf16(narrow);
    device::from_fp16_pair(pair, found.fp16_low, found.fp16_high);
    device::from_bf16_pair(pair, found.bf16_low, found.bf16_high);
    to[bits] = found;
}

TEST(Narrow, WidensEveryNumber) {
    Buffer<Widened> to(65536);
    run(widen, 256, 256, to.data());
    const auto expect = [](float found, const Narrow& kind, std::uint32_t bits) {
        if ((bits & ~Narrow::sign) > kind.infinity())
            EXPECT_TRUE(std::isnan(found)) << bits;
        else if ((bits & ~Narrow::sign) == kind.infinity())
            EXPECT_EQ(found, bits & Narrow::sign ? -HUGE_VALF : HUGE_VALF) << bits;
        else
            EXPECT_EQ(std::bit_cast<std::uint32_t>(found),
                      std::bit_cast<std::uint32_t>(static_cast<float>(kind.value(bits))))
                << bits;
    };
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const Widened& found = to[bits];
        expect(found.fp16, fp16, bits);
        expect(found.bf16, bf16, bits);
        expect(found.fp16_low, fp16, bits);
        expect(found.bf16_low, bf16, bits);
        expect(found.fp16_high, fp16, bits ^ 0x5A5A);
        expect(found.bf16_high, bf16, bits ^ 0x5A5A);
    }
}

TEST(Runtime, DeviceProperties) {
    const int device = device::current_device();
    EXPECT_GE(device, 0);
    const device::Guard guard(device);
    EXPECT_EQ(device::current_device(), device);
    EXPECT_GE(device::properties(device).compute_capability, 80);
    EXPECT_GT(device::properties(device).multiprocessors, 0);
    EXPECT_THROW(device::Guard(12345), Error);
}

TEST(Runtime, GridsEndAtTheLargestInt32) {
    EXPECT_EQ(device::grid(2147483647, "test"), 2147483647u);
    try {
        device::grid(2147483648, "test");
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        EXPECT_NE(std::string(error.what()).find("2147483648"), std::string::npos);
    }
}

constexpr Memory every_memory[] = {
    Memory::device,         Memory::device_pitched, Memory::pinned,  Memory::pinned_portable,
    Memory::write_combined, Memory::mapped,         Memory::managed,
};

__global__ void increment(float* data, std::size_t pitch, int columns) {
    for (int j = 0; j < columns; ++j)
        reinterpret_cast<float*>(reinterpret_cast<char*>(data) + pitch * threadIdx.x)[j] += 1;
}

TEST(Runtime, EveryMemoryIsReachedByKernelsAndCopies) {
    constexpr int rows = 5, columns = 7, host_columns = 9;
    constexpr std::size_t width = columns * sizeof(float);
    constexpr std::size_t host_pitch = host_columns * sizeof(float);
    const auto value_at = [](int i, int j) { return static_cast<float>(10 * i + j); };
    for (const Memory memory : every_memory) {
        SCOPED_TRACE(static_cast<int>(memory));
        std::size_t pitch = 0;
        void* data = device::allocate(memory, width, rows, sizeof(float), pitch);
        ASSERT_NE(data, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u);
        EXPECT_EQ(pitch % sizeof(float), 0u);
        if (memory == Memory::device_pitched) {
            EXPECT_GT(pitch, width);
        } else {
            EXPECT_EQ(pitch, width);
        }
        EXPECT_TRUE(device::reachable(data));

        std::vector<float> from(std::size_t{rows} * host_columns, -1), to(from);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) from[i * host_columns + j] = value_at(i, j);
        device::copy_2d(nullptr, data, pitch, from.data(), host_pitch, width, rows, "test");
        run(increment, 1, rows, static_cast<float*>(data), pitch, columns);
        device::copy_2d(nullptr, to.data(), host_pitch, data, pitch, width, rows, "test");
        device::synchronize(nullptr, "test");
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < host_columns; ++j)
                EXPECT_EQ(to[i * host_columns + j], j < columns ? value_at(i, j) + 1 : -1);
        device::release(memory, data);
    }
}

TEST(Runtime, AllocateRefusesWithAStatus) {
    std::size_t pitch = 0;
    const auto status = [&](Memory memory, std::size_t width, std::size_t element_size) {
        try {
            device::release(memory, device::allocate(memory, width, 3, element_size, pitch));
        } catch (const Error& error) {
            return error.status();
        }
        return Status::success;
    };
    EXPECT_EQ(status(Memory::device, 24, 12), Status::success);
    EXPECT_EQ(status(Memory::device_pitched, 24, 12), Status::invalid_argument);
    EXPECT_EQ(status(Memory::device, std::size_t{1} << 46, 1), Status::out_of_memory);
    EXPECT_EQ(status(Memory::device_pitched, std::size_t{1} << 46, 1), Status::out_of_memory);
    EXPECT_EQ(status(Memory::device, 24, 4), Status::success);
}

}  // namespace
}  // namespace tinyblas
