"""What `Walk` and `Gait` share: how a command is taken up, what swinging legs do to the body, room for steps."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import wbc
from tasks.locomotion import CommandedSteps, Footstep, Gait, Moment, PushEstimate, Schedule, Walk
from tasks.locomotion.clock import Clock
from tasks.locomotion.following import FASTER, LEASH, Following
from tasks.locomotion.rise import Rise
from tasks.locomotion.soles import Soles

GREATEST = np.array([0.5, 0.5, 1.0])
TROT = Schedule.in_turn([("LF", "RH"), ("RF", "LH")], 0.25, 0.05)
PLACES = {"LF": (0.3, 0.18), "RF": (0.3, -0.18), "LH": (-0.3, 0.18), "RH": (-0.3, -0.18)}


def test_a_place_goes_along_with_a_robot_that_speeds_up_and_ahead_of_one_that_stays_behind() -> None:
    following, com, v, dt = Following(along=True), np.zeros(2), np.zeros(2), 1e-3
    following.begin(com, 0.0)
    for _ in range(1500):  # it speeds up at 0.3 m/s², the command at 0.5
        following.follow(np.array([0.4, 0.0, 0.0]), com, v, GREATEST, dt)
        v = np.minimum(v + 0.3 * dt * np.array([1.0, 0.0]), 0.4)
        com = com + v * dt
    taken_up = following.place[0] - com[0]
    np.testing.assert_allclose(following.rate, [0.4, 0.0, 0.0])
    assert 0.0 < taken_up < 0.03  # 0.06 m if the place went as the command does from the start
    for _ in range(2000):  # something slows it down: it is to make up for that
        following.follow(np.array([0.4, 0.0, 0.0]), com, np.array([0.3, 0.0]), GREATEST, dt)
        com = com + np.array([0.3, 0.0]) * dt
    assert following.place[0] - com[0] == pytest.approx(min(taken_up + 0.2, LEASH), abs=1e-3)


def test_a_command_goes_no_faster_than_the_robot_and_no_farther_than_a_leash() -> None:
    following = Following(along=True)
    following.begin(np.zeros(2), 0.0)
    for _ in range(5000):  # the robot is held
        following.follow(np.array([1.0, 0.0, 0.2]), np.zeros(2), np.zeros(2), GREATEST, 1e-3)
    assert following.rate[0] == pytest.approx(FASTER) and following.heading == pytest.approx(0.98, abs=0.01)
    assert np.hypot(*following.place) == pytest.approx(LEASH)


def test_a_clock_gives_back_what_it_waited_and_knows_when_feet_land() -> None:
    clock = Clock(TROT)
    assert clock.stands
    clock.start(0.3, None, lambda feet: "RF" in feet)
    assert not clock.stands and clock.now.air == () and clock.later.air == ("RF", "LH") and clock.remaining == 0.3
    clock.start(0.3, "LH", lambda feet: False)
    assert clock.later.air == ("RF", "LH")
    clock.start(0.3, "RH", lambda feet: False)
    assert clock.later.air == ("LF", "RH")
    clock.remaining = 0.0
    clock.advance()
    assert clock.until("LF") == clock.until("RH") == pytest.approx(0.25)
    clock.remaining, clock.late = 0.0, 0.02
    clock.advance()
    assert clock.now.air == () and clock.remaining == pytest.approx(0.03) and clock.late == 0.0


@pytest.mark.parametrize("kind", ["humanoid", "quadruped"])
def test_the_speed_of_the_body_without_its_legs_obeys_the_pendulum(kind: str) -> None:
    """Its rate is (c − p) f_z / (m h), with p where the contact forces have no horizontal moment."""
    robot, rng, step = wbc.load(kind, "pinocchio"), np.random.default_rng(3), 1e-6
    walk = Walk(robot) if kind == "humanoid" else Gait(robot)
    q, v, vdot = robot.model.nominal, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    found = []
    for sign in (-1.0, 1.0):
        robot.update(robot.integrate(q, sign * step * v, 1.0), v + sign * step * vdot)
        found.append(walk._velocity(robot)[:2])
    robot.update(q, v)
    R, base, com = robot.pose(robot.model.root)[:3, :3], q[:3], robot.com
    wrench = robot.inverse_dynamics(q, v, vdot)[:6]
    force, moment = wrench[:3], R @ wrench[3:] + np.cross(base - com, wrench[:3])  # about the centre of mass
    down = -walk.height  # of the ground from there
    p = com[:2] + np.array([down * force[0] - moment[1], down * force[1] + moment[0]]) / force[2]
    rate = (found[1] - found[0]) / (2 * step)
    np.testing.assert_allclose(rate, (com[:2] - p) * force[2] / (robot.mass * walk.height), atol=1e-4)


def test_what_pushes_all_the_time_is_no_push() -> None:
    push, dt, velocity = PushEstimate(constant=1.0), 1e-3, np.zeros(2)
    for tick in range(6000):
        acting = np.array([2.0, 0.0]) + (tick >= 5800) * np.array([0.0, 3.0])
        push.update(velocity, np.zeros(2), 3.3, dt)
        velocity = velocity + dt * acting
        if tick == 5790:
            assert np.abs(push.acceleration).max() < 0.02 and push.recent == 0.0
            np.testing.assert_allclose(push.steady, [2.0, 0.0], atol=0.1)
    np.testing.assert_allclose(push.acceleration, [0.0, 3.0 * np.exp(-0.2)], atol=0.1)
    assert push.recent > 0.9
    np.testing.assert_allclose(push.steady, [2.0, 0.0], atol=0.1)  # no push is taken for what is steady


def test_balance_asks_for_the_rate_of_that_speed() -> None:
    robot, rng, step = wbc.load("quadruped", "pinocchio"), np.random.default_rng(4), 1e-6
    walk = Gait(robot)
    q, v, vdot = robot.model.nominal, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    found = []
    for sign in (-1.0, 1.0):
        robot.update(robot.integrate(q, sign * step * v, 1.0), v + sign * step * vdot)
        found.append(walk._velocity(robot))
    robot.update(q, v)
    walk._planning.stand(0.0, {foot: walk.soles.step(robot, foot) for foot in walk.feet}, walk.omega)
    rows = walk.balance.rows(robot, SimpleNamespace(time=0.0))  # type: ignore[arg-type]  # all that it looks at
    assert rows.acceleration is not None
    left = rows.lower - rows.acceleration @ vdot
    np.testing.assert_allclose(left, walk.acceleration(robot, 0.0) - (found[1] - found[0]) / (2 * step), atol=1e-4)


def test_a_foot_that_is_a_point_has_no_room_past_its_neighbours() -> None:
    places = {foot: np.array(place) for foot, place in PLACES.items()}
    feet = {foot: Footstep(foot, np.append(place, 0.0)) for foot, place in places.items()}
    feet["RF"] = Footstep("RF", np.array([0.35, 0.02, 0.0]))  # it has crossed to the left
    planner = CommandedSteps(TROT, places, None, (0.5, 0.4))
    now = Moment(
        0.0, np.zeros(3), 0.0, np.zeros(2), np.array([0, 0, 0.45]), np.zeros(3), 4.6, feet, ("RF", "LH"),
        TROT.ahead(1, 0.25, 1.0),
    )  # fmt: skip
    low, high = planner.room(now, feet["LF"])
    np.testing.assert_allclose(low, [-0.42, -(0.16 - 0.3 * 0.36)])  # by 0.3 of 0.6 m before LH, of 0.36 m left of RF
    np.testing.assert_allclose(high, [0.5, 0.4])
    low, high = planner.room(now, feet["RH"])
    np.testing.assert_allclose([low, high], [[-0.5, -0.4], [0.47, 0.36 - 0.3 * 0.36]])


def test_the_height_follows_the_plane_of_points_and_the_lowest_of_soles() -> None:
    robot = wbc.load("quadruped", "numpy")
    soles = Soles(robot, tuple(robot.model.feet), points=True)
    feet = [Footstep(foot, place + np.array([0.0, 0.0, 0.1 * place[0]])) for foot, place in soles.nominal.items()]
    ways = {}
    for tilts in (True, False):
        rise = Rise(soles, 0.45, tilts)
        rise.begin(0.45, feet)
        for _ in range(3000):
            rise.update(np.array([0.1, 0.0]), feet, feet[:2], feet[2:], 1e-3)
        ways[tilts] = rise.high[0]
        np.testing.assert_allclose(rise.normal, np.array([-0.1, 0.0, 1.0]) / np.sqrt(1.01), atol=1e-9)
    low = min(step.position[2] for step in feet)
    mean = np.mean([step.position for step in feet], axis=0)
    assert ways[True] == pytest.approx(0.45 + mean[2] + 0.1 * (0.1 - mean[0]), abs=1e-4)
    assert ways[False] == pytest.approx(0.45 + low, abs=1e-4)


def test_a_body_on_points_sinks_before_a_foot_lands_below_the_plane_of_the_others() -> None:
    robot = wbc.load("quadruped", "numpy")
    soles = Soles(robot, tuple(robot.model.feet), points=True)
    feet = [Footstep(foot, place) for foot, place in soles.nominal.items()]
    level = feet[0].position[2]
    for lower in (0.1, -0.1):  # down a step, and up one
        rise = Rise(soles, 0.45, True)
        rise.begin(0.45 + level, feet)
        landing = [Footstep(feet[0].foot, feet[0].position - [0.0, 0.0, lower])]
        for _ in range(3000):
            rise.update(np.zeros(2), feet, feet[1:], landing, 1e-3)
        assert rise.high[0] == pytest.approx(0.45 + level - max(lower, 0.0), abs=1e-4)


def test_a_step_keeps_off_a_sole_that_is_turned() -> None:
    schedule, sizes = Schedule.in_turn([("left",), ("right",)], 0.35, 0.1), np.array([0.22, 0.1])
    places = {"left": np.array([0.0, 0.12]), "right": np.array([0.0, -0.12])}
    planner = CommandedSteps(schedule, places, 0.13, (0.3, 0.3), soles=dict.fromkeys(places, sizes))
    inward = {}
    for yaw in (0.0, 0.3, -0.3):
        feet = {foot: Footstep(foot, np.append(place, 0.0), yaw * (foot == "right")) for foot, place in places.items()}
        now = Moment(
            0.0, np.zeros(3), 0.0, np.zeros(2), np.array([0, 0, 0.9]), np.zeros(3), 3.3, feet, ("right",),
            schedule.ahead(1, 0.35, 1.0),
        )  # fmt: skip
        inward[yaw] = -planner.room(now, feet["left"])[0][1]
    assert inward[0.0] == pytest.approx(0.24 - 0.13)
    more = 0.05 * np.cos(0.3) + 0.11 * np.sin(0.3) - 0.05  # the corner of the right sole is so much farther left
    assert inward[0.3] == inward[-0.3] == pytest.approx(0.24 - 0.13 - more)
