"""The base class of solvers: the contract between code that writes levels and code that solves them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import ClassVar

from wbc.copies import Independent
from wbc.solvers.answer import Answer
from wbc.solvers.level import Hierarchy, LevelLike


class Solver(Independent, ABC):
    """The base of all solvers: levels in, x out.

    A new solver needs one method, `solve`, with `Hierarchy.of` at its start and `grade` at its end. Declare with the
    class where it departs from strict priorities: ``class Damped(Solver, ignores_inequalities=True)``. A
    subclass inherits what its base declares.

    Attributes:
        ignores_inequalities: it solves equations only.
        trades_priorities: a lower level may move a higher one.
        dynamically_consistent: what is left free is to be fixed by least torque in the metric of the inverse mass
            matrix.
    """

    ignores_inequalities: ClassVar[bool] = False
    trades_priorities: ClassVar[bool] = False
    dynamically_consistent: ClassVar[bool] = False

    def __init_subclass__(
        cls,
        *,
        ignores_inequalities: bool | None = None,
        trades_priorities: bool | None = None,
        dynamically_consistent: bool | None = None,
    ) -> None:
        """Note what the class declares; a misspelt keyword is a TypeError."""
        super().__init_subclass__()
        if ignores_inequalities is not None:
            cls.ignores_inequalities = ignores_inequalities
        if trades_priorities is not None:
            cls.trades_priorities = trades_priorities
        if dynamically_consistent is not None:
            cls.dynamically_consistent = dynamically_consistent

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

    def reset(self) -> None:
        """Forget what is remembered from one solve to the next."""

    def under(self, more: int) -> Solver:
        """Give the solver of the same levels where so many more stand above them, which are not traded.

        Args:
            more: how many.
        """
        return self

    def plan_levels(self, count: int) -> list[tuple[int, float]] | None:
        """Tell where each level goes, for a controller that solves in its own compiled tick.

        Args:
            count: how many levels there are.

        Returns:
            For each level the index of the level that it is merged into, and the factor of the weights of its squared
            residuals; None where this solver must be handed the levels.
        """
        return None
