// SPDX-License-Identifier: MIT
// Return addresses to lines of kernels, by way of binutils' addr2line.
#include "device/emulation/trace_places.hpp"

#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <ostream>
#include <sstream>
#include <string_view>

namespace tinyblas::device {

namespace {

constexpr std::size_t addresses_a_run = 1000;

/// Where a return address lies: a file, and the address as the file's debug information counts.
struct Location {
    std::string module;
    std::uintptr_t address = 0;
};

Location locate(std::uintptr_t return_address) {
    struct Search {
        std::uintptr_t address;
        Location found;
    } search{return_address - 1, {}};  // within the call, not after it
    const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& part = info->dlpi_phdr[i];
            const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            if (part.p_type != PT_LOAD || wanted.address < begin ||
                wanted.address >= begin + part.p_memsz)
                continue;
            const bool program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
            wanted.found = {program ? "/proc/self/exe" : info->dlpi_name,
                            wanted.address - info->dlpi_addr};
            return 1;
        }
        return 0;
    };
    dl_iterate_phdr(look, &search);
    if (search.found.module == "/proc/self/exe") {  // addr2line is another process
        std::error_code ignored;
        search.found.module = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
    }
    return search.found;
}

/// "file:line", perhaps with "(discriminator n)" after it; "??:0" if unknown.
SourcePlace parse(const std::string& frame) {
    const std::string text = frame.substr(0, frame.find(" ("));
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || text.starts_with("??")) return {};
    const int line = std::atoi(text.c_str() + colon + 1);
    return {std::filesystem::path(text.substr(0, colon)).lexically_normal().string(), line};
}

/// Of a chain of inlined functions, innermost first.
SourcePlace choose(const std::vector<SourcePlace>& chain) {
    for (const SourcePlace& place : chain)
        if (place.file.find("/kernels/") != std::string::npos) return place;
    for (const SourcePlace& place : chain)
        if (!place.file.empty() && !place.file.starts_with("/usr/") &&
            place.file.find("/src/device/") == std::string::npos)
            return place;
    return chain.empty() ? SourcePlace{} : chain.front();
}

/// What addr2line prints: an address, then the frames that are inlined there.
std::vector<SourcePlace> run_addr2line(const std::string& module,
                                       std::span<const std::uintptr_t> addresses) {
    std::ostringstream command;
    command << "addr2line -a -i -e '" << module << '\'' << std::hex;
    for (const auto address : addresses) command << " 0x" << address;
    command << " 2>/dev/null";
    std::vector<std::vector<SourcePlace>> chains;
    // The command is ours but for the path of a program or library that runs already.
    FILE* output = popen(command.str().c_str(), "r");
    if (output != nullptr) {
        char buffer[4096];
        while (std::fgets(buffer, sizeof buffer, output) != nullptr) {
            std::string line(buffer);
            if (line.ends_with('\n')) line.pop_back();
            if (line.starts_with("0x"))
                chains.emplace_back();
            else if (!chains.empty())
                chains.back().push_back(parse(line));
        }
        pclose(output);
    }
    chains.resize(addresses.size());
    std::vector<SourcePlace> places;
    places.reserve(chains.size());
    for (const auto& chain : chains) places.push_back(choose(chain));
    return places;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const SourcePlace& place) {
    if (place.file.empty()) return out << "(a place without debug information)";
    return out << '(' << place.file << ':' << place.line << ')';
}

std::vector<SourcePlace> find_places(std::span<const SiteKey> sites) {
    std::vector<SourcePlace> places(sites.size());
    struct Asked {
        std::vector<std::uintptr_t> addresses;
        std::vector<std::size_t> sites;
    };
    std::map<std::string, Asked> modules;
    for (std::size_t i = 0; i < sites.size(); ++i) {
        const auto address =
            static_cast<std::uintptr_t>(sites[i] & ((SiteKey{1} << site_key_line) - 1));
        if (const auto line = sites[i] >> site_key_line; line != 0) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): site_key() made it of one
            places[i] = {reinterpret_cast<const char*>(address), static_cast<int>(line)};
            continue;
        }
        const Location location = locate(address);
        modules[location.module].addresses.push_back(location.address);
        modules[location.module].sites.push_back(i);
    }
    for (const auto& [module, asked] : modules)
        for (std::size_t first = 0; first < asked.sites.size(); first += addresses_a_run) {
            const auto addresses = std::span(asked.addresses).subspan(first);
            const auto found =
                run_addr2line(module, addresses.first(std::min(addresses.size(), addresses_a_run)));
            for (std::size_t i = 0; i < found.size(); ++i)
                places[asked.sites[first + i]] = found[i];
        }
    return places;
}

std::uint32_t Sites::insert(SiteKey key) {
    const auto [found, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (added) keys_.push_back(key);
    return found->second;
}

}  // namespace tinyblas::device
