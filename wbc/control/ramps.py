"""Ramps: numbers that go from one value to another over a time, for weights, switched tasks and contacts."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import ReferenceType, ref

from wbc.errors import WbcError

ROUNDING = 1e-9
"""A ramp that ends within so many seconds has ended: 1.2 - 1.0 is less than 0.2."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class Ramp:
    """A ramp that is under way.

    Attributes:
        target: where it leads, in the unit of the value.
        duration: s.
        began: at which time, s; None: it begins at the next tick.
        share: of the way that is done, 0 to 1.
        owner: who carries it on; None: nobody yet.
    """

    target: float
    duration: float
    began: float | None = None
    share: float = 0.0
    owner: ReferenceType[object] | None = None

    def __reduce__(self) -> tuple[type[Ramp], tuple[Any, ...]]:
        return type(self), (self.target, self.duration, self.began, self.share)  # a copy has another owner

    def belong(self, whose: object) -> None:
        """Assigns the ramp to the first owner that advances it, as long as that exists.

        Raises:
            WbcError: it is another one's.
        """
        owner = None if self.owner is None else self.owner()
        if owner is None:
            self.owner = ref(whose)
        elif owner is not whose:
            raise WbcError(
                "two controllers share a stack in which weights, tasks or contacts are changing: each would advance "
                "the other's ramps; give each its own stack: copy.deepcopy(stack)"
            )

    def between(self, start: float, end: float) -> float:
        """A number on its way from start to end."""
        return end if self.share == 1.0 else start + self.share * (end - start)


class Ramps(Generic[Key]):
    """All ramps that are under way, by key. Advancing to the same time twice gives the same values."""

    def __init__(self) -> None:
        self._under_way: dict[Key, Ramp] = {}

    def __bool__(self) -> bool:
        return bool(self._under_way)

    def __contains__(self, key: Key) -> bool:
        return key in self._under_way

    def begin(self, key: Key, target: float, duration: float) -> None:
        """Begins a ramp at the next tick.

        Args:
            key: what it moves.
            target: where it leads, in the unit of the value.
            duration: s; 0 is at once.
        """
        self._under_way[key] = Ramp(target, duration)

    def under_way(self, key: Key) -> Ramp | None:
        """The ramp of a key, where there is one."""
        return self._under_way.get(key)

    def end(self, key: Key) -> None:
        """Forgets a ramp, where there is one."""
        self._under_way.pop(key, None)

    def shift(self, by: float) -> None:
        """Moves all that has begun in time, as where another clock tells it.

        Args:
            by: s.
        """
        for ramp in self._under_way.values():
            if ramp.began is not None:
                ramp.began += by

    def advance(self, time: float, whose: object = None) -> list[tuple[Key, Ramp]]:
        """Carries all ramps on to a time, and forgets those that end there.

        Args:
            time: s; inf ends them all.
            whose: who carries them on, always the same; None: whoever.

        Returns:
            All that were under way. A ramp whose `share` is 0 has just begun, one whose share is 1 has ended.
        """
        found = list(self._under_way.items())
        for key, ramp in found:
            if whose is not None:
                ramp.belong(whose)
            if ramp.began is None:
                ramp.began = time if time < math.inf else -math.inf
            elapsed = time - ramp.began
            ramp.share = 1.0 if elapsed >= ramp.duration - ROUNDING else max(elapsed / ramp.duration, 0.0)
            if ramp.share == 1.0:
                del self._under_way[key]
        return found
