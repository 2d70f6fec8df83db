"""The sensors of a simulated robot: encoders, an inertial measurement unit, feet that feel."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, number, show
from wbc.geometry import quaternion
from wbc.realtime.state import Imu, State
from wbc.simulation.plant import Plant


@dataclass(frozen=True)
class SensorErrors:
    """The errors of sensors. By default there are none; `usual()` has those of typical legged robots.

    Noise is white, a standard deviation of each reading; a density is that times the root of the time between two.

    Attributes:
        gyro: noise density, rad/s/√Hz.
        accelerometer: noise density, m/s²/√Hz.
        gyro_bias: standard deviation of the bias at the start, each axis, rad/s.
        accelerometer_bias: the same, m/s².
        gyro_walk: of the bias, rad/s²/√Hz.
        accelerometer_walk: of the bias, m/s³/√Hz.
        position: noise of the encoders, rad or m.
        velocity: noise of the joints' velocities, rad/s or m/s.
        torque: noise of the measured torques, N m or N.
        force: noise of the contact sensors, N.
    """

    gyro: float = 0.0
    accelerometer: float = 0.0
    gyro_bias: float = 0.0
    accelerometer_bias: float = 0.0
    gyro_walk: float = 0.0
    accelerometer_walk: float = 0.0
    position: float = 0.0
    velocity: float = 0.0
    torque: float = 0.0
    force: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            number(getattr(self, field.name), f"sensor errors: {field.name}", high=1e6)

    @classmethod
    def usual(cls) -> SensorErrors:
        """Those of a small inertial sensor, joint encoders and current-sensed torques on a legged robot."""
        return cls(
            gyro=1e-3,
            accelerometer=1e-2,
            gyro_bias=5e-3,
            accelerometer_bias=5e-2,
            gyro_walk=1e-5,
            accelerometer_walk=1e-4,
            position=5e-4,
            velocity=2e-2,
            torque=0.2,
            force=5.0,
        )


class Sensors:
    """Reads a plant as a robot's sensors do. The same seed gives the same errors.

    The inertial sensor is at the origin of the base, in its axes. It reads means over the time since the last reading:
    the change of the velocity, and of the orientation, over that time.

    Args:
        plant: that is read.
        errors: of the sensors; None: none.
        seed: of the errors.
        base: whether the state tells where the base truly is, as motion capture does.

    Attributes:
        plant: as given.
        bias: of the inertial sensor now: gyroscope, rad/s, then accelerometer, m/s², shape (6,).
    """

    def __init__(self, plant: Plant, errors: SensorErrors | None = None, seed: int = 0, base: bool = False) -> None:
        if not isinstance(plant, Plant):
            raise WbcError(f"plant = {show(plant)} must be a Plant, such as a wbc.MujocoSimulator")
        if errors is not None and not isinstance(errors, SensorErrors):
            raise WbcError(f"errors = {show(errors)} must be a wbc.realtime.SensorErrors, or None")
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise WbcError(f"seed = {show(seed)} must be a whole number, 0 or more")
        self.plant, self._errors, self._base = plant, errors or SensorErrors(), base
        self._random = np.random.default_rng(seed)
        e = self._errors
        self.bias = np.repeat([e.gyro_bias, e.accelerometer_bias], 3) * self._random.normal(size=6)
        self._last = self._frame()

    def _frame(self) -> tuple[float, Array, Array] | None:
        """Time, linear velocity in the world and orientation of the base."""
        if not self.plant.model.floating:
            return None
        q, v = self.plant.true_state
        return self.plant.time, v[:3].copy(), quaternion.normalize(q[3:7])

    def read(self) -> State:
        """What the sensors say now."""
        q, v = self.plant.true_state
        e, noise = self._errors, self._random.normal
        first_q, first_v = (7, 6) if self.plant.model.floating else (0, 0)
        position, velocity, torque = q[first_q:].copy(), v[first_v:].copy(), self.plant.torque
        if e.position:
            position += e.position * noise(size=position.shape)
        if e.velocity:
            velocity += e.velocity * noise(size=velocity.shape)
        if e.torque:
            torque = torque + e.torque * noise(size=torque.shape)
        felt = {}
        for frame, force in self.plant.contact_forces.items():
            felt[frame] = max(0.0, float(force[2]) + (e.force * float(noise()) if e.force else 0.0))
        base = (q[:7].copy(), v[:6].copy()) if self._base and first_q else None
        return State(self.plant.time, position, velocity, torque, self._inertial(), felt, base)

    def _inertial(self) -> Imu | None:
        """What the inertial sensor says of the time since the last reading."""
        now, last = self._frame(), self._last
        self._last = now
        if now is None or last is None:
            return None
        dt = now[0] - last[0]
        gravity, e = self.plant.model.gravity, self._errors
        if dt <= 0.0:  # at rest, as far as anybody can tell
            v = self.plant.true_state[1]
            return Imu(v[3:6] + self.bias[:3], quaternion.to_matrix(now[2]).T @ -gravity + self.bias[3:])
        turn = quaternion.to_rotation_vector(quaternion.multiply(quaternion.inverse(last[2]), now[2]))
        rate = turn / dt
        # the velocity changed by R Γ(ω dt) f dt + g dt: the orientation half way is the mean to the third order
        half = quaternion.multiply(last[2], quaternion.from_rotation_vector(0.5 * turn))
        force = quaternion.to_matrix(half).T @ ((now[1] - last[1]) / dt - gravity)
        walk = np.repeat([e.gyro_walk, e.accelerometer_walk], 3)
        white = np.repeat([e.gyro, e.accelerometer], 3)
        if walk.any():
            self.bias = self.bias + walk * np.sqrt(dt) * self._random.normal(size=6)
        error = self.bias + (white / np.sqrt(dt) * self._random.normal(size=6) if white.any() else 0.0)
        return Imu(rate + error[:3], force + error[3:])
