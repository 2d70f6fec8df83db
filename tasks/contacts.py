"""Tasks for contacts: hold them still, keep forces inside friction cones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import scipy.linalg

from tasks.axes import picked
from tasks.limbs import axes_held
from wbc.arrays import Array, ArrayLike, as_slice
from wbc.contacts import Contact, PointContact, RollingContact, SurfaceContact
from wbc.contacts.heading import aligned, heading
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, show, unknown_name
from wbc.model.parts import constant, plane_axes
from wbc.tasking.gains import Gains
from wbc.tasking.law import law
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick

Axes = str | Iterable[str]
"""Names of axes of a contact: its normal is z, and a text of one-letter names names several."""


class ContactMotion(Task):
    """Holds closed contacts still, and lets wheels roll without slip.

    J v̇ = −J̇v − kd J v + kp e, with e the way back to where each contact closed; for soles also the rotation. A wheel
    holds no position: its e is zero, and kd stops its slip.

    A contact that slides is held along its normal only: `axes="z"`, or `axes={"tool": "z"}` if the others stay. Other
    tasks decide its motion along the plane; `FrictionCones(sliding=...)` models the friction there.

    Args:
        gains: of the stabilisation, in 1/s² and 1/s; a contact on real ground does not need to be stiff. None: 100 and
            20, but a sliding contact is not brought back to the height where it closed: it follows the surface.
        axes: axes that are held, of "x", "y", "z", "rx", "ry", "rz" in the contact's own axes, z along its normal. One
            choice for every contact, or a dict from contacts to axes. None, and contacts that are not named: all; but
            not the roll of soles whose legs have fewer than six joints, where there are several soles. Such legs can't
            hold two soles in six axes and move the base as well: name all six where that is meant.
        name: see `Task`.
        weight: see `Task`.
    """

    holds_contacts = True

    def __init__(
        self,
        gains: Gains | None = None,
        axes: Axes | Mapping[str, Axes] | None = None,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__("contact motion" if name is None else name, weight)
        self.gains, self._rests = Gains.of(gains, Gains(kp=100.0, kd=20.0), self.name), gains is None
        if np.ndim(self.gains.kp) or np.ndim(self.gains.kd):
            raise WbcError(f"{self.name}: contacts of several kinds share the gains; kp and kd must be numbers")
        self._all: tuple[str, ...] | None = None
        self._of: dict[str, tuple[str, ...]] = {}
        self._can: dict[str, tuple[str, ...]] = {}  # what soles of legs with few joints are held in
        if isinstance(axes, Mapping):
            self._of = {str(contact): picked(names, self.name) for contact, names in axes.items()}
        elif axes is not None:
            self._all = picked(axes, self.name)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        for name in self._of:
            if name not in contacts:
                raise WbcError(f"{self.name}: {unknown_name('contact', name, contacts)}")
        soles = {c.name: c.frame for c in contacts.values() if isinstance(c, SurfaceContact) and c.on is None}
        held = axes_held(robot, set(soles.values())) if robot.model.floating else {}
        self._can = {name: held[frame] for name, frame in soles.items() if len(held[frame]) < 6} if held else {}
        for contact in contacts.values():
            self._held(contact)

    def _held(self, contact: Contact) -> tuple[str, ...]:
        """The axes of a contact that are held."""
        known = contact.axes
        axes = self._of.get(contact.name, self._all)
        if axes is None:
            return self._can.get(contact.name, known)
        if not set(axes) <= set(known):
            raise WbcError(f"{self.name}: contact {contact.name!r} has the axes {', '.join(known)}, not {show(axes)}")
        return axes

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; three rows a point, six a sole, up to three a wheel, or those of its axes."""
        J, bias = tick.contact_motion(robot)
        error = tick.contact_error(robot) if self.gains.kp else None
        if error is not None and self._rests and self._chooses:
            stays = [bool({"x", "y"} & set(self._held(contact))) for contact in tick.contacts]
            error = np.where(np.repeat(stays, [contact.rows for contact in tick.contacts]), error, 0.0)
        b = law(v=robot.v, J=J, bias=bias, kd=self.gains.kd, kp=self.gains.kp, wanted=error)
        if self._chooses:
            S = self._picking(robot, tick)
            return Rows.equal(S @ b, acceleration=S @ J)
        return Rows.equal(b, acceleration=J)

    @property
    def _chooses(self) -> bool:
        """Whether some contact is not held in all its axes."""
        return self._all is not None or bool(self._of or self._can)

    def _picking(self, robot: Dynamics, tick: Tick) -> Array:
        """What takes the rows of all contacts to those that are held."""
        parts: list[Array] = []
        for contact in tick.contacts:
            held = self._held(contact)
            if len(held) == contact.rows:  # in any axes: the world's, as without a choice
                parts.append(np.eye(contact.rows))
                continue
            parts.append(held_axes(robot, contact)[[contact.axes.index(axis) for axis in held]])
        return scipy.linalg.block_diag(*parts) if parts else np.zeros((0, 0))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of {contact.name}" for contact in tick.contacts for axis in self._held(contact)]


