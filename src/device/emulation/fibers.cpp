// SPDX-License-Identifier: MIT
// How a block runs: each of its threads goes from barrier to barrier as a fiber of Boost.Context;
// when all are parked or have returned, those whose wait is over go on. If there are none, the
// kernel has a defect, and the report says who waits where. Fibers and their stacks are kept from
// launch to launch: between launches each waits in Thread::work() for the next.
#include "device/emulation/fibers.hpp"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TINYBLAS_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TINYBLAS_ADDRESS_SANITIZER
#endif
#if defined(TINYBLAS_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tinyblas::device {

constinit thread_local uint3 threadIdx, blockIdx;
constinit thread_local dim3 blockDim, gridDim;

namespace {

// AddressSanitizer must hear of every change of stack; its redzones make canaries needless, its
// frames are large.
#if defined(TINYBLAS_ADDRESS_SANITIZER)
constexpr std::size_t canary_bytes = 0;
constexpr std::size_t stack_bytes = 256 << 10;
void leave_stack(void** save, const void* bottom, std::size_t bytes) {
    __sanitizer_start_switch_fiber(save, bottom, bytes);
}
void enter_stack(void* saved, const void** bottom, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(saved, bottom, bytes);
}
void forget_frames(const void* bottom, std::size_t bytes) {
    __asan_unpoison_memory_region(bottom, bytes);
}
// Runs `action` as if on another stack, then frees the frames that detect_stack_use_after_return
// keeps for that stack.
template <class Action>
void visit_stack(void* saved, const void* bottom, std::size_t bytes, const Action& action) {
    void* own = nullptr;
    __sanitizer_start_switch_fiber(&own, bottom, bytes);
    action();
    __sanitizer_finish_switch_fiber(saved, &bottom, &bytes);
    __sanitizer_start_switch_fiber(nullptr, bottom, bytes);
    __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
}
#else
constexpr std::size_t canary_bytes = 64;
constexpr std::size_t stack_bytes = 64 << 10;
void leave_stack(void**, const void*, std::size_t) {}
void enter_stack(void*, const void**, std::size_t*) {}
void forget_frames(const void*, std::size_t) {}
template <class Action>
void visit_stack(void*, const void*, std::size_t, const Action& action) {
    action();
}
#endif

constexpr unsigned warp_lanes = 32;
// Of a block, as ptxas allows without an opt-in.
constexpr std::size_t shared_limit = 48 << 10;
constexpr int poison = 0xFF;  // NaN as float and as double
constexpr int canary = 0xA5;

bool operator==(Place a, Place b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}
std::ostream& operator<<(std::ostream& out, Place place) {
    return out << '(' << place.file << ':' << place.line << ')';
}
template <class Index>
std::string triple(Index index) {
    std::ostringstream out;
    out << '(' << index.x << ", " << index.y << ", " << index.z << ')';
    return out.str();
}

struct Unwind {};  // thrown through a kernel to end its thread

enum class State { not_begun, released, at_barrier, in_exchange, returned };

struct Copy {
    void* to;
    const void* from;
    int bytes, valid;
};

/// What a parked thread waits for.
struct Wait {
    Place place;
    Exchange kind;
    unsigned mask;
    bool operator==(const Wait& other) const {
        return kind == other.kind && mask == other.mask && place == other.place;
    }
};

class Machine;

/// A fiber, and what the CUDA thread that it runs is waiting for.
class Thread {
  public:
    Thread(Machine& machine, unsigned rank);
    ~Thread();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    void resume();            // called by the scheduler: runs the fiber until it parks or returns
    void park(State reason);  // called by the fiber

    State state = State::returned;
    const unsigned rank;
    uint3 index;
    Wait wait{};
    std::uint64_t value = 0, result = 0;  // of an exchange
    unsigned source = 0;
    // Asynchronous copies not yet made, oldest first: closed groups of these sizes, then the open
    // one.
    std::vector<Copy> copies;
    std::vector<std::size_t> groups;
    std::size_t grouped = 0;  // sum of groups

  private:
    void work();
    void give_turn();

