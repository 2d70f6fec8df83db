"""A live run without a page: what is asked of it is done between ticks, on its own thread."""

from __future__ import annotations

import math
import pickle
import re
import threading
import time

import numpy as np
import pytest

import tasks
import wbc
from wbc.kinematics import DifferentialKinematics, KinematicScene
from wbc.simulation import Scene, make_plant
from wbc.web import replay
from wbc.web.commands import Aim, Go, Pace, Shove, Switch, Turn
from wbc.web.knobs import FACTOR, FREQUENCY, RATIO, WEIGHT
from wbc.web.live import FADE, Live
from wbc.web.taking import Taker, scenery


def scene(targets=None, duration: float = 0.05) -> Scene:
    robot = wbc.load("quadruped", "numpy")
    controller = wbc.Controller(robot, tasks.stacks.standing(robot))
    return Scene(controller, make_plant(robot, "builtin"), duration, targets)


def fast(targets=None, duration: float = 0.05) -> Live:
    return Live(scene(targets, duration), speed=math.inf)


def test_a_run_that_nobody_touches_is_the_same_run() -> None:
    live, plain = fast(), scene()
    one, other = live.run(), plain.run()
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.torque, other.torque)
    assert live.mode == "ended"


def test_knobs_lead_weights_and_gains_where_they_are_put() -> None:
    live = fast(duration=FADE + 0.02)
    began = live.stack["base"].gains
    live.ask(Turn("base", FREQUENCY, 5.0))
    live.ask(Turn("base", RATIO, 0.8))
    live.ask(Turn("posture", WEIGHT, 3.0))
    seen = []
    live.run(until=lambda now, _: seen.append(live.stack["base"].gains.kp))
    wanted = wbc.Gains(5.0, 0.8)
    gains = live.stack["base"].gains
    assert (gains.kp, gains.kd) == (pytest.approx(wanted.kp), pytest.approx(wanted.kd))
    assert live.stack["posture"].weight == 3.0
    steps = np.abs(np.diff(seen))
    assert seen[0] == began.kp
    assert 0 < steps.max() < 1.5 * abs(wanted.kp - began.kp) * 1e-3 / FADE  # they fade, they don't jump


def test_a_knob_of_other_gains_scales_them() -> None:
    live = fast(duration=FADE + 0.02)
    stack = live.stack
    stack["base"].gains = wbc.Gains([1.0, 2, 3, 4, 5, 6])
    live.take(live.scene)
    kp = np.array(stack["base"].gains.kp)
    live.ask(Turn("base", FACTOR, 2.0))
    live.run()
    np.testing.assert_allclose(stack["base"].gains.kp, 2.0 * kp)


def test_a_switch_wins_against_the_scene() -> None:
    def targets(now, controller) -> None:
        controller.stack.switch_on("posture")

    live = fast(targets, duration=FADE + 0.02)
    live.ask(Switch("posture", False))
    live.run()
    assert live.stack.presence("posture") == 0.0


def test_a_push_moves_the_robot_and_ends() -> None:
    quiet, live = fast(duration=0.15).run(), fast(duration=0.15)
    seen = []
    live.ask(Shove("base", (0.0, 150.0, 0.0), 0.05))
    log = live.run(until=lambda now, _: seen.append((now, len(live.pushes))))
    assert log.v[50, 1] - quiet.v[50, 1] > 0.02
    pushed = [now for now, count in seen if count]
    assert len(pushed) == pytest.approx(50, abs=1)
    assert not live.pushes


def test_pushes_of_the_scene_and_of_a_person_add_up() -> None:
    def moved(own: float, asked: float) -> float:
        made = scene(duration=0.05)
        if own:
            made.disturbances = [wbc.Push("base", (0.0, own, 0.0), 0.001, 1.0)]
        live = Live(made, math.inf)
        if asked:
            live.ask(Shove("base", (0.0, asked, 0.0), 1.0))
        return live.run().v[-1, 1]

    assert moved(60.0, 60.0) == pytest.approx(moved(120.0, 0.0), abs=1e-9)
    assert moved(0.0, 120.0) == pytest.approx(moved(120.0, 0.0), abs=1e-9)


def test_a_target_is_set_again_after_the_scene() -> None:
    home, wanted = np.eye(4), np.eye(4)
    home[:3, 3] = scene().robot.model.nominal[:3]
    wanted[:3, 3] = home[:3, 3] + np.array([0.0, 0.0, 0.01])

    def targets(now, controller) -> None:
        controller.stack["base"].target = home

    live = fast(targets)
    live.ask(Aim("base", wanted))
    live.run()
    np.testing.assert_array_equal(live.stack["base"].target, wanted)


