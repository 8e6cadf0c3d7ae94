"""The benchmark's own sums: percentiles, targets, tables and plots. Servers are not measured here."""

import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

# ruff: noqa: E402 (the path comes first)
import compare
import endurance
import histogram
import measuring
import plots
import report
import servers
import targets
import workload


@pytest.mark.parametrize(
    "buckets, percent, wanted",
    [
        ([[7, 1]], 50, 7),
        ([[7, 1]], 99.9, 7),
        ([[1, 50], [2, 50]], 50, 1),
        ([[1, 49], [2, 51]], 50, 2),
        ([[1, 99], [2, 1]], 99, 1),
        ([[1, 98], [2, 2]], 99, 2),
        ([[1, 999], [2, 1]], 99.9, 1),
        ([[1, 998], [2, 2]], 99.9, 2),
        ([[1, 1000], [2, 1]], 100, 2),
    ],
)
def test_a_percentile_is_what_so_many_values_do_not_pass(buckets, percent, wanted):
    assert histogram.percentile(buckets, percent) == wanted


def test_nothing_has_no_percentile():
    with pytest.raises(ValueError):
        histogram.percentile([], 50)


def test_merged_histograms_have_all_counts_in_rising_order():
    assert histogram.merged([[[5, 1], [9, 2]], [], [[1, 3], [9, 4]]]) == [(1, 3), (5, 1), (9, 6)]


def figures(rate):
    return {
        "answers": 100, "requests_per_s": rate, "p50_us": 10.0, "p99_us": 20.0, "p999_us": 30.0,
        "cpu_us_per_request": 5.0, "body_bytes": 2.0, "unsent": 0, "others_share": 0.0,
        "load_share": 0.5,
    }  # fmt: skip


def cell(name, rates, connections=32, unable=()):
    turns = {server: [figures(rate), figures(rate * 2), figures(rate)] for server, rate in rates.items()}
    return {
        "workload": name,
        "connections": connections,
        "item_size": 300,
        "servers": {server: measuring.median_of(list_) for server, list_ in turns.items()},
        "unable": dict.fromkeys(unable, "400: no such operation"),
        "turns": turns,
    }


RATES = {
    "stator": 5500, "stator-memory": 8000, "nginx": 10000, "dynoxide": 550, "dynamodb-local": 551,
    "dynalite": 100,
}  # fmt: skip


def results():
    """A run in which some targets are met and some are not."""
    without = {name: rate for name, rate in RATES.items() if name != "dynalite"}
    table = {
        "items": 10_000_000, "load_s": 60.0, "load_peak_mb": 300.0, "resident_peak_mb": 483.9,
        "disk_bytes_per_item": 310.0, "start_ms": 499.9,
    }  # fmt: skip
    sizes = {"small": figures(1000), "large": figures(700)}
    half = {**figures(5000), "p50_us": 100.0, "p99_us": 300.0}
    own = {"mode": "as it ships", "start_ms": 49.9, "idle_mb": 30.0, "resident_mb": 40.0}
    return {
        "date": "2026-01-01",
        "command": "make bench",
        "machine": "2 cores",
        "minutes": 20.0,
        "quick": False,
        "turns": 3,
        "sync_us": 200.0,
        "whats": {"GetItem": "one item"},
        "servers": {name: {**own, "resident_peak_mb": 200.0} for name in RATES},
        "missing": {},
        "cells": [
            cell("GetItem", RATES, 1),
            cell("GetItem", RATES),
            cell("Query of 10", {**RATES, "dynalite": 366}),
            cell("PutItem", RATES),
            cell("TransactWriteItems of 2", without, unable=["dynalite"]),
        ],
        "scaling": {
            "half_rate": {"peak": figures(10000), "rate_per_s": 5000, "half": half},
            "workers": {"GetItem": {"1": figures(1000), "2": figures(1900)}},
            "sizes": {"tables": {"small": table, "large": table}, "cells": {"GetItem": sizes}},
        },
        "parts": {"scan": ["- Scan: fast."]},
        "part_figures": {
            "scan": {"mb_per_s_and_core": 599.4},
            "cold": {
                "Query": figures(500),
                "Query, cached": figures(1000),
                "GetItem": figures(1000),
                "BatchGetItem": figures(29),
            },
            "stream": {"PutItem": {"with": figures(85), "without": figures(100)}},
            "history": {"inserts": {"with": figures(91), "without": figures(100)}},
            "attacks": {
                "one": {"quiet_p99_us": 100.0, "attacked_p99_us": 299.0},
                "other": {"quiet_p99_us": 100.0, "attacked_p99_us": 100.0},
            },
        },
        "micro": [["bench_x", "thing", 1234.0, "ns"]],
    }


