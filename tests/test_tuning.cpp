// SPDX-License-Identifier: MIT
// Tuning files: what a line decides, what it leaves alone, and that a wrong file is refused with
// its line and changes nothing.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "gemm_problem.hpp"
#include "tinyblas/tinyblas.h"

namespace tinyblas::test {
namespace {

/// A file of its own, for as long as it is needed.
class File {
  public:
    explicit File(const std::string& text)
        : path_(testing::TempDir() + "tinyblas_" + std::to_string(getpid()) + ".tune") {
        std::ofstream(path_) << text;
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { std::remove(path_.c_str()); }
    const char* path() const { return path_.c_str(); }

  private:
    std::string path_;
};

const std::string head = "# measured\ntinyblas-tuning 1\n";

class SmallTuning : public testing::Test {
  protected:
    void load(const std::string& lines, int count) {
        const File file(head + lines + "end " + std::to_string(count) + "\n");
        context.load_tuning(file.path());
    }
    template <class T = float>
    GemmChoice run(Shape shape, GemmOptions options = {}, const Storage& a = storages[0],
                   const Storage& c = storages[0]) {
        GemmProblem<T> p(shape, 1, a, storages[0], c);
        p.fill_integers();
        const GemmChoice choice = p.run(context, options);
        EXPECT_TRUE(exact(p));
        return choice;
    }
    std::string reason(Shape shape, GemmOptions options = {}) {
        GemmProblem<float> p(shape, 1);
        for (Operand<float>* operand : {&p.a, &p.b, &p.c}) operand->upload(context);
        return explain(context, 1, p.a.device(), p.b.device(), 0, p.c.device(), options).reason;
    }
    /// The last entry of float that runs here, as a word, and another one.
    int entry(bool last) const {
        int found = -1;
        for (int e = 0; e < gemm_entries; ++e)
            if (gemm_table[e].type == Scalar::float32 &&
                runs_on(gemm_table[e], context.compute_capability()) && (last || found < 0))
                found = e;
        return found;
    }