def test_pause_step_and_going_on() -> None:
    live = fast(duration=1.0)
    live.ask(Go("pause"))
    ticks: list[float] = []
    thread = threading.Thread(target=lambda: live.run(until=lambda now, _: ticks.append(now)))
    thread.start()
    end = time.monotonic() + 20.0
    while live.mode != "paused" and time.monotonic() < end:
        time.sleep(0.01)
    counts = []
    for _ in range(3):
        counts.append(len(ticks))
        live.ask(Go("step"))
        while (len(ticks) == counts[-1] or live.mode != "paused") and time.monotonic() < end:
            time.sleep(0.01)
    assert counts == [1, 2, 3]
    live.ask(Turn("base", FREQUENCY, 2.5))  # also while it is paused
    live.ask(Go("on"))
    while len(ticks) < 10 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(ticks) >= 10
    live.ask(Go("end"))
    thread.join(20.0)
    assert not thread.is_alive()
    assert not live.again


def test_reset_takes_the_scene_anew() -> None:
    live = fast(duration=10.0)
    live.ask(Turn("base", FREQUENCY, 5.0))
    live.ask(Go("reset"))
    log = live.run()
    assert (log.ended, live.again, len(log)) == ("stopped", True, 1)
    live.take(scene())
    assert live.mode == "running"
    assert live.run().ended == "finished"
    assert live.stack["base"].gains.kp == pytest.approx(scene().controller.stack["base"].gains.kp)


def test_the_pace_is_kept() -> None:
    live = Live(scene(duration=0.05), speed=0.1)
    began = time.monotonic()
    live.run()
    assert 0.45 <= time.monotonic() - began < 5.0
    live = Live(scene(duration=10.0), speed=1e-3)
    live.ask(Pace(math.nextafter(1000.0, 0.0)))
    live.ask(Go("end"))
    live.run()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Turn("bass", WEIGHT, 1.0), "did you mean 'base'"),
        (Turn("base", "gain", 1.0), "no knob of 'base' 'gain'"),
        (Turn("base", FREQUENCY, -1.0), "zero or more"),
        (Turn("base", WEIGHT, math.nan), "must be a number"),
        (Turn("torque limits", FREQUENCY, 1.0), "no knob"),
        (Switch("equation of motion", False), "physics always holds"),
        (Shove("nose", (1.0, 0.0, 0.0)), "no frame to push 'nose'"),
        (Shove("base", (math.nan, 0.0, 0.0)), "finite numbers"),
        (Aim("torque limits", np.eye(4)), "has no target"),
        (Aim("base", np.zeros(3)), "target must be"),
        (Aim("base", np.ones((4, 4))), "no|not"),
    ],
)
def test_what_cannot_be_done_is_told_and_the_run_goes_on(command, words) -> None:
    live, quiet = fast(duration=0.01), fast(duration=0.01)
    live.ask(command)
    log = live.run()
    assert log.ended == "finished"
    np.testing.assert_array_equal(log.torque, quiet.run().torque)
    assert re.search(words, live.notice), live.notice


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan, "fast"])
def test_a_pace_that_is_none_is_refused(speed) -> None:
    with pytest.raises(wbc.WbcError, match="the speed"):
        Pace(speed)


def test_only_scenes_are_live() -> None:
    with pytest.raises(wbc.WbcError, match="a controller on a plant"):
        Live("demo")


def test_pictures_tell_what_is_so() -> None:
    live = fast(duration=0.03)
    shown = scenery(live)
    pickle.loads(pickle.dumps(shown))
    taker = Taker(live)
    assert taker.take() is None
    log = live.run()
    picture = pickle.loads(pickle.dumps(taker.take()))
    assert taker.take() is None  # nothing is new
    assert taker.take(anyway=True) is not None
    assert picture.time == log.time[-1]
    np.testing.assert_array_equal(picture.torque, log.torque[-1])
    np.testing.assert_array_equal(picture.costs, log.cost[-1])
    np.testing.assert_array_equal(picture.q, log.q[-1])
    assert picture.tick >= log.tick_time.max() - 1e-3
    assert set(picture.forces) == set(log.contacts) == {touch.name for touch in shown.touches}
    assert "base" in picture.explanation
    assert picture.health == "health: good"
    base = next(line for line in shown.lines if line.name == "base")
    assert (base.frame, base.drags) == ("base", "pose")
    assert [knob.name for knob in base.knobs] == [WEIGHT, FREQUENCY, RATIO]
    physics = shown.lines[0]
    assert not physics.knobs
    assert not physics.drags


