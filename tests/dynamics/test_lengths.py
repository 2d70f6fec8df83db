"""Lengths that make what turns comparable with what moves."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import wbc
from wbc.dynamics.lengths import SPAN


def rod(length: float) -> str:
    """A floating rod, thin and uniform, with a hinge and a slide at its middle that carry next to nothing."""
    across = f"{length**2 / 12} {length**2 / 12} 1e-9"
    return f"""<mujoco><worldbody><body name="rod" pos="0 0 1"><freejoint/>
      <inertial pos="0.3 0 0" mass="1" diaginertia="{across}"/>
      <body name="turns" pos="0.3 0 0"><joint name="hinge" axis="0 0 1"/>
        <inertial pos="0 0 0" mass="1e-6" diaginertia="1e-9 1e-9 1e-9"/></body>
      <body name="slides" pos="0.3 0 0"><joint name="slide" type="slide" axis="0 0 1"/>
        <inertial pos="0 0 0" mass="1e-6" diaginertia="1e-9 1e-9 1e-9"/></body>
      </body></worldbody>
      <actuator><motor joint="hinge"/><motor joint="slide"/></actuator></mujoco>"""


@pytest.mark.parametrize("length", [0.1, 2.0])
def test_a_floating_robot_is_as_long_as_a_rod_nearly(length: float) -> None:
    """A rod is √12 times as long as its radius of gyration; the place of its root does not count."""
    mujoco = pytest.importorskip("mujoco")
    robot = wbc.load(mujoco.MjModel.from_xml_string(rod(length)))
    turning = SPAN / np.sqrt(12.0) * length
    expected = [1.0, 1.0, 1.0, turning, turning, turning, turning, 1.0]
    assert np.allclose(robot.lengths, expected, rtol=1e-4)
    assert not robot.lengths.flags.writeable
    for twin in (robot.copy(), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert np.array_equal(twin.lengths, robot.lengths)


def test_a_humanoid_is_longer_than_a_quadruped_and_an_arm_has_no_length() -> None:
    humanoid, quadruped, arm = (wbc.load(name, "numpy").lengths for name in ("humanoid", "quadruped", "arm"))
    assert (arm == 1.0).all()
    assert 1.1 < humanoid[-1] < 1.4 and 0.8 < quadruped[-1] < 1.0


def test_lengths_are_those_of_the_nominal_pose_and_the_state_stays() -> None:
    robot = wbc.load("humanoid", "numpy")
    lengths = wbc.load("humanoid", "numpy").lengths
    rng = np.random.default_rng(0)
    q = robot.integrate(np.array(robot.model.nominal), rng.normal(size=robot.nv))
    robot.update(q, np.zeros(robot.nv))
    assert np.array_equal(robot.lengths, lengths) and np.array_equal(robot.q, q)
