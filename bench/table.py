#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the README's results table from bench/results/<gpu>.json.

bench/table.py                                 rewrites the table
bench/table.py --record RUN.json [STARTUP.json]  keeps a run as bench/results/<gpu>.json first
"""
import json
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
BEGIN, END = "<!-- bench_gemm:begin -->", "<!-- bench_gemm:end -->"
PRIVATE = ("host_name", "executable", "load_avg")  # of Google Benchmark's context: says nothing about the figures


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


def record(run_path, startup_path=None):
    """Keeps one run under the name of its GPU, a line a benchmark."""
    run = read_json(run_path, "context", "benchmarks")
    context = {key: value for key, value in run["context"].items() if key not in PRIVATE}
    if "figures" in context:
        sys.exit(f"{run_path}: {context['figures']}; such a run is not kept")
    wrong = [row["name"] for row in run["benchmarks"] if row.get("wrong")]
    if wrong:
        sys.exit(f"{run_path}: wrong results, so the run is not kept: {', '.join(wrong)}")
    if startup_path:
        context["startup"] = read_json(startup_path, "tinyblas", "cublas")
    target = RESULTS / (re.sub(r"[^a-z0-9]+", "_", context["gpu"].lower()).strip("_") + ".json")
    rows = ",\n".join("  " + json.dumps(row) for row in run["benchmarks"])
    RESULTS.mkdir(exist_ok=True)
    target.write_text(f'{{"context": {json.dumps(context, indent=1)},\n"benchmarks": [\n{rows}\n]}}\n')
    print(f"recorded {target.relative_to(ROOT)}")


def cases(run):
    """The measured cases: type and group from the name type/group/extents/layout/rung, rung from the label."""
    for row in run["benchmarks"]:
        if "tflops" not in row:
            continue
        row["type"], row["group"], _, row["layout"], row["asked"] = row["name"].split("/")[:5]
        row["rung"], _, row["detail"] = row["label"].partition("/")
        yield row


def markdown(header, rows):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(header), line(["---"] + ["---:"] * (len(header) - 1))] + [line(row) for row in rows] + [""]


def ladder(rows, kind):
    """One line a square: every rung's speed, then how the chosen one compares."""
    squares = {}
    for row in rows:
        if row["type"] == kind and row["group"] == "square":
            squares.setdefault(int(row["n"]), {})[row["rung"].partition("(")[0]] = row
    lines = []
    for n, rungs in sorted(squares.items()):
        speed = lambda rung: f"{rungs[rung]['tflops']:.1f}" if rung in rungs else ""
        top = rungs.get("tuned") or list(rungs.values())[-1]
        lines.append([str(n), speed("naive"), speed("tiled"), speed("tuned"), f"{top['cublas_tflops']:.1f}",
                      f"{top['ratio']:.3f} [{top['ratio_p10']:.3f}, {top['ratio_p90']:.3f}]",
                      f"{100 * top['peak_fraction']:.0f} %", f"{top['error']:.2f}", f"{top['cublas_error']:.2f}"])
    header = [f"{kind}, n", "naive", "tiled", "tuned", "cuBLAS", "tuned / cuBLAS [p10, p90]", "of peak", "error",
              "cuBLAS's"]
    return markdown(header, lines) if lines else []


def others(rows):
    """One line a group of shapes: the spread of the ratio over its cases."""
    groups = {}
    for row in rows:
        if row["group"] not in ("square", "control") and row["asked"] == "best":
            groups.setdefault((row["type"], row["group"]), []).append(row)
    lines = []
    for (kind, group), members in groups.items():
        ratios = [row["ratio"] for row in members]
        worst = min(members, key=lambda row: row["ratio"])
        lines.append([f"{kind}, {group}", str(len(members)), f"{statistics.geometric_mean(ratios):.3f}",
                      f"{min(ratios):.3f} ({worst['detail']}, {worst['m']:.0f} x {worst['n']:.0f} x {worst['k']:.0f})",
                      f"{max(ratios):.3f}"])
    header = ["other shapes", "cases", "tuned / cuBLAS, geometric mean", "worst", "best"]
    return markdown(header, lines) if lines else []


def startup(context):
    costs = context.get("startup")
    if not costs:
        return []
    names = {"first_gemm_ms": "context and first gemm, ms", "enqueue_us": "host time to enqueue a gemm, us",
             "device_memory_mb": "device memory held, MB"}
    rows = [[text, f"{costs['tinyblas'][key]:.1f}", f"{costs['cublas'][key]:.1f}"] for key, text in names.items()]
    return markdown(["with the CUDA runtime up, n = 64", "tinyblas", "cuBLAS"], rows)


def section(path):
    run = read_json(path, "context", "benchmarks")
    context, rows = run["context"], list(cases(run))
    control = [row["ratio"] for row in rows if row["group"] == "control"]
    noise = "; cuBLAS against itself " + ", ".join(f"{ratio:.3f}" for ratio in control) if control else ""
    lines = [f"{context['gpu']}, driver {context['driver']}, {context['reference']}, tinyblas {context['tinyblas_commit']}, "
             f"{context['date'][:10]}. TFLOP/s; the ratio is cuBLAS's time over ours, the median of {context['rounds']} "
             f"interleaved rounds ({context['regime']}){noise}. Peak: measured, {context['ffma_peak']} in float at "
             f"{context['sm_clock_in_ffma']}, {context['dfma_peak']} in double without tensor cores, which cuBLAS uses. Error: the largest "
             "|c - AB| / (|A||B|) of 512 entries, in units of 2^-24 (sgemm) or 2^-53 (dgemm).", ""]
    for kind in ("sgemm", "dgemm"):
        lines += ladder(rows, kind)
    return lines + others(rows) + startup(context)


def rewrite_readme():
    readme = ROOT / "README.md"
    text = read(readme)
    if BEGIN not in text or END not in text:
        sys.exit(f"README.md: the marks {BEGIN} and {END} are not there")
    lines = [line for path in sorted(RESULTS.glob("*.json")) for line in section(path)]
    before, rest = text.split(BEGIN, 1)
    readme.write_text("\n".join([before + BEGIN] + (lines or ["No run recorded yet.", ""])) + END + rest.split(END, 1)[1])
    print("README.md: table rewritten")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--record"] and len(arguments) in (2, 3):
        record(*arguments[1:])
    elif arguments:
        sys.exit(__doc__)
    rewrite_readme()
