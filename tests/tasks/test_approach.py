"""The speed of gains: it bounds the demand of an error at its source, in every task that can use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tasks
import wbc
from tasks.stack_files import from_toml, to_toml
from tests.tasks.motions import Moving
from wbc.classical import ComputedTorque
from wbc.control.stack import Stack
from wbc.sweeps.overrides import load_case
from wbc.tasking.feedback import between, same
from wbc.web.knobs import FACTOR, FREQUENCY, turned

FAR = np.array([[0.0, -1.0, 0.0, 2.0], [1.0, 0.0, 0.0, -3.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
KP, KD, SPEED = 40.0, 11.0, 0.2

Make = Callable[[wbc.Gains], wbc.Task]

BOUNDED: dict[str, tuple[Make, list[list[int]]]] = {
    "pose": (lambda gains: tasks.EndEffectorAcceleration("tool", FAR, gains), [[0, 1, 2], [3, 4, 5]]),
    "mixed": (
        lambda gains: tasks.EndEffectorAcceleration("tool", FAR, gains, axes=("rz", "x", "rx", "z"), axes_in="frame"),
        [[1, 3], [0, 2]],
    ),
    "hands": (lambda gains: tasks.RelativePose("tool", "link_3", FAR, gains), [[0, 1, 2], [3, 4, 5]]),
    "joints": (lambda gains: tasks.JointAcceleration(np.arange(7.0), None, gains), [[joint] for joint in range(7)]),
    "com": (lambda gains: tasks.CenterOfMass((1.0, 2.0, 3.0), gains, axes="xz"), [[0, 1]]),
    "gaze": (lambda gains: tasks.Gaze("tool", (3.0, 2.0, 1.0), gains), [[0, 1]]),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_the_demand_of_an_error_is_bounded_in_its_direction(name: str) -> None:
    """|kp e| ≤ kd · speed, whatever the robot does otherwise; near the target the law is the usual one."""
    make, groups = BOUNDED[name]
    moving = Moving("arm", seed=3)
    tick = wbc.Tick(moving.robot)

    def demand(gains: wbc.Gains) -> np.ndarray:
        """What the error adds to the rows."""
        task = make(gains)
        no_error = make(wbc.Gains(kp=0.0, kd=gains.kd))
        return np.asarray(task.matrices(moving.robot, tick)[1] - no_error.matrices(moving.robot, tick)[1])

    usual, bounded = demand(wbc.Gains(kp=KP, kd=KD)), demand(wbc.Gains(kp=KP, kd=KD, speed=SPEED))
    for rows in groups:
        size = np.linalg.norm(usual[rows])
        np.testing.assert_allclose(bounded[rows], usual[rows] * min(1.0, KD * SPEED / size), rtol=0, atol=1e-11)
    sizes = [np.linalg.norm(bounded[rows]) for rows in groups]
    assert max(sizes) == pytest.approx(KD * SPEED), "the test is about nothing"
    np.testing.assert_allclose(demand(wbc.Gains(kp=KP, kd=KD, speed=1e3)), usual, rtol=0, atol=1e-11)


def test_gains_by_axis_bound_the_norm_of_their_ratio() -> None:
    moving = Moving("arm", seed=4)
    kp, kd = np.array([10.0, 40.0, 90.0]), np.array([3.0, 5.0, 20.0])
    gains, free = (wbc.Gains(kp=kp, kd=kd, speed=speed) for speed in (0.2, None))
    b = []
    for one in (gains, free, wbc.Gains(kp=0.0, kd=kd)):
        task = tasks.EndEffectorAcceleration("tool", FAR[:3, 3], one, axes="position")
        b.append(task.matrices(moving.robot, wbc.Tick(moving.robot))[1])
    bounded, usual = b[0] - b[2], b[1] - b[2]
    assert np.linalg.norm(bounded / (kd * 0.2)) == pytest.approx(1.0)
    np.testing.assert_allclose(bounded / usual, (bounded / usual)[0])


SLOW = wbc.Gains(2.0, speed=0.3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tasks.JointImpedance(gains=SLOW, name="mine"),
        lambda: tasks.ContactMotion(SLOW, name="mine"),
        lambda: tasks.ReferenceMotion(reference(), SLOW, name="mine"),
        lambda: stack_of(tasks.JointImpedance(name="mine")).fade_gains("mine", SLOW),
        lambda: stack_of(tasks.CartesianImpedance("tool", 10.0, 1.0, name="mine")).fade_gains("mine", SLOW),
        lambda: ComputedTorque(wbc.load("arm", "numpy"), gains=SLOW),
    ],
)
def test_tasks_that_can_not_use_a_speed_say_so(make: Callable[[], object]) -> None:
    with pytest.raises(wbc.WbcError, match=r"(mine|ComputedTorque): gains have speed = 0.3, which this task can't use"):
        make()


def reference() -> wbc.Reference:
    robot = wbc.load("arm", "numpy")
    q = np.stack([robot.model.nominal] * 3)
    return wbc.Reference(robot, np.arange(3.0), q)


def stack_of(task: wbc.Task) -> Stack:
    return wbc.Stack(tasks.EquationOfMotion() / task)


def test_fades_lead_from_one_speed_to_another_without_a_step() -> None:
    """1 / speed goes straight: a speed of None is where it is zero."""
    none, fast, slow = wbc.Gains(2.0), wbc.Gains(4.0, speed=0.6), wbc.Gains(2.0, speed=0.2)
    for start, end in ((none, slow), (slow, none), (fast, slow), (none, wbc.Gains(4.0))):
        began, ends = (0.0 if one.speed is None else 1.0 / one.speed for one in (start, end))
        for share in (0.0, 1e-9, 0.25, 0.9, 1.0):
            found = between(start, end, share)
            assert isinstance(found, wbc.Gains)
            slowness = 0.0 if found.speed is None else 1.0 / found.speed
            assert slowness == pytest.approx(began + share * (ends - began))
    assert same(slow, wbc.Gains(2.0, speed=0.2)) and not same(slow, none) and not same(slow, wbc.Gains(2.0, speed=0.3))


def test_gains_that_are_made_from_others_keep_the_speed(tmp_path: Path) -> None:
    for origin, knob in ((SLOW, FREQUENCY), (wbc.Gains([1.0, 2.0], speed=0.3), FACTOR)):
        assert turned(origin, {knob: 0.5}).speed == 0.3  # type: ignore[union-attr]
    path = tmp_path / "stack.toml"
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.EndEffectorAcceleration("tool", gains=SLOW, name="hand"))
    path.write_text(to_toml(stack, robot="arm"), encoding="utf-8")
    found = load_case(str(path), {"hand.gains": 1.5}, 0, simulator="builtin").controller.stack["hand"].gains
    assert found.speed == 0.3 and found.kp == wbc.Gains(1.5).kp


@pytest.mark.parametrize(
    ("gains", "text"),
    [
        (wbc.Gains(2.0, speed=0.3), "{ frequency_hz = 2.0, speed = 0.3 }"),
        (wbc.Gains(2.0, 0.5, speed=0.3), "{ frequency_hz = 2.0, damping_ratio = 0.5, speed = 0.3 }"),
        (wbc.Gains(kp=4.0, kd=1.0, speed=2.0), "speed = 2.0 }"),
    ],
)
def test_a_file_has_the_speed(gains: wbc.Gains, text: str) -> None:
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration(gains=gains, name="mine"))
    written = to_toml(stack)
    assert text in written
    found = from_toml(written)["mine"].gains
    assert (found.kp, found.kd, found.speed) == (gains.kp, gains.kd, gains.speed)


def test_a_hand_that_is_led_far_goes_at_its_speed_and_arrives() -> None:
    """A step of 0.5 m with gains of 8 Hz: at 0.3 m/s along a line, and no farther than the target."""
    robot, dt = wbc.load("arm", "numpy"), 0.002
    robot.update(robot.model.nominal)
    start = robot.pose("tool")[:3, 3].copy()
    along = np.array([-0.4, 0.8, 0.4472136]) / np.linalg.norm([-0.4, 0.8, 0.4472136])
    goal = start + 0.5 * along
    hand = tasks.EndEffectorAcceleration("tool", goal, wbc.Gains(8.0, speed=0.3), axes="position", name="hand")
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / hand / tasks.JointAcceleration(gains=wbc.Gains(1.0))
    controller = wbc.Controller(robot, wbc.Stack(levels), period=dt)
    q, v, speeds, places, slowed = np.array(robot.model.nominal), np.zeros(robot.nv), [], [], {}
    for tick in range(round(2.5 / dt)):
        solution = controller.step(q, v, tick * dt)
        if tick % 100 == 0:
            slowed[round(tick * dt, 1)] = [finding.kind for finding in solution.health]
        q = robot.integrate(q, v * dt + solution.acceleration * dt**2 / 2, 1.0)
        v = v + solution.acceleration * dt
        robot.update(q, v)
        places.append(robot.pose("tool")[:3, 3].copy())
        speeds.append(float(np.linalg.norm(robot.jacobian("tool")[:3] @ v)))
    done = (np.array(places) - start) @ along
    aside = np.linalg.norm(np.array(places) - start - done[:, None] * along, axis=1)
    assert max(speeds) < 0.33 and np.median(speeds[100:700]) == pytest.approx(0.3, rel=1e-3)
    assert np.linalg.norm(places[-1] - goal) < 5e-4
    assert done.max() < 0.5 + 1e-6 and aside.max() < 1e-3
    assert "slowed" not in slowed[0.8] and "slowed" in slowed[1.4] and not slowed[2.4]
