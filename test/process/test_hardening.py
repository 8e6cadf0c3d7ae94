"""The server that people run is built to resist: read back from the binary, since a flag that a
compiler or a linker drops is dropped in silence."""

import re
import subprocess

import pytest

from stator_process import binary

RELEASE_BINARY = binary("STATOR_RELEASE_BINARY", "build/stator")


def readelf(*flags):
    result = subprocess.run(
        ["readelf", "--wide", *flags, RELEASE_BINARY], capture_output=True, text=True, check=True
    )
    return result.stdout


def segments():
    """(type, flags) of each program header: "R", "RW", "R E"."""
    return re.findall(
        r"^ +(\w+) +0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ ([R ][W ][E ])",
        readelf("--program-headers"),
        re.M,
    )


@pytest.fixture(scope="module", name="imported")
def fixture_imported():
    return set(re.findall(r" UND (\w+)", readelf("--dyn-syms")))


def test_the_program_lies_at_another_address_in_each_run():
    assert re.search(r"Type: +DYN \(Position-Independent Executable", readelf("--file-header"))
    assert re.search(r"FLAGS_1\).*\bPIE\b", readelf("--dynamic"))


def test_the_table_of_imported_functions_is_read_only_from_the_start():
    assert "GNU_RELRO" in [kind for kind, _ in segments()]
    assert re.search(r"\(FLAGS\).*\bBIND_NOW\b", readelf("--dynamic"))


def test_nothing_is_both_written_and_executed():
    rights = segments()
    assert [flags for kind, flags in rights if kind == "GNU_STACK"] == ["RW "]
    loaded = [flags for kind, flags in rights if kind == "LOAD"]
    assert sorted(loaded) == ["R  ", "R  ", "R E", "RW "]  # Code apart from everything else.
    assert not re.search(r"\(TEXTREL\)", readelf("--dynamic"))


def test_frames_and_copies_are_checked(imported):
    assert "__stack_chk_fail" in imported
    checked = {name for name in imported if re.fullmatch(r"__\w+_chk", name)}
    assert {"__memcpy_chk", "__snprintf_chk"} <= checked
