"""From rows to x: plans of the compiled kernel, and levels for any other solver."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller, moving_state, standing
from wbc.compiled import kernel
from wbc.control.compiled_solving import CompiledSolving
from wbc.control.controller import RESERVE
from wbc.control.level_solving import LevelSolving, outcome_of
from wbc.control.reserve import UNHURRIED
from wbc.solvers import HierarchicalQP, Solver, WeightedQP
from wbc.solvers.base import CompiledPlan
from wbc.solvers.elimination import RANK_TOLERANCE

compiled = pytest.mark.skipif(kernel is None, reason="the kernel is not built")
pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")

BOTH = (HierarchicalQP, "levels")


class Plain(HierarchicalQP):
    """The same solver, but one that must be handed levels."""

    def compiled_plan(self, levels: int, exact: int, posture: int) -> None:
        return None


def solving(ours: wbc.Controller) -> CompiledSolving | LevelSolving:
    """Of the layout that was made last."""
    return list(ours._laid.values())[-1][1]


class Given(wbc.Task):
    """A task with the rows that it is given."""

    def __init__(self, name: str, rows: wbc.Rows) -> None:
        super().__init__(name)
        self.given = rows

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        return self.given


def arm(*given: wbc.Task, solver: Solver | None = None) -> tuple[wbc.Controller, np.ndarray]:
    robot = wbc.load("arm", "numpy")
    levels = sum(given[1:], start=tasks.EquationOfMotion() / given[0]) / tasks.AccelerationMinimization()
    return controller(robot, wbc.Stack(levels), solver or "hierarchical-qp"), np.array(robot.model.nominal)


@compiled
def test_who_solves() -> None:
    for solver, kind in ((HierarchicalQP(), CompiledSolving), (Plain(), LevelSolving), ("nullspace", LevelSolving)):
        ours, q = arm(Given("a", wbc.Rows.equal([1.0], acceleration=np.array([0]))), solver=solver)
        ours.step(q, np.zeros(7))
        assert type(solving(ours)) is kind


@compiled
def test_a_plan_is_laid_out_anew_when_a_task_is_switched_and_kept_for_when_it_is_back() -> None:
    a, b = (Given(name, wbc.Rows.equal([goal], acceleration=np.array([0]))) for name, goal in (("a", 1.0), ("b", 3.0)))
    ours, q = arm(a, b)
    plans = []
    for tick, change in enumerate((None, "off", None, "on", "off")):
        if change is not None:
            (ours.stack.switch_off if change == "off" else ours.stack.switch_on)("b")
        wanted = 1.0 if tick in (1, 2, 4) else 2.0
        assert ours.step(q, np.zeros(7), 1e-3 * tick).acceleration[0] == pytest.approx(wanted)
        plans.append(solving(ours)._current.plan)
    assert plans[0] is plans[3] and plans[1] is plans[2] is plans[4] and plans[0] is not plans[1]
    assert len(solving(ours)._plans) == 2


@pytest.mark.parametrize("which", ["compiled", "levels"])
def test_bounds_of_integers_are_bounds(which: str) -> None:
    J = np.ascontiguousarray(np.random.default_rng(0).normal(size=(7, 2)).T)
    between = Given("mine", wbc.Rows.between(np.array([1, -2]), np.array([2, -1]), acceleration=J))
    ours, q = arm(between, solver=HierarchicalQP() if which == "compiled" else Plain())
    found = ours.step(q, np.zeros(7))
    value = J @ found.acceleration
    assert found.status == "optimal" and 1.0 - 1e-6 < value[0] < 2.0 + 1e-6 and -2.0 - 1e-6 < value[1] < -1.0 + 1e-6


@pytest.mark.parametrize("which", ["compiled", "levels"])
@pytest.mark.parametrize("later", [False, True], ids=["from the start", "later"])
def test_integers_and_views_are_numbers_too(which: str, later: bool) -> None:
    """Rows that the kernel can't read as they are give what the same rows as contiguous floats do."""
    J = np.random.default_rng(0).normal(size=(7, 6)).round(3)
    plain = wbc.Rows.equal(
        np.array([1.0, 2.0]), acceleration=np.ascontiguousarray(J.T[:2]), weights=np.array([1.0, 4.0])
    )
    odd = {
        "a transpose": wbc.Rows.equal(np.array([1.0, 2.0]), acceleration=J.T[:2], weights=np.array([1.0, 4.0])),
        "every other row": wbc.Rows.equal(
            np.array([1.0, 9.0, 2.0])[::2],
            acceleration=np.vstack([J.T[0], J.T[0], J.T[1]])[::2],
            weights=np.array([1.0, 9.0, 4.0])[::2],
        ),
        "backwards": wbc.Rows.equal(
            np.array([2.0, 1.0])[::-1], acceleration=J.T[1::-1][::-1], weights=np.array([4.0, 1.0])[::-1]
        ),
        "integers": wbc.Rows.equal(np.array([1, 2]), acceleration=J.T[:2], weights=np.array([1, 4])),
        "single": wbc.Rows.equal(
            np.array([1.0, 2.0], dtype=np.float32), acceleration=J.T[:2], weights=np.array([1, 4], dtype=np.float32)
        ),
    }
    torn = wbc.Rows.equal(np.array([0.5]), acceleration=np.ascontiguousarray(J.T[:1]))  # so that weights matter
    task, other = Given("mine", plain), Given("other", torn)
    solver = HierarchicalQP() if which == "compiled" else Plain()
    ours, q = arm(other, task, solver=solver)
    expected = ours.step(q, np.zeros(7)).acceleration
    for name, rows in odd.items():
        if not later:
            ours, q = arm(other, task, solver=solver)
        task.given = rows
        found = ours.step(q, np.zeros(7))
        assert found.status == "optimal" and np.allclose(found.acceleration, expected, atol=1e-6), name


