// SPDX-License-Identifier: MIT
// Bad arguments of libtinyblas_blas: the numbers, which handler is called, that nothing is written;
// a process that was forked.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "blas_names.hpp"

namespace {

bool ask_library = false;  // for its own handlers
std::vector<std::string> errors;

}  // namespace

// This program's handlers, which win over the library's. The Fortran one has no terminating zero.
extern "C" void xerbla_(const char* routine, const int* info, std::size_t length) {
    if (ask_library)
        return reinterpret_cast<decltype(xerbla_)*>(dlsym(RTLD_NEXT, "xerbla_"))(routine, info,
                                                                                 length);
    errors.push_back(std::string(routine, length) + std::to_string(*info));
}
extern "C" void cblas_xerbla(int number, const char* routine, const char* form, ...) {
    if (ask_library)
        return reinterpret_cast<decltype(cblas_xerbla)*>(dlsym(RTLD_NEXT, "cblas_xerbla"))(
            number, routine, form, 7);
    errors.push_back(std::string(routine) + ' ' + std::to_string(number));
}

namespace tinyblas::test {
namespace {

struct Arguments {
    int layout = 102;
    int opa = 111, opb = 111;
    int m = 3, n = 4, k = 5, lda = 3, ldb = 5, ldc = 3;
};

template <class T>
class BlasErrors : public testing::Test {
  protected:
    void SetUp() override { errors.clear(), ask_library = false; }

    /// What the handlers were told; C must be as it was.
    template <class Change>
    std::vector<std::string> of(Change change, bool fortran) {
        Arguments x;
        change(x);
        const std::vector<T> a(100, 1);
        std::vector<T> c(100, 7);
        errors.clear();
        const auto letter = [](int op) { return op == 111 ? 'N' : op == 112 ? 'T' : 'X'; };
        if (fortran)
            Blas<T>::gemm(letter(x.opa), letter(x.opb), x.m, x.n, x.k, 1, a.data(), x.lda, a.data(),
                          x.ldb, 0, c.data(), x.ldc);
        else
            Blas<T>::cblas_gemm(x.layout, x.opa, x.opb, x.m, x.n, x.k, 1, a.data(), x.lda, a.data(),
                                x.ldb, 0, c.data(), x.ldc);
        EXPECT_EQ(c, std::vector<T>(100, 7));
        return errors;
    }
    template <class Change>
    std::vector<std::string> fortran(Change change) {
        return of(change, true);
    }
    template <class Change>
    std::vector<std::string> cblas(Change change) {
        return of(change, false);
    }

