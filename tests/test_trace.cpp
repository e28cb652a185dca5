// SPDX-License-Identifier: MIT
// The traced build counts what kernels ask of memory: planted kernels whose counts are known from
// the hardware's rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <device.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "device/emulation/trace.hpp"
#include "device/emulation/trace_model.hpp"
#include "device/runtime.hpp"
#include "tinyblas/error.hpp"
#include "tinyblas/matrix.hpp"

namespace tinyblas {
namespace {

using device::Access;
using device::Space;
using device::TracedLaunch;
using device::TraceRow;
using testing::AllOf;
using testing::HasSubstr;

constexpr unsigned lanes = 32;

/// Elements of a managed allocation, from a multiple of 256 bytes on: 0 1 2 ...
template <class T>
class Numbers {
  public:
    explicit Numbers(std::int64_t size) : memory_(1, size, Memory::managed) {
        for (std::int64_t i = 0; i < size; ++i) memory_(0, i) = static_cast<T>(i);
    }
    T* data() { return memory_.view().data; }

  private:
    Matrix<T> memory_;
};

/// What one launch asks for.
template <class... Parameters, class... Arguments>
TracedLaunch traced(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                    const Arguments&... arguments) {
    device::Trace trace;
    device::launch("planted", kernel, grid, block, nullptr, arguments...);
    auto launches = trace.take();
    EXPECT_EQ(launches.size(), 1u);
    return launches.at(0);
}

/// The rows of one kind.
std::vector<TraceRow> rows(const TracedLaunch& launch, Space space, Access access) {
    std::vector<TraceRow> found;
    for (const TraceRow& row : launch.rows)
        if (row.space == space && row.access == access) found.push_back(row);
    return found;
}
/// The only one.
TraceRow row(const TracedLaunch& launch, Space space, Access access) {
    const auto found = rows(launch, space, access);
    EXPECT_EQ(found.size(), 1u) << launch;
    return found.empty() ? TraceRow{} : found.front();
}

constexpr int move_line = __LINE__ + 4;
template <class T>
__global__ void move(T* to, const T* from, int stride) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    to[i] = from[i * stride];
}

TEST(Sectors, OfUnitStrideAreTheBytesAskedFor) {
    Numbers<float> from(256), to(256);
    const auto launch = traced(move<float>, 2, 128, to.data(), from.data(), 1);
    for (const Access access : {Access::read, Access::write}) {
        const TraceRow found = row(launch, Space::global, access);
        EXPECT_THAT(found.file, testing::EndsWith("tests/test_trace.cpp"));
        EXPECT_EQ(found.line, move_line);
        EXPECT_EQ(found.bytes, 4u);
        EXPECT_EQ(found.requests, 8u);
        EXPECT_EQ(found.threads, 256u);
        EXPECT_EQ(found.sectors, 8u * 4);
        EXPECT_EQ(found.ideal_sectors, 8u * 4);
    }
    EXPECT_EQ(launch.rows.size(), 2u);
    EXPECT_EQ(launch.operation, "planted");
}

template <class T>
std::uint64_t sectors_read(int first, int stride, unsigned threads = lanes) {
    Numbers<T> from(32 * lanes + 8), to(lanes);
    const T* const data = from.data() + first;
    return row(traced(move<T>, 1, threads, to.data(), data, stride), Space::global, Access::read)
        .sectors;
}

TEST(Sectors, FollowAlignmentStrideAndWidth) {
    EXPECT_EQ(sectors_read<float>(0, 1), 4u);
    EXPECT_EQ(sectors_read<float>(1, 1), 5u);
    EXPECT_EQ(sectors_read<float>(8, 1), 4u);
    EXPECT_EQ(sectors_read<float>(0, 2), 8u);
    EXPECT_EQ(sectors_read<float>(0, 8), 32u);
    EXPECT_EQ(sectors_read<float>(0, 32), 32u);
    EXPECT_EQ(sectors_read<float>(0, 0), 1u);
    EXPECT_EQ(sectors_read<float>(0, 1, 9), 2u);
    EXPECT_EQ(sectors_read<double>(0, 1), 8u);
    EXPECT_EQ(sectors_read<double>(1, 1), 9u);
    EXPECT_EQ(sectors_read<std::uint8_t>(0, 1), 1u);
    EXPECT_EQ(sectors_read<std::uint16_t>(0, 1), 2u);
}

TEST(Sectors, IdealIsWhatTheDistinctBytesFill) {
    Numbers<float> from(32 * lanes), to(lanes);
    const auto ideal = [&](int stride) {
        return row(traced(move<float>, 1, lanes, to.data(), from.data(), stride), Space::global,
                   Access::read)
            .ideal_sectors;
    };
    EXPECT_EQ(ideal(0), 1u);
    EXPECT_EQ(ideal(1), 4u);
    EXPECT_EQ(ideal(32), 4u);
}

/// Threads read shared memory `stride` elements apart.
template <class T>
__global__ void read_apart(T* to, int stride) {
    auto& line = device::shared<struct Line, T[32 * lanes]>();
    for (unsigned i = threadIdx.x; i < 32 * lanes; i += blockDim.x) line[i] = static_cast<T>(i);
    __syncthreads();
    to[threadIdx.x] = line[static_cast<int>(threadIdx.x) * stride];
}

template <class T>
std::uint64_t wavefronts_read(int stride) {
    Numbers<T> to(lanes);
    const auto launch = traced(read_apart<T>, 1, lanes, to.data(), stride);
    const TraceRow found = row(launch, Space::shared, Access::read);
    EXPECT_EQ(found.requests, 1u);
    EXPECT_EQ(found.ideal_wavefronts, std::max<std::size_t>(1, sizeof(T) / 4));
    EXPECT_EQ(row(launch, Space::shared, Access::write).extra_wavefronts(), 0u);
    return found.wavefronts;
}

TEST(Wavefronts, CountTheWordsOfTheBusiestBank) {
    EXPECT_EQ(wavefronts_read<float>(0), 1u);  // one word for all
    EXPECT_EQ(wavefronts_read<float>(1), 1u);
    EXPECT_EQ(wavefronts_read<float>(2), 2u);
    EXPECT_EQ(wavefronts_read<float>(31), 1u);
    EXPECT_EQ(wavefronts_read<float>(24), 8u);
    EXPECT_EQ(wavefronts_read<float>(32), 32u);  // 31 extra
    EXPECT_EQ(wavefronts_read<std::uint16_t>(1), 1u);
    EXPECT_EQ(wavefronts_read<std::uint8_t>(1), 1u);
}

TEST(Wavefronts, OfEightBytesServeHalfAWarp) {
    EXPECT_EQ(wavefronts_read<double>(1), 2u);
    EXPECT_EQ(wavefronts_read<double>(17), 2u);
    EXPECT_EQ(wavefronts_read<double>(2), 4u);
    EXPECT_EQ(wavefronts_read<double>(16), 32u);
}

/// Lane l asks for `bytes` bytes from element map(l) on.
template <class Map>
std::uint64_t wavefronts_of(unsigned bytes, bool read, Map map, unsigned taking_part = ~0u) {
    std::vector<device::LaneAccess> accesses;
    for (unsigned lane = 0; lane < lanes; ++lane)
        if ((taking_part >> lane & 1) != 0)
            accesses.push_back({std::uintptr_t{map(lane)} * bytes, lane, bytes});
    return device::wavefronts(accesses, bytes, read).found;
}

TEST(Wavefronts, OfReadsAreSharedByGroupsOfLanesInPairs) {
    const auto one = [](unsigned) { return 0u; };
    const auto beside = [](unsigned lane) { return lane / 2; };
    const auto two_apart = [](unsigned lane) { return lane / 4 * 2 + lane % 2; };
    const auto four_apart = [](unsigned lane) { return lane / 8 * 4 + lane % 4; };
    const auto but_one = [](unsigned lane) { return lane == 31 ? 14u : lane / 2; };
    for (const unsigned bytes : {8u, 16u}) {
        const unsigned groups = bytes / 4;
        EXPECT_EQ(wavefronts_of(bytes, true, one), groups / 2);
        EXPECT_EQ(wavefronts_of(bytes, true, beside), groups / 2);
        EXPECT_EQ(wavefronts_of(bytes, true, two_apart), groups / 2);
        EXPECT_EQ(wavefronts_of(bytes, true, four_apart), groups);
        EXPECT_EQ(wavefronts_of(bytes, true, but_one), groups);
        EXPECT_EQ(wavefronts_of(bytes, true, but_one, 0x7FFFFFFF), groups / 2);
        EXPECT_EQ(wavefronts_of(bytes, false, one), groups);
        EXPECT_EQ(wavefronts_of(bytes, false, beside), groups);
    }
    EXPECT_EQ(wavefronts_of(4, true, beside), 1u);
}

template <int pitch>
__global__ void read_vectors(float* to) {
    auto& line = device::shared<struct Vectors, float[lanes * pitch]>();
    const float values[4] = {1, 2, 3, 4};
    float* const own = &line[threadIdx.x * pitch];
    device::store_vector(own, values);
    float read[4];
    device::load_vector(read, device::SharedPointer<float>(own));
    device::store_vector(to + 4 * threadIdx.x, read);
}

TEST(Wavefronts, OfSixteenBytesServeAQuarterOfAWarp) {
    Numbers<float> to(4 * lanes);
    const auto apart = [&](auto kernel) { return traced(kernel, 1, lanes, to.data()); };
    for (const auto& [launch, expected] :
         {std::pair{apart(read_vectors<4>), 4u}, std::pair{apart(read_vectors<12>), 4u},
          std::pair{apart(read_vectors<8>), 8u}, std::pair{apart(read_vectors<32>), 32u}})
        for (const Access access : {Access::read, Access::write}) {
            const TraceRow found = row(launch, Space::shared, access);
            EXPECT_EQ(found.bytes, 16u);
            EXPECT_EQ(found.requests, 1u);
            EXPECT_EQ(found.wavefronts, expected);
            EXPECT_EQ(found.ideal_wavefronts, 4u);
            EXPECT_EQ(row(launch, Space::global, Access::write).sectors, 16u);
        }
}

struct Triple {
    float x, y, z;
};
struct Pair {
    std::uint64_t first, second;
};

TEST(Requests, OfStructsAreTheWordsThatAGpuMoves) {
    Matrix<Triple> triples(1, 2 * lanes, Memory::managed);
    Matrix<Pair> pairs(1, 2 * lanes, Memory::managed);
    for (int i = 0; i < 2 * static_cast<int>(lanes); ++i) {
        triples(0, i) = {1, 2, 3};
        pairs(0, i) = {1, 2};
    }
    Triple* const triple = triples.view().data;
    const auto of_triple =
        row(traced(move<Triple>, 1, lanes, triple + lanes, triple, 1), Space::global, Access::read);
    EXPECT_EQ(of_triple.bytes, 4u);
    EXPECT_EQ(of_triple.requests, 3u);
    EXPECT_EQ(of_triple.sectors, 3u * 12);
    const auto of_pair = [&](int bytes) {
        auto* const first =
            reinterpret_cast<Pair*>(reinterpret_cast<std::byte*>(pairs.view().data) + bytes);
        return row(traced(move<Pair>, 1, lanes - 1, first + lanes, first, 1), Space::global,
                   Access::read);
    };
    EXPECT_EQ(of_pair(0).bytes, 16u);
    EXPECT_EQ(of_pair(0).requests, 1u);
    EXPECT_EQ(of_pair(0).sectors, 16u);
    EXPECT_EQ(of_pair(8).bytes, 8u);
    EXPECT_EQ(of_pair(8).requests, 2u);
    EXPECT_EQ(of_pair(8).sectors, 2u * 16);
}

constexpr int copy_line = __LINE__ + 5;
__global__ void copy_and_count(float* to, const float* from, unsigned* counter) {
    auto& line = device::shared<struct Copied, float[4 * lanes]>();
    const int i = 4 * static_cast<int>(threadIdx.x);
    const device::SharedPointer<float> target(line);
    device::copy_async<4>(target + i, from + i, threadIdx.x < 8 ? 2 : 4);
    device::close_copy_group();
    device::wait_for_copies<0>();
    __syncthreads();
    if (threadIdx.x == 0) device::take_turn(counter, 1);
    to[threadIdx.x] = line[threadIdx.x];
}

TEST(Requests, OfTheVocabularyArePlacedWhereTheKernelUsesIt) {
    Numbers<float> from(4 * lanes), to(lanes);
    Numbers<unsigned> counter(1);
    const auto launch = traced(copy_and_count, 1, lanes, to.data(), from.data(), counter.data());
    const TraceRow read = row(launch, Space::global, Access::read);
    EXPECT_EQ(read.line, copy_line);
    EXPECT_EQ(read.bytes, 16u);
    EXPECT_EQ(read.requests, 1u);
    EXPECT_EQ(read.sectors, 16u);
    EXPECT_EQ(read.ideal_sectors, 14u);  // 8 lanes ask for half of their 16 bytes
    const TraceRow write = row(launch, Space::shared, Access::write);
    EXPECT_EQ(write.line, copy_line);
    EXPECT_EQ(write.requests, 1u);
    EXPECT_EQ(write.wavefronts, 4u);
    const TraceRow turn = row(launch, Space::global, Access::atomic);
    EXPECT_EQ(turn.line, copy_line + 4);
    EXPECT_EQ(turn.requests, 1u);
    EXPECT_EQ(turn.threads, 1u);
}

/// Even lanes take one way, odd lanes another, and all meet again.
__global__ void part_and_meet(float* to, const float* from) {
    float value = 0;
    for (unsigned i = 0; i < threadIdx.x % 2 + 1; ++i) value += from[i * lanes + threadIdx.x];
    __syncwarp();
    to[threadIdx.x] = from[2 * lanes + threadIdx.x] + value;
}

TEST(Requests, OfLanesThatPartAreTheirOwn) {
    Numbers<float> from(3 * lanes), to(lanes);
    const auto launch = traced(part_and_meet, 1, lanes, to.data(), from.data());
    std::uint64_t requests = 0, threads = 0;
    for (const TraceRow& read : rows(launch, Space::global, Access::read)) {
        requests += read.requests;
        threads += read.threads;
    }
    EXPECT_EQ(requests, 3u);
    EXPECT_EQ(threads, lanes + lanes / 2 + lanes);
}

TEST(Requests, ToTheHostsOwnMemoryCountAsGlobal) {
    std::vector<float> from(2 * lanes), to(2 * lanes);
    const auto launch = traced(move<float>, 1, 2 * lanes, to.data(), from.data(), 1);
    EXPECT_EQ(row(launch, Space::global, Access::read).requests, 2u);
    EXPECT_EQ(row(launch, Space::global, Access::write).requests, 2u);
}

TEST(Trace, IsAskedForAndIsAlone) {
    Numbers<float> from(lanes), to(lanes);
    const auto launch = [&] {
        device::launch("planted", move<float>, 1, lanes, nullptr, to.data(), from.data(), 1);
    };
    launch();
    device::Trace trace;
    EXPECT_TRUE(trace.take().empty());
    EXPECT_THROW(device::Trace(), Error);
    launch();
    launch();
    EXPECT_EQ(trace.take().size(), 2u);
    EXPECT_TRUE(trace.take().empty());
}

TEST(Trace, PrintsAVerdictForEveryLine) {
    Numbers<float> from(32 * lanes), to(lanes);
    std::ostringstream out;
    out << traced(move<float>, 1, lanes, to.data(), from.data(), 8)
        << traced(read_apart<float>, 1, lanes, to.data(), 32);
    EXPECT_THAT(out.str(),
                AllOf(HasSubstr("planted: (1, 1, 1) blocks of (32, 1, 1) threads"),
                      HasSubstr("  tests/test_trace.cpp:" + std::to_string(move_line)),
                      HasSubstr("8.0 times the sectors needed"), HasSubstr("coalesced"),
                      HasSubstr("conflict-free"), HasSubstr("31.0 extra wavefronts a request")));
}

}  // namespace
}  // namespace tinyblas
