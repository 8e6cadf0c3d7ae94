"""report.py -- a run as markdown: the tables of bench/results/table.md and the headline of README.md;
and as plots."""

import textwrap

import plots
import servers
import targets
from compare import MAIN_CONNECTIONS
from workload import ITEM_SIZE

COLUMNS = 100
# Above this share of the machine's CPU taken by other programs, requests/s and latencies tell how
# the scheduler shared the machine out and not which server is faster. CPU per request still holds.
OTHERS_SHARE_MAX = 0.1
# From here on the load generator had no core to spare, and the server may have had.
LOAD_SHARE_MAX = 0.97
NAMES = [kind.name for kind in servers.ALL]
LABELS = {kind.name: kind.label for kind in servers.ALL}


def table(heads, rows, right_from=1):
    """Columns from that one on are numbers."""
    marks = ["---"] * right_from + ["---:"] * (len(heads) - right_from)
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(marks)}|"]
    return lines + [f"| {' | '.join(map(str, row))} |" for row in rows]


def wrapped(text):
    """Each line of prose cut to COLUMNS; tables and pictures cannot be."""
    lines = []
    for line in text.split("\n"):
        if len(line) <= COLUMNS or line.startswith(("|", "!")):
            lines.append(line)
            continue
        indent = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(
            line, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines)


def names_in(results):
    return [name for name in NAMES if any(name in cell["servers"] for cell in results["cells"])]


def with_connections(results, connections):
    return [cell for cell in results["cells"] if cell["connections"] == connections]


# --- What was measured, and how far it can be trusted ---


def circumstances(results):
    return (
        f"Measured on {results['date']} with `{results['command']}` in {results['minutes']:.0f} minutes: "
        f"{results['machine']}; the disk takes {results['sync_us']:,.0f} us to sync 4 KB. Medians of "
        f"{results['turns']} turns." + cores(results)
    )


def cores(results):
    """Who had which; results of before this was measured say nothing."""
    count = results.get("server_cores")
    if not count:
        return ""
    return f" The load generator had one core, each server {'another' if count == 1 else f'the other {count}'}."


def all_turns(results):
    for cell in results["cells"]:
        for turns in cell["turns"].values():
            yield from turns


def cautions(results):
    lines = []
    others = max((turn["others_share"] for turn in all_turns(results)), default=0)
    if others > OTHERS_SHARE_MAX:
        lines.append(
            f"**Other programs took up to {others:.0%} of the CPU during a turn**, so rates and latencies "
            "are not those of a quiet machine and cannot be compared; CPU per request can."
        )
    if results["quick"]:
        lines.append("**A quick run**, to see that everything works: its figures mean little.")
    for label, reason in results["missing"].items():
        lines.append(f"{label} was left out: {' '.join(reason.split())}.")
    for cell in with_connections(results, MAIN_CONNECTIONS):
        for name, reason in cell["unable"].items():
            lines.append(f"{LABELS[name]} is left out of {cell['workload']}: `{' '.join(reason.split())[:160]}`")
    saturated = sum(turn["load_share"] > LOAD_SHARE_MAX for turn in all_turns(results))
    if saturated:
        lines.append(f"In {saturated} turns the load generator had no CPU to spare.")
    return [text for line in lines for text in (line, "")]


# --- Tables ---


def counted(connections):
    return f"{connections} connection{'s' if connections > 1 else ''}"


def rates_table(results, connections):
    names = names_in(results)
    rows = []
    for cell in with_connections(results, connections):
        measured = cell["servers"]
        rates = [
            f"{measured[name]['requests_per_s']:,.0f}" if name in measured else "-" for name in names
        ]
        rows.append([cell["workload"], *rates])
    return table([f"requests/s, {counted(connections)}", *(LABELS[name] for name in names)], rows)


def details_table(results):
    heads = ["workload", "server", "requests/s", "from - to", "p50 us", "p99 us", "p99.9 us", "CPU us/request"]
    rows = []
    for cell in results["cells"]:
        for name in names_in(results):
            if (row := cell["servers"].get(name)) is None:
                continue
            rows.append([
                f"{cell['workload']}, {counted(cell['connections'])}",
                LABELS[name],
                f"{row['requests_per_s']:,.0f}",
                f"{row['requests_per_s_min']:,.0f} - {row['requests_per_s_max']:,.0f}",
                *(f"{row[each]:,.0f}" for each in ("p50_us", "p99_us", "p999_us")),
                f"{row['cpu_us_per_request']:,.1f}",
            ])  # fmt: skip
    return table(heads, rows, right_from=2)


def targets_table(rows):
    return table(
        ["target", "wanted", "measured", "met"],
        [[row["name"], row["wanted"], row["figure"] or "-", "yes" if row["met"] else "no"] for row in rows],
        right_from=4,
    )


def servers_table(results):
    rows = []
    for name, own in results["servers"].items():
        figures = [
            f"{own[each]:,.0f}" if each in own else "-"
            for each in ("start_ms", "idle_mb", "resident_mb", "resident_peak_mb")
        ]
        rows.append([LABELS[name], own["mode"], *figures])
    heads = ["server", "how it runs", "start to first answer, ms", "idle MB", "MB after all", "most MB"]
    return table(heads, rows, right_from=2)


def brief(row):
    return [f"{row['requests_per_s']:,.0f}", f"{row['p99_us']:,.0f}", f"{row['cpu_us_per_request']:.1f}"]