def reaching() -> Scene:
    """An arm beside a ball, which a task keeps clear of."""
    robot = wbc.load("arm")
    geometry = wbc.CollisionGeometry(robot, engine="own")
    robot.update(robot.model.nominal)
    geometry.add_sphere("ball", 0.05, robot.pose("tool")[:3, 3] + np.array([0.12, 0.0, 0.0]))
    avoid = tasks.CollisionAvoidance(geometry, margin=0.03)
    stack = wbc.Stack(tasks.EquationOfMotion() / avoid / tasks.JointAcceleration())
    return Scene(wbc.Controller(robot, stack), make_plant(robot, "builtin"), 0.02)


def test_what_is_near_is_in_the_picture_with_its_distance() -> None:
    live = Live(reaching(), np.inf)
    taker = Taker(live)
    live.run()
    picture = pickle.loads(pickle.dumps(taker.take()))
    gap = next(gap for gap in picture.gaps if "ball" in gap.names)
    assert gap.margin == 0.03 and picture.gaps[0].distance == min(gap.distance for gap in picture.gaps)
    assert np.linalg.norm(np.subtract(gap.first, gap.second)) == pytest.approx(gap.distance)
    geometry = live.stack["collision avoidance"].geometry
    live.scene.robot.update(picture.q)
    told = {(near.first, near.second): near.distance for near in geometry.nearest(live.scene.robot, 100)}
    assert gap.distance == pytest.approx(told[gap.names])
    geometry.move("ball", np.array(gap.first) + np.array([0.5, 0.0, 0.5]))
    assert all("ball" not in gap.names for gap in taker.take(anyway=True).gaps)
    geometry.add_sphere("other", 0.05, np.array(gap.first) + np.array([0.05, 0.0, 0.0]))
    picture = taker.take(anyway=True)
    assert "other" in picture.gaps[0].names
    ball, other = picture.obstacles
    assert (ball.solid.name, other.solid.name) == geometry.added == ("ball", "other")
    assert ball.pose[:3, 3] == pytest.approx(np.array(gap.first) + np.array([0.5, 0.0, 0.5])), "it was moved"
    geometry.remove("ball")
    assert [obstacle.solid.name for obstacle in taker.take(anyway=True).obstacles] == ["other"]


def test_a_log_has_its_cones_and_its_distances(tmp_path) -> None:
    log = fast(duration=0.02).run(record=tmp_path / "a.log")
    again = wbc.read_log(tmp_path / "a.log")
    robot = wbc.load("quadruped")
    assert again.cones == log.cones and set(log.cones) == set(log.contacts)
    touches = replay.scenery(again, robot).touches
    assert [touch.friction for touch in touches] == [cone.friction for cone in log.cones.values()]
    assert all(touch.normal == (0.0, 0.0, 1.0) and touch.on is None for touch in touches)
    again.cones = {}  # of an earlier version
    assert {touch.friction for touch in replay.scenery(again, robot).touches} == {None}


def kinematic(duration: float = 0.2) -> KinematicScene:
    """An arm that goes to a point, without torques."""
    robot = wbc.load("arm", "numpy")
    reach = tasks.EndEffectorVelocity("tool", target=[0.4, 0.1, 0.5], axes="position", name="reach")
    stack = wbc.Stack(tasks.VelocityLimits() / reach / tasks.JointVelocity())
    return KinematicScene(DifferentialKinematics(robot, stack), duration)


def test_a_kinematic_scene_is_live_too() -> None:
    live = Live(kinematic(), np.inf)
    shown, taker = scenery(live), Taker(live)
    assert shown.actuators == () and shown.pushable == () and shown.feet == ()
    log = live.run()
    picture = pickle.loads(pickle.dumps(taker.take()))
    np.testing.assert_array_equal(log.q, kinematic().run().q)
    assert picture.time == log.time[-1] and picture.torque.size == 0 and picture.forces == {}
    assert "reach" in picture.explanation and live.mode == "ended"
    live.take(kinematic())
    live.ask(Aim("reach", np.array([0.3, -0.2, 0.5])))
    live.ask(Shove("tool", (1.0, 0.0, 0.0), 0.1))
    moved = live.run(1.0)
    assert moved.q[-1][0] < log.q[-1][0] - 0.1  # it turned to the other side
    assert live.notice == "nothing can be pushed: the robot moves at the velocities that it is told"
