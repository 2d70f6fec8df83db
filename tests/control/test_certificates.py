"""Certificates hold in hard states: 20,000 of them with `make soak`, a few hundred in the normal run."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller
from wbc.control.certificate import Certificate, certify
from wbc.control.equation_of_motion import MotionEquation
from wbc.model.names import actuator_names

# Statuses are about the QP solvers; the weighted one trades its levels but keeps the first.
QP_SOLVERS = ("hierarchical-qp", "sequential-qp", "weighted-qp")


def stack_for(robot: wbc.Dynamics, rng: np.random.Generator) -> wbc.Stack:
    """Limits that can always be kept, above contacts that can't or beside them; targets in and out of reach."""
    hard, still = tasks.TorqueLimits() + tasks.FrictionCones(), tasks.ContactMotion()
    reach = tasks.EndEffectorAcceleration("base", np.eye(4), wbc.Gains(3.0))
    reach.target = _pose(robot, rng, far=rng.random() < 0.3)
    rest = tasks.JointAcceleration(gains=wbc.Gains(1.5)) / tasks.TorqueMinimization()
    limits = hard + still if rng.random() < 0.3 else hard / still
    levels = tasks.EquationOfMotion() / limits / reach / rest
    return wbc.Stack(levels, contacts=contacts(robot))


def _pose(robot: wbc.Dynamics, rng: np.random.Generator, far: bool) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = robot.model.nominal[:3] + rng.normal(scale=5.0 if far else 0.05, size=3)
    return T


