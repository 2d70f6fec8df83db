"""Where things stand in the unknowns x = (v̇, f, τ) of a tick, for a set of closed contacts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.errors import unknown_name

if TYPE_CHECKING:
    from wbc.contacts import Contact


class ContactKinematics(NamedTuple):
    """How the closed contacts of a layout move in a state.

    Attributes:
        positions: of contacts that are all points on the ground, m, world axes, shape (rows,); None where some are not.
        J: the Jacobian of what they hold still, shape (rows, nv).
        bias: J̇v, shape (rows,).
        J_force: with generalized force J_forceᵀ f, shape (nf, nv).
    """

    positions: Array | None
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
        nf: entries of f.
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
            self._slices[contact.name] = slice(start, start + contact.size)
            start += contact.size
        self.nf = 0 if kinematic else start
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
        # What was computed last. Each is one tuple, replaced at once: a second thread sees the old one or the new one.
        self._known: tuple[Dynamics | None, int, ContactKinematics | None] = (None, 0, None)
        self._anchored: tuple[object, Array | None] = (None, None)

    def force_of(self, contact: str) -> slice | None:
        """Where the force of a contact stands in f; None while it is open."""
        return self._slices.get(contact)

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
        positions: Array | None = None
        if self._plain:
            positions, J, bias = robot.points(self._points)
            J_force = J
        elif not self.contacts:
            J, bias = np.zeros((0, self.nv)), np.zeros(0)
            J_force = J
        else:
            parts = [contact.motion(robot) for contact in self.contacts]
            J = np.concatenate([part for part, _ in parts])
            bias = np.concatenate([part for _, part in parts])
            if self._same:
                J_force = J
            else:
                spread = [contact.spread(robot, part) for contact, (part, _) in zip(self.contacts, parts, strict=True)]
                J_force = np.concatenate(spread)
        for shared in (J, bias, J_force):
            shared.setflags(write=False)
        return ContactKinematics(positions, J, bias, J_force)

    def contact_error(self, robot: Dynamics, anchors: list[Array | None]) -> Array:
        """How far, desired minus measured, the contacts are from where they closed, shape (rows,)."""
        positions = self.kinematics(robot).positions
        if positions is not None:
            held = self._places(anchors)
            if held is not None:
                return held - positions
        errors = [
            np.zeros(contact.rows) if anchor is None else contact.error(robot, anchor)
            for contact, anchor in zip(self.contacts, anchors, strict=True)
        ]
        return np.concatenate(errors) if errors else np.zeros(0)

    def _places(self, anchors: list[Array | None]) -> Array | None:
        """The points of all anchors in one array; None where one has no place to hold."""
        whose, held = self._anchored
        if whose is not anchors:
            points = [anchor[:3, 3] for anchor in anchors if anchor is not None]
            held = np.concatenate(points) if len(points) == len(anchors) else None
            self._anchored = anchors, held
        return held
