"""The design of replication, as a model: it converges, and it would not without any one of its
safeguards."""

import os

import pytest

import replica_model

RUNS = 2000 if os.environ.get("STATOR_TEST_LONG") == "1" else 60


def test_all_regions_are_equal_in_the_end_whatever_happens():
    failed = [seed for seed in range(RUNS) if not replica_model.run(seed)]
    assert failed == []


# Seeds where the run without the safeguard ends in a difference: found by looking for them.
JOIN = {"joins": True, "loses": False}
FOUND = {
    "session": ([4, 5], {}),
    "cut": ([4, 10], {}),
    "compare": ([6, 7], {}),
    "know": ([1171], JOIN),
    "freeze": ([14, 48], JOIN),
    "base": ([1132], JOIN),
    "raise": ([0, 3], {}),
    "resend": ([29, 55], {}),
}


@pytest.mark.parametrize("safeguard", replica_model.SAFEGUARDS)
def test_every_safeguard_is_needed(safeguard):
    seeds, kind = FOUND[safeguard]
    assert [seed for seed in seeds if replica_model.run(seed, {safeguard}, **kind)] == []
    assert [seed for seed in seeds if not replica_model.run(seed, **kind)] == []
