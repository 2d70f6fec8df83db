"""Limits on the size of a robot's description. A larger one is damaged or malicious; real ones are far smaller."""

from __future__ import annotations

from pathlib import Path

from wbc.errors import WbcError, show

LARGEST_FILE = 50_000_000
"""Bytes of a file that is still read."""

MOST_ELEMENTS = 100_000
"""XML elements of a description, with what it includes and repeats."""

MOST_VELOCITIES = 1_000
"""Velocities of a robot: its mass matrix has the square of that entries."""


def read_bounded(path: str | Path) -> bytes:
    """The bytes of a file that is not too large.

    Args:
        path: of the file.

    Raises:
        WbcError: it is too large, or can't be read.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST_FILE + 1)  # a device has no size that could be asked for
    except (OSError, ValueError) as error:
        raise WbcError(f"can't read {show(str(path))}: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > LARGEST_FILE:
        raise WbcError(
            f"{show(str(path))} is larger than {LARGEST_FILE / 1e6:.0f} MB, the limit for a robot's description"
        )
    return text


def check_velocities(nv: int) -> None:
    """Raises a `WbcError` where a robot has more velocities than can be computed with.

    Args:
        nv: how many it has.
    """
    if nv > MOST_VELOCITIES:
        raise WbcError(f"it has {nv:,} velocities; the limit is {MOST_VELOCITIES:,}")