@pytest.mark.parametrize("solver", [HierarchicalQP(), Plain()], ids=["compiled", "levels"])
def test_weights_of_rows_and_of_tasks_multiply_each_on_its_own_and_together(solver: Solver) -> None:
    def pull(weights: list[float] | None) -> wbc.Rows:
        given = None if weights is None else np.array(weights)
        return wbc.Rows.equal([1.0, 3.0], acceleration=np.array([0, 0]), weights=given)

    still = Given("still", wbc.Rows.equal([0.0], acceleration=np.array([0])))  # of weight 1
    for rows, weight in (([1.0, 3.0], 1.0), (None, 3.0), ([1.0, 3.0], 2.0), (None, 1.0)):
        task = Given("pull", pull(rows))
        task.weight = weight
        ours, q = arm(task, still, solver=solver)
        w = weight * np.array([1.0, 1.0] if rows is None else rows)
        wanted = float(w @ [1.0, 3.0]) / (w.sum() + 1.0)
        assert ours.step(q, np.zeros(7)).acceleration[0] == pytest.approx(wanted)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_indices_of_any_integer_type_and_matrices_of_integers(dtype: type) -> None:
    for rows in (
        wbc.Rows.equal([1.0, 2.0], acceleration=np.array([5, 2], dtype=dtype)),
        wbc.Rows.equal([1.0, 2.0], acceleration=np.eye(7, dtype=dtype)[[5, 2]]),
        wbc.Rows.between([1, 2], [1, 2], acceleration=np.arange(7, dtype=dtype)[5:1:-3]),
    ):
        ours, q = arm(Given("mine", rows))
        assert np.allclose(ours.step(q, np.zeros(7)).acceleration[[5, 2]], [1.0, 2.0])


@compiled
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_the_compiled_way_and_the_way_by_levels_are_the_same(name: str) -> None:
    """Level by level in cost: which of several best torques is taken may differ to the solver's accuracy."""
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(1)
    pair = [standing(name, "numpy", solver)[0] for solver in (HierarchicalQP(), Plain())]
    limited = 0
    for tick in range(15):
        q, v = moving_state(robot, rng, 0.05, 0.2)
        one, other = (ours.step(q, v, 1e-3 * tick) for ours in pair)
        assert one.status == other.status
        for mine, theirs in zip(one.levels, other.levels, strict=True):
            assert mine.cost == pytest.approx(theirs.cost, rel=1e-6, abs=1e-6)
        limited += bool(one.active)
    assert limited > 3
    assert [type(solving(ours)) for ours in pair] == [CompiledSolving, LevelSolving]


