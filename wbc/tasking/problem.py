"""What tasks speak of: the decision variables x = (v̇, f, τ) of a tick, and rows of equations and inequalities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name

if TYPE_CHECKING:
    from wbc.contacts import Contact

Block = Array | IntArray | None
"""The part of some rows that meets one of v̇, f, τ: a matrix, the indices of the entries that it picks, or nothing."""

BLOCKS = ("acceleration", "force", "torque", "velocity")
"""The names of all blocks that rows can have: the first three in a controller's x, the last in that of velocities."""


class Rows:
    """Rows lower ≤ A x ≤ upper, A in its blocks: equations where the bounds meet.

    For torques x = (v̇, f, τ); for velocities (`wbc.kinematics`) x = v. A block may be a matrix, shape (rows, entries),
    or an array of indices, shape (rows,), for rows that each pick one entry, or None where it is zero.

    Attributes:
        lower: shape (rows,); -inf where there is no bound.
        upper: shape (rows,); +inf where there is no bound.
        acceleration: the columns of v̇.
        force: the columns of f.
        torque: the columns of τ.
        weights: of each squared residual, shape (rows,); None: all 1.
        velocity: the columns of v, where x is v.
    """

    __slots__ = ("acceleration", "force", "lower", "torque", "upper", "velocity", "weights")

    def __init__(
        self,
        lower: Array,
        upper: Array,
        acceleration: Block = None,
        force: Block = None,
        torque: Block = None,
        weights: Array | None = None,
        velocity: Block = None,
    ) -> None:
        self.lower, self.upper = lower, upper
        self.acceleration, self.force, self.torque, self.velocity = acceleration, force, torque, velocity
        self.weights = weights

    def __repr__(self) -> str:
        equations = int((self.lower == self.upper).sum())
        on = [name for name in BLOCKS if getattr(self, name) is not None]
        return f"<Rows: {equations} =, {len(self) - equations} ≤, on {', '.join(on) or 'nothing'}>"

    @classmethod
    def equal(
        cls,
        b: ArrayLike,
        *,
        acceleration: Block = None,
        force: Block = None,
        torque: Block = None,
        weights: Array | None = None,
        velocity: Block = None,
    ) -> Rows:
        """Equations A x = b.

        Args:
            b: shape (rows,).
            acceleration: the columns of v̇: a matrix, or indices of v̇.
            force: the columns of f.
            torque: the columns of τ.
            weights: of each squared residual, shape (rows,).
            velocity: the columns of v, where x is v.
        """
        right = _vector(b)
        return cls(right, right, acceleration, force, torque, weights, velocity)

    @classmethod
    def between(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        acceleration: Block = None,
        force: Block = None,
        torque: Block = None,
        weights: Array | None = None,
        velocity: Block = None,
    ) -> Rows:
        """Inequalities lower ≤ A x ≤ upper; the arguments are those of `equal`."""
        return cls(_vector(lower), _vector(upper), acceleration, force, torque, weights, velocity)

    def __len__(self) -> int:
        return len(self.lower)

    def matrix(self, variables: Variables) -> Array:
        """A in full, shape (rows, variables.n)."""
        A = np.zeros((len(self), variables.n))
        for block, where in zip(variables.blocks_of(self), variables.blocks.values(), strict=True):
            if block is None:
                continue
            if block.ndim == 1:
                A[np.arange(len(self)), where.start + block] = 1.0
            else:
                A[:, where] = block
        return A

    def check(self, variables: Variables, whose: str) -> None:
        """Raises a `WbcError` if a shape is wrong or a number is not one."""
        count = len(self)
        if self.upper.shape != (count,):
            raise WbcError(f"{whose}: lower has shape {self.lower.shape}, upper {self.upper.shape}; they must be alike")
        for name in BLOCKS:
            block, where = getattr(self, name), variables.blocks.get(name)
            if block is None:
                continue
            if where is None:
                names = ", ".join(variables.blocks)
                raise WbcError(f"{whose} has rows on {name}, which is not among what is solved for here ({names})")
            size = where.stop - where.start
            if not isinstance(block, np.ndarray) or block.dtype.kind not in "fiu":
                raise WbcError(f"{whose}: the {name} block must be an array of numbers, not {show(block)}")
            if block.ndim == 1:
                if block.dtype.kind not in "iu":
                    raise WbcError(f"{whose}: the {name} block has one dimension; a matrix is ({count}, {size})")
                if block.shape != (count,) or (count and not 0 <= block.min() <= block.max() < size):
                    raise WbcError(f"{whose}: the {name} indices must be {count} numbers from 0 to {size - 1}")
            elif block.shape != (count, size):
                raise WbcError(f"{whose}: the {name} block has shape {block.shape}; it must be ({count}, {size})")
            elif not np.isfinite(block).all():
                raise WbcError(f"{whose}: the {name} block is not finite")
        wrong = ~((self.lower <= self.upper) & (self.lower < np.inf) & (self.upper > -np.inf))
        if wrong.any():
            row = int(wrong.argmax())
            raise WbcError(
                f"{whose}: {self.lower[row]} <= A x <= {self.upper[row]} of row {row} can't hold: a bound is not a "
                "number, or infinite on the wrong side, or the lower one is above its upper one"
            )
        weights = self.weights
        if weights is not None:
            good = isinstance(weights, np.ndarray) and weights.shape == (count,) and weights.dtype.kind in "fiu"
            if not good or not ((weights >= 0) & (weights < np.inf)).all():
                raise WbcError(f"{whose}: weights must be an array of {count} finite numbers, zero or more")