    Machine& machine_;
    bool quit_ = false;
    boost::context::fiber fiber_, scheduler_;  // whichever side is suspended
    const void* stack_ = nullptr;
    const void* scheduler_stack_ = nullptr;
    std::size_t scheduler_stack_bytes_ = 0;
    void* fake_stack_ = nullptr;  // AddressSanitizer's
};

constinit thread_local Thread* current = nullptr;

/// A block's storage for one (Tag, Storage), followed by its canary.
struct Storage {
    struct Delete {
        std::size_t alignment;
        void operator()(void* data) const { operator delete(data, std::align_val_t(alignment)); }
    };
    const void* key;
    const char* name;
    std::size_t bytes;
    bool large;
    std::unique_ptr<void, Delete> data;

    std::byte* begin() const { return static_cast<std::byte*>(data.get()); }
    std::byte* end() const { return begin() + bytes; }
    void clear() const {
        std::memset(begin(), poison, bytes);
        std::memset(end(), canary, canary_bytes);
    }
};

/// The multiprocessor of one OS thread.
class Machine {
  public:
    void run(const char* operation, dim3 grid, dim3 block, const std::function<void()>& body);
    void run_thread();
    [[noreturn]] void fail_current(const std::string& what);

    unsigned schedule = 0;
    std::size_t large_shared = 0;  // bytes that the launch gave
    bool unwinding = false;
    int exceptions = 0;  // in flight on this OS thread when the launch began
    std::vector<Storage> storages;

  private:
    void check_launch(dim3 grid, dim3 block) const;
    void prepare(unsigned count);
    void run_blocks(dim3 grid, dim3 block);
    void run_block();
    bool release_exchanges();
    bool release_lanes(const Thread& first);
    bool release_barrier();
    const Thread* lane_of_warp(const Thread& thread, unsigned lane) const;
    std::string who_waits() const;
    std::string describe(const Thread& thread) const;
    void finish();
    void check_canaries() const;

