"""The errors and warnings of the library, and the one way a misspelt name is reported."""

from __future__ import annotations

import difflib
import itertools
import math
import numbers
import reprlib
from collections.abc import Iterable


class WbcError(Exception):
    """An input of the library can't be used; the message names it and says what would be right.

    Attributes:
        problems: every problem of one input, then unusual things (which begin with "warning: "); otherwise the message
            alone.
    """

    def __init__(self, message: str, problems: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems) or (message,)


class WbcWarning(UserWarning):
    """Something unusual was accepted; the message names it and says what was assumed."""


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80
_short.maxlist = _short.maxtuple = 8


def show(value: object) -> str:
    """A value as it stands in an error message: `repr`, cut short where it is long."""
    return _short.repr(value)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> WbcError:
    """The error for a name that does not exist: it proposes the nearest one and lists those that do.

    Args:
        kind: what is named, in the singular: "frame", "joint", "backend".
        name: what was asked for.
        known: the names that exist.
    """
    names = list(known)
    message = f"no {kind} {show(name)}"
    if isinstance(name, str) and len(name) <= 200:
        lowered = {candidate.lower(): candidate for candidate in itertools.islice(names, 1000)}
        near = difflib.get_close_matches(name.lower(), lowered, n=5, cutoff=0.6)
        if near:
            nearest = max(near, key=lambda candidate: _likeness(candidate, name.lower()))
            message += f"; did you mean {show(lowered[nearest])}?"
    shown = ", ".join(show(candidate) for candidate in names[:24]) + (", ..." if len(names) > 24 else "")
    return WbcError(f"{message} (there {'is' if len(names) == 1 else 'are'}: {shown or 'none'})")


def _likeness(candidate: str, name: str) -> tuple[float, int]:
    """How much of two names is the same, and in how few pieces: FL_foot is in FL_calf_foot in two, in FR_calf_foot in
    three.
    """
    match = difflib.SequenceMatcher(None, candidate, name)
    return match.ratio(), -len(match.get_matching_blocks())


def word(value: object, what: str) -> str:
    """A name that was checked to be text: whether it exists is another matter.

    Args:
        value: what was given.
        what: it is, as it stands at the start of the message.
    """
    if not isinstance(value, str):
        raise WbcError(f"{what} = {show(value)} must be a name")
    return value


def words(values: object, what: str) -> tuple[str, ...]:
    """Names that were checked to be a list of texts.

    Args:
        values: what was given.
        what: they are, as it stands at the start of the message.
    """
    if isinstance(values, str):
        raise WbcError(f"{what} must be a list of names, not the text {values!r}")
    found = tuple(values) if isinstance(values, Iterable) else (None,)
    if not all(isinstance(value, str) for value in found):
        raise WbcError(f"{what} must be a list of names, not {show(values)}")
    return found


def number(value: object, what: str, low: float = 0.0, high: float = math.inf, *, above: bool = False) -> float:
    """A number that was checked.

    Args:
        value: what was given.
        what: it is for, as it stands at the start of the message.
        low: least value.
        high: greatest value.
        above: whether it must be more than `low`.
    """
    plain = type(value) is float or (isinstance(value, numbers.Real) and not isinstance(value, bool))
    try:
        found = float(value) if plain else math.nan  # type: ignore[arg-type]  # it is real
    except OverflowError:  # a whole number of more than 300 digits
        found = math.nan
    if not (low < found if above else low <= found) or not found <= high:
        least = f"more than {low:g}" if above else f"{low:g} or more"
        most = "" if high >= 1e6 and not high < found else f", {high:g} at the most"
        raise WbcError(f"{what} = {show(value)} must be a number, {least}{most}")
    return found
