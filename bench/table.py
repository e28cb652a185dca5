#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the README's results tables from bench/results/<gpu>/<operation>.json.

bench/table.py                                             rewrites the tables
bench/table.py --record OPERATION RUN.json [STARTUP.json]  keeps a run first

The table of an operation stands between the lines <!-- results OPERATION --> and <!-- end of results OPERATION -->.
"""
import statistics
import sys

sys.dont_write_bytecode = True
from recorded import (LOSS, OPERATIONS, ROOT, STRICT_TYPES, by_rung, folders, gemm_families, read, record, runs,
                      strict_families)

# --- Cells ------------------------------------------------------------------------------------------------------------


def digits(value, places=None):
    """Three digits or more; nothing where there is no figure."""
    if not value:
        return ""
    if places is None:
        places = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{places}f}"


def percent(value):
    return f"{100 * value:.0f} %" if value else ""


def ratio(row):
    if not row.get("ratio"):
        return ""
    return f"{row['ratio']:.3f} [{row['ratio_p10']:.3f}, {row['ratio_p90']:.3f}]"


def markdown(header, rows):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    if not rows:
        return []
    return [line(header), line(["---"] + ["---:"] * (len(header) - 1))] + [line(row) for row in rows] + [""]


def streams(first, rows, share, label):
    """One line a row of an operation that streams memory."""
    header = [first, "us", "cuBLAS", "ratio [p10, p90]", "GB/s", "cuBLAS", share]
    return markdown(header, [[label(row), digits(row["microseconds"]), digits(row["reference_microseconds"]), ratio(row),
                              digits(row["gbs"]), digits(row["reference_gbs"]), percent(row["limit_share"])]
                             for row in rows])


def ladder(first, rows, key, rungs, field, least=10000):
    """One line a size on which every rung ran: their speeds."""
    sizes = {}
    for row in rows:
        sizes.setdefault(int(row[key]), {})[row["rung"]] = row
    climbed = [(size, found) for size, found in sorted(sizes.items()) if all(rung in found for rung in rungs)]
    return markdown([first, *rungs], [[power(size, least)] + [digits(found[rung][field]) for rung in rungs]
                                      for size, found in climbed])


def power(n, least=10000):
    """n, as a power of two where that is shorter: from `least` on."""
    n = int(n)
    return f"2^{n.bit_length() - 1}" if n >= least and n & (n - 1) == 0 else str(n)


def others(rows, detail):
    """One line a group: the spread of the ratio over its cases."""
    groups = {}
    for row in rows:
        if row["asked"] == "best" and row["group"] != "control" and row.get("ratio"):
            groups.setdefault((row["type"], row["group"]), []).append(row)
    lines = []
    for (kind, group), members in groups.items():
        ratios = [row["ratio"] for row in members]
        worst = min(members, key=lambda row: row["ratio"])
        lines.append([f"{kind}, {group}", str(len(members)), f"{statistics.geometric_mean(ratios):.3f}",
                      f"{min(ratios):.3f} ({detail(worst)})", f"{max(ratios):.3f}"])
    return markdown(["other cases", "count", "ours / cuBLAS, geometric mean", "worst", "best"], lines)


# --- Operations: the lines under a sentence on the run ----------------------------------------------------------------


def shape_of(row):
    return f"{row['detail'].removesuffix(', sustained')}, {row['m']:.0f} x {row['n']:.0f} x {row['k']:.0f}"


def gemm_squares(run, kind):
    lines = []
    for n, rungs in by_rung(run.select(type=kind, group="square", regime="burst")).items():
        speed = lambda rung: f"{rungs[rung]['tflops']:.1f}" if rung in rungs else ""
        ours = rungs["best"]
        lines.append([str(n), speed("naive"), speed("tiled"), speed("best"), ours["rung"], digits(ours["microseconds"]),
                      f"{ours['cublas_tflops']:.1f}", ratio(ours), percent(ours["peak_fraction"]), f"{ours['error']:.2f}",
                      f"{ours['cublas_error']:.2f}"])
    return markdown([f"{kind}, n", "naive", "tiled", "chosen", "rung", "us", "cuBLAS", "chosen / cuBLAS [p10, p90]", "of peak",
                     "error", "cuBLAS's"], lines)


def goal_of(row):
    """What a row should reach, and whether it does; nothing where there is no goal."""
    wanted = {name: row.get(f"goal_{name}", 0) for name in ("ratio", "microseconds", "of_copy")}
    reached = all((row["ratio"] >= wanted["ratio"], not wanted["microseconds"] or row["microseconds"] <= wanted["microseconds"],
                   row.get("limit_share", 0) >= wanted["of_copy"]))
    words = [f"{wanted['ratio']:.2f}x" if wanted["ratio"] else "", f"{digits(wanted['microseconds'])} us" if wanted["microseconds"]
             else "", f"{percent(wanted['of_copy'])} of copy" if wanted["of_copy"] else ""]
    return ", ".join(word for word in words if word), reached


def gemm_goals(run):
    rows = [row for row in run.select(type=STRICT_TYPES, asked="best") if row.get("ratio") and goal_of(row)[0]]
    lines = []
    for row in rows:
        goal, reached = goal_of(row)
        lines.append([f"{row['type']}, {shape_of(row)}, {row['regime']}", goal, "yes" if reached else "no",
                      digits(row["microseconds"]), ratio(row), percent(row.get("limit_share")), digits(row.get("best_ratio"))])
    return markdown(["goals", "at least", "reached", "us", "ours / cuBLAS [p10, p90]", "of copy", "beside its best proposal"],
                    lines)


def gemm_strict_families(run):
    lines = []
    for (kind, group, regime), members in strict_families(run).items():
        ratios = [row["ratio"] for row in members]
        worst = min(members, key=lambda row: row["ratio"])
        best = [row["best_ratio"] for row in members if row.get("best_ratio")]
        lines.append([f"{kind}, {group}, {regime}", str(len(members)), f"{statistics.geometric_mean(ratios):.3f}",
                      f"{min(ratios):.3f} ({shape_of(worst)})", f"{max(ratios):.3f}", str(sum(one < LOSS for one in ratios)),
                      f"{statistics.geometric_mean(best):.3f}" if best else "", f"{min(best):.3f}" if best else ""])
    return markdown(["family", "count", "ours / cuBLAS, geometric mean", "worst", "best", f"below {LOSS}",
                     "beside its best proposal, mean", "worst"], lines)


def max_rms(row, what=""):
    return f"{row[what + 'error']:.2f} / {row[what + 'rms']:.3f}" if row.get(what + "error") else ""


def path_of(row):
    """The rung, and the guard's verdict if it was asked."""
    return f"{row['rung']}, {row['choice']}" if row["choice"] and not row["choice"].isdigit() else row["rung"]


