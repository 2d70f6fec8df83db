"""What walks is made of, without a simulation: pendulum, schedules, footsteps, swings, step adaptation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import wbc
from tasks.locomotion import (
    CommandedSteps,
    DivergentPlanner,
    Footstep,
    Gait,
    Interval,
    ListedSteps,
    Moment,
    Piece,
    Plan,
    PushEstimate,
    Schedule,
    StepAdaptation,
    Walk,
    ZeroMomentTracker,
)
from tasks.locomotion.pendulum import before
from tasks.locomotion.possible import possible_steps
from tasks.locomotion.soles import Soles
from tasks.locomotion.swing import Swing
from tasks.locomotion.tracking import hull, nearest
from wbc.simulation import stairs

OMEGA = 3.3
BIPED = Schedule.in_turn([("left",), ("right",)], 0.35, 0.1)
PLACES = {"left": np.array([0.0, 0.1]), "right": np.array([0.0, -0.1])}


def test_the_divergent_component_before_a_piece_is_what_integration_says() -> None:
    piece, xi = Piece(np.array([0.1, -0.2]), np.array([0.3, 0.1]), 0.4), np.array([0.5, 0.2])
    start = before(xi, piece, OMEGA)
    steps, state = 20000, start.copy()
    dt = piece.duration / steps
    for k in range(steps):
        zmp = piece.start + (piece.end - piece.start) * (k + 0.5) / steps
        state = state + dt * OMEGA * (state + 0.5 * dt * OMEGA * (state - zmp) - zmp)
    np.testing.assert_allclose(state, xi, atol=1e-6)


def test_a_plan_within_its_first_piece_obeys_the_pendulum() -> None:
    pieces = [Piece(np.zeros(2), np.array([0.1, 0.0]), 0.1), Piece(np.array([0.1, 0.0]), np.array([0.1, 0.0]), 0.4)]
    plan, h = Plan(2.0, pieces, OMEGA), 1e-6
    for t in (2.01, 2.05, 2.09):
        xi, zmp = plan.at(t)
        rate = (plan.at(t + h)[0] - plan.at(t - h)[0]) / (2 * h)
        np.testing.assert_allclose(rate, OMEGA * (xi - zmp), atol=1e-6)


def test_phases_and_feet_in_turn_are_the_same_schedule() -> None:
    phases = {"a": (0.1, 0.5), "b": (0.6, 1.0)}
    by_phases = Schedule.of_phases(phases, 0.5)
    in_turn = Schedule.in_turn([("a",), ("b",)], 0.2, 0.05)
    assert [interval.air for interval in by_phases.intervals] == [(), ("a",), (), ("b",)]
    for one, other in zip(by_phases.intervals, in_turn.intervals, strict=True):
        assert one.air == other.air and one.duration == pytest.approx(other.duration)
    assert by_phases.stance("a") == pytest.approx(0.3) and by_phases.swing("b") == pytest.approx(0.2)


def test_a_foot_may_be_in_the_air_over_the_end_of_a_cycle() -> None:
    schedule = Schedule.of_phases({"a": (0.8, 0.2), "b": (0.3, 0.7)}, 1.0)
    assert schedule.swing("a") == pytest.approx(0.4) and schedule.intervals[0].air == ()


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ({"a": (0.2, 0.2)}, "two different shares"),
        ({"a": (0.2, 1.4)}, "two different shares"),
        ({"a": (0.0, 1.0)}, "two different shares"),
    ],
)
def test_phases_that_are_none_are_refused(phases: dict, message: str) -> None:
    with pytest.raises(wbc.WbcError, match=message):
        Schedule.of_phases(phases, 0.5)


def test_a_schedule_without_steps_is_refused() -> None:
    with pytest.raises(wbc.WbcError, match="no foot steps"):
        Schedule([Interval(0.1, ())])
    with pytest.raises(wbc.WbcError, match="'a' is never on the ground"):
        Schedule([Interval(0.1, ("a",))])


def moment(feet: dict, command, index: int, heading: float = 0.0, place=None) -> Moment:
    """The beginning of an interval of the biped's schedule."""
    ahead = BIPED.ahead(index, BIPED.intervals[index].duration, 1.5)
    standing = tuple(foot for foot in feet if foot not in ahead[0].air)
    com = np.array([0.0, 0.0, 0.9])
    rate = np.asarray(command, dtype=float)
    return Moment(0.0, rate, heading, place, com, np.zeros(3), OMEGA, feet, standing, ahead)


