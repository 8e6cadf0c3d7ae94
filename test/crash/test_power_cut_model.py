"""The disk of test/lib/power_cut.py loses what it may lose, and only that.

Histories made by hand, of files below a root; each case is cut in every way many times, and the set
of what the disk may hold afterwards must be just the one given.
"""

import os
import random

import power_cut
import pytest
from power_cut import CLOSE, MKDIR, OPEN, RENAME, SYNC_BEGIN, SYNC_END, TRUNCATE, UNLINK, WRITE, Line

CUTS = 400
ROOT_FD, FILE_FD, FOLDER_FD = 3, 4, 5
CREATE = os.O_WRONLY | os.O_CREAT
A_SECTOR = b"a" * power_cut.SECTOR
B_SECTOR = b"b" * power_cut.SECTOR


class History:
    """The lines of a journal, written short."""

    def __init__(self, root):
        self.root = str(root)
        self.disk = power_cut.Disk(root)
        self.syncs = 0
        self.add(OPEN, ROOT_FD)

    def add(self, kind, descriptor=-1, path="", **more):
        name = f"{self.root}/{path}" if path else self.root
        self.disk.apply(Line(kind, descriptor, path=name, **more))

    def create(self, path, descriptor=FILE_FD):
        self.add(OPEN, descriptor, path, aux=CREATE)

    def write(self, data, offset=0):
        self.add(WRITE, FILE_FD, data=data, offset=offset)

    def sync(self, descriptor):
        self.syncs += 1
        self.add(SYNC_BEGIN, descriptor, aux=self.syncs)
        self.add(SYNC_END, descriptor, aux=self.syncs)

    def rename(self, path, new_path):
        self.add(RENAME, path=path, data=f"{self.root}/{new_path}".encode())

    def states(self, **how):
        """All that cuts came to, each as {path: bytes}."""
        found = []
        for seed in range(CUTS):
            state, _ = self.disk.cut(random.Random(seed), **how)
            if state not in found:
                found.append(state)
        return found


@pytest.fixture
def history(tmp_path):
    (tmp_path / "old").write_bytes(b"before")
    return History(tmp_path)


def contents(states, path):
    return {state.get(path) for state in states}


def test_what_was_there_stays(history):
    assert history.states() == [{"old": b"before"}]


def test_a_file_is_there_for_certain_once_it_and_its_folder_were_synced(history):
    history.create("file")
    history.write(b"text")
    history.sync(FILE_FD)
    assert contents(history.states(), "file") == {None, b"text"}
    history.sync(ROOT_FD)
    assert contents(history.states(), "file") == {b"text"}


def test_a_synced_name_does_not_bring_its_bytes(history):
    history.create("file")
    history.write(b"text")
    history.sync(ROOT_FD)
    assert contents(history.states(), "file") >= {b"", b"text", b"\0\0\0\0"}


def test_a_sync_covers_what_was_written_before_it_began(history):
    history.create("file")
    history.sync(ROOT_FD)
    history.write(b"a")
    history.add(SYNC_BEGIN, FILE_FD, aux=100)
    history.write(b"b", offset=1)
    assert b"" in contents(history.states(), "file")
    history.add(SYNC_END, FILE_FD, aux=100)
    assert contents(history.states(), "file") == {b"a", b"a\0", b"ab"}


def test_the_later_of_two_syncs_may_end_first(history):
    history.create("file")
    history.sync(ROOT_FD)
    history.write(b"a")
    history.add(SYNC_BEGIN, FILE_FD, aux=100)
    history.write(b"b", offset=1)
    history.sync(FILE_FD)
    history.add(SYNC_END, FILE_FD, aux=100)
    assert contents(history.states(), "file") == {b"ab"}


def test_a_write_is_torn_between_sectors_and_never_within_one(history):
    history.create("file")
    history.sync(ROOT_FD)
    history.write(A_SECTOR + B_SECTOR)
    torn = contents(history.states(data="prefix"), "file")
    assert torn == {b"", A_SECTOR}


def test_sectors_arrive_in_any_order(history):
    history.create("file")
    history.sync(ROOT_FD)
    history.write(A_SECTOR)
    history.write(B_SECTOR, offset=power_cut.SECTOR)
    found = contents(history.states(data="pages"), "file")
    hole = bytes(power_cut.SECTOR)
    assert {A_SECTOR + B_SECTOR, hole + B_SECTOR, A_SECTOR + hole, hole + hole, b""} <= found


def test_garbage_begins_behind_the_last_synced_sector(history):
    history.create("file")
    history.write(b"durable")
    history.sync(FILE_FD)
    history.sync(ROOT_FD)
    history.write(B_SECTOR * 2, offset=7)
    for content in contents(history.states(data="garbage"), "file"):
        assert content[: power_cut.SECTOR] == b"durable" + bytes(power_cut.SECTOR - 7)
        assert len(content) == 7 + 2 * power_cut.SECTOR


def test_what_is_overwritten_in_place_is_old_or_new(history):
    history.add(OPEN, FILE_FD, "old", aux=os.O_WRONLY)
    history.write(b"behind")
    assert contents(history.states(), "old") == {b"before", b"behind"}


def test_a_truncation_may_not_have_happened(history):
    history.add(OPEN, FILE_FD, "old", aux=os.O_WRONLY)
    history.add(TRUNCATE, FILE_FD, offset=0)
    assert {b"", b"before"} <= contents(history.states(), "old")
    history.sync(FILE_FD)
    assert contents(history.states(), "old") == {b""}


def test_a_rename_is_undone_or_kept_as_a_whole(history):
    history.create("new")
    history.write(b"behind")
    history.sync(FILE_FD)
    history.sync(ROOT_FD)
    history.rename("new", "old")
    states = history.states()
    assert {"old": b"before", "new": b"behind"} in states
    assert {"old": b"behind"} in states
    assert len(states) == 2
    history.sync(ROOT_FD)
    assert history.states() == [{"old": b"behind"}]


def test_a_deleted_file_may_come_back_until_the_folder_was_synced(history):
    history.add(UNLINK, path="old")
    assert contents(history.states(), "old") == {None, b"before"}
    history.sync(ROOT_FD)
    assert contents(history.states(), "old") == {None}


def test_a_folder_takes_along_what_was_synced_in_it(history):
    history.add(MKDIR, path="folder")
    history.add(OPEN, FOLDER_FD, "folder")
    history.create("folder/file")
    history.write(b"text")
    history.sync(FILE_FD)
    history.sync(FOLDER_FD)
    assert contents(history.states(), "folder/file") == {None, b"text"}
    history.sync(ROOT_FD)
    assert contents(history.states(), "folder/file") == {b"text"}


def test_names_are_lost_from_the_end(history):
    for name in ("first", "second"):
        history.create(name)
        history.add(CLOSE, FILE_FD)
    names = [set(state) - {"old"} for state in history.states(names="prefix")]
    assert len(names) == 3
    assert {"second"} not in names


def test_a_disk_that_lies_has_synced_nothing(history):
    history.disk.lies = True
    history.create("file")
    history.write(b"text")
    history.sync(FILE_FD)
    history.sync(ROOT_FD)
    assert history.states(data="lost", names="lost") == [{"old": b"before"}]