def gemm_fp32_squares(run):
    rows = sorted(run.select(type="sgemm_fp32", group="square", asked="best"), key=lambda row: (row["n"], row["regime"]))
    return markdown(["sgemm, fp32, n", "regime", "fp32", "cuBLAS", "fp32 / cuBLAS [p10, p90]", "fp32 / strict", "rung, guard",
                     "error max / rms", "cuBLAS's"],
                    [[f"{row['n']:.0f}", row["regime"], f"{row['tflops']:.1f}", digits(row["cublas_tflops"], 1), ratio(row),
                      digits(row.get("strict_ratio")), path_of(row), max_rms(row),
                      max_rms(row, "cublas_")] for row in rows])


def gemm_fp32_families(run):
    lines = []
    for (group, regime), members in gemm_families(run).items():
        ratios = [row["ratio"] for row in members]
        worst = min(members, key=lambda row: row["ratio"])
        behind = lambda field: str(sum(0 < row.get(field, 0) < LOSS for row in members))
        lines.append([f"{group}, {regime}", str(len(members)), f"{statistics.geometric_mean(ratios):.2f}",
                      f"{min(ratios):.2f} ({shape_of(worst)})", f"{max(ratios):.2f}", behind("ratio"),
                      behind("strict_ratio")])
    return markdown(["sgemm, fp32", "count", "fp32 / cuBLAS, geometric mean", "worst", "best", "behind cuBLAS",
                     "behind strict"], lines)