def walked(command: tuple[float, float, float], steps: int) -> tuple[list[Footstep], float]:
    """Steps that are planned one after the other, each from where the last one landed; and the time of one."""
    planner = CommandedSteps(BIPED, PLACES, apart=0.12, homing=(0.0, 0.0))
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in PLACES.items()}
    found, period, heading = [], BIPED.period / 2, 0.0
    for k in range(steps):
        index = (2 * k) % 4
        now = moment(feet, command, index, heading, np.zeros(2))
        step = planner.steps(now)[0]
        feet = {**feet, step.foot: step}
        found.append(step)
        heading += command[2] * period
    return found, period


@pytest.mark.parametrize("command", [(0.5, 0.0, 0.0), (0.0, 0.15, 0.0), (0.3, -0.1, 0.0)])
def test_steps_go_as_fast_as_the_command_says(command: tuple[float, float, float]) -> None:
    steps, period = walked(command, 12)
    way = steps[11].position - steps[9].position  # of the same foot
    np.testing.assert_allclose(way[:2], 2 * period * np.array(command[:2]), atol=1e-9)
    gaps = [abs(a.position[1] - b.position[1]) for a, b in pairwise(steps[4:])]
    assert min(gaps) > 0.12 - 1e-9


def test_steps_turn_as_fast_as_the_command_says() -> None:
    steps, period = walked((0.2, 0.0, 0.4), 14)
    assert steps[13].yaw - steps[11].yaw == pytest.approx(2 * period * 0.4)
    ways = [b.position - a.position for a, b in zip(steps[8:], steps[10:], strict=False)]
    angles = np.unwrap([np.arctan2(way[1], way[0]) for way in ways])
    np.testing.assert_allclose(np.diff(angles), 0.4 * period, atol=1e-3)
    speeds = [np.hypot(*way[:2]) / (2 * period) for way in ways]  # the inner foot goes slower, the outer one faster
    np.testing.assert_allclose(sorted(speeds)[::3], [0.2 - 0.4 * 0.1, 0.2 + 0.4 * 0.1], rtol=0.01)


def test_steps_make_up_for_the_way_to_the_place_that_was_commanded() -> None:
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in PLACES.items()}
    planner = CommandedSteps(BIPED, PLACES, homing=(0.2, 0.04))
    here, there = (planner.steps(moment(feet, np.zeros(3), 0, 0.0, np.array(at)))[0] for at in ((0, 0), (0.1, 0)))
    assert (there.position - here.position)[0] == pytest.approx(0.02)
    far = planner.steps(moment(feet, np.zeros(3), 0, 0.0, np.array([5.0, 0.0])))[0]
    assert (far.position - here.position)[0] == pytest.approx(0.04)


def test_a_step_has_no_room_into_the_other_foot() -> None:
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in PLACES.items()}
    planner = CommandedSteps(BIPED, PLACES, apart=0.12, reach=(0.4, 0.3))
    low, high = planner.room(moment(feet, np.zeros(3), 1, 0.0, np.zeros(2)), feet["left"])
    np.testing.assert_allclose(low, [-0.4, -0.08])
    np.testing.assert_allclose(high, [0.4, 0.3])


