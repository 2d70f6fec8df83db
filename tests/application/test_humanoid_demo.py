"""`wbc demo humanoid`: it walks, goes round bends, is pushed, and climbs three steps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("mujoco")

from wbc.application.cli import main
from wbc.scenes import demo_humanoid
from wbc.scenes.humanoid_demonstration import COUNT, DURATION, PUSH, RISE


def test_it_begins_and_can_be_pickled() -> None:
    scene = pickle.loads(pickle.dumps(demo_humanoid()))
    log = scene.run(1.2)
    assert log.ended == "finished" and set(log.status) == {"optimal"}
    assert (np.linalg.norm(log.forces[-1], axis=1) > 1.0).sum() == 1, "it is on one foot"
    assert set(scene.figures(log)) <= {"walks"}


def test_another_robot_is_told(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["demo", "quadrupd"])
    assert "did you mean 'quadruped'" in capsys.readouterr().err


@pytest.mark.soak
def test_it_climbs_three_steps() -> None:
    scene = demo_humanoid()
    log = scene.run()
    assert log.ended == "finished" and log.time[-1] > DURATION - 0.01
    walking = log.true_q[log.time >= 2.0][0, 2]
    assert log.true_q[-1, 2] - walking == pytest.approx(COUNT * RISE, abs=0.02)
    assert np.mean(np.array(log.status) != "optimal") < 1e-3
    assert log.torque_margin.min() > -1e-6 and log.cone_margin.min() > -1e-6
    pushed = (log.time > PUSH) & (log.time < PUSH + 1.0)
    assert log.true_v[pushed, 0].min() < 0.1, "the push is felt"
