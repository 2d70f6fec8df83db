"""The input of a solver: levels of rows ``lower <= A x <= upper``, and the same rows in one block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple, TypeAlias

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a hierarchy: rows ``lower <= A x <= upper``, wanted in the least-squares sense.

    The arguments are copied, checked once, and read-only afterwards.

    Attributes:
        A: the rows, shape (m, n); m = 0 is an empty level.
        lower: lower bounds, shape (m,); -inf where there is none. A scalar holds for every row.
        upper: upper bounds, shape (m,); +inf where there is none; equal to `lower` for an equality.
        weights: what each row's *squared* residual is multiplied by, shape (m,); None for ones.
        name: what the level is called in messages.
    """

    A: Array
    lower: Array
    upper: Array
    weights: Array | None = None
    name: str = ""

    def __post_init__(self) -> None:
        checked = check_level(
            self.A, self.lower, self.upper, self.weights, f"level {self.name!r}" if self.name else "level"
        )
        for field, value in zip(("A", "lower", "upper", "weights"), checked, strict=True):
            if value is not None:
                value.flags.writeable = False
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.A)


LevelLike: TypeAlias = "Level | tuple[ArrayLike, ArrayLike, ArrayLike]"


class Elasticity(NamedTuple):
    """How levels below the exact ones yield, and when: see `ElasticQP`.

    Attributes:
        posture: the level by which pulls are measured, an index of the hierarchy.
        pull: bound on the pull of the level above the posture, m/s².
        time: of the tick, s; a solve at the time of the last one is that one once more.
        rows: names of the rows in their order, and how many have each name: memory of rows goes by these. Empty: by
            levels.
    """

    posture: int
    pull: float
    time: float = nan
    rows: tuple[tuple[str, int], ...] = ()


class Hierarchy:
    """All levels in one block of rows, highest priority first.

    A controller lays one out once and writes into `A`, `lower` and `upper` every tick: solvers take it in place of a
    list of levels and do not check it again (a NaN in it is still found, and named). Nothing of it is kept by a solver.

    Attributes:
        A: rows of all levels, shape (M, n), C order.
        lower, upper: bounds, shape (M,).
        weights: weights of the squared residuals, shape (M,); None for ones.
        norms: the sizes of the rows before anything was eliminated from them, shape (M,): ranks are judged by these.
            None: the norms of the rows of A.
        exact: how many levels, from the first on, a solver that trades priorities must not trade.
        elasticity: of the levels below these, for `ElasticQP`; None: the last level is the posture.
        starts: first row of each level, and M at the end.
        names: names of the levels, for messages.
    """

    __slots__ = (
        "A",
        "elasticity",
        "exact",
        "lower",
        "names",
        "norms",
        "starts",
        "upper",
        "weights",
    )

    def __init__(self, sizes: Sequence[int], unknowns: int, names: Sequence[str] | None = None) -> None:
        """Lay out empty rows: every row is 0 and unbounded.

        Args:
            sizes: rows of each level.
            unknowns: length of x.
            names: names of the levels.
        """
        self.starts: list[int] = [0, *(int(stop) for stop in np.cumsum(sizes))]
        rows = self.starts[-1]
        self.A: Array = np.zeros((rows, unknowns))
        self.lower: Array = np.full(rows, -np.inf)
        self.upper: Array = np.full(rows, np.inf)
        self.weights: Array | None = None
        self.norms: Array | None = None
        self.exact = 1
        self.elasticity: Elasticity | None = None
        self.names: list[str] = list(names) if names is not None else [""] * len(sizes)

    @staticmethod
    def of(levels: Hierarchy | Iterable[LevelLike], validate: bool = True) -> Hierarchy:
        """Lay out levels; a hierarchy is handed back as it is.

        Args:
            levels: `Level`s or tuples (A, lower, upper), highest priority first.
            validate: False trusts the shapes and numbers of tuples (those of a `Level` were checked when it was made).

        Raises:
            WbcError: a level cannot be used; the message names level and row.
        """
        if isinstance(levels, Hierarchy):
            return levels
        blocks: list[tuple[Array, Array, Array, Array | None]] = []
        names: list[str] = []
        for index, level in enumerate(levels):
            if isinstance(level, Level):
                blocks.append((level.A, level.lower, level.upper, level.weights))
                names.append(level.name)
            elif validate:
                if not isinstance(level, tuple | list) or not 3 <= len(level) <= 4:
                    raise WbcError(
                        f"level {index}: expected a Level or a tuple (A, lower, upper), got {type(level).__name__}"
                    )
                blocks.append(
                    check_level(level[0], level[1], level[2], level[3] if len(level) > 3 else None, f"level {index}")
                )
                names.append("")
            else:
                blocks.append((level[0], level[1], level[2], level[3] if len(level) > 3 else None))  # type: ignore[arg-type]
                names.append("")
        if not blocks:
            raise WbcError("a hierarchy needs at least one level: without one the number of unknowns is not known")
        unknowns = blocks[0][0].shape[1]
        if validate:
            for index, block in enumerate(blocks):
                if block[0].shape[1] != unknowns:
                    raise WbcError(
                        f"level {index}{_quoted(names[index])}: A has {block[0].shape[1]} columns, "
                        f"level 0 has {unknowns}"
                    )
        laid = Hierarchy.__new__(Hierarchy)
        laid.starts = [0]
        for block in blocks:
            laid.starts.append(laid.starts[-1] + len(block[0]))
        laid.A = np.ascontiguousarray(np.concatenate([block[0] for block in blocks]))
        laid.lower = np.concatenate([block[1] for block in blocks])
        laid.upper = np.concatenate([block[2] for block in blocks])
        laid.names = names
        laid.weights = laid.norms = laid.elasticity = None
        laid.exact = 1
        if any(block[3] is not None for block in blocks):
            laid.weights = np.concatenate([np.ones(len(b[0])) if b[3] is None else b[3] for b in blocks])
        return laid

    def __len__(self) -> int:
        return len(self.starts) - 1

    def rows(self, level: int) -> slice:
        """Where the rows of a level stand in the block."""
        return slice(self.starts[level], self.starts[level + 1])

    def scaled(self) -> tuple[Array, Array, Array]:
        """A, lower, upper with every row multiplied by the root of its weight: its squared residual is then the
        weighted one.

        Without weights these are the arrays themselves. A row of weight 0 is unbounded.
        """
        if self.weights is None:
            return self.A, self.lower, self.upper
        root = np.sqrt(self.weights)
        none = root == 0.0
        safe = np.where(none, 1.0, root)
        lower, upper = np.where(none, -np.inf, self.lower * safe), np.where(none, np.inf, self.upper * safe)
        return self.A * safe[:, None], lower, upper

    def scaled_norms(self) -> Array | None:
        """`norms` of the rows that `scaled` gives; None where there are none."""
        if self.norms is None or self.weights is None:
            return self.norms
        return self.norms * np.where(self.weights == 0.0, 1.0, np.sqrt(self.weights))

    def sane(self) -> bool:
        """No NaN anywhere, and no infinity in A: what a solver looks at of numbers that nobody checked."""
        bounds = float(self.lower.sum()), float(self.upper.sum())
        return bool((self.A * self.A).sum() < np.inf) and bounds[0] < np.inf and bounds[1] > -np.inf

    def check(self) -> None:
        """Look through every number, as is done for levels handed over one by one.

        Raises:
            WbcError: a number cannot be used; the message names level and row.
        """
        for index in range(len(self)):
            at = self.rows(index)
            weights = None if self.weights is None else self.weights[at]
            label = f"level {index}{_quoted(self.names[index])}"
            check_level(self.A[at], self.lower[at], self.upper[at], weights, label)


