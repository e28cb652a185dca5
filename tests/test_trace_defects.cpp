// SPDX-License-Identifier: MIT
// The traced build finds planted races, unset memory and accesses out of bounds, says where both
// sides are, and lets pass what is ordered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <device.hpp>
#include <string>

#include "device/runtime.hpp"
#include "tinyblas/context.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int threads = 64;
const std::string no_error = "no error";

/// Elements that the host sets to 0.
template <class T>
class Zeros {
  public:
    explicit Zeros(std::int64_t size) : memory_(1, size, Memory::managed) {
        for (std::int64_t i = 0; i < size; ++i) memory_(0, i) = T(0);
    }
    T* data() { return memory_.view().data; }

  private:
    Matrix<T> memory_;
};

__global__ void rotate(float* values) {
    auto& line = device::shared<struct Rotated, float[threads]>();
    line[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = line[(threadIdx.x + 1) % threads];
}

/// What a launch reports; the next one must work.
template <class Launch>
std::string report_of(Launch&& launch) {
    std::string sentence = no_error;
    try {
        launch();
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::device_error);
        sentence = error.what();
    }
    Zeros<float> values(threads);
    values.data()[1] = 1;
    device::launch("rotate", rotate, 1, threads, nullptr, values.data());
    EXPECT_EQ(values.data()[0], 1) << "after " << sentence;
    return sentence;
}
template <class... Parameters, class... Arguments>
std::string report(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   const Arguments&... arguments) {
    return report_of(
        [&] { device::launch("planted", kernel, grid, block, nullptr, arguments...); });
}

std::string place(int line) { return "test_trace_defects.cpp:" + std::to_string(line) + ")"; }

// --- Races in shared memory ----------------------------------------------------------------------

constexpr int barriers_line = __LINE__ + 4;
template <bool first, bool second>
__global__ void rotate_twice(float* values) {
    auto& line = device::shared<struct Line, float[threads]>();
    line[threadIdx.x] = values[threadIdx.x];
    if (first) __syncthreads();
    const float value = line[(threadIdx.x + threads - 1) % threads];
    if (second) __syncthreads();
    line[threadIdx.x] = value + 1;
    __syncthreads();
    values[threadIdx.x] = line[threads - 1 - threadIdx.x];
}

TEST(Race, MissingBarriersAreFoundInEveryOrder) {
    Zeros<float> values(threads);
    for (const unsigned schedule : {0, 1, 2, 3}) {
        device::set_schedule(schedule);
        EXPECT_EQ(report(rotate_twice<true, true>, 1, threads, values.data()), no_error);
        EXPECT_THAT(report(rotate_twice<true, false>, 1, threads, values.data()),
                    AllOf(HasSubstr("planted: race: a "), HasSubstr("of 4 bytes of shared memory"),
                          HasSubstr(place(barriers_line + 2)), HasSubstr(place(barriers_line + 4)),
                          HasSubstr("with no barrier in between, thread ("),
                          HasSubstr("of block (0, 0, 0)")));
        // Whoever reads first finds nothing, or what others wrote without a barrier.
        EXPECT_THAT(report(rotate_twice<false, true>, 1, threads, values.data()),
                    testing::AnyOf(AllOf(HasSubstr("race: "), HasSubstr(place(barriers_line)),
                                         HasSubstr(place(barriers_line + 2))),
                                   AllOf(HasSubstr("unset memory: a read of 4 bytes of shared"),
                                         HasSubstr(place(barriers_line + 2)))));
    }
    device::set_schedule(0);
}

TEST(Race, NamesBothThreadsAndBothPlaces) {
    Zeros<float> values(threads);
    EXPECT_THAT(report(rotate_twice<true, false>, 1, threads, values.data()),
                AllOf(HasSubstr("race: a read of 4 bytes of shared memory"),
                      HasSubstr(place(barriers_line + 2) + " that thread (0, 0, 0) wrote"),
                      HasSubstr(place(barriers_line + 4) + " with no barrier"),
                      HasSubstr("thread (1, 0, 0) of block (0, 0, 0)")));
}

