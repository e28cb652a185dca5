// SPDX-License-Identifier: MIT
// Where in the source an access is: the words of device.hpp say it, for all others the debug
// information knows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/emulation/fibers.hpp"

namespace tinyblas::device {

struct SourcePlace {
    std::string file;  // empty: unknown
    int line = 0;
    bool operator==(const SourcePlace&) const = default;
};
std::ostream& operator<<(std::ostream& out, const SourcePlace& place);

/// A return address, or a Place whose line stands above the bits that addresses use.
using SiteKey = std::uint64_t;
constexpr unsigned site_key_line = 48;

inline SiteKey site_key(const void* return_address) {
    return reinterpret_cast<std::uintptr_t>(return_address);
}
inline SiteKey site_key(Place place) {
    return static_cast<SiteKey>(place.line) << site_key_line |
           reinterpret_cast<std::uintptr_t>(place.file);
}

/// The places of these sites: of functions inlined into one another, the innermost that belongs to
/// a kernel. Runs addr2line, once for each program or library that is asked for.
std::vector<SourcePlace> find_places(std::span<const SiteKey> sites);

/// Small numbers for sites.
class Sites {
  public:
    std::uint32_t number(SiteKey key) {
        Recent& recent = recent_[(key ^ key >> 9) % std::size(recent_)];
        if (recent.key != key) [[unlikely]]
            recent = {key, insert(key)};
        return recent.number;
    }
    SiteKey key(std::uint32_t number) const { return keys_[number]; }
    std::size_t size() const { return keys_.size(); }

  private:
    std::uint32_t insert(SiteKey key);

    struct Recent {
        SiteKey key = 0;
        std::uint32_t number = 0;
    };
    Recent recent_[1024];
    std::unordered_map<SiteKey, std::uint32_t> numbers_;
    std::vector<SiteKey> keys_;
};

}  // namespace tinyblas::device
