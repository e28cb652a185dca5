// SPDX-License-Identifier: MIT
// Families of products: what a sweep goes through, and the goals.
#include "gemm_families.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <utility>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

using Extents = std::array<std::int64_t, 3>;  // m, n, k
using Shapes = std::vector<Shape>;

Shape product(const char* group, Extents e) { return {group, "", e[0], e[1], e[2]}; }
Shape square(const char* group, std::int64_t n) { return product(group, {n, n, n}); }
Shape transposed(Shape shape, bool a, bool b) {
    shape.transposed_a = a;
    shape.transposed_b = b;
    return shape;
}
Shape padded(Shape shape, std::int64_t pad) {
    shape.pad = pad;
    return shape;
}

/// `batch` products, one behind the other, or wherever pointers say that they are just there.
Shape batched(Shape shape, std::int64_t batch, bool by_pointers = false) {
    shape.group = by_pointers ? "pointers" : "strided";
    shape.batch = batch;
    shape.strides = {shape.m * shape.k, shape.k * shape.n, shape.m * shape.n};
    shape.by_pointers = by_pointers;
    return shape;
}

/// So many products that their matrices take `bytes` bytes.
std::int64_t batch_of(double bytes, const Shape& shape, std::size_t element_bytes) {
    const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
               k = static_cast<double>(shape.k);
    const double each = static_cast<double>(element_bytes) * (m * k + k * n + m * n);
    return std::max(static_cast<std::int64_t>(bytes / each), std::int64_t(1));
}

// --- What a sweep goes through -------------------------------------------------------------------

Shapes squares(std::size_t) {
    Shapes shapes;
    for (const std::int64_t n : {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048,
                                 3072, 4096, 6144, 8192, 12288, 16384})
        shapes.push_back(square("square", n));
    return shapes;
}

Shapes odd(std::size_t) {
    Shapes shapes;
    for (const std::int64_t n :
         {33,   63,   65,   100,  127,  129,  255,  257,  500,  1000, 1023, 1025,
          1921, 2047, 2049, 3001, 4095, 4097, 5000, 7777, 8191, 8193, 10007}) {
        const std::int64_t to_four = (4 - n % 4) % 4;
        for (const std::int64_t pad : std::set<std::int64_t>{0, 1, to_four})
            shapes.push_back(padded(square("odd", n), pad));
    }
    return shapes;
}

Shapes layouts(std::size_t) {
    Shapes shapes;
    for (const std::int64_t n : {256, 1000, 2048, 4096, 8192})
        for (const auto& [alpha, beta] :
             {std::pair{1.0, 0.0}, std::pair{1.0, 1.0}, std::pair{0.7, -0.3}})
            for (const bool a : {false, true})
                for (const bool b : {false, true}) {
                    shapes.push_back(transposed(square("layout", n), a, b));
                    shapes.back().alpha = alpha;
                    shapes.back().beta = beta;
                }
    return shapes;
}

Shapes waves(std::size_t) {
    Shapes shapes;
    for (const std::int64_t n : {1408, 1536, 1664, 2816, 2944, 4224, 4352})
        for (const std::int64_t k : {512, 4096, 16384})
            shapes.push_back(product("waves", {n, n, k}));
    return shapes;
}

Shapes thin(std::size_t) {
    Shapes shapes;
    for (const Extents& extents : std::initializer_list<Extents>{{64, 64, 1 << 20},
                                                                 {128, 128, 1 << 18},
                                                                 {256, 256, 65536},
                                                                 {1000, 1000, 100000},
                                                                 {4096, 64, 4096},
                                                                 {64, 4096, 4096},
                                                                 {8192, 8192, 16},
                                                                 {8192, 8192, 32},
                                                                 {8192, 8192, 64},
                                                                 {8192, 8192, 128},
                                                                 {16384, 16384, 128},
                                                                 {1 << 20, 32, 32},
                                                                 {1 << 20, 64, 64},
                                                                 {100000, 16, 16}})
        shapes.push_back(product("thin", extents));
    return shapes;
}

Shapes batches(std::size_t element_bytes) {
    Shapes shapes;
    for (const std::int64_t n :
         {2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 20, 24, 31, 32, 33, 48, 63, 64, 65, 96, 128, 256}) {
        const Shape one = square("", n);
        const std::int64_t many = batch_of(0x1p28, one, element_bytes);
        for (const std::int64_t batch :
             {many, std::int64_t(1), std::int64_t(16), std::int64_t(132), std::int64_t(1000)})
            for (const bool by_pointers : {false, true})
                shapes.push_back(batched(one, batch, by_pointers));
    }
    for (const std::int64_t s : {128, 512, 2048})  // attention: Q transposed(K), then P V
        for (const std::int64_t d : {64, 128})
            for (const std::int64_t batch : {32, 512}) {
                shapes.push_back(batched(transposed(product("", {s, s, d}), false, true), batch));
                shapes.push_back(batched(product("", {s, d, s}), batch));
            }
    return shapes;
}

// --- The goals -----------------------------------------------------------------------------------

Shape with(Shape shape, Goal goal) {
    shape.goal = goal;
    return shape;
}

Shapes goals_of_double() {
    constexpr std::pair<std::int64_t, double> all[] = {
        {1024, 1.0}, {2048, 0.98}, {4096, 0.98}, {8192, 1.03}, {4097, 1.2}};
    Shapes shapes;
    for (const auto& [n, ratio] : all)
        shapes.push_back(with(square(n % 2 == 1 ? "odd" : "square", n), {.ratio = ratio}));
    return shapes;
}