constexpr int both_line = __LINE__ + 3;
__global__ void all_write_one(int* to) {
    auto& sum = device::shared<struct One, int>();
    sum = static_cast<int>(threadIdx.x);
    __syncthreads();
    to[threadIdx.x] = sum;
}

TEST(Race, OfTwoWrites) {
    Zeros<int> to(threads);
    EXPECT_EQ(report(all_write_one, 1, 1, to.data()), no_error);
    EXPECT_THAT(report(all_write_one, 1, threads, to.data()),
                AllOf(HasSubstr("race: a write of 4 bytes of shared memory"),
                      HasSubstr("thread (0, 0, 0) wrote"), HasSubstr(place(both_line)),
                      HasSubstr("thread (1, 0, 0) of block")));
}

enum class Between { nothing, barrier, shuffle, halves };

/// A warp turns a line round without the block's barrier.
template <Between between>
__global__ void reverse_in_warps(int* to) {
    auto& line = device::shared<struct OfWarps, int[threads]>();
    const unsigned lane = threadIdx.x % 32, first = threadIdx.x - lane;
    line[threadIdx.x] = static_cast<int>(threadIdx.x);
    int shuffled = 0;
    if (between == Between::barrier) __syncwarp();
    if (between == Between::shuffle) shuffled = __shfl_xor_sync(0xFFFFFFFF, 1, 31);
    if (between == Between::halves) __syncwarp(lane < 16 ? 0x0000FFFFu : 0xFFFF0000u);
    const unsigned last = between == Between::halves && lane < 16 ? 15 : 31;
    const unsigned begin = between == Between::halves && lane >= 16 ? 16 : 0;
    to[threadIdx.x] = line[first + last - (lane - begin)] + shuffled;
}

TEST(Race, LanesOfAWarpAreOrderedBySyncwarpAlone) {
    Zeros<int> to(threads);
    EXPECT_EQ(report(reverse_in_warps<Between::barrier>, 1, threads, to.data()), no_error);
    EXPECT_EQ(report(reverse_in_warps<Between::halves>, 1, threads, to.data()), no_error);
    EXPECT_THAT(report(reverse_in_warps<Between::shuffle>, 1, threads, to.data()),
                AllOf(HasSubstr("race: a read"), HasSubstr("wrote"), HasSubstr("no barrier")));
    EXPECT_NE(report(reverse_in_warps<Between::nothing>, 1, threads, to.data()), no_error);
}

/// Each warp reads the sum that the other one left.
template <bool block_wide>
__global__ void sum_of_warps(int* to) {
    auto& sums = device::shared<struct Sums, int[2]>();
    int sum = static_cast<int>(threadIdx.x);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    if (block_wide)
        __syncthreads();
    else
        __syncwarp();
    to[threadIdx.x] = sums[0] + sums[1];
}

TEST(Race, WarpsAreOrderedByTheBlocksBarrier) {
    Zeros<int> to(threads);
    EXPECT_EQ(report(sum_of_warps<true>, 1, threads, to.data()), no_error);
    EXPECT_EQ(to.data()[5], 63 * 64 / 2);
    EXPECT_NE(report(sum_of_warps<false>, 1, threads, to.data()), no_error);
}

/// Lane pairs (0, 1), then (1, 2): lane 2 hears of lane 0 through lane 1.
template <bool through>
__global__ void pass_on(int* to) {
    auto& word = device::shared<struct Passed, int>();
    if (threadIdx.x == 0) word = 7;
    if (threadIdx.x < 2 && through) __syncwarp(0b011);
    if (threadIdx.x > 0) __syncwarp(0b110);
    if (threadIdx.x == 2) *to = word;
}

TEST(Race, OrderPassesFromLaneToLane) {
    Zeros<int> to(1);
    EXPECT_EQ(report(pass_on<true>, 1, 3, to.data()), no_error);
    EXPECT_THAT(report(pass_on<false>, 1, 3, to.data()), HasSubstr("race: a read"));
}

