"""Tasks on the ground forces: centre of pressure, zero-moment point, and divergent component of motion."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.contacts import Contact, SurfaceContact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, show, unknown_name, word
from wbc.geometry import so3
from wbc.tasking.gains import rate_gain
from wbc.tasking.rows import Rows
from wbc.tasking.target import Aimed, Moving, Target
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


def contact_wrench(robot: Dynamics, tick: Tick, height: float) -> Array:
    """W with W f the wrench of all contact forces about the point (0, 0, height) of the world, shape (6, nf).

    Args:
        robot: with a floating base, updated.
        tick: the closed contacts.
        height: m.
    """
    J = tick.contact_jacobian(robot)[:, :6].T
    pose = robot.pose(robot.model.root)
    W = np.empty_like(J)
    W[:3] = J[:3]
    W[3:] = pose[:3, :3] @ J[3:] + so3.skew(pose[:3, 3] - np.array([0.0, 0.0, height])) @ J[:3]
    return W


def _floating(robot: Dynamics, whose: str) -> None:
    if not robot.model.floating:
        raise WbcError(
            f"{whose}: {robot.model.name!r} has a fixed base: the zero-moment point is defined for a floating base only"
        )


def _sole(contacts: Mapping[str, Contact], name: str, whose: str) -> None:
    if name not in contacts:
        raise WbcError(f"{whose}: {unknown_name('contact', name, contacts)}")
    if not isinstance(contacts[name], SurfaceContact):
        raise WbcError(
            f"{whose}: contact {name!r} must be a wbc.SurfaceContact: the pressure of a point contact can't move"
        )


def _of_sole(robot: Dynamics, tick: Tick, name: str) -> Array | None:
    """W with W f the wrench of a sole in its own axes, at its frame's origin, shape (6, nf); None while it is open."""
    where = tick.force_of(name)
    if where is None:
        return None
    contact, W = tick.contact(name), np.zeros((6, tick.nf))
    R = robot.pose(contact.frame)[:3, :3]
    wrench = contact.wrench(robot, np.eye(contact.size))
    W[:3, where], W[3:, where] = R.T @ wrench[:3], R.T @ wrench[3:]
    return W


