// SPDX-License-Identifier: MIT
// The words of kernels that count phases, and the copies that end them.
#include "device/emulation/phases.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "device/emulation/machine.hpp"
#include "device/emulation/tile_map.hpp"

namespace tinyblas::device {

void Phases::begin_block() {
    barriers_.clear();
    flying_.clear();
}

void Phases::make(const std::byte* at, unsigned arrivals, Place place) {
    for (const PhaseBarrier& barrier : barriers_)
        if (barrier.at == at) fail_thread("a barrier is made twice", place);
    barriers_.push_back({at, arrivals, arrivals, 0, 0});
}

PhaseBarrier& Phases::find(const std::byte* at, Place place) {
    for (PhaseBarrier& barrier : barriers_)
        if (barrier.at == at) return barrier;
    fail_thread("no barrier has been made at this address", place);
}

bool Phases::settle(PhaseBarrier& barrier) {
    if (barrier.pending > 0 || barrier.bytes != 0) return false;
    barrier.pending = barrier.arrivals;
    barrier.parity ^= 1;
    machine().tracer.phase_ended(barrier.at);
    return true;
}

bool Phases::land(PhaseBarrier& barrier) {
    std::int64_t bytes = 0;
    for (const FlyingCopy& copy : flying_)
        if (copy.barrier == barrier.at) bytes += copy.bytes;
    if (barrier.pending > 0 || bytes != barrier.bytes) return false;
    for (const FlyingCopy& copy : flying_)
        if (copy.barrier == barrier.at) copy.make();
    std::erase_if(flying_, [&](const FlyingCopy& copy) { return copy.barrier == barrier.at; });
    barrier.bytes = 0;
    return settle(barrier);
}

namespace {

PhaseBarrier& barrier_at(const std::byte* at, Place place) {
    return machine().phases.find(at, place);
}

void start_copy_of_engine(std::byte* to, const std::byte* barrier, std::int64_t bytes,
                          std::function<void()> make, Place place) {
    const auto count = static_cast<std::size_t>(bytes);
    require_shared(to, count, place);
    barrier_at(barrier, place);
    trace_arrival(to, count, place);
    machine().tracer.arrived(running().rank, barrier);
    std::memset(to, 0xFF, count);  // NaN
    machine().phases.start({barrier, bytes, std::move(make)});
}

}  // namespace

void make_barrier(std::byte* barrier, unsigned arrivals, Place place) {
    require_shared(barrier, 8, place);
    require_aligned(barrier, 8, place);
    if (arrivals == 0) fail_thread("a barrier of no arrivals", place);
    machine().phases.make(barrier, arrivals, place);
}

void arrive_expecting(std::byte* barrier, unsigned bytes, Place place) {
    PhaseBarrier& at = barrier_at(barrier, place);
    if (at.pending == 0) fail_thread("more arrivals than the barrier was made for", place);
    machine().tracer.arrived(running().rank, barrier);
    at.bytes += bytes;
    --at.pending;
    Phases::settle(at);
}

void wait_for_phase(std::byte* barrier, unsigned parity, Place place) {
    Thread& thread = running();
    if (parity > 1) fail_thread("a parity is 0 or 1", place);
    if (barrier_at(barrier, place).parity == parity) {
        thread.wait = {place, Exchange::barrier, 0};
        thread.phase = {barrier, parity};
        thread.park(State::in_phase);
    }
    machine().tracer.phase_seen(thread.rank, barrier);
}

void copy_bulk(std::byte* to, const void* from, unsigned bytes, std::byte* barrier, Place place) {
    require_aligned(to, 16, place);
    require_aligned(from, 16, place);
    if (bytes % 16 != 0) fail_thread("a bulk copy's bytes are not a multiple of 16", place);
    trace_departure(from, bytes, place);
    start_copy_of_engine(
        to, barrier, bytes, [=] { std::memcpy(to, from, bytes); }, place);
}

void copy_tile(std::byte* to, const TileMap& map, int row, int column, std::byte* barrier,
               Place place) {
    const EmulatedTileMap tile = emulated(map);
    require_aligned(to, tile.swizzled ? 512 : 128, place);
    // By value: the copy is made when this call has long returned.
    const auto inside = [=](std::int64_t r) {
        return r >= 0 && r < tile.rows && column >= 0 && column < tile.columns;
    };
    const std::int64_t left = tile.columns - column;
    const std::size_t width = sizeof(float) * static_cast<std::size_t>(tile.tile_columns);
    const std::size_t valid =
        left < tile.tile_columns ? sizeof(float) * static_cast<std::size_t>(left) : width;
    if (column < 0) fail_thread("a tile begins outside its matrix", place);
    if (column % 4 != 0) fail_thread("a tile's first column is not a multiple of 16 bytes", place);
    for (std::int64_t r = row; r < row + tile.tile_rows; ++r)
        if (inside(r)) trace_departure(tile.data + r * tile.stride + column, valid, place);
    start_copy_of_engine(
        to, barrier, static_cast<std::int64_t>(width) * tile.tile_rows,
        [=] {
            for (int r = 0; r < tile.tile_rows; ++r) {
                std::byte* const line = to + static_cast<std::size_t>(r) * width;
                std::memset(line, 0, width);
                if (inside(row + r))
                    std::memcpy(line, tile.data + (row + r) * tile.stride + column, valid);
                if (!tile.swizzled) continue;
                std::array<std::array<std::byte, 16>, 4> vectors;
                std::memcpy(vectors.data(), line, width);
                for (std::size_t v = 0; v < vectors.size(); ++v)
                    std::memcpy(line + (v ^ static_cast<std::size_t>(r) / 2 % 4) * 16,
                                vectors[v].data(), 16);
            }
        },
        place);
}

void write_tile_map(TileMap* to, const TileMap& like, const float* data, Place place) {
    require_aligned(to, alignof(TileMap), place);
    require_aligned(data, 16, place);
    EmulatedTileMap tile = emulated(like);
    tile.data = data;
    trace_arrival(to, sizeof *to, place);
    *to = {};
    std::memcpy(to, &tile, sizeof tile);
}

void acquire_tile_map(const TileMap* map, Place place) { trace_departure(map, sizeof *map, place); }

}  // namespace tinyblas::device
