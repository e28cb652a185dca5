#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants each fault of list.py in a copy of the source, one at a time, and runs the tests that must notice it.

The build folders come from tests/run.sh (build/emulated, build/emulated-traced): of the library only the file that holds
the fault is compiled anew. First the same tests must pass without a fault. Ends with 'N killed, N survived'; a mutant that
survives, or that no longer applies, is an error.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

from list import MUTANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Failure(Exception):
    """The mutant could not be tried."""


def run(command, folder, **options):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def link_command(build, target):
    """How the build system links `target`, and the folder where it does."""
    if (build / "build.ninja").exists():
        lines = run(["ninja", "-t", "commands", target], build).stdout.splitlines()
        steps = [step for line in lines for step in line.split(" && ") if " -o " in step and " -c " not in step]
        if not steps:
            raise Failure(f"no link command for {target} in {build}")
        return steps[-1], build
    found = list(build.glob(f"**/{pathlib.Path(target).name}.dir/link.txt"))
    if not found:
        raise Failure(f"no link command for {target} in {build}")
    return found[0].read_text().splitlines()[-1], found[0].parents[2]


def folder_of(mutant, options):
    return options.traced if mutant.traced else options.build


def fails(path, pattern, folder):
    """What a test program says if it fails; "" if it passes."""
    command = [str(path)] + ([f"--gtest_filter={pattern}"] if pattern else [])
    environment = dict(os.environ, LD_LIBRARY_PATH=str(folder), GTEST_BRIEF="1", GTEST_FAIL_FAST="1",
                       GTEST_THROW_ON_FAILURE="1")  # the first failure is enough
    try:
        done = run(command, folder, env=environment, timeout=90, errors="replace")
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 127:
        raise Failure("does not start:\n" + done.stdout[-2000:])
    if " 0 tests ran" in done.stdout:
        raise Failure(f"no test of {path.name} is called {pattern}")
    return done.stdout[-2000:] + f"exit {done.returncode}" if done.returncode else ""


class Trial:
    """One mutant on its way through compiler, linker and tests."""

    def __init__(self, mutant, build, jobs_folder):
        self.mutant = mutant
        self.build = build
        self.folder = jobs_folder / re.sub(r"\W+", "-", mutant.name)

    def plant(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for part in ("include", "src", "kernels"):
            subprocess.run(["cp", "-rs", str(ROOT / part), str(self.folder)], check=True)
        source = self.folder / self.mutant.file
        text = source.read_text()
        if text.count(self.mutant.old) != 1:
            raise Failure(f"'{self.mutant.old}' stands {text.count(self.mutant.old)} times in {self.mutant.file}")
        source.unlink()
        source.write_text(text.replace(self.mutant.old, self.mutant.new))

    def compile(self):
        entries = json.loads((self.build / "compile_commands.json").read_text())
        entry = next(e for e in entries if pathlib.Path(e["file"]) == ROOT / self.mutant.unit)
        arguments = shlex.split(entry["command"])
        at = arguments.index("-o")
        self.object = arguments[at + 1]
        self.object_folder = pathlib.Path(entry["directory"])
        arguments[at + 1] = str(self.folder / "mutant.o")
        arguments = [a.replace(str(ROOT / "src"), str(self.folder / "src"))
                     .replace(str(ROOT / "include"), str(self.folder / "include")) for a in arguments]
        arguments = [f"-I{self.folder}" if a == f"-I{ROOT}" else a for a in arguments if a != "-Werror"]
        arguments = ["-O0" if a in ("-O2", "-O3") else a for a in arguments]
        done = run(arguments + ["-MD", "-MF", str(self.folder / "mutant.d")], entry["directory"])
        if done.returncode:
            raise Failure("does not compile:\n" + done.stdout[-2000:])
        seen = {os.path.normpath(f) for f in (self.folder / "mutant.d").read_text().split()}
        if str(self.folder / self.mutant.file) not in seen:
            raise Failure(f"{self.mutant.unit} does not include {self.mutant.file}")

    def link(self, target):
        """Links `target` with the mutant: its path, or None if it does not hold the object itself."""
        command, folder = link_command(self.build, target)
        arguments = shlex.split(command)
        original = (self.object_folder / self.object).resolve()
        held = [a for a in arguments if a.endswith(".o") and (folder / a).resolve() == original]
        if not held:
            return None
        output = self.folder / pathlib.Path(target).name
        at = arguments.index("-o")
        arguments[at + 1] = str(output)
        done = run([str(self.folder / "mutant.o") if a == held[0] else a for a in arguments], folder)
        if done.returncode:
            raise Failure("does not link:\n" + done.stdout[-2000:])
        return output

    def killed_by(self):
        """The first test program that fails, or None."""
        self.plant()
        self.compile()
        library = self.link("tinyblas")
        soname = run(["readelf", "-d", str(library)], self.folder).stdout
        name = re.search(r"SONAME.*\[(.*)\]", soname)
        if name:
            library.rename(self.folder / name[1])
        for test in self.mutant.tests.split():
            program, _, pattern = test.partition(":")
            path = self.link(program) or self.build / "tests" / program
            if said := fails(path, pattern, self.folder):
                return program + (" (no end)" if said == "no end" else "")
        return None


def passes(build, test):
    """Whether a test passes as long as there is no fault."""
    program, _, pattern = test.partition(":")
    try:
        said = fails(build / "tests" / program, pattern, build)
    except (Failure, OSError) as failure:
        said = str(failure)
    if said:
        print(f"FAILED without a fault: {test}: {said}", flush=True)
    return not said


def attempt(mutant, build, folder):
    begin = time.monotonic()
    trial = Trial(mutant, build, folder)
    try:
        killer = trial.killed_by()
        verdict = f"killed by {killer}" if killer else "SURVIVED"
    except Failure as failure:
        killer, verdict = None, f"FAILED: {failure}"
    shutil.rmtree(trial.folder, ignore_errors=True)
    print(f"{time.monotonic() - begin:5.1f} s  {mutant.name}: {verdict}", flush=True)
    return killer is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only mutants whose names hold one of these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "emulated")
    parser.add_argument("--traced", type=pathlib.Path, default=ROOT / "build" / "emulated-traced")
    parser.add_argument("--passed", action="store_true",
                        help="all tests of --build have just passed: they are not run without a fault once more")
    options = parser.parse_args()
    options.build, options.traced = options.build.resolve(), options.traced.resolve()
    chosen = [m for m in MUTANTS if not options.words or any(w in m.name for w in options.words)]
    tests = sorted({(folder_of(m, options), test) for m in chosen for test in m.tests.split()
                    if m.traced or not options.passed})
    folder = options.build.with_name(options.build.name + "-mutants")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if not all(list(pool.map(lambda test: passes(*test), tests))):
            return 1
        print(f"without a fault, {len(tests)} tests pass", flush=True)
        results = list(pool.map(lambda m: attempt(m, folder_of(m, options), folder), chosen))
    print(f"{sum(results)} killed, {len(results) - sum(results)} survived")
    return 0 if all(results) and results else 1


if __name__ == "__main__":
    sys.exit(main())
