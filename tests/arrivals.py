#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No thread gives a stage of shared memory back while its loads from it are under way.

    tests/arrivals.py DISASSEMBLER CUBIN

An mbarrier's arrival (SYNCS.ARRIVE) does not wait for earlier loads (LDS): see arrive() in
src/device/cuda/device.hpp. Each load sets one of six scoreboards; an instruction that uses its
value waits for it. Where and for which ones is in the upper half of an instruction's 128 bits, for
compute capabilities 7.0 to 9.0: bits 46 to 48 name the scoreboard that is set (7: none), bits 52 to
57 are a mask of those that are waited for (Jia et al., "Dissecting the NVIDIA Volta GPU
architecture via microbenchmarking", 2018). For kernels that arrive after a stage has been used and
before anything is loaded from the next one.
"""
import re
import subprocess
import sys

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\* 0x[0-9a-f]{16} \*/")
UPPER_HALF = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")


def main():
    disassembler, cubin = sys.argv[1:]
    listing = subprocess.run(
        [disassembler, "-c", "-hex", cubin], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    kernel, under_way, arrivals, early = "", {}, 0, []
    for line, following in zip(listing, listing[1:]):
        if line.startswith(".text."):
            kernel, under_way = line[len(".text.") :].rstrip(":"), {}
        instruction, upper = INSTRUCTION.match(line), UPPER_HALF.match(following)
        if not instruction or not upper:
            continue
        address, text = instruction.groups()
        control = int(upper.group(1), 16)
        for scoreboard in range(6):
            if control >> (52 + scoreboard) & 1:
                under_way.pop(scoreboard, None)
        if "SYNCS.ARRIVE" in text:
            arrivals += 1
            early += [f"{kernel}: {address} {text}, before {load}" for load in under_way.values()]
        if re.search(r"\bLDS", text) and (control >> 46 & 7) < 6:
            under_way[control >> 46 & 7] = f"{address} {text}"
    for line in early:
        print(line)
    print(f"{arrivals} arrivals, {len(early)} of them while loads are under way")
    return 0 if arrivals and not early else 1


if __name__ == "__main__":
    sys.exit(main())
