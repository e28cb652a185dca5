// SPDX-License-Identifier: MIT
// The memory of shadows, and which readers are worth remembering.
#include "device/emulation/trace_shadow.hpp"

#include <iterator>
#include <new>
#include <utility>

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
    advance(clock);
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

void Turns::take(std::uintptr_t word, std::uint32_t begin, std::uint32_t now) {
    Pasts& here = words_[word];
    Pasts joined;
    auto one = known_.cbegin(), other = here.cbegin();
    while (one != known_.cend() || other != here.cend()) {
        if (other == here.cend() || (one != known_.cend() && one->begin < other->begin))
            joined.push_back(*one++);
        else if (one == known_.cend() || other->begin < one->begin)
            joined.push_back(*other++);
        else {
            joined.push_back({one->begin, std::max(one->end, other->end)});
            ++one, ++other;
        }
    }
    if (!joined.empty() && joined.back().begin == begin) joined.pop_back();  // its last turn here
    known_ = joined;
    joined.push_back({begin, now});
    here = std::move(joined);
}

bool Turns::before(Slot slot) const {
    const auto next =
        std::upper_bound(known_.begin(), known_.end(), slot.time,
                         [](std::uint32_t time, const Past& past) { return time < past.begin; });
    return next != known_.begin() && slot.time <= std::prev(next)->end;
}

}  // namespace tinyblas::device
