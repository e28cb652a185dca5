// SPDX-License-Identifier: MIT
// Device emulation finds planted bugs, says where they are, and works afterwards. For the emulated
// back end alone: on a GPU each of these kernels is undefined behaviour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <device.hpp>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device/emulation/fibers.hpp"
#include "device/emulation/sanitizer.hpp"
#include "tinyblas/error.hpp"

namespace tinyblas {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int threads = 64;

/// Rotates a line by one element: right in every order only with both barriers.
template <bool first_barrier, bool second_barrier>
__global__ void rotate(float* values, int times) {
    auto& line = device::shared<struct Line, float[threads]>();
    const unsigned i = threadIdx.x;
    float value = values[i];
    for (int time = 0; time < times; ++time) {
        line[i] = value;
        if (first_barrier) __syncthreads();
        value = line[(i + 1) % threads];
        if (second_barrier) __syncthreads();
    }
    values[i] = value;
}

template <class Kernel>
std::vector<float> rotated(Kernel kernel, unsigned schedule, int times) {
    std::vector<float> values(threads);
    for (int i = 0; i < threads; ++i) values[i] = static_cast<float>(i);
    device::set_schedule(schedule);
    device::launch("rotate", kernel, 1, threads, nullptr, values.data(), times);
    device::set_schedule(0);
    return values;
}

bool is_rotated(const std::vector<float>& values, int times) {
    for (int i = 0; i < threads; ++i)
        if (values[i] != static_cast<float>((i + times) % threads)) return false;
    return true;
}

/// What a launch with `large` bytes of shared memory reports.
template <class Kernel, class... Arguments>
std::string report_large(std::size_t large, Kernel kernel, dim3 grid, dim3 block,
                         Arguments... arguments) {
    std::string sentence = "no error";
    try {
        device::launch_large("planted", kernel, grid, block, large, nullptr, arguments...);
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::device_error);
        sentence = error.what();
    }
    EXPECT_TRUE(is_rotated(rotated(rotate<true, true>, 0, 3), 3)) << "after " << sentence;
    return sentence;
}

template <class Kernel, class... Arguments>
std::string report(Kernel kernel, dim3 grid, dim3 block, Arguments... arguments) {
    return report_large(0, kernel, grid, block, arguments...);
}

std::string place(int line) { return std::string(__FILE__) + ':' + std::to_string(line); }

TEST(MissingBarrier, ShowsInSomeOrder) {
    for (const unsigned schedule : {0, 1, 2, 3, 4}) {
        EXPECT_TRUE(is_rotated(rotated(rotate<true, true>, schedule, 5), 5)) << schedule;
        // Without the first, some thread reads what its neighbour has not written: NaN.
        const auto values = rotated(rotate<false, true>, schedule, 1);
        int unset = 0;
        for (const float value : values) unset += std::isnan(value) ? 1 : 0;
        EXPECT_GE(unset, schedule == 0 ? threads - 1 : 1) << schedule;
    }
    int wrong = 0;
    for (const unsigned schedule : {0, 1, 2, 3, 4})
        wrong += is_rotated(rotated(rotate<true, false>, schedule, 5), 5) ? 0 : 1;
    EXPECT_GE(wrong, 1);
}

__global__ void write_order(int* order, int* next) {
    order[(*next)++] = static_cast<int>(threadIdx.x);
    __syncthreads();
    order[(*next)++] = static_cast<int>(threadIdx.x);
}

TEST(Schedule, OrdersDifferAndRepeat) {
    std::set<std::vector<int>> orders;
    for (const unsigned schedule : {0, 1, 2, 3, 0, 1, 2, 3}) {
        std::vector<int> order(std::size_t{2} * threads);
        int next = 0;
        device::set_schedule(schedule);
        device::launch("order", write_order, 1, threads, nullptr, order.data(), &next);
        orders.insert(order);
        for (int i = 0; i < 2 * threads && schedule < 2; ++i)
            EXPECT_EQ(order[i], schedule == 0 ? i % threads : threads - 1 - i % threads);
        if (schedule >= 2) {
            EXPECT_NE(std::vector(order.begin(), order.begin() + threads),
                      std::vector(order.begin() + threads, order.end()));
        }
    }
    device::set_schedule(0);
    EXPECT_EQ(orders.size(), 4u);
}

