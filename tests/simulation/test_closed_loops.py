"""Plants with closed loops: they stay closed, and both plants move alike."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import wbc
from tests.closed_loops import ROBOTS, closed_state, four_bar


def linkage(name: str) -> wbc.Dynamics:
    return wbc.load(mujoco.MjModel.from_xml_string(ROBOTS[name]), "numpy")


@pytest.mark.parametrize("integrator", ["semi-implicit", "runge-kutta"])
@pytest.mark.parametrize("name", ROBOTS)
def test_loops_stay_closed_and_do_no_work(name: str, integrator: str) -> None:
    robot = linkage(name)
    plant = wbc.Simulator(robot, ground="none", integrator=integrator)  # type: ignore[arg-type]
    plant.reset(*closed_state(robot, 0, speed=2.0))
    exact = integrator == "runge-kutta"
    energy, widest = plant.energy, 0.0
    for _ in range(300):
        plant.step()
        robot.update(*plant.state)
        widest = max(widest, float(np.abs(robot.loop_motion.gap).max()))
    assert widest < (1e-6 if exact else 5e-3)
    assert plant.energy == pytest.approx(energy, rel=1e-6 if exact else 0.05)


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_moves_a_robot_of_ours_alike(name: str) -> None:
    robot = wbc.load(linkage(name).model.replace(simulated=None))  # as if it had not come from MuJoCo
    q, v = closed_state(robot, 0, speed=2.0)
    plants = wbc.Simulator(robot, ground="none"), wbc.MujocoSimulator(robot)
    for plant in plants:
        plant.reset(q, v)
        for _ in range(100):
            plant.step()
    ours, theirs = (plant.state[0] for plant in plants)
    assert np.abs(ours - q).max() > 0.05
    assert np.allclose(ours, theirs, atol=1e-3)


def test_states_are_brought_to_closed_loops() -> None:
    robot = linkage("four-bar")
    plant = wbc.Simulator(robot)
    plant.reset(robot.model.nominal + np.array([0.1, 0.0, 0.0]), [1.0, 0.0, 0.0])
    robot.update(*plant.state)
    assert np.abs(robot.loop_motion.gap).max() < 1e-12
    assert np.abs(robot.loop_motion.J @ robot.v).max() < 1e-12 and np.abs(robot.v).max() > 0.1


def test_a_gap_is_closed_again() -> None:
    robot = linkage("four-bar")
    plant = wbc.Simulator(robot)
    plant.reset()
    plant._q = plant._q + np.array([1e-3, 0.0, 0.0])
    gaps = []
    for _ in range(20):
        robot.update(*plant.state)
        gaps.append(float(np.abs(robot.loop_motion.gap).max()))
        plant.step()
    assert gaps[0] > 1e-4 and gaps[10] == pytest.approx(gaps[0] * 0.9**10, rel=0.05)


def test_what_mujoco_can_not_hold_is_refused_by_name() -> None:
    m = mujoco.MjModel.from_xml_string(four_bar(""))
    hinge = wbc.load(m, loops=[wbc.LoopClosure("end", "tip", ("x", "y", "z", "rx", "rz"), name="pin")])
    with pytest.raises(wbc.WbcError, match="loop 'pin' holds x, y, z, rx, rz"):
        wbc.MujocoSimulator(hinge.model)
    bent = wbc.load(m, loops=[wbc.JointCoupling({"crank": 1.0}, {"rocker": 1.0}, [0, 1, 0, 0, 0, 1], name="cam")])
    with pytest.raises(wbc.WbcError, match="coupling 'cam'.*at most 5"):
        wbc.MujocoSimulator(bent.model)