    const char* operation_ = nullptr;  // null: no kernel is running
    const std::function<void()>* body_ = nullptr;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<unsigned> order_;
    unsigned count_ = 0;  // threads of a block
    std::mt19937 random_;
    std::string failure_;  // of a thread
};

thread_local Machine machine;

Thread& running() {
    if (current == nullptr)
        fail(Status::device_error, "a word of kernels was used outside of a kernel");
    return *current;
}

Thread::Thread(Machine& machine, unsigned rank) : rank(rank), machine_(machine) {
    boost::context::protected_fixedsize_stack allocator(stack_bytes);
    const auto stack = allocator.allocate();
    stack_ = static_cast<std::byte*>(stack.sp) - stack_bytes;  // below it, the guard page
    const boost::context::preallocated memory(stack.sp, stack.size, stack);
    // Boost.Context enters a new fiber once to put its first frame there.
    visit_stack(nullptr, stack_, stack_bytes, [&] {
        fiber_ = boost::context::fiber(std::allocator_arg, memory, allocator,
                                       [this](boost::context::fiber&& scheduler) {
                                           scheduler_ = std::move(scheduler);
                                           work();
                                           return std::move(scheduler_);
                                       });
    });
}

Thread::~Thread() {
    quit_ = true;
    forget_frames(stack_, stack_bytes);  // the memory goes back, and some frames never return
    resume();
    visit_stack(fake_stack_, stack_, stack_bytes, [] {});
}

void Thread::resume() {
    void* fake_stack = nullptr;
    current = this;
    threadIdx = index;
    leave_stack(&fake_stack, stack_, stack_bytes);
    fiber_ = std::move(fiber_).resume();
    enter_stack(fake_stack, nullptr, nullptr);
    current = nullptr;
}

void Thread::give_turn() {
    leave_stack(&fake_stack_, scheduler_stack_, scheduler_stack_bytes_);
    scheduler_ = std::move(scheduler_).resume();
    enter_stack(fake_stack_, &scheduler_stack_, &scheduler_stack_bytes_);
}

void Thread::work() {
    enter_stack(nullptr, &scheduler_stack_, &scheduler_stack_bytes_);
    while (!quit_) {
        machine_.run_thread();
        copies.clear();
        groups.clear();
        grouped = 0;
        state = State::returned;
        give_turn();
    }
    leave_stack(&fake_stack_, scheduler_stack_, scheduler_stack_bytes_);
}

void Thread::park(State reason) {
    // A destructor waits while an exception unwinds its thread: it need not, and as exceptions in
    // flight belong to the OS thread, it must not.
    if (std::uncaught_exceptions() != machine_.exceptions) return;
    if (!machine_.unwinding) {
        state = reason;
        give_turn();
        if (!machine_.unwinding) return;
    }
    throw Unwind();
}

void Machine::fail_current(const std::string& what) {
    failure_ = what + ", thread " + triple(running().index);
    throw Unwind();
}

// What leaves a kernel must not leave its fiber.
void Machine::run_thread() {
    try {
        try {
            (*body_)();
        } catch (const std::exception& error) {
            fail_current(std::string("an exception left the kernel: ") + error.what());
        }
    } catch (const Unwind&) {
    } catch (...) {
        failure_ = "an exception left the kernel, thread " + triple(running().index);
    }
}

void Machine::check_launch(dim3 grid, dim3 block) const {
    const auto threads = std::uint64_t{block.x} * block.y * block.z;
    const bool fits = grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 0x7FFFFFFF &&
                      grid.y <= 65535 && grid.z <= 65535 && block.x <= 1024 && block.y <= 1024 &&
                      block.z <= 64 && threads > 0 && threads <= 1024;
    if (!fits)
        fail(Status::device_error, operation_, ": no device can run ", triple(grid), " blocks of ",
             triple(block), " threads");
}

void Machine::prepare(unsigned count) {
    while (threads_.size() < count)
        threads_.push_back(std::make_unique<Thread>(*this, static_cast<unsigned>(threads_.size())));
    count_ = count;
    for (unsigned i = 0; i < count; ++i)
        threads_[i]->index = {i % blockDim.x, i / blockDim.x % blockDim.y,
                              i / (blockDim.x * blockDim.y)};
    random_.seed(schedule);
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0u);
    if (schedule == 1) std::reverse(order_.begin(), order_.end());
}

void Machine::run(const char* operation, dim3 grid, dim3 block, const std::function<void()>& body) {
    if (operation_ != nullptr)
        fail(Status::device_error, operation_, ": a kernel cannot launch ", operation);
    operation_ = operation;
    body_ = &body;
    exceptions = std::uncaught_exceptions();
    try {
        run_blocks(grid, block);
        finish();
    } catch (...) {
        finish();
        throw;
    }
}

void Machine::run_blocks(dim3 grid, dim3 block) {
    check_launch(grid, block);
    gridDim = grid;
    blockDim = block;
    prepare(block.x * block.y * block.z);
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = {x, y, z};
                run_block();
            }
}

void Machine::run_block() {
    for (const Storage& storage : storages) storage.clear();
    for (unsigned i = 0; i < count_; ++i) threads_[i]->state = State::not_begun;
    for (unsigned left = count_; left > 0;) {
        if (schedule > 1) std::shuffle(order_.begin(), order_.end(), random_);
        for (const unsigned i : order_) {
            Thread& thread = *threads_[i];
            if (thread.state != State::not_begun && thread.state != State::released) continue;
            thread.resume();
            if (!failure_.empty())
                fail(Status::device_error, operation_, ": ", failure_, " of block ",
                     triple(blockIdx));
            if (thread.state == State::returned) --left;
        }
        if (left > 0 && !release_exchanges() && !release_barrier())
            fail(Status::device_error, operation_, ": ", who_waits(), ", block ", triple(blockIdx));
    }
    check_canaries();
}

const Thread* Machine::lane_of_warp(const Thread& thread, unsigned lane) const {
    const unsigned rank = thread.rank / warp_lanes * warp_lanes + lane;
    return rank < count_ ? threads_[rank].get() : nullptr;
}

