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
before anything is loaded from the next one. Loads are followed down the code and along branches.
"""
import re
import subprocess
import sys

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\* 0x[0-9a-f]{16} \*/")
UPPER_HALF = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
KERNEL = re.compile(r"\.text\.(\S+):")
LABEL = re.compile(r"(\.L_x_\d+):")
BRANCH = re.compile(r"BRA.*`\((\.L_x_\d+)\)")


def walk(listing, at_labels):
    """Arrivals, and those while loads are under way. Adds to `at_labels` what is at branches."""
    kernel, under_way, arrivals, early = "", set(), 0, set()
    for line, following in zip(listing, listing[1:]):
        if KERNEL.match(line):
            kernel, under_way = KERNEL.match(line).group(1), set()
        if LABEL.match(line):
            under_way |= at_labels.get(LABEL.match(line).group(1), set())
        instruction, upper = INSTRUCTION.match(line), UPPER_HALF.match(following)
        if not instruction or not upper:
            continue
        address, text = instruction.groups()
        control = int(upper.group(1), 16)
        under_way = {(board, load) for board, load in under_way if not control >> (52 + board) & 1}
        if "SYNCS.ARRIVE" in text:
            arrivals += 1
            early |= {f"{kernel}: {address} {text}, before {load}" for _, load in under_way}
        if re.search(r"\bLDS", text) and (control >> 46 & 7) < 6:
            under_way.add((control >> 46 & 7, f"{address} {text}"))
        branch = BRANCH.search(text)
        if branch:
            at_labels.setdefault(branch.group(1), set()).update(under_way)
            if not text.startswith("@"):
                under_way = set()
    return arrivals, early


def main():
    disassembler, cubin = sys.argv[1:]
    listing = subprocess.run(
        [disassembler, "-c", "-hex", cubin], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    at_labels, before = {}, None
    while before != at_labels:  # until nothing new comes along branches
        before = {label: set(loads) for label, loads in at_labels.items()}
        arrivals, early = walk(listing, at_labels)
    for line in sorted(early):
        print(line)
    print(f"{arrivals} arrivals, {len(early)} of them while loads are under way")
    return 0 if arrivals and not early else 1


if __name__ == "__main__":
    sys.exit(main())
