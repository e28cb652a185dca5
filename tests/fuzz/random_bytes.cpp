// SPDX-License-Identifier: MIT
// The fuzzer without libFuzzer: random bytes of a fixed seed, for every compiler. Its argument is
// how many calls are made at least, a second one the seed.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "attempt.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) {
    const long calls = count > 1 ? std::atol(arguments[1]) : 1000;
    std::mt19937_64 random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
    while (tinyblas::fuzz::calls_made() < calls) {
        std::vector<std::uint8_t> bytes(1024);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
}