struct Phased {
    alignas(128) float values[32];
    std::uint64_t barrier;
};
enum class Plant { nothing, no_wait, no_arrival, no_bytes, two_arrivals, twice, unmade, no_end };

constexpr int phase_line = __LINE__ + 16;
template <Plant plant>
__global__ void phased(float* to, const float* from) {
    auto& shared = device::shared<struct PhasedTag, Phased>();
    const auto barrier = device::SharedPointer<std::uint64_t>(&shared.barrier).address();
    const auto values = device::SharedPointer<float>(shared.values).address();
    if (threadIdx.x == 0 && plant != Plant::unmade) device::make_barrier(barrier, 1);
    if (threadIdx.x == 0 && plant == Plant::twice) device::make_barrier(barrier, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (plant != Plant::no_arrival) device::arrive_expecting(barrier, 128);
        if (plant == Plant::two_arrivals) device::arrive(barrier);
        if (plant != Plant::no_bytes) device::copy_bulk(values, from, 128, barrier);
        if (plant == Plant::no_end) return;
    }
    if (plant == Plant::no_end) return;
    if (plant != Plant::no_wait || threadIdx.x == 1) device::wait_for_phase(barrier, 0);
    to[threadIdx.x] = shared.values[threadIdx.x];
}

template <Plant plant>
std::string report_phased(std::vector<float>& to) {
    alignas(16) float from[32];
    for (int i = 0; i < 32; ++i) from[i] = static_cast<float>(i);
    to.assign(32, -1);
    return report(phased<plant>, 1, 32, to.data(), static_cast<const float*>(from));
}

TEST(Phases, MistakesAreNamed) {
    std::vector<float> to;
    EXPECT_EQ(report_phased<Plant::nothing>(to), "no error");
    EXPECT_EQ(to[31], 31);
    EXPECT_THAT(report_phased<Plant::no_arrival>(to),
                AllOf(HasSubstr("no thread can go on"), HasSubstr("lacks 1 arrivals and 0 bytes"),
                      HasSubstr(place(phase_line))));
    EXPECT_THAT(report_phased<Plant::no_bytes>(to), HasSubstr("lacks 0 arrivals and 128 bytes"));
    EXPECT_THAT(report_phased<Plant::two_arrivals>(to), HasSubstr("more arrivals than"));
    EXPECT_THAT(report_phased<Plant::twice>(to), HasSubstr("made twice"));
    EXPECT_THAT(report_phased<Plant::unmade>(to), HasSubstr("no barrier has been made"));
    EXPECT_THAT(report_phased<Plant::no_end>(to), HasSubstr("still on its way"));
}

enum class Leave { whole, odd_bytes, beside_vectors, beyond_room };

/// 32 elements by shared memory of as many, and from there by the copy engine.
template <Leave leave>
__global__ void leaving(float* to) {
    auto* const room = device::large_shared_array<float>(32);
    const auto first = device::SharedPointer<float>(room).address();
    device::store_element(first + threadIdx.x * sizeof(float), static_cast<float>(threadIdx.x));
    __syncthreads();
    float neighbour = 0;
    device::load_element(neighbour, first + (threadIdx.x ^ 1) * sizeof(float));
    device::publish_shared_to_copies();
    if (threadIdx.x == 0) {
        const unsigned bytes = leave == Leave::odd_bytes ? 120 : 128;
        device::store_bulk(to + (leave == Leave::beside_vectors ? 1 : 0),
                           first + (leave == Leave::beyond_room ? 16 : 0), bytes);
        device::wait_for_stores();
    }
    to[36 + threadIdx.x] = neighbour;
}

template <Leave leave>
std::string report_leaving(std::vector<float>& to) {
    struct alignas(16) Aligned {
        float values[68];
    };
    const auto all = std::make_unique<Aligned>();
    std::fill_n(all->values, 68, -1.0f);
    std::string sentence = "no error";
    try {
        device::launch_large("leaving", leaving<leave>, 1, 32, 32 * sizeof(float), nullptr,
                             static_cast<float*>(all->values));
    } catch (const Error& error) {
        sentence = error.what();
    }
    to.assign(all->values, all->values + 68);
    return sentence;
}

