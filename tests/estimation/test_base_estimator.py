"""Where the base is, against a simulator that knows it; and a controller that is told by the estimator alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wbc
from tests.realtime.support import PERIOD
from wbc import realtime
from wbc.estimation import BaseEstimator
from wbc.geometry import quaternion
from wbc.realtime import Imu, PlantIO, SensorErrors, SteppedClock
from wbc.scenes.finding import load_scene


class Beside(BaseEstimator):
    """An estimator that also keeps how far it is from the truth: x, y, z, heading, tilt, and velocity in the base."""

    def estimate(self, state):
        q, v = super().estimate(state)
        true_q, true_v = state.base
        one, two = quaternion.to_matrix(q[3:7]), quaternion.to_matrix(true_q[3:7])
        turn = np.arctan2(one[1, 0], one[0, 0]) - np.arctan2(two[1, 0], two[0, 0])
        tilt = np.arccos(np.clip(one[2] @ two[2], -1.0, 1.0))
        self.off = [
            *getattr(self, "off", []),
            [*(q[:3] - true_q[:3]), turn, tilt, *(one.T @ v[:3] - two.T @ true_v[:3])],
        ]
        return q, v


def trotted(errors: SensorErrors | None, seconds: float, **options) -> tuple[Beside, PlantIO, realtime.Report]:
    """The trot of example 6 by estimated states: forward at 0.5 m/s."""
    scene = load_scene("6", "numpy")
    io = PlantIO(scene.plant, PERIOD, errors, seed=3)
    estimator = Beside(scene.controller.robot, **options)
    report = realtime.run(
        scene.controller,
        io,
        seconds,
        estimator=estimator,
        ramp=0.2,
        clock=SteppedClock(),
        targets=lambda t, c: scene.targets(t + 0.6, c) if t > 0.4 else None,
    )
    return estimator, io, report


def test_without_errors_of_the_sensors_there_are_none_of_the_estimate() -> None:
    estimator, io, report = trotted(None, 1.3)
    off = np.abs(estimator.off).max(axis=0)
    assert report.ended == "finished" and not report.faults and io.plant.true_state[0][0] > 0.08
    assert off[:3].max() < 5e-3 and off[3:5].max() < 2e-3 and off[5:].max() < 0.03
    assert estimator.slips == 0 and estimator.observer is None


def test_with_errors_the_robot_trots_on_what_it_is_told() -> None:
    estimator, io, report = trotted(SensorErrors.usual(), 1.3)
    off = np.abs(estimator.off)
    assert report.ended == "finished" and not report.faults and io.plant.true_state[0][0] > 0.03
    assert off[:, :2].max() < 0.05 and off[:, 2].max() < 0.03 and np.degrees(off[:, 4].max()) < 1.5
    assert np.sqrt((off[:, 5:] ** 2).mean()) < 0.03


def test_contacts_out_of_torques_are_those_of_the_sensors() -> None:
    estimator, _, report = trotted(SensorErrors.usual(), 0.9, contacts="torques")
    assert report.ended == "finished" and not report.faults and estimator.observer is not None
    assert np.sqrt((np.array(estimator.off)[:, 5:] ** 2).mean()) < 0.03


def first_state(**changes) -> realtime.State:
    plant = wbc.MujocoSimulator(wbc.load("quadruped", "numpy"))
    return replace(realtime.Sensors(plant, base=True).read(), **changes)


def test_it_begins_where_the_robot_stands() -> None:
    robot = wbc.load("quadruped", "numpy")
    lean = quaternion.from_rotation_vector([0.1, -0.2, 0.0])
    turn = quaternion.to_matrix(lean)
    state = first_state(imu=Imu(np.zeros(3), turn.T @ [0.0, 0.0, 9.81]))
    q, v = BaseEstimator(robot).estimate(state)
    found = quaternion.to_matrix(q[3:7])
    assert found[2] == pytest.approx(turn[2], abs=1e-9) and np.arctan2(found[1, 0], found[0, 0]) == pytest.approx(0.0)
    robot.update(q)
    lowest = min(robot.pose(foot)[2, 3] for foot in robot.model.feet)
    assert lowest == pytest.approx(0.025, abs=1e-9) and not v.any() and not q[:2].any()


def test_a_sensor_that_is_mounted_elsewhere_tells_the_same() -> None:
    """The same motion, seen by a sensor that is turned and away from the base's origin."""
    scene = load_scene("6", "numpy")
    robot, plant = scene.controller.robot, scene.plant
    mounted = np.eye(4)
    mounted[:3, :3] = quaternion.to_matrix(quaternion.from_rotation_vector([0.3, 2.0, -1.0]))
    mounted[:3, 3] = [0.2, -0.1, 0.05]
    R, arm = mounted[:3, :3], mounted[:3, 3]
    sensors, plain, other = realtime.Sensors(plant, base=True), BaseEstimator(robot), BaseEstimator(robot, imu=mounted)
    last, apart = None, []
    for tick in range(400):
        q, v = plant.state
        state = sensors.read()
        rate = state.imu.rate
        swing = np.zeros(3) if last is None else (rate - last) / PERIOD
        last = rate
        force = state.imu.force + np.cross(swing, arm) + np.cross(rate, np.cross(rate, arm))
        moved = replace(state, imu=Imu(R.T @ rate, R.T @ force))
        (q1, v1), (q2, v2) = plain.estimate(state), other.estimate(moved)
        apart.append([np.abs(q1 - q2).max(), np.abs(v1 - v2).max()])
        scene.targets(tick * PERIOD + 0.7, scene.controller)
        plant.apply(scene.controller.step(q, v, tick * PERIOD + 0.7).torque)
        plant.step()
    apart = np.array(apart)
    assert apart[0].max() < 1e-9 and apart.max(axis=0)[0] < 3e-3 and apart.max(axis=0)[1] < 0.06


