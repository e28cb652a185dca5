// SPDX-License-Identifier: MIT
// The emulated machine: the threads of a block are fibers of the calling OS thread, blocks run one
// after another. Kernels speak the words of device.hpp; these are the functions behind them. All
// state belongs to the OS thread, so that distinct OS threads run kernels at once. Every function
// throws Error (device_error) that says who waited where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

struct uint3 {
    unsigned x = 0, y = 0, z = 0;
};

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
};

namespace tinyblas::device {

// Of the fiber that runs. constinit spares each access the check whether they were initialized.
extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;

struct TileMap;

/// A place in the source; as a defaulted argument, the caller's.
struct Place {
    const char* file;
    int line;
    static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

/// The order in which the calling OS thread's launches run the threads of a block, from barrier to
/// barrier: 0 forward, 1 backward, other seeds shuffled anew each time. A kernel that lacks a
/// barrier gives different results in different orders.
void set_schedule(unsigned seed) noexcept;

/// Runs `thread` once for each thread of each block. After an error all fibers are unwound, and the
/// next call works. `dependent`: the launch may begin before what is ahead of it has ended, so that
/// each thread must call wait_for_launcher() before it touches global memory; a traced build sees
/// to it.
void run_grid(const char* operation, dim3 grid, dim3 block, std::size_t large_shared,
              const std::function<void()>& thread, bool dependent = false);
void wait_for_launcher();

/// Ends the calling fiber and the launch: `what` happened to it, and where.
[[noreturn]] void fail_thread(const std::string& what, Place place);

void block_barrier(Place place);
/// The same, and whether any thread's `predicate` is true.
bool block_barrier_or(bool predicate, Place place);

/// What the lanes of a mask do together: wait; read another lane's value; learn whose value is not
/// 0, the largest value, the sum or the or of all.
enum class Exchange { barrier, shuffle, ballot, maximum, sum, either };
std::uint64_t exchange(Exchange kind, unsigned mask, std::uint64_t value, unsigned source,
                       Place place);
unsigned current_lane();

/// The running block's storage named `key`: bytes of 0xFF (NaN) at first. `name` is for reports.
void* shared_storage(const void* key, std::size_t bytes, std::size_t alignment, bool large,
                     const char* name);

/// Fails unless `address` is a multiple of `bytes`. The sentences are made elsewhere: kernels are
/// full of such checks.
[[noreturn]] void fail_alignment(std::size_t bytes, Place place);
inline void require_aligned(const void* address, std::size_t bytes, Place place) {
    if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) [[unlikely]]
        fail_alignment(bytes, place);
}
/// Of an asynchronous copy that is asked to read `valid` of `count` elements.
[[noreturn]] void fail_copy(int valid, int count, Place place);

/// Fails unless the bytes from `first` on lie in the block's shared memory.
void require_shared(const void* first, std::size_t bytes, Place place);

/// Element `index` of a texture object (device/runtime.hpp): `bytes` bytes, zeros outside of it.
void fetch_bytes(void* to, int bytes, unsigned long long texture, int index, Place place);

/// The counter's value, which becomes one larger, or 0 after `last`. Orders memory: what threads
/// wrote before their turn can be read after a later one.
unsigned take_turn(unsigned* counter, unsigned last, Place place = Place::here());
/// Reads what another block releases, such as a counter that it takes turns at. Here blocks run one
/// after the other: who waits for a later one must give up some time.
unsigned load_acquire(const unsigned* from, Place place = Place::here());

/// d += A B by the lanes of a warp together: A 16 x 16, B 16 x 8. With g = lane / 4 and t = lane %
/// 4, a[2 q + h] is A's element (g + 8 h, 4 q + t), b[q] is B's (4 q + t, g), d[2 h + e] is d's (g
/// + 8 h, 2 t + e). Each sum is a chain of multiply_add in the order of k.
void multiply_fp64(double (&d)[4], const double (&a)[8], const double (&b)[4],
                   Place place = Place::here());

// Barriers that count arrivals and bytes, and the copy engine: as device.hpp says.
void make_barrier(std::byte* barrier, unsigned arrivals, Place place = Place::here());
void arrive_expecting(std::byte* barrier, unsigned bytes, Place place = Place::here());
void wait_for_phase(std::byte* barrier, unsigned parity, Place place = Place::here());
void copy_bulk(std::byte* to, const void* from, unsigned bytes, std::byte* barrier,
               Place place = Place::here());
void copy_tile(std::byte* to, const TileMap& map, int row, int column, std::byte* barrier,
               Place place = Place::here());
void write_tile_map(TileMap* to, const TileMap& like, const float* data,
                    Place place = Place::here());
void acquire_tile_map(const TileMap* map, Place place = Place::here());

// The calling thread's asynchronous copies to shared memory, in closed groups and one open group.
void start_copy(void* to, const void* from, int bytes, int valid, Place place);
void close_copies();
void finish_copies(std::size_t pending);

}  // namespace tinyblas::device