def test_the_zero_moment_point_goes_from_foot_to_foot_while_both_stand() -> None:
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in PLACES.items()}
    now = moment(feet, np.zeros(3), 1, 0.0, np.zeros(2))  # the left foot is in the air
    steps = CommandedSteps(BIPED, PLACES).steps(now)
    plan = DivergentPlanner().plan(now, steps, None)
    ends = [tuple(piece.end) for piece in plan.pieces[:4]]
    assert ends == [(0.0, -0.1), (0.0, 0.1), (0.0, 0.1), (0.0, -0.1)]
    for one, two in pairwise(plan.pieces):
        np.testing.assert_allclose(one.end, two.start)
    # in place, the divergent component at the end of a step is w / (1 + exp(ω T)) inside the foot that it was on
    single = Schedule.in_turn([("left",), ("right",)], 0.45, 1e-6)
    ahead = single.ahead(1, 0.45, 3.0)
    now = Moment(0.0, np.zeros(3), 0.0, np.zeros(2), np.zeros(3), np.zeros(3), OMEGA, feet, ("right",), ahead)
    plan = DivergentPlanner().plan(now, CommandedSteps(single, PLACES).steps(now), None)
    assert plan.at(0.0)[0][1] - (-0.1) == pytest.approx(0.2 / (1 + np.exp(OMEGA * 0.45)), rel=1e-2)


def test_what_is_needed_at_landing_goes_along_with_a_shift_of_the_steps() -> None:
    """`Plan.share`, by finite differences."""
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in PLACES.items()}
    now = moment(feet, np.zeros(3), 1, 0.0, np.zeros(2))
    steps = CommandedSteps(BIPED, PLACES).steps(now)
    plan, moved = (DivergentPlanner().plan(now, [s.shifted((d, 0)) for s in steps], None) for d in (0.0, 0.1))
    grows = np.exp(OMEGA * now.ahead[0].duration)
    assert (moved.divergent - plan.divergent)[0] * grows == pytest.approx(0.1 * plan.share, rel=1e-6)
    assert 0.7 < plan.share < 0.9


def test_a_push_shifts_the_step_by_what_it_will_have_grown_to() -> None:
    adaptation = StepAdaptation(off=1e6, time=1e4)
    away, nominal = np.array([0.15, 0.02]), 0.2
    sigma = np.exp(OMEGA * nominal)
    needed = np.array([0.1, 0.02]) * sigma
    room = np.full(2, -0.4), np.full(2, 0.4)
    found = adaptation.adapt(away, needed, 0.8, OMEGA, nominal, (0.1, 0.4), room)
    assert found is not None
    np.testing.assert_allclose(found.shift, [0.05 * sigma / 0.8, 0.0], atol=1e-3)
    assert found.left == pytest.approx(nominal, abs=1e-3)
    sooner = StepAdaptation(off=1e6, time=0.1).adapt(away, needed, 0.8, OMEGA, nominal, (0.1, 0.4), room)
    assert sooner is not None and sooner.left < nominal - 0.02 and sooner.shift[0] < found.shift[0]
    narrow = adaptation.adapt(away, needed, 0.8, OMEGA, nominal, (0.1, 0.4), (np.full(2, -0.05), np.full(2, 0.05)))
    assert narrow is not None and abs(narrow.shift[0]) <= 0.05 + 1e-6


def test_a_deviation_that_the_next_feet_take_away_costs_no_step() -> None:
    adaptation = StepAdaptation(off=1e6, time=1e4)
    away, nominal = np.array([0.1, 0.15]), 0.2
    sigma = np.exp(OMEGA * nominal)
    needed, room = np.array([0.1, 0.1]) * sigma, (np.full(2, -0.4), np.full(2, 0.4))
    line = 0.05 * np.array([[1.0], [1.0]])  # the next feet stand on it
    given = (away, needed, 1.0, OMEGA, nominal, (0.1, 0.4), room)
    whole, less = adaptation.adapt(*given), adaptation.adapt(*given, line)
    assert whole is not None and less is not None
    np.testing.assert_allclose(whole.shift, [0.0, 0.05 * sigma], atol=1e-3)
    off = away * sigma - needed - less.shift  # lies on the line, within its ends, and leaves the smallest shift
    assert off[0] == pytest.approx(off[1], abs=1e-4) and abs(off[0]) <= 0.05 + 1e-6
    assert np.linalg.norm(less.shift) < 0.75 * np.linalg.norm(whole.shift)


