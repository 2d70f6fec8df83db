"""Names of axes, and how they are picked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wbc.errors import WbcError, show, unknown_name

AXES = ("x", "y", "z", "rx", "ry", "rz")
"""Of a pose, a twist, a wrench: linear, then angular."""


def picked(
    axes: str | Iterable[str],
    whose: str,
    known: tuple[str, ...] = AXES,
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[str, ...]:
    """Names of axes, each once and known.

    Args:
        axes: names; or a text: one of the words, one name, or names of one letter.
        whose: the task, for messages.
        known: the names that exist.
        words: that stand for several.
    """
    words = {} if words is None else words
    if isinstance(axes, str):
        if axes in words:
            return words[axes]
        if axes in known or len(axes) > 3:
            axes = (axes,)
    if not isinstance(axes, Iterable):
        raise WbcError(f"{whose}: axes = {show(axes)} must be names out of {', '.join((*words, *known))}")
    chosen = tuple(axes)
    for axis in chosen:
        if axis not in known:
            raise WbcError(f"{whose}: {unknown_name('axis', axis, (*words, *known))}")
    if not chosen or len(set(chosen)) < len(chosen):
        raise WbcError(f"{whose}: axes = {show(axes)} must name each axis once, and at least one")
    return chosen
