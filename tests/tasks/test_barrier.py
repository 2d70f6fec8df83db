"""Bounds that hold for all time: any function, and what is near each other."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.collision import CollisionGeometry
from wbc.tasking.stopping import Stopping


def height_of(frame: str, floor: float):
    """How far a frame is above a plane z = floor, for a barrier."""

    def function(robot, tick):
        return robot.pose(frame)[2, 3] - floor, robot.jacobian(frame)[2], robot.jacobian_bias(frame)[2]

    return function


def reaching_below(barrier: wbc.Task | None, period: float, seconds: float = 1.5):
    """Heights of a tool that is asked to go 30 cm below where it is, its accelerations, and the last solution."""
    robot = wbc.load("arm", "pinocchio")
    q, v = np.array(robot.model.nominal), np.zeros(7)
    robot.update(q)
    goal = robot.pose("tool")[:3, 3] - [0.0, 0.0, 0.3]
    levels = tasks.EquationOfMotion() / (tasks.JointLimits() + barrier if barrier else tasks.JointLimits())
    reach = tasks.EndEffectorAcceleration("tool", goal, wbc.Gains(2.0), axes="position")
    controller = wbc.Controller(robot, wbc.Stack(levels / reach / tasks.JointAcceleration()), period=period)
    heights, solution = [], None
    for tick in range(round(seconds / period)):
        robot.update(q)
        heights.append(robot.pose("tool")[2, 3])
        solution = controller.step(q, v, tick * period)
        a = solution.acceleration
        q, v = robot.integrate(q, v + a * (period / 2), period), v + a * period
    return np.array(heights), solution, goal[2]


@pytest.mark.parametrize("period", (1e-3, 5e-3))
def test_a_height_is_kept_for_all_time_and_reached(period: float) -> None:
    free, _, goal = reaching_below(None, period)
    assert free[-1] == pytest.approx(goal, abs=1e-2)
    floor = free[0] - 0.15
    barrier = tasks.Barrier(height_of("tool", floor), 0.5, 4.0, names="height of the tool", name="floor")
    kept, solution, _ = reaching_below(barrier, period)
    inside = 1e-3  # m, where the approach ends: see `Stopping`
    assert (kept >= floor - 2e-5).all() and kept[-1] == pytest.approx(floor + inside, abs=1e-4)
    speed = np.diff(kept) / period
    assert -0.5 - 1e-3 < speed.min() < -0.4  # as fast as it may
    assert np.diff(speed).max() / period < 4.0 * 1.05  # braked as hard as told
    assert any(str(active).startswith("floor: height of the tool") for active in solution.active)


def test_a_start_below_comes_back_smoothly_and_is_told() -> None:
    robot = wbc.load("arm", "pinocchio")
    robot.update(robot.model.nominal)
    floor = robot.pose("tool")[2, 3] + 0.05
    barrier = tasks.Barrier(height_of("tool", floor), name="floor")
    _, first, _ = reaching_below(barrier, 1e-3, seconds=1e-3)
    assert "floor: height 0 is 0.05 beyond its bound and is brought back" in first.explain()
    kept, last, _ = reaching_below(barrier, 1e-3)
    back = int((kept >= floor).argmax())
    assert 0 < back < 1000 and (kept[back:] >= floor - 1e-6).all()
    assert np.abs(np.diff(kept, 2)).max() / 1e-6 < 50.0  # ten times the braking acceleration
    assert "brought back" not in last.explain()


@pytest.mark.parametrize(("height", "least"), [(0.2, 4.0), (0.1, 90.0)])
def test_a_drift_is_followed_where_it_has_to_be(height: float, least: float) -> None:
    robot = wbc.load("arm")
    robot.update(robot.model.nominal)
    # at 1 m/s, where 1.4 and 1.0 m/s could still be stopped, and pulled by 100 m/s²
    falling = tasks.Barrier(lambda *_: (height, np.ones(7), -100.0, -1.0), speed=2.0, braking=4.0)
    assert falling.rows(robot, wbc.Tick(robot)).lower[0] == pytest.approx(least, rel=0.2)


def test_what_moves_by_itself_counts() -> None:
    """A floor that rises with 0.1 m/s takes the tool up with it."""

    def rising(robot, tick):
        h, J, drift = height_of("tool", 0.25 + 0.1 * tick.time)(robot, tick)
        return h, J, drift, J @ robot.v - 0.1

    kept, _, _ = reaching_below(tasks.Barrier(rising), 1e-3)
    floor = 0.25 + 0.1 * 1e-3 * np.arange(len(kept))
    assert kept[0] > 0.37 and (kept - floor).min() > -1e-4 and (kept - floor)[-1] < 2e-3


def test_limits_of_joints_and_barriers_rest_on_the_same_bound() -> None:
    robot, rng = wbc.load("arm", "numpy"), np.random.default_rng(0)
    upper, speeds = robot.limits.upper, robot.limits.velocity

    def room(robot, tick):
        return upper - robot.q, -np.eye(7), np.zeros(7)

    limits, barrier = tasks.JointLimits(), tasks.Barrier(room, speed=1.0, braking=20.0, greatest=500.0)
    for _ in range(50):
        robot.update(rng.uniform(robot.limits.lower, upper), rng.uniform(-1, 0.5, 7))
        tick = wbc.Tick(robot)
        bound = limits.rows(robot, tick).upper
        way, v = upper - robot.q, robot.v
        assert np.allclose(bound, limits._stopping.most(way, v, speeds, 1e-3)) or (bound < 500).any()
        assert np.allclose(
            -barrier.rows(robot, tick).lower, Stopping(20.0, 500.0, 0.05, 4 * np.pi).most(way, v, 1.0, 1e-3)
        )


def test_what_a_tool_may_hit_it_does_not() -> None:
    """A box stands in the way; the tool stops at the margin, and pairs that are far have rows that bound nothing."""
    robot = wbc.load("arm", "pinocchio")
    robot.update(robot.model.nominal)
    at = robot.pose("tool")[:3, 3]
    geometry = CollisionGeometry(robot)
    geometry.add_box("table", (0.6, 0.6, 0.1), at - [0.0, 0.0, 0.25])
    avoid = tasks.CollisionAvoidance(geometry, 0.02)
    heights, solution, _ = reaching_below(avoid, 1e-3)
    assert heights[0] - heights[-1] > 0.1
    nearest = geometry.nearest(solution._state())[0]
    assert "table" in nearest[:2] and nearest.distance == pytest.approx(0.021, abs=1e-4)  # 1 mm within the margin
    assert "and table" in " ".join(str(active) for active in solution.active if active.task == "collision avoidance")
    rows = avoid.rows(robot, wbc.Tick(robot))
    assert len(rows) == avoid.count and np.isinf(rows.lower).sum() > 30


def test_shapes_that_overlap_are_led_apart_and_told() -> None:
    robot = wbc.load("arm", "pinocchio")
    robot.update(robot.model.nominal)
    geometry = CollisionGeometry(robot)
    geometry.add_sphere("ball", 0.05, robot.pose("tool")[:3, 3] + [0.0, 0.0, -0.03])
    _, first, _ = reaching_below(tasks.CollisionAvoidance(geometry), 1e-3, seconds=1e-3)
    assert "and ball overlap by" in first.explain() and "are moved apart" in first.explain()
    _, last, _ = reaching_below(tasks.CollisionAvoidance(geometry), 1e-3)
    assert geometry.nearest(last._state())[0].distance > 0.0199
    assert "are moved apart" not in last.explain()


def test_parts_that_are_never_as_far_apart_as_the_margin_keep_half_of_what_they_have() -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    geometry = CollisionGeometry(robot, "own", shapes=False)
    first, _, last = list(robot.model.bodies)[3:6]
    gap = float(np.linalg.norm(robot.pose(last)[:3, 3] - robot.pose(first)[:3, 3]))
    for body in (first, last):
        geometry.add_sphere(f"ball on {body}", gap / 2 - 0.004, body=body)
    avoid = tasks.CollisionAvoidance(geometry, margin=0.02)
    stack = wbc.Stack(tasks.EquationOfMotion() / avoid / tasks.JointAcceleration())
    with pytest.warns(wbc.WbcWarning, match=r"never 20 mm apart keep half of what they have: ball on .*now 4 mm"):
        controller = wbc.Controller(robot, stack)
    assert avoid.margins() == pytest.approx(0.004)
    solution = controller.step(robot.model.nominal, np.zeros(7))
    assert solution.status == "optimal" and "moved apart" not in solution.explain()


def test_shapes_that_come_are_dodged() -> None:
    robot = wbc.load("arm", "pinocchio")
    q, v = np.array(robot.model.nominal), np.zeros(7)
    robot.update(q)
    geometry, at = CollisionGeometry(robot), robot.pose("tool")[:3, 3].copy()
    geometry.add_sphere("ball", 0.05)
    levels = tasks.EquationOfMotion() / (tasks.JointLimits() + tasks.CollisionAvoidance(geometry))
    controller = wbc.Controller(robot, wbc.Stack(levels / tasks.JointAcceleration(gains=wbc.Gains(1.0))))
    least = np.inf
    for tick in range(1500):
        geometry.move("ball", at + (0.5 - 0.5e-3 * tick) * np.eye(3)[1], (0.0, -0.5, 0.0, 0.0, 0.0, 0.0))
        a = controller.step(q, v, tick * 1e-3).acceleration
        q, v = robot.integrate(q, v + a * 5e-4, 1e-3), v + a * 1e-3
        robot.update(q)
        least = min(least, geometry.nearest(robot)[0].distance)
    assert 0.019 < least < 0.03 and np.linalg.norm(robot.pose("tool")[:3, 3] - at) > 0.05


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tasks.Barrier(3), "barrier: give a function"),
        (lambda: tasks.Barrier(lambda r, t: 1, speed=0.0), "barrier: speed"),
        (lambda: tasks.Barrier(lambda r, t: 1, braking=-1.0), "barrier: braking"),
        (lambda: tasks.Barrier(lambda r, t: 1, braking=5.0, greatest=1.0), "barrier: greatest"),
        (lambda: tasks.CollisionAvoidance("arm"), "collision avoidance: give a wbc.CollisionGeometry"),
        (lambda: tasks.CollisionAvoidance(wbc.load("arm"), margin=-1.0), "collision avoidance: margin"),
        (lambda: tasks.CollisionAvoidance(wbc.load("arm"), rows=0), "rows = 0"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make()


@pytest.mark.parametrize(
    ("gives", "words"),
    [
        (3.0, "must give h, J and drift"),
        ((1.0, np.ones(7)), "must give h, J and drift"),
        ((1.0, np.ones(6), 0.0), r"J must be \(1, 7\)"),
        ((1.0, np.full(7, np.nan), 0.0), "J = .* is not finite"),
        ((np.inf, np.ones(7), 0.0), "h = inf is not finite"),
        ((1.0, np.ones(7), np.zeros(2)), r"drift \(1,\)"),
        (("high", np.ones(7), 0.0), "h = 'high' is not an array of numbers"),
        ((1.0, np.ones(7), 0.0, np.zeros(3)), "h' has shape"),
    ],
)
def test_a_function_that_returns_nonsense_is_named(gives: object, words: str) -> None:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    with pytest.raises(wbc.WbcError, match=f"wall: .*{words}"):
        tasks.Barrier(lambda robot, tick: gives, name="wall").rows(robot, wbc.Tick(robot))


def test_a_geometry_of_another_robot_is_named() -> None:
    geometry = CollisionGeometry(wbc.load("humanoid", "numpy"))
    with pytest.raises(wbc.WbcError, match="which 'arm' does not have"):
        tasks.CollisionAvoidance(geometry).check(wbc.load("arm", "numpy"), {})
    robot = wbc.load("planar_arm", "numpy")
    with pytest.raises(wbc.WbcError, match="has no pairs"):
        tasks.CollisionAvoidance(CollisionGeometry(robot)).check(robot, {})
