# SPDX-License-Identifier: MIT
"""The recorded runs: bench/results/<gpu>/<operation>.json, as table.py and plot.py read them."""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
OPERATIONS = ("gemm", "gemm_fp32", "batched", "gemv", "transpose", "reduce", "polyval")
STRICT_TYPES = ("sgemm", "sgemm_batched", "dgemm", "dgemm_batched")
GEMM_TYPES = (*STRICT_TYPES, "sgemm_fp32", "sgemm_fp32_batched", "errors")
LOSS = 0.98  # a ratio below this is one
# What Google Benchmark says about the host and about itself: nothing about the figures.
PRIVATE = ("host_name", "executable", "load_avg", "library_build_type")


def read(path):
    """The text of a file, or the end of this program with a sentence."""
    try:
        return Path(path).read_text()
    except OSError as error:
        sys.exit(f"{path}: cannot be read: {error.strerror}")


def read_json(path, *keys):
    """The object in a file, which must have these keys."""
    try:
        content = json.loads(read(path))
    except ValueError as error:
        sys.exit(f"{path}: not JSON: {error}")
    for key in keys:
        if not isinstance(content, dict) or key not in content:
            sys.exit(f'{path}: holds no "{key}"')
    return content


class Run:
    """One recorded run. A row's name is type/group/.../asked rung..., its label rung(entry or verdict)/detail.

    rows: what was timed; errors: what was measured without times, the same kind of rows.
    """

    def __init__(self, path):
        content = read_json(path, "context", "benchmarks")
        self.context = content["context"]
        self.rows = [self.parsed(row) for row in content["benchmarks"] if row.get("microseconds")]
        self.errors = [self.parsed(row) for row in content.get("errors", []) if row.get("entries")]

    @staticmethod
    def parsed(row):
        row["type"], row["group"], *rest = row["name"].split("/")
        row["asked"] = rest[2] if row["type"] in GEMM_TYPES else rest[-3]
        row["regime"] = "sustained" if "sustained" in (row["group"], *rest) else "burst"
        rung, _, row["detail"] = row["label"].partition("/")
        row["rung"], _, row["choice"] = rung.rstrip(")").partition("(")
        return row

    def select(self, **wanted):
        """The rows whose fields have these values, or one of them where a tuple is given."""
        fits = lambda row, key, value: row.get(key) in (value if isinstance(value, tuple) else (value,))
        return [row for row in self.rows if all(fits(row, key, value) for key, value in wanted.items())]


def gemm_families(run):
    """The rows of precision fp32 by (group, regime), on the rung that the library chose; all layers of models at last, too."""
    rows = [row for row in run.select(type="sgemm_fp32", asked="best") if row.get("ratio")]
    families = {}
    for row in rows:
        families.setdefault((row["group"], row["regime"]), []).append(row)
    for row in rows:
        if row.get("layer"):
            families.setdefault(("all layers", row["regime"]), []).append(row)
    return families


def strict_families(run):
    """The rows of strict products by (type, group, regime), on the rung that the library chose; all of a type at last, too."""
    rows = [row for row in run.select(type=STRICT_TYPES, asked="best") if row.get("ratio") and row["group"] != "control"]
    families = {}
    for row in rows:
        families.setdefault((row["type"], row["group"], row["regime"]), []).append(row)
    for row in rows:
        families.setdefault((row["type"].removesuffix("_batched"), "all", row["regime"]), []).append(row)
    return families


def by_rung(rows):
    """The rows by n, then by rung; "best" is the one on the rung that the library chose."""
    sizes = {}
    for row in rows:
        sizes.setdefault(int(row["n"]), {})[row["asked"]] = row
    return {n: rungs for n, rungs in sorted(sizes.items()) if "best" in rungs}


def folders():
    return sorted(path for path in RESULTS.glob("*") if path.is_dir())


def runs(folder):
    """The runs of one GPU by operation."""
    paths = {operation: Path(folder) / f"{operation}.json" for operation in OPERATIONS}
    return {operation: Run(path) for operation, path in paths.items() if path.exists()}


def record(operation, run_path, startup_path=None):
    """Keeps one run under the name of its GPU, a line a benchmark; errors without times in a section of their own.

    What gemm does in precision fp32 has a file of its own, so that either part can be run alone. Without a run of
    bench_startup, the figures of the last one stay, and say at which commit they were measured.
    """
    if operation not in OPERATIONS:
        sys.exit(f"'{operation}' is not one of {', '.join(OPERATIONS)}")
    run = read_json(run_path, "context", "benchmarks")
    context = {key: value for key, value in run["context"].items() if key not in PRIVATE}
    if "figures" in context:
        sys.exit(f"{run_path}: {context['figures']}; such a run is not kept")
    wrong = [row["name"] for row in run["benchmarks"] if row.get("wrong")]
    if wrong:
        sys.exit(f"{run_path}: wrong results, so the run is not kept: {', '.join(wrong)}")
    if startup_path:
        context["startup"] = read_json(startup_path, "tinyblas", "cublas")
    elif file_of(operation, context).exists():
        last = read_json(file_of(operation, context), "context")["context"]
        if "startup" in last:
            context["startup"] = {"commit": last["tinyblas_commit"], **last["startup"]}
    errors = [row for row in run["benchmarks"] if row["name"].startswith("errors/")]
    fp32 = [row for row in run["benchmarks"] if row["name"].startswith("sgemm_fp32")]
    rest = [row for row in run["benchmarks"] if row not in errors and row not in fp32]
    if not rest and not fp32:
        sys.exit(f"{run_path}: holds no times; such a run is not kept")
    if rest:
        write(operation, context, rest, [])
    if fp32:
        write("gemm_fp32", context, fp32, errors)


def file_of(operation, context):
    gpu = re.sub(r"[^a-z0-9]+", "_", context["gpu"].lower()).strip("_")
    return RESULTS / gpu / f"{operation}.json"


def write(operation, context, timed, errors):
    target = file_of(operation, context)
    lines = lambda rows: ",\n".join("  " + json.dumps(row) for row in rows)
    more = f',\n"errors": [\n{lines(errors)}\n]' if errors else ""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'{{"context": {json.dumps(context, indent=1)},\n"benchmarks": [\n{lines(timed)}\n]{more}}}\n')
    print(f"recorded {target.relative_to(ROOT)}")
