// SPDX-License-Identifier: MIT
// gemm on small integers, where every rounding is exact and the tolerance is 0: catches each
// indexing, edge and stride defect.
#include "gemm_problem.hpp"

namespace tinyblas::test {
namespace {

constexpr int scalars[] = {0, 1, -2, 3};

template <class T>
void pick_scalars(GemmProblem<T>& p) {
    p.alpha = static_cast<T>(scalars[p.random.integer(0, 3)]);
    p.beta = static_cast<T>(scalars[p.random.integer(0, 3)]);
}

// Little enough for compute-sanitizer.
class SmallGemmExact : public GemmVariants {};
TINYBLAS_FOR_EACH_GEMM_VARIANT(SmallGemmExact);

// Every storage, of all operands at once.
TEST_P(SmallGemmExact, EveryStorage) {
    run([&]<class T>(T) {
        for (int index = 0; index < output_storages; ++index) {
            const Storage& storage = storages[index];
            GemmProblem<T> p({37, 35, 13}, static_cast<std::uint64_t>(100 + index), storage,
                             storage, storage);
            pick_scalars(p);
            p.fill_integers();
            p.run(context, options);
            ASSERT_TRUE(exact(p));
        }
    });
}

// k on both sides of every multiple of the tiles' depth, over several stages, in full tiles and in
// ragged ones.
TEST_P(SmallGemmExact, EveryDepth) {
    run([&]<class T>(T) {
        for (std::int64_t k = 0; k <= 50; k < 20 ? ++k : k += 5) {
            const Shape shape = k % 2 == 0 ? Shape{128, 64, k} : Shape{33, 130, k};
            GemmProblem<T> p(shape, static_cast<std::uint64_t>(2000 + k), storages[k % 4],
                             storages[k / 4 % 4]);
            pick_scalars(p);
            p.fill_integers();
            p.run(context, options);
            ASSERT_TRUE(exact(p));
        }
    });
}

class GemmExact : public GemmVariants {};
TINYBLAS_FOR_EACH_GEMM_VARIANT(GemmExact);

// Every storage of A meets every storage of B; C's, the extents and the scalars vary along.
TEST_P(GemmExact, EveryPairOfStorages) {
    run([&]<class T>(T) {
        for (int pair = 0; pair < input_storages * input_storages; ++pair) {
            const auto seed = static_cast<std::uint64_t>(1000 + pair);
            Random random(seed);
            const Shape shape = {random.integer(1, 40), random.integer(1, 40),
                                 random.integer(0, 21)};
            GemmProblem<T> p(shape, seed, storages[pair % input_storages],
                             storages[pair / input_storages], storages[pair * 5 % output_storages]);
            pick_scalars(p);
            p.fill_integers();
            p.run(context, options);
            ASSERT_TRUE(exact(p));
        }
    });
}

TEST_P(GemmExact, EveryPairOfScalars) {
    run([&]<class T>(T) {
        for (int alpha : scalars)
            for (int beta : scalars)
                for (const Storage& c_storage : {storages[0], storages[4], storages[7]}) {
                    GemmProblem<T> p({65, 34, 19}, 3000, storages[0], storages[1], c_storage);
                    p.alpha = static_cast<T>(alpha);
                    p.beta = static_cast<T>(beta);
                    p.fill_integers();
                    p.run(context, options);
                    ASSERT_TRUE(exact(p));
                }
    });
}

// Both sides of every tile's edge, of either extent with the other; storages vary along.
TEST_P(GemmExact, EveryEdge) {
    constexpr std::int64_t edges[] = {1,  2,  3,  7,  8,  9,  15,  16,  17,
                                      31, 32, 33, 63, 64, 65, 127, 128, 129};
    run([&]<class T>(T) {
        std::uint64_t seed = 4000;
        for (const std::int64_t m : edges)
            for (const std::int64_t n : edges) {
                ++seed;
                GemmProblem<T> p({m, n, 1 + static_cast<std::int64_t>(seed % 19)}, seed,
                                 storages[seed % input_storages],
                                 storages[seed / 5 % input_storages],
                                 storages[seed / 3 % output_storages]);
                pick_scalars(p);
                p.fill_integers();
                p.run(context, options);
                ASSERT_TRUE(exact(p));
            }
    });
}

// Many blocks, so that their numbering matters: more tile rows than a group of the raster holds,
// and a ragged last group.
TEST_P(GemmExact, ManyTiles) {
    run([&]<class T>(T) {
        for (const Shape shape : {Shape{300, 70, 5}, Shape{70, 300, 9}, Shape{1200, 129, 2}}) {
            GemmProblem<T> p(shape, 5000);
            p.fill_integers();
            p.run(context, options);
            ASSERT_TRUE(exact(p));
        }
    });
}

// 2,000 ragged shapes, dealt to the variants in turn.
TEST(GemmSweep, RaggedShapes) {
    Context context;
    const std::vector<GemmVariant> variants = gemm_variants();
    const auto one = [&]<class T>(T, std::uint64_t seed, const GemmOptions& options) {
        Random random(seed);
        const Shape shape = {random.integer(1, 75), random.integer(1, 75), random.integer(0, 50)};
        const auto any = [&](int count) { return storages[random.integer(0, count - 1)]; };
        GemmProblem<T> p(shape, seed, any(input_storages), any(input_storages),
                         any(output_storages));
        pick_scalars(p);
        p.fill_integers();
        p.run(context, options);
        return exact(p);
    };
    for (std::uint64_t index = 0; index < 2000; ++index) {
        const GemmVariant& variant = variants[index % variants.size()];
        const testing::AssertionResult result = variant.type == Scalar::float32
                                                    ? one(0.0f, 6000 + index, variant.options)
                                                    : one(0.0, 6000 + index, variant.options);
        ASSERT_TRUE(result) << variant;
    }
}

}  // namespace
}  // namespace tinyblas::test
