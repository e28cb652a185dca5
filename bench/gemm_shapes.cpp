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
        for (Shape& shape : read_shapes(std::string(TINYBLAS_SHAPES_FOLDER "/") + model + ".csv")) {
            shape.float_only = true;
            shapes.push_back(std::move(shape));
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
    }
    if (shapes.empty()) throw Error(Status::invalid_argument, path + ": holds no shape");
    return shapes;
}

}  // namespace tinyblas::bench
