"""What a controller owes its user: the right torque, or a word that it is not."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import SOLVERS, contacts, controller, moving_state, standing
from wbc import WbcError, WbcWarning, compiled

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")
"""Stacks of equations alone are what many of these tests are about."""

EXACT = ("hierarchical-qp", "sequential-qp")


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_standing_still_needs_no_acceleration_and_holds_the_weight(name: str, backend: str) -> None:
    ours, q = standing(name, backend)
    solution = ours.step(q, np.zeros(ours.robot.nv))
    assert solution.status == "optimal"
    assert np.abs(solution.acceleration).max() < 1e-8
    weight = ours.robot.mass * 9.81
    assert np.isclose(sum(force[2] for force in solution.forces.values()), weight)
    assert solution.certificate.holds
    assert solution.torque.shape == (ours.robot.na,)


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
@pytest.mark.parametrize("seed", range(6))
def test_solvers_agree_where_no_inequality_is_in_the_way(name: str, seed: int) -> None:
    """Equality-only stacks: null-space projection, sequential QPs and one hierarchical QP are the same to 1e-8.

    Nothing yields: a base that is pulled away fast stretches some legs.
    """
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(seed)
    q, v = moving_state(robot, rng, 0.2, 0.3)
    found = []
    for solver in ("nullspace", "sequential-qp", wbc.solvers.HierarchicalQP()):
        stack = wbc.Stack(
            tasks.EquationOfMotion()
            / tasks.ContactMotion()
            / tasks.EndEffectorAcceleration("base", np.eye(4))
            / tasks.JointAcceleration()
            / tasks.TorqueMinimization(),
            contacts=contacts(robot),
        )
        found.append(controller(robot, stack, solver, actuator_limits=False).step(q, v))
    for other in found[1:]:
        scale = np.abs(found[0].torque).max()
        assert np.allclose(other.torque / scale, found[0].torque / scale, atol=1e-8)
        for mine, theirs in zip(found[0].levels, other.levels, strict=True):
            for task, residual in mine.residual.items():
                assert np.allclose(residual, theirs.residual[task], atol=1e-8 * max(1.0, np.abs(residual).max())), task


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_certified_physics(solver: str) -> None:
    rng = np.random.default_rng(1)
    ours, _ = standing("quadruped", "numpy", solver)
    for tick in range(20):
        q, v = moving_state(ours.robot, rng, 0.1, 0.2)
        solution = ours.step(q, v, 1e-3 * tick)
        assert solution.status in ("optimal", "relaxed")
        assert solution.certificate.equation_of_motion < 1e-8
        assert np.isfinite(solution.torque).all()
        if solver in EXACT and solution.status == "optimal":
            assert solution.certificate.holds


def test_exact_solvers_agree_with_inequalities_and_weighted_ones_come_close() -> None:
    rng = np.random.default_rng(2)
    robots = {solver: standing("quadruped", "numpy", solver)[0] for solver in (*EXACT, "weighted-qp")}
    relaxed = gave_up = 0
    for tick in range(25):
        q, v = moving_state(robots["hierarchical-qp"].robot, rng, 0.05, 0.15)
        solutions = {solver: ours.step(q, v, 1e-3 * tick) for solver, ours in robots.items()}
        best, stopped = solutions["hierarchical-qp"], solutions["sequential-qp"].interrupted
        gave_up += stopped  # its QPs do, three times in a hundred ticks: what it has by then is as good
        assert all(it.status == "optimal" for name, it in solutions.items() if name != "sequential-qp" or not stopped)
        relaxed += bool(best.active)
        for solver, solution in solutions.items():
            close = {"hierarchical-qp": 1e-9, "sequential-qp": 1e-4, "weighted-qp": 0.3}[solver]
            for mine, theirs in list(zip(best.levels, solution.levels, strict=True))[:3]:
                assert abs(mine.cost - theirs.cost) <= close * (1 + mine.cost), f"{solver}, tick {tick}"
    assert relaxed > 5 and gave_up <= 1  # the test is about inequalities


def test_the_same_input_twice_gives_the_same_output() -> None:
    ours, q = standing("quadruped", "pinocchio")
    rng = np.random.default_rng(3)
    for tick in range(5):
        v = rng.normal(scale=0.2, size=18)
        first = ours.step(q, v, 1e-3 * tick)
        again = ours.step(q, v, 1e-3 * tick)
        assert np.allclose(first.torque, again.torque, atol=1e-9)


def test_solutions_stay_what_they_were() -> None:
    ours, q = standing("quadruped", "pinocchio")
    v = np.full(18, 0.05)
    solution = ours.step(q, v)
    torque = solution.torque.copy()
    ours.step(q, -v, 0.1)
    assert np.array_equal(solution.torque, torque)
    assert solution.certificate.equation_of_motion < 1e-10  # judged in the state that it is for
    with pytest.raises(ValueError, match="read-only"):
        solution.torque[0] = 1.0


def test_bad_input_is_named() -> None:
    ours, q = standing("quadruped", "numpy")
    with pytest.raises(WbcError, match="v is not finite"):
        ours.step(q, np.full(18, np.nan))
    with pytest.raises(WbcError, match=r"q has shape \(3,\)"):
        ours.step(np.zeros(3), np.zeros(18))
    with pytest.raises(WbcError, match="t = nan must be a finite time"):
        ours.step(q, np.zeros(18), float("nan"))
    with pytest.raises(WbcError, match="t = 'now' must be a finite time"):
        ours.step(q, np.zeros(18), "now")
    robot, stack = ours.robot, ours.stack
    with pytest.raises(WbcError, match="no solver 'hierarchical'; did you mean 'hierarchical-qp'"):
        wbc.Controller(robot, stack, "hierarchical")
    with pytest.raises(WbcError, match=r"needs a wbc\.Stack"):
        wbc.Controller(robot, tasks.EquationOfMotion() / tasks.JointAcceleration())
    with pytest.raises(WbcError, match="a controller needs a robot"):
        wbc.Controller(stack, robot)


def test_solvers_that_ignore_inequalities_say_so_once_by_name() -> None:
    robot = wbc.load("quadruped", "numpy")
    levels = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion())
    stack = wbc.Stack(levels / tasks.JointAcceleration(), contacts=contacts(robot))
    with pytest.warns(WbcWarning, match=r"NullSpace ignores inequalities.*torque limits, friction cones"):
        ours = wbc.Controller(robot, stack, "nullspace")
    # asked to fall upwards: the feet would have to pull
    fly = tasks.EndEffectorAcceleration("base", acceleration=(0, 0, -30.0, 0, 0, 0), gains=wbc.Gains(kp=0, kd=0))
    ours = controller(robot, wbc.Stack(levels / fly, contacts=contacts(robot)), "nullspace")
    solution = ours.step(robot.model.nominal, np.zeros(18))
    assert solution.status == "relaxed"
    assert solution.certificate.cone_margin < -10
    assert {active.task for active in solution.violated} == {"friction cones"}
    assert "foot" in solution.certificate.worst_contact


class _Undeclared(wbc.Task):
    """It does not say that it has inequalities, as one's own task may forget to."""

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        return wbc.Rows.between([-1.0, -1.0], [1.0, 1.0], acceleration=np.array([2, 3]))


