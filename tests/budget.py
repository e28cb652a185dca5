#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what each kernel takes of a GPU, by ptxas's account, with the committed budget.

A build with CMAKE_CUDA_COMPILER_LAUNCHER=tests/keep_log.sh and -Xptxas=-v leaves a log beside each object file:
    cmake -B build/cuda-all --preset cuda -DCMAKE_CUDA_FLAGS=-Xptxas=-v -DCMAKE_CUDA_COMPILER_LAUNCHER="$PWD/tests/keep_log.sh"
    cmake --build build/cuda-all --target tinyblas && tests/budget.py build/cuda-all --update
A kernel that takes more registers or shared memory than tests/budget.csv allows, one that is not listed, and any spill is an
error; so is a listed one that the library lacks. --update writes the file anew: a line a kernel, a column an architecture,
registers + bytes of shared memory that is known when compiling, a multiple of 16.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys

BUDGET = pathlib.Path(__file__).with_name("budget.csv")
ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(.*)")
SHARED = re.compile(r"(\d+) bytes smem")


def demangled(names):
    """Kernel and template arguments, without the parameters."""
    told = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    short = {}
    for name, text in zip(names, told.splitlines()):
        text = text.replace("tinyblas::", "").removeprefix("void ")
        depth = 0
        for i, character in enumerate(text):  # up to the parenthesis that is not inside < >
            depth += (character == "<") - (character == ">")
            if character == "(" and depth == 0:
                text = text[:i]
                break
        short[name] = re.sub(r"\s+", " ", text)
    return short


def measured(build):
    """{(kernel, architecture): (registers, shared, spilled)}"""
    found = {}
    for log in sorted(pathlib.Path(build).glob("**/tinyblas_objects*.dir/**/*.log")):
        entry, spilled = None, 0
        for line in log.read_text().splitlines():
            if match := ENTRY.search(line):
                entry, spilled = match.groups(), 0
            elif match := SPILLS.search(line):
                spilled += int(match[1]) + int(match[2])
            elif (match := USED.search(line)) and entry:
                shared = SHARED.search(match[2])
                # A flag of one byte lies before or behind its aligned neighbours, by where the sources are: in whole vectors.
                vectors = (int(shared[1]) + 15) // 16 if shared else 0
                found[entry] = (int(match[1]), 16 * vectors, spilled)
                entry = None
    names = demangled(sorted({name for name, _ in found}))
    return {(names[name], architecture): use for (name, architecture), use in found.items()}


def write(use):
    kernels = sorted({kernel for kernel, _ in use})
    architectures = sorted({architecture for _, architecture in use}, key=lambda name: int(re.sub(r"\D", "", name)))
    with BUDGET.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kernel", *architectures])
        for kernel in kernels:
            taken = [use.get((kernel, architecture)) for architecture in architectures]
            writer.writerow([kernel, *(f"{t[0]} + {t[1]}" if t else "" for t in taken)])


def read():
    """{(kernel, architecture): (registers, shared)}"""
    with BUDGET.open(newline="") as file:
        return {(row["kernel"], architecture): tuple(int(number) for number in text.split(" + "))
                for row in csv.DictReader(file) for architecture, text in row.items()
                if architecture != "kernel" and text}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--update", action="store_true", help="write the budget instead")
    options = parser.parse_args()
    use = measured(options.build)
    if not use:
        sys.exit(f"{options.build} holds no log of ptxas")
    if options.update:
        write(use)
    budget = read()
    wrong = []
    for key, (registers, shared, spilled) in sorted(use.items()):
        name = f"{key[0]} for {key[1]}"
        if spilled:
            wrong.append(f"{name} spills {spilled} bytes")
        if key not in budget:
            wrong.append(f"{name} is not in {BUDGET.name}")
        elif registers > budget[key][0] or shared > budget[key][1]:
            wrong.append(f"{name} takes {registers} registers and {shared} bytes of shared memory: "
                         f"the budget is {budget[key][0]} and {budget[key][1]}")
    wrong += [f"{kernel} for {architecture} is in {BUDGET.name}, but not in the library"
              for kernel, architecture in sorted(budget.keys() - use.keys())]
    print("\n".join(wrong) if wrong else f"{len(use)} kernels within {BUDGET.name}; no spills")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