def _vector(values: ArrayLike) -> Array:
    """Values as an array of one dimension; itself, where it is one."""
    if type(values) is np.ndarray and values.ndim == 1:
        return values
    return np.atleast_1d(numbers(values, "what the rows are held to"))


class Variables:
    """The layout of x = (v̇, f, τ) (ETH 3.109), and what a tick knows beside the robot's state.

    Args:
        robot: whose v̇ and τ they are.
        contacts: that exert forces now, in the order of f.

    Attributes:
        nv: entries of v̇.
        nf: entries of f.
        na: entries of τ.
        n: entries of x.
        acceleration: where v̇ stands in x.
        force: where f stands in x.
        torque: where τ stands in x.
        blocks: where each block of rows stands in x, by its name.
        contacts: those that exert forces now.
        ceilings: the greatest normal force of each contact now, N: less than its maximum while it is closed or opened.
        anchors: where each contact was when it closed, a pose against what it touches; None: no place is held.
        time: s.
        period: between ticks, s.
        last_torque: of the tick before, shape (na,); None at the first.
    """

    def __init__(self, robot: Dynamics, contacts: Iterable[Contact] = ()) -> None:
        self.contacts = tuple(contacts)
        self.nv, self.na = robot.nv, robot.na
        self._slices: dict[str, slice] = {}
        start = 0
        for contact in self.contacts:
            self._slices[contact.name] = slice(start, start + contact.size)
            start += contact.size
        self.nf = start
        self.n = self.nv + self.nf + self.na
        self.acceleration = slice(0, self.nv)
        self.force = slice(self.nv, self.nv + self.nf)
        self.torque = slice(self.nv + self.nf, self.n)
        self.blocks = {"acceleration": self.acceleration, "force": self.force, "torque": self.torque}
        self.ceilings: list[float] = [contact.maximum for contact in self.contacts]
        self.anchors: list[Array | None] = [None for _ in self.contacts]
        self.time = 0.0
        self.period = 1e-3
        self.last_torque: Array | None = None
        self._motion_of: tuple[Dynamics, int] | None = None
        self._same = all(contact.size == contact.rows for contact in self.contacts)
        self._points = tuple(contact.frame for contact in self.contacts)
        self._plain = bool(self.contacts) and all(contact.plain for contact in self.contacts)
        self._anchored_for: list[Array | None] = []
        self._anchored: Array | None = None

    def blocks_of(self, rows: Rows) -> tuple[Block, ...]:
        """The blocks of rows, in the order of `blocks`."""
        return rows.acceleration, rows.force, rows.torque

    def force_of(self, contact: str) -> slice | None:
        """Where the force of a contact stands in f; None while it is open."""
        return self._slices.get(contact)

    def contact(self, name: str) -> Contact:
        """The closed contact of that name."""
        for contact in self.contacts:
            if contact.name == name:
                return contact
        raise unknown_name("closed contact", name, [contact.name for contact in self.contacts])

    def _kinematics(self, robot: Dynamics) -> None:
        """Computes, once a state, the contacts' Jacobians and biases."""
        stamp = robot, robot.updates  # the robot itself: an id is given anew to another one once it is gone
        if self._motion_of == stamp:
            return
        if self._plain:
            self._positions, self._motion, self._motion_bias = robot.points(self._points)
            self._force_jacobian = self._motion
        elif not self.contacts:
            self._motion, self._motion_bias = np.zeros((0, self.nv)), np.zeros(0)
            self._force_jacobian = self._motion
        else:
            parts = [contact.motion(robot) for contact in self.contacts]
            self._motion = np.concatenate([J for J, _ in parts])
            self._motion_bias = np.concatenate([bias for _, bias in parts])
            if self._same:
                self._force_jacobian = self._motion
            else:
                spread = [contact.spread(robot, J) for contact, (J, _) in zip(self.contacts, parts, strict=True)]
                self._force_jacobian = np.concatenate(spread)
        for shared in (self._motion, self._motion_bias, self._force_jacobian):
            shared.setflags(write=False)
        self._motion_of = stamp

    def contact_jacobian(self, robot: Dynamics) -> Array:
        """J with generalized force Jᵀ f of all closed contacts, shape (nf, nv)."""
        self._kinematics(robot)
        return self._force_jacobian

    def contact_error(self, robot: Dynamics) -> Array:
        """How far, desired minus measured, the closed contacts are from where they closed, shape (rows,)."""
        self._kinematics(robot)
        if self._plain:
            if self._anchored_for is not self.anchors:
                held = [anchor[:3, 3] for anchor in self.anchors if anchor is not None]
                self._anchored_for = self.anchors
                self._anchored = np.concatenate(held) if len(held) == len(self.anchors) else None
            if self._anchored is not None:
                return self._anchored - self._positions
        errors = [
            np.zeros(contact.rows) if anchor is None else contact.error(robot, anchor)
            for contact, anchor in zip(self.contacts, self.anchors, strict=True)
        ]
        return np.concatenate(errors) if errors else np.zeros(0)

    def contact_motion(self, robot: Dynamics) -> tuple[Array, Array]:
        """The Jacobian of what the closed contacts hold still, shape (rows, nv), and its bias J̇v, shape (rows,)."""
        self._kinematics(robot)
        return self._motion, self._motion_bias
