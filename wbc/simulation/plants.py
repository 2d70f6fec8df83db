"""Many plants that advance together, in threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.errors import WbcError, show
from wbc.simulation.plant import Plant


class Plants:
    """Steps many plants with one call, for a `wbc.Batch`: the same numbers as a loop. MuJoCo's go on side by side.

    Args:
        plants: of robots of one kind.
        jobs: threads.

    Attributes:
        plants: as given.
    """

    def __init__(self, plants: Sequence[Plant], jobs: int = 1) -> None:
        self.plants = tuple(plants)
        odd = [plant for plant in self.plants if not isinstance(plant, Plant)]
        if odd or not self.plants:
            raise WbcError(f"Plants needs plants, such as wbc.Simulator, not {show(odd[0] if odd else plants)}")
        if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
            raise WbcError(f"jobs = {show(jobs)} must be a whole number, 1 or more")
        self._jobs = min(jobs, len(self.plants))
        self._pool = ThreadPoolExecutor(self._jobs, "wbc-plants") if self._jobs > 1 else None

    def __reduce__(self) -> tuple[type[Plants], tuple[Sequence[Plant], int]]:
        return type(self), (self.plants, self._jobs)

    def __len__(self) -> int:
        return len(self.plants)

    @property
    def state(self) -> tuple[Array, Array]:
        """q, shape (count, nq), and v, shape (count, nv): see `Plant.state`."""
        states = [plant.state for plant in self.plants]
        return np.array([q for q, _ in states]), np.array([v for _, v in states])

    def step(self, torque: ArrayLike, steps: int = 1) -> None:
        """Sets torques, and goes on.

        Args:
            torque: N m or N, shape (count, na).
            steps: of each plant.
        """
        torques = numbers(torque, "torque")
        if torques.shape != (len(self), self.plants[0].model.na):
            shape = len(self), self.plants[0].model.na
            raise WbcError(f"torque has the shape {torques.shape}, not {shape}: a row a robot")

        def advance(first: int) -> None:
            for plant, row in zip(self.plants[first :: self._jobs], torques[first :: self._jobs], strict=True):
                plant.apply(row)
                for _ in range(steps):
                    plant.step()

        if self._pool is None:
            advance(0)
        else:
            list(self._pool.map(advance, range(self._jobs)))

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()