    Context context;
    const Shape shape = {40, 33, 20};
};

TEST_F(SmallTuning, ALineDecidesForItsExtents) {
    const GemmKernel own = run(shape).kernel;
    ASSERT_NE(own, GemmKernel::tiled);
    load("gemm float any 40 33-64 1-20 tiled\n", 1);
    EXPECT_EQ(run(shape).kernel, GemmKernel::tiled);
    EXPECT_EQ(reason(shape),
              "strict: the precision is fp32_strict; the rung tiled, by line 3 of the tuning file");
    for (const Shape& other : {Shape{41, 33, 20}, Shape{40, 32, 20}, Shape{40, 33, 21}})
        EXPECT_NE(run(other).kernel, GemmKernel::tiled);
    EXPECT_NE(run<double>(shape).kernel, GemmKernel::tiled);
    context.load_tuning(nullptr);
    EXPECT_EQ(run(shape).kernel, own);
    EXPECT_EQ(reason(shape).find("tuning file"), std::string::npos);
}

TEST_F(SmallTuning, TheFirstLineThatFits) {
    load(
        "gemm float any 1-39 * * naive\ngemm float any * * 20-* tiled # all\n"
        "gemm float any * * * naive\n",
        3);
    EXPECT_EQ(run(shape).kernel, GemmKernel::tiled);
    EXPECT_EQ(run({39, 33, 20}).kernel, GemmKernel::naive);
    EXPECT_EQ(run({40, 33, 19}).kernel, GemmKernel::naive);
}

TEST_F(SmallTuning, Entries) {
    for (const bool last : {false, true}) {
        load("gemm float any * * * tuned " + std::to_string(entry(last)) + "\n", 1);
        EXPECT_EQ(run(shape).entry, entry(last));
    }
    load("gemm float any * * * tuned " + std::to_string(entry(false)) + "\n", 1);
    GemmProblem<float> long_k({70, 66, 300}, 1);  // which 9.0's entry, unasked, cuts
    long_k.fill([](Random& r) { return r.normal(); });
    EXPECT_EQ(long_k.run(context).kernel, GemmKernel::tuned);
    EXPECT_TRUE(chained(long_k));
    load("gemm float any * * * tuned\n", 1);
    const GemmChoice chosen = run(shape);
    EXPECT_EQ(chosen.kernel, GemmKernel::tuned);
    EXPECT_EQ(chosen.entry, run(shape, {GemmKernel::tuned}).entry);
}

TEST_F(SmallTuning, Layouts) {
    load("gemm float NN * * * naive\ngemm float TN * * * tiled\n", 2);
    EXPECT_EQ(run(shape).kernel, GemmKernel::naive);
    EXPECT_EQ(run(shape, {}, storages[1]).kernel, GemmKernel::tiled);
    // C by columns counts as its transpose: 33 x 40, of transposed operands.
    load("gemm float TT 33 40 * naive\n", 1);
    EXPECT_EQ(run(shape, {}, storages[0], storages[1]).kernel, GemmKernel::naive);
    EXPECT_NE(run(shape).kernel, GemmKernel::naive);
}

TEST_F(SmallTuning, ARungAskedForStays) {
    load("gemm float any * * * tiled\ngemm double any * * * tiled\n", 2);
    EXPECT_EQ(run(shape, {GemmKernel::naive}).kernel, GemmKernel::naive);
    EXPECT_EQ(run(shape, {GemmKernel::tuned}).kernel, GemmKernel::tuned);
    EXPECT_EQ(run(shape, {GemmKernel::best, entry(true)}).entry, entry(true));
    EXPECT_EQ(run({40, 1, 20}).kernel, GemmKernel::gemv);
    EXPECT_EQ(run<double>(shape).kernel, GemmKernel::tiled);
}

TEST_F(SmallTuning, GoesWithTheContext) {
    load("gemm float any * * * tiled\n", 1);
    Context other(std::move(context));
    context = std::move(other);
    EXPECT_EQ(run(shape).kernel, GemmKernel::tiled);
}

TEST_F(SmallTuning, WrongFilesChangeNothing) {
    load("gemm float any * * * tiled\n", 1);
    const auto refused = [&](const std::string& text, std::initializer_list<std::string> words) {
        const File file(text);
        EXPECT_TRUE(refuses([&] { context.load_tuning(file.path()); }, words)) << text;
        EXPECT_EQ(run(shape).kernel, GemmKernel::tiled) << text;
    };
    const std::string good = "gemm float any * * * naive\n";
    refused("", {"has no end"});
    refused(good, {".tune:1: ", "is no head: must be 'tinyblas-tuning 1'"});
    refused("tinyblas-tuning 2\nend 0\n", {".tune:1: ", "'tinyblas-tuning 2' is no head"});
    refused(head + good, {"has no end: must close with 'end'"});
    refused(head + good + "end 2\n", {".tune:4: ", "the end says '2' lines: must be the 1 above"});
    refused(head + good + "end\n", {".tune:4: ", "the end says '' lines"});
    refused(head + good + "end 1\n" + good, {".tune:5: ", "'gemm' stands behind the end"});
    refused(head + good + "end 1\nend 1\n", {".tune:5: ", "'end' stands behind the end"});
    refused(head + "gemv" + good.substr(4), {".tune:3: ", "the operation is 'gemv': must be gemm"});

    const auto wrong = [&](const std::string& line, std::initializer_list<std::string> words) {
        refused(head + good + "gemm " + line + "\nend 2\n", words);
    };
    wrong("float any * * *", {".tune:4: must be: gemm, type, layouts, m, n, k, rung"});
    wrong("float any * * * tuned 1 2", {".tune:4: must be: gemm, type"});
    wrong("half any * * * tuned", {".tune:4: the type is 'half': must be float or double"});
    wrong("float NX * * * tuned", {"the layouts are 'NX': must be NN, NT, TN, TT or any"});
    wrong("float any 0 * * tuned", {"m is '0': must be a whole number of at least 1"});
    wrong("float any * -5 * tuned", {"n is '': must be a whole number"});
    wrong("float any * * 3x tuned", {"k is '3x': must be a whole number"});
    wrong("float any * * 99999999999999999999 tuned", {"k is '99999999999999999999'"});
    wrong("float any 9-8 * * tuned", {"m is '9-8': must begin at or before its end"});
    wrong("float any * * * fast", {"the rung is 'fast': must be naive, tiled"});
    wrong("float any * * * hopper", {"the rung is 'hopper': must be naive"});
    wrong("float any * * * tensor", {"options.kernel is tensor", "for operands of type float"});
    wrong("float any * * * tuned x", {"the entry is 'x': must be a whole number of at least 0"});
    wrong("float any * * * tuned 9999", {"the entry is 9999: must lie in 0 to "});
    wrong("float any * * * tiled 0", {"options.entry is 0: must be -1 for the rung tiled"});
    wrong("double any * * * tuned " + std::to_string(entry(true)),
          {"must be an entry of the operands' type"});
    EXPECT_TRUE(refuses([&] { context.load_tuning("/nowhere/gemm.tune"); },
                        {"/nowhere/gemm.tune: cannot be read"}));
    EXPECT_EQ(run(shape).kernel, GemmKernel::tiled);
}

TEST(SmallTuningC, FromC) {
    tinyblas_context context = nullptr;
    ASSERT_EQ(tinyblas_create(&context), TINYBLAS_SUCCESS);
    const auto ran = [&] {
        Matrix<float> x(1, 64, Memory::managed), y(1, 64);
        for (std::int64_t i = 0; i < 64; ++i) x(0, i) = 1;
        const float* const in = x.view().data;
        EXPECT_EQ(tinyblas_sgemm(context, TINYBLAS_ROW_MAJOR, TINYBLAS_NO_TRANS, TINYBLAS_NO_TRANS,
                                 8, 8, 8, 1, in, 8, in, 8, 0, y.view().data, 8),
                  TINYBLAS_SUCCESS);
        EXPECT_EQ(tinyblas_synchronize(context), TINYBLAS_SUCCESS);
        const char* name = nullptr;
        EXPECT_EQ(tinyblas_get_gemm_kernel(context, &name), TINYBLAS_SUCCESS);
        return std::string(name);
    };
    const std::string own = ran();
    {
        const File file(head + "gemm float any 8 8 8 tiled\nend 1\n");
        EXPECT_EQ(tinyblas_load_tuning(context, file.path()), TINYBLAS_SUCCESS);
        EXPECT_EQ(ran(), "tiled");
    }
    EXPECT_EQ(tinyblas_load_tuning(context, "/nowhere"), TINYBLAS_INVALID_ARGUMENT);
    EXPECT_STREQ(tinyblas_last_error(), "tinyblas_load_tuning: /nowhere: cannot be read");
    EXPECT_EQ(ran(), "tiled");
    EXPECT_EQ(tinyblas_load_tuning(context, nullptr), TINYBLAS_SUCCESS);
    EXPECT_EQ(ran(), own);
    EXPECT_EQ(tinyblas_load_tuning(nullptr, nullptr), TINYBLAS_INVALID_ARGUMENT);
    tinyblas_destroy(context);
}

}  // namespace
}  // namespace tinyblas::test