def test_a_push_is_told_from_what_was_asked_for() -> None:
    push, dt, wanted, velocity = PushEstimate(memory=0.5), 1e-3, np.array([0.5, 0.0]), np.zeros(2)
    for _ in range(300):  # nothing pushes
        push.update(velocity, wanted, OMEGA, dt)
        velocity = velocity + dt * wanted
    np.testing.assert_allclose(push.acceleration, 0.0, atol=1e-9)
    assert push.recent == 0.0 and not push.ahead(0.2, OMEGA).any()
    for _ in range(300):
        push.update(velocity, wanted, OMEGA, dt)
        velocity = velocity + dt * (wanted + np.array([0.0, 3.0]))
    np.testing.assert_allclose(push.acceleration, [0.0, 3.0], atol=2e-2)
    assert push.recent == 1.0
    e, p = np.zeros(2), np.zeros(2)  # the divergent component when a foot lands, with and without 0.1 s of push
    for k in range(200):
        e = e + dt * (OMEGA * e + np.array([0.0, 3.0]) / OMEGA * (k < 100))
    p = push.ahead(0.2, OMEGA) * np.exp(OMEGA * 0.2)
    np.testing.assert_allclose(p, e, rtol=0.02, atol=1e-6)
    for _ in range(900):
        push.update(velocity, wanted, OMEGA, dt)
        velocity = velocity + dt * wanted
    assert push.recent == 0.0


def test_the_support_is_a_hull_and_its_nearest_point_is_near() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(12, 2))
    corners = hull(points)
    edges = np.roll(corners, -1, axis=0) - corners
    for p in points:  # all inside
        assert (edges[:, 0] * (p - corners)[:, 1] - edges[:, 1] * (p - corners)[:, 0] >= -1e-9).all()
    around = [a + s * e for a, e in zip(corners, edges, strict=True) for s in np.linspace(0, 1, 400)]
    for p in 3 * rng.normal(size=(30, 2)):
        found = nearest(corners, p)
        if np.allclose(found, p):
            continue
        least = min(float(np.linalg.norm(p - q)) for q in around)
        assert np.linalg.norm(found - p) == pytest.approx(least, abs=1e-2)
    np.testing.assert_allclose(nearest(hull(np.array([[0.0, 0], [1, 0]])), np.array([0.3, 2.0])), [0.3, 0.0])


def test_an_error_moves_the_zero_moment_point_beyond_it_inside_the_soles() -> None:
    tracker, square = ZeroMomentTracker(gain=OMEGA), np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
    com = np.array([0.02, 0.0, 0.9])
    a = tracker.acceleration(com, np.zeros(3), np.zeros(2), np.zeros(2), square, OMEGA)
    np.testing.assert_allclose(tracker.zmp, [0.04, 0.0])
    np.testing.assert_allclose(a, OMEGA**2 * (com[:2] - tracker.zmp))
    tracker.acceleration(np.array([0.2, 0.0, 0.9]), np.zeros(3), np.zeros(2), np.zeros(2), square, OMEGA)
    np.testing.assert_allclose(tracker.zmp, [0.1, 0.0])


