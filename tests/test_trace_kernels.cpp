// SPDX-License-Identifier: MIT
// What the head comments of the library's kernels promise of memory, counted by the traced build:
// coalesced accesses, no bank conflicts, and where there are some, how many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "device/emulation/trace.hpp"
#include "kernels/gemm/tiles.hpp"
#include "kernels/transpose/2_padded.cuh"
#include "kernels/transpose/tiles.hpp"
#include "tinyblas/tinyblas.hpp"

namespace tinyblas {
namespace {

using device::Access;
using device::Space;
using device::TracedLaunch;
using device::TraceRow;

constexpr unsigned lanes = 32;

/// The rows of one kind.
std::vector<TraceRow> rows(const TracedLaunch& launch, Space space, Access access) {
    std::vector<TraceRow> found;
    for (const TraceRow& row : launch.rows)
        if (row.space == space && row.access == access) found.push_back(row);
    return found;
}

template <class T>
Matrix<T> numbers(std::int64_t m, std::int64_t n, Layout layout = Layout::row_major) {
    Matrix<T> matrix(m, n, Memory::managed, layout);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) matrix(i, j) = static_cast<T>(i + j);
    return matrix;
}

template <class T>
TracedLaunch traced_gemm(Layout a_layout, Layout b_layout, GemmOptions options) {
    constexpr std::int64_t extent = 128;
    const auto a = numbers<T>(extent, extent, a_layout), b = numbers<T>(extent, extent, b_layout);
    auto c = numbers<T>(extent, extent);
    Context context;
    device::Trace trace;
    gemm(context, T(2), a.view(), b.view(), T(1), c.view(), options);
    return trace.take().at(0);
}

void expect_coalesced(const TracedLaunch& launch) {
    for (const TraceRow& found : launch.rows) EXPECT_EQ(found.sectors, found.ideal_sectors);
}
void expect_conflict_free(const TracedLaunch& launch) {
    for (const TraceRow& found : launch.rows) EXPECT_EQ(found.extra_wavefronts(), 0u);
}
void expect_at_its_best(const TracedLaunch& launch) {
    SCOPED_TRACE(testing::Message() << launch);
    EXPECT_GT(launch.rows.size(), 0u);
    expect_coalesced(launch);
    expect_conflict_free(launch);
}

constexpr Layout layouts[] = {Layout::row_major, Layout::column_major};

TEST(Gemm, NaiveReadsTwoElementsForEachMultiplyAdd) {
    const auto launch =
        traced_gemm<float>(Layout::row_major, Layout::row_major, {GemmKernel::naive, -1});
    constexpr std::uint64_t multiply_adds = 128 * 128 * 128 / lanes;  // of warps
    const auto reads = rows(launch, Space::global, Access::read);
    ASSERT_EQ(reads.size(), 3u) << launch;  // of a, b and c
    std::vector<std::uint64_t> sectors;
    for (const TraceRow& read : reads)
        if (read.requests == multiply_adds) sectors.push_back(read.sectors / multiply_adds);
    EXPECT_THAT(sectors, testing::UnorderedElementsAre(1u, 4u));  // one for all; 32 neighbours
    EXPECT_TRUE(rows(launch, Space::shared, Access::read).empty());
    expect_coalesced(launch);
}

TEST(Gemm, TiledIsCoalescedAndConflictFree) {
    for (const Layout a : layouts)
        for (const Layout b : layouts) {
            expect_at_its_best(traced_gemm<float>(a, b, {GemmKernel::tiled, -1}));
            expect_coalesced(traced_gemm<double>(a, b, {GemmKernel::tiled, -1}));
        }
}

TEST(Gemm, EveryEntryIsCoalescedAndConflictFree) {
    for (int entry = 0; entry < gemm_entries; ++entry)
        for (const Layout a : layouts)
            for (const Layout b : layouts) {
                SCOPED_TRACE(entry);
                const GemmOptions options{GemmKernel::tuned, entry};
                if (gemm_table[entry].type == Scalar::float32)
                    expect_at_its_best(traced_gemm<float>(a, b, options));
                else
                    expect_at_its_best(traced_gemm<double>(a, b, options));
            }
}

TEST(Transpose, ThePadSavesThirtyOneWavefrontsARequest) {
    const auto a = numbers<float>(64, 96);
    Matrix<float> b(96, 64, Memory::managed);
    const auto traced_transpose = [&](auto launch) {
        device::Trace trace;
        launch(device::Stream{}, a.view(), b.view());
        return trace.take().at(0);
    };
    const auto padded = traced_transpose(launch_transpose_padded<float, 1>);
    const auto unpadded = traced_transpose(launch_transpose_padded<float, 0>);
    expect_at_its_best(padded);
    expect_coalesced(unpadded);
    const TraceRow with = rows(padded, Space::shared, Access::read).at(0);
    const TraceRow without = rows(unpadded, Space::shared, Access::read).at(0);
    EXPECT_EQ(with.requests, 64u * 96 / lanes);
    EXPECT_EQ(without.requests, with.requests);
    EXPECT_EQ(without.extra_wavefronts(), 31 * without.requests);
}

template <class T>
TracedLaunch traced_transpose(TransposeOptions options, bool in_place) {
    auto a = numbers<T>(128, 128);
    Matrix<T> b(128, 128, Memory::managed);
    Context context;
    device::Trace trace;
    if (in_place)
        transpose(context, a, options);
    else
        transpose(context, a.view(), b, options);
    return trace.take().at(0);
}

TEST(Transpose, NaiveReadsASectorForEachElement) {
    const auto launch = traced_transpose<float>({TransposeKernel::naive, -1}, false);
    const TraceRow read = rows(launch, Space::global, Access::read).at(0);
    const TraceRow write = rows(launch, Space::global, Access::write).at(0);
    EXPECT_EQ(read.sectors, 32 * read.requests);
    EXPECT_EQ(write.sectors, 4 * write.requests);
}

TEST(Transpose, PaddedIsCoalescedAndConflictFree) {
    for (const bool in_place : {false, true})
        expect_at_its_best(traced_transpose<float>({TransposeKernel::padded, -1}, in_place));
}

TEST(Transpose, EveryTunedEntryIsCoalescedAndConflictFree) {
    int entries = 0;
    for (int entry = 0; entry < transpose_entries; ++entry) {
        const TransposeForm form = transpose_table[entry].form;
        const int size = transpose_table[entry].element_size;
        if (form == TransposeForm::slim || (size != 4 && size != 8)) continue;
        SCOPED_TRACE(entry);
        const TransposeOptions options{TransposeKernel::tuned, entry};
        const bool in_place = form == TransposeForm::in_place;
        expect_at_its_best(size == 4 ? traced_transpose<float>(options, in_place)
                                     : traced_transpose<double>(options, in_place));
        ++entries;
    }
    EXPECT_GT(entries, 0);
}

template <class T>
TracedLaunch traced_gemv(std::int64_t m, std::int64_t n, Layout layout) {
    const auto a = numbers<T>(m, n, layout);
    const auto x = numbers<T>(1, n);
    auto y = numbers<T>(1, m);
    Context context;
    device::Trace trace;
    gemv(context, T(2), a.view(), x.view().row(0), T(1), y.view().row(0));
    return trace.take().at(0);
}

// Short rows, long ones, slabs of columns, columns of a thread's own.
TEST(Gemv, EveryFormIsCoalesced) {
    for (const auto& [m, n] : {std::pair{2048, 32}, {64, 512}, {512, 64}, {512, 4}})
        for (const Layout layout : layouts) {
            SCOPED_TRACE(testing::Message() << m << " x " << n);
            expect_coalesced(traced_gemv<float>(m, n, layout));
            expect_coalesced(traced_gemv<double>(m, n, layout));
        }
}

TEST(Ger, IsCoalescedAndReadsAOnce) {
    auto a = numbers<float>(64, 256);
    const auto x = numbers<float>(1, 64), y = numbers<float>(1, 256);
    Context context;
    device::Trace trace;
    ger(context, 2.0f, x.view().row(0), y.view().row(0), a.view());
    const TracedLaunch launch = trace.take().at(0);
    SCOPED_TRACE(testing::Message() << launch);
    expect_coalesced(launch);
    const auto writes = rows(launch, Space::global, Access::write);
    ASSERT_EQ(writes.size(), 1u);
    EXPECT_EQ(writes[0].sectors, 64u * 256 * sizeof(float) / 32);
}

}  // namespace
}  // namespace tinyblas