TEST(Phases, StoresOfTheCopyEngine) {
    std::vector<float> to;
    EXPECT_EQ(report_leaving<Leave::whole>(to), "no error");
    for (int i = 0; i < 32; ++i) {
        EXPECT_EQ(to[i], i);
        EXPECT_EQ(to[36 + i], i ^ 1);
    }
    EXPECT_EQ(to[32], -1);
    EXPECT_THAT(report_leaving<Leave::odd_bytes>(to), HasSubstr("not a multiple of 16"));
    EXPECT_THAT(report_leaving<Leave::beside_vectors>(to), HasSubstr("not a multiple of 16"));
    EXPECT_THAT(report_leaving<Leave::beyond_room>(to), HasSubstr("not in shared memory"));
}

TEST(Phases, AMissingWaitReadsNaN) {
    std::vector<float> to;
    const std::string sentence = report_phased<Plant::no_wait>(to);
#if defined(TINYBLAS_TRACED)
    EXPECT_THAT(sentence, HasSubstr("race"));
#else
    EXPECT_EQ(sentence, "no error");
    EXPECT_EQ(to[1], 1);
    EXPECT_TRUE(std::isnan(to[0]) && std::isnan(to[31]));
#endif
}

/// One row of 32 floats of a matrix, from this column on.
__global__ void copies_from(float* to, const __grid_constant__ device::TileMap map, int column) {
    auto& shared = device::shared<struct CopiesFromTag, Phased>();
    const auto barrier = device::SharedPointer<std::uint64_t>(&shared.barrier).address();
    device::make_barrier(barrier, 1);
    device::arrive_expecting(barrier, 128);
    device::copy_tile(device::SharedPointer<float>(shared.values).address(), map, 0, column,
                      barrier);
    device::wait_for_phase(barrier, 0);
    *to = shared.values[0];
}

TEST(Phases, TilesBeginAtMultiplesOf16Bytes) {
    alignas(16) float from[64];
    for (int i = 0; i < 64; ++i) from[i] = static_cast<float>(i);
    const auto map = device::map_tiles(from, 1, 64, 64, 1, 32, "test");
    float value = 0;
    EXPECT_EQ(report(copies_from, 1, 1, &value, map, 8), "no error");
    EXPECT_EQ(value, 8);
    for (const int column : {1, 2, 3, 9})
        EXPECT_THAT(report(copies_from, 1, 1, &value, map, column),
                    HasSubstr("column is not a multiple of 16 bytes"));
}

constexpr int divergent_line = __LINE__ + 3;
__global__ void divergent() {
    if (threadIdx.x < 3)  // NOLINT(bugprone-branch-clone): that is the bug
        __syncthreads();
    else
        __syncthreads();
}

TEST(DivergentBarrier, NamesBothPlaces) {
    EXPECT_THAT(report(divergent, dim3(2, 2), dim3(4, 2)),
                AllOf(HasSubstr("planted: divergent barrier"), HasSubstr(place(divergent_line)),
                      HasSubstr(place(divergent_line + 2)), HasSubstr("thread (0, 0, 0)"),
                      HasSubstr("thread (3, 0, 0)"), HasSubstr("block (0, 0, 0)")));
}

constexpr int mixed_line = __LINE__ + 3;
__global__ void barrier_and_shuffle(int* to) {
    if (blockIdx.x == 1 && threadIdx.x == 5)
        __syncthreads();
    else
        *to = __shfl_sync(0xFFFFFFFF, *to, 0);
}

TEST(DivergentBarrier, AgainstAShuffle) {
    int value = 1;
    EXPECT_THAT(report(barrier_and_shuffle, 2, 32, &value),
                AllOf(HasSubstr("divergent barrier"), HasSubstr(place(mixed_line)),
                      HasSubstr(place(mixed_line + 2)), HasSubstr("thread (5, 0, 0) waits"),
                      HasSubstr("mask 0xffffffff"), HasSubstr("block (1, 0, 0)")));
}