@pytest.mark.parametrize(
    "name, figure, met",
    [
        ("GetItem, over nginx with a constant answer", "55%", True),
        ("GetItem, over Dynoxide", "10.0 times", True),
        ("GetItem, over DynamoDB Local", "10.0 times", False),  # 9.98, just below.
        ("Query of 10, over nginx with a constant answer", "55%", True),
        ("Query of 10, over the best peer", "10.0 times", False),
        ("CPU per GetItem, over nginx's", "1.00 times", True),
        ("Query of 100 items that are not cached, over cached", "50%", True),
        ("Scan, pages of 1 MB, over nginx with a file", None, False),
        ("Scan, MB/s of stored items per core", "599", False),
        ("BatchGetItem of 100 items that are not cached, items/s over GetItem", "2.9 times", False),
        ("PutItem, synced, over nginx with a constant answer", "55%", False),
        ("PutItem with a stream of both images, over without", "85%", True),
        ("PutItem of new items with point-in-time recovery, over without", "91%", False),
        ("p99 of honest clients beside the worst attack, over quiet", "3.0 times", True),
        ("PutItem, synced, over the best peer", "10.0 times", True),
        ("UpdateItem with a condition, synced, over the best peer", None, False),
        ("TransactWriteItems of 2, synced, over the best peer", "10.0 times", False),
        ("GetItem in the large table, over 10,000 items", "70%", True),
        ("p99 of GetItem at half of the peak rate, over its p50", "3.0 times", False),
        ("CPU per GetItem of two workers, over one", "1.00 times", True),
        ("start to first answer, empty store", "50 ms", True),
        ("start to first answer, large table", "500 ms", True),
        ("resident memory, idle", "30 MB", False),
        ("resident memory, at any time: caches and 100 MB", "484 MB", True),
    ],
)
def test_a_target_is_met_at_its_bound_and_not_beside_it(name, figure, met):
    rows = {row["name"]: row for row in targets.evaluate(results())}
    assert (rows[name]["figure"], rows[name]["met"]) == (figure, met)


