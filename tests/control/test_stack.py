"""Stacks: how they are written, read, changed while running, and which mistakes they catch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tasks
import wbc

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")
"""Stacks of equations alone are what many of these tests are about."""


class Simple(wbc.Task):
    """Nothing at all."""

    def rows(self, robot, tick):
        return wbc.Rows.equal(np.zeros(1), acceleration=np.array([0]))


class Nameless(Simple):
    """Somebody forgot something."""

    def __init__(self):
        pass


def some(count: int) -> list[Simple]:
    return [Simple(name) for name in "abcdefg"[:count]]


def names(levels) -> list[list[str]]:
    return [[task.name for task in level] for level in levels.levels]


def test_operators_read_naturally() -> None:
    a, b, c, d, e = some(5)
    assert names(a + b / c) == [["a", "b"], ["c"]]
    assert names(a / b + c) == [["a"], ["b", "c"]]
    assert names(a / b / c) == names(a / (b / c)) == [["a"], ["b"], ["c"]]
    assert names(a + b + c) == names(a + (b + c)) == [["a", "b", "c"]]
    assert names(a + b / c + d / e) == [["a", "b"], ["c", "d"], ["e"]]
    assert names((a / b) + (c / d)) == [["a"], ["b", "c"], ["d"]]
    assert names((a + b) / (c + d) / e) == [["a", "b"], ["c", "d"], ["e"]]
    first = a + b
    assert names(first / c) == [["a", "b"], ["c"]] and names(first / d) == [["a", "b"], ["d"]]
    assert names(first) == [["a", "b"]], "what was written before is not changed"
    assert repr(a + b / c) == "(a + b) / (c)"
    for bad in (lambda: a + 1, lambda: a / "b", lambda: (a + b) / None, lambda: 1 + a):
        with pytest.raises((wbc.WbcError, TypeError)):
            bad()


def test_lists_and_operators_make_the_same_stack() -> None:
    physics, (a, b, c) = tasks.EquationOfMotion(), some(3)
    expected = [["equation of motion"], ["a", "b"], ["c"]]
    for levels in (physics / (a + b) / c, [[physics], [a, b], [c]], [physics, (a, b), c], [physics, a + b, c]):
        stack = wbc.Stack(levels)
        assert names(stack) == expected and len(stack) == 3
        assert stack.names == ("equation of motion", "a", "b", "c")
    assert names(wbc.Stack(physics)) == [["equation of motion"]]
    for bad, words in (
        ([physics, a / b], "one priority"),
        ("physics", "made of tasks"),
        (None, "made of tasks"),
        ([physics, "a"], "made of tasks"),
        ([physics, 7], "made of tasks"),
        ([[physics], [a, 7]], "not of 7"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            wbc.Stack(bad)


def test_tasks_are_found_by_name() -> None:
    left, right = (tasks.EndEffectorAcceleration("base", axes=axes) for axes in ("position", "orientation"))
    stack = wbc.Stack(tasks.EquationOfMotion() / (left + right))
    assert stack["base"] is left and stack["base 2"] is right
    with pytest.raises(wbc.WbcError, match="no task 'bse'; did you mean 'base'"):
        stack["bse"]
    for call in (stack.switch_on, stack.switch_off, lambda name: stack.fade(name, 1.0)):
        with pytest.raises(wbc.WbcError, match="no task 'bse'"):
            call("bse")


def test_tasks_of_one_name_are_numbered() -> None:
    three = [tasks.JointAcceleration(name="mine") for _ in range(3)]
    taken = tasks.JointAcceleration(name="mine 3")
    stack = wbc.Stack([[tasks.EquationOfMotion()], [three[0], taken], three[1:]])
    assert [stack.name_of(task) for task in three] == ["mine", "mine 2", "mine 4"]
    assert stack["mine 3"] is taken and stack["mine 4"] is three[2]


def test_mistakes_are_caught_when_the_stack_is_made() -> None:
    physics, (a, b) = tasks.EquationOfMotion(), some(2)
    foot = wbc.PointContact("LF_foot")
    with pytest.raises(wbc.WbcError, match="no equation of motion.*EquationOfMotion"):
        wbc.Stack(a / b)
    with pytest.raises(wbc.WbcError, match="task 'a' is in the stack twice"):
        wbc.Stack(physics / a / b / a)
    with pytest.raises(wbc.WbcError, match="two contacts are called 'LF_foot'"):
        wbc.Stack(physics / tasks.ContactMotion(), [foot, wbc.PointContact("LF_foot")])
    with pytest.raises(wbc.WbcError, match="PointContact, SurfaceContact or RollingContact"):
        wbc.Stack(physics / tasks.ContactMotion(), ["LF_foot"])
    for bad in ("LF_foot", 3):
        with pytest.raises(wbc.WbcError, match=f"not {bad!r}"):
            wbc.Stack(physics / tasks.ContactMotion(), bad)
    none = wbc.Stack(physics / tasks.ContactMotion() / a)
    with pytest.warns(
        wbc.WbcWarning, match="'quadruped' has a floating base, and .* for 'contact motion'; .*contacts="
    ):
        wbc.Controller(wbc.load("quadruped", "numpy"), none)
    wbc.Controller(wbc.load("arm", "numpy"), wbc.Stack(tasks.EquationOfMotion() / tasks.ContactMotion()))
    with pytest.warns(wbc.WbcWarning, match=r"no task holds the contacts still \(LF_foot\).*ContactMotion"):
        wbc.Stack(physics / a, [foot])
    with pytest.warns(wbc.WbcWarning, match="below 'a'"):
        wbc.Stack(physics / a / tasks.ContactMotion(), [foot])
    wbc.Stack(physics / (tasks.ContactMotion() + tasks.FrictionCones() + tasks.TorqueLimits()) / a, [foot])
    wbc.Stack(physics / tasks.TorqueLimits() / tasks.ContactMotion() / a, [foot])


def test_contacts_whose_forces_nothing_bounds_are_warned_of() -> None:
    physics, foot = tasks.EquationOfMotion(), wbc.PointContact("LF_foot")
    with pytest.warns(wbc.WbcWarning, match=r"no task bounds the forces of the contacts \(LF_foot\)") as told:
        wbc.Stack(physics / tasks.ContactMotion(), foot)
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wbc.Stack(physics / tasks.FrictionCones() / tasks.ContactMotion(), foot)
        wbc.Stack(physics / tasks.ContactMotion())
        wbc.Stack(tasks.ContactVelocity(), foot)


def test_contacts_that_nothing_holds_still_are_told_with_the_task_that_would() -> None:
    foot = wbc.PointContact("LF_foot")
    velocity, physics = tasks.JointVelocity(np.zeros(12)), tasks.EquationOfMotion() / tasks.FrictionCones()
    for levels, proposal in (([[velocity]], "ContactVelocity"), (physics, "ContactMotion")):
        words = rf"no task holds the contacts still \(LF_foot\): add tasks.{proposal}\(\) on a high level"
        with pytest.warns(wbc.WbcWarning, match=words):
            wbc.Stack(levels, foot)


def test_contacts_change_at_once_where_no_duration_is_given() -> None:
    robot = wbc.load("quadruped", "numpy")
    robot.update(robot.model.nominal)
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.ContactMotion(), wbc.PointContact("LF_foot"))
    for change, activation in ((stack.open_contact, 0.0), (stack.close_contact, 1.0)):
        change("LF_foot")
        stack.support.advance(1.0, robot, dict)
        assert stack.support.activation("LF_foot") == activation and not stack.support.moving


@pytest.mark.parametrize(
    ("levels", "contacts", "words"),
    [
        (lambda: tasks.EndEffectorAcceleration("LF_fot"), [], "LF_fot: no frame 'LF_fot'; did you mean 'LF_foot'"),
        (lambda: tasks.EndEffectorAcceleration("base", relative_to="worl"), [], "base: no frame 'worl'.*'world'"),
        (lambda: tasks.CartesianImpedance("bas", 1.0, 1.0), [], "did you mean 'base'"),
        (lambda: tasks.JointAcceleration(joints=["LF_KFEE"]), [], "did you mean 'LF_KFE'"),
        (lambda: tasks.ContactForce("LF_foot", np.zeros(3)), [], "force of LF_foot: no contact 'LF_foot'"),
        (lambda: tasks.ContactMotion(), ["LF_fooot"], "no frame 'LF_fooot'; did you mean 'LF_foot'"),
    ],
)
def test_what_is_not_there_is_named_when_the_controller_is_made(levels: object, contacts: list, words: str) -> None:
    stack = wbc.Stack(tasks.EquationOfMotion() / levels(), [wbc.PointContact(name) for name in contacts])
    with pytest.raises(wbc.WbcError, match=words):
        wbc.Controller(wbc.load("quadruped", "numpy"), stack)


# --- while it runs ---------------------------------------------------------------------------------------------------


def arm(*more: wbc.Task, solver: str = "hierarchical-qp") -> tuple[wbc.Controller, wbc.Stack, np.ndarray, np.ndarray]:
    """An arm with two tools' worth of tasks on one level."""
    robot = wbc.load("arm", "pinocchio")
    q = np.array([0.3, 0.5, -0.2, 1.1, 0.4, -0.6, 0.2])
    stack = wbc.Stack(tasks.EquationOfMotion() / sum(more[1:], start=more[0]) / tasks.JointAcceleration())
    return wbc.Controller(robot, stack, solver), stack, q, np.zeros(7)


