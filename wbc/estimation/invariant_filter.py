"""A right-invariant extended Kalman filter for a body that is carried by feet that stand (Hartley et al., IJRR 2020).

The state is the orientation R, velocity v, position p and the footholds d₁ … d_N of a body, all in the world: an
element X of SE_(2+N)(3); beside it the biases of gyroscope and accelerometer. The error is X̂ X⁻¹ = exp(ξ). Without
biases it goes on by itself, whatever the state is: what can't be observed (where the body is, its heading) stays so.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from wbc.arrays import Array
from wbc.errors import number
from wbc.geometry import so3
from wbc.liegroups import extended_pose

R, V, P, BG, BA = (slice(3 * n, 3 * n + 3) for n in range(5))
"""Where the errors of rotation, velocity, position and both biases stand; those of the footholds come behind them."""

FIRST = 15
"""Where they come."""

GATE = 16.3
"""Squared distance, in standard deviations, of a foothold from where it should be, beyond which the foot has slipped:
of feet that stand one in a thousand looks like that (χ² with three degrees of freedom)."""

_ID = np.eye(3)


@dataclass(frozen=True)
class FilterNoise:
    """The noise that the filter assumes: densities, and standard deviations at the start.

    Attributes:
        gyro: rad/s/√Hz.
        accelerometer: m/s²/√Hz.
        gyro_walk: of the bias, rad/s²/√Hz.
        accelerometer_walk: of the bias, m/s³/√Hz.
        contact: of a foothold that creeps, m/s/√Hz.
        encoder: of a joint, rad or m, each reading.
        kinematics: of a foot's place in the base, m, each reading: what the encoders do not explain.
        tilt: at the start, rad.
        velocity: at the start, m/s.
        gyro_bias: at the start, rad/s.
        accelerometer_bias: at the start, m/s².
    """

    gyro: float = 2e-3
    accelerometer: float = 2e-2
    gyro_walk: float = 2e-5
    accelerometer_walk: float = 2e-4
    contact: float = 2e-2
    encoder: float = 1e-3
    kinematics: float = 2e-3
    tilt: float = 0.02
    velocity: float = 0.05
    gyro_bias: float = 1e-2
    accelerometer_bias: float = 0.1

    def __post_init__(self) -> None:
        for field in fields(self):
            number(getattr(self, field.name), f"filter noise: {field.name}", high=1e3)


class InvariantFilter:
    """Estimates the pose and velocity of a body from its inertial sensor and the places of its feet.

    Args:
        feet: how many there are.
        noise: of the inputs.
        gravity: m/s², world axes, shape (3,).

    Attributes:
        rotation: R_world_body, shape (3, 3).
        velocity: of the body's origin, world axes, m/s, shape (3,).
        position: m, world axes, shape (3,).
        footholds: where the feet stand, world axes, m, shape (feet, 3).
        standing: which of them do, shape (feet,).
        gyro_bias: rad/s, body axes, shape (3,).
        accelerometer_bias: m/s², body axes, shape (3,).
        covariance: of ξ and the biases' errors (estimate − truth), in the order of `R`, `V`, `P`, `BG`, `BA` and the
            footholds; shape (15 + 3 feet, 15 + 3 feet).
    """

    def __init__(self, feet: int, noise: FilterNoise, gravity: Array) -> None:
        self.noise, self._gravity = noise, np.array(gravity, dtype=float)
        self._gravity_cross = so3.skew(self._gravity)
        self._size = FIRST + 3 * feet
        self.footholds, self.standing = np.zeros((feet, 3)), np.zeros(feet, dtype=bool)
        self.start(np.eye(3), np.zeros(3), np.zeros(3))

    def start(self, rotation: Array, velocity: Array, position: Array) -> None:
        """Begins anew: heading and position are known, by definition; no foot stands.

        Args:
            rotation: shape (3, 3).
            velocity: m/s, shape (3,).
            position: m, shape (3,).
        """
        self.rotation, self.velocity, self.position = rotation.copy(), velocity.copy(), position.copy()
        self.gyro_bias, self.accelerometer_bias = np.zeros(3), np.zeros(3)
        self.standing[:] = False
        n = self.noise
        deviation = np.zeros(self._size)
        deviation[R], deviation[V] = (n.tilt, n.tilt, 0.0), n.velocity
        deviation[BG], deviation[BA] = n.gyro_bias, n.accelerometer_bias
        self.covariance = np.diag(deviation**2)

    def element(self) -> Array:
        """X: [R, v, p, d₁ … d_N; 0, 1], shape (5 + feet, 5 + feet)."""
        X = np.eye(5 + len(self.footholds))
        X[:3, :3], X[:3, 3], X[:3, 4] = self.rotation, self.velocity, self.position
        X[:3, 5:] = self.footholds.T
        return X

    def predict(self, rate: Array, force: Array, dt: float, shift: Array | None = None) -> None:
        """Goes on by a reading of the inertial sensor that is taken as constant over a time.

        R⁺ = R exp(ω dt), v⁺ = v + (R Γ₁ a + g) dt, p⁺ = p + v dt + (R Γ₂ a + g/2) dt², Γ of ω dt.

        Args:
            rate: angular velocity, as read, rad/s, body axes, shape (3,).
            force: specific force, as read, m/s², body axes, shape (3,).
            dt: s.
            shift: by which footholds move as feet roll, m, world axes, shape (feet, 3); None: they don't.
        """
        phi = (rate - self.gyro_bias) * dt
        a, g = force - self.accelerometer_bias, self._gravity
        first, second = _gammas(phi)
        turned = self.rotation @ first
        v = self.velocity + (turned @ a + g) * dt
        p = self.position + self.velocity * dt + (self.rotation @ (second @ a) + 0.5 * g) * dt**2
        if shift is not None:
            self.footholds += shift
        Phi = self._transition(turned, a, v, p, dt, second)
        G, n = Phi[:, BG.start : BA.stop], self.noise
        # noise of the sensors acts over the step as an error of the biases does
        white = np.repeat([n.gyro**2 / dt, n.accelerometer**2 / dt], 3)
        driven = G.copy()
        driven[BG.start : BA.stop] = 0.0
        covariance = Phi @ self.covariance @ Phi.T + (driven * white) @ driven.T
        walk = np.zeros(self._size)
        walk[BG], walk[BA] = n.gyro_walk**2 * dt, n.accelerometer_walk**2 * dt
        walk[FIRST:] = np.repeat(np.where(self.standing, n.contact**2 * dt, 0.0), 3)
        covariance.flat[:: self._size + 1] += walk
        self.covariance = covariance
        self.rotation, self.velocity, self.position = self.rotation @ so3.exp(phi), v, p

    def _transition(self, turned: Array, a: Array, v: Array, p: Array, dt: float, second: Array) -> Array:
        """Φ with ξ⁺ = Φ ξ: exact for ξ, and for the biases to the second order of ω dt."""
        Phi = np.eye(self._size)
        Phi[V, R], Phi[P, R] = self._gravity_cross * dt, 0.5 * self._gravity_cross * dt**2
        Phi[P, V] = dt * _ID
        across = _skew(a)
        Phi[R, BG] = -turned * dt
        Phi[V, BG] = 0.5 * turned @ across * dt**2 - _skew(v) @ turned * dt
        Phi[P, BG] = turned @ across * (dt**3 / 6.0) - _skew(p) @ turned * dt
        Phi[V, BA], Phi[P, BA] = -turned * dt, -self.rotation @ second * dt**2
        for foot in np.flatnonzero(self.standing):
            own = slice(FIRST + 3 * foot, FIRST + 3 * foot + 3)
            Phi[own, BG] = -_skew(self.footholds[foot]) @ turned * dt
        return Phi

    def blur(self, rotation: float, velocity: float) -> None:
        """Makes rotation and velocity less certain, where readings were lost.

        Args:
            rotation: standard deviation that is added, rad.
            velocity: the same, m/s.
        """
        deviation = np.zeros(self._size)
        deviation[R], deviation[V] = rotation, velocity
        self.covariance.flat[:: self._size + 1] += deviation**2

    def stand(self, foot: int, place: Array, noise: Array) -> None:
        """A foot stands from now on.

        Args:
            foot: its number.
            place: in the body, m, shape (3,).
            noise: covariance of that, m², body axes, shape (3, 3).
        """
        self.standing[foot] = True
        self.footholds[foot] = self.position + self.rotation @ place
        own, C = slice(FIRST + 3 * foot, FIRST + 3 * foot + 3), self.covariance
        C[own] = C[P]
        C[:, own] = C[:, P]
        C[own, own] = C[P, P] + self.rotation @ noise @ self.rotation.T

    def lift(self, foot: int) -> None:
        """A foot does not stand any more.

        Args:
            foot: its number.
        """
        self.standing[foot] = False
        own = slice(FIRST + 3 * foot, FIRST + 3 * foot + 3)
        self.covariance[own] = 0.0
        self.covariance[:, own] = 0.0

    def correct(self, places: Array, noise: Array) -> list[int]:
        """Takes where the feet that stand are in the body: R y + p − d is zero, but for noise.

        Args:
            places: y of all feet, m, body axes, shape (feet, 3).
            noise: covariance of each, m², body axes, shape (feet, 3, 3).

        Returns:
            Numbers of feet that were too far from where they stood: they slipped, and stand where they are now.
        """
        C, turn = self.covariance, self.rotation
        slipped: list[int] = []
        while True:
            feet = np.flatnonzero(self.standing)
            if not len(feet):
                return slipped
            z = places[feet] @ turn.T + self.position - self.footholds[feet]  # ξ_p − ξ_d
            rows = FIRST + (3 * feet[:, None] + np.arange(3)).ravel()
            HC = np.tile(C[P], (len(feet), 1)) - C[rows]
            S = np.tile(HC[:, P], (1, len(feet))) - HC[:, rows]
            each, blocks = np.arange(len(feet)), S.reshape(len(feet), 3, len(feet), 3)
            blocks[each, :, each] += turn @ noise[feet] @ turn.T
            off = (z * np.linalg.solve(blocks[each, :, each], z[:, :, None])[:, :, 0]).sum(axis=1)
            worst = int(off.argmax())
            if off[worst] <= GATE:
                break
            foot = int(feet[worst])
            slipped.append(foot)
            self.stand(foot, places[foot], noise[foot])
            if len(slipped) >= len(self.standing):
                return slipped
        K = np.linalg.solve(S, HC).T
        delta = -K @ z.ravel()
        C = C - K @ HC
        self.covariance = 0.5 * (C + C.T)
        self._move(delta)
        return slipped

    def level(self, foot: int, height: float, deviation: float) -> None:
        """Takes how high a foot stands: d_z − height is zero, but for noise.

        Args:
            foot: its number.
            height: m.
            deviation: standard deviation, m.
        """
        own, C = slice(FIRST + 3 * foot, FIRST + 3 * foot + 3), self.covariance
        x, y, z = self.footholds[foot]
        h = np.zeros(self._size)
        h[R], h[own] = (y, -x, 0.0), (0.0, 0.0, 1.0)  # d̂ = d + ξ_R × d + ξ_d
        spread = C @ h
        gain = spread / (float(h @ spread) + deviation**2)
        C = C - np.outer(gain, spread)
        self.covariance = 0.5 * (C + C.T)
        self._move(-gain * (z - height))

    def _move(self, delta: Array) -> None:
        """X ← exp(δ) X, and the biases by theirs."""
        step = extended_pose.exp(np.concatenate([delta[:9], delta[FIRST:]]))
        turn, ways = step[:3, :3], step[:3, 3:].T
        self.rotation = turn @ self.rotation
        self.velocity = turn @ self.velocity + ways[0]
        self.position = turn @ self.position + ways[1]
        self.footholds = self.footholds @ turn.T + ways[2:]
        self.gyro_bias = self.gyro_bias + delta[BG]
        self.accelerometer_bias = self.accelerometer_bias + delta[BA]


def _skew(v: Array) -> Array:
    """The matrix of v ×, in a fifth of the time that `so3.skew` takes with its checks."""
    x, y, z = v.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _gammas(phi: Array) -> tuple[Array, Array]:
    """Γ₁ and Γ₂ of a rotation vector that is small: Γₘ = Σ φ×ⁿ / (n + m)!."""
    S = _skew(phi)
    square = S @ S
    cube = square @ S
    return _ID + S / 2 + square / 6 + cube / 24, _ID / 2 + S / 6 + square / 24 + cube / 120