def test_a_foot_lands_at_rest_where_it_is_told_though_that_changes() -> None:
    start = Footstep("left", np.array([0.0, 0.1, 0.0]))
    swing, dt = Swing(start, np.eye(3), 0.05), 1e-3
    goal, heights, speeds = Footstep("left", np.array([0.2, 0.1, 0.03]), 0.1), [], [np.zeros(4)]
    for k in range(350):
        if k == 150:
            goal = goal.shifted((0.1, -0.02))
        before_ = swing.state.copy()
        swing.advance(goal, 0.35 - (k + 1) * dt, dt)
        heights.append(swing.state[0, 2])
        speeds.append(swing.state[1])
        np.testing.assert_allclose(swing.state[0] - before_[0], dt * (swing.state[1] + before_[1]) / 2, atol=2e-5)
    np.testing.assert_allclose(swing.state[0], [0.3, 0.08, 0.03, 0.1], atol=2e-3)
    np.testing.assert_allclose(swing.state[1], [0.0, 0.0, -0.1, 0.0], atol=1e-3)
    assert 0.075 < max(heights) < 0.085
    for k in range(200):  # the ground comes late: it is looked for faster and faster
        swing.advance(goal, 0.0, dt)
        if k == 9:
            assert swing.state[0, 2] == pytest.approx(0.03 - 0.001, abs=3e-4)
        assert -0.6 <= swing.state[1, 2] <= -0.1
    searched = 0.1 * 0.015 + 0.35 * 0.1 + 0.6 * 0.085  # at first, while its speed grows, at its greatest speed
    assert swing.state[0, 2] == pytest.approx(0.03 - searched, abs=2e-3)


@pytest.mark.parametrize("climb", [0.08, -0.08])
def test_a_foot_clears_the_edge_of_a_step(climb: float) -> None:
    """Up, it rises first; down, it is over its place before it sinks."""
    path = {}
    for height in (climb, 0.0):
        swing, goal = Swing(Footstep("left", np.zeros(3)), np.eye(3), 0.05), np.array([0.3, 0.0, height])
        found = []
        for k in range(350):
            swing.advance(Footstep("left", goal), 0.35 - (k + 1) * 1e-3, 1e-3)
            found.append(swing.state[0, [0, 2]])
        path[height] = np.array(found)
        np.testing.assert_allclose(found[-1], [0.3, height], atol=2e-3)
    x, z = path[climb].T
    over = (x > 0.01) & (x < 0.29)
    assert z[over].min() > max(climb, 0.0) - 0.04 * (climb > 0)
    level = path[0.0][:, 0]
    assert np.argmax(x > 0.01) > np.argmax(level > 0.01) + 10 or np.argmax(x > 0.29) < np.argmax(level > 0.29) - 10


def test_footsteps_keep_off_edges() -> None:
    terrain, sole = stairs(0.3, 0.08, 0.35, 3), np.array([0.22, 0.1])
    planner = CommandedSteps(BIPED, PLACES, terrain=terrain, soles={"left": sole}, homing=(0.0, 0.0))
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in PLACES.items()}
    for x in np.linspace(0.2, 1.2, 41):
        now = moment(feet, (0.0, 0.0, 0.0), 2, place=np.zeros(2))
        step = planner._on_the_ground(now, "left", np.array([x, 0.1]), 0.0, feet)
        ends = step.position[0] + np.linspace(-0.129, 0.129, 30)
        assert np.ptp([terrain.height((end, 0.1)) for end in ends]) < 1e-9, (x, step.position)


def test_soles_know_where_they_are_whatever_their_frames_are() -> None:
    robot = wbc.load("humanoid", "numpy")
    soles = Soles(robot, tuple(robot.model.feet))
    robot.update(robot.model.nominal)
    for foot in robot.model.feet:
        step = soles.step(robot, foot)
        np.testing.assert_allclose(step.rotation, np.eye(3), atol=1e-9)
        np.testing.assert_allclose(step.position[2], 0.0, atol=1e-6)
    corners = soles.support(robot, tuple(robot.model.feet), 1.0)
    assert np.ptp(corners[:, 1]) == pytest.approx(0.19 + 0.1, abs=1e-6)


