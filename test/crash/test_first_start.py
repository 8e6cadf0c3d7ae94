"""Power cuts during the first start, and around the commands that change keys and policies.

Nothing runs beside these, so their journals are short, and the power is cut behind each line of
them. A store that was not complete yet must become one at the next start. A command that has ended
has done what it says, and one that has not has done all of it or nothing.

CRASH_ROUNDS is how many states are tried for each line.
"""

import os
import random
import shutil
import subprocess

import crash_run
import power_cut
import stator_process
from fast_client import FastClient

STATES_LONG = 6
STARTS_MAX = 24  # In the short form, of some hundred states.
POLICY = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'


def states_behind_each_line(disk, journal, seed, name_states):
    """(whether behind the last line, state, description); none twice."""
    choices = random.Random(seed)
    lines = power_cut.read_journal(journal)
    assert lines
    seen = []
    for number in range(len(lines) + 1):
        for _ in crash_run.rounds(2, STATES_LONG):
            state, what = disk.cut(choices, names=choices.choice(name_states))
            is_last = number == len(lines)
            if (state, is_last) not in seen:
                seen.append((state, is_last))
                yield is_last, state, f"behind line {number} of {len(lines)}, {what}"
        if number < len(lines):
            disk.apply(lines[number])


def write_state(state, root):
    shutil.rmtree(root)
    power_cut.write_state(state, root)


# --- The first start ---


def first_start(root, journal):
    variables = power_cut.variables(root, journal)
    with crash_run.start_server(root / "data", variables=variables) as server:
        server.kill()


def assert_starts(directory):
    with crash_run.start_server(directory) as server:
        client = FastClient(server.port)
        stator_process.create_table(client, "first")
        client.close()
        server.stop()
    crash_run.assert_whole(directory)


def test_a_first_start_that_was_cut_short_is_followed_by_one_that_is_not(tmp_path):
    seed = crash_run.seeded()
    root = tmp_path / "root"
    root.mkdir()
    disk = power_cut.Disk(root)
    journal = tmp_path / "journal"
    first_start(root, journal)
    states = list(states_behind_each_line(disk, journal, seed, power_cut.NAME_STATES))
    if not crash_run.is_long():
        states = random.Random(seed).sample(states, min(STARTS_MAX, len(states)))
    for _, state, what in states:
        write_state(state, root)
        try:
            assert_starts(root / "data")
        except BaseException as error:
            raise AssertionError(f"{what}: {sorted(state)}: {error}") from error
    print(f"{len(states)} starts")


# --- Keys and policies ---


class WatchedKeys:
    """The commands, run on a disk that may lose its power."""

    def __init__(self, folder):
        self.root = folder / "root"
        self.root.mkdir()
        self.journal = folder / "journal"
        self.disk = power_cut.Disk(self.root)
        self.master = folder / "master.key"
        self.master.touch(0o600)
        self.master.write_text(os.urandom(32).hex())

    def run(self, *words, root=None, variables=None, text=None):
        data = str((root or self.root) / "data")
        result = subprocess.run(
            [crash_run.program(), *words, "--data-dir", data, "--master-key-file", self.master],
            input=text,
            capture_output=True,
            text=True,
            timeout=stator_process.START_TIMEOUT_S,
            env={**os.environ, **(variables or {})},
            check=False,
        )
        assert result.returncode == 0, f"{words}: {result.stderr}"
        return result.stdout

    def listed(self):
        """Asked of a copy: whoever asks may make the folder and a lock in it."""
        copy = self.root.parent / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.root, copy)
        return self.run("key", "list", root=copy)

    def cut_in(self, seed, *words, text=None):
        """Runs a command, with power cuts while it runs and once it has ended."""
        before = self.listed()
        self.journal.unlink(missing_ok=True)
        self.disk = power_cut.Disk(self.root)
        self.run(*words, variables=power_cut.variables(self.root, self.journal), text=text)
        done = self.listed()
        assert before != done
        for has_ended, state, what in states_behind_each_line(
            self.disk, self.journal, seed, power_cut.NAME_STATES_UNORDERED
        ):
            write_state(state, self.root)
            found = self.listed()
            assert found == done or (found == before and not has_ended), f"{words} {what}: {found}"
        # Go on with a disk that kept what was synced and nothing else.
        write_state(self.disk.cut(random.Random(seed), "lost", "lost")[0], self.root)
        assert self.listed() == done


def test_keys_and_policies_survive_once_a_command_has_ended(tmp_path):
    seed = crash_run.seeded()
    keys = WatchedKeys(tmp_path)
    keys.cut_in(seed, "key", "create", "alice")
    keys.cut_in(seed, "key", "create", "bob")
    identity = next(word for word in keys.listed().split() if word.startswith("AKIA"))
    keys.cut_in(seed, "policy", "put", identity, "all", "-", text=POLICY)
    keys.cut_in(seed, "key", "disable", identity)
    keys.cut_in(seed, "key", "delete", identity)