def hard_state(robot: wbc.Dynamics, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Near the nominal state or anywhere; knees bent, or straight, where legs are singular; still, or fast."""
    kind = rng.integers(3)
    if kind == 0:
        q = robot.random(rng)
    else:
        q = robot.integrate(robot.model.nominal, rng.normal(scale=(0.05, 0.3)[kind - 1], size=robot.nv))
    if rng.random() < 0.2:
        for name, start in robot.model.q_index.items():
            if "KFE" in name or "knee" in name:
                q[start] = 0.0
    return q, rng.normal(scale=rng.choice([0.0, 0.1, 1.0, 5.0]), size=robot.nv)


def run(name: str, solver: str, states: int, seed: int) -> Counter[str]:
    """Steps through hard states, and judges each."""
    robot, rng = wbc.load(name, "pinocchio"), np.random.default_rng(seed)
    statuses: Counter[str] = Counter()
    ours = controller(robot, stack_for(robot, rng), solver)
    for state in range(states):
        if state % 100 == 0:
            ours = controller(robot, stack_for(robot, rng), solver)
        for contact in ours.stack.contacts:  # any number of feet on the ground
            ours.stack.support.activate(contact.name, float(rng.choice([0.0, 0.5, 1.0], p=[0.3, 0.1, 0.6])))
        q, v = hard_state(robot, rng)
        solution = ours.step(q, v, 1e-3 * state)
        statuses[solution.status] += 1
        assert np.isfinite(solution.torque).all()
        assert np.isfinite(solution.acceleration).all()
        if solution.status == "failed":
            continue
        found = solution.certificate
        told = f"{name}, {solver}, seed {seed}, state {state}: {solution.status}, {found}"
        assert found.equation_of_motion < 1e-8, told
        # relative to the forces in play
        loads = [*solution.forces.values(), solution.torque]
        size = 1.0 + max(float(np.abs(load).max()) for load in loads)
        if solution.status == "optimal":
            assert found.cone_margin > -1e-6 * size, told
            assert found.torque_margin > -1e-6 * size, told
    return statuses


@pytest.mark.parametrize("solver", QP_SOLVERS)
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_certificates_hold(name: str, solver: str) -> None:
    statuses = run(name, solver, 120 if solver != "sequential-qp" else 40, seed=1)
    assert statuses["failed"] == 0
    assert statuses["optimal"] > 0


@pytest.mark.parametrize("deadline", [1e-7, 4e-4])
@pytest.mark.parametrize("solver", QP_SOLVERS)
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_what_is_cut_short_keeps_physics_limits_and_cones(name: str, solver: str, deadline: float) -> None:
    """They stand alone on the top level, so they can hold; whatever was reached, they do."""
    robot, rng = wbc.load(name, "pinocchio"), np.random.default_rng(2)
    hard, reach = tasks.TorqueLimits() + tasks.FrictionCones(), tasks.EndEffectorAcceleration("base", np.eye(4))
    rest = tasks.JointAcceleration(gains=wbc.Gains(1.5)) / tasks.TorqueMinimization()
    levels = tasks.EquationOfMotion() / hard / tasks.ContactMotion() / reach / rest
    ours = controller(robot, wbc.Stack(levels, contacts=contacts(robot)), solver, deadline=deadline)
    cut = 0
    for tick in range(15):
        solution = ours.step(*hard_state(robot, rng), 1e-3 * tick)
        cut += solution.interrupted
        assert solution.status == ("relaxed" if solution.interrupted else "optimal")
        assert solution.certificate.holds, solution.certificate
        text = solution.explain()
        assert not solution.interrupted or "reached its limit on steps or time" in text
        assert not solution.interrupted or "trades against it" not in text
    assert cut == 15 or deadline > 1e-6


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("solver", QP_SOLVERS)
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_certificates_hold_over_many_states(name: str, solver: str, seed: int, capsys: pytest.CaptureFixture) -> None:
    states = {"hierarchical-qp": 2000, "weighted-qp": 1000, "sequential-qp": 400}[solver]
    statuses = run(name, solver, states, seed=100 + seed)
    with capsys.disabled():
        shares = ", ".join(f"{100 * count / states:.1f} % {status}" for status, count in sorted(statuses.items()))
        print(f"\n{name}, {solver}, {states} states: {shares}", end="")
    assert statuses["failed"] == 0


def test_a_contact_that_pushes_less_than_its_minimum_or_more_than_its_maximum_is_seen() -> None:
    robot = wbc.load("quadruped")
    weight = 9.81 * robot.mass
    for bounds, room in (({"minimum": 0.3 * weight}, -0.05), ({"maximum": 0.2 * weight}, -0.05)):
        feet = [wbc.PointContact(foot, **bounds) for foot in robot.model.feet]
        told = [tasks.ContactForce(foot, [0.0, 0.0, weight / 4]) for foot in robot.model.feet]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wbc.WbcWarning)
            stack = wbc.Stack([[tasks.EquationOfMotion()], told, [tasks.JointAcceleration()]], feet)
            solution = wbc.Controller(robot, stack).step(robot.model.nominal, np.zeros(robot.nv))
        assert solution.certificate.cone_margin == pytest.approx(room * weight, rel=1e-6)
        assert not solution.certificate.holds


def test_a_certificate_holds_to_its_bounds_and_not_at_them() -> None:
    inside = {"equation_of_motion": 9e-9, "cone_margin": -9e-7, "torque_margin": -9e-7}
    assert Certificate(**inside, worst_contact="", worst_joint="").holds
    for name, bound in (("equation_of_motion", 1e-8), ("cone_margin", -1e-6), ("torque_margin", -1e-6)):
        for given in (bound, np.nan):
            assert not Certificate(**{**inside, name: given}, worst_contact="", worst_joint="").holds, name


@pytest.mark.parametrize("worst", [0, 3])
def test_the_joint_nearest_to_its_limit_is_named(worst: int) -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    tick = wbc.Tick(robot)
    x = np.zeros(tick.n)
    x[tick.torque] = 0.1 * robot.limits.effort
    x[tick.torque.start + worst] = robot.limits.effort[worst] - 1e-3
    found = certify(robot, tick, x, MotionEquation.of(robot, tick), 4)
    assert found.worst_joint == actuator_names(robot.model)[worst] and found.torque_margin == pytest.approx(1e-3)
