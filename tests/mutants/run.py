#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants each fault of list.py in a copy of the source, one at a time, and runs the tests that must notice it.

The build folders come from tests/run.sh (build/emulated, build/emulated-traced): of the library only the file that holds
the fault is compiled anew. Ends with 'N killed, N survived'; a mutant that survives, or that no longer applies, is an error.
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
        command = lines[-1] if lines else ""
        return command.removeprefix(": && ").removesuffix(" && :"), build
    found = list(build.glob(f"**/{pathlib.Path(target).name}.dir/link.txt"))
    if not found:
        raise Failure(f"no link command for {target} in {build}")
    return found[0].read_text().splitlines()[-1], found[0].parents[2]


class Trial:
    """One mutant on its way through compiler, linker and tests."""

    def __init__(self, mutant, jobs_folder):
        self.mutant = mutant
        self.build = ROOT / "build" / ("emulated-traced" if mutant.traced else "emulated")
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
        arguments = ["-O1" if a in ("-O2", "-O3") else a for a in arguments]
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
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.folder), GTEST_BRIEF="1", GTEST_FAIL_FAST="1")
        for test in self.mutant.tests.split():
            program, _, pattern = test.partition(":")
            path = self.link(program) or self.build / "tests" / program
            command = [str(path)] + ([f"--gtest_filter={pattern}"] if pattern else [])
            try:
                if run(command, self.folder, env=environment, timeout=120).returncode:
                    return program
            except subprocess.TimeoutExpired:
                return program + " (no end)"
        return None


def attempt(mutant, folder):
    begin = time.monotonic()
    trial = Trial(mutant, folder)
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
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if not options.words or any(w in m.name for w in options.words)]
    folder = ROOT / "build" / "mutants"
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda mutant: attempt(mutant, folder), chosen))
    print(f"{sum(results)} killed, {len(results) - sum(results)} survived")
    return 0 if all(results) and results else 1


if __name__ == "__main__":
    sys.exit(main())
