#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many lines of the library, emulated kernels included, the tests have run, by gcov's account.

A build with TINYBLAS_COVERAGE=ON counts (the preset emulated-asan does); its tests leave the counts beside the object files.
Fails below the least share. A line of a template counts as run if it was in one of its instances.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LEAST = 90.0  # percent


def counts(data):
    """[(file, line, times)] of an object file."""
    said = subprocess.run(["gcov", "--json-format", "--stdout", str(data)], cwd=data.parent, capture_output=True)
    found = []
    for text in said.stdout.splitlines():
        for file in json.loads(text)["files"]:
            path = pathlib.Path(os.path.normpath(data.parent / file["file"]))
            if path.is_relative_to(ROOT):
                name = path.relative_to(ROOT)
                found += [(name, line["line_number"], line["count"]) for line in file["lines"]]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("--missed", metavar="FILE", help="the lines of that file which no test has run")
    options = parser.parse_args()
    data = sorted(options.build.resolve().glob("**/tinyblas_objects.dir/**/*.gcda"))
    if not data:
        sys.exit(f"{options.build} holds no counts")
    times = collections.defaultdict(collections.Counter)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for found in pool.map(counts, data):
            for name, line, count in found:
                times[name][line] += count
    if options.missed:
        print(*sorted(line for line, count in times[pathlib.Path(options.missed)].items() if not count))
        return 0

    run, all_lines = collections.Counter(), collections.Counter()
    for name, lines in times.items():
        for part in (str(name), name.parts[0], "all"):
            run[part] += sum(count > 0 for count in lines.values())
            all_lines[part] += len(lines)
    share = {part: 100 * run[part] / all_lines[part] for part in all_lines}
    for name in sorted(times, key=lambda name: share[str(name)])[:15]:
        print(f"{share[str(name)]:5.1f} % of {all_lines[str(name)]} lines of {name}")
    parts = ", ".join(f"{part} {share[part]:.1f} %" for part in ("include", "src", "kernels"))
    print(f"{share['all']:.1f} % of {all_lines['all']} lines run by tests: {parts}; at least {LEAST} %")
    return 0 if share["all"] >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