/// Lets go on the lanes that `first` names, if all of them have come to the same exchange.
bool Machine::release_lanes(const Thread& first) {
    const Wait wait = first.wait;
    std::array<Thread*, warp_lanes> lanes{};
    std::uint64_t ballot = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        if ((wait.mask >> lane & 1) == 0) continue;
        const Thread* other = lane_of_warp(first, lane);
        if (!other || other->state != State::in_exchange || !(other->wait == wait)) return false;
        lanes[lane] = threads_[other->rank].get();
        ballot |= std::uint64_t{other->value != 0} << lane;
    }
    for (Thread* thread : lanes) {
        if (thread == nullptr) continue;
        thread->result = wait.kind == Exchange::shuffle ? lanes[thread->source]->value : ballot;
        thread->state = State::released;
    }
    return true;
}

bool Machine::release_exchanges() {
    bool released = false;
    for (unsigned i = 0; i < count_; ++i)
        if (threads_[i]->state == State::in_exchange && release_lanes(*threads_[i]))
            released = true;
    return released;
}

/// As on a GPU, threads that have returned are not waited for.
bool Machine::release_barrier() {
    const Thread* first = nullptr;
    for (unsigned i = 0; i < count_; ++i) {
        const Thread& thread = *threads_[i];
        if (thread.state == State::returned) continue;
        if (first == nullptr) first = &thread;
        if (thread.state != State::at_barrier || !(thread.wait == first->wait)) return false;
    }
    for (unsigned i = 0; i < count_; ++i)
        if (threads_[i]->state == State::at_barrier) threads_[i]->state = State::released;
    return true;
}

std::string Machine::describe(const Thread& thread) const {
    std::ostringstream out;
    out << "thread " << triple(thread.index);
    if (thread.state == State::returned) {
        out << " has returned";
    } else if (thread.state == State::at_barrier) {
        out << " waits at __syncthreads " << thread.wait.place;
    } else {
        constexpr const char* words[] = {"__syncwarp", "a shuffle", "a ballot"};
        out << " waits at " << words[static_cast<int>(thread.wait.kind)] << " with mask 0x"
            << std::hex << thread.wait.mask << std::dec << ' ' << thread.wait.place;
    }
    return out.str();
}

/// The sentence for threads of which none can go on: one that waits, and one that keeps it from
/// going on.
std::string Machine::who_waits() const {
    const Thread* barrier = nullptr;
    for (unsigned i = 0; i < count_; ++i) {
        const Thread& thread = *threads_[i];
        if (thread.state == State::in_exchange)
            for (unsigned lane = 0; lane < warp_lanes; ++lane) {
                if ((thread.wait.mask >> lane & 1) == 0) continue;
                const Thread* other = lane_of_warp(thread, lane);
                if (!other)
                    return "wrong mask: " + describe(thread) + ", but the block has no lane " +
                           std::to_string(lane) + " in this warp";
                if (other->state == State::at_barrier)
                    return "divergent barrier: " + describe(*other) + ", " + describe(thread);
                if (other->state == State::returned || !(other->wait == thread.wait))
                    return "wrong mask: " + describe(thread) + ", lane " + std::to_string(lane) +
                           " does not: " + describe(*other);
            }
        if (thread.state != State::at_barrier) continue;
        if (barrier == nullptr) barrier = &thread;
        if (!(thread.wait == barrier->wait))
            return "divergent barrier: " + describe(*barrier) + ", " + describe(thread);
    }
    return "no thread can go on";
}

/// However the launch ended, the next one finds a machine at rest: parked threads are unwound, so
/// that destructors run.
void Machine::finish() {
    unwinding = true;
    for (unsigned i = 0; i < count_; ++i) {
        Thread& thread = *threads_[i];
        if (thread.state != State::not_begun && thread.state != State::returned) thread.resume();
        thread.state = State::returned;
    }
    unwinding = false;
    failure_.clear();
    storages.clear();
    operation_ = nullptr;
}

