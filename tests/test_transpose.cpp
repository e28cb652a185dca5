// SPDX-License-Identifier: MIT
// transpose of random bits, by every rung and every line of the table: all storages, extents around
// every edge, in place and out of place, what ran.
#include <array>

#include "transpose_problem.hpp"

namespace tinyblas::test {
namespace {

// Storages whose rows, or columns, are contiguous: what the tuned rung takes.
constexpr Storage by_runs[] = {
    {.name = "row_major"},
    {.name = "column_major", .by_column = true},
    {.name = "row_major_block", .ld_extra = 24, .offset = 8},
    {.name = "aligned_ld", .ld_factor = 16},
    {.name = "odd_ld_off_1", .ld_extra = 3, .offset = 1},
    {.name = "even_ld_off_2", .ld_extra = 2, .offset = 2},
    {.name = "column_major_odd_ld_off_3", .by_column = true, .ld_extra = 5, .offset = 3},
    {.name = "aligned_ld_off_5", .ld_factor = 16, .offset = 5},
    {.name = "aligned_rows_backwards", .ld_factor = 16, .flip_rows = true},
};

// Little enough for compute-sanitizer.
class SmallTranspose : public TransposeVariants {};
TINYBLAS_FOR_EACH_TRANSPOSE_VARIANT(SmallTranspose);

TEST_P(SmallTranspose, EveryStorage) {
    run([&]<class T>(T) {
        const std::int64_t m = is(TransposeForm::slim) ? 7 : 67;
        for (int index = 0; index < output_storages; ++index) {
            const Storage& storage = storages[index];
            TransposeProblem<T> p(m, 70, 100 + index, storage, storage);
            ASSERT_TRUE(passes(p));
            TransposeProblem<T> other(70, m, 120 + index, storage, storages[(index + 1) % 2]);
            ASSERT_TRUE(passes(other));
            TransposeProblem<T> in_place(70, 140 + index, storage);
            ASSERT_TRUE(passes(in_place));
        }
    });
}

// More than one whole tile each way, aligned: the paths without a guard.
TEST_P(SmallTranspose, WholeTiles) {
    run([&]<class T>(T) {
        constexpr Storage aligned = {.name = "aligned", .ld_extra = 16};
        TransposeProblem<T> p(256, 256, 200, aligned, aligned);
        ASSERT_TRUE(passes(p));
        TransposeProblem<T> in_place(256, 201, aligned);
        ASSERT_TRUE(passes(in_place));
        TransposeProblem<T> wide(8, 1024, 202), tall(1024, 8, 203);
        ASSERT_TRUE(passes(wide));
        ASSERT_TRUE(passes(tall));
    });
}

class Transpose : public TransposeVariants {};
TINYBLAS_FOR_EACH_TRANSPOSE_VARIANT(Transpose);

constexpr std::int64_t edges[] = {1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129};

// Every pair of extents around the tiles' edges; storages vary along.
TEST_P(Transpose, EveryPairOfExtents) {
    run([&]<class T>(T) {
        std::uint64_t seed = 300;
        for (const std::int64_t m : edges)
            for (const std::int64_t n : edges) {
                ++seed;
                if (options.entry >= 0 && (m == 1 || n == 1)) continue;  // a test of its own
                TransposeProblem<T> p(m, n, seed, by_runs[seed % 3], by_runs[seed % 3]);
                ASSERT_TRUE(passes(p));
            }
    });
}

// Rows that begin anywhere: every storage of A meets every storage of B.
TEST_P(Transpose, EveryPairOfStorages) {
    run([&]<class T>(T) {
        std::uint64_t seed = 600;
        for (const Storage& a : by_runs)
            for (const Storage& b : by_runs) {
                Random random(++seed);
                std::int64_t m = random.integer(2, 100), n = random.integer(2, 100);
                if (is(TransposeForm::slim)) (seed % 2 == 0 ? m : n) = random.integer(2, 31);
                TransposeProblem<T> p(m, n, seed, a, b);
                ASSERT_TRUE(passes(p));
            }
    });
}

TEST_P(Transpose, GeneralStrides) {
    if (options.entry >= 0) return;
    run([&]<class T>(T) {
        for (int pair = 0; pair < input_storages * output_storages; ++pair) {
            Random random(700 + static_cast<std::uint64_t>(pair));
            const std::int64_t m = random.integer(1, 70), n = random.integer(1, 70);
            TransposeProblem<T> p(m, n, 900 + static_cast<std::uint64_t>(pair),
                                  storages[pair % input_storages], storages[pair / input_storages]);
            ASSERT_TRUE(passes(p));
        }
    });
}

// Several blocks of slim's length, whole and ragged, packed and not.
TEST_P(Transpose, Slim) {
    if (options.entry >= 0 && !is(TransposeForm::slim)) return;
    run([&]<class T>(T) {
        std::uint64_t seed = 1100;
        for (const std::int64_t slim : {2, 3, 4, 7, 8, 16, 17, 24, 31})
            for (const std::int64_t extent : {257, 1000, 1024}) {
                const Storage& storage = by_runs[++seed % std::size(by_runs)];
                TransposeProblem<T> wide(slim, extent, seed, storage);
                ASSERT_TRUE(passes(wide));
                TransposeProblem<T> tall(extent, slim, seed, storages[0], storage);
                ASSERT_TRUE(passes(tall));
            }
    });
}

TEST_P(Transpose, ManyTiles) {
    run([&]<class T>(T) {
        for (const auto& [m, n] : {std::pair{100, 257}, {257, 100}, {160, 270}}) {
            TransposeProblem<T> packed(m, n, 1200);
            ASSERT_TRUE(passes(packed));
            TransposeProblem<T> odd(m + 1, n, 1201, by_runs[4], by_runs[7]);
            ASSERT_TRUE(passes(odd));
        }
    });
}

TEST_P(Transpose, InPlace) {
    if (options.entry >= 0 && !is(TransposeForm::in_place)) return;
    run([&]<class T>(T) {
        for (const std::int64_t n : {0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200})
            for (const Storage& storage : by_runs) {
                if (options.entry >= 0 && n <= 1) continue;
                TransposeProblem<T> p(n, 1300 + static_cast<std::uint64_t>(n), storage);
                ASSERT_TRUE(passes(p));
            }
    });
}

// A vector is a matrix, too: with any stride for the direction that is never walked.
TEST_P(Transpose, Vectors) {
    if (options.entry >= 0) return;
    run([&]<class T>(T) {
        for (const std::int64_t n : {1, 2, 7, 8, 255, 256, 257, 1000, 4099})
            for (const Storage& storage : {storages[0], storages[4], storages[7], storages[9]}) {
                TransposeProblem<T> row(1, n, 1400, storage, storages[0]);
                ASSERT_TRUE(passes(row));
                TransposeProblem<T> column(n, 1, 1401, storages[0], storage);
                ASSERT_TRUE(passes(column));
            }
        TransposeProblem<T> p(1, 9, 1402);
        p.a.upload(context);
        MatrixView<T> a = p.a.device(), b = p.b->device();
        a.row_stride = 0;
        b.column_stride = -3;
        p.b->upload(context);
        transpose<T>(context, a, b, options);
        p.a.download(context);
        p.b->download(context);
        ASSERT_TRUE(p.right());
    });
}

TEST_P(Transpose, Empty) {
    run([&]<class T>(T) {
        for (const auto& [m, n] : {std::pair{0, 0}, {0, 5}, {5, 0}}) {
            const MatrixView<T> a = {nullptr, m, n, n, 1}, b = {nullptr, n, m, m, 1};
            const TransposeChoice choice = transpose<T>(context, a, b, options);
            EXPECT_EQ(choice.kernel, TransposeKernel::none);
            EXPECT_EQ(choice.entry, -1);
        }
    });
}

// What ran.

TEST_P(Transpose, ReportsWhatRan) {
    run([&]<class T>(T) {
        if (options.entry >= 0) {
            const bool slim = is(TransposeForm::slim);
            TransposeProblem<T> p(slim ? 4 : 40, 40, 1500), in_place(40, 1501, storages[0]);
            TransposeProblem<T>& fits = is(TransposeForm::in_place) ? in_place : p;
            const TransposeChoice choice = fits.run(context, options);
            EXPECT_EQ(choice.kernel, TransposeKernel::tuned);
            EXPECT_EQ(choice.entry, options.entry);
            return;
        }
        const auto ran = [&](TransposeProblem<T> p) {
            const TransposeChoice choice = p.run(context, options);
            EXPECT_EQ(choice.entry >= 0, choice.kernel == TransposeKernel::tuned);
            if (choice.entry >= 0) {
                EXPECT_EQ(choice.entry, choose_transpose_entry(p.operands())) << p;
            }
            return choice.kernel;
        };
        const auto expect = [&](TransposeProblem<T> p, TransposeKernel kernel) {
            const bool asked = options.kernel == TransposeKernel::naive ||
                               options.kernel == TransposeKernel::padded;
            EXPECT_EQ(ran(std::move(p)), asked ? options.kernel : kernel);
        };
        const Storage &row_major = storages[0], &column_major = storages[1];
        const Storage &odd = by_runs[4], &general = storages[7];
        expect({40, 48, 1502, row_major, row_major}, TransposeKernel::tuned);
        expect({40, 48, 1503, column_major, column_major}, TransposeKernel::tuned);
        expect({4, 48, 1504, row_major, row_major}, TransposeKernel::tuned);
        expect({40, 48, 1505, odd, odd}, TransposeKernel::tuned);
        expect({40, 48, 1506, row_major, general}, TransposeKernel::padded);
        expect({40, 48, 1507, general, row_major}, TransposeKernel::padded);
        // The same order on both sides: a copy.
        expect({40, 48, 1508, row_major, column_major}, TransposeKernel::naive);
        expect({40, 48, 1509, column_major, row_major}, TransposeKernel::naive);
        expect({1, 48, 1510, row_major, row_major}, TransposeKernel::naive);
        expect({48, 1, 1511, row_major, general}, TransposeKernel::naive);
        expect({48, 1512, row_major}, TransposeKernel::tuned);
        expect({48, 1513, general}, TransposeKernel::padded);
    });
}

// Elements whose address is no multiple of their size go in smaller words, whatever rung is asked
// for.
template <class T, std::size_t bytes>
struct Words {
    std::array<T, bytes / sizeof(T)> words;
};

template <class Element>
void expect_right_off_by(Context& context, int off, TransposeKernel kernel) {
    constexpr std::int64_t m = 37, n = 34, square = 35;
    const auto options = TransposeOptions{kernel, -1};
    Random random(static_cast<std::uint64_t>(1600 + off));
    using Bytes = BitOperand<std::uint16_t>;
    constexpr std::int64_t shorts = (m + 1) * (n + 2) * std::int64_t{sizeof(Element)} / 2;
    Bytes a(1, shorts, storages[0], random), b(1, shorts, storages[0], random);
    a.upload(context);
    b.upload(context);
    const auto element = [off](MatrixView<std::uint16_t> view) {
        return reinterpret_cast<Element*>(reinterpret_cast<std::byte*>(view.data) + off);
    };
    const MatrixView<Element> from = {element(a.device()), m, n, n, 1};
    const MatrixView<Element> to = {element(b.device()), n, m, m, 1};
    const MatrixView<Element> copied = {element(b.device()), n, m, 1, n};
    const auto same = [](const Element* x, const Element* y) {
        return std::memcmp(x, y, sizeof(Element)) == 0;
    };

    for (int entry = 0; entry < transpose_entries; ++entry)
        if (transpose_table[entry].element_size == static_cast<int>(sizeof(Element))) {
            EXPECT_TRUE(refuses(
                [&] {
                    transpose<Element>(context, from, to, {TransposeKernel::tuned, entry});
                },
                {"options.entry is " + std::to_string(entry)}));
        }
    EXPECT_EQ(transpose<Element>(context, from, to, options).kernel, TransposeKernel::naive);
    a.download(context);
    b.download(context);
    EXPECT_TRUE(a.intact());
    const Element *before = element(a.before()), *after = element(b.after());
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            ASSERT_TRUE(same(before + i * n + j, after + j * m + i)) << i << ", " << j;

    EXPECT_EQ(transpose<Element>(context, from, copied, options).kernel, TransposeKernel::naive);
    b.download(context);
    EXPECT_EQ(std::memcmp(element(a.before()), element(b.after()), sizeof(Element) * m * n), 0);

    const MatrixView<Element> itself = {from.data, square, square, square, 1};
    EXPECT_EQ(transpose<Element>(context, itself, options).kernel, TransposeKernel::naive);
    a.download(context);
    after = element(a.after());
    for (int i = 0; i < square; ++i)
        for (int j = 0; j < square; ++j)
            ASSERT_TRUE(same(before + i * square + j, after + j * square + i)) << i << ", " << j;
    const std::int64_t changed = square * square;
    EXPECT_TRUE(same(before + changed, after + changed));
}

TEST(SmallTransposeUnaligned, SmallerWords) {
    Context context;
    for (TransposeKernel kernel : {TransposeKernel::best, TransposeKernel::naive,
                                   TransposeKernel::padded, TransposeKernel::tuned}) {
        expect_right_off_by<Words<char, 2>>(context, 1, kernel);
        for (int off : {1, 2, 3}) expect_right_off_by<Words<char, 4>>(context, off, kernel);
        expect_right_off_by<Words<char, 8>>(context, 7, kernel);
        expect_right_off_by<Words<float, 8>>(context, 4, kernel);
        expect_right_off_by<Words<char, 16>>(context, 2, kernel);
        expect_right_off_by<Words<float, 16>>(context, 12, kernel);
    }
}

TEST(TransposeKernelNames, RoundTrip) {
    for (TransposeKernel kernel : {TransposeKernel::best, TransposeKernel::naive,
                                   TransposeKernel::padded, TransposeKernel::tuned})
        EXPECT_EQ(transpose_kernel(to_string(kernel)), kernel);
    EXPECT_STREQ(to_string(TransposeKernel::none), "none");
    EXPECT_TRUE(
        refuses([] { transpose_kernel("fast"); }, {"fast", "best", "naive", "padded", "tuned"}));
    EXPECT_TRUE(refuses([] { transpose_kernel(""); }, {"best", "naive", "padded", "tuned"}));
}

TEST(TransposeTable, AlignedRowsAlwaysFindALine) {
    for (const int size : {2, 4, 8, 16})
        for (const std::int64_t m : {2, 31, 32, 64, 100, 5000, 1 << 30})
            for (const std::int64_t n : {2, 31, 32, 64, 100, 5000, 1 << 30})
                for (const bool in_place : {false, true}) {
                    const TransposeOperands operands = {size, m, n, true, true, in_place};
                    const int entry = choose_transpose_entry(operands);
                    ASSERT_GE(entry, 0) << size << ": " << m << " x " << n;
                    EXPECT_TRUE(can_run(transpose_table[entry], operands));
                    EXPECT_EQ(transpose_table[entry].element_size, size);
                }
}

TEST(TransposeTable, FormsByOperands) {
    const auto form = [](TransposeOperands operands) {
        return transpose_table[choose_transpose_entry(operands)].form;
    };
    EXPECT_EQ(form({4, 5, 1 << 20, true, true, false}), TransposeForm::slim);
    EXPECT_EQ(form({4, 1 << 20, 31, true, false, false}), TransposeForm::slim);
    EXPECT_EQ(form({4, 4096, 4096, true, true, false}), TransposeForm::vectors);
    EXPECT_EQ(form({4, 4095, 4097, true, false, false}), TransposeForm::skewed);
    EXPECT_EQ(form({4, 4096, 4096, true, true, true}), TransposeForm::in_place);
    EXPECT_EQ(choose_transpose_entry({4, 4096, 4096, true, false, true}), -1);
    EXPECT_EQ(choose_transpose_entry({4, 4096, 4096, false, true, false}), -1);
    EXPECT_EQ(choose_transpose_entry({16, 4096, 4096, true, false, false}), -1);
}

// Few columns, and matrices that stay in the cache, have lines of their own.
TEST(TransposeTable, LinesByExtents) {
    const auto entry = [](std::int64_t m, std::int64_t n, bool aligned) {
        return transpose_table[choose_transpose_entry({4, m, n, true, aligned, false})];
    };
    EXPECT_EQ(entry(1 << 22, 32, true).tile.columns, 32);
    EXPECT_EQ(entry(1 << 22, 36, true).tile.columns, 64);
    EXPECT_EQ(entry(32, 1 << 22, true).tile.rows, 32);
    EXPECT_TRUE(entry(2047, 2045, false).stays_in_cache());
    EXPECT_FALSE(entry(2049, 2051, false).stays_in_cache());
}

}  // namespace
}  // namespace tinyblas::test
