// SPDX-License-Identifier: MIT
// The products that are measured: built in, or from a file.
#include "gemm_shapes.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

Shape square(std::int64_t n, bool ladder = false) {
    return {"square", "", n, n, n, false, false, 0, ladder};
}
/// A square that lies apart: `pad` elements between two rows, `shift` before the first.
Shape apart(const char* name, std::int64_t n, std::int64_t pad, std::int64_t shift) {
    Shape shape = {"odd", name, n, n, n, false, false, pad};
    shape.shift = shift;
    return shape;
}
Shape packed(std::int64_t n) {
    Shape shape = {"packed", "", n, n, n};
    shape.packed = true;
    return shape;
}
Shape of_data(Data data, std::int64_t n) {
    Shape shape = {to_string(data), "", n, n, n};
    shape.data = data;
    return shape;
}

void add_layouts(std::vector<Shape>& shapes, std::int64_t n) {
    for (const bool a : {false, true})
        for (const bool b : {false, true}) shapes.push_back({"layout", "", n, n, n, a, b});
}

std::vector<Shape> small_shapes(bool quick) {
    if (quick) return {square(64, true), square(128, true)};
    std::vector<Shape> shapes = {square(64, true), square(128, true), square(256, true)};
    shapes.push_back({"odd", "", 100, 100, 100});
    shapes.push_back({"odd", "", 127, 129, 131, false, false, 1});
    add_layouts(shapes, 128);
    shapes.push_back({"skinny", "", 4, 256, 256});
    shapes.push_back({"skinny", "", 256, 256, 16});
    return shapes;
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// "m,n,k,name" with `where` for complaints. The name is the rest of the line.
Shape parse(const std::string& line, const std::string& where) {
    Shape shape = {"", "", 0, 0, 0};
    std::size_t start = 0;
    for (auto& [name, extent] :
         {std::pair<const char*, std::int64_t&>{"m", shape.m}, {"n", shape.n}, {"k", shape.k}}) {
        const auto end = std::min(line.find(',', start), line.size());
        const std::string field =
            start <= line.size() ? trimmed(line.substr(start, end - start)) : "";
        const auto parsed = std::from_chars(field.data(), field.data() + field.size(), extent);
        if (parsed.ec != std::errc() || parsed.ptr != field.data() + field.size() || extent < 1)
            throw Error(Status::invalid_argument, where + ": " + name + " is '" + field +
                                                      "': a line is m,n,k,name with whole numbers "
                                                      "of at least 1");
        start = end + 1;
    }
    shape.name = start <= line.size() ? trimmed(line.substr(start)) : "";
    return shape;
}

std::vector<Shape> layers(const char* model) {
    return read_shapes(std::string(TINYBLAS_SHAPES_FOLDER "/") + model + ".csv");
}

}  // namespace

std::vector<Shape> built_in_shapes(bool quick) {
    if (emulated()) return small_shapes(quick);
    if (quick) {
        std::vector<Shape> shapes = {square(512), square(1024), square(2048), square(4096, true),
                                     square(8192)};
        shapes.back().float_only = true;
        shapes.push_back({"odd", "", 4097, 4097, 4097});
        shapes.back().float_only = true;
        return shapes;
    }
    std::vector<Shape> shapes = {square(128),  square(256, true),  square(512), square(1024, true),
                                 square(2048), square(4096, true), square(8192)};
    for (const std::int64_t n : {1000, 2047, 4097}) shapes.push_back({"odd", "", n, n, n});
    shapes.push_back({"odd", "", 4095, 4097, 4099});
    shapes.push_back({"odd", "", 4096, 4096, 4096, false, false, 1});
    add_layouts(shapes, 4096);
    shapes.push_back({"skinny", "", 16, 4096, 4096});
    shapes.push_back({"skinny", "", 8192, 64, 8192});
    shapes.push_back({"skinny", "", 4096, 4096, 64});
    shapes.push_back({"skinny", "", 128, 128, 65536});
    for (const char* model : {"llama3_8b", "llama3_70b", "bert_large", "resnet50_im2col"})
        for (Shape& shape : layers(model)) {
            shape.float_only = true;
            shapes.push_back(std::move(shape));
        }
    for (const std::int64_t tokens : {128, 256, 512})  // weights as frameworks keep them: out x in
        for (Shape& shape : layers("llama3_8b")) {
            if (shape.m != 512) continue;
            shape.group = "llama3_8b_nt";
            shape.m = tokens;
            shape.transposed_b = shape.float_only = true;
            shapes.push_back(std::move(shape));
        }
    return shapes;
}

std::vector<Shape> built_in_fp32_shapes(bool quick) {
    if (emulated()) {
        std::vector<Shape> shapes = {square(64), square(128, true)};
        if (quick) return shapes;
        add_layouts(shapes, 64);
        shapes.push_back({"odd", "", 65, 63, 129});
        shapes.push_back(apart("misaligned base", 64, 0, 1));
        shapes.push_back(apart("sub-block", 64, 9, 3 * 73 + 5));
        shapes.push_back(packed(64));
        for (const Data data : {Data::graded40, Data::shuffled40})
            shapes.push_back(of_data(data, 64));
        return shapes;
    }
    if (quick)
        return {square(1024),
                square(2048),
                square(4096),
                square(8192),
                {"odd", "", 4097, 4097, 4097},
                packed(4096),
                of_data(Data::graded40, 4096),
                of_data(Data::shuffled40, 4096)};
    std::vector<Shape> shapes = {square(1024), square(2048), square(4096, true), square(8192),
                                 square(16384)};
    add_layouts(shapes, 4096);
    shapes.push_back({"odd", "", 4097, 4097, 4097});
    shapes.push_back({"odd", "", 4095, 4097, 4099});
    shapes.push_back({"odd", "", 4096, 4096, 4096, false, false, 1});
    shapes.push_back(apart("misaligned base", 4096, 0, 1));
    shapes.push_back(apart("sub-block", 4096, 904, 7 * 5000 + 3));
    shapes.push_back(packed(4096));
    for (const Data data : {Data::graded40, Data::shuffled40})
        shapes.push_back(of_data(data, 4096));
    for (const char* model :
         {"llama3_8b", "llama3_70b", "bert_large", "resnet50_im2col", "llm_prefill"})
        for (Shape& shape : layers(model)) {
            constexpr std::int64_t least_m = 512;  // with fewer rows memory decides, not arithmetic
            if (shape.m >= least_m) shapes.push_back(std::move(shape));
        }
    return shapes;
}

std::vector<Shape> read_shapes(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw Error(Status::invalid_argument, path + ": cannot be read");
    std::vector<Shape> shapes;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty() || line == "m,n,k,name") continue;
        shapes.push_back(parse(line, path + ":" + std::to_string(number)));
        shapes.back().group = std::filesystem::path(path).stem().string();
        shapes.back().layer = true;
    }
    if (shapes.empty()) throw Error(Status::invalid_argument, path + ": holds no shape");
    return shapes;
}

}  // namespace tinyblas::bench