void Machine::check_canaries() const {
    for (const Storage& storage : storages)
        if (!std::all_of(storage.end(), storage.end() + canary_bytes,
                         [](std::byte byte) { return byte == std::byte{canary}; }))
            fail(Status::device_error, operation_,
                 ": a thread wrote past the end of shared memory (", storage.bytes, " bytes, ",
                 storage.name, "), block ", triple(blockIdx));
}

}  // namespace

void set_schedule(unsigned seed) noexcept { machine.schedule = seed; }

void run_grid(const char* operation, dim3 grid, dim3 block, std::size_t large_shared,
              const std::function<void()>& thread) {
    machine.large_shared = large_shared;
    machine.run(operation, grid, block, thread);
}

void fail_thread(const std::string& what, Place place) {
    std::ostringstream out;
    out << what << ' ' << place;
    machine.fail_current(out.str());
}

void block_barrier(Place place) {
    Thread& thread = running();
    thread.wait = {place, Exchange::barrier, 0};
    thread.park(State::at_barrier);
}

std::uint64_t exchange(Exchange kind, unsigned mask, std::uint64_t value, unsigned source,
                       Place place) {
    Thread& thread = running();
    if ((mask >> current_lane() & 1) == 0)
        fail_thread("wrong mask: it does not name the lane that calls", place);
    if (kind == Exchange::shuffle && (mask >> source & 1) == 0)
        fail_thread("wrong mask: it does not name lane " + std::to_string(source) +
                        ", from which the shuffle reads",
                    place);
    thread.wait = {place, kind, mask};
    thread.value = value;
    thread.source = source;
    thread.park(State::in_exchange);
    return thread.result;
}

unsigned current_lane() { return running().rank % warp_lanes; }

void* shared_storage(const void* key, std::size_t bytes, std::size_t alignment, bool large,
                     const char* name) {
    running();
    std::size_t total = bytes;
    for (const Storage& storage : machine.storages) {
        if (storage.key == key) return storage.begin();
        if (storage.large == large) total += storage.bytes;
    }
    const std::size_t limit = large ? machine.large_shared : shared_limit;
    if (total > limit)
        machine.fail_current("a block's shared memory of " + std::to_string(total) +
                             " bytes exceeds the " + std::to_string(limit) +
                             (large ? " of its launch" : " of a declaration"));
    void* data = operator new(bytes + canary_bytes, std::align_val_t(alignment));
    machine.storages.push_back({key, name, bytes, large, {data, Storage::Delete{alignment}}});
    machine.storages.back().clear();
    return data;
}

void require_shared(const void* first, std::size_t bytes, Place place) {
    running();
    const auto* begin = static_cast<const std::byte*>(first);
    for (const Storage& storage : machine.storages)
        if (storage.begin() <= begin && begin + bytes <= storage.end()) return;
    fail_thread("an address is not in shared memory", place);
}

void start_copy(void* to, const void* from, int bytes, int valid) {
    std::memset(to, poison, static_cast<std::size_t>(bytes));
    running().copies.push_back({to, from, bytes, valid});
}

void close_copies() {
    Thread& thread = running();
    thread.groups.push_back(thread.copies.size() - thread.grouped);
    thread.grouped = thread.copies.size();
}

void finish_copies(std::size_t pending) {
    Thread& thread = running();
    if (thread.groups.size() <= pending) return;
    const auto arrived = thread.groups.end() - static_cast<std::ptrdiff_t>(pending);
    const std::size_t count = std::accumulate(thread.groups.begin(), arrived, std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
        const Copy& copy = thread.copies[i];
        const auto valid = static_cast<std::size_t>(copy.valid);
        if (valid > 0) std::memcpy(copy.to, copy.from, valid);
        std::memset(static_cast<std::byte*>(copy.to) + valid, 0,
                    static_cast<std::size_t>(copy.bytes) - valid);
    }
    thread.copies.erase(thread.copies.begin(),
                        thread.copies.begin() + static_cast<std::ptrdiff_t>(count));
    thread.groups.erase(thread.groups.begin(), arrived);
    thread.grouped -= count;
}

}  // namespace tinyblas::device
