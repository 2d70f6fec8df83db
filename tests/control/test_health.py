"""Health: what is worth a worry is found, named and measured, with every solver; a healthy robot is not called ill."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import SOLVERS, controller, standing
from wbc.control.health import Finding, Health
from wbc.simulation import Simulator
from wbc.solvers import HierarchicalQP, Solver

LEG = ("hip_pitch", "knee", "ankle_pitch")

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")


def arm(
    scale: float = 1.0, target: object = None, solver: str = "hierarchical-qp", **options: object
) -> wbc.Controller:
    robot = wbc.load("arm", "numpy")
    hold = tasks.EndEffectorAcceleration("tool", target, gains=wbc.Gains(2.0))  # type: ignore[arg-type]
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits(scale=scale) / hold / tasks.JointAcceleration()
    return controller(robot, wbc.Stack(levels / tasks.TorqueMinimization()), solver, **options)


def last(ours: wbc.Controller, duration: float) -> wbc.Solution:
    """The last tick of a run on an ideal robot, at 100 Hz."""
    q, v, robot = np.array(ours.robot.model.nominal), np.zeros(ours.robot.nv), ours.robot
    for tick in range(round(100 * duration)):
        solution = ours.step(q, v, tick / 100)
        v = 0.99 * v + solution.acceleration / 100
        q = robot.integrate(q, v, 0.01)
    return solution


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_a_robot_that_stands_is_healthy(name: str, solver: str) -> None:
    ours, q = standing(name, "numpy", solver)
    for tick in range(8):
        health = ours.step(q, np.zeros(ours.robot.nv), 0.25 * tick).health
        if solver not in ("nullspace", "operational-space"):  # these look at no cone: some feet pull
            assert health and health.good and len(health) == 0 and str(health) == "health: good", health
        assert not (health.of("contact motion") or health.of("out of reach") or health.of("torque limit"))


def test_health_is_a_value_that_does_not_change() -> None:
    good, first = Health(), Finding("late", "controller", 1.2, "ms", "the tick took 1.2 ms")
    ill = Health([first, Finding("failed", "solver", 1.0, "", "failed")])
    assert good and not ill and not ill.good and len(ill) == 2
    assert [finding.kind for finding in ill] == ["failed", "late"], "the worst first"
    assert ill.of("late") == (first,) and str(first) == "the tick took 1.2 ms"
    assert str(ill) == "health: failed; the tick took 1.2 ms"
    assert repr(ill) == "<Health: failed (solver), late (controller)>" and repr(good) == "<Health: good>"
    assert str(Health([first] * 5)).endswith("; and 2 more")
    with pytest.raises(AttributeError):
        ill.good = True  # type: ignore[misc]
    with pytest.raises(AttributeError):
        ill.name = "mine"  # type: ignore[attr-defined]
    for twin in (copy.deepcopy(ill), pickle.loads(pickle.dumps(ill))):
        assert list(twin) == list(ill)


@pytest.mark.parametrize("solver", ["hierarchical-qp", "sequential-qp", "weighted-qp"])
def test_a_contact_that_is_not_held_is_named(solver: str) -> None:
    """Feet that slide are to stop at once, with what torque is left."""
    robot = wbc.load("humanoid", "numpy")
    feet = [wbc.SurfaceContact(foot) for foot in robot.model.feet]
    limits = tasks.TorqueLimits(scale=0.02) + tasks.FrictionCones()
    levels = tasks.EquationOfMotion() / limits / tasks.ContactMotion() / tasks.JointAcceleration()
    stack = wbc.Stack(levels / tasks.TorqueMinimization(), feet)
    v = np.random.default_rng(0).normal(size=robot.nv)
    solution = controller(robot, stack, solver).step(robot.model.nominal, v)
    assert solution.certificate.holds
    found = {finding.name: finding for finding in solution.health.of("contact motion")}
    assert set(found) <= {"left_foot", "right_foot"} and found
    residual = np.abs(solution.levels[2].residual["contact motion"])
    assert max(finding.value for finding in found.values()) == pytest.approx(residual.max())
    worst = max(found.values(), key=lambda finding: finding.value)
    row = stack["contact motion"].row_names(robot, wbc.Tick(robot, feet))[int(residual.argmax())]
    assert worst.unit == ("rad/s²" if row.startswith("r") else "m/s²")
    assert worst.text == f"contact motion: {row} missed by {residual.max():.3g} {worst.unit}"
    assert f"\n{solution.health}\n" in solution.explain()


@pytest.mark.parametrize("solver", ["hierarchical-qp", "sequential-qp", "weighted-qp"])
def test_an_arm_with_a_tenth_of_its_torque_is_ill(solver: str) -> None:
    weak = last(arm(0.1, solver=solver), 2.0)
    limits = {finding.name: finding for finding in weak.health.of("torque limit")}
    assert limits["joint_2"].value == pytest.approx(9.0) and limits["joint_2"].unit == "N m"
    assert limits["joint_2"].text == "joint_2 is at its limit of 9 N m"
    assert weak.health.of("out of reach")[0].name == "tool"
    assert last(arm(solver=solver), 2.0).health.good


@pytest.mark.parametrize("solver", ["hierarchical-qp", "sequential-qp", "weighted-qp"])
def test_a_target_out_of_reach_is_told_after_a_second(solver: str) -> None:
    target = np.eye(4)
    target[:3, 3] = 1.5, 0.0, 0.2
    ours = arm(target=target, solver=solver)
    assert not last(ours, 0.9).health.of("out of reach")
    ours.reset()
    solution = last(ours, 4.0)
    (finding,) = solution.health.of("out of reach")
    off = ours.errors()["tool"]
    assert (finding.name, finding.unit) == ("tool", "m") and finding.value == pytest.approx(np.abs(off[:3]).max(), 0.05)
    assert "off its target and came no nearer" in finding.text and not solution.health


def test_what_higher_tasks_want_is_no_illness() -> None:
    """A posture gives way to the tool for good: that is what priorities are for."""
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    target = robot.pose("tool").copy()
    target[:3, 3] += [-0.1, 0.15, 0.1]
    ours = arm(target=target)
    solution = last(ours, 3.0)
    assert np.abs(ours.errors()["posture"]).max() > 0.05 and solution.health.good, solution.health


def test_what_is_in_the_way_unknown_to_the_controller_is_told() -> None:
    """The robot does not move, whatever it is asked: each tick is met, and nothing comes of it."""
    ours = arm()
    robot = ours.robot
    robot.update(robot.model.nominal)
    target = robot.pose("tool").copy()
    target[0, 3] -= 0.05
    ours.stack["tool"].target = target  # type: ignore[attr-defined]
    for tick in range(6):
        solution = ours.step(robot.model.nominal, np.zeros(7), 0.25 * tick)
        assert solution.levels[2].cost < 1e-6
        assert len(solution.health) == (tick >= 4)
    (finding,) = solution.health
    assert (finding.kind, finding.name, finding.value) == ("out of reach", "tool", pytest.approx(0.05))
    ours.reset()
    assert ours.step(robot.model.nominal, np.zeros(7), 1.5).health.good, "a reset forgets"


def test_an_error_that_shrinks_or_is_small_is_none() -> None:
    for start, shrink, found in ((0.1, 1.0, 1), (0.1, 0.9, 0), (0.015, 1.0, 0)):
        ours = arm()
        robot = ours.robot
        robot.update(robot.model.nominal)
        pose = robot.pose("tool").copy()
        for tick in range(6):
            target = pose.copy()
            target[0, 3] -= start * shrink**tick
            ours.stack["tool"].target = target  # type: ignore[attr-defined]
            solution = ours.step(robot.model.nominal, np.zeros(7), 0.25 * tick)
        assert len(solution.health.of("out of reach")) == found, (start, shrink)


@pytest.mark.parametrize("period", [0.1, 0.125, 0.3, 0.7])
def test_a_second_is_a_second_whatever_the_period(period: float) -> None:
    ours = arm()
    robot = ours.robot
    robot.update(robot.model.nominal)
    target = robot.pose("tool").copy()
    target[0, 3] -= 0.05
    ours.stack["tool"].target = target  # type: ignore[attr-defined]
    for tick in range(40):
        health = ours.step(robot.model.nominal, np.zeros(7), period * tick).health
        assert len(health) <= (period * tick > 0.99) and len(health) >= (period * tick > max(1.6, 2.0 * period))
    ours.expect_new_clock()
    assert ours.step(robot.model.nominal, np.zeros(7), 0.0).health.good, "time went back"


def test_a_task_that_is_switched_off_is_not_missed() -> None:
    target = np.eye(4)
    target[:3, 3] = 1.5, 0.0, 0.2
    ours = arm(target=target)
    last(ours, 2.0)
    ours.stack.switch_off("tool")
    assert not ours.step(ours.robot.model.nominal, np.zeros(7), 2.0).health.of("out of reach")


def test_a_task_that_pulls_as_hard_as_it_may_is_told_where_that_is_felt() -> None:
    ours, q = standing("humanoid", "numpy", "elastic-qp")
    robot = ours.robot
    q[[robot.model.q_index[f"{side}_{joint}"] for side in ("left", "right") for joint in LEG]] *= 0.1
    for tick in range(12):
        solution = ours.step(q, np.zeros(robot.nv), 0.01 * tick)
        assert not solution.yielding and solution.health.good, "nothing is asked of it"
    target = robot.pose("base").copy()
    target[2, 3] += 0.1  # its target jumps

    def ask(start: float) -> list[tuple[float, tuple[wbc.Finding, ...]]]:
        ours.stack["base"].target = target  # type: ignore[attr-defined]
        found = []
        for tick in range(30):
            solution = ours.step(q, np.zeros(robot.nv), start + 0.01 * tick)
            found.append((tick, solution.health.of("yielding")))
        assert solution.yielding[0][:2] == ("base", "z of base")
        assert found[-1][1][0].value == pytest.approx(abs(solution.yielding[0][2]))
        return found

    found = ask(0.12)
    (finding,) = found[-1][1]
    assert finding.name == "base" and finding.unit == "m/s²" and finding.value > 1.0
    assert "base pulls as hard as it may and misses z of base by" in finding.text
    first = next(tick for tick, findings in found if findings)
    assert first >= 10, "in passing it is none"
    ours.reset()
    assert next(tick for tick, findings in ask(0.0) if findings) == first


def test_a_task_that_higher_tasks_hold_back_does_not_yield_for_a_singularity() -> None:
    """Of the second task the first one leaves a thousandth, and wants the opposite."""
    first = tasks.Rows(wbc.Rows.equal([0.0], acceleration=np.eye(7)[:1]), "first")
    second = tasks.Rows(wbc.Rows.equal([9.0], acceleration=np.eye(7)[:1] + 1e-3 * np.eye(7)[1:2]), "second")
    stack = wbc.Stack(tasks.EquationOfMotion() / first / second / tasks.AccelerationMinimization())
    ours = wbc.Controller(wbc.load("arm", "numpy"), stack)
    for tick in range(60):
        solution = ours.step(np.zeros(7), np.zeros(7), 0.01 * tick)
    assert solution.yielding[-1][:2] == ("second", "row 0") and solution.levels[2].cost > 1.0
    assert not solution.health.of("yielding")


def test_forces_that_pull_are_told_where_nothing_bounds_them() -> None:
    robot = wbc.load("quadruped", "numpy")
    feet = [wbc.PointContact(foot) for foot in robot.model.feet]
    lift = tasks.EndEffectorAcceleration("base", acceleration=(0.0, 0.0, -20.0, 0.0, 0.0, 0.0))
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.ContactMotion() / lift
    solution = wbc.Controller(robot, wbc.Stack(levels, feet)).step(robot.model.nominal, np.zeros(robot.nv))
    (finding,) = solution.health.of("cone")
    assert solution.status == "optimal" and finding.name in robot.model.feet and finding.unit == "N"
    assert finding.value == pytest.approx(-solution.certificate.cone_margin) and finding.value > 10.0


def test_relaxed_levels_a_stopped_solver_and_a_late_tick_are_told() -> None:
    robot = wbc.load("arm", "numpy")
    joint = np.array([0])
    must = tasks.Rows(wbc.Rows.equal([3.0], acceleration=joint), "must")
    bound = tasks.Rows(wbc.Rows.between([-1.0], [1.0], acceleration=joint), "bound")
    stack = wbc.Stack(tasks.EquationOfMotion() / must / bound / tasks.TorqueMinimization())
    ours = wbc.Controller(robot, stack, "hierarchical-qp", deadline=1e-6)  # which holds what is above exactly
    solution = ours.step(np.zeros(7), np.zeros(7))
    (finding,) = solution.health.of("relaxed")
    assert (finding.name, finding.value) == ("bound", pytest.approx(2.0)) and "row 0" in finding.text
    assert solution.health.of("late")[0].unit == "ms"
    short = HierarchicalQP(max_iterations=1, warm_start=False)
    ours, q = standing("humanoid", "numpy", short, friction=0.05)  # type: ignore[arg-type]
    solution = ours.step(q, np.random.default_rng(0).normal(size=ours.robot.nv))
    assert solution.interrupted and solution.health.of("cut short")[0].value == solution.iterations


def test_limits_that_contradict_the_actuators_are_told() -> None:
    """The actuators come first: the other limit is relaxed, and nothing is clipped."""
    robot = wbc.load("arm", "numpy")
    fast = tasks.Rows(wbc.Rows.between([900.0], [np.inf], acceleration=np.array([1])), "fast")
    stack = wbc.Stack(tasks.EquationOfMotion() / (tasks.TorqueLimits() + fast) / tasks.TorqueMinimization())
    solution = wbc.Controller(robot, stack).step(np.zeros(7), np.zeros(7))
    kinds = [finding.kind for finding in solution.health]
    assert kinds[0] == "relaxed" and "torque limit" in kinds and "clipped" not in kinds
    assert solution.health.of("relaxed")[0].name == "fast"


@pytest.mark.parametrize("solver", ["nullspace", "operational-space"])
def test_torques_that_were_clipped_are_told(solver: str) -> None:
    robot = wbc.load("arm", "numpy")
    fast = tasks.Rows(wbc.Rows.equal([900.0], acceleration=np.array([1])), "fast")
    stack = wbc.Stack(tasks.EquationOfMotion() / fast / tasks.TorqueMinimization())
    for limited in (True, False):
        solution = controller(robot, stack, solver, actuator_limits=limited).step(np.zeros(7), np.zeros(7))
        assert [finding.kind for finding in solution.health][:1] == (["clipped"] if limited else ["torque limit"])
        assert solution.health.of("torque limit")


def test_a_tick_that_failed_is_nothing_but_that() -> None:
    class Broken(Solver):
        def solve(self, levels, *, validate=True, seconds=np.inf):  # type: ignore[no-untyped-def]
            raise ArithmeticError("no luck")

    ours, q = standing("quadruped", "numpy", Broken())  # type: ignore[arg-type]
    solution = ours.step(q, np.zeros(18))
    (finding,) = solution.health
    assert finding.kind == "failed" and "no luck" in finding.text


def stands_on_air(duration: float, share: float) -> wbc.Solution:
    ours, q = standing("quadruped", "numpy")
    foot, *others = ours.robot.model.feet
    commanded: dict[str, float] = {}
    for tick in range(round(1e3 * duration)):
        felt = {name: [0.0, 0.0, commanded.get(name, 0.0)] for name in others} | {
            foot: np.array([0.0, 0.0, share * commanded.get(foot, 0.0), 0.0, 0.0, 0.0])
        }
        solution = ours.step(q, np.zeros(18), 1e-3 * tick, measured=felt)
        commanded = solution.normal_forces
    return solution


def test_a_contact_that_carries_nothing_is_told_after_a_tenth_of_a_second() -> None:
    (finding,) = stands_on_air(0.15, 0.0).health
    assert (finding.kind, finding.name, finding.unit) == ("empty contact", "LF_foot", "N") and finding.value > 50.0
    assert stands_on_air(0.09, 0.0).health.good and stands_on_air(0.15, 0.2).health.good


def test_a_contact_that_is_opened_or_not_measured_is_not_missed() -> None:
    ours, q = standing("quadruped", "numpy")
    nothing = dict.fromkeys(ours.robot.model.feet, np.zeros(3))
    for tick in range(200):
        solution = ours.step(q, np.zeros(18), 1e-3 * tick, measured=nothing)
    assert {finding.name for finding in solution.health} == set(nothing)
    assert (
        ours.step(q, np.zeros(18), 0.2, measured={"LF_foot": np.zeros(3)}).health.of("empty contact")[0].name
        == "LF_foot"
    )
    assert ours.step(q, np.zeros(18), 0.201).health.good
    assert ours.step(q, np.zeros(18), 0.202, measured=nothing).health.good, "it begins anew"


def test_forces_on_a_sole_are_felt_along_its_normal() -> None:
    """A robot on a slope of half a right angle: half of what is commanded across it is felt, or nothing."""
    ours, q = standing("humanoid", "numpy", friction=3.0)
    q[3:7] = np.cos(np.pi / 8), 0.0, np.sin(np.pi / 8), 0.0
    normal = np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)
    along = np.array([1.0, 0.0, -1.0])
    for across, ill in ((0.5, False), (0.0, True)):
        ours.reset()
        commanded: dict[str, float] = {}
        for tick in range(150):
            felt = {name: across * force * normal + 100.0 * along for name, force in commanded.items()}
            solution = ours.step(q, np.zeros(ours.robot.nv), 1e-3 * tick, measured=felt)
            commanded = solution.normal_forces
        assert len(solution.health.of("empty contact")) == (2 if ill else 0)


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        ({"LF_fot": np.zeros(3)}, "no contact 'LF_fot'; did you mean 'LF_foot'"),
        ({"LF_foot": np.zeros(2)}, r"the force measured at 'LF_foot' must be finite numbers, N, shape \(3,\)"),
        ({"LF_foot": [0.0, np.nan, 1.0]}, "the force measured at 'LF_foot' must be finite"),
        ({"LF_foot": "much"}, "the force measured at 'LF_foot', N, = 'much' is not an array of numbers"),
        ([0.0, 0.0, 1.0], "measured = .* must be a dict from names of contacts to forces"),
    ],
)
def test_measured_forces_that_are_none_are_named(measured: object, words: str) -> None:
    ours, q = standing("quadruped", "numpy")
    with pytest.raises(wbc.WbcError, match=words):
        ours.step(q, np.zeros(18), measured=measured)  # type: ignore[arg-type]


def test_what_is_remembered_can_be_copied() -> None:
    weak, feet = stands_on_air(0.15, 0.0), ["LF_foot"]
    for twin in (copy.deepcopy(weak._past), pickle.loads(pickle.dumps(weak._past))):
        assert list(twin.empty) == feet and twin.empty == weak._past.empty and len(twin.looks) == len(weak._past.looks)


def test_measured_forces_change_no_torque() -> None:
    ours, q = standing("quadruped", "numpy")
    plain = ours.step(q, np.zeros(18), 0.0).torque
    felt = {foot: [5.0, 0.0, 70.0] for foot in ours.robot.model.feet}
    assert np.array_equal(ours.step(q, np.zeros(18), 0.0, measured=felt).torque, plain)


def test_a_run_hands_over_what_its_plant_measures() -> None:
    """A contact that was declared on the base by mistake touches nothing."""
    robot = wbc.load("quadruped", "numpy")
    feet = [wbc.PointContact(foot) for foot in robot.model.feet]
    limits = tasks.TorqueLimits() + tasks.FrictionCones()
    levels = tasks.EquationOfMotion() / limits / tasks.ContactMotion() / tasks.JointAcceleration()
    stack = wbc.Stack(levels / tasks.ForceMinimization(), [*feet, wbc.PointContact("base")])
    plant = Simulator(robot, contacts=robot.model.feet)
    log = wbc.run(wbc.Controller(robot, stack), plant, 0.3)
    (worry,) = [worry for worry in log.worries if worry.kind == "empty contact"]
    assert worry.name == "base" and 0.1 <= worry.first <= 0.11 and "carries 0 N of" in worry.text


def test_physics_that_is_off_is_told_of() -> None:
    """Torques that were changed behind the solution's back."""
    solution = arm().step(wbc.load("arm", "numpy").model.nominal, np.zeros(7))
    assert not solution.health.of("physics")
    other = copy.copy(solution)
    other.__dict__.pop("certificate", None), other.__dict__.pop("health", None)
    other._x = solution._x + np.r_[np.zeros(7), np.full(7, 5.0)]
    (finding,) = other.health.of("physics")
    assert finding.name == "equation of motion" and finding.unit == ""
    assert finding.value == other.certificate.equation_of_motion > 1e-3
    assert finding.text.startswith("the equation of motion is off by ")


def test_a_joint_that_presses_on_its_end_is_named_where_no_task_knows_its_range() -> None:
    """A simulator stops it there, and so would a robot; a task that keeps it within its range does so as well."""
    robot = wbc.load("arm", "numpy")
    end = robot.limits.upper[3]
    wanted = np.where(np.arange(7) == 3, end + 0.3, robot.model.nominal)
    posture = tasks.JointAcceleration(wanted, gains=wbc.Gains(1.0))
    for limits, ends in ((tasks.TorqueLimits(), True), (tasks.TorqueLimits() + tasks.JointLimits(), False)):
        stack = wbc.Stack(tasks.EquationOfMotion() / limits / posture)
        log = wbc.run(wbc.Controller(robot, stack), wbc.MujocoSimulator(robot), duration=2.0)
        assert ("beyond the end of its range, from which no task keeps it" in log.health()) == ends, log.health()
        health = wbc.Controller(robot, stack)
        for tick in range(3):
            found = health.step(log.q[-1], log.v[-1], 0.25 * tick).health.of("joint end")
        assert [finding.name for finding in found] == (["joint_4"] if ends else [])
        if ends:
            assert found[0].value == pytest.approx(log.q[-1, 3] - end) and found[0].unit == "rad"