constexpr int mask_line = __LINE__ + 1;
__global__ void mask_without_caller() { __syncwarp(0x7FFFFFFF); }
__global__ void mask_without_source(int* to) { *to = __shfl_sync(0x0000FFFF, 1, 20); }
__global__ void mask_with_returned(int* to) {
    if (threadIdx.x == 9) return;
    *to = __shfl_down_sync(0xFFFFFFFF, 1, 1u);
}
__global__ void mask_beyond_block(int* to) { *to = __shfl_xor_sync(0xFFFFFFFF, 1, 1); }
__global__ void masks_disagree(unsigned* to) {
    *to = __ballot_sync(threadIdx.x == 0 ? 0xFFFFFFFF : 0x0000FFFF, 1);
}
__global__ void places_disagree(int* to) {
    if (threadIdx.x % 2 == 0)  // NOLINT(bugprone-branch-clone)
        *to = __any_sync(0xFFFFFFFF, 1);
    else
        *to = __any_sync(0xFFFFFFFF, 1);
}
__global__ void width_of_twelve(int* to) { *to = __shfl_sync(0xFFFFFFFF, 1, 1, 12); }

TEST(WrongMask, IsReported) {
    int value = 0;
    unsigned votes = 0;
    EXPECT_THAT(report(mask_without_caller, 1, 64),
                AllOf(HasSubstr("does not name the lane that calls"), HasSubstr(place(mask_line)),
                      HasSubstr("thread (31, 0, 0)")));
    EXPECT_THAT(report(mask_without_source, 1, 16, &value), HasSubstr("does not name lane 20"));
    EXPECT_THAT(report(mask_with_returned, 1, 32, &value),
                AllOf(HasSubstr("mask 0xffffffff"), HasSubstr("thread (9, 0, 0) has returned")));
    EXPECT_THAT(report(mask_beyond_block, 1, 48, &value), HasSubstr("no lane 16 in this warp"));
    EXPECT_THAT(report(masks_disagree, 1, 16, &votes), HasSubstr("wrong mask"));
    EXPECT_THAT(
        report(places_disagree, 1, 32, &value),
        AllOf(HasSubstr("lane 1 does not"), HasSubstr("thread (1, 0, 0) waits at a ballot")));
    EXPECT_THAT(report(width_of_twelve, 1, 32, &value), HasSubstr("power of two"));
}

__global__ void overrun(int past, float* to) {
    auto& line = device::shared<struct Overrun, float[threads]>();
    float* first = line;
    first[static_cast<int>(threadIdx.x) + past] = 1;
    __syncthreads();
    *to = first[0];
}

TEST(Overrun, OfSharedMemoryIsFound) {
    float value = 0;
    EXPECT_EQ(report(overrun, 1, threads, 0, &value), "no error");
#if defined(TINYBLAS_ADDRESS_SANITIZER)
    EXPECT_DEATH(device::launch("planted", overrun, 1, threads, nullptr, 1, &value),
                 "heap-buffer-overflow");
#else
    EXPECT_THAT(report(overrun, 1, threads, 1, &value),
                AllOf(HasSubstr("past the end of shared memory (256 bytes"), HasSubstr("Overrun")));
#endif
}

__global__ void too_much_shared(float* to) {
    auto& some = device::shared<struct Some, float[6 * 1024]>();
    auto& more = device::shared<struct More, float[6 * 1024 + 1]>();
    some[0] = more[0] = *to;
}

TEST(SharedMemory, EndsAt48KiB) {
    float value = 0;
    EXPECT_THAT(report(too_much_shared, 1, 1, &value),
                HasSubstr("of 49156 bytes exceeds the 49152 of a declaration"));
    EXPECT_THAT(report_large(64 << 10, too_much_shared, 1, 1, &value),
                HasSubstr("of 49156 bytes exceeds the 49152 of a declaration"));
}

struct Large {
    float values[16 * 1024];  // 64 KB
};
constexpr int large_size = sizeof(Large) / sizeof(float);

/// Counts the NaNs that each block finds before it writes; `past` is written past the end.
__global__ void use_large(int past, int* nans) {
    float* line = device::large_shared<Large>().values;
    for (int i = static_cast<int>(threadIdx.x); i < large_size; i += threads) {
        nans[blockIdx.x] += std::isnan(line[i]) ? 1 : 0;
        line[i] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 5) line[large_size - 1 + past] = 2;
}

