"""The simulator that needs no other package: a robot over a plane, touching it at declared points.

A step solves one problem in the impulses p = ∫ f dt of all points that touch at its end (velocity stepping):

    M (v⁺ − v) = dt (Sᵀ τ + external − h) + Jᵀ p,   q⁺ = q ⊕ dt v⁺

- hard contact: inelastic, v_n⁺ ≥ −gap/dt and Coulomb's law; ETH (3.66)–(3.70) is its frictionless core;
- soft contact: a spring and a damper, f = −k (r + dt ṙ⁺) − d ṙ⁺ (ETH 3.58, on the robot, at the step's end), cut to
  the friction cone. It is the same problem with 1 / (dt (d + dt k)) added to the diagonal of G = J M⁻¹ Jᵀ, and so it
  is stable for any k and d. The Runge–Kutta integrator takes the forces as they are, and is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, ArrayLike, IntArray
from wbc.dynamics.base import Dynamics
from wbc.dynamics.load import load
from wbc.dynamics.passive import FRICTION_SPEED
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.model.model import Model
from wbc.model.parts import constant, plane_axes
from wbc.model.space import ConfigurationSpace
from wbc.model.tree import Tree
from wbc.simulation.contact_impulse import Impulses, solve_coulomb
from wbc.simulation.plant import Plant

MARGIN = 1e-3
"""Points and joints nearer than this to touching, m or rad, are part of the problem."""

RECOVERY = (0.1, 0.1)
"""What is undone in a step of a penetration that should not be there, as a share of it, and at most, m/s or rad/s."""


@dataclass(frozen=True, eq=False)
class Point:
    """A place on the robot that can touch the ground: a point, or a ball.

    Attributes:
        frame: of the robot.
        offset: of the point, or the ball's centre, in the frame, m, shape (3,).
        radius: of the ball, m; zero for a point.
    """

    frame: str
    offset: Array
    radius: float = 0.0


class Simulator(Plant):
    """A robot on flat ground or a slope.

    Only the declared points touch: what else of the robot meets the ground goes through it.

    Args:
        robot: a robot of `wbc.load` (the simulator works on a copy), or a `wbc.Model`.
        timestep: s.
        contact: "hard", "soft" or "none".
        friction: coefficient of Coulomb friction of all points, or of each in the order of `points`.
        points: that touch, as (frame, offset in it), besides the feet.
        feet: whether the model's feet touch: the corners of its soles, the ball around a point foot, else the point.
        normal: of the ground, world axes.
        height: of the ground above the world's origin, m.
        integrator: "semi-implicit" (Euler), or "runge-kutta" (of fourth order; not with hard contact, and without
            the joints' position limits).
        stiffness: of soft contact, N/m.
        damping: of soft contact, N s/m.
        corrections: of the contacts that slide, at most; 0 is the convex problem alone, in which what slides hovers
            (see `contact_impulse`).

    Attributes:
        points: that touch.
        friction: of each, shape (points,).
        impulses: the answer of the last step's contact problem; None where nothing touched.
    """

    def __init__(
        self,
        robot: Dynamics | Model,
        timestep: float = 1e-3,
        contact: Literal["hard", "soft", "none"] = "hard",
        friction: float | Sequence[float] | Array = 1.0,
        points: Iterable[tuple[str, ArrayLike]] = (),
        *,
        feet: bool = True,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        height: float = 0.0,
        integrator: Literal["semi-implicit", "runge-kutta"] = "semi-implicit",
        stiffness: float = 1e5,
        damping: float = 500.0,
        corrections: int = 20,
    ) -> None:
        if not isinstance(robot, Dynamics | Model):
            raise WbcError(f"can't simulate {show(robot)}: give a robot of wbc.load or a wbc.Model")
        self._robot = robot.copy() if isinstance(robot, Dynamics) else load(robot)
        self.model = self._robot.model
        self._space = ConfigurationSpace(self.model)
        if not 0 < timestep < 1:
            raise WbcError(f"timestep = {timestep} must be a time in s, between 0 and 1")
        if contact not in ("hard", "soft", "none"):
            raise unknown_name("contact", contact, ("hard", "soft", "none"))
        if integrator not in ("semi-implicit", "runge-kutta"):
            raise unknown_name("integrator", integrator, ("semi-implicit", "runge-kutta"))
        if integrator == "runge-kutta" and contact == "hard":
            raise WbcError('integrator "runge-kutta" needs forces; hard contact has none: contact="soft" or "none"')
        if not (0 < stiffness < np.inf and 0 <= damping < np.inf):
            raise WbcError(f"stiffness = {stiffness} must be positive and damping = {damping} not negative")
        self.timestep, self._contact, self._integrator = float(timestep), contact, integrator
        self._stiffness, self._damping, self._corrections = float(stiffness), float(damping), int(corrections)
        declared = [Point(self._check(frame), constant(at, (3,), f"offset on {frame!r}")) for frame, at in points]
        self.points = () if contact == "none" else (*(foot_points(self.model) if feet else ()), *declared)
        self.friction = self._frictions(friction)
        self._plane(normal, height)
        self._lay_out()
        self.reset()

    def _check(self, frame: str) -> str:
        if frame not in self._robot.frames:
            raise unknown_name("frame", frame, self._robot.frames)
        return frame

    def _frictions(self, friction: float | Sequence[float] | Array) -> Array:
        count = len(self.points)
        values = np.array(friction, dtype=float)
        if values.shape not in ((), (count,)) or not ((values >= 0) & (values < np.inf)).all():
            raise WbcError(f"friction = {show(friction)} must be a number >= 0, or one for each of {count} points")
        return np.array(np.broadcast_to(values, (count,)))

    def _plane(self, normal: ArrayLike, height: float) -> None:
        self._normal = constant(normal, (3,), "normal") / max(float(np.linalg.norm(normal)), 1e-300)
        if not self._normal.any() or not np.isfinite(height):
            raise WbcError(f"normal = {show(normal)} must be a direction, and height = {height} a finite number of m")
        self._level = float(self._normal[2] * height)
        self._axes = np.vstack([self._normal, *plane_axes(self._normal)])  # the contact's axes, in rows

    def _lay_out(self) -> None:
        model, points = self.model, self.points
        self._frames = tuple(dict.fromkeys(point.frame for point in points))
        self._frame_of: IntArray = np.array([self._frames.index(point.frame) for point in points], dtype=np.intp)
        self._offsets = np.array([point.offset for point in points]).reshape(-1, 3)
        self._radii = np.array([point.radius for point in points])
        frames = np.array([point.frame for point in points])
        self._feet = {foot: np.flatnonzero(frames == foot) for foot in model.feet}
        position = self._space.position_of_velocity
        limits = model.limits
        limited = np.flatnonzero((position >= 0) & (np.isfinite(limits.lower) | np.isfinite(limits.upper)))
        self._limited_v, self._limited_q = limited, position[limited]
        self._lower, self._upper = limits.lower[limited], limits.upper[limited]
        sizes = [joint.nv for joint in model.joints.values()]
        self._viscous = np.repeat([float(joint.damping) for joint in model.joints.values()], sizes)
        self._rubbing = np.repeat([float(joint.friction) for joint in model.joints.values()], sizes)
        self._angular = np.flatnonzero(position < 0).reshape(-1, 3)

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """See `Plant`."""
        self._q = self._space.configuration(self.model.nominal if q is None else q)
        self._v = np.zeros(self.model.nv) if v is None else self._space.velocity(v)
        self._steps = 0
        self._torque = np.zeros(self.model.na)
        self._pushes: dict[str, Array] = {}
        self._forces = np.zeros((len(self.points), 3))
        self._stretch = np.zeros((len(self.points), 2))  # of the tangential springs of soft contact
        self._guess = np.zeros((len(self.points), 3))
        self._trouble = ""
        self.impulses: Impulses | None = None

    @property
    def time(self) -> float:
        """See `Plant`."""
        return self._steps * self.timestep

    @property
    def state(self) -> tuple[Array, Array]:
        """See `Plant`."""
        return self._q.copy(), self._v.copy()

    @property
    def energy(self) -> float:
        """Kinetic, potential (zero at the world's origin), and stored in the springs of joints and soft contact, J."""
        self._robot.update(self._q, self._v)
        stored = 0.0
        if self._contact == "soft" and self.points:
            depth = np.minimum(self._touch()[0], 0.0)
            stored = 0.5 * self._stiffness * float((depth**2).sum() + (self._stretch**2).sum())
        return self._robot.kinetic_energy + self._robot.potential_energy + stored

    @property
    def contact_forces(self) -> dict[str, Array]:
        """See `Plant`: the impulses of the last step over its time."""
        return {foot: self._forces[rows].sum(axis=0) for foot, rows in self._feet.items()}

    @property
    def point_forces(self) -> Array:
        """The force on each of `points`, N, world axes, shape (points, 3)."""
        return self._forces.copy()

    @property
    def trouble(self) -> str:
        """See `Plant`."""
        return self._trouble

    def apply(self, torque: ArrayLike) -> None:
        """See `Plant`; an actuator gives no more than its effort limit."""
        given = constant(torque, (self.model.na,), "torque")
        self._torque = np.clip(given, -self.model.limits.effort, self.model.limits.effort)

    def push(self, frame: str, wrench: ArrayLike) -> None:
        """See `Plant`."""
        shape = (3,) if np.shape(wrench) == (3,) else (6,)
        self._pushes[self._check(frame)] = constant(wrench, shape, f"the push on {frame!r}")

    def step(self) -> None:
        """See `Plant`. A plant in trouble stays where it is."""
        if self._trouble:
            return
        q, v = self._euler() if self._integrator == "semi-implicit" else self._runge_kutta()
        if not np.abs(v).max(initial=0.0) <= 1e5:
            self._trouble = "the simulation became unstable: a velocity is above 1e5; a smaller timestep may help"
            return
        self._q, self._v, self._steps = q, v, self._steps + 1

    def _force(self) -> Array:
        """Sᵀ τ + external − h in the robot's present state, shape (nv,)."""
        force = -self._robot.bias
        force[self.model.actuated] += self._torque
        for frame, wrench in self._pushes.items():
            if wrench.any():
                force += self._robot.generalized_force(frame, wrench)
        return force

    def _touch(self) -> tuple[Array, Array]:
        """Gaps, m, shape (n,), and Jacobians in the contact's axes, shape (n, 3, nv), of all points."""
        if not self.points:
            return np.zeros(0), np.zeros((0, 3, self.model.nv))
        robot, n = self._robot, self._normal
        poses = np.array([robot.pose(frame) for frame in self._frames])[self._frame_of]
        J = np.array([robot.jacobian(frame) for frame in self._frames])[self._frame_of]
        arms = np.matmul(poses[:, :3, :3], self._offsets[:, :, None])[:, :, 0]
        gaps = (poses[:, :3, 3] + arms) @ n - self._level - self._radii
        arms -= self._radii[:, None] * n  # from the centre of a ball to where it touches
        return gaps, self._axes @ (J[:, :3] - so3.skew(arms) @ J[:, 3:])

    def _euler(self) -> tuple[Array, Array]:
        """Semi-implicit Euler with the contacts' impulses; the dampers of the joints act at the step's end."""
        robot, dt = self._robot, self.timestep
        robot.update(self._q, self._v)
        v, M = self._v, robot.mass_matrix.copy()
        rates = np.maximum(np.abs(v) / FRICTION_SPEED, 1e-6)
        secant = np.tanh(rates) / rates / FRICTION_SPEED  # of Coulomb friction, F tanh(v / e): makes a damper of it
        M.flat[:: len(v) + 1] += dt * (self._viscous + self._rubbing * secant)
        L = self._factor(M)
        free = v + dt * lapack.dpotrs(L, self._force(), lower=1)[0]
        self._forces, self.impulses = np.zeros_like(self._forces), None
        if self.points or len(self._limited_v):
            free = self._contact_step(L, free)
        return robot.integrate(self._q, free, dt) if np.isfinite(free).all() else self._q, free

    def _factor(self, M: Array) -> Array:
        """The Cholesky factor of a mass matrix."""
        L, failed = lapack.dpotrf(M, lower=1)
        if failed:
            raise WbcError(f"the mass matrix of {self.model.name!r} is singular: some part moves without mass")
        return np.asarray(L)

    def _contact_step(self, L: Array, free: Array) -> Array:
        """The velocity at the end of a step, from that without contacts; L Lᵀ = M."""
        dt, nv = self.timestep, len(free)
        gaps, J = self._touch()
        speeds, k, d = J @ free, self._stiffness, self._damping
        if self._contact == "soft":
            touching = np.flatnonzero(gaps + dt * speeds[:, 0] <= 0.0)
            offset = np.column_stack([gaps[touching], self._stretch[touching]]) * k / (d + dt * k)
        else:
            touching = np.flatnonzero(gaps + 2 * dt * np.minimum(speeds[:, 0], 0.0) <= MARGIN)
            offset = np.column_stack([_approach(gaps[touching], dt), np.zeros((len(touching), 2))])
        stops, sides, room = self._stops(free)
        borne, count = 3 * len(touching), len(touching) + len(stops)
        guess = np.concatenate([self._guess[touching], np.zeros((len(stops), 3))])
        stretch = self._stretch[touching]
        self._guess, self._stretch = np.zeros_like(self._guess), np.zeros_like(self._stretch)
        if not count:
            return free
        blocks, b = np.zeros((count, 3, nv)), np.zeros((count, 3))
        blocks[: len(touching)], b[: len(touching)] = J[touching], speeds[touching] + offset
        blocks[np.arange(len(touching), count), 0, stops] = sides
        b[len(touching) :, 0] = sides * free[stops] + _approach(room, dt)
        Y = lapack.dtrtrs(L, blocks.reshape(-1, nv).T, lower=1)[0]  # G = J M⁻¹ Jᵀ = Yᵀ Y
        G = Y.T @ Y
        if self._contact == "soft":
            G.flat[: borne * (len(G) + 1) : len(G) + 1] += 1.0 / (dt * (d + dt * k))
        friction = np.append(self.friction[touching], np.zeros(len(stops)))
        answer = solve_coulomb(G, b.ravel(), friction, guess.ravel(), corrections=self._corrections)
        self.impulses, p = answer, answer.impulse[:borne].reshape(-1, 3)
        self._guess[touching], self._forces[touching] = p, p @ self._axes / dt
        if self._contact == "soft":  # a spring and a damper in series with what slides: k ξ⁺ + d (ξ⁺ − ξ) / dt = −f
            self._stretch[touching] = (d * stretch - p[:, 1:]) / (d + dt * k)
        return np.asarray(free + lapack.dtrtrs(L, Y @ answer.impulse, lower=1, trans=1)[0])

    def _stops(self, free: Array) -> tuple[IntArray, Array, Array]:
        """Joints near a position limit: index in v, the side they are kept on (±1), and how far the limit is."""
        q, v = self._q[self._limited_q], free[self._limited_v]
        lower, upper = q - self._lower, self._upper - q
        reach = MARGIN + 2 * self.timestep * np.abs(v)
        low, high = np.flatnonzero(lower <= reach), np.flatnonzero(upper <= reach)
        stops = np.concatenate([self._limited_v[low], self._limited_v[high]])
        return stops, np.repeat([1.0, -1.0], [len(low), len(high)]), np.concatenate([lower[low], upper[high]])

    def _runge_kutta(self) -> tuple[Array, Array]:
        """The classical method of fourth order, on increments of the configuration (Munthe-Kaas)."""
        robot, dt = self._robot, self.timestep
        robot.update(self._q, self._v)
        self._forces, self._stretch, _, _ = self._springs(self._v, self._stretch)
        start = (np.zeros(self.model.nv), self._v, self._stretch)
        stages: list[tuple[Array, Array, Array]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            u, v, stretch = start
            if stages:
                u, v, stretch = (x + share * dt * rate for x, rate in zip(start, stages[-1], strict=True))
            if not (np.isfinite(u).all() and np.isfinite(v).all()):
                return self._q, np.full_like(v, np.nan)
            robot.update(robot.integrate(self._q, u), v)
            _, _, slip, force = self._springs(v, stretch)
            pull = lapack.dpotrs(self._factor(robot.mass_matrix), self._force() + force, lower=1)[0]
            stages.append((self._rate(u, v), pull, slip))
        u, v, self._stretch = (
            x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4) for x, k1, k2, k3, k4 in zip(start, *stages, strict=True)
        )
        if not np.isfinite(u).all():
            return self._q, np.full_like(v, np.nan)
        return robot.integrate(self._q, u), v

    def _rate(self, u: Array, v: Array) -> Array:
        """The rate of an increment u of the configuration that is the velocity v."""
        rate = v.copy()
        for turn in self._angular:  # the rate of a rotation vector, up to the order that is needed
            once = np.cross(u[turn], v[turn])
            rate[turn] += once / 2 + np.cross(u[turn], once) / 12
        return rate

    def _springs(self, v: Array, stretch: Array) -> tuple[Array, Array, Array, Array]:
        """Soft contact as forces of the robot's present state (ETH 3.58, on the robot, cut to the cone).

        Returns:
            Forces, world axes, N, shape (n, 3); the stretch of the tangential springs as far as the cone allows, m, and
            its rate, shapes (n, 2); the generalized force, shape (nv,).
        """
        k, d = self._stiffness, self._damping
        gaps, J = self._touch()
        speeds = J @ v
        slip = speeds[:, 1:]
        f = np.empty_like(speeds)
        f[:, 0] = np.where(gaps < 0.0, np.maximum(-k * gaps - d * speeds[:, 0], 0.0), 0.0)
        bound = self.friction * f[:, 0]
        stretch = stretch * _cut(stretch, bound / k)
        wanted = -k * stretch - d * slip
        cut = _cut(wanted, bound)
        f[:, 1:] = cut * wanted
        rate = -(f[:, 1:] + k * stretch) / d if d else np.where(cut < 1.0, 0.0, slip)
        return f @ self._axes, stretch, rate, np.asarray(np.einsum("nij,ni->j", J, f))


def _cut(vectors: Array, lengths: Array) -> Array:
    """Factors that make vectors no longer than that, shape (n, 1)."""
    size = np.sqrt((vectors * vectors).sum(axis=1))
    return np.asarray(np.minimum(1.0, lengths / np.maximum(size, 1e-12))[:, None])


def foot_points(model: Model) -> tuple[Point, ...]:
    """What touches of a model's feet: the corners of a sole, the ball whose centre is the foot's frame, or that point.

    Args:
        model: the robot.
    """
    tree = Tree(model)
    points = []
    for foot in model.feet:
        if foot in model.soles:
            points += [Point(foot, np.append(corner, 0.0)) for corner in model.soles[foot]]
            continue
        node, pose = tree.place(foot)
        radius = 0.0
        for shape in model.shapes:
            carrier, place = tree.places[shape.body]
            ball = shape.collides and shape.kind == "sphere" and carrier == node
            if ball and np.allclose(place @ shape.pose[:, 3], pose[:, 3], atol=1e-6):
                radius = max(radius, float(shape.size[0]))
        points.append(Point(foot, np.zeros(3), radius))
    return tuple(points)


def _approach(gaps: Array, dt: float) -> Array:
    """What a normal velocity may be below zero, m/s: what closes the gap; what is below the ground goes up slowly."""
    return np.where(gaps > 0.0, gaps / dt, np.maximum(RECOVERY[0] * gaps / dt, -RECOVERY[1]))