def test_inequalities_that_no_task_declared_are_told_of_at_the_first_tick() -> None:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / _Undeclared("corridor") / tasks.JointAcceleration())
    ours = wbc.Controller(robot, stack, "nullspace")
    q, v = robot.model.nominal, np.zeros(robot.nv)
    with pytest.warns(WbcWarning, match="NullSpace ignores inequalities.*: corridor;") as told:
        ours.step(q, v)
    assert len(told) == 1 and told[0].filename == __file__
    ours.step(q, v)  # said once: a second warning is an error
    wbc.Controller(robot, stack).step(q, v)


def test_infeasible_a_robot_that_can_not_hold_its_weight() -> None:
    robot = wbc.load("quadruped", "numpy")
    hard = tasks.TorqueLimits(scale=0.02) + tasks.FrictionCones()
    stack = wbc.Stack(
        tasks.EquationOfMotion() / hard / tasks.ContactMotion() / tasks.EndEffectorAcceleration("base"),
        contacts=contacts(robot),
    )
    solution = controller(robot, stack, "hierarchical-qp").step(robot.model.nominal, np.zeros(18))
    assert solution.status == "optimal"  # every inequality holds; the base falls
    assert solution.acceleration[2] < -1.0
    assert np.abs(solution.torque).max() <= 0.02 * 80 + 1e-9
    text = solution.explain()
    assert "base: missed: z of base" in text
    assert "held back by torque limits (" in text and "KFE" in text