TEST(LargeShared, IsNaNInEveryBlockAndEndsWhereItsLaunchSays) {
    std::vector<int> nans(3);
    EXPECT_EQ(report_large(sizeof(Large), use_large, 3, threads, 0, nans.data()), "no error");
    EXPECT_EQ(nans, std::vector<int>(3, large_size));
    EXPECT_THAT(
        report_large(sizeof(Large) - 16, use_large, 1, threads, 0, nans.data()),
        AllOf(HasSubstr("planted: "), HasSubstr("of 65536 bytes exceeds the 65520 of its launch")));
    EXPECT_THAT(report(use_large, 1, threads, 0, nans.data()),
                HasSubstr("of 65536 bytes exceeds the 0 of its launch"));
}

TEST(LargeShared, OverrunsAreFound) {
    int nans = 0;
#if defined(TINYBLAS_ADDRESS_SANITIZER)
    EXPECT_DEATH(
        device::launch_large("planted", use_large, 1, threads, sizeof(Large), nullptr, 1, &nans),
        "heap-buffer-overflow");
#else
    EXPECT_THAT(report_large(sizeof(Large), use_large, 1, threads, 1, &nans),
                HasSubstr("past the end of shared memory (65536 bytes"));
#endif
}

__global__ void read_unset(float* to) {
    auto& line = device::shared<struct Unset, float[threads]>();
    if (threadIdx.x != 7) line[threadIdx.x] = 1;
    __syncthreads();
    to[blockIdx.x * threads + threadIdx.x] = line[threadIdx.x];
    __syncthreads();
    line[threadIdx.x] = 1;  // must not help the next block
}

TEST(SharedMemory, UnsetIsNaNInEveryBlock) {
    std::vector<float> values(std::size_t{3} * threads);
    EXPECT_EQ(report(read_unset, 3, threads, values.data()), "no error");
    for (int i = 0; i < 3 * threads; ++i) EXPECT_EQ(std::isnan(values[i]), i % threads == 7) << i;
}

template <bool close, bool wait>
__global__ void copy_carelessly(float* to, const float* from) {
    auto& line = device::shared<struct Careless, float[threads]>();
    line[threadIdx.x] = 1;
    device::copy_async<1>(device::SharedPointer<float>(&line[threadIdx.x]), from + threadIdx.x);
    if (close) device::close_copy_group();
    if (wait) device::wait_for_copies<0>();
    __syncthreads();
    to[threadIdx.x] = line[threadIdx.x];
}

TEST(CopyAsync, IsNotThereBeforeItsWait) {
    const std::vector<float> from(threads, 2);
    const auto arrived = [&](auto kernel) {
        std::vector<float> to(threads);
        EXPECT_EQ(report(kernel, 1, threads, to.data(), from.data()), "no error");
        for (const float value : to) EXPECT_TRUE(value == 2 || std::isnan(value));
        return to[0] == 2;
    };
    EXPECT_TRUE(arrived(copy_carelessly<true, true>));
    EXPECT_FALSE(arrived(copy_carelessly<true, false>));
    EXPECT_FALSE(arrived(copy_carelessly<false, true>));
}

__global__ void copy_wrongly(int offset, int valid, const float* from) {
    auto& line = device::shared<struct Wrongly, float[threads]>();
    device::copy_async<4>(device::SharedPointer<float>(line) + offset, from, valid);
}
__global__ void point_at(float* global) { device::SharedPointer<float>{global}; }

TEST(CopyAsync, ChecksItsAddresses) {
    alignas(16) float from[8] = {};
    EXPECT_EQ(report(copy_wrongly, 1, 1, 0, 4, &from[4]), "no error");
    EXPECT_THAT(report(copy_wrongly, 1, 1, 0, 4, &from[1]), HasSubstr("multiple of 16 bytes"));
    EXPECT_THAT(report(copy_wrongly, 1, 1, 2, 4, &from[0]), HasSubstr("multiple of 16 bytes"));
    EXPECT_THAT(report(copy_wrongly, 1, 1, threads, 4, &from[0]),
                HasSubstr("not in shared memory"));
    EXPECT_THAT(report(copy_wrongly, 1, 1, 0, 5, &from[0]), HasSubstr("read 5 of 4 elements"));
    EXPECT_THAT(report(copy_wrongly, 1, 1, 0, -1, &from[0]), HasSubstr("read -1 of 4 elements"));
    EXPECT_THAT(report(point_at, 1, 1, &from[0]), HasSubstr("not in shared memory"));
}