    static std::vector<std::string> one(const char* name, int number) {
        std::string routine = name;
        routine.replace(routine.find('?'), 1, 1, Blas<T>::letter);
        if (routine[0] != 'c') routine[0] = Blas<T>::letter == 's' ? 'S' : 'D';
        return {routine + ' ' + std::to_string(number)};
    }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlasErrors, Types);

TYPED_TEST(BlasErrors, FortranNumbers) {
    const auto number = [&](int value) { return this->one("?GEMM", value); };
    EXPECT_EQ(this->fortran([](auto& x) { x.opa = 0; }), number(1));
    EXPECT_EQ(this->fortran([](auto& x) { x.opb = 0; }), number(2));
    EXPECT_EQ(this->fortran([](auto& x) { x.m = -1; }), number(3));
    EXPECT_EQ(this->fortran([](auto& x) { x.n = -1; }), number(4));
    EXPECT_EQ(this->fortran([](auto& x) { x.k = -1; }), number(5));
    EXPECT_EQ(this->fortran([](auto& x) { x.lda = 2; }), number(8));
    EXPECT_EQ(this->fortran([](auto& x) { x.opa = 112, x.lda = 4; }), number(8));
    EXPECT_EQ(this->fortran([](auto& x) { x.ldb = 4; }), number(10));
    EXPECT_EQ(this->fortran([](auto& x) { x.opb = 112, x.ldb = 3; }), number(10));
    EXPECT_EQ(this->fortran([](auto& x) { x.ldc = 2; }), number(13));
    EXPECT_EQ(this->fortran([](auto& x) { x.m = 0, x.lda = 0; }), number(8));   // even if m = 0
    EXPECT_EQ(this->fortran([](auto& x) { x.n = -1, x.ldc = 0; }), number(4));  // the first
}

// As the reference: from the column-major product of which they are, without the layout.
TYPED_TEST(BlasErrors, CblasNumbers) {
    const auto c_name = [&](int value) { return this->one("cblas_?gemm", value); };
    const auto number = [&](int value) { return this->one("?GEMM", value); };
    EXPECT_EQ(this->cblas([](auto& x) { x.layout = 100; }), c_name(1));
    for (const int layout : {101, 102}) {
        EXPECT_EQ(this->cblas([&](auto& x) { x.layout = layout, x.opa = 110; }), c_name(2));
        EXPECT_EQ(this->cblas([&](auto& x) { x.layout = layout, x.opb = 114; }), c_name(3));
        EXPECT_EQ(this->cblas([&](auto& x) { x.layout = layout, x.opa = x.opb = 0; }), c_name(2));
    }
    EXPECT_EQ(this->cblas([](auto& x) { x.m = -1; }), number(3));
    EXPECT_EQ(this->cblas([](auto& x) { x.lda = 2; }), number(8));
    const auto of_rows = [](auto& x) { x.layout = 101, x.lda = 5, x.ldb = 4, x.ldc = 4; };
    EXPECT_EQ(this->cblas([&](auto& x) { of_rows(x), x.m = -1; }), number(4));
    EXPECT_EQ(this->cblas([&](auto& x) { of_rows(x), x.n = -1; }), number(3));
    EXPECT_EQ(this->cblas([&](auto& x) { of_rows(x), x.lda = 4; }), number(10));
    EXPECT_EQ(this->cblas([&](auto& x) { of_rows(x), x.ldb = 3; }), number(8));
    EXPECT_EQ(this->cblas([&](auto& x) { of_rows(x), x.ldc = 3; }), number(13));
}

// Without handlers of the program's own. A process of its own for each: they end it.
TEST(BlasErrorsDeathTest, LibrarysOwnHandlers) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ask_library = true;
    const float a[20] = {};
    float c[20];
    const auto in_rows = [&](int m, int lda) {
        cblas_sgemm(101, 111, 111, m, 4, 5, 1, a, lda, a, 4, 0, c, 4);
    };
    const auto failed = testing::ExitedWithCode(EXIT_FAILURE);
    EXPECT_EXIT(Blas<float>::gemm('N', 'N', 3, 4, 5, 1, a, 2, a, 5, 0, c, 3), failed,
                "On entry to SGEMM parameter number 8 had an illegal value");
    EXPECT_EXIT(in_rows(3, 4), failed, "Parameter 9 to routine cblas_sgemm was incorrect");
    EXPECT_EXIT(in_rows(-3, 5), failed, "Parameter 4 to routine cblas_sgemm was incorrect");
    EXPECT_EXIT(cblas_dgemm(7, 111, 111, 1, 1, 1, 1, nullptr, 1, nullptr, 1, 0, nullptr, 1), failed,
                "Parameter 1 to routine cblas_dgemm was incorrect\nIllegal layout setting, 7");
}

// A GPU's context does not survive a fork: there the host computes.
TEST(BlasProcess, ForkedChildComputes) {
    const std::vector<float> x(1000, 2);
    ASSERT_EQ(cblas_sdot(1000, x.data(), 1, x.data(), 1), 4000);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(60);
        const bool right = cblas_sdot(1000, x.data(), 1, x.data(), 1) == 4000 &&
                           cblas_sasum(1000, x.data(), 1) == 2000;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace tinyblas::test