def gemm_errors(run):
    """One line a kind of data, at the least, the middle and the greatest k."""
    kinds = {}
    for row in run.errors:
        kinds.setdefault(row["group"], {})[int(row["k"])] = row
    if not kinds:
        return []
    depths = sorted({k for found in kinds.values() for k in found})
    shown = sorted({depths[0], depths[len(depths) // 2], depths[-1]})
    lines = []
    for kind, found in kinds.items():
        cells = [cell for k in shown for cell in ((max_rms(found[k]), max_rms(found[k], "cublas_")) if k in found else ("", ""))]
        paths = dict.fromkeys(path_of(found[k]) for k in sorted(found))
        lines.append([kind, "; ".join(paths), *cells])
    return markdown(["error max / rms", "rung, guard", *(head for k in shown for head in (f"fp32, k = {k}", "cuBLAS"))], lines)


def gemm_startup(costs):
    names = {"first_gemm_ms": "context and first gemm, ms", "enqueue_us": "host time to enqueue a gemm, us",
             "device_memory_mb": "device memory held, MB"}
    rows = [[text, f"{costs['tinyblas'][key]:.1f}", f"{costs['cublas'][key]:.1f}"] for key, text in names.items()]
    commit = f" {costs['commit']}" if "commit" in costs else ""
    return markdown(["with the CUDA runtime up, n = 64", f"tinyblas{commit}", "cuBLAS"], rows)


def gemm(run):
    context = run.context
    control = [row["ratio"] for row in run.select(group="control")]
    entries = "over all or many rows of C" if any("checked_rows" in row for row in run.rows) else "of 512 entries"
    noise = "cuBLAS against itself: " + ", ".join(f"{value:.3f}" for value in control) + ". " if control else ""
    text = (f"TFLOP/s. {noise}Peak: measured, {context['ffma_peak']} in float at {context['sm_clock_in_ffma']}, "
            f"{context['dfma_peak']} in double without tensor cores, which cuBLAS uses. Error: the largest |c - AB| / "
            f"(|A||B|) {entries}, in units of 2^-24 (sgemm) or 2^-53 (dgemm).")
    lines = gemm_squares(run, "sgemm") + gemm_squares(run, "dgemm") + gemm_goals(run) + gemm_strict_families(run)
    return text, lines + gemm_startup(context["startup"]) if "startup" in context else lines


def gemm_fp32(run):
    context = run.context
    text = (f"Precision fp32, on tensor cores; TFLOP/s. Medians of {context['rounds_sustained']} rounds "
            f"({context['regime_sustained']}) unless burst is said, splitting of the operands included. Error: the largest "
            "|c - AB| / (|A||B|) over all or many rows of C, and the root mean square, in units of 2^-24. The guard chose one "
            "or three products of fp16 parts, six of bf16 parts, or strict.")
    return text, gemm_fp32_squares(run) + gemm_fp32_families(run) + gemm_errors(run)


def batched(run):
    text = ("Batches of products of n x n x n: graph, 10,000 by strides (pointers: by arrays of pointers), which caches hold, in a "
            "CUDA graph; memory, odd, layout: half a gigabyte of A, B and C. Of copy: of the runtime's copy of as many bytes, in "
            f"the same rounds ({run.context['copy_speed']} for 4 GiB).")
    label = lambda row: f"{row['type']}, {row['group']}, {row['n']:.0f}, {row['detail']}"
    return text, streams("n", run.select(asked="best"), "of copy", label)


def gemv(run):
    text = ("gemv_t: of the transpose; ger: the update. Bytes of A and the vectors. Of read: of a kernel that only reads as many "
            f"bytes, in the same rounds ({run.context['read_speed']} for 4 GiB). Cold: no cache holds A; misaligned: leading "
            "dimension n + 1. Every result has the same bits twice.")
    shape = lambda row: f"{power(row['m'], 10**6)} x {power(row['n'], 10**6)}"
    shown = run.select(type=("sgemv", "sgemv_t"), group="warm", asked="best")
    rest = [row for row in run.rows if row not in shown]
    return text, streams("A", shown, "of read", lambda row: f"{row['type']}, {shape(row)}") + others(rest, shape)


def transpose(run):
    text = ("Bytes read and written; every element checked. Of copy: of the runtime's copy of as many bytes in the same "
            f"rounds ({run.context['copy_speed']} for 4 GiB). cuBLAS: geam, which cannot work in place.")
    label = lambda row: f"{row['type']}, {power(row['rows'], 10**5)} x {power(row['columns'], 10**5)}" + (
        "" if row["detail"] == "packed" else f", {row['detail']}")
    squares = run.select(type="float", group="square")
    return text, (streams("matrix", run.select(asked="best"), "of copy", label) +
                  ladder("float squares, GB/s", squares, "rows", ("naive", "padded", "tuned"), "gbs", 10**5))


def reduce(run):
    text = ("Bytes read. Of read: of a kernel that only reads as many bytes, in the same rounds "
            f"({run.context['read_speed']} for 4 GiB). In a CUDA graph with the result in device memory, except the lines "
            "'host': until the number is in the host's hands. Every result has the same bits twice.")
    lines = []
    for kind in ("sasum", "sdot"):
        rows = run.select(type=kind, group="warm", asked="best")
        lines += streams(f"{kind}, n", rows, "of read", lambda row: power(row["n"]))
    label = lambda row: f"{row['type']}, {row['group']}, {power(row['n'])}"
    lines += streams("otherwise", run.select(group=("cold", "misaligned", "strided", "host", "huge")), "of read", label)
    for kind in ("sasum", "sdot"):
        lines += ladder(f"{kind}, GB/s, n", run.select(type=kind, group="warm"), "n", ("naive", "texture", "tuned"), "gbs")
    rest = [row for row in run.select(group="warm") if row["type"] not in ("sasum", "sdot")]
    return text, lines + others(rest, lambda row: f"n = {power(row['n'])}")


def polyval_degrees(run, kind):
    steady = {row["degree"]: row for row in run.select(type=kind, group="sustained", asked="best")}
    lines = []
    for row in run.select(type=kind, group="burst", asked="best"):
        hot = steady.get(row["degree"], {})
        lines.append([f"{row['degree']:.0f}", power(row["n"]), digits(row["gbs"]), percent(row["limit_share"]),
                      digits(row["tflops"]), percent(row["peak_fraction"]), digits(hot.get("tflops")),
                      digits(hot.get("gbs")), ratio(row)])
    return markdown([f"{kind}, degree", "n", "GB/s", "of copy", "TFLOP/s", "of peak", "sustained TFLOP/s",
                     "sustained GB/s", "time of Thrust / ours [p10, p90]"], lines)


def polyval(run):
    context = run.context
    text = (f"Beside {context['reference']} with Horner's rule. Of copy: of the runtime's copy of as many bytes, in the "
            f"same rounds ({context['copy_speed']} for 4 GiB). Of peak: {context['ffma_peak']} in float, "
            f"{context['dfma_peak']} in double. Sustained: after half a second without pause, where the power limit decides.")
    lines = polyval_degrees(run, "spolyval") + polyval_degrees(run, "dpolyval")
    burst = [row for row in run.select(type="spolyval", group="burst") if row["n"] == 2**28]
    return text, lines + ladder("spolyval, n = 2^28, GB/s, degree", burst, "degree", ("naive", "constant", "tuned"), "gbs")


# --- README -----------------------------------------------------------------------------------------------------------


def section(operation, run):
    context = run.context
    head = (f"{context['gpu']}, driver {context['driver']}, {context['reference']}, tinyblas {context['tinyblas_commit']}, "
            f"{context['date'][:10]}; medians of {context['rounds']} interleaved rounds ({context['regime']}); a ratio is "
            "the reference's time over ours. ")
    text, lines = {"gemm": gemm, "gemm_fp32": gemm_fp32, "batched": batched, "gemv": gemv, "transpose": transpose,
                   "reduce": reduce, "polyval": polyval}[operation](run)
    return [head + text, "", *lines]


def rewrite_readme():
    readme = ROOT / "README.md"
    text = read(readme)
    recorded = [runs(folder) for folder in folders()]
    for operation in OPERATIONS:
        begin, end = f"<!-- results {operation} -->", f"<!-- end of results {operation} -->"
        if begin not in text or end not in text:
            print(f"README.md: no table of {operation}: the marks {begin} and {end} are not there")
            continue
        lines = [line for found in recorded if operation in found for line in section(operation, found[operation])]
        before, rest = text.split(begin, 1)
        text = "\n".join([before + begin] + (lines or ["No run recorded yet.", ""])) + end + rest.split(end, 1)[1]
    readme.write_text(text)
    print("README.md: tables rewritten")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--record"] and len(arguments) in (3, 4):
        record(*arguments[1:])
    elif arguments:
        sys.exit(__doc__)
    rewrite_readme()