def test_fading_a_weight_is_linear_in_time_and_ends_exactly() -> None:
    high, low = (
        tasks.JointAcceleration(np.full(7, goal), gains=wbc.Gains(kp=1.0), name=str(goal)) for goal in (1.0, 0.0)
    )
    controller, stack, q, v = arm(high, low)
    between = controller.step(q, v, 0.0).acceleration
    assert np.allclose(between, 0.5 - q, atol=1e-9)
    stack.fade("1.0", 3.0, duration=0.1)
    for t, weight in ((1.0, 1.0), (1.05, 2.0), (1.05, 2.0), (1.1, 3.0), (2.0, 3.0)):
        found = controller.step(q, v, t).acceleration
        assert high.weight == pytest.approx(weight) and np.allclose(found, weight / (weight + 1) - q, atol=1e-8)
    stack.fade("1.0", 0.0, duration=0.0)
    assert np.allclose(controller.step(q, v, 2.1).acceleration, -q, atol=1e-8)
    for bad in ((-1.0, 0.1), (np.nan, 0.1), (np.inf, 0.1), (1.0, -0.1), (1.0, np.nan)):
        with pytest.raises(wbc.WbcError, match="the (weight of|duration for) '1.0'"):
            stack.fade("1.0", *bad)
    with pytest.raises(wbc.WbcError, match="physics always holds"):
        stack.switch_off("equation of motion")


