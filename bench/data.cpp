// SPDX-License-Identifier: MIT
// The names of the kinds of data.
#include "data.hpp"

#include <array>
#include <string>

#include "tinyblas/error.hpp"

namespace tinyblas::bench {
namespace {

constexpr std::array<const char*, 8> names = {"normal",     "uniform", "graded24", "graded40",
                                              "shuffled40", "powers",  "scaled",   "subnormal"};
static_assert(names.size() == static_cast<std::size_t>(Data::subnormal) + 1);

}  // namespace

const char* to_string(Data data) { return names[static_cast<std::size_t>(data)]; }

Data data_kind(std::string_view name) {
    std::string all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (name == names[i]) return static_cast<Data>(i);
        all += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    throw Error(Status::invalid_argument, "data: '" + std::string(name) + "' is not one of " + all);
}

}  // namespace tinyblas::bench
