"""One page with the results of a sweep or a study: a file that opens from disk, without a network."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from wbc.errors import WbcError
from wbc.sweeps import pictures
from wbc.sweeps.table import Table, command, why
from wbc.sweeps.tuning import FAILED, Best

MAPS, MOST = 6, 60
"""Maps on a page, at the most, and values of a parameter that a map may have."""

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; } img { max-width: 100%; } code { font-size: 13px; white-space: nowrap; }
td, th { text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid #ddd; }
"""


def write_report(table: Table, path: str | Path | None = None) -> Path:
    """Writes the page of a sweep: how many finished, maps of pairs of parameters, pushes by direction, the worst cases.

    Args:
        table: of the sweep.
        path: of the page; None: report.html in the folder of the sweep.
    """
    kinds, count = table.kinds, len(table)
    if not count:
        raise WbcError(f"{table.folder} has no rows: there is nothing to report")
    whole = table.shares()[()]
    scene = next(iter(table))["scene"]
    parts = [
        f"<p>{whole.finished} of {count} cases finished: {100 * whole.share:.1f} % "
        f"(95 % confidence: {100 * whole.low:.1f} to {100 * whole.high:.1f} %).</p>",
        _rows(["how it ended", "cases"], ([kind, str(number)] for kind, number in kinds.items())),
    ]
    varied = {name: values for name, values in table.varied.items() if len(values) <= MOST}
    for x, y in list(itertools.combinations(varied, 2))[:MAPS]:
        parts += [f"<h2>{escape(x)} and {escape(y)}</h2>", _image(pictures.robustness_map(table, x, y))]
    if "direction" in varied:
        for name in varied:
            if name in ("push", "force", "share"):
                parts += ["<h2>The largest push</h2>", _image(pictures.largest_push(table, name))]
    for name in varied:
        shares = table.shares(name).items()
        cells = (
            (
                _short(value),
                f"{found.finished} of {found.cases}",
                f"{100 * found.share:.1f} %",
                f"{100 * found.low:.1f} to {100 * found.high:.1f} %",
            )
            for (value,), found in shares
        )
        parts += [f"<h2>{escape(name)}</h2>", _rows([name, "finished", "share", "95 %"], cells)]
    parts += ["<h2>The worst cases</h2>", _worst(table)]
    return _write(table.folder / "report.html" if path is None else Path(path), f"Sweep of {scene}", parts)


def write_study(best: Best, path: str | Path) -> Path:
    """Writes the page of a study: the best values, and what was tried.

    Args:
        best: what `wbc.tune` gave.
        path: of the page.
    """
    trials = [(trial.params, trial.value) for trial in best.study.trials if trial.value is not None]
    own = "not known" if best.own is None else f"{best.own:.4g}"
    parts = [
        f"<p>{best.trials} trials, {best.pruned} of them given up early. Score {best.score:.4g}; of the scene's own "
        f"values: {own}.</p>",
        _rows(["parameter", "best value"], ([name, _short(value)] for name, value in best.values.items())),
        "<h2>All trials that came to their end</h2>",
        _image(pictures.parallel_coordinates(trials, FAILED)),
    ]
    return _write(Path(path), f"Tuning of {best.scene}", parts)


def _write(path: Path, title: str, parts: Sequence[str]) -> Path:
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    page = f"{head}<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>\n"
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise WbcError(f"can't write {path}: {error.strerror}") from None
    return path


def _worst(table: Table) -> str:
    """The worst cases, each with the command that shows it again."""
    rows = []
    for row in table.worst(20):
        values = ", ".join(f"{name} = {_short(value)}" for name, value in row["overrides"].items())
        margins = [row.get(name) for name in ("cone_margin", "torque_margin")]
        cells = [
            row["kind"],
            why(row),
            f"{values}, seed {row['seed']}",
            *("" if one is None else f"{one:.3g}" for one in margins),
        ]
        rows.append([*cells, f"<code>{escape(command(table, row))}</code>"])
    titles = ["ended", "why", "case", "cone margin, N", "torque margin, N m", "again with"]
    return _rows(titles, rows, safe=5)


def _rows(titles: Sequence[str], rows: Iterable[Sequence[str]], safe: int = -1) -> str:
    """A table; one of the columns may be HTML already."""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{cell if place == safe else escape(cell)}</td>" for place, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _image(figure: Any) -> str:  # noqa: ANN401  of matplotlib
    return f'<img alt="" src="{pictures.embedded(figure)}">'


def _short(value: Any) -> str:  # noqa: ANN401  of a parameter
    return f"{value:.4g}" if isinstance(value, float) else str(value)
