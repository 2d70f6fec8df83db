"""Pictures of a sweep and of a study, with matplotlib."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show
from wbc.sweeps.table import Share, Table

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise WbcError(f"pictures need matplotlib: pip install 'wbc[plot]' ({error})") from None

COLORS = "RdYlGn"
"""Of shares: red is none, green is all."""

ROOMY = 160
"""Cells that a map may have, to have words in them."""

WIDE = 100.0
"""Positive values whose largest is as many times their smallest are drawn by their logarithms."""


def robustness_map(table: Table, x: str, y: str) -> Figure:
    """The share of cases that finished over two parameters, with its 95 % confidence interval in each cell.

    Args:
        table: of a sweep.
        x: parameter along the horizontal axis.
        y: parameter along the vertical axis.
    """
    shares = table.shares(x, y)
    across, up = _values(shares, 0), _values(shares, 1)
    colors = np.full((len(up), len(across)), np.nan)
    figure = Figure(figsize=(min(2.5 + 0.9 * len(across), 14), min(1.8 + 0.55 * len(up), 12)), layout="constrained")
    axes: Any = figure.subplots()
    for (one, other), found in shares.items():
        column, row = across.index(one), up.index(other)
        colors[row, column] = found.share
        if len(across) * len(up) <= ROOMY:
            words = f"{100 * found.share:.0f} %\n{100 * found.low:.0f} to {100 * found.high:.0f}"
            axes.text(column, row, words, ha="center", va="center", fontsize=7)
    image = axes.imshow(colors, cmap=COLORS, vmin=0.0, vmax=1.0, origin="lower", aspect="auto", alpha=0.8)
    figure.colorbar(image, ax=axes, label="share that finished")
    _label(axes.set_xticks, across)
    _label(axes.set_yticks, up)
    axes.set(xlabel=x, ylabel=y)
    return figure


def largest_push(table: Table, force: str = "push", direction: str = "direction") -> Figure:
    """The largest push that was survived, by its direction: by all cases, and by half of them.

    A push counts as survived where all smaller ones are, too.

    Args:
        table: of a sweep.
        force: parameter with the size of the push.
        direction: parameter with its direction, degrees.
    """
    shares = table.shares(direction, force)
    angles = _values(shares, 0)
    figure = Figure(figsize=(6, 6), layout="constrained")
    axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
    # The line of all lies on that of half where they agree: both are seen.
    for least, words, style in ((0.5, "half", {"linewidth": 4.0, "alpha": 0.5}), (1.0, "all", {})):
        reached = [
            _reached({push: found for (angle, push), found in shares.items() if angle == one}, least) for one in angles
        ]
        closed = [*range(len(angles)), 0]
        axes.plot(
            np.radians([angles[k] for k in closed]),
            [reached[k] for k in closed],
            "o-",
            label=f"survived by {words}",
            **style,
        )
    axes.set_ylim(0.0)
    axes.set_title(f"largest {force} by {direction}")
    axes.legend(loc="lower left", fontsize=8)
    return figure


def parallel_coordinates(trials: Sequence[tuple[Mapping[str, Any], float]], failed: float) -> Figure:
    """The trials of a study, a line each: what they tried, and their score. The best are dark.

    Args:
        trials: values by name, and the score.
        failed: trials with a score of this and more are left out: some of their runs did not finish.
    """
    good = sorted((trial for trial in trials if trial[1] < failed), key=lambda trial: -trial[1])
    if not good:
        raise WbcError("no trial of this study has runs that all finished: there is nothing to draw")
    names = list(good[0][0])
    figure = Figure(figsize=(2.0 + 1.8 * (len(names) + 1), 4.5), layout="constrained")
    axes: Any = figure.subplots()
    columns = [[trial[0][name] for trial in good] for name in names] + [[trial[1] for trial in good]]
    scaled = np.array([_scaled(column) for column in columns])
    for rank, line in enumerate(scaled.T):
        place = rank / max(len(good) - 1, 1)  # 1 is the best
        axes.plot(line, color=(0.1, 0.3, 0.6, 0.15 + 0.85 * place**4), linewidth=0.7 + place**8)
    axes.set(xlim=(-0.2, len(names) + 0.2), ylim=(-0.12, 1.12), yticks=[])
    axes.set_xticks(range(len(columns)), [*names, "score"])
    for number, column in enumerate(columns):
        axes.axvline(number, color="0.6", linewidth=0.8)
        axes.text(number, -0.06, _short(min(column, key=_key)), ha="center", va="top", fontsize=8)
        axes.text(number, 1.06, _short(max(column, key=_key)), ha="center", va="bottom", fontsize=8)
    return figure


def embedded(figure: Figure) -> str:
    """A picture as the address of an image that has it in itself.

    Args:
        figure: to embed.
    """
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(stream.getvalue()).decode()


def _values(shares: Mapping[tuple[Any, ...], Share], place: int) -> list[Any]:
    """The values of one of the parameters, in order."""
    return sorted(dict.fromkeys(point[place] for point in shares), key=_key)


def _reached(by_push: Mapping[float, Share], least: float) -> float:
    """The largest push up to which the share that finished is no less than `least`; 0 if there is none."""
    found = 0.0
    for push in sorted(by_push):
        if by_push[push].share < least:
            break
        found = push
    return found


def _label(setter: Any, values: Sequence[Any]) -> None:  # noqa: ANN401  of matplotlib
    """Ticks with the values, as many as can be read."""
    step = max(len(values) // 15, 1)
    setter(range(0, len(values), step), [_short(value) for value in values[::step]])


def _scaled(column: Sequence[Any]) -> Array:
    """From 0 to 1: numbers by size, over decades by their logarithms; anything else by its place among the values."""
    if not all(isinstance(value, int | float) for value in column):
        order = sorted(set(map(str, column)))
        column = [order.index(str(value)) for value in column]
    values: Array = np.array(column, float)
    if values.min() > 0.0 and values.max() >= WIDE * values.min():
        values = np.log(values)
    scaled: Array = (values - values.min()) / (np.ptp(values) or 1.0)
    return scaled


def _key(value: Any) -> tuple[bool, Any]:  # noqa: ANN401  of a parameter
    """Numbers by size, then texts."""
    plain = isinstance(value, int | float)
    return not plain, value if plain else str(value)


def _short(value: Any) -> str:  # noqa: ANN401  of a parameter
    return f"{value:.4g}" if isinstance(value, float) else str(value) if isinstance(value, str) else show(value)
