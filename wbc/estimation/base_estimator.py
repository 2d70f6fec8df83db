"""Estimates the state of a legged robot's base from its own sensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from wbc.arrays import Array, ArrayLike, cross, finite
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show, unknown_name, words
from wbc.estimation.contacts import ContactDetector
from wbc.estimation.feet import Feet
from wbc.estimation.invariant_filter import FilterNoise, InvariantFilter, P, R, V
from wbc.estimation.momentum_observer import MomentumObserver
from wbc.geometry import quaternion, so3
from wbc.model.parts import constant, is_transform
from wbc.model.tree import Tree
from wbc.realtime.state import State

Feeling: TypeAlias = Literal["auto", "sensors", "torques"]
"""How contacts are found: by the state's contact sensors, by its measured torques, or by sensors where it has some."""

LOST = (50.0, 500.0)
"""How fast readings of the inertial sensor may change while some are lost: rad/s² and m/s³."""

LONGEST = 0.1
"""Between two states, s; over a longer time nothing is known of the motion but that it was one of a robot."""

UNKNOWN = (0.3, 1.0)
"""What such a time leaves unknown, at most: rad and m/s."""


class BaseEstimator:
    """Estimates q and v of a robot with a floating base: an `Estimator` for `wbc.realtime.run`.

    An invariant Kalman filter integrates the inertial sensor and is corrected by the standing feet. Round feet roll:
    their centres move by radius × rotation. At the start the robot must be at rest; it is taken to be at the world's
    origin with heading 0, its feet on the ground z = 0.

    Args:
        robot: of `wbc.load`; the estimator works on copies.
        feet: frames that stand on the ground; None: the model's feet.
        noise: of the sensors; None: usual ones.
        imu: pose of the inertial sensor in the base, shape (4, 4); None: it is at the base's origin.
        contacts: "sensors", "torques", or "auto", which is sensors where the first state has some.
        threshold: a foot stands from this share of the weight on, and stops standing below half of it.
        settle: time for which it has to carry that, s.
        radius: of the feet, m; None: of the balls that the model has for them; 0: they are points.
        level: standard deviation of the ground's height, m, where it is level: then the height of the base does not
            drift. None: the ground may be anything.

    Attributes:
        filter: pose, velocity, biases and covariance of the inertial sensor.
        observer: of what pushes the robot; None where contacts are found by sensors.
        feet: frames.
        standing: which of them stand, shape (feet,).
        slips: how often a foot slipped.
    """

    def __init__(
        self,
        robot: Dynamics,
        feet: Sequence[str] | None = None,
        noise: FilterNoise | None = None,
        *,
        imu: ArrayLike | None = None,
        contacts: Feeling = "auto",
        threshold: float = 0.08,
        settle: float = 0.01,
        radius: float | None = None,
        level: float | None = None,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"an estimator needs a robot of wbc.load, not {show(robot)}")
        if not robot.model.floating:
            raise WbcError(f"{robot.model.name!r} has a fixed base: there is nothing to estimate")
        if noise is not None and not isinstance(noise, FilterNoise):
            raise WbcError(f"noise = {show(noise)} must be a wbc.estimation.FilterNoise, or None")
        if contacts not in get_args(Feeling):
            raise unknown_name("way to find contacts", contacts, get_args(Feeling))
        self.feet = robot.model.feet if feet is None else words(feet, "feet")
        if not self.feet:
            raise WbcError(f"{robot.model.name!r} has no feet: name the frames that stand on the ground, feet=[...]")
        for foot in self.feet:
            if foot not in robot.frames:
                raise unknown_name("frame", foot, robot.frames)
        self._numbers = range(len(self.feet))
        self._robot, self._feeling, self._observed = robot.copy(), contacts, robot
        T = np.eye(4) if imu is None else constant(imu, (4, 4), "imu")
        if not is_transform(T):
            raise WbcError(f"imu = {show(imu)} is not a homogeneous transform [[R, p], [0, 1]] with a rotation R")
        self._turn, self._arm = T[:3, :3].copy(), T[:3, 3].copy()
        self._aside = not np.array_equal(T, np.eye(4))
        self._noise = noise or FilterNoise()
        self._weight = 9.81 * robot.mass
        share = number(threshold, "threshold, a share of the weight,", high=1.0)
        self._detector_for = share * self._weight, 0.5 * share * self._weight, settle
        given = None if radius is None else number(radius, "radius, m,", high=1e3)
        self._radii = np.array([_ball(robot, foot) if given is None else given for foot in self.feet])
        self._pointed = not self._radii.any()
        self._level = None if level is None else number(level, "level, m,", high=1e3, above=True)
        self._neutral = robot.neutral()
        self._rest = np.zeros(robot.nv)
        self.reset()

    def reset(self) -> None:
        """Forgets the past: the next state is the first."""
        count = len(self.feet)
        self.filter = InvariantFilter(count, self._noise, self._robot.model.gravity)
        self._detector = ContactDetector(count, *self._detector_for)
        self.observer: MomentumObserver | None = None
        self.standing = self._detector.standing
        self.slips = 0
        self._last: State | None = None
        self._shortest = math.inf
        self._answer = np.zeros(0), np.zeros(0)

    def estimate(self, state: State) -> tuple[Array, Array]:
        """Takes the next state; where the robot is. The same state again changes nothing.

        Args:
            state: with an inertial sensor.

        Returns:
            q, shape (nq,), and v, shape (nv,).
        """
        if not isinstance(state, State):
            raise WbcError(f"an estimator takes a wbc.realtime.State, not {show(state)}")
        if state.imu is None:
            raise WbcError("the state has no reading of an inertial sensor, which the estimator needs")
        if not state.finite:  # it would never get rid of it
            raise WbcError(f"the state has {state.trouble}, and was not taken")
        last = self._last
        if last is not None and state.time == last.time:
            return self._answer
        feet = self._feet(state)
        if last is None or state.time < last.time:
            self._begin(state, feet.places)
        else:
            self._go_on(state, state.time - last.time, feet)
        self._last = state
        self._answer = self._base(state)
        if self.observer is not None and last is not None:
            self.observer.update(*self._answer, np.nan_to_num(last.torque), state.time - last.time)
        return self._answer

    def _feet(self, state: State) -> Feet:
        """Feet in the axes of the sensor."""
        q, v = self._neutral, self._rest
        if len(state.position) != len(q) - 7 or len(state.velocity) != len(v) - 6:
            raise WbcError(
                f"the state has {len(state.position)} positions and {len(state.velocity)} velocities of joints; "
                f"{self._robot.model.name!r} has {len(q) - 7} and {len(v) - 6}"
            )
        q[7:], v[6:] = state.position, state.velocity
        robot = self._robot
        robot.update(q, v)
        return Feet.seen(robot.frames_motion(self.feet), self._turn, self._arm, self._noise)

    def _begin(self, state: State, places: Array) -> None:
        """Stands at rest: gravity tells the tilt, the feet how high it is."""
        assert state.imu is not None
        self.reset()
        felt, up = state.imu.force, -self._robot.model.gravity
        cosine = float(felt @ up) / max(float(np.linalg.norm(felt) * np.linalg.norm(up)), 1e-9)
        if np.linalg.norm(felt) < 0.5 * np.linalg.norm(up):
            raise WbcError(
                f"the inertial sensor reads {show(felt.tolist())} m/s² at the start: the robot is not at rest"
            )
        axis = np.cross(felt, up)
        length = float(np.linalg.norm(axis))
        tilt = math.atan2(length, cosine * np.linalg.norm(felt) * np.linalg.norm(up))
        if length > 1e-9:
            turn = so3.exp(axis / length * tilt)
        else:  # upright, or on its back
            turn = np.eye(3) if cosine > 0.0 else np.diag([1.0, -1.0, -1.0])
        base = turn @ self._turn.T
        heading = math.atan2(base[1, 0], base[0, 0])
        turn = so3.exp([0.0, 0.0, -heading]) @ turn
        low = float((places @ turn.T)[:, 2].min() - self._radii.max())
        position = turn @ self._turn.T @ self._arm
        position[2] = -low
        self.filter.start(turn, np.zeros(3), position)
        if self._feeling == "torques" or (self._feeling == "auto" and not state.contacts):
            if not finite(state.torque):
                raise WbcError(
                    "the state has no measured torques of some motors, out of which contacts are to be found"
                )
            self.observer = MomentumObserver(self._observed)
        self._detector.assume(np.ones(len(self.feet), dtype=bool))

    def _go_on(self, state: State, dt: float, feet: Feet) -> None:
        """The filter's step."""
        assert state.imu is not None
        found = self.filter
        self._shortest = min(self._shortest, dt)
        if dt <= LONGEST:
            rate = state.imu.rate
            rolled = None if self._pointed else feet.rolled(rate - found.gyro_bias, found.rotation, self._radii, dt)
            found.predict(rate, state.imu.force, dt, rolled)
        else:
            for foot in self._numbers:
                found.lift(foot)
        if dt > 1.5 * self._shortest:
            lost = dt - self._shortest
            found.blur(*(min(bound * dt * lost, most) for bound, most in zip(LOST, UNKNOWN, strict=True)))
        self.standing = self._detector.update(self._normal_forces(state), dt)
        stood, stand = found.standing.tolist(), self.standing.tolist()
        for foot in self._numbers:
            if stood[foot] and not stand[foot]:
                found.lift(foot)
        self.slips += len(found.correct(feet.places, feet.noise))
        for foot in self._numbers:
            if stand[foot] and not stood[foot]:
                found.stand(foot, feet.places[foot], feet.noise[foot])
                if self._level is not None:
                    found.level(foot, self._radii[foot], self._level)

    def _normal_forces(self, state: State) -> Array:
        """What the feet carry, N, shape (feet,)."""
        if self.observer is None:
            missing = [foot for foot in self.feet if foot not in state.contacts]
            if missing:
                there = ", ".join(state.contacts) or "none"
                raise WbcError(
                    f"the state has no contact sensor {missing[0]!r} (it has: {there}); contacts='torques' works "
                    "without contact sensors"
                )
            return np.array([state.contacts[foot] for foot in self.feet])
        if not self.observer.robot.updates:
            return np.full(len(self.feet), self._weight)
        return self.observer.contact_forces(self.feet, self._radii)[:, 2]

    def _base(self, state: State) -> tuple[Array, Array]:
        """Q and v of the robot."""
        assert state.imu is not None
        found = self.filter
        turn, rate = found.rotation, state.imu.rate - found.gyro_bias
        position, velocity = found.position, found.velocity
        if self._aside:
            turn, rate = turn @ self._turn.T, self._turn @ rate
            position = position - turn @ self._arm
            velocity = velocity - turn @ cross(rate, self._arm)
        q = np.concatenate([position, quaternion.from_matrix(turn), state.position])
        return q, np.concatenate([velocity, rate, state.velocity])

    @property
    def deviations(self) -> tuple[Array, Array, Array]:
        """Standard deviations of rotation, rad, velocity, m/s, and position, m, about world axes, shape (3,) each."""
        variance = np.diagonal(self.filter.covariance)
        rotation, velocity, position = (np.sqrt(np.maximum(variance[rows], 0.0)) for rows in (R, V, P))
        return rotation, velocity, position


def _ball(robot: Dynamics, frame: str) -> float:
    """The radius of the ball that touches the ground at a frame, m; 0 where there is none."""
    if frame not in robot.model.frame_names:
        return 0.0
    tree = Tree(robot.model)
    node, pose = tree.place(frame)
    radii = [0.0]
    for shape in robot.model.shapes:
        carrier, place = tree.places[shape.body]
        if not shape.collides or shape.kind != "sphere" or carrier != node:
            continue
        if np.allclose(place @ shape.pose[:, 3], pose[:, 3], atol=1e-6):
            radii.append(float(shape.size[0]))
    return max(radii)
