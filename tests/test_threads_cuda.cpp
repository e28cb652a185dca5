// SPDX-License-Identifier: MIT
// What only a GPU can show of many threads and contexts: that memory does not grow, the device's or
// the host's.
#include <unistd.h>

#include <barrier>
#include <fstream>

#include "graph.hpp"
#include "mixed_calls.hpp"

namespace tinyblas::test {
namespace {

/// Bytes of the process that are in memory.
std::int64_t host_memory() {
    std::int64_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

/// What grew since it was made.
class Growth {
  public:
    std::int64_t device() const { return device_ - static_cast<std::int64_t>(free_memory()); }
    std::int64_t host() const { return host_memory() - host_; }

  private:
    std::int64_t device_ = static_cast<std::int64_t>(free_memory()), host_ = host_memory();
};

// 80,000 calls. The first tenth warms up: scratch memory, textures, the allocator's pools.
TEST(ThreadsCuda, TenThousandMixedCallsEach) {
    constexpr int warm_up = 1000, count = 9000;
    const auto alone = bits_alone();
    std::vector<int> wrong(8, -1);
    std::unique_ptr<Growth> growth;
    std::barrier warm(8, [&]() noexcept { growth = std::make_unique<Growth>(); });
    std::int64_t device = -1, host = -1;
    std::barrier done(8, [&]() noexcept {
        device = growth->device();
        host = growth->host();
    });
    on_eight_threads([&](unsigned thread) {
        MixedCalls calls;
        wrong[thread] = differing(calls, thread, warm_up, alone);
        warm.arrive_and_wait();
        wrong[thread] += differing(calls, 8 + thread, count, alone);
        done.arrive_and_wait();
    });
    EXPECT_EQ(wrong, std::vector<int>(8, 0));
    EXPECT_EQ(device, 0);
    EXPECT_LE(host, 1 << 20);
}

// With all that a context makes at its first calls.
TEST(ThreadsCuda, TenThousandContextsComeAndGo) {
    Matrix<float> x(1, 5000, Memory::pinned), c(64, 64);
    for (std::int64_t i = 0; i < x.columns(); ++i) x(0, i) = 1;
    const MatrixView<const float> a = {x.view().data, 64, 64, 64, 1};
    const auto come_and_go = [&](int count) {
        for (int repeat = 0; repeat < count; ++repeat) {
            Context context;
            gemm(context, 1, a, a, 0, c);
            ASSERT_EQ(asum(context, x.view().row(0)), 5000);
        }
    };
    come_and_go(100);
    const Growth growth;
    come_and_go(10000);
    EXPECT_EQ(growth.device(), 0);
    EXPECT_LE(growth.host(), 1 << 20);
}

}  // namespace
}  // namespace tinyblas::test