def test_infeasible_a_foot_that_must_push_while_torque_limits_forbid_it() -> None:
    robot = wbc.load("quadruped", "numpy")
    feet = [wbc.PointContact(foot, 0.6, minimum=400.0 if foot == "LF_foot" else 0.0) for foot in robot.model.feet]
    together = tasks.TorqueLimits(scale=0.1) + tasks.FrictionCones() + tasks.ContactMotion()
    stack = wbc.Stack(tasks.EquationOfMotion() / together / tasks.EndEffectorAcceleration("base"), contacts=feet)
    solution = controller(robot, stack, "hierarchical-qp").step(robot.model.nominal, np.zeros(18))
    assert solution.status == "relaxed"
    said = [str(active) for active in solution.violated]
    assert any("friction cones: normal force of LF_foot" in text for text in said)
    assert "does not hold: friction cones, normal force of LF_foot" in solution.explain()
    assert solution.certificate.equation_of_motion < 1e-8


def test_infeasible_contradicting_contacts() -> None:
    """Two contacts on one foot, one of which is said to be pulled away: they can't both stay."""
    robot = wbc.load("quadruped", "numpy")
    feet = [*contacts(robot), wbc.PointContact("LF_foot", 0.6, name="again")]
    away = tasks.EndEffectorAcceleration("LF_foot", acceleration=(0, 0, 5.0, 0, 0, 0), axes="position", name="pull")
    both = tasks.FrictionCones() + tasks.ContactMotion() + away
    stack = wbc.Stack(tasks.EquationOfMotion() / both / tasks.JointAcceleration(), contacts=feet)
    solution = controller(robot, stack, "hierarchical-qp").step(robot.model.nominal, np.zeros(18))
    assert np.isfinite(solution.torque).all()
    residual = solution.levels[1].residual
    assert abs(residual["pull"][2]) > 1.0  # two rows against one: least squares, a third and two thirds
    assert "pull: missed: z of LF_foot" in solution.explain()


def test_infeasible_no_friction_on_a_slope() -> None:
    robot = wbc.load("quadruped", "numpy")
    slope = np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    feet = [wbc.PointContact(foot, 0.0, normal=slope) for foot in robot.model.feet]
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones())
        / tasks.ContactMotion()
        / tasks.EndEffectorAcceleration("base"),
        contacts=feet,
    )
    solution = controller(robot, stack, "hierarchical-qp").step(robot.model.nominal, np.zeros(18))
    assert solution.status == "optimal"
    text = solution.explain()
    assert "base: missed: x of base" in text
    assert "held back by friction cones (friction of" in text
    for force in solution.forces.values():
        assert np.allclose(force - (force @ slope) * slope, 0.0, atol=1e-6)  # no tangential force


class _Broken(wbc.solvers.Solver):
    """A solver that fails, in the way that is asked for."""

    def __init__(self, how: str) -> None:
        self.how = how

    def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):
        if self.how == "raises":
            raise np.linalg.LinAlgError("no")
        x = np.full(levels.A.shape[1], np.nan)
        return wbc.solvers.grade(levels, x, iterations=1, time=0.0, ranks=[0] * len(levels))


@pytest.mark.parametrize("how", ["raises", "gives nan"])
@pytest.mark.parametrize("name", ["quadruped", "humanoid", "arm"])
def test_a_failed_solver_ends_in_a_safe_torque(name: str, how: str) -> None:
    robot = wbc.load(name, "numpy")
    first = tasks.ContactMotion() if robot.model.feet else tasks.EndEffectorAcceleration("tool", axes="x")
    stack = wbc.Stack(tasks.EquationOfMotion() / first / tasks.JointAcceleration(), contacts=contacts(robot))
    ours = controller(robot, stack, _Broken(how))
    solution = ours.step(robot.model.nominal, np.zeros(robot.nv))
    assert solution.status == "failed"
    assert np.isfinite(solution.torque).all()
    assert (np.abs(solution.torque) <= robot.limits.effort).all()
    assert "gravity compensation" in solution.explain()
    # at rest the fallback holds the robot: accelerations under it and the forces it counts on are small
    if name == "arm":
        assert np.abs(robot.forward_dynamics(robot.model.nominal, np.zeros(7), solution.torque)).max() < 1e-8
    fast = ours.step(robot.model.nominal, np.full(robot.nv, 50.0), 0.1)
    assert (np.abs(fast.torque) <= robot.limits.effort).all()