def test_the_caches_are_those_of_the_settings():
    words = [servers.stator_process.binary(), "serve", "--print-config"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    for name, size_mb in targets.CACHES_MB.items():
        assert f"\n{name} = {size_mb}M\n" in done.stdout


def test_the_report_has_all_cells_and_says_what_is_missing():
    run = results()
    run["missing"] = {"Dynoxide": "npm's package is not installed"}
    run["cells"][1]["turns"]["stator"][0]["others_share"] = 0.11
    run["targets"] = targets.evaluate(run)
    text = report.whole(run)
    assert "| GetItem | 5,500 | 8,000 | 10,000 | 550 | 551 | 100 |" in text
    assert "| TransactWriteItems of 2 | 5,500 | 8,000 | 10,000 | 550 | 551 | - |" in text
    assert "dynalite is left out of TransactWriteItems of 2: `400: no such operation`" in text
    assert "Dynoxide was left out: npm's package is not installed." in text
    assert "Other programs took up to 11% of the CPU" in text
    assert "| GetItem, 1 connection | dynalite | 100 | 100 - 200 | 10 | 20 | 30 | 5.0 |" in text
    headline = report.headline(run, "bench/results")
    assert "| requests/s, 32 connections |" in headline and "bench/results/throughput.svg" in headline


def test_plots_are_well_formed_and_have_a_bar_for_each_figure():
    run = results()
    texts = report.plot_texts(run)
    assert set(texts) == {"throughput.svg", "latency.svg", "cpu.svg", "connections.svg"}
    for text in texts.values():
        xml.etree.ElementTree.fromstring(text)
    bars = texts["throughput.svg"].count(f"fill='{plots.COLOURS['dynalite']}'")
    assert bars == 1 + 3  # In the legend, and of four workloads one has none.


@pytest.mark.parametrize(
    "value, wanted",
    [(0, "0"), (0.4, "0.4"), (9.96, "10.0"), (12.3, "12"), (999, "999"), (1000, "1k"),
     (1500, "1.5k"), (12345, "12k"), (1e6, "1M"), (2.5e6, "2.5M")],
)  # fmt: skip
def test_numbers_in_plots_are_short(value, wanted):
    assert plots.short(value) == wanted


@pytest.mark.parametrize("powers", [True, False])
def test_a_scale_holds_all_values_and_ticks(powers):
    scale = plots.scale_of([3, 470, 99_000], 300, powers)
    for value in (3, 470, 99_000, *scale.ticks()):
        assert -0.01 <= scale.at(value) <= 300.01
    assert len(scale.ticks()) >= 3


def test_endurance_compares_the_first_third_with_the_last():
    rates = [100] * 10 + [50] * 10 + [90] * 10
    intervals = [figures(rate) for rate in rates]
    result = {**figures(0), "items": 1, "seconds": 900, "resident_peak_mb": 1.0, "intervals": intervals}
    assert endurance.thirds(result) == (100, 90)
    assert "(90%); the slowest 30 s had 50/s" in endurance.report(result)[0]
    xml.etree.ElementTree.fromstring(report.endurance_plot(result, "note"))


# --- Requests ---


@pytest.mark.parametrize("item_size", [300, 4096, 102400])
def test_items_have_the_size_that_the_service_would_count(item_size):
    def size(value):
        kind, content = next(iter(value.items()))
        return {"S": lambda: len(content), "N": lambda: 1 + (len(content) + 1) // 2, "BOOL": lambda: 1}[kind]()

    for key in (workload.key(), workload.key_of(7)):
        made = workload.item(key, item_size, sk=workload.sort_key_of(99))
        assert sum(len(name) + size(value) for name, value in made.items()) == item_size


def test_a_query_table_has_each_sort_key_once():
    for count in workload.QUERY_COUNTS:
        puts = [
            put["PutRequest"]["Item"]["sk"]["N"]
            for request in workload.query_fill_requests(count)
            for put in request[0][2]["RequestItems"][workload.query_table_of(count)]
        ]
        assert len(set(puts)) == len(puts) == count


def test_requests_of_all_workloads_work_on_a_server(tmp_path):
    """The same checks that a run makes before it measures anything."""
    program = servers.stator_process.binary()
    with servers.StatorInMemory(program, tmp_path / "server") as server:
        client = server.client()
        compare.create_tables(server)
        for item_size in workload.TABLE_ITEMS:
            (_, operation, body), = workload.fill_requests(workload.table_of(item_size), item_size)
            status, answer = client.call(operation, workload.concrete(body))
            assert (status, answer) == (200, {"UnprocessedItems": {}})
        workload.fill_by_batches(server.port, workload.TABLE, 4000)
        for count in workload.QUERY_COUNTS:
            for ((_, operation, body),) in workload.query_fill_requests(count):
                assert client.call(operation, workload.concrete(body))[0] == 200
        client.close()
        for each in workload.workloads():
            compare.check_answers(each, server.port, server.label)
        server.stop()


def test_a_wrong_answer_is_not_measured(tmp_path):
    program = servers.stator_process.binary()
    get_item = workload.workloads()[0]
    with servers.StatorInMemory(program, tmp_path / "server") as server:
        with pytest.raises(measuring.MeasuringError, match="ResourceNotFoundException"):
            compare.check_answers(get_item, server.port, server.label)
        compare.create_tables(server)
        with pytest.raises(measuring.MeasuringError, match="answers GetItem with {}"):
            compare.check_answers(get_item, server.port, server.label)
        server.stop()


def test_the_generator_has_a_core_of_its_own_beside_servers():
    if len(measuring.CORES) < 2:
        pytest.skip("there is one core")
    with measuring.apart() as is_apart:
        assert is_apart
        assert measuring.load_command()[:3] == ["taskset", "-c", str(measuring.CORES[0])]
        started = subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout
        assert int(started) == len(measuring.CORES) - 1 == measuring.server_core_count()
    assert measuring.load_command() == [measuring.load_program()]
    assert sorted(os.sched_getaffinity(0)) == measuring.CORES


def test_the_command_explains_itself():
    done = subprocess.run(
        [str(BENCH / "run"), "--help"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0 and "--quick" in done.stdout


def test_peers_are_locked_without_addresses():
    lock = json.loads((BENCH / "package-lock.json").read_text("utf-8"))
    assert all("resolved" not in package for package in lock["packages"].values())