class CenterOfPressure(Aimed):
    """Moves a sole's centre of pressure to a point: the moments of its force about that point vanish.

    (p × F_z z − M)_xy = 0 in the sole's axes, two rows on f, N m.

    Args:
        contact: name of a `wbc.SurfaceContact`.
        target: x and y in the sole's frame, m, shape (2,); or a function of time.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`; N m.
    """

    def __init__(
        self,
        contact: str,
        target: ArrayLike | Moving = (0.0, 0.0),
        *,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(f"pressure of {contact}" if name is None else name, weight, tolerance)
        self.contact = word(contact, f"{self.name}: contact")
        self._target = Target(target, ((2,),), 2, None, None, self.name)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        _sole(contacts, self.contact, self.name)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; two rows, none while the contact is open."""
        W = _of_sole(robot, tick, self.contact)
        if W is None:
            return Rows.equal(np.zeros(0), force=np.zeros((0, tick.nf)))
        x, y = self._target.at(tick.time, np.zeros(2))[0]
        return Rows.equal(np.zeros(2), force=np.stack([W[3] - y * W[2], W[4] + x * W[2]]))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        closed = tick.force_of(self.contact) is not None
        return [f"moment {axis} about the point in {self.contact}" for axis in "xy"] if closed else []


class ZeroMomentPoint(Aimed):
    """Moves the zero-moment point of all contact forces to a point on the ground.

    (M − p × F)_xy = 0 about p, two rows on f, N m.

    Args:
        target: x and y in the world, m, shape (2,); or a function of time.
        height: of the ground, m.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`; N m.
    """

    def __init__(
        self,
        target: ArrayLike | Moving,
        height: float = 0.0,
        *,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__("zero-moment point" if name is None else name, weight, tolerance)
        self.height = number(height, f"{self.name}: height", low=-math.inf)
        self._target = Target(target, ((2,),), 2, None, None, self.name)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        _floating(robot, self.name)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; two rows."""
        W = contact_wrench(robot, tick, self.height)
        x, y = self._target.at(tick.time, np.zeros(2))[0]
        return Rows.equal(np.zeros(2), force=np.stack([W[3] - y * W[2], W[4] + x * W[2]]))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"moment {axis} about the zero-moment point" for axis in "xy"]


class PressureBounds(Task):
    """Keeps the centre of pressure of a sole, or the zero-moment point of all contacts, within a polygon.

    n·(p − e) F_z ≤ 0 for each edge with its outward normal n, rows on f.

    Args:
        region: corners of a convex polygon, m, shape (n, 2): in the sole's frame or the world; None: the sole's own.
        contact: name of a `wbc.SurfaceContact`; None: all contacts.
        height: of the ground, for all contacts, m.
        margin: kept from the edges, m.
        name: see `Task`.
        weight: see `Task`.
    """

    inequality = True

    def __init__(
        self,
        region: ArrayLike | None = None,
        contact: str | None = None,
        height: float = 0.0,
        margin: float = 0.0,
        *,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        of = "zero-moment point" if contact is None else f"pressure of {contact}"
        super().__init__(f"{of} bounds" if name is None else name, weight)
        if region is None and contact is None:
            raise WbcError(f"{self.name}: give region=, the corners of a polygon, or contact=, a sole")
        self.contact = None if contact is None else word(contact, f"{self.name}: contact")
        self.height = number(height, f"{self.name}: height", low=-math.inf)
        self.margin = number(margin, f"{self.name}: margin", high=10.0)
        self._edges = None if region is None else edges(region, self.margin, self.name)

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        if self.contact is None:
            _floating(robot, self.name)
            return
        _sole(contacts, self.contact, self.name)
        self._of(contacts[self.contact])

    def _of(self, contact: Contact) -> tuple[Array, Array]:
        """Outward normals and distances of the edges."""
        if self._edges is None:
            assert isinstance(contact, SurfaceContact)
            self._edges = edges(contact.corners[:, :2], self.margin, self.name)
        return self._edges

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an edge."""
        if self.contact is None:
            W = contact_wrench(robot, tick, self.height)
            assert self._edges is not None
            normals, reach = self._edges
        else:
            found = _of_sole(robot, tick, self.contact)
            if found is None:
                return Rows.between(np.zeros(0), np.zeros(0), force=np.zeros((0, tick.nf)))
            W = found
            normals, reach = self._of(tick.contact(self.contact))
        A = normals[:, :1] * -W[4] + normals[:, 1:] * W[3] - reach[:, None] * W[2]
        return Rows.between(np.full(len(A), -np.inf), np.zeros(len(A)), force=A)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"edge {k}" for k in range(len(self.rows(robot, tick)))]


def edges(corners: ArrayLike, margin: float, whose: str) -> tuple[Array, Array]:
    """The edges of the hull of points in a plane: outward unit normals, shape (n, 2), and n·p on each, shape (n,).

    Args:
        corners: m, shape (n, 2).
        margin: by which they are moved inwards, m.
        whose: for messages.
    """
    from scipy.spatial import ConvexHull, QhullError

    given = np.asarray(corners, dtype=float)
    if given.ndim != 2 or given.shape[1] != 2 or len(given) < 3 or not np.isfinite(given).all():
        raise WbcError(f"{whose}: a polygon must be three or more points, shape (n, 2), not {show(corners)}")
    try:
        found = ConvexHull(given).equations
    except QhullError:
        raise WbcError(f"{whose}: the corners {show(given.tolist())} lie on a line") from None
    found = found[np.sort(np.unique(found.round(9), axis=0, return_index=True)[1])]
    normals, reach = found[:, :2], -found[:, 2] - margin
    if not (given.mean(axis=0) @ normals.T < reach).all():
        raise WbcError(f"{whose}: a margin of {margin:g} m leaves nothing of the polygon")
    return normals, reach


class DivergentComponent(Aimed):
    """Moves the divergent component of motion, ξ = c + ċ / ω, to a point: where a walker would have to step.

    c̈ = ω (ξ̇* + k (ξ* − ξ) − ċ), rows x and y; ω = √(g / height). The centre of mass follows ξ by itself: ċ = ω (ξ − c).

    Args:
        target: ξ*, m, shape (2,); or a function of time that gives it, or it with velocity and acceleration, of which
            the last one is not used; None: where it is at the first tick.
        gain: k, 1/s.
        height: height of the centre of mass above the ground, m; None: above the closed contacts, at the first tick.
        velocity: feed-forward ξ̇* beside a constant target, m/s, shape (2,).
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    def __init__(
        self,
        target: ArrayLike | Moving | None = None,
        gain: ArrayLike = 5.0,
        height: float | None = None,
        *,
        velocity: ArrayLike | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__("divergent component" if name is None else name, weight, tolerance)
        self.gain = rate_gain(gain, self.name, 2)
        self._given = None if height is None else number(height, f"{self.name}: height", above=True)
        self._height = self._given
        self._target = Target(target, ((2,),), 2, velocity, None, self.name)

    def reset(self) -> None:
        """See `Task`."""
        super().reset()
        self._height = self._given

    def omega(self, robot: Dynamics, tick: Tick) -> float:
        """ω, 1/s.

        Args:
            robot: updated.
            tick: the closed contacts.
        """
        if self._height is None:
            places = [robot.pose(contact.frame)[2, 3] for contact in tick.contacts]
            height = float(robot.com[2]) - (float(np.mean(places)) if places else 0.0)
            if height <= 0.0:
                raise WbcError(f"{self.name}: the centre of mass is {height:g} m above its contacts; give height=")
            self._height = height
        return math.sqrt(float(np.linalg.norm(robot.model.gravity)) / self._height)

    def value(self, robot: Dynamics, tick: Tick) -> Array:
        """ξ, m, shape (2,).

        Args:
            robot: updated.
            tick: the closed contacts.
        """
        found: Array = robot.com[:2] + robot.com_velocity[:2] / self.omega(robot, tick)
        return found

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; two rows."""
        omega, xi = self.omega(robot, tick), self.value(robot, tick)
        wanted, rate, _ = self._target.at(tick.time, xi)
        b = omega * (rate + self.gain * (wanted - xi) - robot.com_velocity[:2]) - robot.com_bias[:2]
        return Rows.equal(b, acceleration=robot.com_jacobian[:2])

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; m."""
        xi = self.value(robot, tick)
        return self._target.at(tick.time, xi)[0] - xi

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"{axis} of the divergent component" for axis in "xy"]
