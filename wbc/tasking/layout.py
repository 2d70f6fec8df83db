"""The layout of the unknowns x = (v̇, f, τ) of a tick, for a set of closed contacts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wbc.arrays import Array, as_slice
from wbc.dynamics.base import Dynamics
from wbc.errors import unknown_name
from wbc.geometry.pose_error import pose_errors

if TYPE_CHECKING:
    from wbc.contacts import Contact


class ContactKinematics(NamedTuple):
    """How the closed contacts of a layout move in a state.

    Attributes:
        places: of contacts that are all points on the ground their positions, m, world axes, shape (rows,); of contacts
            that are all on the ground their poses, shape (n, 4, 4); None where some touch another body.
        J: the Jacobian of what they hold still, shape (rows, nv).
        bias: J̇v, shape (rows,).
        J_force: Jacobian of their forces: the generalised force is J_forceᵀ f, shape (nf, nv); contacts first, then
            loops.
    """

    places: Array | None
    J: Array
    bias: Array
    J_force: Array


class Layout:
    """The layout of x = (v̇, f, τ) (ETH 3.109), or of x = v. It does not change once it is made.

    Args:
        robot: whose v̇ and τ they are.
        contacts: that exert forces, in the order of f.
        kinematic: whether x is v.

    Attributes:
        nv: entries of v̇.
        nf: entries of f: forces of contacts, then those that hold the robot's closed loops.
        nc: entries of f that are forces of contacts.
        na: entries of τ.
        n: entries of x.
        blocks: where each block of rows stands in x, by its name.
        contacts: those that exert forces.
    """

    def __init__(self, robot: Dynamics, contacts: Iterable[Contact] = (), kinematic: bool = False) -> None:
        self.contacts = tuple(contacts)
        self.nv, self.na, self.kinematic = robot.nv, robot.na, kinematic
        self._slices: dict[str, slice] = {}
        start = 0
        for contact in self.contacts:
            contact.fit(robot)
            self._slices[contact.name] = slice(start, start + contact.size)
            start += contact.size
        loops = {} if kinematic else robot.loop_rows
        self.nc = 0 if kinematic else start
        self._loops = {name: slice(start + rows.start, start + rows.stop) for name, rows in loops.items()}
        self._loop_names = robot.loop_names if loops else []
        self.nf = self.nc + len(self._loop_names)
        self.n = self.nv if kinematic else self.nv + self.nf + self.na
        a, f = self.nv, self.nv + self.nf
        self.blocks = (
            {"velocity": slice(0, self.n)}
            if kinematic
            else {"acceleration": slice(0, a), "force": slice(a, f), "torque": slice(f, self.n)}
        )
        self._same = all(contact.size == contact.rows for contact in self.contacts)
        self._points = tuple(contact.frame for contact in self.contacts)
        self._plain = bool(self.contacts) and all(contact.plain for contact in self.contacts)
        self._grounded = bool(self.contacts) and all(contact.grounded for contact in self.contacts)
        held = [range(6 * k, 6 * k + contact.rows) for k, contact in enumerate(self.contacts)]
        self._held = as_slice(np.array([row for rows in held for row in rows], dtype=np.intp))
        # What was computed last. Each is one tuple, replaced at once: a second thread sees the old one or the new one.
        self._known: tuple[Dynamics | None, int, ContactKinematics | None] = (None, 0, None)
        self._anchored: tuple[object, Array | None] = (None, None)

    def force_of(self, contact: str) -> slice | None:
        """Where the force of a contact stands in f; None while it is open."""
        return self._slices.get(contact)

    def loop_force_of(self, loop: str) -> slice:
        """Where the forces that hold a closed loop stand in f."""
        if loop not in self._loops:
            raise unknown_name("loop", loop, self._loops)
        return self._loops[loop]

    @property
    def loop_names(self) -> list[str]:
        """What each force that holds a loop is, shape (nf - nc,)."""
        return list(self._loop_names)

    def contact(self, name: str) -> Contact:
        """The closed contact of that name."""
        for contact in self.contacts:
            if contact.name == name:
                return contact
        raise unknown_name("closed contact", name, [contact.name for contact in self.contacts])

    def kinematics(self, robot: Dynamics) -> ContactKinematics:
        """How the contacts move in the robot's present state; computed once a state."""
        whose, updates, found = self._known
        if found is None or whose is not robot or updates != robot.updates:
            found = self._compute(robot)
            self._known = robot, robot.updates, found
        return found

    def _compute(self, robot: Dynamics) -> ContactKinematics:
        places: Array | None = None
        if self._plain:
            places, J, bias = robot.points(self._points)
            J_force = J
        elif not self.contacts:
            J, bias = np.zeros((0, self.nv)), np.zeros(0)
            J_force = J
        else:
            if self._grounded:
                places, J, bias, _ = robot.frames_motion(self._points)
                J, bias = J[self._held], bias[self._held]
            else:
                robot.frames_motion(self._points)  # together they cost little more than one
                parts = [contact.motion(robot) for contact in self.contacts]
                J = np.concatenate([part for part, _ in parts])
                bias = np.concatenate([part for _, part in parts])
            J_force = J if self._same else self._spread(robot, J)
        if self._loops:
            J_force = np.concatenate([J_force, robot.loop_motion.J])
        for shared in (J, bias, J_force):
            shared.setflags(write=False)
        return ContactKinematics(places, J, bias, J_force)

    def _spread(self, robot: Dynamics, J: Array) -> Array:
        """The Jacobian of the force variables, where some contacts have more of them than motions that are held."""
        parts, start = [], 0
        for contact in self.contacts:
            parts.append(contact.spread(robot, J[start : start + contact.rows]))
            start += contact.rows
        return np.concatenate(parts)

    def contact_error(self, robot: Dynamics, anchors: list[Array | None]) -> Array:
        """How far, desired minus measured, the contacts are from where they closed, shape (rows,)."""
        places = self.kinematics(robot).places
        if places is not None:
            held = self._places(anchors)
            if held is not None:
                return held - places if self._plain else pose_errors(held, places)[self._held]
        errors = [
            np.zeros(contact.rows) if anchor is None else contact.error(robot, anchor)
            for contact, anchor in zip(self.contacts, anchors, strict=True)
        ]
        return np.concatenate(errors) if errors else np.zeros(0)

    def _places(self, anchors: list[Array | None]) -> Array | None:
        """The points, or poses, of all anchors in one array; None where one has no place to hold."""
        whose, held = self._anchored
        if whose is not anchors:
            poses = [anchor for anchor in anchors if anchor is not None]
            held = None
            if len(poses) == len(anchors):
                held = np.concatenate([pose[:3, 3] for pose in poses]) if self._plain else np.array(poses)
            self._anchored = anchors, held
        return held
