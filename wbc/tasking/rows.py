"""Rows of equations and inequalities in the unknowns x of a tick: the output of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.errors import WbcError, show

if TYPE_CHECKING:
    from wbc.tasking.tick import Tick

Block = Array | IntArray | None
"""The part of some rows that meets one of v̇, f, τ: a matrix, the indices of the entries that it picks, or nothing."""

Kind = Literal["equation", "inequality"]
"""Whether rows ask for a value or for a range. A mixture of both is "inequality"."""

BLOCKS = ("acceleration", "force", "torque", "velocity")
"""The names of all blocks that rows can have: the first three in a controller's x, the last in that of velocities."""


class Rows:
    """Rows lower ≤ A x ≤ upper, A in its blocks.

    For torques x = (v̇, f, τ); for velocities (`wbc.kinematics`) x = v. A block may be a matrix, shape (rows, entries),
    or an array of indices, shape (rows,), for rows that each pick one entry, or None where it is zero. The arrays are
    not copied: whoever gives rows does not write to them afterwards.

    Attributes:
        lower: shape (rows,); -inf where there is no bound.
        upper: shape (rows,); +inf where there is no bound.
        acceleration: the columns of v̇.
        force: the columns of f.
        torque: the columns of τ.
        weights: of each squared residual, shape (rows,); None: all 1.
        velocity: the columns of v, where x is v.
        kind: "equation" or "inequality".
    """

    __slots__ = ("acceleration", "force", "kind", "lower", "torque", "upper", "velocity", "weights")

    def __init__(
        self,
        lower: Array,
        upper: Array,
        acceleration: Block = None,
        force: Block = None,
        torque: Block = None,
        weights: Array | None = None,
        velocity: Block = None,
        kind: Kind = "inequality",
    ) -> None:
        self.lower, self.upper = lower, upper
        self.acceleration, self.force, self.torque, self.velocity = acceleration, force, torque, velocity
        self.weights, self.kind = weights, kind

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
        return cls(right, right, acceleration, force, torque, weights, velocity, "equation")

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

    def matrix(self, tick: Tick) -> Array:
        """A in full, shape (rows, tick.n)."""
        layout = tick.layout
        A = np.zeros((len(self), layout.n))
        for name, where in layout.blocks.items():
            block = getattr(self, name)
            if block is None:
                continue
            if block.ndim == 1:
                A[np.arange(len(self)), where.start + block] = 1.0
            else:
                A[:, where] = block
        return A

    def check(self, tick: Tick, whose: str) -> None:
        """Raises a `WbcError` if a shape is wrong or a number is not one."""
        count, blocks = len(self), tick.layout.blocks
        if self.upper.shape != (count,):
            raise WbcError(f"{whose}: lower has shape {self.lower.shape}, upper {self.upper.shape}; they must be alike")
        for name in BLOCKS:
            block, where = getattr(self, name), blocks.get(name)
            if block is None:
                continue
            if where is None:
                names = ", ".join(blocks)
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
        if self.kind == "equation" and not np.array_equal(self.lower, self.upper):
            raise WbcError(f"{whose}: rows of the kind 'equation' have lower = upper")
        weights = self.weights
        if weights is not None:
            good = isinstance(weights, np.ndarray) and weights.shape == (count,) and weights.dtype.kind in "fiu"
            if not good or not ((weights >= 0) & (weights < np.inf)).all():
                raise WbcError(f"{whose}: weights must be an array of {count} finite numbers, zero or more")


def _vector(values: ArrayLike) -> Array:
    """Values as an array of one dimension; itself, where it is one."""
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "fiu":
        return values
    return np.atleast_1d(numbers(values, "what the rows are held to"))
