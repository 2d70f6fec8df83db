"""How the command line prints: in colour to a terminal, plainly to anything else."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

if TYPE_CHECKING:
    from rich.progress import Progress

PIPE_WIDTH = 1000
"""Columns of what is not a terminal: lines are not wrapped for whatever reads them."""


def tell(*parts: RenderableType, error: bool = False) -> None:
    """Prints to the terminal in colour, to anything else as plain text of whatever width it has.

    Args:
        parts: one below the other.
        error: whether to standard error.
    """
    console = Console(stderr=error, highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))


def tell_problem(what: object) -> None:
    """Prints a message to standard error, as one line.

    Args:
        what: an error, a warning, or words.
    """
    tell(" ".join(str(what).split()), error=True)


def tell_json(what: object) -> None:
    """Prints something as JSON.

    Args:
        what: of plain kinds: texts, numbers, lists, dicts.
    """
    tell(json.dumps(what, indent=2))


def _errors() -> Console:
    """Standard error, where it is a terminal; where it is not, a bar says nothing (rich before 14.3: a line's end)."""
    console = Console(stderr=True)
    console.quiet = not console.is_terminal
    return console


def progress() -> Progress:
    """A bar on a terminal, and nothing on anything else; to be used in a `with`."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = _errors()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def counter() -> Progress:
    """The same with a count, a rate, and words of the one who counts in the field `told`."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = _errors()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[told]}"),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
