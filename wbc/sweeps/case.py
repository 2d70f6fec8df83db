"""Cases: a scene, values in place of its own, and a seed. Plain data."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wbc.errors import WbcError, show
from wbc.scenes import scene_name
from wbc.sweeps.overrides import check_overrides, uses_seed
from wbc.sweeps.values import Drawn, Plain, choices


@dataclass(frozen=True)
class Case:
    """One run, as plain data.

    Attributes:
        scene: "demo", the name of an example, or the path of a file.
        overrides: values in place of the scene's own, by name.
        seed: of all that is random in it.
    """

    scene: str
    overrides: Mapping[str, Plain]
    seed: int = 0

    @cached_property
    def hash(self) -> str:
        """The name of the case: 16 hexadecimal digits of the hash of its content."""
        content = json.dumps(self.plain(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def plain(self) -> dict[str, Any]:
        """As it stands in a row."""
        return {"scene": self.scene, "overrides": dict(self.overrides), "seed": self.seed}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Case:
        """The case of a row.

        Args:
            row: with `scene`, `overrides` and `seed`.
        """
        return cls(row["scene"], row["overrides"], row["seed"])


class Cases:
    """The cases of a sweep: every combination of the parameters' values, with every seed. Each is made when asked for.

    Args:
        scene: its name: see `wbc.scenes.scene_name`.
        parameters: values by name.
        seeds: whole numbers.

    Attributes:
        scene: as given.
        parameters: as given.
        seeds: as given.
    """

    def __init__(self, scene: str, parameters: Mapping[str, Sequence[Plain] | Drawn], seeds: tuple[int, ...]) -> None:
        self.scene, self.parameters, self.seeds = scene, dict(parameters), seeds

    def __len__(self) -> int:
        counts = (1 if isinstance(values, Drawn) else len(values) for values in self.parameters.values())
        return math.prod(counts) * len(self.seeds)

    def __iter__(self) -> Iterator[Case]:
        fixed = {name: values for name, values in self.parameters.items() if not isinstance(values, Drawn)}
        drawn = {name: values for name, values in self.parameters.items() if isinstance(values, Drawn)}
        for point in itertools.product(*fixed.values()):
            for seed in self.seeds:
                chosen = dict(zip(fixed, point, strict=True))
                chosen |= {name: one.value(name, seed) for name, one in drawn.items()}
                yield Case(self.scene, chosen, seed)

    def __repr__(self) -> str:
        names = ", ".join([*self.parameters, "seed"])
        return f"<{len(self)} cases of {self.scene!r} over {names}>"


def cases(scene: str, *, seed: int | Iterable[int] = 0, **parameters: object) -> Cases:
    """The cases of a sweep over the arguments of a scene's function.

    A value that is a list, a range or a `grid` is each of its entries in turn; `normal` and `uniform` are drawn for
    each seed; anything else is one value. Names with a dot can't be written as arguments, but
    `**{"realism.mass": [1.0, 1.1]}` can. See `check_overrides` for the names that there are.

    Args:
        scene: "demo", the number or name of an example, or the path of a Python file with a function `scene`.
        seed: one, or several.
        parameters: values by name.
    """
    seeds = (seed,) if isinstance(seed, int | np.integer) else tuple(seed)
    for one in seeds:
        if not isinstance(one, int | np.integer) or isinstance(one, bool) or one < 0:
            raise WbcError(f"seed = {show(one)} must be a whole number, 0 or more")
    if not seeds or len(set(seeds)) < len(seeds):
        raise WbcError(f"seed = {show(seed)} must be one seed or several different ones")
    found = Cases(
        scene_name(scene), {name: choices(name, given) for name, given in parameters.items()}, tuple(map(int, seeds))
    )
    first = next(iter(found))
    check_overrides(found.scene, first.overrides)
    drawn = any(isinstance(values, Drawn) for values in found.parameters.values())
    if len(seeds) > 1 and not drawn and not uses_seed(found.scene, found.parameters):
        raise WbcError(
            f"nothing in these cases is random, so {len(seeds)} seeds would be {len(seeds)} equal runs: the scene "
            "takes no argument seed, has no realism.noise, and no parameter is drawn by wbc.normal or wbc.uniform"
        )
    return found