class Slow(HierarchicalQP):
    """A solver that notes how long it may take."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[float] = []

    def compiled_plan(self, levels: int, exact: int, posture: int) -> None:
        return None

    def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):
        self.given.append(seconds)
        return super().solve(levels, validate=validate, seconds=seconds)


class Late(wbc.Task):
    """A task whose rows take their time, and ask for nothing."""

    def __init__(self, seconds: float) -> None:
        super().__init__("late")
        self.seconds = seconds

    def rows(self, robot: wbc.Dynamics, tick: wbc.Tick) -> wbc.Rows:
        time.sleep(self.seconds)
        return wbc.Rows.equal(np.zeros(0), acceleration=np.zeros((0, robot.nv)))


def test_a_deadline_is_passed_on_less_what_the_tick_took_so_far() -> None:
    robot = wbc.load("arm", "numpy")
    for deadline, spent, low, high in ((None, 0.0, np.inf, np.inf), (0.5, 0.1, 0.2, 0.4), (0.01, 0.05, 1e-5, 1e-5)):
        solver = Slow()
        stack = wbc.Stack(tasks.EquationOfMotion() / (Late(spent) + tasks.JointAcceleration()))
        ours = wbc.Controller(robot, stack, solver, deadline=deadline)
        solution = ours.step(robot.model.nominal, np.zeros(7))
        assert low <= solver.given[-1] <= high, f"deadline {deadline}"
        assert solution.late == (deadline == 0.01)


def test_a_deadline_leaves_time_for_what_comes_after(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("controller", "level_solving"):
        monkeypatch.setattr(f"wbc.control.{module}.perf_counter", lambda: 7.0)
    robot, solver = wbc.load("arm", "numpy"), Slow()
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    ours = wbc.Controller(robot, stack, solver, deadline=0.01)
    most, share = UNHURRIED
    for deadline, kept in ((0.01, most), (5e-4, RESERVE), (1e-3, share * 1e-3)):
        ours.deadline = deadline
        solution = ours.step(robot.model.nominal, np.zeros(7), 0.0)
        assert solver.given[-1] == pytest.approx(deadline - kept)
        assert solution.time.total == 0.0 and not solution.late


def test_a_solver_is_given_what_is_left_when_its_levels_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.arange(0.0, 1.0, 1e-3).tolist())
    monkeypatch.setattr("wbc.control.level_solving.perf_counter", lambda: next(clock))
    monkeypatch.setattr("wbc.control.controller.perf_counter", lambda: 7.0)
    robot, solver = wbc.load("arm", "numpy"), Slow()
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    wbc.Controller(robot, stack, solver, deadline=0.01).step(robot.model.nominal, np.zeros(7))
    assert solver.given == [pytest.approx(0.01 - UNHURRIED[0] - 1e-3)]


@compiled
def test_a_users_solver_without_options_is_solved_for_as_by_default() -> None:
    """It tells how the kernel does its work, and has no options: warm starts, no deadline."""

    class Bare(Solver):
        def compiled_plan(self, levels: int, exact: int, posture: int) -> CompiledPlan:
            return CompiledPlan(tuple(range(levels)), (1.0,) * levels, 1000, RANK_TOLERANCE)

        def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):
            raise AssertionError("it is not handed levels")

    three = Bare(), HierarchicalQP(), HierarchicalQP(warm_start=False)
    bare, same, cold = (standing("humanoid", "numpy", solver)[0] for solver in three)
    q, v = moving_state(bare.robot, np.random.default_rng(2), 0.1, 1.0)
    for tick in range(3):
        one, other, slow = (ours.step(q, v, 1e-3 * tick) for ours in (bare, same, cold))
        assert np.array_equal(one.torque, other.torque) and one.iterations == other.iterations
    assert one.active and one.iterations < slow.iterations


@pytest.mark.filterwarnings("ignore:the task that holds the contacts still")
@pytest.mark.parametrize(
    ("row", "beyond", "status"),
    [
        (0, 1.0, "optimal"),
        (1, 1.0, "optimal"),
        (2, 2e-6, "relaxed"),
        (3, -2e-6, "relaxed"),
        (3, 9e-7, "optimal"),
        (4, 2e-6, "relaxed"),
        (5, 2e-6, "relaxed"),
        (6, 1.0, "optimal"),
    ],
)
def test_loads_beyond_their_bounds_are_not_optimal_whatever_the_solver_says(
    row: int, beyond: float, status: str
) -> None:
    """A solver judges by the size of a row's terms, a certificate by N and N m; equations are no bounds."""

    class Content(Plain):
        def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):
            answer = super().solve(levels, validate=validate, seconds=seconds)
            answer.status, answer.residual = "optimal", np.zeros_like(answer.residual)
            answer.residual[row] = beyond
            return answer

    two, wide = np.array([6, 7]), [1e3, 1e3]
    given = (
        wbc.Rows.between([-1e3, -1e3], wide, acceleration=two),
        wbc.Rows.between([-1e3, -1e3], wide, force=two),
        wbc.Rows.between([-1e3, 0.0], [1e3, 0.0], torque=two),
        wbc.Rows.equal([0.0], torque=np.array([0])),
    )
    robot = wbc.load("quadruped", "numpy")
    levels = [[Given(str(level), rows)] for level, rows in enumerate(given)]
    stack = wbc.Stack([[tasks.EquationOfMotion()], *levels, [tasks.ContactMotion()]], contacts(robot))
    ours = controller(robot, stack, Content(), actuator_limits=False)  # else rows of the actuators come first
    assert ours.step(robot.model.nominal, np.zeros(18)).status == status


