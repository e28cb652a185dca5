// SPDX-License-Identifier: MIT
// What polyval refuses, with which sentence, and that a refused call writes nothing.
#include <functional>

#include "polyval_problem.hpp"

namespace tinyblas::test {
namespace {

template <class T>
class SmallPolyvalErrors : public testing::Test {
  protected:
    struct Call {
        std::span<const T> coefficients;
        VectorView<const T> x;
        VectorView<T> y;
        PolyvalOptions options;
    };
    /// polyval on a good problem after `spoil` must be refused with all of `words` and leave
    /// everything as it was.
    void expect_refused(std::function<void(Call&)> spoil,
                        std::initializer_list<std::string> words) {
        PolyvalProblem<T> p(8, 3, 1);
        p.upload(context);
        Call call = {p.coefficients, p.device_x(), p.device_y(), {}};
        spoil(call);
        EXPECT_TRUE(refuses(
            [&] { polyval(context, call.coefficients, call.x, call.y, call.options); }, words));
        p.download(context);
        EXPECT_TRUE(p.x.intact() && p.y.intact());
    }
    Context context;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallPolyvalErrors, Types);

TYPED_TEST(SmallPolyvalErrors, Coefficients) {
    using T = TypeParam;
    this->expect_refused([](auto& call) { call.coefficients = {}; },
                         {"polyval: coefficients are empty: must be at least 1"});
    this->expect_refused(
        [](auto& call) {
            call.coefficients = std::span<const T>(static_cast<const T*>(nullptr), 4);
        },
        {"polyval: coefficients are null: must point to 4 coefficients"});
}

TYPED_TEST(SmallPolyvalErrors, Sizes) {
    this->expect_refused([](auto& call) { call.x.size = call.y.size = -3; },
                         {"polyval: x has -3 elements: must be at least 0"});
    this->expect_refused([](auto& call) { call.y.size = 7; },
                         {"polyval: y has 7 elements but x has 8: must be equal"});
    this->expect_refused([](auto& call) { call.x.size = 0; },
                         {"polyval: y has 8 elements but x has 0"});
    this->expect_refused([](auto& call) { call.y.size = -8; },
                         {"polyval: y has -8 elements but x has 8"});
}

TYPED_TEST(SmallPolyvalErrors, NullPointers) {
    this->expect_refused([](auto& call) { call.x.data = nullptr; },
                         {"polyval: x is null: must point to 8 elements"});
    this->expect_refused([](auto& call) { call.y.data = nullptr; },
                         {"polyval: y is null: must point to 8 elements"});
}

TYPED_TEST(SmallPolyvalErrors, IncrementZero) {
    this->expect_refused([](auto& call) { call.y.increment = 0; },
                         {"polyval: y has an increment of 0: must not be 0 for 8 elements"});
}

TYPED_TEST(SmallPolyvalErrors, Options) {
    const auto refused = [this](PolyvalOptions options, std::initializer_list<std::string> words) {
        this->expect_refused([options](auto& call) { call.options = options; }, words);
    };
    for (const int kernel : {-1, 4, 99})
        refused({static_cast<PolyvalKernel>(kernel)},
                {"polyval: options.kernel is " + std::to_string(kernel) +
                 ": must be best, naive, constant or tuned"});
    for (const PolyvalKernel kernel : {PolyvalKernel::naive, PolyvalKernel::constant})
        refused({kernel, true},
                {"polyval: options.compensated is true: must be false for the rung ",
                 to_string(kernel)});
    EXPECT_TRUE(refuses([] { polyval_kernel("fast"); },
                        {"polyval: there is no rung 'fast'", "best, naive, constant or tuned"}));
    EXPECT_TRUE(refuses([] { polyval_kernel("none"); }, {"'none'"}));
}

// Even where nothing is to be done, the arguments must make sense.
TYPED_TEST(SmallPolyvalErrors, OfNoElements) {
    this->expect_refused(
        [](auto& call) {
            call.x.size = call.y.size = 0;
            call.coefficients = {};
        },
        {"coefficients are empty"});
}

TYPED_TEST(SmallPolyvalErrors, Overlap) {
    const auto refused = [this](auto change) {
        this->expect_refused(
            [change](auto& call) {
                call.y.size = call.x.size = 4;
                call.y.data = const_cast<TypeParam*>(call.x.data);
                change(call);
            },
            {"polyval: y overlaps x: must lie apart, or be the very same view"});
    };
    refused([](auto& call) { call.y.data += 1; });
    refused([](auto& call) { call.x.data += 3; });
    refused([](auto& call) { call.y.increment = -1; });
    refused([](auto& call) { call.y.increment = 2; });
    refused([](auto& call) { call.x.increment = 2; });
    refused([](auto& call) { call.x.increment = 0; });
    refused([](auto& call) {
        call.x.increment = call.y.increment = -2;
        call.y.data += 2;
    });
    refused([](auto& call) {
        call.x.size = call.y.size = 1;
        call.y.data = reinterpret_cast<TypeParam*>(reinterpret_cast<char*>(call.y.data) + 1);
    });
}

// Elements in turn: x, y, x, y ... of one buffer.
TYPED_TEST(SmallPolyvalErrors, InterleavedVectorsAreAccepted) {
    using T = TypeParam;
    for (const std::int64_t direction : {1, -1}) {
        Operand<T> buffer(1, 12);
        T next = 0;
        buffer.fill([&] { return ++next; });
        buffer.upload(this->context);
        T* data = &buffer.device()(0, 0);
        const std::vector<T> square = {0, 0, 1};
        polyval(this->context, std::span<const T>(square), VectorView<const T>{data, 6, 2},
                VectorView<T>{data + 1, 6, 2 * direction});
        buffer.download(this->context);
        for (std::int64_t i = 0; i < 6; ++i) {
            const T x = buffer.before()(0, 2 * (direction > 0 ? i : 5 - i));
            EXPECT_EQ(buffer.after()(0, 2 * i + 1), x * x);
            EXPECT_EQ(buffer.after()(0, 2 * i), static_cast<T>(2 * i + 1));
        }
        EXPECT_TRUE(buffer.intact(true));
    }
}

}  // namespace
}  // namespace tinyblas::test
