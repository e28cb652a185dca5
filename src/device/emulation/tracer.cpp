// SPDX-License-Identifier: MIT
// The way of an access: whose memory is it, may it be there, is it ordered with the others, what
// does it cost? A defect is kept until its thread gives its turn away: the compiler takes for
// granted that its calls do not throw.
#include "device/emulation/tracer.hpp"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "device/emulation/sanitizer.hpp"
#include "device/emulation/trace_recorder.hpp"
#include "device/emulation/traced_thread.hpp"

namespace tinyblas::device {

constinit thread_local TracedThread* traced_thread = nullptr;

namespace {

// Larger memory is not checked for races: its shadow would be eight times as large.
constexpr std::size_t largest_shadowed = std::size_t{32} << 20;
constexpr std::size_t longest_record = std::size_t{1} << 20;  // accesses of a thread
constexpr std::uint32_t old_age = 0xF0000000;                 // of the clock

/// What the calling OS thread's programs and libraries map, its thread_local variables included.
template <class Extent>
void add_modules(std::vector<Extent>& extents) {
    const auto add = [](dl_phdr_info* info, std::size_t, void* data) {
        auto& all = *static_cast<std::vector<Extent>*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& part = info->dlpi_phdr[i];
            std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            if (part.p_type == PT_TLS)
                begin = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
            else if (part.p_type != PT_LOAD)
                continue;
            if (begin != 0) all.push_back({begin, begin + part.p_memsz});
        }
        return 0;
    };
    dl_iterate_phdr(add, &extents);
}

template <class Extent>
void add_stack(std::vector<Extent>& extents) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* begin = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    extents.push_back({first, first + bytes});
}

}  // namespace

void Tracer::begin_launch(const char* operation, dim3 grid, dim3 block, unsigned threads,
                          bool dependent) {
    if (order_.now() > old_age) {
        order_ = {};
        global_.clear();
    }
    order_.begin_launch();
    turns_.begin_launch();
    grid_ = grid;
    block_ = block;
    dependent_ = dependent;
    block_began_.clear();
    defect_.reset();
    threads_.resize(threads);
    for (unsigned rank = 0; rank < threads; ++rank) {
        threads_[rank].tracer = this;
        threads_[rank].rank = rank;
        threads_[rank].clock = {};
        threads_[rank].recorded.clear();
    }
    allocations_ = traced_allocations();
    std::fill(recent_.begin(), recent_.end(), Recent{});
    std::erase_if(global_, [&](const auto& region) {
        return std::none_of(allocations_.begin(), allocations_.end(),
                            [&](const auto& living) { return living.serial == region.first; });
    });
    recorder_ = current_recorder();
    if (recorder_ == nullptr) return;
    recorder_->launches.push_back({operation, grid, block, {}});
    host_.clear();
    add_modules(host_);
    add_stack(host_);
}

void Tracer::end_launch() {
    shared_.clear();
    defect_.reset();
    recorder_ = nullptr;
}

void Tracer::begin_block() {
    order_.begin_block();
    turns_.begin_block();
    phases_.clear();
    for (TracedThread& thread : threads_) thread.early = dependent_;
    block_began_.push_back(order_.now());
}

void Tracer::barrier() {
    order_.barrier();
    count_requests(0, threads_.size());
}

void Tracer::exchanged(unsigned first, unsigned mask, unsigned lanes, bool orders) {
    if (orders)
        order_.meet([&](unsigned lane) -> Clock& { return threads_[first + lane].clock; }, mask);
    if (mask == lanes)
        count_requests(first, std::min<std::size_t>(first + warp_lanes, threads_.size()));
}

void Tracer::arrived(unsigned rank, const std::byte* barrier) {
    order_.tell(phases_[barrier].arriving, threads_[rank].clock, rank);
}
void Tracer::phase_ended(const std::byte* barrier) {
    Phase& phase = phases_[barrier];
    phase.ended = std::exchange(phase.arriving, {});
}
void Tracer::phase_seen(unsigned rank, const std::byte* barrier) {
    Order::hear(threads_[rank].clock, phases_[barrier].ended);
}

void Tracer::enter(unsigned rank, const void* stack) {
    threads_[rank].stack = reinterpret_cast<std::uintptr_t>(stack);
    traced_thread = &threads_[rank];
}

void Tracer::leave() { traced_thread = nullptr; }

void Tracer::add_shared(const void* data, std::size_t bytes, const char* name) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    shared_.push_back({begin, begin + bytes, name, Space::shared, Shadow(bytes, true)});
}

Tracer::Region* Tracer::search(std::uintptr_t address) {
    for (Region& region : shared_)
        if (region.holds(address)) return &region;
    const auto next =
        std::upper_bound(allocations_.begin(), allocations_.end(), address + guard_bytes,
                         [](std::uintptr_t at, const TracedAllocation& allocation) {
                             return at < allocation.begin;
                         });
    if (next == allocations_.begin()) return nullptr;
    const TracedAllocation& allocation = *std::prev(next);
    if (address >= allocation.end + guard_bytes) return nullptr;
    const auto found = global_.find(allocation.serial);
    if (found != global_.end()) return &found->second;
    const std::size_t bytes = allocation.end - allocation.begin;
    return &global_
                .emplace(allocation.serial,
                         Region{allocation.begin, allocation.end, nullptr, Space::global,
                                Shadow(bytes, bytes <= largest_shadowed)})
                .first->second;
}

