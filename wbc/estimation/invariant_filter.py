"""A right-invariant extended Kalman filter for a body that is carried by feet that stand (Hartley et al., IJRR 2020).

The state is the orientation R, velocity v, position p and the footholds d₁ … d_N of a body, all in the world: an
element X of SE_(2+N)(3); beside it the biases of gyroscope and accelerometer. The error is X̂ X⁻¹ = exp(ξ). Without
biases it goes on by itself, whatever the state is: what can't be observed (where the body is, its heading) stays so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.errors import number
from wbc.geometry import so3

R, V, P, BG, BA = (slice(3 * n, 3 * n + 3) for n in range(5))
"""Where the errors of rotation, velocity, position and both biases stand; those of the footholds come behind them."""

FIRST = 15
"""Where they come."""

GATE = 16.3
"""Squared distance, in standard deviations, of a foothold from where it should be, beyond which the foot has slipped:
of feet that stand one in a thousand looks like that (χ² with three degrees of freedom)."""

COMPILED, SINGULAR = 16, -2
"""Feet that the kernel takes, at most; its word for a covariance that is not positive."""

_ID = np.eye(3)

_CROSS = np.array([[0.0, 0, 0, 0, 0, -1, 0, 1, 0], [0, 0, 1, 0, 0, 0, -1, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 0]])
"""v @ _CROSS is v ×, row by row."""


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

    @cached_property
    def densities(self) -> Array:
        """Of gyroscope, accelerometer, the walks of their biases, and contacts, SI units per √Hz, shape (5,)."""
        return np.array([self.gyro, self.accelerometer, self.gyro_walk, self.accelerometer_walk, self.contact])


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
        if kernel is not None and len(self.standing) <= COMPILED:
            rate, force = np.ascontiguousarray(rate, dtype=float), np.ascontiguousarray(force, dtype=float)
            kernel.filter_predict(*self._state(), rate, force, dt, shift, self._gravity, self.noise.densities)
            return
        turn, first, second = _turning((rate - self.gyro_bias) * dt)
        a, g = force - self.accelerometer_bias, self._gravity
        turned, twice = self.rotation @ first, self.rotation @ second
        v = self.velocity + (turned @ a + g) * dt
        p = self.position + self.velocity * dt + (twice @ a + 0.5 * g) * dt**2
        if shift is not None:
            self.footholds += shift
        Phi = self._transition(turned, twice, a, v, p, dt)
        driven, n = Phi[:, BG.start : BA.stop].copy(), self.noise
        driven[BG.start : BA.stop] = 0.0
        # noise of the sensors acts over the step as an error of the biases does
        driven[:, :3] *= n.gyro / math.sqrt(dt)
        driven[:, 3:] *= n.accelerometer / math.sqrt(dt)
        covariance = Phi @ self.covariance @ Phi.T
        covariance += driven @ driven.T
        diagonal = covariance.reshape(-1)[:: self._size + 1]
        diagonal[BG] += n.gyro_walk**2 * dt
        diagonal[BA] += n.accelerometer_walk**2 * dt
        diagonal[FIRST:] += n.contact**2 * dt * self.standing.repeat(3)
        self.covariance = covariance
        self.rotation, self.velocity, self.position = self.rotation @ turn, v, p

    def _transition(self, turned: Array, twice: Array, a: Array, v: Array, p: Array, dt: float) -> Array:
        """Φ with ξ⁺ = Φ ξ: exact for ξ, and for the biases to the second order of ω dt."""
        Phi = np.eye(self._size)
        Phi[V, R], Phi[P, R] = self._gravity_cross * dt, 0.5 * self._gravity_cross * dt**2
        Phi[P, V] = dt * _ID
        Phi[R, BG] = Phi[V, BA] = -dt * turned
        Phi[P, BA] = -(dt**2) * twice
        # of v, p and the footholds d: -x × turned dt
        moved = np.concatenate([v, p, self.footholds.ravel()]).reshape(-1, 3)
        moved = _skew(moved).reshape(-1, 3) @ Phi[R, BG]
        Phi[V.start : P.stop, BG] = moved[:6]
        Phi[FIRST:, BG] = moved[6:] * self.standing.repeat(3)[:, None]
        across = turned @ _skew(a)
        Phi[V, BG] += 0.5 * dt**2 * across
        Phi[P, BG] += dt**3 / 6.0 * across
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
        slipped: list[int] = []
        while len(slipped) < len(self.standing) and (foot := self._corrected(places, noise)) is not None:
            slipped.append(foot)
            self.stand(foot, places[foot], noise[foot])
        return slipped

    def _corrected(self, places: Array, noise: Array) -> int | None:
        """Corrects, if no foot slipped; the one that slipped most otherwise."""
        if kernel is not None and len(self.standing) <= COMPILED:
            found: int = kernel.filter_correct(*self._state(), np.ascontiguousarray(places), noise, GATE)
            if found != SINGULAR:
                return None if found < 0 else found
        feet = np.flatnonzero(self.standing)
        count, C, turn = len(feet), self.covariance, self.rotation
        if not count:
            return None
        z = (places[feet] @ turn.T + self.position - self.footholds[feet]).ravel()  # ξ_p − ξ_d
        rows = FIRST + (3 * feet[:, None] + np.arange(3)).ravel()
        HC = (C[P] - C[rows].reshape(count, 3, -1)).reshape(3 * count, -1)
        S = (HC[:, None, P] - HC[:, rows].reshape(-1, count, 3)).reshape(3 * count, -1)
        blocks = S.reshape(count, 3, count, 3)
        off = np.zeros(count)
        for k, foot in enumerate(feet):
            blocks[k, :, k] += turn @ noise[foot] @ turn.T
            off[k] = z[3 * k : 3 * k + 3] @ np.linalg.solve(blocks[k, :, k], z[3 * k : 3 * k + 3])
        worst = int(off.argmax())
        if off[worst] > GATE:
            return int(feet[worst])
        solved = np.linalg.solve(S, np.column_stack([HC, z]))
        C = C - HC.T @ solved[:, :-1]
        self.covariance = 0.5 * (C + C.T)
        self._move(-(solved[:, -1] @ HC))
        return None

    def _state(self) -> tuple[object, ...]:
        """What the kernel writes to: whoever holds the arrays that were there keeps them as they were."""
        self.rotation, self.velocity, self.position = self.rotation.copy(), self.velocity.copy(), self.position.copy()
        self.gyro_bias, self.accelerometer_bias = self.gyro_bias.copy(), self.accelerometer_bias.copy()
        self.footholds, self.covariance = self.footholds.copy(), self.covariance.copy()
        biases, standing = (self.gyro_bias, self.accelerometer_bias), self.standing.view(np.int8)
        return self.rotation, self.velocity, self.position, *biases, self.footholds, self.covariance, standing

    def level(self, foot: int, height: float, deviation: float) -> None:
        """Takes how high a foot stands: d_z − height is zero, but for noise.

        Args:
            foot: its number.
            height: m.
            deviation: standard deviation, m.
        """
        if kernel is not None and len(self.standing) <= COMPILED:
            kernel.filter_level(*self._state(), foot, float(height), float(deviation) ** 2)
            return
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
        turn, jacobian, _ = _turning(delta[R])
        ways = np.concatenate([delta[V.start : P.stop], delta[FIRST:]]).reshape(-1, 3) @ jacobian.T
        self.rotation = turn @ self.rotation
        self.velocity = turn @ self.velocity + ways[0]
        self.position = turn @ self.position + ways[1]
        self.footholds = self.footholds @ turn.T + ways[2:]
        self.gyro_bias = self.gyro_bias + delta[BG]
        self.accelerometer_bias = self.accelerometer_bias + delta[BA]


def _skew(v: Array) -> Array:
    """The matrices of v ×, in a fifth of the time that `so3.skew` takes with its checks: (..., 3) to (..., 3, 3)."""
    return np.asarray((v @ _CROSS).reshape(*v.shape, 3))


def _turning(phi: Array) -> Array:
    """The rotation exp φ, and its integrals Γ₁ and Γ₂, Γₘ = Σ φ×ⁿ / (n + m)!: shape (3, 3, 3)."""
    S, square = _skew(phi), float(phi @ phi)
    # (θ - sin θ)/θ³ and (cos θ - 1 + θ²/2)/θ⁴: by their series where the difference would lose digits
    if square < 0.25:
        third = fourth = 1.0
        for n in (12, 10, 8, 6, 4):
            third = 1.0 - third * square / (n * (n + 1))
            fourth = 1.0 - fourth * square / ((n + 1) * (n + 2))
        third, fourth = third / 6.0, fourth / 24.0
    else:
        angle = math.sqrt(square)
        third = (angle - math.sin(angle)) / (angle * square)
        fourth = (math.cos(angle) - 1.0 + 0.5 * square) / square**2
    first, second = 1.0 - third * square, 0.5 - fourth * square  # sin θ/θ, (1 - cos θ)/θ²
    powers = np.concatenate([_ID, S, S @ S]).reshape(3, 9)
    factors = np.array([[1.0, first, second], [1.0, second, third], [0.5, third, fourth]])
    return np.asarray((factors @ powers).reshape(3, 3, 3))
