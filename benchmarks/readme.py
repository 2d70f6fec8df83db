"""Runs the benchmarks, prints their tables, and writes them into the README between its markers.

usage: PEERS=DIR OMP_NUM_THREADS=1 python -m benchmarks.readme [REPETITIONS]   (`make bench`)

A run is kept in `results.json`; with REPETITIONS = 0 the tables are written from what is kept. The README is left as it
is where a peer is missing.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from benchmarks import controller, demo, dynamics, feet, growth, tables
from benchmarks.tables import PEER_ROWS, Results
from benchmarks.ticks import REPOSITORY, Measured, Ticks
from wbc.application import bench

README, KEPT = REPOSITORY / "README.md", REPOSITORY / "benchmarks" / "results.json"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def run(repetitions: int) -> Results:
    """Times everything.

    Args:
        repetitions: how often.
    """
    found: list[Measured] = []
    for repetition in range(repetitions):
        measured: Measured = {}
        for part in (controller, growth, feet, demo, dynamics):
            print(f"repetition {repetition + 1} of {repetitions}: {part.__name__}", file=sys.stderr)
            for table, rows in part.measure().items():
                measured.setdefault(table, {}).update(rows)
        found.append(measured)
    return Results(bench.runs_on(), controller.judge(), found)


def blocks(results: Results) -> list[str]:
    """What stands between the README's markers, in order: speed, and backends.

    Args:
        results: of a run.
    """
    speed = [tables.beside_peers(results), tables.growth(results), tables.changes(results)]
    often = f"Median of {len(results.repetitions)} repetitions in one run, (lowest–highest); one thread."
    return ["\n\n".join([often, *speed]), tables.backends(results)]


def written(text: str, parts: list[str]) -> str:
    """A text with parts between its markers, in order.

    Args:
        text: with as many pairs of markers as there are parts.
        parts: what goes between them.
    """
    pieces = re.split(f"({BEGIN}|{END})", text)
    if pieces[1::2] != [BEGIN, END] * len(parts):
        raise SystemExit(f"README.md needs {len(parts)} pairs of {BEGIN} and {END}, one after the other")
    pieces[2::4] = [f"\n{part}\n" for part in parts]
    return "".join(pieces)


def load(path: Path = KEPT) -> Results:
    """The run that is kept.

    Args:
        path: of the file.
    """
    kept = json.loads(path.read_text(encoding="utf-8"))
    repetitions = [
        {table: {row: Ticks(*numbers) for row, numbers in rows.items()} for table, rows in measured.items()}
        for measured in kept["repetitions"]
    ]
    return Results(kept["solver"], {scene: tuple(pair) for scene, pair in kept["gaps"].items()}, repetitions)


def save(results: Results, path: Path = KEPT) -> None:
    """Keeps a run; times to four digits.

    Args:
        results: of the run.
        path: of the file.
    """
    lines = []
    for measured in results.repetitions:
        rows = [
            f"  {json.dumps(table)}: {{\n"
            + ",\n".join(f"   {json.dumps(row)}: [{_numbers(ticks)}]" for row, ticks in rows.items())
            + "\n  }"
            for table, rows in measured.items()
        ]
        lines.append(" {\n" + ",\n".join(rows) + "\n }")
    head = f'{{"solver": {json.dumps(results.solver)}, "gaps": {json.dumps(results.gaps)}, "repetitions": [\n'
    path.write_text(head + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def _numbers(ticks: Ticks) -> str:
    return ", ".join(f"{value:.4g}" for value in ticks if value == value)  # without what was not measured


def main(repetitions: int) -> None:
    """Runs, prints and writes.

    Args:
        repetitions: how often; 0: the run that is kept.
    """
    results = run(repetitions) if repetitions else load()
    print("\n\n".join(blocks(results)))
    missing = [row for row in PEER_ROWS if not results.of("anymal", row)]
    if missing:
        print(f"\nREADME.md stays as it is: {', '.join(missing)} did not run")
        return
    save(results)
    parts = blocks(load())  # of the digits that are kept
    README.write_text(written(README.read_text(encoding="utf-8"), parts), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