def test_a_listed_walk_takes_its_steps_in_turn() -> None:
    robot = wbc.load("humanoid", "numpy")
    walk = Walk(robot)
    steps = [Footstep("left_foot", np.array([0.1, 0.1, 0.0])), Footstep("right_foot", np.array([0.2, -0.1, 0.0]))]
    walk.footsteps = steps
    assert isinstance(walk.planner, ListedSteps)
    with pytest.raises(wbc.WbcError, match="'left_foot' steps twice"):
        walk.footsteps = [steps[0], steps[0]]
    with pytest.raises(wbc.WbcError, match="'nose' is not a foot of this walk"):
        walk.footsteps = [Footstep("nose", np.zeros(3))]
    with pytest.raises(wbc.WbcError, match="Footstep objects, not 3"):
        walk.footsteps = [3]


def test_a_walk_and_a_gait_say_what_they_need() -> None:
    humanoid, quadruped = wbc.load("humanoid", "numpy"), wbc.load("quadruped", "numpy")
    with pytest.raises(wbc.WbcError, match="two feet with soles; 'quadruped' has 0"):
        Walk(quadruped)
    with pytest.raises(wbc.WbcError, match="three feet or more; 'humanoid' has 2"):
        Gait(humanoid)
    with pytest.raises(wbc.WbcError, match="no gait 'trott'; did you mean 'trot'"):
        Gait(quadruped, "trott")
    with pytest.raises(wbc.WbcError, match="no foot 'LF_fot'; did you mean 'LF_foot'"):
        Gait(quadruped, {"LF_fot": (0.1, 0.5)})
    with pytest.raises(wbc.WbcError, match="three finite numbers"):
        Walk(humanoid).command = (1.0, 0.0)
    with pytest.raises(wbc.WbcError, match="needs a robot of wbc.load, not 'humanoid'"):
        Walk("humanoid")


def test_a_command_beyond_the_legs_is_said_and_bounded() -> None:
    walk = Walk(wbc.load("humanoid", "numpy"))
    with pytest.warns(wbc.WbcWarning, match=r"a command of 3 forward is more than the legs of 'humanoid' can reach"):
        walk.command = (3.0, 0.0, 0.0)
    assert 0.5 < walk.limits[0] < 1.0
    assert "a command of 3 forward" in walk.trouble
    walk.command = (0.3, 0.0, 0.0)
    assert not walk.trouble


class Given:
    """A planner that has these steps."""

    def __init__(self, steps: list) -> None:
        self.given = steps

    def steps(self, moment: Moment) -> list:
        return self.given

    def room(self, moment: Moment, step: Footstep) -> tuple:
        return np.zeros(2), np.zeros(2)


def test_a_step_that_a_planner_has_not_or_that_can_not_be_made_is_named_and_made_as_usual() -> None:
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in PLACES.items()}
    usual, now = CommandedSteps(BIPED, PLACES, apart=0.12), moment(feet, (0.0, 0.0, 0.0), 0, place=np.zeros(2))
    first, *rest = usual.steps(now)
    for given, words in (
        ([], f"the planner 'Given' has no step for {first.foot!r}"),
        ([None, *rest], f"the planner 'Given' has no step for {first.foot!r}"),
        (["there", *rest], "which is no Footstep"),
        ([*rest, *rest], f"but {first.foot!r} lands then"),
        ([first.shifted((np.nan, 0.0)), *rest], "not finite"),
        ([first.shifted((0.9, 0.0)), *rest], "that is 0.90 m from its place beside the other feet; they reach 0.4"),
    ):
        found, trouble = possible_steps(Given(given), usual, now)
        assert words in trouble
        np.testing.assert_allclose(found[0].position, first.position)
        assert [step.foot for step in found] == [first.foot, *(step.foot for step in rest)]
    found, trouble = possible_steps(Given([first.shifted((0.3, 0.0)), *rest]), usual, now)
    assert not trouble and found[0].position[0] == pytest.approx(first.position[0] + 0.3)
