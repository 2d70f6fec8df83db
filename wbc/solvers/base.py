"""The base class of solvers: the contract between code that writes levels and code that solves them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar, NamedTuple, Protocol

from wbc.arrays import Array
from wbc.copies import Independent
from wbc.solvers.answer import Answer
from wbc.solvers.level import Hierarchy, LevelLike


class CompiledPlan(NamedTuple):
    """How the kernel's tick is to solve levels in place of a solver.

    Attributes:
        places: the level of the kernel into which each level goes.
        factors: of the weights of each level's squared residuals.
        max_iterations: see `HierarchicalQP`.
        rank_tolerance: see `HierarchicalQP`.
        elastic: tells how the levels down to the posture pull, which share one level of the kernel; None: none yields.
    """

    places: tuple[int, ...]
    factors: tuple[float, ...]
    max_iterations: int
    rank_tolerance: float
    elastic: Yielding | None = None


class Pulling(NamedTuple):
    """How the levels from the exact ones down to the posture pull, see `ElasticQP`.

    Attributes:
        weight: of the squared residuals of each, shape (levels,).
        reach: the residual at which a level's pull is at its bound, in units of its rows' size, shape (levels,).
        held: a bound that is missed by less counts as held, in the unit of its row.
    """

    weight: Array
    reach: Array
    held: float


class Yielding(Protocol):
    """A solver whose levels yield."""

    def pulling(self, levels: int, pull: float) -> Pulling:
        """How levels that yield pull.

        Args:
            levels: how many there are, the last of them the posture.
            pull: bound on the pull of the level above the posture, m/s².
        """
        ...


class Solver(Independent, ABC):
    """The base of all solvers: levels in, x out.

    A new solver needs one method, `solve`, with `Hierarchy.of` at its start and `grade` at its end. Declare with the
    class where it departs from strict priorities: ``class Damped(Solver, ignores_inequalities=True)``. A
    subclass inherits what its base declares.

    Attributes:
        ignores_inequalities: it solves equations only.
        trades_priorities: a lower level may move a higher one.
        yields: below the first level, on which a controller puts what can always hold, it bounds how hard levels pull.
        deadline: in seconds from the start of a solve.
        warm_start: whether a solve begins with the last one's active set.
        dynamically_consistent: what is left free is to be fixed by least torque in the metric of the inverse mass
            matrix.
    """

    ignores_inequalities: ClassVar[bool] = False
    trades_priorities: ClassVar[bool] = False
    dynamically_consistent: ClassVar[bool] = False
    yields: ClassVar[bool] = False
    deadline: float = inf
    warm_start: bool = True

    def __init_subclass__(
        cls,
        *,
        ignores_inequalities: bool | None = None,
        trades_priorities: bool | None = None,
        dynamically_consistent: bool | None = None,
        yields: bool | None = None,
    ) -> None:
        """Note what the class declares; a misspelt keyword is a TypeError."""
        super().__init_subclass__()
        if ignores_inequalities is not None:
            cls.ignores_inequalities = ignores_inequalities
        if trades_priorities is not None:
            cls.trades_priorities = trades_priorities
        if dynamically_consistent is not None:
            cls.dynamically_consistent = dynamically_consistent
        if yields is not None:
            cls.yields = yields

    @abstractmethod
    def solve(self, levels: Hierarchy | Sequence[LevelLike], *, validate: bool = True, seconds: float = inf) -> Answer:
        """Solve a hierarchy.

        Args:
            levels: highest priority first; a `Hierarchy` is taken as it is.
            validate: False trusts tuples of arrays.
            seconds: how long it may take. When they are over the answer is the best point so far, level 0 kept, with
                status ``iteration-limit``.

        Raises:
            WbcError: a level cannot be used; the message names level and row.
        """

    @property
    def engine(self) -> str:
        """What does the work, "compiled" or "numpy", if there are both; else empty."""
        return ""

    def reset(self) -> None:
        """Forget what is remembered from one solve to the next."""

    def compiled_plan(self, levels: int, exact: int, posture: int) -> CompiledPlan | None:
        """Tell a controller how its own compiled tick can do this solver's work.

        Args:
            levels: how many there are.
            exact: how many of them, from the first on, are not to be traded.
            posture: the level by which pulls are measured.

        Returns:
            None where this solver must be handed the levels.
        """
        return None