def _quoted(name: str) -> str:
    return f" {name!r}" if name else ""


def _vector(values: ArrayLike, rows: int, label: str, what: str) -> Array:
    vector = numbers(values, f"{label}: {what}")
    if vector.ndim == 0:
        vector = np.full(rows, float(vector))
    if vector.shape != (rows,):
        raise WbcError(f"{label}: {what} has shape {vector.shape}, expected ({rows},) as A has {rows} rows")
    return vector


def check_level(
    A: ArrayLike, lower: ArrayLike, upper: ArrayLike, weights: ArrayLike | None, label: str
) -> tuple[Array, Array, Array, Array | None]:
    """Copy and check the arrays of one level.

    Args:
        A: as in `Level`.
        lower: as in `Level`.
        upper: as in `Level`.
        weights: as in `Level`.
        label: what the level is called in a message.

    Raises:
        WbcError: a shape does not fit, a number is not one, a lower bound is above its upper bound.
    """
    matrix: Array = np.ascontiguousarray(numbers(A, f"{label}: A"))
    if matrix.ndim != 2:
        raise WbcError(f"{label}: A has shape {matrix.shape}, expected (rows, unknowns)")
    rows = len(matrix)
    low, high = _vector(lower, rows, label, "lower"), _vector(upper, rows, label, "upper")
    _refuse(np.asarray(~np.isfinite(matrix).all(axis=1)), label, lambda row: f"A is not finite: {matrix[row].tolist()}")
    _refuse(np.isnan(low) | (low == np.inf), label, lambda row: f"lower is {low[row]}, expected a number or -inf")
    _refuse(np.isnan(high) | (high == -np.inf), label, lambda row: f"upper is {high[row]}, expected a number or inf")
    _refuse(low > high, label, lambda row: f"lower {low[row]:.17g} is above upper {high[row]:.17g}")
    scale: Array | None = None
    if weights is not None:
        factors = _vector(weights, rows, label, "weights")
        _refuse(
            ~(np.isfinite(factors) & (factors >= 0)), label, lambda row: f"weight is {factors[row]}, expected 0 or more"
        )
        scale = factors
    return matrix, low, high, scale


def _refuse(bad: np.ndarray, label: str, message: object) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise WbcError(f"{label}, row {row}: {message(row)}")  # type: ignore[operator]
