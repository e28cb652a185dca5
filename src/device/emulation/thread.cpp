// SPDX-License-Identifier: MIT
// How a fiber and the scheduler change places. Fibers and their stacks are kept from launch to
// launch: between launches each waits in Thread::work() for the next.
#include "device/emulation/thread.hpp"

#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "check.hpp"
#include "device/emulation/machine.hpp"
#include "device/emulation/sanitizer.hpp"

namespace tinyblas::device {

constinit thread_local uint3 threadIdx;

namespace {

constinit thread_local Thread* current = nullptr;

}  // namespace

bool operator==(Place a, Place b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

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
    if (!machine_.unwinding && !quit_) machine_.tracer.enter(rank, stack_);
    leave_stack(&fake_stack, stack_, stack_bytes);
    fiber_ = std::move(fiber_).resume();
    enter_stack(fake_stack, nullptr, nullptr);
    Tracer::leave();
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

}  // namespace tinyblas::device
