"""Contacts that open and close: ramps, ceilings, places that are held, and torques that do not jump."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.control.support import Support

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")
"""Stacks of equations alone are what many of these tests are about."""

FEET = ("LF_foot", "RF_foot", "LH_foot", "RH_foot")


@pytest.fixture
def robot():
    found = wbc.load("quadruped", "numpy")
    found.update(found.model.nominal)
    return found


def tick(support, time, robot, borne=None):
    """Ceilings by name of the contacts that are closed at a time."""
    support.advance(time, robot, lambda: borne or {})
    return {contact.name: ceiling for contact, ceiling in zip(support.closed, support.ceilings, strict=True)}


def test_a_contact_opens_once_its_force_has_gone(robot) -> None:
    support = Support([wbc.PointContact(foot, maximum=500.0) for foot in FEET])
    assert tick(support, 0.0, robot) == dict.fromkeys(FEET, 500.0)
    support.open("LF_foot", duration=0.2)
    for time, expected in ((1.0, 80.0), (1.05, 60.0), (1.1, 40.0), (1.1, 40.0), (1.19, 4.0)):
        found = tick(support, time, robot, {"LF_foot": 80.0})
        assert found.pop("LF_foot") == pytest.approx(expected) and found == dict.fromkeys(FEET[1:], 500.0)
        assert support.activation("LF_foot") == pytest.approx(min(expected / 80.0, 1.0))
        assert not support.advance(time, robot, dict), "the same contacts are closed as before"
    assert support.advance(1.2, robot, dict) and not support.advance(1.2, robot, dict)
    assert tick(support, 1.2, robot) == dict.fromkeys(FEET[1:], 500.0) and support.activation("LF_foot") == 0.0


@pytest.mark.parametrize("borne", [0.0, -5.0])
def test_a_contact_that_bears_nothing_may_bear_nothing_while_it_opens(robot, borne: float) -> None:
    support = Support(wbc.PointContact("LF_foot"))
    tick(support, 0.0, robot)
    support.open("LF_foot", duration=0.2)
    for time in (1.0, 1.1):
        assert tick(support, time, robot, {"LF_foot": borne}) == {"LF_foot": 0.0}


def test_after_a_reset_no_place_is_held_until_the_next_tick(robot) -> None:
    support = Support([wbc.PointContact(foot) for foot in FEET[:2]])
    tick(support, 0.0, robot)
    support.open(FEET[0], duration=0.2)
    tick(support, 1.0, robot)
    assert len(support.anchors) == 2
    support.reset()
    assert support.anchors == [] and not support.moving
    assert tick(support, 1.1, robot) == {FEET[1]: np.inf} and len(support.anchors) == 1


def test_a_contact_closes_at_once_and_its_force_may_rise_to_the_weight(robot) -> None:
    support = Support([wbc.PointContact(foot) for foot in FEET])
    tick(support, 0.0, robot)
    support.open("LF_foot")
    assert list(tick(support, 0.1, robot)) == list(FEET[1:])
    support.close("LF_foot", duration=0.5)
    weight = robot.mass * 9.81
    for time, share in ((1.0, 0.0), (1.1, 0.2), (1.4, 0.8)):
        assert tick(support, time, robot)["LF_foot"] == pytest.approx(share * weight, abs=1e-6)
        assert support.activation("LF_foot") == pytest.approx(share, abs=1e-6)
    assert tick(support, 1.5, robot)["LF_foot"] == np.inf and support.activation("LF_foot") == 1.0


def test_a_ramp_that_turns_back_does_so_from_where_it_is(robot) -> None:
    support = Support([wbc.PointContact("LF_foot")])
    tick(support, 0.0, robot)
    support.open("LF_foot", duration=0.2)
    tick(support, 1.0, robot, {"LF_foot": 80.0})
    assert tick(support, 1.1, robot)["LF_foot"] == pytest.approx(40.0)
    support.close("LF_foot", duration=0.1)
    assert tick(support, 1.101, robot)["LF_foot"] == pytest.approx(40.0)
    support.close("LF_foot", duration=9.0)  # under way already
    halfway = tick(support, 1.151, robot)["LF_foot"]
    assert halfway == pytest.approx((40.0 + robot.mass * 9.81) / 2)
    support.open("LF_foot", duration=0.1)
    assert tick(support, 1.152, robot, {"LF_foot": 70.0})["LF_foot"] == pytest.approx(70.0)
    assert tick(support, 1.202, robot, {"LF_foot": 999.0})["LF_foot"] == pytest.approx(35.0)
    support.open("LF_foot", duration=0.5)  # so is this: it goes on as it began
    assert not tick(support, 1.2521, robot)
    support.open("LF_foot")
    support.close("LF_foot", duration=0.0)
    assert tick(support, 1.3, robot) == {"LF_foot": np.inf}


def test_activations_for_those_who_ramp_themselves(robot) -> None:
    support = Support([wbc.PointContact("LF_foot", maximum=200.0), wbc.PointContact("RF_foot")])
    weight = robot.mass * 9.81
    for activation in (0.5, 0.1, 0.0, 0.3, 0.9):
        support.activate("LF_foot", activation)
        found = tick(support, 0.0, robot)
        assert found.get("LF_foot", 0.0) == pytest.approx(min(activation * weight, 200.0))
        assert support.activation("LF_foot") == activation
    support.activate("LF_foot", 0.5)
    support.open("LF_foot", duration=1.0)  # without a tick between
    assert tick(support, 1.0, robot)["LF_foot"] == pytest.approx(0.5 * weight)
    support.activate("LF_foot", 1.0)  # ends the ramp
    assert tick(support, 1.5, robot)["LF_foot"] == 200.0
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(wbc.WbcError, match="0 or more, 1 at the most"):
            support.activate("LF_foot", bad)


def test_several_at_once(robot) -> None:
    support = Support([wbc.PointContact(foot) for foot in FEET])
    tick(support, 0.0, robot)
    support.open(FEET[:2])
    support.close(FEET[2])  # it is
    assert list(tick(support, 0.1, robot)) == list(FEET[2:])
    support.open(FEET[2:])
    support.close(FEET[:2])
    assert list(tick(support, 0.2, robot)) == list(FEET[:2])
    support.open(FEET)
    assert tick(support, 0.3, robot) == {} and support.anchors == []


def test_a_place_is_held_from_when_the_contact_closes(robot) -> None:
    support = Support([wbc.PointContact(foot) for foot in FEET[:2]])
    tick(support, 0.0, robot)
    first = [anchor.copy() for anchor in support.anchors]
    assert np.allclose(first[0], robot.pose("LF_foot"))
    robot.update(robot.random(np.random.default_rng(0)))
    tick(support, 0.1, robot)
    assert np.array_equal(support.anchors, first)
    support.open("LF_foot", duration=0.1)
    tick(support, 0.2, robot)
    assert np.array_equal(support.anchors, first)  # held until it has opened
    tick(support, 0.3, robot)
    assert np.array_equal(support.anchors, first[1:])
    support.close("LF_foot", duration=0.1)
    tick(support, 0.4, robot)
    assert np.allclose(support.anchors[0], robot.pose("LF_foot")) and np.array_equal(support.anchors[1], first[1])
    support.reset()
    tick(support, 0.0, robot)
    assert np.allclose(support.anchors[1], robot.pose("RF_foot")) and support.activation("LF_foot") == 1.0


def test_mistakes_are_named() -> None:
    support = Support([wbc.PointContact("LF_foot")])
    with pytest.raises(wbc.WbcError, match="no contact 'LF_fot'; did you mean 'LF_foot'"):
        support.open("LF_fot")
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(wbc.WbcError, match="duration"):
            support.close("LF_foot", duration=bad)
    with pytest.raises(wbc.WbcError, match="two contacts are called 'a'"):
        Support([wbc.PointContact("LF_foot", name="a"), wbc.PointContact("RF_foot", name="a")])
    with pytest.raises(wbc.WbcError, match="not 'LF_foot'"):
        Support(["LF_foot"])
    with pytest.raises(wbc.WbcError, match="not None"):
        Support(None)
    for bad in (None, 3, [["LF_foot"]]):
        with pytest.raises(wbc.WbcError, match="no contact"):
            support.open(bad)


# --- in the loop -----------------------------------------------------------------------------------------------------


def swift(t, begin, end, a, b):
    """A quintic from a to b, with velocity and acceleration."""
    s = float(np.clip((t - begin) / (end - begin), 0.0, 1.0))
    way, T = b - a, end - begin
    return (
        a + way * s**3 * (10 - 15 * s + 6 * s**2),
        way * 30 * (s * (1 - s)) ** 2 / T,
        way * 60 * s * (1 - s) * (1 - 2 * s) / T**2,
    )


class Lift:
    """The quadruped on an ideal plant, and a stack that can lift its left front foot."""

    def __init__(self, solver: str = "hierarchical-qp") -> None:
        self.robot = robot = wbc.load("quadruped", "pinocchio")
        self.q, self.v = np.array(robot.model.nominal), np.zeros(robot.nv)
        robot.update(self.q)
        self.foot, com = robot.pose("LF_foot")[:3, 3].copy(), robot.com.copy()
        over = np.append(np.mean([robot.pose(foot)[:2, 3] for foot in FEET[1:]], axis=0), com[2])
        up = self.foot + np.array([0, 0, 0.06])

        def balance(t: float) -> tuple:
            return swift(t, 0.0, 0.6, com, over) if t < 2.2 else swift(t, 2.2, 2.8, over, com)

        def step(t: float) -> tuple:
            place, *rates = swift(t, 1.0, 1.4, self.foot, up) if t < 1.4 else swift(t, 1.4, 1.8, up, self.foot)
            return place, *(np.r_[rate, 0, 0, 0] for rate in rates)

        self.stack = wbc.Stack(
            tasks.EquationOfMotion()
            / (tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion())
            / (
                tasks.CenterOfMass(balance, wbc.Gains(1.0))
                + tasks.EndEffectorAcceleration("base", gains=wbc.Gains(1.5), axes="orientation")
                + tasks.EndEffectorAcceleration("LF_foot", step, wbc.Gains(3.0), axes="position", name="swing")
            )
            / tasks.JointAcceleration(gains=wbc.Gains(1.0))
            / tasks.TorqueMinimization(),
            contacts=[wbc.PointContact(foot) for foot in FEET],
        )
        self.controller = wbc.Controller(robot, self.stack, solver=solver)
        self.stack.switch_off("swing")

    def run(self, until: float, events: dict) -> tuple[np.ndarray, np.ndarray]:
        """Largest torque jump of each tick, in shares of the range, and the normal force of the foot."""
        jumps, forces, last, most = [], [], None, 2 * self.robot.limits.effort
        for k in range(round(until * 1e3)):
            if k in events:
                events[k](self.stack)
            solution = self.controller.step(self.q, self.v, k * 1e-3)
            assert solution.status == "optimal", solution.explain()
            jumps.append(0.0 if last is None else float((np.abs(solution.torque - last) / most).max()))
            forces.append(solution.normal_forces.get("LF_foot", 0.0))
            last, a = solution.torque, solution.acceleration
            self.q, self.v = self.robot.integrate(self.q, self.v + a * 5e-4, 1e-3), self.v + a * 1e-3
            self.robot.update(self.q, self.v)
        return np.array(jumps), np.array(forces)


def lift(stack: wbc.Stack) -> None:
    stack.open_contact("LF_foot", duration=0.2)
    stack.switch_on("swing")


def put_down(stack: wbc.Stack) -> None:
    stack.close_contact("LF_foot", duration=0.2)
    stack.switch_off("swing")


def test_torques_do_not_jump_when_a_foot_is_lifted_and_put_down(record_property) -> None:
    scene = Lift()
    jumps, forces = scene.run(3.0, {700: lift, 1900: put_down})
    record_property("largest torque jump, share of the range", float(jumps.max()))
    print(f"largest torque jump {100 * jumps.max():.2f} % of the range, at {jumps.argmax()} ms")
    assert jumps.max() < 0.01  # of the torque range; 2 % would still be smooth
    assert forces[699] > 20 and forces[899] < 0.01 * forces[699] and not forces[900:1900].any() and forces[-1] > 50
    assert np.abs(scene.robot.pose("LF_foot")[:3, 3] - scene.foot).max() < 1e-4
    assert np.abs(scene.v).max() < 0.05


def test_torques_do_not_jump_when_the_decision_is_taken_back_or_the_foot_lands_early() -> None:
    jumps, _ = Lift().run(2.4, {700: lift, 800: put_down, 850: lift, 1700: put_down})
    assert jumps.max() < 0.02


def test_number_changes_at_once_need_no_ramp() -> None:
    """Opened and closed with no duration, torques may jump, but every tick is a good one."""
    scene = Lift()
    jumps, forces = scene.run(
        1.2,
        {
            700: lambda stack: (stack.open_contact("LF_foot"), stack.switch_on("swing")),
            900: lambda stack: (stack.close_contact("LF_foot"), stack.switch_off("swing")),
        },
    )
    assert not forces[700:900].any() and forces[910] > 0 and jumps.max() < 0.5


def test_the_same_time_twice_gives_the_same_torque_in_every_phase() -> None:
    scene = Lift()
    stack, controller = scene.stack, scene.controller
    stack.switch_on("swing", duration=0.03)
    stack.open_contact("LF_foot", duration=0.02)
    for k in range(60):
        if k == 40:
            stack.close_contact("LF_foot", duration=0.1)
        first = controller.step(scene.q, scene.v, 1e-3 * k)
        second = controller.step(scene.q, scene.v, 1e-3 * k)
        assert np.allclose(first.torque, second.torque, atol=1e-8)
        assert first.forces.keys() == second.forces.keys()


def test_soles_open_as_smoothly_and_alike_for_wrenches_and_corner_forces() -> None:
    """The humanoid goes over its right foot, opens the left one in 0.1 s and lifts it."""
    robot = wbc.load("humanoid", "pinocchio")
    robot.update(robot.model.nominal)
    com, foot = robot.com.copy(), robot.pose("left_foot").copy()
    over = np.append(robot.pose("right_foot")[:2, 3], com[2])
    most, runs = 2 * robot.limits.effort, []

    def step(t: float) -> tuple:
        place, *rates = swift(t, 0.75, 1.0, foot[:3, 3], foot[:3, 3] + np.array([0, 0, 0.03]))
        pose = foot.copy()
        pose[:3, 3] = place
        return pose, *(np.r_[rate, 0, 0, 0] for rate in rates)

    for forces in ("wrench", "corners"):
        soles = [wbc.SurfaceContact(name, corners=robot.model.soles[name], forces=forces) for name in robot.model.feet]
        balance = tasks.CenterOfMass(lambda t: swift(t, 0.0, 0.6, com, over), wbc.Gains(1.0))
        swing = tasks.EndEffectorAcceleration("left_foot", step, wbc.Gains(3.0), name="swing")
        upright = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(1.5), axes="orientation")
        stack = wbc.Stack(
            tasks.EquationOfMotion()
            / (tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion())
            / (balance + upright + swing)
            / tasks.JointAcceleration(gains=wbc.Gains(1.0))
            / tasks.TorqueMinimization(),
            contacts=soles,
        )
        # exactly: what yields near a singularity is measured in the forces that are chosen
        controller = wbc.Controller(robot, stack, wbc.solvers.HierarchicalQP())
        stack.switch_off("swing")
        q, v, torques = robot.model.nominal, np.zeros(robot.nv), []
        for k in range(900):
            if k == 620:
                stack.open_contact("left_foot", duration=0.1)
                stack.switch_on("swing")
            solution = controller.step(q, v, k * 1e-3)
            assert solution.status == "optimal", solution.explain()
            torques.append(solution.torque)
            a = solution.acceleration
            q, v = robot.integrate(q, v + a * 5e-4, 1e-3), v + a * 1e-3
        assert not solution.forces["left_foot"].any()
        runs.append(np.array(torques))
        assert (np.abs(np.diff(torques, axis=0)) / most).max() < 0.02
    assert np.abs(runs[0] - runs[1]).max() < 1e-3


@pytest.mark.parametrize("solver", ("hierarchical-qp", "sequential-qp", "weighted-qp", "nullspace"))
def test_a_task_on_a_foot_that_stands_takes_nothing_from_the_tasks_below(solver: str) -> None:
    """Its rows are those of the contact again: rounding, once these are eliminated, and no rows of their own."""
    robot = wbc.load("quadruped", "pinocchio")
    rng, torques = np.random.default_rng(3), []
    for extra in (True, False):
        base = tasks.EndEffectorAcceleration("base", np.eye(4), wbc.Gains(1.0))
        feet = [tasks.EndEffectorAcceleration(foot, np.zeros(3), wbc.Gains(kp=0.0), axes="position") for foot in FEET]
        stack = wbc.Stack(
            [
                [tasks.EquationOfMotion()],
                [tasks.ContactMotion()],
                feet if extra else [tasks.JointAcceleration(joints=[])],
                [base],
                [tasks.TorqueMinimization()],
            ],
            contacts=[wbc.PointContact(foot) for foot in FEET],
        )
        controller = wbc.Controller(robot, stack, solver)
        rng = np.random.default_rng(3)
        found = []
        for k in range(30):
            v = 0.1 * rng.normal(size=robot.nv)
            found.append(
                controller.step(robot.integrate(robot.model.nominal, rng.normal(size=robot.nv), 0.05), v, k).torque
            )
        torques.append(np.array(found))
    assert np.abs(torques[0] - torques[1]).max() < (1e-6 if solver != "weighted-qp" else 0.05)


@pytest.mark.parametrize("solver", ("hierarchical-qp", "sequential-qp", "weighted-qp", "nullspace"))
def test_tasks_that_can_do_nothing_make_no_torque(solver: str) -> None:
    """All feet stand and are told to be elsewhere, and nobody asks for anything else."""
    robot = wbc.load("quadruped", "pinocchio")
    elsewhere = [tasks.EndEffectorAcceleration(foot, np.zeros(3), wbc.Gains(1.0), axes="position") for foot in FEET]
    stack = wbc.Stack(
        [[tasks.EquationOfMotion()], [tasks.ContactMotion()], elsewhere],
        contacts=[wbc.PointContact(foot) for foot in FEET],
    )
    solution = wbc.Controller(robot, stack, solver).step(robot.model.nominal, 0.1 * np.ones(robot.nv))
    assert np.abs(solution.torque).max() < 200.0


def test_contacts_that_stay_closed_are_the_same_tuple_from_the_start(robot) -> None:
    """Who lays something out for the closed contacts does so once, and not at every tick."""
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.ContactMotion(), contacts=wbc.PointContact("LF_foot"))
    before = stack.support.closed
    stack.support.advance(0.0, robot, dict)
    assert stack.support.closed is before
    stack.support.open("LF_foot")
    stack.support.advance(0.1, robot, dict)
    stack.support.close("LF_foot")
    stack.support.advance(0.2, robot, dict)
    assert stack.support.closed is before
