// SPDX-License-Identifier: MIT
// The memory of shadows, and which readers are worth remembering.
#include "device/emulation/trace_shadow.hpp"

#include <new>

namespace tinyblas::device {

// Zeroed pages come for free, and most of a large matrix is never touched by a test.
std::unique_ptr<Cell[], Shadow::Free> Shadow::make(std::size_t count) {
    auto* cells = static_cast<Cell*>(std::calloc(count, sizeof(Cell)));
    if (cells == nullptr) throw std::bad_alloc();
    return std::unique_ptr<Cell[], Free>(cells);
}

Shadow::Shadow(std::size_t bytes, bool remembers) : bytes_(bytes) {
    if (remembers) cells_ = make(bytes / word + 1);
}

void Shadow::split() {
    auto smaller = make(bytes_ + 1);
    // All of a block's shared memory keeps its history; what a large matrix forgets here, it
    // forgets once.
    constexpr std::size_t kept = 256 << 10;
    for (std::size_t i = 0; i < std::min(bytes_, kept); ++i) smaller[i] = cells_[i / word];
    cells_ = std::move(smaller);
    cell_bytes_ = 1;
}

void Order::join(Heard& heard, const Heard& other) {
    if (heard.size() < other.size()) heard.resize(other.size());
    std::transform(other.begin(), other.end(), heard.begin(), heard.begin(),
                   [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}

void Order::tell(Heard& heard, Clock& clock, unsigned rank) {
    join(heard, clock.heard_by_phases);
    const unsigned warp = rank / warp_lanes * warp_lanes;
    if (heard.size() < warp + warp_lanes) heard.resize(warp + warp_lanes);
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        heard[warp + lane] = std::max(heard[warp + lane], clock.heard[lane]);
    heard[rank] = std::max(heard[rank], time(clock));
    clock.time = ++now_;
}

void Order::remember_read(Cell& cell, Slot slot, const Clock& clock) const {
    const unsigned warp = slot.rank / warp_lanes;
    // A read that is before this one is before all that this one is before.
    const auto replaceable = [&](Slot old) {
        return old.time == 0 || before(old, slot.rank, clock);
    };
    if (replaceable(cell.read))
        cell.read = slot;
    else if (cell.read.rank / warp_lanes != warp)
        cell.read_elsewhere = slot;
    else if (replaceable(cell.read_beside))
        cell.read_beside = slot;
}

}  // namespace tinyblas::device