def test_the_same_state_again_changes_nothing_and_an_earlier_one_begins_anew() -> None:
    robot = wbc.load("quadruped", "numpy")
    estimator, state = BaseEstimator(robot), first_state(time=1.0)
    q, _ = estimator.estimate(state)
    assert estimator.estimate(state)[0] is q
    estimator.filter.position[0] = 3.0
    assert estimator.estimate(replace(state, time=1.001))[0][0] == pytest.approx(3.0)
    assert estimator.estimate(replace(state, time=0.5))[0][0] == 0.0


def test_a_long_silence_leaves_it_where_it_was_and_less_certain() -> None:
    """What the sensor reads at its end says nothing of all that time."""
    robot, state = wbc.load("quadruped", "numpy"), first_state()
    estimator = BaseEstimator(robot)
    for step in range(30):
        q, _ = estimator.estimate(replace(state, time=step * PERIOD))
    before = estimator.deviations
    odd = Imu(np.array([3.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    after, v = estimator.estimate(replace(state, time=2.0, imu=odd))
    assert after == pytest.approx(q, abs=1e-6) and np.abs(v[:3]).max() < 1e-3
    rotation, velocity, _ = estimator.deviations
    assert rotation[0] > 0.25 > before[0][0] and velocity[0] > 0.9 > before[1][0]
    for step in range(1, 200):
        estimator.estimate(replace(state, time=2.0 + step * PERIOD))
    assert np.abs(estimator.filter.velocity).max() < 0.02 and estimator.deviations[1].max() < 0.1


def test_level_ground_holds_the_height() -> None:
    robot, state = wbc.load("quadruped", "numpy"), first_state()
    heights = []
    for level in (None, 2e-3):
        estimator = BaseEstimator(robot, level=level)
        estimator.estimate(state)
        estimator.filter.position[2] += 0.03  # as if it had drifted
        estimator.filter.covariance[8, 8] = 0.01
        for step in range(1, 50):
            q, _ = estimator.estimate(replace(state, time=step * PERIOD))
        heights.append(q[2] - robot.model.nominal[2])
    assert heights[0] == pytest.approx(0.03, abs=3e-3) and abs(heights[1]) < 3e-3


def test_states_that_were_lost_make_it_less_certain() -> None:
    robot, state = wbc.load("quadruped", "numpy"), first_state()
    one, two = BaseEstimator(robot), BaseEstimator(robot)
    for estimator, steps in ((one, range(40)), (two, (*range(30), 39))):
        for step in steps:
            estimator.estimate(replace(state, time=state.time + step * PERIOD))
    assert two.deviations[1].max() > 1.2 * one.deviations[1].max()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"robot": "quadruped"}, "needs a robot of wbc.load"),
        ({"robot": wbc.load("arm")}, "'arm' has a fixed base"),
        ({"feet": []}, "'quadruped' has no feet"),
        ({"feet": ["LF_fot"]}, "no frame 'LF_fot'; did you mean 'LF_foot'"),
        ({"noise": 3}, "noise = 3 must be a wbc.estimation.FilterNoise"),
        ({"feet": "LF_foot"}, "feet must be a list of names, not the text 'LF_foot'"),
        ({"feet": 3}, "feet must be a list of names, not 3"),
        ({"radius": np.nan}, "radius, m, = nan must be a number, 0 or more"),
        ({"radius": [0.02]}, r"radius, m, = \[0.02\] must be a number"),
        ({"settle": np.inf}, "settle, s, = inf must be a number"),
        ({"contacts": "eyes"}, "no way to find contacts 'eyes'"),
        ({"imu": 2 * np.eye(4)}, "is not a homogeneous transform"),
    ],
)
def test_bad_arguments_are_named(options, message) -> None:
    with pytest.raises(wbc.WbcError, match=message):
        BaseEstimator(**{"robot": wbc.load("quadruped", "numpy"), **options})


