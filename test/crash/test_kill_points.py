"""kill -9 at named points: what was acknowledged or seen is there, what was refused is not.

Each scenario (scenarios.py) runs on one store. For each of its points (kill_points.py), in random
order, a server is started, ends itself at the point, and leaves a store that `stator check` finds
whole; a server that is started on it must have all that the scenario knows of.

CRASH_ROUNDS is how often each point is met, CRASH_POINT a pattern that the points' names must fit.
"""

import contextlib
import random

import crash_run
import kill_points
import pytest
import scenarios

ROUNDS_LONG = 25
ROUNDS_PER_STORE = 3  # `stator check` and the proofs read everything; a store stays small.
REACHED_SHARE_MIN = 0.5


def kill_at(run, name, choices):
    """Whether the point was reached."""
    try:
        reached = run.to_point(kill_points.POINTS[name], choices)
        run.verify()
    except BaseException as error:
        raise AssertionError(f"at {name}: {error}") from error
    return reached


@pytest.mark.parametrize("scenario_name", scenarios.ALL)
def test_nothing_is_lost_at_a_point(scenario_name, tmp_path):
    seed = crash_run.seeded()
    choices = random.Random(seed)
    points = kill_points.chosen_points(scenario_name)
    reached = {name: 0 for name in points}
    rounds = crash_run.rounds(1, ROUNDS_LONG)
    for start in rounds[::ROUNDS_PER_STORE]:
        root = tmp_path / f"store-{start}"
        with contextlib.closing(scenarios.ALL[scenario_name](f"{seed}-{start}")) as scenario:
            kill_points.set_up(scenario, root)
            for _ in rounds[start : start + ROUNDS_PER_STORE]:
                for name in choices.sample(points, len(points)):
                    reached[name] += kill_at(kill_points.Run(scenario, root), name, choices)
    print(f"{sum(reached.values())} kills: {reached}")
    assert all(count >= len(rounds) * REACHED_SHARE_MIN for count in reached.values()), reached