@pytest.mark.parametrize("solver", [HierarchicalQP(), HierarchicalQP(compiled=False), Plain(), "sequential-qp"])
def test_a_bound_of_no_width_that_can_not_hold_is_not_optimal(solver: Solver | str) -> None:
    """It is an equation to a solver: what a solver says is no answer to whether every inequality holds."""
    robot = wbc.load("arm", "numpy")
    bound = Given("bound", wbc.Rows.between([1e6], [1e6], acceleration=np.array([5])))
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / bound / tasks.JointAcceleration()
    solution = controller(robot, wbc.Stack(levels), solver).step(robot.model.nominal, np.zeros(7))
    assert solution.status == "relaxed" and "bound does not hold" in str(solution.health)


@pytest.mark.filterwarnings("ignore:the task that holds the contacts still")
@pytest.mark.parametrize("large", [1.0, 1e6, 1e9])
@pytest.mark.parametrize(
    "solver", [HierarchicalQP(), Plain(), WeightedQP(), WeightedQP(compiled=False), "sequential-qp"]
)
def test_large_numbers_elsewhere_hide_no_broken_bound(solver: Solver | str, large: float) -> None:
    """A foot pressed by 10 µN more than it may be, while the force on another one is up to a billion newtons."""
    robot = wbc.load("quadruped", "numpy")
    pressed = Given("pressed", wbc.Rows.equal([50.0, large], force=np.array([2, 5])))
    for beyond, status in ((1e-5, "relaxed"), (-1e-5, "optimal")):
        bound = Given("bound", wbc.Rows.between([0.0], [50.0 - beyond], force=np.array([2])))
        stack = wbc.Stack([[tasks.EquationOfMotion()], [pressed], [bound], [tasks.ContactMotion()]], contacts(robot))
        ours = controller(robot, stack, solver, actuator_limits=False)
        assert ours.step(robot.model.nominal, np.zeros(18)).status == status


@pytest.mark.filterwarnings("ignore:the task that holds the contacts still")
@pytest.mark.parametrize("solver", [HierarchicalQP(), HierarchicalQP(compiled=False), "sequential-qp"])
def test_a_bound_of_no_width_is_a_bound(solver: Solver | str) -> None:
    """As that of a foot that is about to open: at most nothing may press on it. No equation says so, a limit does."""
    robot = wbc.load("quadruped", "numpy")
    first = np.array([2])
    pressed = Given("pressed", wbc.Rows.equal([50.0], force=first))
    for bound, status in ((50.0, "optimal"), (0.0, "relaxed")):
        least = np.array([bound])
        open_soon = Given("open soon", wbc.Rows(least, least.copy(), force=first))
        stack = wbc.Stack(
            [[tasks.EquationOfMotion()], [pressed], [open_soon], [tasks.ContactMotion()]], contacts(robot)
        )
        assert controller(robot, stack, solver).step(robot.model.nominal, np.zeros(18)).status == status


def test_an_answer_is_what_its_solver_says_where_nothing_is_beyond() -> None:
    answer = HierarchicalQP().solve([(np.eye(1), 0.0, 1.0)])
    for said, status in (("optimal", "optimal"), ("relaxed", "relaxed"), ("iteration-limit", "relaxed")):
        answer.status = said
        assert outcome_of(answer, answer.x).status == status


@compiled
def test_the_compiled_solver_stops_in_time_with_its_best_point() -> None:
    ours, q = standing("humanoid", "numpy")
    rng = np.random.default_rng(0)
    states = [moving_state(ours.robot, rng, 0.1, 1.0) for _ in range(5)]
    whole = [ours.step(q, v, 1e-3 * tick) for tick, (q, v) in enumerate(states)]
    hurried, _ = standing("humanoid", "numpy", deadline=1e-6)
    stopped = 0
    for tick, (q, v) in enumerate(states):
        found = hurried.step(q, v, 1e-3 * tick)
        stopped += found.interrupted
        assert found.late and np.isfinite(found.torque).all() and found.certificate.equation_of_motion < 1e-8
        if found.interrupted:
            assert found.status == "relaxed" and "was stopped" in found.explain()
    assert stopped and not any(solution.interrupted for solution in whole)