def test_switching_off_and_on_is_smooth_and_complete() -> None:
    far = tasks.EndEffectorAcceleration("tool", gains=wbc.Gains(2.0), axes="position", name="far")
    controller, stack, q, v = arm(far)
    robot = wbc.load("arm", "pinocchio")
    far.target = _at(robot, q).pose("tool")[:3, 3] + [0.1, -0.1, 0.1]  # 27 m/s² away
    most = 2 * controller.robot.limits.effort
    whole = controller.step(q, v, 0.0)
    stack.switch_off("far", duration=0.3)
    torques = [controller.step(q, v, 1.0 + k * 1e-3).torque for k in range(320)]
    alone = controller.step(q, v, 1.5)
    assert "far" not in alone.levels[1].residual and np.abs(alone.acceleration).max() < 1e-9
    assert stack.presence("far") == 0.0 and "(0% on)" in str(stack)
    stack.switch_on("far", duration=0.3)
    torques += [controller.step(q, v, 2.0 + k * 1e-3).torque for k in range(320)]
    assert stack.presence("far") == 1.0 and not stack.schedule.partial
    assert np.allclose(controller.step(q, v, 3.0).torque, whole.torque, atol=1e-8)
    assert (np.abs(np.diff(torques, axis=0)) / most).max() < 0.02
    assert np.abs(torques[319] - whole.torque).max() > 1.0  # it had something to do


def test_a_place_to_hold_is_the_one_where_the_task_is_switched_on() -> None:
    hold = tasks.EndEffectorAcceleration("tool", name="hold")
    controller, stack, q, v = arm(hold)
    controller.step(q, v, 0.0)
    stack.switch_off("hold")
    controller.step(q + 0.1, v, 0.5)
    stack.switch_on("hold")
    moved = q + 0.2
    solution = controller.step(moved, v, 1.0)
    assert np.abs(solution.levels[1].residual["hold"]).max() < 1e-9
    assert not hold.error(controller.robot, wbc.Tick(controller.robot)).any()


def test_reset_ends_fades_where_they_lead_to() -> None:
    a, b = tasks.EndEffectorAcceleration("tool", name="a"), tasks.CenterOfMass(name="b")
    controller, stack, q, v = arm(a, b)
    stack.fade("a", 5.0, 1.0)
    stack.switch_off("b", 1.0)
    controller.step(q, v, 0.0)
    controller.step(q, v, 0.5)
    controller.reset()
    assert a.weight == 5.0 and stack.presence("b") == 0.0
    controller.step(q, v, 0.0)
    assert a.weight == 5.0


def test_reset_reaches_every_task() -> None:
    class Forgetful(tasks.JointAcceleration):
        resets = 0

        def reset(self) -> None:
            self.resets += 1

    two = [Forgetful(name="one"), Forgetful(name="two")]
    stack = wbc.Stack([[tasks.EquationOfMotion(), two[0]], two[1:]])
    stack.reset()
    assert [task.resets for task in two] == [1, 1]