/// Neither shared nor global memory of a GPU: parameters, constants, the emulator's own variables.
bool Tracer::is_host(std::uintptr_t address) const {
    return std::any_of(host_.begin(), host_.end(), [&](const Extent& extent) {
        return extent.begin <= address && address < extent.end;
    });
}

std::uint32_t Tracer::number_of(SiteKey key) {
    const std::uint32_t site = sites_.number(key);
    if (site >= recent_.size()) [[unlikely]]
        recent_.resize(site + 1);
    return site;
}

void Tracer::see(TracedThread& thread, SiteKey key, Access access, const void* address,
                 std::size_t bytes, std::size_t width) {
    if (defect_ || bytes == 0) return;
    const Seen seen{thread, reinterpret_cast<std::uintptr_t>(address), bytes, access,
                    number_of(key)};
    Region* const region = find(seen.site, seen.address);
    if (region != nullptr)
        check(*region, seen);
    else if (recorder_ == nullptr || is_host(seen.address))
        return;
    if (recorder_ == nullptr) return;
    thread.recorded.push_back({seen.address, seen.site, static_cast<std::uint16_t>(bytes),
                               static_cast<std::uint8_t>(width),
                               region != nullptr ? region->space : Space::global, access});
    if (thread.recorded.size() > longest_record) {
        const unsigned first = thread.rank / warp_lanes * warp_lanes;
        count_requests(first, std::min<std::size_t>(first + warp_lanes, threads_.size()));
    }
}

void Tracer::see_copy(TracedThread& thread, Place place, Access access, const void* address,
                      std::size_t bytes) {
    if (defect_) return;
    const Seen seen{thread, reinterpret_cast<std::uintptr_t>(address), bytes, access,
                    number_of(site_key(place))};
    if (Region* const region = find(seen.site, seen.address)) check(*region, seen);
}

void Tracer::check(Region& region, const Seen& seen) {
    if (seen.address < region.begin || seen.address + seen.bytes > region.end)
        return report(Fault::outside, region, seen);
    if (region.space == Space::global && seen.thread.early)
        return report(Fault::early, region, seen);
    if (region.space == Space::global && seen.access != Access::write &&
        poisoned(region.begin, seen.address - region.begin, seen.bytes))
        return report(Fault::unset, region, seen);
    if (seen.access == Access::atomic && region.space == Space::global) {
        turns_.take(seen.address, order_.block_began(), order_.now());
        order_.advance(seen.thread.clock);
    }
    Slot slot;
    slot.time = order_.time(seen.thread.clock);
    slot.atomic = seen.access == Access::atomic;
    slot.rank = seen.thread.rank;
    slot.site = seen.site;
    for (Cell& cell : region.shadow.cells(seen.address - region.begin, seen.bytes))
        check_cell(region, cell, slot, seen);
}

void Tracer::check_cell(Region& region, Cell& cell, Slot slot, const Seen& seen) {
    const Clock& clock = seen.thread.clock;
    const auto conflicts = [&](Slot old) {
        return !order_.before(old, slot.rank, clock) && !(old.atomic && slot.atomic);
    };
    if (region.space == Space::shared && seen.access != Access::write &&
        !order_.in_block(cell.write))
        return report(Fault::unset, region, seen);
    if (conflicts(cell.write))
        return report(Fault::race, region, seen, cell.write,
                      cell.write.atomic ? Access::atomic : Access::write);
    if (region.space == Space::global && order_.in_other_block(cell.write) && !cell.write.atomic &&
        !slot.atomic && !turns_.before(cell.write))
        return report(Fault::race_between_blocks, region, seen, cell.write);
    if (seen.access == Access::read) {
        if (!cell.read.same_thread_and_time(slot)) order_.remember_read(cell, slot, clock);
        return;
    }
    for (const Slot read : {cell.read, cell.read_beside, cell.read_elsewhere})
        if (conflicts(read)) return report(Fault::race, region, seen, read, Access::read);
    cell = {slot, {}, {}, {}};
}

void Tracer::report(Fault fault, const Region& region, const Seen& seen, Slot other,
                    Access other_access) {
    if (defect_) return;
    defect_ = {fault,        region.space, seen.access, other_access, seen.bytes,
               seen.site,    other.site,   other.rank,  other.time,   seen.address,
               region.begin, region.end,   region.name};
}

void Tracer::count_requests(std::size_t first, std::size_t last) {
    if (recorder_ == nullptr) return;
    for (; first < last; first += warp_lanes) {
        const auto warp =
            std::span(threads_).subspan(first, std::min<std::size_t>(warp_lanes, last - first));
        recorder_->count(warp, sites_);
        for (TracedThread& thread : warp) thread.recorded.clear();
    }
}

}  // namespace tinyblas::device