def test_a_state_that_is_no_number_is_not_taken() -> None:
    one, two = (BaseEstimator(wbc.load("quadruped", "numpy")) for _ in range(2))
    state = first_state()
    one.estimate(state), two.estimate(state)
    dark = Imu(np.full(3, np.nan), np.zeros(3))
    for odd in ({"imu": dark}, {"time": np.nan}, {"contacts": {**state.contacts, "RH_foot": np.nan}}):
        with pytest.raises(wbc.WbcError, match="the state has .* = nan, and was not taken"):
            one.estimate(replace(state, **{"time": state.time + PERIOD, **odd}))
    later = replace(state, time=state.time + 2 * PERIOD)
    for mine, other in zip(one.estimate(later), two.estimate(later), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_robot_that_begins_on_its_back_is_on_its_back() -> None:
    up = BaseEstimator(wbc.load("quadruped", "numpy"))
    for tilt in (np.pi, np.pi - 1e-12, np.pi - 1e-3):
        force = 9.81 * np.array([0.0, np.sin(tilt), np.cos(tilt)])
        up.reset()
        q, _ = up.estimate(first_state(imu=Imu(np.zeros(3), force)))
        np.testing.assert_allclose(quaternion.to_matrix(q[3:7]) @ force, [0.0, 0.0, 9.81], atol=1e-9)


def test_states_without_what_is_needed_are_named() -> None:
    unfelt = BaseEstimator(wbc.load("quadruped", "numpy"), contacts="torques")
    with pytest.raises(wbc.WbcError, match="no measured torques of some motors, out of which contacts"):
        unfelt.estimate(first_state(torque=np.full(12, np.nan)))
    with pytest.raises(wbc.WbcError, match="takes a wbc.realtime.State, not 3"):
        unfelt.estimate(3)
    with pytest.raises(wbc.WbcError, match="11 positions and 12 velocities of joints; 'quadruped' has 12 and 12"):
        unfelt.estimate(first_state(position=np.zeros(11)))
    estimator = BaseEstimator(wbc.load("quadruped", "numpy"), contacts="sensors")
    with pytest.raises(wbc.WbcError, match="the state has no reading of an inertial sensor"):
        estimator.estimate(first_state(imu=None))
    with pytest.raises(wbc.WbcError, match="is not at rest"):
        estimator.estimate(first_state(imu=Imu(np.zeros(3), np.zeros(3))))
    state = first_state(contacts={})
    estimator.estimate(state)
    with pytest.raises(wbc.WbcError, match="no contact sensor 'LF_foot'"):
        estimator.estimate(replace(state, time=state.time + PERIOD))