template <class T>
__global__ void neighbours(T* to) {
    auto& line = device::shared<struct Small, T[threads]>();
    line[threadIdx.x] = static_cast<T>(threadIdx.x);
    __syncthreads();
    to[threadIdx.x] = line[threads - 1 - threadIdx.x];
    line[threads - 1 - threadIdx.x] = 0;
}

TEST(Race, ThereIsNoneBetweenHalvesOfAWord) {
    Zeros<std::uint8_t> bytes(threads);
    Zeros<std::uint16_t> halves(threads);
    EXPECT_EQ(report(neighbours<std::uint8_t>, 1, threads, bytes.data()), no_error);
    EXPECT_EQ(report(neighbours<std::uint16_t>, 1, threads, halves.data()), no_error);
    EXPECT_EQ(bytes.data()[0], threads - 1);
}

constexpr int early_line = __LINE__ + 5;
template <bool early>
__global__ void copy_and_read(float* to, const float* from) {
    auto& line = device::shared<struct Arriving, float[threads]>();
    const device::SharedPointer<float> target(line);
    device::copy_async<1>(target + static_cast<int>(threadIdx.x), from + threadIdx.x);
    device::close_copy_group();
    if (early) __syncthreads();
    if (!early) device::wait_for_copies<0>();
    if (!early) __syncthreads();
    to[threadIdx.x] = line[threads - 1 - threadIdx.x];
    device::wait_for_copies<0>();
}

TEST(Race, OfAReadWithACopyUnderWay) {
    Zeros<float> from(threads), to(threads);
    EXPECT_EQ(report(copy_and_read<false>, 1, threads, to.data(), from.data()), no_error);
    EXPECT_THAT(
        report(copy_and_read<true>, 1, threads, to.data(), from.data()),
        AllOf(HasSubstr("race: "), HasSubstr(place(early_line)), HasSubstr(place(early_line + 5))));
}

// --- Races in global memory ----------------------------------------------------------------------

template <bool barrier>
__global__ void rotate_in_place(float* values) {
    const float value = values[(threadIdx.x + 1) % threads];
    if (barrier) __syncthreads();
    values[threadIdx.x] = value;
}
constexpr int shift_line = __LINE__ + 1;
__global__ void write_shifted(float* to) { to[blockIdx.x * (threads - 1) + threadIdx.x] = 1; }
__global__ void count_turns(unsigned* counter) { device::take_turn(counter, 1000); }

TEST(GlobalRace, InABlockAndBetweenBlocks) {
    Zeros<float> values(2 * threads);
    Zeros<unsigned> counter(1);
    EXPECT_EQ(report(rotate_in_place<true>, 1, threads, values.data()), no_error);
    EXPECT_THAT(report(rotate_in_place<false>, 1, threads, values.data()),
                AllOf(HasSubstr("race: a "), HasSubstr("of global memory")));
    EXPECT_EQ(report(write_shifted, 1, threads, values.data()), no_error);
    EXPECT_THAT(
        report(write_shifted, 2, threads, values.data()),
        AllOf(HasSubstr("race between blocks: a write of 4 bytes of global memory"),
              HasSubstr("thread (63, 0, 0) of block (0, 0, 0) wrote"), HasSubstr(place(shift_line)),
              HasSubstr("thread (0, 0, 0) of block (1, 0, 0)")));
    EXPECT_EQ(report(count_turns, 3, threads, counter.data()), no_error);
    EXPECT_EQ(counter.data()[0], 3u * threads);
}

enum class Turn { none, before, after };

/// Each block leaves its number, the last one adds all up, and leaves the sum in its place.
constexpr int left_line = __LINE__ + 4;
template <Turn taken>
__global__ void add_numbers(unsigned* numbers, unsigned* counter) {
    if (taken == Turn::before) device::take_turn(counter, 1000);
    numbers[blockIdx.x] = blockIdx.x;
    if (taken == Turn::after) device::take_turn(counter, 1000);
    if (blockIdx.x + 1 < gridDim.x) return;
    unsigned sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += numbers[block];
    numbers[0] = sum;
}

