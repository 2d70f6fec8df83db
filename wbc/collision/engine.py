"""The interface of engines, which measure distances."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.collision.solid import Solid
from wbc.errors import WbcError, unknown_name

ENGINES = ("auto", "coal", "own")
"""What a geometry takes as its engine."""


class Witnesses(NamedTuple):
    """The nearest points of some pairs, in the world's axes.

    Attributes:
        distance: m, shape (n,); negative where they overlap: how far they must move apart.
        normal: unit, world axes, from the first to the second, shape (n, 3).
        first: on the first of each pair, world axes, m, shape (n, 3).
        second: on the second, world axes, m, shape (n, 3): first + distance · normal.
    """

    distance: Array
    normal: Array
    first: Array
    second: Array

    @classmethod
    def empty(cls, count: int) -> Witnesses:
        """Room for so many pairs."""
        return cls(np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3)))

    def and_also(self, others: Witnesses) -> Witnesses:
        """These, then others."""
        return Witnesses(*[np.concatenate(parts) for parts in zip(self, others, strict=True)])


class Engine(ABC):
    """Measures distances between solids, wherever these are.

    Args:
        solids: that are measured.
    """

    name = ""

    def __init__(self, solids: Sequence[Solid]) -> None:
        self.solids = tuple(solids)

    @abstractmethod
    def measure(self, poses: Array, first: IntArray, second: IntArray, within: Array | None = None) -> Witnesses:
        """The nearest points of pairs of solids.

        Args:
            poses: of all solids in the world, shape (solids, 4, 4).
            first: of each pair, an index of the solids, shape (n,).
            second: likewise.
            within: distances beyond which an engine need not tell more than the distance, m, shape (n,); None: it tells
                all.
        """

    @abstractmethod
    def measure_balls(self, poses: Array, centers: Array, radii: Array, solids: IntArray) -> Witnesses:
        """The nearest points of balls, the first of each pair, and solids.

        Args:
            poses: of all solids in the world, shape (solids, 4, 4).
            centers: m, world axes, shape (n, 3).
            radii: m, shape (n,); 0: a point.
            solids: the second of each pair, shape (n,).
        """


def make_engine(name: str, solids: Sequence[Solid]) -> Engine:
    """An engine by its name.

    Args:
        name: "own", "coal", or "auto": coal where it is installed.
        solids: that are measured.
    """
    if name not in ENGINES:
        raise unknown_name("collision engine", name, ENGINES)
    if name == "auto":
        name = "coal" if importlib.util.find_spec("coal") else "own"
    if name == "coal":
        try:
            from wbc.collision.coal import CoalEngine
        except ImportError as error:
            raise WbcError(f"the engine 'coal' needs its package: pip install 'wbc[pinocchio]' ({error})") from None
        return CoalEngine(solids)
    from wbc.collision.primitives import PrimitiveEngine

    return PrimitiveEngine(solids)