def test_a_solver_that_fails_says_why() -> None:
    class Raises(Solver):
        def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):
            raise np.linalg.LinAlgError("it did not converge")

    class Wrong(Solver):
        def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):
            return 3

    class Fails(Solver):
        def __init__(self, reason: Exception | None) -> None:
            self.reason = reason

        def solve(self, levels, *, validate: bool = True, seconds: float = np.inf):
            answer = HierarchicalQP().solve(levels)
            answer.x[:] = np.nan
            answer.reason = self.reason
            return answer

    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    for reason, words in ((KeyError("of its own"), "of its own"), (None, "Fails gave no answer")):
        solution = wbc.Controller(robot, stack, Fails(reason)).step(robot.model.nominal, np.zeros(7))
        assert solution.status == "failed" and words in str(solution.reason)
        assert reason is None or solution.reason is reason
    solution = wbc.Controller(robot, stack, Raises()).step(robot.model.nominal, np.zeros(7))
    assert solution.status == "failed" and isinstance(solution.reason, np.linalg.LinAlgError)
    assert solution.explain().endswith("the solver: it did not converge") and not solution.interrupted
    standing = wbc.load("quadruped", "numpy")
    failed = wbc.Controller(standing, tasks.stacks.standing(standing), Raises())
    solution = failed.step(standing.model.nominal, np.zeros(18))
    rest = solution.acceleration @ failed.robot.mass_matrix + failed.robot.bias
    for contact in failed.stack.contacts:
        rest = rest - failed.robot.jacobian(contact.frame)[:3].T @ solution.forces[contact.name]
    np.testing.assert_allclose(rest[:6], 0.0, atol=1e-8, err_msg="what no motor moves is as physics is")
    with pytest.raises(wbc.WbcError, match=r"Wrong\.solve gave 3, not a wbc\.solvers\.Answer"):
        wbc.Controller(robot, stack, Wrong()).step(robot.model.nominal, np.zeros(7))


def test_dynamics_without_numbers_end_in_the_fallback() -> None:
    """No task is at fault: the robot's own numbers are."""

    class Lost(type(wbc.load("arm", "numpy"))):
        @property
        def bias(self) -> np.ndarray:
            return np.full(7, np.nan)

    robot = wbc.load("arm", "numpy")
    for solver in (HierarchicalQP(), Plain()):
        ours, q = arm(Given("a", wbc.Rows.equal([1.0], acceleration=np.array([0]))), solver=solver)
        ours.robot.__class__ = Lost
        solution = ours.step(q, np.zeros(7))
        assert solution.status == "failed" and solution.reason is not None
        assert np.isfinite(solution.torque).all() and (np.abs(solution.torque) <= robot.limits.effort).all()


def test_merged_levels_weigh_what_their_solver_says() -> None:
    """Two levels in one, the upper one with a factor: as two tasks of one level with such weights."""

    class Merged(HierarchicalQP, trades_priorities=True):
        def compiled_plan(self, levels: int, exact: int, posture: int) -> CompiledPlan | None:
            assert (levels, exact, posture) == (2, 1, 1)
            return None if kernel is None else CompiledPlan((0, 0), (9.0, 1.0), 1000, RANK_TOLERANCE)

    robot = wbc.load("arm", "numpy")
    high, low = (
        Given(name, wbc.Rows.equal([goal], acceleration=np.array([0]))) for name, goal in (("h", 1.0), ("l", 0.0))
    )
    found = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / high / low), Merged(), actuator_limits=False)
    if kernel is not None:
        assert found.step(robot.model.nominal, np.zeros(7)).acceleration[0] == pytest.approx(0.9)


def test_reset_forgets_plans_and_all_contacts_may_open() -> None:
    ours, q = standing("quadruped", "numpy")
    first = ours.step(q, np.zeros(18), 0.0)
    ours.reset()
    again = ours.step(q, np.zeros(18), 0.0)
    assert np.allclose(first.torque, again.torque, atol=1e-9)
    ours.stack.open_contact([contact.name for contact in contacts(ours.robot)])
    flying = ours.step(q, np.zeros(18), 1.0)
    robot = ours.robot
    falls = (robot.com_jacobian @ flying.acceleration + robot.com_bias)[2]  # the base may stay, the whole may not
    assert flying.status == "optimal" and falls == pytest.approx(-9.81)
    assert {name: force.tolist() for name, force in flying.forces.items()} == dict.fromkeys(robot.model.feet, [0.0] * 3)
