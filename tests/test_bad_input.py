"""What can't be used is refused by name wherever it comes in: states, times, targets, torques, pushes, callbacks."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import tasks
import wbc
from wbc import classical, kinematics
from wbc.solvers import HierarchicalQP


def bad(size: int) -> dict[str, object]:
    """What is no vector of that many real, finite numbers; by what is wrong."""
    zero = np.zeros(size)
    return {
        "complex": zero + 1j,
        "complex, imaginary part zero": zero + 0j,
        "masked": np.ma.array(zero, mask=[True] + [False] * (size - 1)),
        "masked, all there": np.ma.array(zero),
        "objects": zero.astype(object),
        "texts": ["0"] * size,
        "nan": np.full(size, np.nan),
        "infinite": np.full(size, -np.inf),
        "short": np.zeros(size + 7),
        "matrix": zero[None],
        "dict": {},
        "text": "home",
        "None inside": [None] * size,
    }


def arm(*levels: wbc.Task, **options: object) -> wbc.Controller:
    stack = wbc.Stack([[tasks.EquationOfMotion()], *([task] for task in levels or (tasks.JointAcceleration(),))])
    return wbc.Controller(wbc.load("arm"), stack, **options)  # type: ignore[arg-type]


ZERO = np.zeros(7)


def moved(value: object) -> None:
    controller = arm(tasks.JointAcceleration(lambda time: value))  # type: ignore[arg-type]
    controller.step(ZERO, ZERO)


def aimed(value: object) -> None:
    law = classical.JointPD(wbc.load("arm"))
    law.target = value  # type: ignore[assignment]
    law.step(ZERO, ZERO)


def pushed(value: object) -> None:
    physics = tasks.EquationOfMotion(external={"tool": value})  # type: ignore[dict-item]
    wbc.Controller(wbc.load("arm"), wbc.Stack(physics / tasks.JointAcceleration())).step(ZERO, ZERO)


ENTRIES: dict[str, tuple[int, str, Callable]] = {
    "q of a controller": (7, "q", lambda value: arm().step(value, ZERO)),
    "v of a controller": (7, "v", lambda value: arm().step(ZERO, value)),
    "q of a law": (7, "q", lambda value: classical.JointPD(wbc.load("arm")).step(value, ZERO)),
    "v of a law": (7, "v", lambda value: classical.ComputedTorque(wbc.load("arm")).step(ZERO, value)),
    "q of velocities": (
        7,
        "q",
        lambda value: kinematics.DifferentialKinematics(wbc.load("arm"), wbc.Stack(tasks.JointVelocity())).step(value),
    ),
    "q of a robot": (7, "q", lambda value: wbc.load("arm").update(value)),
    "v of a robot": (7, "v", lambda value: wbc.load("arm").update(ZERO, value)),
    "torque of a simulator": (7, "torque", lambda value: wbc.Simulator(wbc.load("arm")).apply(value)),
    "torque of MuJoCo": (7, "torque", lambda value: wbc.MujocoSimulator(wbc.load("arm")).apply(value)),
    "state of a simulator": (7, "q", lambda value: wbc.Simulator(wbc.load("arm")).reset(value)),
    "state of MuJoCo": (7, "q", lambda value: wbc.MujocoSimulator(wbc.load("arm")).reset(value)),
    "push": (6, "the push on 'tool'", lambda value: wbc.Simulator(wbc.load("arm")).push("tool", value)),
    "target": (7, "posture: target", lambda value: arm(tasks.JointAcceleration(value)).step(ZERO, ZERO)),
    "moving target": (7, "posture: target at t = 0", moved),
    "target of a law": (7, "JointPD: target", aimed),
    "known force": (6, "force on 'tool'", pushed),
    "torque of forward dynamics": (7, "tau", lambda value: wbc.load("arm").forward_dynamics(ZERO, ZERO, value)),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_no_vector_of_numbers_is_refused(entry: str) -> None:
    size, name, use = ENTRIES[entry]
    use(np.zeros(size))
    for what, value in bad(size).items():
        with pytest.raises(wbc.WbcError) as told:
            use(value)
        assert name in str(told.value), (what, str(told.value))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: arm().step(ZERO, ZERO, np.complex128(1.0)), "t = .* must be a finite time in s"),
        (lambda: wbc.PointContact(1), "a contact's frame must be a name, not 1"),
        (lambda: arm().stack.switch_off(["posture"]), "no task ['posture']"),
        (lambda: tasks.JointAcceleration(joints=100.0), "joints must be a list of names, not 100.0"),
        (lambda: arm(actuator_limits="yes"), "actuator_limits = 'yes' must be True or False"),
        (lambda: arm(solver=HierarchicalQP), "make one: HierarchicalQP()"),
        (lambda: running(record=5), "record = 5 must be the path of a file"),
        (lambda: running(record="\0"), "can't write the log"),
        (lambda: running(targets=5), "targets = 5 must be a function"),
        (lambda: running(until="x"), "until = 'x' must be a function"),
        (lambda: running(progress=1.0), "progress = 1.0 must be a function"),
        (lambda: running(deadline="soon"), "the deadline, s, = 'soon' must be a number"),
        (lambda: wbc.Rows.equal(np.zeros(2) + 1j), "what the rows are held to = .* is complex"),
    ],
)
def test_what_is_not_of_its_kind_is_refused(use: Callable, message: str) -> None:
    pattern = message if ".*" in message else re.escape(message)
    with pytest.raises(wbc.WbcError, match=pattern):
        use()


def running(**options: object) -> None:
    controller = arm()
    wbc.run(controller, wbc.Simulator(controller.robot), 0.002, **options)  # type: ignore[arg-type]


def test_a_velocity_that_is_hardly_one_is_warned_of_once() -> None:
    controller = arm()
    controller.step(ZERO, np.full(7, 400.0))  # together they are more
    with pytest.warns(wbc.WbcWarning, match=r"v\[2\] = 1000, joint_3, is no plausible velocity of 'arm'") as told:
        controller.step(ZERO, np.array([0.0, 0.0, 1000.0, 0.0, 0.0, 0.0, 0.0]))
    assert told[0].filename == __file__
    controller.step(ZERO, np.full(7, 2000.0))
