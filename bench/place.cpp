// SPDX-License-Identifier: MIT
// The words of flags that say where operands lie.
#include "place.hpp"

#include <charconv>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

[[noreturn]] void refuse(const char* flag, const std::string& word, const std::string& bound) {
    throw Error(Status::invalid_argument, std::string("--") + flag + ": '" + word + "' is not " +
                                              bound + "; --help lists the flags");
}

bool read(const std::string& word, std::int64_t& value) {
    const auto end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, value);
    return parsed.ec == std::errc() && parsed.ptr == end;
}

/// Cuts "+SHIFT" off, if it is there.
std::int64_t take_shift(const char* flag, std::string& word) {
    const auto plus = word.find('+');
    if (plus == std::string::npos) return 0;
    const std::int64_t shift = parse_number(flag, word.substr(plus + 1), 0);
    word.erase(plus);
    return shift;
}

}  // namespace

std::string to_string(const Place& place) {
    return std::to_string(place.row_stride) + ":" + std::to_string(place.column_stride) + "+" +
           std::to_string(place.shift);
}

std::string in_name(const std::vector<Place>& places) {
    std::string text;
    for (const Place& place : places) text += "/" + to_string(place);
    return text;
}

std::int64_t parse_number(const char* flag, const std::string& word, std::int64_t least) {
    std::int64_t value = 0;
    if (!read(word, value) || value < least)
        refuse(flag, word, "a whole number of at least " + std::to_string(least));
    return value;
}

Place parse_matrix_place(const char* flag, const std::string& word) {
    std::string strides = word;
    Place place;
    place.shift = take_shift(flag, strides);
    const auto colon = strides.find(':');
    if (colon == std::string::npos || !read(strides.substr(0, colon), place.row_stride) ||
        !read(strides.substr(colon + 1), place.column_stride))
        refuse(flag, word, "ROW_STRIDE:COLUMN_STRIDE or ROW_STRIDE:COLUMN_STRIDE+SHIFT");
    return place;
}

Place parse_vector_place(const char* flag, const std::string& word) {
    std::string increment = word;
    Place place;
    place.shift = take_shift(flag, increment);
    if (!read(increment, place.column_stride)) refuse(flag, word, "INCREMENT or INCREMENT+SHIFT");
    return place;
}

}  // namespace tinyblas::bench
