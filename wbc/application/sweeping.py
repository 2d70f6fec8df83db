"""What `wbc sweep`, `wbc tune` and `wbc run --case` do with their words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wbc.application.terminal import counter, tell, tell_problem
from wbc.errors import WbcError, show
from wbc.scenes import scene_name
from wbc.simulation import Runnable
from wbc.sweeps import Best, Case, Cases, Progress, Table, cases, dask_executor, sweep, tune
from wbc.sweeps.folder import ROWS
from wbc.sweeps.overrides import load_case
from wbc.sweeps.table import Share, command, why
from wbc.sweeps.values import parse


def chosen(what: str, words: list[str], seeds: int) -> Cases:
    """The cases that the words of a command ask for.

    Args:
        what: scene.
        words: such as push=30:120:10.
        seeds: how many, from 0 on.
    """
    parameters: dict[str, object] = {}
    for text in words:
        name, values = parse(text)
        if name in parameters:
            raise WbcError(f"--set {name} is there twice")
        parameters[name] = values
    return cases(what, seed=range(seeds), **parameters)


def run_sweep(asked: Cases, out: Path, address: str, **options: Any) -> Table:  # noqa: ANN401
    """Runs a sweep with a bar: rate, time left, and failures by their kind.

    Args:
        asked: cases.
        out: folder.
        address: of a Dask scheduler; empty: on this machine.
        options: of `wbc.sweep`.
    """
    executor = dask_executor(address) if address else None
    with counter() as bar:
        task = bar.add_task("sweep", total=None, told="starting")

        def after(state: Progress) -> None:
            failures = ", ".join(f"{count} {kind}" for kind, count in state.failures.items()) or "no failures"
            bar.update(task, total=state.total, completed=state.done, told=f"{state.rate:.3g} a second, {failures}")

        return sweep(asked, out, executor=executor, progress=after, **options)


def tell_table(table: Table, as_json: bool) -> None:
    """Prints what came of a sweep.

    Args:
        table: its rows.
        as_json: for a program, not for a person.
    """
    from wbc.application import reports

    if as_json:
        found: dict[str, Any] = {"folder": str(table.folder), "rows": len(table), "kinds": table.kinds}
        if len(table):
            found["finished"] = _plain(table.shares()[()])
        found["shares"] = {
            name: [{"value": value, **_plain(share)} for (value,), share in table.shares(name).items()]
            for name, values in table.varied.items()
            if len(values) <= reports.MOST
        }
        found["worst"] = [
            {"case": row["case"], "kind": row["kind"], "why": why(row), "command": command(table, row)}
            for row in table.worst()
        ]
        tell(json.dumps(found))
        return
    tell(repr(table)[1:-1], "")
    if len(table):
        tell(*reports.sweep(table))


def _plain(share: Share) -> dict[str, float]:
    return {"of": share.cases, "share": share.share, "low": share.low, "high": share.high}


def report(table: Table) -> None:
    """Writes the page of a sweep, where matplotlib is there, and tells.

    Args:
        table: its rows.
    """
    try:
        from wbc.sweeps.report import write_report

        tell(f"wrote {write_report(table)}", error=True)
    except WbcError as error:
        tell_problem(f"no report: {error}")


def report_study(best: Best, path: Path) -> None:
    """Writes the page of a study, where matplotlib is there, and tells.

    Args:
        best: what `wbc.tune` gave.
        path: of the page.
    """
    try:
        from wbc.sweeps.report import write_study

        tell(f"wrote {write_study(best, path)}", error=True)
    except WbcError as error:
        tell_problem(f"no report: {error}")


def run_tuning(what: str, words: list[str], fixed: list[str], seeds: int, **options: Any) -> Best:  # noqa: ANN401
    """Tunes a scene with a bar.

    Args:
        what: scene.
        words: ranges, such as base.gains=0.5:8 or posture.weight=1e-3:1:log.
        fixed: what all cases have, as for a sweep.
        seeds: how many judge a trial.
        options: of `wbc.tune`.
    """
    ranges = dict(map(_range, words))
    parameters: dict[str, Any] = dict(map(parse, fixed))
    with counter() as bar:
        task = bar.add_task("tune", total=options["trials"], told="starting")

        def after(count: int, best: float | None) -> None:
            bar.update(task, completed=count, told="no score yet" if best is None else f"best score {best:.4g}")

        seed = range(seeds) if seeds > 1 else 0
        return tune(what, ranges, seed=seed, progress=after, **options, **parameters)


def find_case(what: str, name: str, folder: Path) -> Case:
    """A case of a sweep, by its hash or the beginning of it.

    Args:
        what: its scene.
        name: the hash.
        folder: of the sweep, or of several.
    """
    rows: dict[str, Mapping[str, Any]] = {}
    for file in sorted(folder.rglob(ROWS)) if folder.is_dir() else []:
        rows |= {row["case"]: row for row in Table(file.parent) if row["case"].startswith(name)}
    if len(rows) != 1:
        count = f"{len(rows)} cases" if rows else "no case"
        raise WbcError(f"{count} whose name begins with {show(name)} in {folder}: give more digits, or --runs FOLDER")
    (row,) = rows.values()
    if row["scene"] != scene_name(what):
        raise WbcError(f"case {row['case']} is one of {row['scene']}, not of {scene_name(what)}")
    return Case.of(row)


def load(case: Case, backend: str, solver: str, simulator: str) -> Runnable:
    """The scene of a case.

    Args:
        case: of a sweep.
        backend: where the case has none; so are the others.
        solver: see `wbc.Controller`.
        simulator: "mujoco", "builtin", or empty.
    """
    return load_case(case.scene, case.overrides, case.seed, backend=backend, solver=solver, simulator=simulator)


def _range(text: str) -> tuple[str, object]:
    """A parameter and its range: base.gains=0.5:8, posture.weight=1e-3:1:log, solver=weighted-qp,hierarchical-qp."""
    name, equals, values = (part.strip() for part in text.partition("="))
    parts = values.split(":")
    if not (name and equals and values):
        raise WbcError(f"{show(text)} must be NAME=LOW:HIGH, such as base.gains=0.5:8 or posture.weight=1e-3:1:log")
    if len(parts) == 1:
        return name, list(parse(text)[1])  # type: ignore[arg-type]  # alternatives are a list
    try:
        return name, (float(parts[0]), float(parts[1]), *parts[2:])
    except ValueError:
        raise WbcError(f"{show(text)}: {show(values)} must be numbers") from None
