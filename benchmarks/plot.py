"""Tables (Markdown, on stdout) and plots (SVG) from the results of peers.py.

usage: plot.py RESULTS.json [--plots FOLDER]

A table a dtype and norm: microseconds a call, the fastest in bold, and what share of the triad ours and the best peer reach. The plots, for which
matplotlib is needed: time_DTYPE.svg, time against bytes, and share_DTYPE.svg, share of the triad for each shape.
"""
import argparse, collections, json, math, os, sys
from norm import SHAPES
from peers import PROVIDERS, UNTUNED

TITLES = {"rms": "RMSNorm", "layer": "LayerNorm"}
PEERS = [p for p in PROVIDERS if p not in ("ours", "runner")]


class Cell:
    """What was measured at one norm, dtype and shape."""

    def __init__(self, rows):
        self.rows = {row["provider"]: row for row in rows}
        self.us = {name: row["us"] for name, row in self.rows.items() if "us" in row and not row.get("wrong")}
        # Runs that were resumed have a triad each.
        triads = sorted(row["triad_us"] for row in rows)
        self.triad, self.bytes = triads[len(triads) // 2], rows[0]["bytes"]
        self.best = min((name for name in PEERS if name in self.us), key=self.us.get, default=None)

    def get_text(self, name, fastest):
        if name in self.us:
            text = f"{self.us[name]:.1f}" if self.us[name] < 1000 else f"{self.us[name]:.0f}"
            return f"**{text}**" if name == fastest else text
        return "" if name not in self.rows else "wrong" if self.rows[name].get("wrong") else "-"


def read_cells(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["dtype"], row["norm"], row["shape"]].append(row)
    order = {shape: i for i, shape in enumerate(SHAPES + UNTUNED)}
    cells = collections.defaultdict(dict)
    for dtype, norm, shape in sorted(groups, key=lambda key: order.get(key[2], len(order))):
        cells[dtype, norm][shape] = Cell(groups[dtype, norm, shape])
    return cells


def print_table(dtype, norm, cells):
    names = [p for p in PROVIDERS if any(p in cell.rows for cell in cells.values())]
    compared = [p for p in names if p != "runner" and any(p in cell.us for cell in cells.values())]
    header = ["shape", "triad", *names, "ours / triad", "best peer / ours"]
    print(f"\n### {TITLES[norm]}, {dtype}\n\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for shape, cell in cells.items():
        fastest = min((p for p in compared if p in cell.us), key=cell.us.get, default=None)
        ours = cell.us.get("ours")
        line = [shape, f"{cell.triad:.1f}", *(cell.get_text(p, fastest) for p in names)]
        line.append(f"{ours / cell.triad:.2f}" if ours else "")
        line.append(f"{cell.us[cell.best] / ours:.2f} ({cell.best})" if ours and cell.best else "")
        print("| " + " | ".join(line) + " |")
    shared = [cell for cell in cells.values() if all(p in cell.us for p in compared)]
    if shared:
        means = {p: math.exp(sum(math.log(c.triad / c.us[p]) for c in shared) / len(shared)) for p in compared}
        print(f"\nGeometric mean of triad / time over the {len(shared)} shapes that all have: "
              + ", ".join(f"{p} {mean:.2f}" for p, mean in sorted(means.items(), key=lambda item: -item[1])) + ".")
    apart = [row["runner_triad_us"] / c.triad - 1 for c in cells.values() for row in c.rows.values() if "runner_triad_us" in row]
    if apart:
        print(f"\nThe runner's own triad differs from this one by {min(apart):+.1%} to {max(apart):+.1%}.")
    reasons = collections.defaultdict(list)
    for shape, cell in cells.items():
        for name, row in cell.rows.items():
            if "skipped" in row:
                reasons[name, row["skipped"]].append(shape)
            elif row.get("wrong"):
                reasons[name, "wrong, errors " + " ".join(f"{e:.1e}" for e in row["errors"])].append(shape)
    for (name, reason), shapes in reasons.items():
        print(f"\n{name}, {'all shapes' if len(shapes) == len(cells) else ', '.join(shapes)}: {reason}")


def plot(folder, dtype, cells):
    import matplotlib
    matplotlib.use("svg")
    # The same results give the same file, and a small one.
    matplotlib.rcParams.update({"svg.hashsalt": "norm-fusion", "svg.fonttype": "none"})
    from matplotlib import pyplot
    names = [p for p in PROVIDERS if p != "runner" and any(p in cell.us for norm in cells for cell in cells[norm].values())]
    colors = dict(zip(PROVIDERS, matplotlib.colormaps["tab10"].colors))

    def save(kind, figure):
        figure.tight_layout()
        figure.savefig(os.path.join(folder, f"{kind}_{dtype}.svg"), metadata={"Date": None})
        pyplot.close(figure)

    figure, axes = pyplot.subplots(1, len(cells), figsize=(7 * len(cells), 5), squeeze=False)
    for ax, norm in zip(axes[0], cells):
        ordered = sorted(cells[norm].values(), key=lambda cell: cell.bytes)
        ax.plot([c.bytes / 1e6 for c in ordered], [c.triad for c in ordered], color="black", linewidth=1, label="triad")
        for name in names:
            points = [(c.bytes / 1e6, c.us[name]) for c in ordered if name in c.us]
            if points:
                ax.plot(*zip(*points), "o" if name == "ours" else ".", color=colors[name], label=name)
        ax.set(xscale="log", yscale="log", xlabel="MB read and written", ylabel="us a call", title=f"{TITLES[norm]} backward, {dtype}")
        ax.legend(fontsize=8)
    save("time", figure)

    figure, axes = pyplot.subplots(len(cells), 1, figsize=(13, 4.5 * len(cells)), squeeze=False)
    for ax, norm in zip(axes[:, 0], cells):
        shapes = sorted(cells[norm], key=lambda shape: cells[norm][shape].bytes)
        for name in names:
            points = [(i, 100 * cells[norm][s].triad / cells[norm][s].us[name]) for i, s in enumerate(shapes) if name in cells[norm][s].us]
            if points:
                ax.plot(*zip(*points), "o-" if name == "ours" else ".:", color=colors[name], linewidth=1, label=name)
        ax.axhline(100, color="black", linewidth=1)
        ax.set_xticks(range(len(shapes)), shapes, rotation=45, ha="right", fontsize=8)
        ax.set(ylabel="% of the triad", title=f"{TITLES[norm]} backward, {dtype}")
        ax.set_ylim(bottom=0)
        ax.legend(fontsize=8, ncols=4)
    save("share", figure)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("results")
    parser.add_argument("--plots", metavar="FOLDER")
    options = parser.parse_args()
    report = json.load(open(options.results))
    cells = read_cells(report["rows"])
    print(f"{report.get('device')}; " + ", ".join(f"{k} {v}" for k, v in report.get("versions", {}).items()))
    for dtype, norm in cells:
        print_table(dtype, norm, cells[dtype, norm])
    if options.plots:
        os.makedirs(options.plots, exist_ok=True)
        for dtype in dict.fromkeys(dtype for dtype, _ in cells):
            plot(options.plots, dtype, {norm: cells[d, norm] for d, norm in cells if d == dtype})
    return 0


if __name__ == "__main__":
    sys.exit(main())
