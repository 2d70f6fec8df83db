"""Bodies keep apart in MuJoCo at 1 kHz: a sample of the random tasks of `benchmarks.apart`, and more as a soak."""

from __future__ import annotations

import numpy as np
import pytest

from wbc.scenes.apart import MARGIN, arm_among_obstacles, humanoid_through_itself

LIMIT = 1e-3

JUMP = 0.121
"""Fraction of its range by which a torque that brakes may change in a tick: distances may need more."""


@pytest.mark.parametrize("seed", range(4))
def test_an_arm_reaches_among_obstacles_and_touches_none(seed: int) -> None:
    kept = arm_among_obstacles(seed).run(0.8, every=4)
    free = arm_among_obstacles(seed, avoid=False).run(0.8, every=4)
    assert kept.least > MARGIN - LIMIT
    assert free.least < MARGIN - LIMIT  # it would have come nearer
    assert np.mean(kept.jumps > JUMP) < 0.02 and kept.relaxed < 10


def test_a_humanoid_keeps_its_hands_out_of_itself() -> None:
    kept = humanoid_through_itself(1).run(0.9, every=4)
    free = humanoid_through_itself(1, avoid=False).run(0.9, every=4)
    assert kept.least > MARGIN - LIMIT and free.least < 0.0
    assert abs(kept.moved) < 0.05 and np.mean(kept.jumps > JUMP) < 0.02


@pytest.mark.soak
@pytest.mark.parametrize(("make", "count"), [(arm_among_obstacles, 100), (humanoid_through_itself, 50)])
def test_random_tasks_touch_nothing(make, count: int) -> None:
    kept = [make(seed).run(1.5, every=2) for seed in range(count)]
    least = np.array([one.least for one in kept])
    assert (least > 0.0).all()
    assert (least > MARGIN - LIMIT).mean() > 0.95