TEST(GlobalRace, BlocksAreOrderedByTurnsAlone) {
    Zeros<unsigned> numbers(8), counter(1);
    EXPECT_EQ(report(add_numbers<Turn::after>, 8, 1, numbers.data(), counter.data()), no_error);
    EXPECT_EQ(numbers.data()[0], 28u);
    EXPECT_THAT(
        report(add_numbers<Turn::none>, 8, 1, numbers.data(), counter.data()),
        AllOf(HasSubstr("race between blocks: a read of 4 bytes of global memory"),
              HasSubstr(place(left_line + 4)), HasSubstr("of block (0, 0, 0) wrote"),
              HasSubstr(place(left_line)), HasSubstr("thread (0, 0, 0) of block (7, 0, 0)")));
    EXPECT_NE(report(add_numbers<Turn::before>, 8, 1, numbers.data(), counter.data()), no_error);
}

/// Block 0 hears of no one, 1 of 0 by the first counter, 2 of 1 by the second: so of 0.
template <bool through>
__global__ void pass_on_by_turns(int* to, unsigned* counters) {
    if (blockIdx.x == 0) *to = 7;
    if (blockIdx.x < 2 && through) device::take_turn(counters, 1000);
    if (blockIdx.x > 0) device::take_turn(counters + 1, 1000);
    if (blockIdx.x == 2) *to += 1;
}

TEST(GlobalRace, OrderPassesFromBlockToBlock) {
    Zeros<int> to(1);
    Zeros<unsigned> counters(2);
    EXPECT_EQ(report(pass_on_by_turns<true>, 3, 1, to.data(), counters.data()), no_error);
    EXPECT_EQ(to.data()[0], 8);
    EXPECT_THAT(report(pass_on_by_turns<false>, 3, 1, to.data(), counters.data()),
                HasSubstr("race between blocks: a read"));
}

// --- Memory that what is ahead may still use -----------------------------------------------------

constexpr int early_access_line = __LINE__ + 3;
__global__ void add_one(float* values, unsigned hasty) {
    if (threadIdx.x != hasty) device::wait_for_launcher();
    values[threadIdx.x] += 1;
    device::wait_for_launcher();  // too late
}

TEST(Early, MemoryIsTouchedOnceWhatIsAheadHasEnded) {
    Zeros<float> values(threads);
    const auto dependent = [&](unsigned hasty) {
        return report_of([&] {
            device::launch_dependent("planted", add_one, 1, threads, nullptr, values.data(), hasty);
        });
    };
    EXPECT_EQ(dependent(threads), no_error);
    EXPECT_THAT(dependent(7),
                AllOf(HasSubstr("planted: too early: a read of 4 bytes of global memory"),
                      HasSubstr(place(early_access_line) + " before wait_for_launcher()"),
                      HasSubstr("thread (7, 0, 0) of block (0, 0, 0)")));
    EXPECT_EQ(report(add_one, 1, threads, values.data(), 7u), no_error);  // a plain launch
}

// --- Unset memory --------------------------------------------------------------------------------

constexpr int unset_line = __LINE__ + 6;
template <bool everywhere>
__global__ void read_unset(int* to) {
    auto& line = device::shared<struct Unset, int[threads]>();
    if (everywhere || (blockIdx.x == 0 && threadIdx.x != 7)) line[threadIdx.x] = -1;
    __syncthreads();
    to[blockIdx.x * threads + threadIdx.x] = line[threadIdx.x];
    __syncthreads();
    line[threadIdx.x] = -1;  // must not help the next block
}

TEST(Unset, SharedMemoryIsInEveryBlock) {
    Zeros<int> to(2 * threads);
    EXPECT_EQ(report(read_unset<true>, 2, threads, to.data()), no_error);
    EXPECT_THAT(
        report(read_unset<false>, 2, threads, to.data()),
        AllOf(HasSubstr("unset memory: a read of 4 bytes of shared memory"),
              HasSubstr(place(unset_line)), HasSubstr("thread (7, 0, 0) of block (0, 0, 0)")));
}