def test_a_late_tick_says_so_and_a_bounded_solver_returns_its_best() -> None:
    ours, q = standing("humanoid", "numpy", deadline=1e-7)
    solution = ours.step(q, np.random.default_rng(0).normal(scale=0.5, size=ours.robot.nv))
    assert solution.late
    assert np.isfinite(solution.torque).all()
    ours, q = standing("humanoid", "numpy", deadline=10.0)
    assert not ours.step(q, np.zeros(ours.robot.nv)).late


def test_times_are_told() -> None:
    ours, q = standing("quadruped", "pinocchio")
    time = ours.step(q, np.zeros(18)).time
    assert 0 < time.backend < time.total
    assert time.backend + time.tasks + time.solver <= time.total


def test_printing_shows_levels_and_rows() -> None:
    ours, q = standing("quadruped", "pinocchio")
    ours.step(q, np.zeros(18))
    text = str(ours)
    assert "equation of motion" in text
    assert "20 ≤" in text  # friction cones
    assert "12 =" in text  # contact motion
    assert "hierarchical" in text.lower()


class _Turning(wbc.Task):
    """A task that gives good rows at first, and then what it is told."""

    then: object = None

    def rows(self, robot, tick):
        return wbc.Rows.equal(np.zeros(1), acceleration=np.eye(1, robot.nv)) if self.then is None else self.then


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("below", [1, 2])
def test_rows_that_go_wrong_while_running_are_named(solver: str, below: int) -> None:
    robot = wbc.load("quadruped", "numpy")
    one = np.eye(1, 18)
    bad = {
        "not a number": wbc.Rows.equal(np.full(1, np.nan), acceleration=one),
        "not finite": wbc.Rows.equal(np.zeros(1), acceleration=np.full((1, 18), np.nan)),
        "block has shape": wbc.Rows.equal(np.zeros(2), acceleration=np.zeros((2, 3))),
        "lower one is above": wbc.Rows.between(np.ones(1), np.zeros(1), acceleration=one),
        "must give a wbc.Rows": 3,
    }
    for words, rows in bad.items():
        mine = _Turning("mine")
        levels = [[tasks.FrictionCones(), tasks.ContactMotion()], [tasks.JointAcceleration()]]
        levels.insert(below, [mine])
        ours = controller(robot, wbc.Stack([[tasks.EquationOfMotion()], *levels], contacts=contacts(robot)), solver)
        ours.step(robot.model.nominal, np.zeros(18))
        mine.then = rows
        with pytest.raises(WbcError, match=f"mine: .*{words}"):
            ours.step(robot.model.nominal, np.zeros(18), 1e-3)
        mine.then = None
        assert ours.step(robot.model.nominal, np.zeros(18), 2e-3).status in ("optimal", "relaxed")


def test_two_controllers_may_share_a_stack_whose_contacts_change() -> None:
    stack = standing("quadruped", "numpy")[0].stack
    pair = [controller(wbc.load("quadruped", "numpy"), stack, "hierarchical-qp") for _ in range(2)]
    q = pair[0].robot.model.nominal
    for tick in range(6):
        if tick == 2:
            stack.open_contact("LF_foot")
        if tick == 4:
            stack.close_contact("LF_foot")
        one, other = (ours.step(q, np.zeros(18), 1e-3 * tick) for ours in pair)
        assert np.allclose(one.torque, other.torque, atol=1e-8)
        assert len(one.normal_forces) == len(other.normal_forces) == (3 if tick in (2, 3) else 4)


def test_a_task_may_move_to_another_robot() -> None:
    posture = tasks.JointAcceleration()
    for name in ("arm", "quadruped"):
        robot = wbc.load(name, "numpy")
        ours = controller(robot, wbc.Stack(tasks.EquationOfMotion() / posture), "hierarchical-qp")
        assert ours.step(robot.model.nominal, np.zeros(robot.nv)).status == "optimal"