def held_axes(robot: Dynamics, contact: Contact) -> Array:
    """What takes the rows of a contact to its own axes, shape (rows, rows): those of a wheel are in them."""
    if isinstance(contact, RollingContact):
        return np.eye(contact.rows)
    return np.kron(np.eye(contact.rows // 3), contact_axes(robot, contact)).astype(float)


def contact_axes(robot: Dynamics, contact: Contact) -> Array:
    """A contact's own axes: two tangents and the normal, in rows, world axes, shape (3, 3).

    They turn with the sole of a surface, and with what a point touches.

    Args:
        robot: updated.
        contact: the contact.
    """
    axes = np.vstack([*plane_axes(contact.normal), contact.normal])
    carrier = contact.frame if isinstance(contact, SurfaceContact) else contact.on
    return axes if carrier is None else np.asarray(axes @ robot.pose(carrier)[:3, :3].T)


class _Laid:
    """The cones of the closed contacts, as far as they do not change from tick to tick.

    Args:
        tick: the contacts.
        sides: of the pyramids.
        names: of the contacts that slide: their rows are left empty.

    Attributes:
        contacts: whose they are.
        sliding: those that slide.
        facets: the rows of each contact.
    """

    def __init__(self, tick: Tick, sides: int, names: Iterable[str]) -> None:
        self.contacts = tick.contacts
        self.sliding = [contact for contact in tick.contacts if contact.name in names]
        blocks = [
            np.zeros((2, contact.size)) if contact in self.sliding else contact.carried_cone(sides)
            for contact in tick.contacts
        ]
        count = sum(map(len, blocks))
        self._still = np.zeros((count + len(blocks), tick.nf))
        self._lower, self._upper = np.full(len(self._still), -np.inf), np.zeros(len(self._still))
        self.facets: dict[str, slice] = {}
        self._turning: list[tuple[Contact, slice]] = []
        columns: list[int] = []
        start = 0
        for index, (contact, block) in enumerate(zip(tick.contacts, blocks, strict=True)):
            where, rows = tick.force_of(contact.name), slice(start, start + len(block))
            assert where is not None
            self._still[rows, where], self._still[count + index, where] = block, contact.carried_normals()
            self.facets[contact.name] = rows
            if contact in self.sliding:
                self._lower[rows] = 0.0
            if contact.turns:
                first = len(columns) // 3
                columns += range(where.start, where.stop)
                self._turning.append((contact, slice(first, len(columns) // 3)))
            start += len(block)
        self._count, self._least = count, [contact.minimum for contact in tick.contacts]
        # for each triple of force variables that turn its columns, to be turned at once
        self._columns = as_slice(np.array(columns, dtype=np.intp))
        triples = self._still[:, self._columns].reshape(len(self._still), len(columns) // 3, 3)
        self._triples = np.ascontiguousarray(triples.transpose(1, 0, 2))
        self._turns = np.empty((len(self._triples), 3, 3))
        self._with_heading = self._on_the_ground(tick) if all(c.carrier is None for c in tick.contacts) else None
        self._bounds: tuple[list[float], Array, Array] | None = None
        self._still.flags.writeable = False

    def _on_the_ground(self, tick: Tick) -> Array:
        """Three matrices in a row each, shape (3, rows nf): the first, and with cos ψ and sin ψ the others, are all
        rows at the heading ψ.
        """
        parts = np.zeros((3, *self._still.shape))
        parts[0] = self._still
        for contact, _ in self._turning:
            at = tick.force_of(contact.name)
            for part, turn in zip(parts, aligned(contact.normal), strict=True):
                part[:, at] = (self._still[:, at].reshape(-1, 3) @ turn.T).reshape(len(part), -1)
        return parts.reshape(3, -1)

    def turned(self, robot: Dynamics) -> Array:
        """All rows in world axes, shape (rows, nf)."""
        if self._with_heading is not None:
            matrix: Array = np.array((1.0, *heading(robot))).dot(self._with_heading).reshape(self._still.shape)
            return matrix
        for contact, triples in self._turning:
            self._turns[triples] = contact.turn(robot).T
        turned = np.empty((len(self._still), 3 * len(self._turns)))
        np.matmul(self._triples, self._turns, out=turned.reshape(len(turned), len(self._turns), 3).transpose(1, 0, 2))
        if turned.shape == self._still.shape:  # all of them turn
            return turned
        matrix = self._still.copy()
        matrix[:, self._columns] = turned
        return matrix

    def bounds(self, ceilings: list[float]) -> tuple[Array, Array]:
        """Lower and upper bounds, with the greatest normal forces of this tick."""
        if self._bounds is None or self._bounds[0] != ceilings:
            lower, upper = self._lower.copy(), self._upper.copy()
            lower[self._count :] = np.minimum(self._least, ceilings)
            upper[self._count :] = ceilings
            lower.flags.writeable = upper.flags.writeable = False
            self._bounds = list(ceilings), lower, upper
        return self._bounds[1:]


MOST_SIDES = 1000
"""A pyramid of so many sides is a cone but for 5e-6."""


class FrictionCones(Task):
    """Keeps contact forces inside the friction cone: no pulling, slipping or tipping.

    For each point a pyramid inside its cone of friction, on the ground aligned with the robot's heading; for each sole
    all facets of the cone of wrenches, which bound the centre of pressure to the polygon and the yaw moment too. Normal
    forces stay between the contact's minimum and maximum, and under its ceiling while it is being closed or opened.

    A sliding contact has kinetic friction instead of a cone: f_t = −μ f_n v_t / √(|v_t|² + v₀²),
    against its velocity along the plane, with the contact's coefficient. This is an equation.
    Below about v₀ it falls smoothly to zero, so that a contact at rest is not pushed.

    Compensating friction along the measured velocity acts like negative damping, up to μ f_n / v₀, if the real friction
    is smaller than assumed, or before the first touch. Give the planned velocity where there is one.

    Args:
        sides: of the pyramids.
        sliding: names of point contacts that slide, or a dict from these names to planned velocities, world axes, m/s,
            shape (3,), or functions of time; without a velocity, the measured one is used.
        slow: v₀, m/s.
        name: see `Task`.
        weight: see `Task`.
    """

    inequality = True
    bounds_contacts = True
    always_holds = True

    def __init__(
        self,
        sides: int = 4,
        sliding: str | Iterable[str] | Mapping[str, Callable[[float], ArrayLike]] = (),
        slow: float = 0.01,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__("friction cones" if name is None else name, weight)
        if not isinstance(sides, int) or not 3 <= sides <= MOST_SIDES:
            raise WbcError(f"{self.name}: sides = {show(sides)} must be a whole number, 3 to {MOST_SIDES}")
        self.sides = sides
        names = [sliding] if isinstance(sliding, str) else sliding
        if not isinstance(names, Iterable):
            raise WbcError(f"{self.name}: sliding = {show(sliding)} must be names of contacts")
        self.sliding = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
        self.slow = number(slow, f"{self.name}: slow, m/s,", above=True)
        self._laid: _Laid | None = None
        self._known: dict[tuple[object, ...], _Laid] = {}  # feet come down again and again

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        for name in self.sliding:
            if name not in contacts:
                raise WbcError(f"{self.name}: {unknown_name('contact', name, contacts)}")
            if not isinstance(contacts[name], PointContact):
                raise WbcError(
                    f"{self.name}: contact {name!r} is not a point contact; kinetic friction is known for points only"
                )
        for contact in contacts.values():
            contact.carried_cone(self.sides)  # that of a sole takes a millisecond, which no tick should

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; the facets of all contacts, then their normal forces."""
        laid = self._laid
        if laid is None or laid.contacts is not tick.contacts:
            laid = self._laid = self._lay_out(tick)
        matrix = laid.turned(robot)
        for contact in laid.sliding:
            matrix[laid.facets[contact.name], tick.force_of(contact.name)] = self._kinetic(robot, tick, contact)
        lower, upper = laid.bounds(tick.ceilings)
        return Rows(lower, upper, force=matrix)

    def _lay_out(self, tick: Tick) -> _Laid:
        """The cones of the contacts of a tick; made once for the same contacts."""
        key = tick.contacts, self.sides, *self.sliding
        if key not in self._known:
            self._known[key] = _Laid(tick, self.sides, self.sliding)
        return self._known[key]

    def _kinetic(self, robot: Dynamics, tick: Tick, contact: Contact) -> Array:
        """C with C f = f_t + μ f_n v_t / √(|v_t|² + v₀²), zero where a contact slides; shape (2, 3)."""
        tangents, n = np.split(contact_axes(robot, contact), [2])
        planned = self.sliding[contact.name]
        if planned is None:
            J, _ = tick.contact_motion(robot)
            start = sum(other.rows for other in tick.contacts[: tick.contacts.index(contact)])
            speed = tangents @ (J[start : start + 3] @ robot.v)
        else:
            speed = tangents @ constant(planned(tick.time), (3,), f"{self.name}: velocity of {contact.name!r}")
        return np.asarray(tangents + contact.friction * np.outer(speed / np.hypot(np.linalg.norm(speed), self.slow), n))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        names = []
        for contact in tick.contacts:
            if contact.name in self.sliding:
                names += [f"kinetic friction of {contact.name}"] * 2
            else:
                names += [f"friction of {contact.name}"] * len(contact.cone(robot, self.sides))
        return names + [f"normal force of {contact.name}" for contact in tick.contacts]
