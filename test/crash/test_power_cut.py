"""Power cuts: what was acknowledged or seen is on the disk, whatever else the disk kept or lost.

The servers run with a journal of all that they do to their files (test/lib/preload/power_cut.c). A
server ends at a point or at a random moment; from the journal come several states that the disk may
then be in (test/lib/power_cut.py), each with its own choice of what was not synced and is lost, torn
or out of order. Each must be a whole store, says `stator check`, and a server that is started on it
must have all that the scenario knows of. The last of them is gone on with.

CRASH_ROUNDS is the number of servers of each scenario, with CRASH_STATES states each.
"""

import contextlib
import os
import random
import shutil

import crash_run
import kill_points
import power_cut
import pytest
import scenarios

ROUNDS = 1
ROUNDS_LONG = 40
ROUNDS_PER_STORE = 10
STATES = 3
AT_RANDOM = 0.2  # The share of servers that end at no point.


class Cut:
    """A store whose server has ended, as the disk may have it."""

    def __init__(self, disk, journal, choices):
        self.disk = disk
        self.choices = choices
        for line in power_cut.read_journal(journal):
            disk.apply(line)

    def write(self, root, **how):
        """Returns a description of the state that was chosen."""
        state, what = self.disk.cut(self.choices, **how)
        shutil.rmtree(root, ignore_errors=True)
        power_cut.write_state(state, root)
        return what


def work_and_cut(scenario, root, choices, one=None, lies=False):
    """The cut after a server that ended at the point, or at a random moment if there is none."""
    journal = root.parent / "journal"
    journal.unlink(missing_ok=True)
    disk = power_cut.Disk(root)
    disk.lies = lies
    run = kill_points.Run(scenario, root, journal)
    if one is None:
        scenario.new_round()
        run.for_a_while(crash_run.until_kill_s(choices))
    else:
        run.to_point(one, choices)
    return Cut(disk, journal, choices)


def cut_power(scenario, root, choices, name, states):
    """Returns the number of states that were looked at."""
    what = "before the cut"
    try:
        cut = work_and_cut(scenario, root, choices, name and kill_points.POINTS[name])
        for number in range(states):
            what = cut.write(root)
            run = kill_points.Run(scenario, root)
            if number < states - 1:
                run.try_out()
            else:
                run.verify()
    except BaseException as error:
        raise AssertionError(f"at {name or 'a random moment'}, {what}: {error}") from error
    return states


@pytest.mark.parametrize("scenario_name", scenarios.ALL)
def test_nothing_is_lost_in_a_power_cut(scenario_name, tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    points = kill_points.chosen_points(scenario_name)
    rounds = crash_run.rounds(ROUNDS, ROUNDS_LONG)
    states = int(os.environ.get("CRASH_STATES", STATES))
    cuts = 0
    for start in rounds[::ROUNDS_PER_STORE]:
        root = tmp_path / f"store-{start}"
        with contextlib.closing(scenarios.ALL[scenario_name](f"{seed}-{start}")) as scenario:
            kill_points.set_up(scenario, root)
            for _ in rounds[start : start + ROUNDS_PER_STORE]:
                name = None if choices.random() < AT_RANDOM else choices.choice(points)
                cuts += cut_power(scenario, root, choices, name, scenario.states_max or states)
    print(f"{cuts} states after power cuts of {len(rounds)} servers")


# --- That the proof can fail ---


def assert_finds_a_loss(tmp_path, lies, *flags):
    """With the worst that a disk may do, which leaves chance out."""
    seed = crash_run.seeded()
    scenario = scenarios.Items(seed)
    scenario.flags = flags
    root = tmp_path / "store"
    kill_points.set_up(scenario, root)
    cut = work_and_cut(scenario, root, random.Random(seed), lies=lies)
    assert sum(writer.sequence for writer in scenario.writers) > 0
    cut.write(root, data="lost", names="lost")
    with pytest.raises(AssertionError, match="found|cannot be read back"):
        kill_points.Run(scenario, root).verify()


def test_the_proof_fails_on_a_disk_that_does_not_sync(tmp_path):
    assert_finds_a_loss(tmp_path, True)


def test_the_proof_fails_on_a_server_that_does_not_sync(tmp_path):
    assert_finds_a_loss(tmp_path, False, "--durability", "os")
