"""References: read between knots, turned from Pinocchio's conventions, and tracked with feed-forward."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc


def swing(robot: wbc.Dynamics, knots: int = 101) -> wbc.Reference:
    """A smooth motion of an arm with the torques that make it."""
    t = np.linspace(0.0, 1.0, knots)
    s, s1, s2 = 10 * t**3 - 15 * t**4 + 6 * t**5, 30 * t**2 * (1 - t) ** 2, 60 * t * (1 - t) * (1 - 2 * t)
    way = np.array([0.6, -0.4, 0.5, 0.6, -0.3, 0.4, 0.5])
    q, v, a = robot.model.nominal + s[:, None] * way, s1[:, None] * way, s2[:, None] * way
    torque = [robot.inverse_dynamics(*row) for row in zip(q, v, a, strict=True)]
    return wbc.Reference(robot, t, q, v, a, torque)


def test_a_reference_is_read_between_its_knots() -> None:
    robot = wbc.load("humanoid", "numpy")
    rng = np.random.default_rng(0)
    q = [robot.random(rng)]
    for _ in range(3):
        q.append(robot.integrate(q[-1], rng.normal(size=robot.nv), 0.5))
    found = wbc.Reference(robot, [0.0, 0.5, 1.0, 1.5], q, forces={"left_foot": np.arange(9.0).reshape(3, 3)})
    half, v, _ = found.at(0.75)
    assert np.allclose(robot.difference(q[1], half), robot.difference(q[1], q[2]) / 2)
    assert np.allclose(v, (found.v[1] + found.v[2]) / 2)
    assert np.allclose(found.at(9.0)[0], q[-1]) and not found.at(9.0)[1].any() and not found.at(-1.0)[2].any()
    assert np.allclose(found.force_at("left_foot", 0.25), [1.5, 2.5, 3.5]) and found.torque_at(0.3) is None
    assert repr(found) == "<Reference of 'humanoid': 4 knots, 1.5 s, with forces>"


def test_states_of_pinocchio_are_those_of_the_same_robot() -> None:
    import pinocchio

    robot = wbc.load("humanoid", "pinocchio")
    rng = np.random.default_rng(1)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    theirs_q, theirs_v = q.copy(), v.copy()
    theirs_q[3:7] = q[[4, 5, 6, 3]]
    robot.update(q, v)
    R = robot.pose(robot.model.root)[:3, :3]
    theirs_v[:3] = R.T @ v[:3]
    assert np.allclose(pinocchio.SE3(pinocchio.Quaternion(*q[3:7]).matrix(), q[:3]).rotation, R)
    found = wbc.Reference.from_pinocchio(robot, [0.0, 1.0], [np.r_[theirs_q, theirs_v]] * 2, [np.ones(robot.na)])
    assert np.allclose(found.q[0], q) and np.allclose(found.v[1], v) and found.torque.shape == (2, robot.na)


def test_a_reference_is_tracked_with_its_torques_to_a_tenth_of_what_feedback_alone_leaves() -> None:
    robot = wbc.load("arm", "pinocchio")
    reference = swing(robot)
    still = wbc.Reference(robot, reference.times, reference.q, np.zeros((101, 7)), np.zeros((101, 7)))
    worst = []
    for given in (reference, still):
        motion = tasks.ReferenceMotion(given, wbc.Gains(1.0))
        controller = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / motion))
        plant, off = wbc.MujocoSimulator(robot), 0.0
        for tick in range(1100):
            q, _ = plant.state
            off = max(off, np.abs(q - reference.at(tick * 1e-3)[0]).max())
            plant.apply(controller.step(*plant.state, tick * 1e-3).torque)
            plant.step()
        worst.append(off)
    assert worst[0] < 2e-3 < 0.1 < worst[1]
    torque = tasks.ReferenceTorque(reference)
    controller = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / torque))
    q, v, _ = reference.at(0.333)
    assert controller.step(q, v, 0.333).torque == pytest.approx(reference.torque_at(0.333), abs=1e-6)


def test_forces_of_a_reference_are_those_of_closed_contacts() -> None:
    robot = wbc.load("quadruped", "pinocchio")
    feet = [wbc.PointContact(foot) for foot in robot.model.feet]
    share = np.array([0.0, 0.0, robot.mass * 9.81 / 4])
    q = np.tile(robot.model.nominal, (2, 1))
    forces = {foot.name: np.tile(share, (2, 1)) for foot in feet}
    reference = wbc.Reference(robot, [0.0, 1.0], q, forces=forces)
    task = tasks.ReferenceForces(reference)
    tick = wbc.Tick(robot, feet[:2])
    assert len(task.rows(robot, tick)) == 6 and len(task.row_names(robot, tick)) == 6
    levels = tasks.EquationOfMotion() / tasks.FrictionCones() / tasks.ContactMotion() / tasks.ReferenceMotion(reference)
    controller = wbc.Controller(robot, wbc.Stack(levels / task, contacts=feet))
    solution = controller.step(robot.model.nominal, np.zeros(robot.nv), 0.0)
    assert all(force[2] == pytest.approx(share[2], rel=0.2) for force in solution.forces.values())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda r: wbc.Reference(r, [0.0], np.zeros((1, 7))), "two or more rising"),
        (lambda r: wbc.Reference(r, [0.0, 0.0], np.zeros((2, 7))), "two or more rising"),
        (lambda r: wbc.Reference(r, [0.0, 1.0], np.zeros((2, 6))), r"q must be finite numbers of shape \(2, 7\)"),
        (lambda r: wbc.Reference(r, [0, 1], np.zeros((2, 7)), torque=np.zeros((2, 3))), "torque must be"),
        (lambda r: wbc.Reference(r, [0, 1], np.zeros((2, 7)), forces={"a": np.zeros(3)}), "force of 'a'"),
        (lambda r: wbc.Reference.from_pinocchio(r, [0, 1], np.zeros((2, 9))), "states of 7 \\+ 7"),
        (lambda r: tasks.ReferenceMotion(np.eye(2)), "give a wbc.Reference"),
        (lambda r: tasks.ReferenceTorque(wbc.Reference(r, [0, 1], np.zeros((2, 7)))), "has no torques"),
        (lambda r: tasks.ReferenceForces(wbc.Reference(r, [0, 1], np.zeros((2, 7)))), "has no forces"),
        (
            lambda r: tasks.ReferenceMotion(wbc.Reference(r, [0, 1], np.zeros((2, 7)))).check(
                wbc.load("planar_arm", "numpy"), {}
            ),
            "the reference is for 'arm'",
        ),
    ],
)
def test_mistakes_are_named(make, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make(wbc.load("arm", "numpy"))
