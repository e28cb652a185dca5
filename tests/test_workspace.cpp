// SPDX-License-Identifier: MIT
// Textures under device emulation: long vectors take several, none is left behind.
#include <gtest/gtest.h>

#include "device/emulation/texture.hpp"
#include "reference.hpp"
#include "tinyblas/reduce.hpp"
#include "workspace.hpp"

namespace tinyblas::test {
namespace {

TEST(Textures, AreKeptInBoundsAndGoWithTheContext) {
    Matrix<float> x(1, 5000, Memory::managed);
    for (int i = 0; i < 5000; ++i) x(0, i) = 1;
    ASSERT_EQ(device::living_textures(), 0);
    {
        Context context;
        int most = 0;
        for (std::int64_t first = 0; first < 4000; ++first) {
            const VectorView<const float> part{x.view().data + first, 100 + first % 7, 1};
            EXPECT_EQ(sum(context, part, {ReduceKernel::texture}), static_cast<float>(part.size));
            most = std::max(most, device::living_textures());
        }
        EXPECT_LE(most, 2 * static_cast<int>(TexturePool::capacity));
        EXPECT_GT(most, 0);
    }
    EXPECT_EQ(device::living_textures(), 0);
}

TEST(Textures, TheSameVectorMakesOne) {
    Matrix<float> x(1, 100, Memory::managed);
    for (int i = 0; i < 100; ++i) x(0, i) = 1;
    Context context;
    for (int repeat = 0; repeat < 10; ++repeat)
        EXPECT_EQ(sum(context, x.view().row(0), {ReduceKernel::texture}), 100);
    EXPECT_EQ(device::living_textures(), 1);
}

TEST(Textures, ALongVectorTakesSeveralUntilThereAreTooMany) {
    const std::int64_t of_one = device::longest_texture(16, 0) / 2 * 4;  // the rest is overlap
    for (const std::int64_t n :
         {of_one, of_one + 1, 3 * of_one - 5, 15 * of_one, 16 * of_one + 1}) {
        Matrix<float> x(1, n, Memory::managed);
        for (std::int64_t i = 0; i < n; ++i) x(0, i) = static_cast<float>(i % 3);
        Matrix<float> results(1, 2, Memory::managed);
        Context context;
        const VectorView<const float> view = x.view().row(0);
        const auto choice = sum(context, view, &results(0, 0), {ReduceKernel::texture});
        sum(context, view, &results(0, 1), {ReduceKernel::tuned});
        // A texture starts at a multiple of more bytes than an allocation does.
        const auto before =
            reinterpret_cast<std::uintptr_t>(view.data) % device::texture_alignment(0);
        const std::int64_t shown = n + static_cast<std::int64_t>(before / sizeof(float));
        const bool fits = shown <= 16 * of_one;
        EXPECT_EQ(choice.kernel, fits ? ReduceKernel::texture : ReduceKernel::tuned) << n;
        EXPECT_EQ(device::living_textures(),
                  fits ? static_cast<int>((shown + of_one - 1) / of_one) : 0);
        EXPECT_EQ(bits(results(0, 0)), bits(results(0, 1))) << n;
    }
}

}  // namespace
}  // namespace tinyblas::test
