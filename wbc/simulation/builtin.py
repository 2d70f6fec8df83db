"""The built-in simulator: a robot on a plane, which it touches at named places. It needs no other package.

A step solves one problem in the impulses p = ∫ f dt of all points that touch at its end (velocity stepping):

    M (v⁺ − v) = dt (Sᵀ τ + external − h) + Jᵀ p,   q⁺ = q ⊕ dt v⁺

- hard ground: inelastic, v_n⁺ ≥ −gap/dt and Coulomb's law; ETH (3.66)–(3.70) is its frictionless core;
- soft ground: springs and dampers (`springs`), at the step's end and so stable. The Runge–Kutta integrator takes the
  forces as they are, and is not.

Closed loops are exact constraints beside it, J_l v⁺ = −φ / T with a gap φ that integration has left, T = `CLOSING`; the
Runge–Kutta integrator asks for J_l v̇ = −J̇_l v − 2 φ̇ / T − φ / T² (Baumgarte).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from scipy.linalg import lapack

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.contacts import Contact
from wbc.dynamics.base import Dynamics
from wbc.dynamics.load import load
from wbc.dynamics.passive import FRICTION_SPEED
from wbc.errors import WbcError, number, show, unknown_name
from wbc.model.model import Model
from wbc.model.parts import constant
from wbc.model.space import ConfigurationSpace
from wbc.simulation.closed_loops import ClosedLoops
from wbc.simulation.contact_impulse import Impulses, solve_coulomb
from wbc.simulation.ground import Ground, Touching, contact_points, felt
from wbc.simulation.plant import Plant
from wbc.simulation.springs import Springs
from wbc.simulation.terrain import Terrain

MARGIN = 1e-3
"""Points and joints nearer than this to touching, m or rad, are part of the problem."""

RECOVERY = (0.1, 0.1)
"""Correction of an unwanted penetration in a step: a share of it, and the greatest speed, m/s or rad/s."""


CLOSING = 0.01
"""Time constant with which a gap that integration has left in a closed loop is closed, s; no less than two steps."""


class Simulator(Plant):
    """A robot on flat ground, a slope or a terrain.

    Only the places named in `contacts` touch the ground; all other parts of the robot pass through it.

    Args:
        robot: a robot of `wbc.load` (the simulator works on a copy), or a `wbc.Model`.
        timestep: s.
        ground: "hard", "soft" or "none".
        friction: coefficient of Coulomb friction of all points, or of each in the order of `points`.
        contacts: what touches the ground: frames (with the corners of a sole, the ball around a point foot, else the
            origin), contacts of a stack (a surface with its corners, a wheel with its lowest point), or (frame, points
            fixed to it, shape (3,) or (n, 3), m); None: the model's feet and wheels. A floating robot that has none
            must be given some, or `ground="none"`.
        normal: of the ground, world axes.
        height: of the ground above the world's origin, m.
        terrain: in the place of the plane, for feet: its tops are touched, its upright sides are not; None: flat.
        integrator: "semi-implicit" (Euler), or "runge-kutta" (of fourth order; not with hard ground, and without
            the joints' position limits).
        stiffness: of soft ground, N/m, at each point.
        damping: of soft ground, N s/m, at each point.
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
        ground: Literal["hard", "soft", "none"] = "hard",
        friction: float | Sequence[float] | Array = 1.0,
        contacts: str | Contact | Iterable[Touching] | None = None,
        *,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        height: float = 0.0,
        terrain: Terrain | None = None,
        integrator: Literal["semi-implicit", "runge-kutta"] = "semi-implicit",
        stiffness: float = 1e5,
        damping: float = 500.0,
        corrections: int = 20,
    ) -> None:
        if not isinstance(robot, Dynamics | Model):
            raise WbcError(f"can't simulate {show(robot)}: give a robot of wbc.load or a wbc.Model")
        self._robot = robot.copy() if isinstance(robot, Dynamics) else load(robot)
        self._robot.friction_speed = FRICTION_SPEED  # it is the robot itself, whatever a controller makes of it
        self.model = self._robot.model
        self._space = ConfigurationSpace(self.model)
        self.timestep = number(timestep, "timestep, s,", high=1.0, above=True)
        if ground not in ("hard", "soft", "none"):
            raise unknown_name("ground", ground, ("hard", "soft", "none"))
        if integrator not in ("semi-implicit", "runge-kutta"):
            raise unknown_name("integrator", integrator, ("semi-implicit", "runge-kutta"))
        if integrator == "runge-kutta" and ground == "hard":
            raise WbcError('integrator "runge-kutta" needs forces; hard ground has none: ground="soft" or "none"')
        number(stiffness, "stiffness, N/m,", high=1e18, above=True)
        number(damping, "damping, N s/m,", high=1e18)
        self._integrator, self._corrections = integrator, int(number(corrections, "corrections", high=1e6))
        self.points = () if ground == "none" else contact_points(self._robot, contacts)
        if self.model.floating and ground != "none" and contacts is None and not self.points:
            raise WbcError(
                f"{self.model.name!r} has no feet or wheels, so nothing of it would touch the ground: name frames with "
                'contacts=[...], or let it fall with ground="none"'
            )
        self.friction = self._frictions(friction)
        self._ground = Ground(self._robot, self.points, normal, height, terrain)
        self._springs = Springs(stiffness, damping, self.friction) if ground == "soft" else None
        self._lay_out()
        self._sensors: tuple[str, ...] = ()
        self.measure([*self.model.feet, *self.model.wheels, *(point.frame for point in self.points)])
        self.reset()

    def _frictions(self, friction: float | Sequence[float] | Array) -> Array:
        count = len(self.points)
        values = numbers(friction, "friction")
        if values.shape not in ((), (count,)) or not ((values >= 0) & (values < np.inf)).all():
            raise WbcError(f"friction = {show(friction)} must be a number >= 0, or one for each of {count} points")
        return np.array(np.broadcast_to(values, (count,)))

    def _lay_out(self) -> None:
        model = self.model
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
        """See `Plant`; closed loops are closed in q, and stay so by v."""
        self._q = self._robot.close_loops(self.model.nominal if q is None else q)
        self._v = np.zeros(self.model.nv) if v is None else self._robot.project_velocity(self._q, v)
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
        if self._springs is not None:
            stored = self._springs.energy(self._ground.touch(self._robot)[0], self._stretch)
        return self._robot.kinetic_energy + self._robot.potential_energy + stored

    @property
    def contact_forces(self) -> dict[str, Array]:
        """See `Plant`: the impulses of the last step over its time; also on all that is named in `contacts`."""
        return dict(zip(self._sensors, self._felt @ self._forces, strict=True))

    @property
    def frames(self) -> tuple[str, ...]:
        """See `Plant`."""
        return self._robot.frames

    def measure(self, frames: Iterable[str]) -> None:
        """See `Plant`."""
        named = [self._check(frame) for frame in frames]
        self._sensors = tuple(dict.fromkeys([*self._sensors, *named]))
        places = [self._robot._find(frame) for frame in self._sensors]
        touching = [self._robot._find(point.frame) for point in self.points]
        at = [place.pose[:3, :3] @ p.offset + place.pose[:3, 3] for place, p in zip(touching, self.points, strict=True)]
        self._felt = felt(
            np.array(at).reshape(-1, 3),
            np.array([place.node for place in touching], dtype=np.intp),
            np.array([place.pose[:3, 3] for place in places]).reshape(-1, 3),
            np.array([place.node for place in places], dtype=np.intp),
        )

    def _check(self, frame: str) -> str:
        if frame not in self._robot.frames:
            raise unknown_name("frame", frame, self._robot.frames)
        return frame

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
        self._torque = np.clip(given, self.model.limits.least, self.model.limits.effort)

    @property
    def torque(self) -> Array:
        """See `Plant`."""
        return self._torque.copy()

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
        force = self._robot.actuator_force(self._torque) - self._robot.bias
        for frame, wrench in self._pushes.items():
            if wrench.any():
                force += self._robot.generalized_force(frame, wrench)
        return force

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
        loops = self._loops_in(L)
        if loops is not None:
            gap, J, _ = robot.loop_motion
            free = loops.changed(free, -gap / self._closing - J @ free)
        self._forces, self.impulses = np.zeros_like(self._forces), None
        if self.points or len(self._limited_v):
            free = self._contact_step(L, free, loops)
        return robot.integrate(self._q, free, dt) if np.isfinite(free).all() else self._q, free

    def _factor(self, M: Array) -> Array:
        """The Cholesky factor of a mass matrix."""
        L, failed = lapack.dpotrf(M, lower=1)
        if failed:
            raise WbcError(f"the mass matrix of {self.model.name!r} is singular: some part moves without mass")
        return np.asarray(L)

    @property
    def _closing(self) -> float:
        return max(CLOSING, 2.0 * self.timestep)

    def _loops_in(self, L: Array) -> ClosedLoops | None:
        """The robot's loops in its present state; None where it has none."""
        return ClosedLoops(self._robot.loop_motion.J, L) if self.model.loops else None

    def _contact_step(self, L: Array, free: Array, loops: ClosedLoops | None) -> Array:
        """The velocity at the end of a step, from that without contacts; L Lᵀ = M."""
        dt, nv, soft = self.timestep, len(free), self._springs
        gaps, axes, J = self._ground.touch(self._robot)
        speeds = J @ free
        if soft is not None:
            touching = np.flatnonzero(gaps + dt * speeds[:, 0] <= 0.0)
            offset = soft.offset(gaps[touching], self._stretch[touching], dt)
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
        if loops is not None:
            Y = loops.beside(Y)
        G = Y.T @ Y
        if soft is not None:
            G.flat[: borne * (len(G) + 1) : len(G) + 1] += soft.softness(dt)
        friction = np.append(self.friction[touching], np.zeros(len(stops)))
        answer = solve_coulomb(G, b.ravel(), friction, guess.ravel(), corrections=self._corrections)
        self.impulses, p = answer, answer.impulse[:borne].reshape(-1, 3)
        self._guess[touching], self._forces[touching] = p, np.einsum("ni,nij->nj", p, axes[touching]) / dt
        if soft is not None:
            self._stretch[touching] = soft.stretched(stretch, p[:, 1:], dt)
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
        self._forces, self._stretch, _, _ = self._pushed(self._v, self._stretch)
        start = (np.zeros(self.model.nv), self._v, self._stretch)
        stages: list[tuple[Array, Array, Array]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            u, v, stretch = start
            if stages:
                u, v, stretch = (x + share * dt * rate for x, rate in zip(start, stages[-1], strict=True))
            if not (np.isfinite(u).all() and np.isfinite(v).all()):
                return self._q, np.full_like(v, np.nan)
            robot.update(robot.integrate(self._q, u), v)
            _, _, slip, force = self._pushed(v, stretch)
            L = self._factor(robot.mass_matrix)
            pull = lapack.dpotrs(L, self._force() + force, lower=1)[0]
            loops = self._loops_in(L)
            if loops is not None:
                (gap, J, bias), T = robot.loop_motion, self._closing
                pull = loops.changed(pull, -bias - 2.0 * (J @ v) / T - gap / T**2 - J @ pull)
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

    def _pushed(self, v: Array, stretch: Array) -> tuple[Array, Array, Array, Array]:
        """The forces of soft ground in the robot's present state (see `Springs.push`).

        Returns:
            Forces in the world's axes; the stretch of the tangential springs as far as the cone allows, and its rate;
            the generalised force, shape (nv,).
        """
        if self._springs is None:
            return self._forces, stretch, np.zeros_like(stretch), np.zeros(len(v))
        gaps, axes, J = self._ground.touch(self._robot)
        f, stretch, rate = self._springs.push(gaps, J @ v, stretch)
        return np.einsum("ni,nij->nj", f, axes), stretch, rate, np.asarray(np.einsum("nij,ni->j", J, f))


def _approach(gaps: Array, dt: float) -> Array:
    """What a normal velocity may be below zero, m/s: what closes the gap; what is below the ground goes up slowly."""
    return np.where(gaps > 0.0, gaps / dt, np.maximum(RECOVERY[0] * gaps / dt, -RECOVERY[1]))