def test_forces_at_corners_and_wrenches_are_the_same_controller() -> None:
    robot, torques = wbc.load("humanoid", "pinocchio"), []
    for forces in ("wrench", "corners"):
        feet = [wbc.SurfaceContact(foot, 0.6, robot.model.soles[foot], forces=forces) for foot in robot.model.feet]
        limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
        base, rest = tasks.EndEffectorAcceleration("base"), tasks.JointAcceleration() / tasks.TorqueMinimization()
        ours = controller(
            robot, wbc.Stack(tasks.EquationOfMotion() / limits / base / rest, contacts=feet), "hierarchical-qp"
        )
        rng = np.random.default_rng(5)
        states = [moving_state(robot, rng, 0.03, 0.3) for _ in range(10)]
        torques.append([ours.step(q, v, 1e-3 * tick).torque for tick, (q, v) in enumerate(states)])
    assert np.allclose(torques[0], torques[1], atol=1e-7)


def test_numbers_that_are_none_are_named() -> None:
    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    for make, message in [
        (
            lambda: wbc.Controller(robot, stack, period="1 ms"),
            "the control period, s, = '1 ms' must be a number, more than 0",
        ),
        (lambda: wbc.Controller(robot, stack, deadline=-1), "the deadline, s, = -1 must be a number, more than 0"),
        (lambda: tasks.TorqueLimits(scale="all"), "torque limits: scale = 'all' must be a number"),
        (lambda: tasks.JointLimits(braking=5.0, greatest=1.0), "greatest = 1.0 must be a number, 5 or more"),
        (lambda: wbc.PointContact("tool", friction="high"), "contact 'tool': friction = 'high' must be a number"),
        (lambda: stack.fade("posture", 1.0, "soon"), "the duration for 'posture', s, = 'soon' must be a number"),
        (lambda: wbc.Stack(tasks.EquationOfMotion() / tasks.EquationOfMotion()), "two equations of motion"),
    ]:
        with pytest.raises(WbcError, match=message):
            make()


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_jacobians_of_contacts_are_those_of_the_robot_that_is_asked_about(name: str) -> None:
    """Robots come and go, and a new one may be where one that is gone has been."""
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(3)
    tick = wbc.Tick(robot, contacts(robot))
    for _ in range(10):
        twin = robot.copy()
        twin.update(*moving_state(robot, rng, 0.5, 0.5))
        expected = np.concatenate([contact.motion(twin)[0] for contact in tick.contacts])
        assert np.allclose(tick.contact_motion(twin)[0], expected, atol=1e-12)
        del twin


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_what_tasks_share_can_not_be_written_to(name: str) -> None:
    robot = wbc.load(name, "numpy")
    robot.update(robot.model.nominal)
    tick = wbc.Tick(robot, contacts(robot))
    shared = [tick.contact_jacobian(robot), *tick.contact_motion(robot)]
    if name == "quadruped":
        shared.append(tick.contacts[0].carried_cone(4))
    for array in shared:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


def test_normal_forces_are_those_of_their_own_tick() -> None:
    ours, q = standing("humanoid", "numpy")
    rng = np.random.default_rng(0)
    solution = ours.step(q, np.zeros(ours.robot.nv))
    ours.step(*moving_state(ours.robot, rng, 0.5, 0.3), 1e-3)  # the soles turn
    for name, force in solution.forces.items():  # and stood level before
        assert np.isclose(solution.normal_forces[name], force[2])


def test_forces_at_corners_are_those_of_their_own_tick() -> None:
    """They are put together to a wrench with the soles as they stood then."""
    robot = wbc.load("humanoid", "numpy")
    feet = [wbc.SurfaceContact(foot, forces="corners") for foot in robot.model.feet]
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    ours = controller(
        robot, wbc.Stack(tasks.EquationOfMotion() / limits / tasks.JointAcceleration(), feet), "nullspace"
    )
    rng = np.random.default_rng(0)
    q, v = moving_state(robot, rng, 0.1, 0.3)
    at_once = ours.step(q, v, 0.0).forces
    ours.reset()
    later = ours.step(q, v, 0.0)
    ours.step(*moving_state(robot, rng, 0.5, 0.3), 1e-3)  # the soles turn
    for name, wrench in later.forces.items():
        assert np.abs(wrench[3:]).max() > 0.1 and np.allclose(wrench, at_once[name], atol=1e-6)