constexpr int vector_line = __LINE__ + 3;
__global__ void move_vector(float* to, const float* from) {
    float values[4];
    device::load_vector(values, from);
    device::store_vector(to, values);
}

TEST(Vectors, MisalignedAddressesAreReported) {
    alignas(16) float line[16] = {};
    EXPECT_EQ(report(move_vector, 1, 1, &line[0], &line[4]), "no error");
    EXPECT_THAT(report(move_vector, 1, 1, &line[0], &line[5]),
                AllOf(HasSubstr("multiple of 16 bytes"), HasSubstr(place(vector_line))));
    EXPECT_THAT(report(move_vector, 1, 1, &line[2], &line[4]), HasSubstr(place(vector_line + 1)));
}

struct Counted {
    explicit Counted(int* count) : count(count) { ++*count; }
    ~Counted() {
        __syncthreads();  // even this must not keep the thread from ending
        --*count;
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    int* count;
};

__global__ void throw_late(int* alive, int* most, int what) {
    const Counted counted(alive);
    *most = *alive > *most ? *alive : *most;
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 33) {
        if (what == 0) throw std::runtime_error("the sky fell");
        if (what == 1) throw 42;
        if (what == 2) device::launch("inner", divergent, 1, 1, nullptr);
    }
    __syncthreads();
}

TEST(Exceptions, LeaveAKernelAsAnErrorAndUnwindAllThreads) {
    const char* const said[] = {"an exception left the kernel: the sky fell",
                                "an exception left the kernel", "a kernel cannot launch inner"};
    for (const unsigned schedule : {0, 1, 2})
        for (int what = 0; what < 3; ++what) {
            int alive = 0, most = 0;
            device::set_schedule(schedule);
            EXPECT_THAT(report(throw_late, 3, threads, &alive, &most, what),
                        AllOf(HasSubstr("planted: "), HasSubstr(said[what]),
                              HasSubstr("thread (33, 0, 0) of block (1, 0, 0)")));
            EXPECT_EQ(most, threads);
            EXPECT_EQ(alive, 0);
        }
}

TEST(Exceptions, LaunchesWorkWhileAnotherExceptionIsInFlight) {
    struct LaunchAtEnd {
        int* alive;
        ~LaunchAtEnd() {
            int most = 0;
            EXPECT_THAT(report(throw_late, 3, threads, alive, &most, 0), HasSubstr("the sky fell"));
        }
    };
    int alive = 0;
    try {
        const LaunchAtEnd at_end{&alive};
        throw 1;
    } catch (int) {
        EXPECT_EQ(alive, 0);
    }
}

TEST(HostCode, CannotUseTheWordsOfKernels) {
    EXPECT_THROW(__syncthreads(), Error);
    EXPECT_THROW((device::shared<struct Host, int[4]>()), Error);
    alignas(16) float line[8] = {};
    EXPECT_THROW(move_vector(&line[0], &line[1]), Error);
}

TEST(Threads, RunKernelsAtOnce) {
    std::vector<std::thread> hosts;
    std::vector<int> right(4);
    for (unsigned host = 0; host < 4; ++host)
        hosts.emplace_back([&right, host] {
            for (int repeat = 0; repeat < 20; ++repeat)
                right[host] += is_rotated(rotated(rotate<true, true>, host, 7), 7) ? 1 : 0;
            const std::string sentence = report(divergent, 1, 8);
            right[host] += sentence.find("divergent barrier") != std::string::npos ? 1 : 0;
        });
    for (std::thread& host : hosts) host.join();
    EXPECT_EQ(right, std::vector<int>(4, 21));
}

}  // namespace
}  // namespace tinyblas