void add_batches_with_goals(Shapes& shapes) {
    constexpr std::pair<std::int64_t, Goal> many[] = {{4, {.microseconds = 1.6}},
                                                      {8, {.microseconds = 2.9}},
                                                      {16, {.microseconds = 6.3}},
                                                      {32, {.ratio = 1.48}},
                                                      {64, {.ratio = 1.35}}};
    for (const auto& [n, goal] : many) shapes.push_back(with(batched(square("", n), 10000), goal));
    constexpr std::pair<std::int64_t, Goal> beyond_caches[] = {
        {4, {.of_copy = 0.98}},
        {8, {.of_copy = 0.98}},
        {16, {.of_copy = 0.98}},
        {32, {.of_copy = 0.98}},
        {64, {.ratio = 1.35, .of_copy = 0.85}},
        {128, {.ratio = 1.3}}};
    for (const auto& [n, goal] : beyond_caches)
        shapes.push_back(
            with(batched(square("", n), batch_of(0x1p29, square("", n), sizeof(float))), goal));
}

Shapes goals(std::size_t element_bytes) {
    if (element_bytes == sizeof(double)) return goals_of_double();
    Shapes shapes;
    for (const auto& [n, microseconds] : std::initializer_list<std::pair<std::int64_t, double>>{
             {64, 2.1}, {128, 2.5}, {256, 4.1}, {384, 8.0}, {512, 10.4}})
        shapes.push_back(with(square("square", n), {.microseconds = microseconds}));
    for (const auto& [n, ratio] : std::initializer_list<std::pair<std::int64_t, double>>{
             {768, 1.08}, {1024, 1.1}, {1536, 1.2}})
        shapes.push_back(with(square("square", n), {.ratio = ratio}));
    for (const std::int64_t n : {2048, 4096, 8192, 16384})
        for (const bool a : {false, true})
            for (const bool b : {false, true}) {
                const Shape one = transposed(square(a || b ? "layout" : "square", n), a, b);
                const auto cube = static_cast<double>(n) * static_cast<double>(n * n);
                const double at_54_tflops = 2 * cube / 54e12 * 1e6;
                shapes.push_back(n == 2048 ? with(one, {.ratio = 1.04})
                                           : with(one, {1.06, at_54_tflops}));
            }
    shapes.push_back(with(square("odd", 4097), {.ratio = 1.12}));
    shapes.push_back(with(padded(square("odd", 4096), 4), {.ratio = 1.14}));
    shapes.push_back(with(product("odd", {4095, 4097, 4099}), {.ratio = 1.08}));
    shapes.push_back(with(product("odd", {1023, 1025, 1027}), {.ratio = 1.08}));
    for (const std::int64_t n : {2048, 4096}) {
        shapes.push_back(with(square("odd", n), {.ratio = 1.08}));
        shapes.back().name = "misaligned bases";
        shapes.back().shift = 1;
    }
    for (const auto& [extents, ratio] :
         std::initializer_list<std::pair<Extents, double>>{{{16, 4096, 4096}, 2.7},
                                                           {{4, 4096, 4096}, 2.7},
                                                           {{1, 4096, 4096}, 1.0},
                                                           {{64, 64, 1 << 20}, 1.45},
                                                           {{128, 128, 65536}, 1.1},
                                                           {{8192, 64, 8192}, 1.05},
                                                           {{64, 4096, 4096}, 1.05},
                                                           {{4096, 4096, 64}, 1.1},
                                                           {{1000, 64, 1000}, 1.25}})
        shapes.push_back(with(product("thin", extents), {.ratio = ratio}));
    add_batches_with_goals(shapes);
    return shapes;
}

constexpr std::pair<const char*, Shapes (*)(std::size_t)> families[] = {
    {"squares", squares}, {"odd", odd},         {"layouts", layouts}, {"waves", waves},
    {"thin", thin},       {"batches", batches}, {"goals", goals}};

/// What the emulator can do in the time that a GPU takes for the shape itself.
Shape for_emulator(Shape shape) {
    const auto small = [](std::int64_t extent) { return extent <= 48 ? extent : 48 + extent % 19; };
    shape.m = small(shape.m);
    shape.n = small(shape.n);
    shape.k = small(shape.k);
    if (shape.batch > 0)
        shape = batched(shape, std::min(shape.batch, std::int64_t(3)), shape.by_pointers);
    shape.goal = {};
    return shape;
}

}  // namespace

std::string gemm_family_names() {
    std::string names;
    for (const auto& family : families) (names += family.first) += ", ";
    return names + "sweep (all but goals), usual";
}

std::vector<Shape> gemm_family(const std::string& name, std::size_t element_bytes) {
    Shapes shapes;
    for (const auto& [known, make] : families) {
        if (name != known && (name != "sweep" || make == goals)) continue;
        for (Shape& shape : make(element_bytes))
            shapes.push_back(emulated() ? for_emulator(std::move(shape)) : std::move(shape));
    }
    if (shapes.empty())
        throw Error(Status::invalid_argument,
                    "--family: '" + name + "' is not one of " + gemm_family_names());
    return shapes;
}

}  // namespace tinyblas::bench
