"""Copies that share no mutable state, and what can't be copied."""

from __future__ import annotations

import copy
from dataclasses import fields
from types import MappingProxyType
from typing import Any, ClassVar, Self

from wbc.errors import WbcError


class Independent:
    """A class whose copies are independent, also those of `copy.copy`.

    A shallow copy would share its memory with the original: each of two such controllers would advance the other.
    """

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


class Remade:
    """A dataclass whose copies are made as the original was: checked, and with arrays that are read-only."""

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        given = (getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]
        return type(self), tuple(dict(one) if isinstance(one, MappingProxyType) else one for one in given)


class Unique:
    """A class whose objects hold what a copy can't have, such as a socket. To copy or pickle one is an error.

    Attributes:
        held: what they hold, for the message.
    """

    held: ClassVar[str] = "threads"

    def __reduce_ex__(self, protocol: Any) -> Any:  # noqa: ANN401  as in `object`
        name = type(self).__name__
        raise WbcError(f"{name} can't be copied or pickled: it holds {self.held}; make another {name}")
