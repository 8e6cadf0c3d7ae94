"""`stator check` looks at the access keys in a data directory, with and without the master key."""

import os
import pathlib

import pytest
import stator_process
from stator_process import Keys, StatorProcess

CLEAN = "0 tables, 0 items, 0 index entries: no problems\n"
HEAD_SIZE = len("stator keys 2\n")
CUT = "is damaged: it is truncated"
CHECKSUM = "is damaged: its checksum does not match"
VERSION = "not a key file of this version"
SEALED = "sealed under another master key, or damaged"


@pytest.fixture(name="keys")
def fixture_keys(tmp_path):
    """A data directory with a store and a key."""
    keys = Keys(tmp_path)
    keys.create("alice", {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"})
    with StatorProcess("--auth", *keys.flags) as server:
        server.stop()
    return keys


def file_of(keys):
    return keys.folder / "data" / "KEYS"


def check(keys, *, with_master):
    if with_master:
        return keys.run("check")
    return stator_process.check(keys.folder / "data")


def rewrite(change):
    def damage(file):
        file.write_bytes(change(file.read_bytes()))

    return damage


def flip(at):
    """Flips one bit; `at` -1 is the last byte."""

    def change(content):
        changed = bytearray(content)
        changed[at] ^= 1
        return bytes(changed)

    return rewrite(change)


def as_version_1(content):
    """As an older stator wrote it, but sealed beside the head of version 2."""
    return b"stator keys 1\n" + content[HEAD_SIZE + 4 :]


def make_folder(file):
    file.unlink()
    file.mkdir(0o700)


def grow(file):
    os.truncate(file, 64 * 1024 * 1024 + 1)


@pytest.mark.parametrize("with_master", [False, True])
def test_whole_keys_are_no_problem(keys, with_master):
    before = file_of(keys).read_bytes()
    result = check(keys, with_master=with_master)
    assert (result.returncode, result.stdout, result.stderr) == (0, CLEAN, "")
    assert file_of(keys).read_bytes() == before
    file_of(keys).unlink()  # A server without keys is whole, too.
    result = check(keys, with_master=with_master)
    assert (result.returncode, result.stdout, result.stderr) == (0, CLEAN, "")


@pytest.mark.parametrize("with_master", [False, True])
@pytest.mark.parametrize(
    "damage,problem",
    [
        (rewrite(lambda b: b""), VERSION),
        (rewrite(lambda b: b[: HEAD_SIZE - 1]), VERSION),
        (rewrite(lambda b: b[:HEAD_SIZE]), CUT),
        (rewrite(lambda b: b[: HEAD_SIZE + 4 + 12 + 16 - 1]), CUT),
        (rewrite(lambda b: b[:-1]), CHECKSUM),
        (rewrite(lambda b: b + b"\0"), CHECKSUM),
        (flip(0), VERSION),
        (rewrite(lambda b: b"stator keys 9\n" + b[HEAD_SIZE:]), VERSION),
        (flip(HEAD_SIZE), CHECKSUM),  # The checksum itself,
        (flip(HEAD_SIZE + 4), CHECKSUM),  # the nonce,
        (flip(HEAD_SIZE + 4 + 12), CHECKSUM),  # the ciphertext,
        (flip(-1), CHECKSUM),  # and the tag.
        (make_folder, VERSION),
        (grow, VERSION),
    ],
)
def test_damaged_keys_are_reported(keys, damage, problem, with_master):
    file = file_of(keys)
    damage(file)
    result = check(keys, with_master=with_master)
    assert result.returncode == 1
    assert result.stdout == f"{file}: {problem}\n" + CLEAN.replace("no problems", "1 problem")


def test_what_no_checksum_finds_is_found_with_the_master_key(keys):
    other = Keys(keys.folder)  # Another master key for the same data directory.
    line = f"{file_of(keys)}: {SEALED}\n"
    assert check(other, with_master=False).stdout == CLEAN
    assert check(other, with_master=True).stdout.startswith(line)
    file_of(keys).write_bytes(as_version_1(file_of(keys).read_bytes()))
    assert check(keys, with_master=False).stdout == CLEAN
    assert check(keys, with_master=True).stdout.startswith(line)


def test_keys_that_others_may_open_are_reported(keys):
    file_of(keys).chmod(0o644)
    result = check(keys, with_master=False)
    assert result.returncode == 1
    assert "KEYS: users other than its owner can open it; run: chmod 600 " in result.stdout


def test_a_master_key_that_cannot_be_used_is_refused(keys):
    master = pathlib.Path(keys.flags[3])
    master.chmod(0o644)
    result = check(keys, with_master=True)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"stator: {master}: users other than its owner can open it; ")
