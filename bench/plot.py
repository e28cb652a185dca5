#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the recorded runs: PNG and SVG beside the numbers, the same bytes for the same numbers.

bench/plot.py [FOLDER...]    of bench/results/<gpu>; without one, of every GPU
    --if-possible            without matplotlib, says so and is content
"""
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from recorded import by_rung, folders, gemm_families, runs

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker
except ImportError:
    print(f"bench/plot.py: no plots: {sys.executable} has no matplotlib. On Debian or Ubuntu: apt-get install "
          "python3-matplotlib, then /usr/bin/python3 bench/plot.py", file=sys.stderr)
    sys.exit(0 if "--if-possible" in sys.argv else 1)

# Okabe and Ito's colours, which the colour-blind can tell apart; a marker of its own for each line, too.
OURS, REFERENCE, LIMIT = "#0072B2", "#D55E00", "#000000"
SECOND, LOWER, LOWEST = "#009E73", "#56B4E9", "#E69F00"
pyplot.rcParams.update({
    "svg.hashsalt": "tinyblas", "svg.fonttype": "path", "font.size": 10, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "#DDDDDD", "axes.spines.top": False, "axes.spines.right": False, "legend.edgecolor": "none",
    "lines.linewidth": 1.6, "lines.markersize": 5, "figure.constrained_layout.use": True})


def save(figure, folder, name, run, what):
    context = run.context
    figure.suptitle(f"{what}\n{context['gpu']}, {context['date'][:10]}, tinyblas {context['tinyblas_commit']}, "
                    f"{context['reference']}", fontsize=11)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    figure.savefig(folder / f"{name}.png", dpi=120, metadata={"Software": None})
    pyplot.close(figure)
    print(f"drew {folder / name}.svg and .png")


def extent(n):
    """A large power of two as one, any other number as it is."""
    n = int(n)
    return f"$2^{{{n.bit_length() - 1}}}$" if n >= 1 << 14 and n & (n - 1) == 0 else str(n)


def powers_of_two(axes, label):
    """A logarithmic axis of powers of two, at most a dozen of them with a number."""
    axes.set_xscale("log", base=2)
    axes.set_xlabel(label)
    low, high = (round(edge) for edge in matplotlib.transforms.Bbox(axes.dataLim).intervalx)
    first, last = max(low, 1).bit_length() - 1, high.bit_length()
    step = (last - first) // 12 + 1
    axes.xaxis.set_major_locator(ticker.FixedLocator([2**power for power in range(first, last + 1, step)]))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: extent(round(value))))
    axes.xaxis.set_minor_locator(ticker.NullLocator())


def line(axes, rows, x, y, label, color, marker, **style):
    """A line through the rows that have this figure."""
    points = sorted((row[x], row[y]) for row in rows if row.get(y))
    if points:
        axes.plot(*zip(*points), label=label, color=color, marker=marker, **style)


def ratios(axes, rows, x, label, color, marker):
    points = sorted((row[x], row["ratio"], row["ratio"] - row["ratio_p10"], row["ratio_p90"] - row["ratio"])
                    for row in rows if row.get("ratio"))
    if points:
        at, middle, below, above = zip(*points)
        axes.errorbar(at, middle, yerr=(below, above), label=label, color=color, marker=marker, capsize=2)
    axes.axhline(1, color=LIMIT, linewidth=1)


def bars(axes, labels, series):
    """Groups of bars side by side; `series`: label, colour, a height for each group (None: no bar)."""
    width = 0.8 / len(series)
    for index, (label, color, heights) in enumerate(series):
        at = [group + (index - (len(series) - 1) / 2) * width for group in range(len(labels))]
        axes.bar(at, [height or 0 for height in heights], width, label=label, color=color)
    axes.set_xticks(range(len(labels)), labels)
    axes.grid(False, axis="x")


def leading(text):
    """The number that a fact such as '63.00 TFLOP/s' begins with."""
    return float(text.split()[0])


def draw_gemm(run, folder):
    figure, panels = pyplot.subplots(2, 1, figsize=(8, 7))
    for axes, kind, peak in zip(panels, ("sgemm", "dgemm"), ("ffma_peak", "dfma_peak")):
        sizes = by_rung(run.select(type=kind, group="square", regime="burst"))
        sizes = {n: rungs for n, rungs in sizes.items() if n >= 128 and n & (n - 1) == 0}
        speed = lambda rung: [rungs.get(rung, {}).get("tflops") for rungs in sizes.values()]
        top = [rungs["best"]["cublas_tflops"] for rungs in sizes.values()]
        bars(axes, [f"{n}" for n in sizes], [("naive", LOWEST, speed("naive")), ("tiled", LOWER, speed("tiled")),
             ("chosen", OURS, speed("best")), ("cuBLAS", REFERENCE, top)])
        axes.axhline(leading(run.context[peak]), color=LIMIT, linestyle="--", label="multiply-add peak")
        axes.set(xlabel=f"{kind}, m = n = k", ylabel="TFLOP/s")
        axes.set(ylim=(0, 1.2 * axes.get_ylim()[1]))
        axes.legend(loc="upper left", fontsize=9, ncol=5)
    save(figure, folder, "gemm", run, "gemm: the ladder and cuBLAS")


def draw_gemm_fp32(run, folder):
    if run.errors:
        draw_gemm_errors(run, folder)
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(9, 8))
    squares = sorted(run.select(type="sgemm_fp32", group="square", asked="best"), key=lambda row: (row["n"], row["regime"]))
    bars(above, [f"{row['n']:.0f}\n{row['regime']}" for row in squares], [
        ("fp32, tensor cores", OURS, [row["tflops"] for row in squares]),
        ("fp32 strict", SECOND, [row["tflops"] / row["strict_ratio"] if row.get("strict_ratio") else None for row in squares]),
        ("cuBLAS", REFERENCE, [row["cublas_tflops"] for row in squares])])
    above.set(xlabel="sgemm, m = n = k", ylabel="TFLOP/s")
    above.legend(loc="upper left", fontsize=9)

    families = gemm_families(run)
    ratios = [[row["ratio"] for row in members] for members in families.values()]
    means = [statistics.geometric_mean(found) for found in ratios]
    below.bar(range(len(means)), means, 0.7, color=OURS, label="geometric mean")
    below.errorbar(range(len(means)), means, color=LIMIT, fmt="none", capsize=3, label="worst to best",
                   yerr=([max(mean - min(found), 0) for mean, found in zip(means, ratios)],
                         [max(max(found) - mean, 0) for mean, found in zip(means, ratios)]))
    names = [f"{group}\n{regime}\n{len(members)}".replace("_", "\n").replace(" ", "\n")
             for (group, regime), members in families.items()]
    below.set_xticks(range(len(means)), names, fontsize=8)
    below.axhline(1, color=LIMIT, linewidth=1)
    below.grid(False, axis="x")
    below.set(ylabel="time of cuBLAS / fp32", xlabel="family, regime, cases")
    below.set(ylim=(0, 1.2 * below.get_ylim()[1]))
    below.legend(loc="upper left", fontsize=9, ncol=2)
    save(figure, folder, "gemm_fp32", run, "sgemm in precision fp32, splitting of the operands included")


def draw_gemm_errors(run, folder):
    kinds = {}
    for row in run.errors:
        kinds.setdefault(row["group"], []).append(row)
    columns = min(4, len(kinds))
    lines = -(-len(kinds) // columns)
    figure, panels = pyplot.subplots(lines, columns, figsize=(3.2 * columns, 3.2 * lines), squeeze=False, sharex=True)
    for axes, (kind, rows) in zip(panels.flat, kinds.items()):
        for what, label, color, marker in (("cublas_", "cuBLAS", REFERENCE, "s"), ("strict_", "strict", SECOND, "^"),
                                           ("", "fp32", OURS, "o")):
            line(axes, rows, "k", what + "error", f"{label}, max", color, marker)
            line(axes, rows, "k", what + "rms", f"{label}, rms", color, marker, linestyle=":")
        axes.set_yscale("log")
        axes.set(title=kind)
        powers_of_two(axes, "k")
    for index in range(len(kinds), panels.size):
        panels.flat[index].set_axis_off()
        panels.flat[index - columns].tick_params(labelbottom=True)
    for axes in panels[:, 0]:
        axes.set(ylabel="error in units of $2^{-24}|A||B|$")
    panels[0, 0].legend(fontsize=7, ncol=2)
    save(figure, folder, "gemm_errors", run, f"sgemm: errors over k, m = n = {run.errors[0]['n']:.0f}, every entry of C")


def draw_transpose(run, folder):
    squares = run.select(type="float", group="square")
    best = [row for row in squares if row["asked"] == "best"]
    figure, (above, below) = pyplot.subplots(2, 1, figsize=(8, 7), height_ratios=(3, 2), sharex=True)
    line(above, best, "rows", "limit_gbs", "copy of as many bytes", LIMIT, None, linestyle="--")
    line(above, best, "rows", "gbs", "tuned", OURS, "o")
    line(above, best, "rows", "reference_gbs", "cuBLAS geam", REFERENCE, "s")
    for rung, color, marker in (("padded", LOWER, "^"), ("naive", LOWEST, "v")):
        line(above, run.select(type="float", group="square", asked=rung), "rows", "gbs", rung, color, marker)
    above.set(ylabel="GB/s, read and written", ylim=0)
    above.legend(loc="center left")
    ratios(below, best, "rows", "time of cuBLAS / ours", OURS, "o")
    below.set(ylabel="time of cuBLAS / ours, p10 to p90")
    powers_of_two(below, "n of an n x n float matrix")
    save(figure, folder, "transpose", run, "transpose of squares")

    rest = [row for row in run.select(asked="best") if row not in squares]
    label = lambda row: (f"{row['type']}\n{extent(row['rows'])}\nx {extent(row['columns'])}"
                         + ("" if row["detail"] == "packed" else "\n" + row["detail"].replace(", ", "\n")))
    figure, axes = pyplot.subplots(figsize=(max(8, 0.9 * len(rest)), 5))
    bars(axes, [label(row) for row in rest], [
        ("ours", OURS, [row["gbs"] for row in rest]), ("cuBLAS geam", REFERENCE, [row["reference_gbs"] for row in rest]),
        ("copy of as many bytes", "#999999", [row["limit_gbs"] for row in rest])])
    axes.set(ylabel="GB/s, read and written")
    axes.tick_params(axis="x", labelsize=8)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncol=3)
    save(figure, folder, "transpose_shapes", run, "transpose of other matrices")


def draw_reduce(run, folder):
    figure, panels = pyplot.subplots(2, 2, figsize=(11, 7), height_ratios=(3, 2), sharex=True, sharey="row")
    for (above, below), kind in zip(panels.T, ("sasum", "sdot")):
        warm = run.select(type=kind, group="warm", asked="best")
        cold = run.select(type=kind, group="cold", asked="best")
        line(above, warm, "n", "limit_gbs", "kernel that only reads", LIMIT, None, linestyle="--")
        line(above, warm, "n", "gbs", "ours", OURS, "o")
        line(above, warm, "n", "reference_gbs", "cuBLAS", REFERENCE, "s")
        line(above, cold, "n", "gbs", "ours, caches cold", SECOND, "^", linestyle=":")
        line(above, cold, "n", "reference_gbs", "cuBLAS, caches cold", LOWEST, "v", linestyle=":")
        above.axhline(leading(run.context["read_speed"]), color=LIMIT, linewidth=1, label="read speed, 4 GiB")
        above.set(title=kind, ylim=0)
        ratios(below, warm, "n", "warm", OURS, "o")
        ratios(below, cold, "n", "caches cold", SECOND, "^")
        powers_of_two(below, "n, float elements")
    panels[0, 0].set(ylabel="GB/s, read")
    panels[1, 0].set(ylabel="time of cuBLAS / ours, p10 to p90")
    panels[0, 0].legend(loc="center left", fontsize=9)
    panels[1, 0].legend(loc="upper right", fontsize=9)
    save(figure, folder, "reduce", run, "reductions, result in device memory")


def draw_polyval(run, folder):
    figure, panels = pyplot.subplots(2, 2, figsize=(11, 8), sharex="col", sharey="row")
    for (above, below), kind, peak in zip(panels.T, ("spolyval", "dpolyval"), ("ffma_peak", "dfma_peak")):
        large = [row for row in run.select(type=kind, asked="best") if row["n"] >= 2**24 and row["n"] <= 2**30]
        burst = [row for row in large if row["group"] == "burst"]
        steady = [row for row in large if row["group"] == "sustained"]
        for row in burst:
            row["reference_tflops"] = row["tflops"] * row["reference_gbs"] / row["gbs"]
        for axes, field, reference in ((above, "gbs", "reference_gbs"), (below, "tflops", "reference_tflops")):
            line(axes, burst, "degree", field, "ours, burst", OURS, "o")
            line(axes, steady, "degree", field, "ours, sustained", SECOND, "^", linestyle=":")
            line(axes, burst, "degree", reference, "Thrust, burst", REFERENCE, "s")
            axes.set(ylim=0)
        line(above, burst, "degree", "limit_gbs", "copy of as many bytes", LIMIT, None, linestyle="--")
        below.axhline(leading(run.context[peak]), color=LIMIT, linestyle="--", label="measured multiply-add peak")
        above.set(title=kind)
        powers_of_two(below, "degree")
    panels[0, 0].set(ylabel="GB/s, read and written")
    panels[1, 0].set(ylabel="TFLOP/s")
    panels[0, 0].legend(loc="center right")
    panels[1, 0].legend(loc="center right")
    save(figure, folder, "polyval", run, "polynomials by Horner's rule, at least $2^{24}$ points")


DRAW = {"gemm": draw_gemm, "gemm_fp32": draw_gemm_fp32, "transpose": draw_transpose, "reduce": draw_reduce,
        "polyval": draw_polyval}

if __name__ == "__main__":
    for chosen in [Path(word) for word in sys.argv[1:] if word != "--if-possible"] or folders():
        found = runs(chosen)
        if not found:
            sys.exit(f"{chosen}: holds none of {', '.join(operation + '.json' for operation in DRAW)}")
        for operation, run in found.items():
            if operation in DRAW:
                DRAW[operation](run, chosen)