def scaling_lines(scaling):
    sizes = scaling["sizes"]
    small, large = sizes["tables"]["small"], sizes["tables"]["large"]
    heads = ["stator, 32 connections", "requests/s", "p99 us", "CPU us/request"]
    rows = []
    for operation, cell in sizes["cells"].items():
        for name, own in (("small", small), ("large", large)):
            rows.append([f"{operation}, {own['items']:,} items", *brief(cell[name])])
    for operation, cell in scaling["workers"].items():
        for name in cell:
            rows.append([f"{operation}, `--workers {name}`", *brief(cell[name])])
    half = scaling["half_rate"]
    return [
        *table(heads, rows),
        "",
        f"- {large['items']:,} items were loaded in {large['load_s']:.0f} s by BatchWriteItem, every request "
        f"synced: {large['items'] / large['load_s']:,.0f} items/s. They take "
        f"{large['disk_bytes_per_item']:,.0f} bytes of the disk each. A server gives one of them "
        f"{large['start_ms']:.0f} ms after its start; resident it takes at most "
        f"{large['resident_peak_mb']:.0f} MB, while loading {large['load_peak_mb']:.0f} MB.",
        f"- GetItem at half of its peak, {half['rate_per_s']:,.0f} requests/s at fixed times: p50 "
        f"{half['half']['p50_us']:,.0f} us, p99 {half['half']['p99_us']:,.0f} us, p99.9 "
        f"{half['half']['p999_us']:,.0f} us from when a request was due.",
    ]


def micro_table(rows):
    cells = [
        [program, name, f"{value:,.0f}" if value >= 100 else f"{value:g}", unit]
        for program, name, value, unit in rows
    ]
    return table(["program", "measured", "value", "unit"], cells, right_from=2)


def whole(results):
    """All of bench/results/table.md. `results` has "parts": the lines of those in the run."""
    lines = ["# Benchmark", "", circumstances(results), "", *cautions(results)]
    lines += ["## Targets", "", "Rates are those with 32 connections.", ""]
    lines += [*targets_table(results["targets"]), "", "## Rates", ""]
    for connections in sorted({cell["connections"] for cell in results["cells"]}):
        lines += [*rates_table(results, connections), ""]
    if results["whats"]:
        lines += [f"- {name}: {what}." for name, what in results["whats"].items()]
        lines += ["", "Items have 300 bytes where no other size is named.", ""]
    lines += ["## Servers", "", *servers_table(results), ""]
    lines += ["## More items, more workers, less load", "", *scaling_lines(results["scaling"]), ""]
    if results["parts"]:
        lines += ["## Parts", "", *(line for each in results["parts"].values() for line in each), ""]
    if results["micro"]:
        lines += ["## Modules", "", *micro_table(results["micro"]), ""]
    lines += ["## All figures", "", *details_table(results), ""]
    return wrapped("\n".join(lines))


def headline(results, folder):
    """What README.md shows."""
    met = sum(row["met"] for row in results["targets"])
    return wrapped("\n".join([
        f"![Requests per second, side by side]({folder}/throughput.svg)",
        "",
        *rates_table({**results, "cells": [c for c in results["cells"] if c["item_size"] == ITEM_SIZE]},
                     MAIN_CONNECTIONS),
        "",
        circumstances(results),
        f"{met} of {len(results['targets'])} targets are met; the others, latencies, memory and all else are in "
        f"[{folder}/table.md]({folder}/table.md).",
        "",
        *cautions(results),
    ]).rstrip("\n"))  # fmt: skip


# --- Plots ---


def plot_texts(results):
    """{file name: SVG}"""
    note = f"{results['date']}, {results['machine']}"
    names = names_in(results)
    main = [
        cell for cell in with_connections(results, MAIN_CONNECTIONS) if cell["item_size"] == ITEM_SIZE
    ]
    drawn = {
        "throughput.svg": (f"Requests per second, {MAIN_CONNECTIONS} connections, 300 bytes", "requests_per_s"),
        "latency.svg": (f"99th percentile in microseconds, {MAIN_CONNECTIONS} connections", "p99_us"),
        "cpu.svg": ("CPU time of the server per request, microseconds", "cpu_us_per_request"),
    }
    texts = {}
    for file, (title, figure) in drawn.items():
        groups = [
            (cell["workload"], {name: own[figure] for name, own in cell["servers"].items()}) for cell in main
        ]
        texts[file] = plots.bars(title, note, groups, names, LABELS)
    groups = [
        (f"{cell['workload']}, {cell['connections']}",
         {name: own["requests_per_s"] for name, own in cell["servers"].items()})
        for cell in results["cells"]
        if cell["workload"] in ("GetItem", "PutItem") and cell["item_size"] == ITEM_SIZE
    ]  # fmt: skip
    texts["connections.svg"] = plots.bars(
        "Requests per second by the number of connections", note, groups, names, LABELS
    )
    return texts


def endurance_plot(result, note):
    length = result["seconds"] / len(result["intervals"])
    points = [f"{length * (number + 1):.0f} s" for number in range(len(result["intervals"]))]
    figures = (("PutItem, requests/s", "requests_per_s"), ("p99.9, us", "p999_us"))
    series = {
        label: [each.get(figure, 0) for each in result["intervals"]] for label, figure in figures
    }
    return plots.lines("PutItem without a pause, every write synced", note, series, points, powers=True)