def test_a_fade_takes_no_more_than_a_billion_seconds() -> None:
    task = tasks.JointAcceleration(name="mine")
    stack = wbc.Stack([[tasks.EquationOfMotion()], [task]])
    for fade, words in (
        (lambda: stack.fade_gains("mine", wbc.Gains(3.0), 1.5e9), "the duration for 'mine', s, = 1500000000.0"),
        (lambda: stack.fade("mine", 2.0, 1.5e9), "the duration for 'mine', s, = 1500000000.0"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            fade()


def test_printing_shows_levels_rows_and_what_is_off() -> None:
    robot = wbc.load("quadruped", "numpy")
    feet = [wbc.PointContact(foot) for foot in robot.model.feet]
    hard = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    stack = wbc.Stack(
        tasks.EquationOfMotion() / hard / tasks.EndEffectorAcceleration("base", weight=3.0, tolerance=0.1), feet
    )
    controller = wbc.Controller(robot, stack)
    stack.open_contact("RF_foot")
    controller.step(robot.model.nominal, np.zeros(robot.nv))
    lines = str(controller).splitlines()
    text = {task.name: next(line for line in lines if task.name in line) for task in stack}
    assert text["torque limits"].startswith(" 1") and "12 ≤" in text["torque limits"]
    assert "9 =" in text["contact motion"] and "15 ≤" in text["friction cones"]
    assert "6 ≤" in text["base"] and "weight 3" in text["base"] and "held" in text["base"]
    assert "LF_foot 100%, RF_foot 0%" in str(stack)
    assert repr(stack).startswith("Stack((equation of motion) / (torque limits + friction cones + contact motion)")


def test_a_tolerance_makes_a_band_of_an_equation() -> None:
    near = tasks.JointAcceleration(np.full(7, 1.0), gains=wbc.Gains(kp=1.0), tolerance=0.25, name="near")
    robot = wbc.load("arm", "pinocchio")
    A, lower, upper = near.matrices(_at(robot, np.zeros(7)), wbc.Tick(robot))
    assert np.allclose(lower, 0.75) and np.allclose(upper, 1.25) and np.array_equal(A[:, :7], np.eye(7))
    zero = tasks.AccelerationMinimization()
    stack = wbc.Stack(tasks.EquationOfMotion() / near / zero)
    ours = wbc.Controller(robot, stack, "hierarchical-qp")
    assert np.allclose(ours.step(np.zeros(7), np.zeros(7)).acceleration, 0.75, atol=1e-8)
    each = tasks.JointAcceleration(np.full(7, 1.0), gains=wbc.Gains(kp=1.0), tolerance=np.linspace(0, 0.6, 7))
    stack = wbc.Stack(tasks.EquationOfMotion() / each / tasks.AccelerationMinimization())
    found = wbc.Controller(robot, stack, "hierarchical-qp").step(np.zeros(7), np.zeros(7)).acceleration
    assert np.allclose(found, 1.0 - np.linspace(0, 0.6, 7), atol=1e-8)


def test_weights_by_task_and_by_row_multiply_squared_residuals() -> None:
    def pull(goal: float, weights: list[float] | None) -> wbc.Rows:
        return wbc.Rows.equal(
            np.full(7, goal), acceleration=np.eye(7), weights=None if weights is None else np.array(weights)
        )

    first = tasks.Rows(pull(1.0, [1, 2, 3, 4, 5, 6, 0]), name="first", weight=2.0)
    second = tasks.Rows(lambda robot, tick: pull(0.0, None), name="second")
    controller, _, q, v = arm(first, second)
    w = 2.0 * np.array([1, 2, 3, 4, 5, 6, 0])
    assert np.allclose(controller.step(q, v).acceleration, w / (w + 1), atol=1e-8)


def _at(robot, q):
    robot.update(q)
    return robot


# --- a user's own ----------------------------------------------------------------------------------------------------


class Level(wbc.Task):
    """A tray stays level: the frame's z axis goes to the vertical."""

    def __init__(self, frame: str) -> None:
        super().__init__(f"level {frame}")
        self.frame = frame

    def rows(self, robot, tick):
        J, bias, z = robot.jacobian(self.frame), robot.jacobian_bias(self.frame), robot.pose(self.frame)[:3, 2]
        wanted = 100.0 * np.cross(z, [0, 0, 1]) - 20.0 * robot.twist(self.frame)[3:]
        return wbc.Rows.equal((wanted - bias[3:])[:2], acceleration=J[3:5])


def test_a_users_own_task_in_ten_lines() -> None:
    own = Level("tool")
    controller, stack, q, v = arm(own)
    robot = wbc.load("arm", "pinocchio")
    for k in range(1500):
        a = controller.step(q, v, k * 1e-3).acceleration
        q, v = robot.integrate(q, v + a * 5e-4, 1e-3), v + a * 1e-3
    robot.update(q)
    assert robot.pose("tool")[2, 2] > 1 - 1e-4
    assert repr(own) == "<Level 'level tool': a tray stays level: the frame's z axis goes to the vertical>"
    assert "level tool" in str(stack)


class Wrong(wbc.Task):
    """Something else."""

    def rows(self, robot, tick):
        return 1, 2


def test_rows_that_are_wrong_are_named() -> None:
    robot = wbc.load("arm", "numpy")
    tick = wbc.Tick(_at(robot, np.zeros(7)))
    for rows, words in (
        (wbc.Rows.equal(np.zeros(2), acceleration=np.eye(3)), "acceleration block has shape"),
        (wbc.Rows.equal(np.zeros(2), torque=np.array([0, 7])), "torque indices"),
        (wbc.Rows.equal(np.full(7, np.nan), torque=np.eye(7)), "not a number"),
        (wbc.Rows.between(np.ones(7), np.zeros(7), torque=np.eye(7)), "above its upper"),
        (wbc.Rows.between(np.ones(7), np.zeros(6), torque=np.eye(7)), "alike"),
        (wbc.Rows.equal(np.zeros(7), torque=np.full((7, 7), np.inf)), "not finite"),
        (wbc.Rows.equal(np.zeros(7), torque=np.eye(7), weights=-np.ones(7)), "weights"),
    ):
        with pytest.raises(wbc.WbcError, match=f"mine: .*{words}"):
            tasks.Rows(rows, name="mine").matrices(robot, tick)
        with pytest.raises(wbc.WbcError, match=f"mine: .*{words}"):
            arm(tasks.Rows(rows, name="mine"))[0].step(np.zeros(7), np.zeros(7))
    flat = tasks.Rows(wbc.Rows.equal(0.0, acceleration=np.ones(7)), name="mine")
    with pytest.raises(wbc.WbcError, match=r"mine: the acceleration block .*matrix .*\(1, 7\)"):
        flat.matrices(robot, tick)
    with pytest.raises(wbc.WbcError, match="what the rows are held to = 'x' is not an array"):
        wbc.Rows.equal("x", acceleration=np.ones((1, 7)))
    with pytest.raises(wbc.WbcError, match="posture: tolerance = 'x' is not an array of numbers"):
        tasks.JointAcceleration(tolerance="x")
    with pytest.raises(wbc.WbcError, match=r"a Nameless has no name: .*super\(\).__init__\(name\)"):
        wbc.Stack(tasks.EquationOfMotion() / Nameless())
    with pytest.raises(wbc.WbcError, match="posture: tolerance has 2 values; it needs one, or 7"):
        arm(tasks.JointAcceleration(tolerance=[0.1, 0.2]))[0].step(np.zeros(7), np.zeros(7))
    with pytest.raises(wbc.WbcError, match=r"mine: rows\(\) must give a wbc\.Rows, not \(1, 2\)"):
        arm(Wrong("mine"))[0].step(np.zeros(7), np.zeros(7))
    with pytest.raises(wbc.WbcError, match=r"mine: give a wbc\.Rows"):
        tasks.Rows(np.eye(3), name="mine")
    with pytest.raises(wbc.WbcError, match="mine: its function gave None"):
        tasks.Rows(lambda robot, tick: None, name="mine").matrices(robot, tick)


def test_a_fade_asked_for_in_every_tick_still_ends() -> None:
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    for tick in range(60):
        stack.switch_off("posture", duration=0.05)
        stack.fade("posture", 3.0, duration=0.05)
        stack.schedule.advance(1e-3 * tick)
    assert stack.presence("posture") == 0.0
    assert stack["posture"].weight == 3.0


def test_a_controller_is_printed_before_its_first_tick() -> None:
    """Its robot may have been in some state before; contacts are not held anywhere yet."""
    robot = wbc.load("quadruped")
    robot.update(robot.model.nominal, np.zeros(robot.nv))
    stack = tasks.stacks.standing(robot)
    controller = wbc.Controller(robot, stack)
    assert "contact motion" in str(controller)
    controller.step(robot.model.nominal, np.zeros(robot.nv))
    assert "12 =" in str(controller)
    controller.reset()
    assert "contact motion" in str(controller)