def test_costs_are_those_of_the_weights_of_their_own_tick() -> None:
    ours, _ = standing("quadruped", "numpy")
    q, v = moving_state(ours.robot, np.random.default_rng(0), 0.1, 0.2)
    ours.step(q, v)
    at_once, later = ours.step(q, v, 1e-3).levels[-1].cost, ours.step(q, v, 1e-3)
    ours.stack.fade("least torque", 9.0, 0.0)
    assert np.isclose(ours.step(q, v, 2e-3).levels[-1].cost, 3.0 * at_once)
    assert np.isclose(later.levels[-1].cost, at_once)


class _Corridor(wbc.Task):
    """Accelerations between bounds of which only the upper ones change."""

    inequality = True

    def __init__(self, count: int, name: str, upper: float) -> None:
        super().__init__(name)
        self.lower, self.upper, self.joints = np.full(count, -1e3), np.full(count, upper), np.arange(6, 6 + count)
        self.lower.flags.writeable = False

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        return wbc.Rows.between(self.lower, self.upper.copy(), acceleration=self.joints)


def _corridors(*corridors: wbc.Task) -> wbc.Controller:
    robot = wbc.load("quadruped", "numpy")
    free = tasks.JointAcceleration(target=lambda t: (robot.model.nominal[7:], np.zeros(12), np.full(12, 5.0)))
    level: wbc.Task | wbc.Levels = corridors[0]
    for corridor in corridors[1:]:
        level = level + corridor
    return controller(robot, wbc.Stack(tasks.EquationOfMotion() / level / free), "hierarchical-qp")


def test_a_bound_that_changes_beside_one_that_can_not_is_seen() -> None:
    corridor = _Corridor(12, "corridor", 2.0)
    ours = _corridors(corridor)
    q, v = np.array(ours.robot.model.nominal), np.zeros(18)
    for tick, upper in enumerate([2.0, 1.0, 3.0]):
        corridor.upper[:] = upper
        assert np.allclose(ours.step(q, v, 1e-3 * tick).acceleration[6:], upper)


def test_bounds_that_can_not_change_are_those_of_the_tasks_that_are_on() -> None:
    """Tasks that are switched may have as many rows together as others: where one stood, two stand."""

    class Fixed(_Corridor):
        def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
            self.upper.flags.writeable = False
            return wbc.Rows.between(self.lower, self.upper, acceleration=self.joints)

    whole, first, rest = Fixed(12, "whole", 4.0), Fixed(4, "first", 1.0), Fixed(12, "rest", 2.0)
    rest.lower, rest.upper, rest.joints = rest.lower[:8].copy(), rest.upper[:8].copy(), np.arange(10, 18)
    rest.lower.flags.writeable = False
    ours = _corridors(whole, first, rest)
    q, v = np.array(ours.robot.model.nominal), np.zeros(18)
    for tick in range(4):
        for task, on in ((whole, tick % 2 == 1), (first, tick % 2 == 0), (rest, tick % 2 == 0)):
            (ours.stack.switch_on if on else ours.stack.switch_off)(task.name)
        found = ours.step(q, v, 1e-3 * tick).acceleration[6:]
        assert np.allclose(found, 4.0 if tick % 2 else np.r_[np.full(4, 1.0), np.full(8, 2.0)]), tick


def test_the_period_may_be_set_while_it_runs() -> None:
    seen = []

    class Looks(tasks.TorqueMinimization):
        def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
            seen.append(tick.period)
            return super().rows(robot, tick)

    watched = wbc.Controller(wbc.load("arm", "numpy"), wbc.Stack(tasks.EquationOfMotion() / Looks("looks")))
    watched.step(np.zeros(7), np.zeros(7))
    watched.period = 5e-3
    watched.step(np.zeros(7), np.zeros(7), 1.0)
    assert (seen[0], seen[-1]) == (1e-3, 5e-3)


@pytest.mark.parametrize("solver", ["hierarchical-qp", "weighted-qp", "nullspace"])
def test_a_controller_says_what_its_solver_runs_on(solver: str) -> None:
    ours, _ = standing("quadruped", "numpy", solver)
    last = str(ours).splitlines()[-1]
    how = "" if solver == "nullspace" else " (numpy)" if compiled.kernel is None else " (compiled)"
    assert last == f"solver: {type(ours.solver).__name__}{how}"
    if how:
        off = wbc.Controller(ours.robot, ours.stack, type(ours.solver)(compiled=False))
        assert str(off).endswith(" (numpy)")
