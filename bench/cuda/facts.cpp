// SPDX-License-Identifier: MIT
// Which GPU it is, under which driver, at which clock and power limits.
#include <array>
#include <cstdio>
#include <sstream>

#include "../machine.hpp"
#include "check.hpp"

namespace tinyblas::bench {
namespace {

/// The first line that `command` prints; empty if it fails.
std::string first_line(const std::string& command) {
    std::array<char, 256> line = {};
    FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (!pipe) return "";
    const bool read = std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr;
    std::string text = read ? line.data() : "";
    while (std::fgets(line.data(), static_cast<int>(line.size()), pipe)) continue;
    if (pclose(pipe) != 0) return "";
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::string version(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

bool emulated() { return false; }

Facts machine_facts() {
    int device = 0, runtime = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    Facts facts = {
        {"gpu", properties.name},
        {"compute_capability",
         std::to_string(properties.major) + "." + std::to_string(properties.minor)},
        {"multiprocessors", std::to_string(properties.multiProcessorCount)},
        {"cuda_runtime", version(runtime)},
    };
    std::array<char, 32> bus = {};
    check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device),
          "cudaDeviceGetPCIBusId");
    for (const auto& [name, query] : Facts{{"driver", "driver_version"},
                                           {"max_sm_clock", "clocks.max.sm"},
                                           {"sm_clock_before", "clocks.sm"},
                                           {"power_limit", "power.limit"}}) {
        const std::string value = first_line(
            "nvidia-smi --format=csv,noheader --query-gpu=" + query + " -i " + bus.data());
        facts.emplace_back(name, value.empty() ? "unknown" : value);
    }
    return facts;
}

}  // namespace tinyblas::bench