constexpr int copy_line = __LINE__ + 3;
template <class T>
__global__ void copy_line_of(T* to, const T* from) {
    to[threadIdx.x] = from[threadIdx.x];
}

TEST(Unset, GlobalMemoryIsUntilHostCopyOrKernelWriteIt) {
    Context context;
    Matrix<float> never(1, threads, Memory::managed), device(1, threads), host(1, threads),
        to(1, threads);
    const auto copied = [&](Matrix<float>& from) {
        return report(copy_line_of<float>, 1, threads, to.view().data, from.view().data);
    };
    EXPECT_THAT(copied(never),
                AllOf(HasSubstr("unset memory: a read of 4 bytes of global memory that nothing has "
                                "written"),
                      HasSubstr(place(copy_line)), HasSubstr("thread (0, 0, 0) of block")));
    for (int i = 0; i < threads; ++i) never(0, i) = -1;
    EXPECT_EQ(copied(never), no_error);
    EXPECT_NE(copied(device), no_error);
    copy(context, never.view(), device);
    EXPECT_EQ(copied(device), no_error);
    EXPECT_EQ(report(copy_line_of<float>, 1, threads, host.view().data, device.view().data),
              no_error);
    EXPECT_EQ(copied(host), no_error);
    Matrix<double> pairs(1, threads);
    EXPECT_THAT(report(copy_line_of<double>, 1, threads, pairs.view().data, pairs.view().data),
                HasSubstr("unset memory: a read of 8 bytes"));
}

// --- Out of bounds -------------------------------------------------------------------------------

constexpr int outside_line = __LINE__ + 5;
__global__ void reach(int* to, int first_read, int first_write) {
    auto& line = device::shared<struct Reached, int[threads]>();
    int* const words = line;
    const int i = static_cast<int>(threadIdx.x);
    words[i + first_write] = i;
    __syncthreads();
    to[i] = words[i + first_read];
}

TEST(OutOfBounds, OfSharedMemory) {
    Zeros<int> to(threads);
    EXPECT_EQ(report(reach, 1, threads, to.data(), 0, 0), no_error);
    EXPECT_THAT(report(reach, 1, threads, to.data(), 0, 1),
                AllOf(HasSubstr("out of bounds: a write of 4 bytes 0 bytes past the end of shared "
                                "memory (256 bytes"),
                      HasSubstr("Reached"), HasSubstr(place(outside_line)),
                      HasSubstr("thread (63, 0, 0) of block (0, 0, 0)")));
    EXPECT_THAT(report(reach, 1, threads, to.data(), 0, -2),
                AllOf(HasSubstr("8 bytes before the start of shared memory"),
                      HasSubstr(place(outside_line)), HasSubstr("thread (0, 0, 0)")));
    EXPECT_THAT(report(reach, 1, threads, to.data(), 500, 0),
                AllOf(HasSubstr("a read of 4 bytes 1744 bytes past the end of shared memory"),
                      HasSubstr(place(outside_line + 2)), HasSubstr("thread (0, 0, 0)")));
}

TEST(OutOfBounds, OfAnAllocation) {
    Zeros<float> from(threads), to(threads);
    EXPECT_THAT(report(copy_line_of<float>, 1, threads, to.data(), from.data() + 3),
                AllOf(HasSubstr("out of bounds: a read of 4 bytes 0 bytes past the end of global "
                                "memory (an allocation of 256 bytes)"),
                      HasSubstr(place(copy_line)), HasSubstr("thread (61, 0, 0)")));
    EXPECT_THAT(report(copy_line_of<float>, 1, threads, to.data() - 1, from.data()),
                AllOf(HasSubstr("a write of 4 bytes 4 bytes before the start of global memory"),
                      HasSubstr("thread (0, 0, 0)")));
}

TEST(HostCode, IsNotWatched) {
    Matrix<float> unset(1, threads, Memory::managed);
    float sum = 0;
    for (int i = 0; i < threads; ++i) sum += unset(0, i);
    EXPECT_NE(sum, 0);
}

}  // namespace
}  // namespace tinyblas
