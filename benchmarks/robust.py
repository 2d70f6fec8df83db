"""At which masses, delays, noise and pushes the quadruped stands: a table, from as many runs each as are asked for.

usage: python -m benchmarks.robust [RUNS] [FOLDER] [write] [PROCESSES]   (`make robust`)

Each quantity is varied alone, over ten values with a tenth of the runs each. A run is the standing half of `wbc demo`
in 1.8 s (`benchmarks/standing.py`), with the sensor noise of a good robot, and with a push to the side that its seed
says. Rows are kept in FOLDER, so that a second call goes on where the first one ended. With "write" the table goes
between the README's markers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import wbc
from benchmarks.ticks import REPOSITORY
from wbc.sweeps import Share, Table

SCENE = "benchmarks/standing.py"
README = REPOSITORY / "README.md"
BEGIN, END = "<!-- robust:begin -->", "<!-- robust:end -->"

ALWAYS = {
    "realism.noise.position": 3e-4,
    "realism.noise.velocity": 0.02,
    "direction": wbc.uniform(0.0, 360.0),
}
"""What all runs have: standard deviations, rad and rad/s, and a direction of the push, degrees."""

QUANTITIES: dict[str, tuple[str, list[float], float, str]] = {
    "realism.mass": (
        "mass of the robot against the model",
        [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 2.0, 3.0, 4.0],
        1.0,
        "",
    ),
    "realism.delay": ("delay of the torques", wbc.grid(0.004, 0.04, 10), 0.0, " s"),
    "realism.noise.velocity": (
        "noise of the joint velocities (standard deviation)",
        [0.5, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6],
        0.0,
        " rad/s",
    ),
    "share": (
        "push of 0.2 s, as a share of the weight",
        [0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9],
        0.3,
        "",
    ),
}
"""The parameter: words, its values, the one to begin from, and its unit."""

ROUNDS = (0.1, 0.3, 1.0)
"""Shares of the runs after which the table is printed: a run that is stopped early has something of each quantity."""


def interval(shares: dict[float, Share], begin: float) -> tuple[float, float]:
    """The values about `begin` at which all runs finished: the least and the greatest."""
    values = sorted(shares)
    low = high = min(values, key=lambda value: abs(value - begin))
    for value in sorted(value for value in values if value >= high):
        if shares[value].share < 1.0:
            break
        high = value
    for value in sorted((value for value in values if value <= low), reverse=True):
        if shares[value].share < 1.0:
            break
        low = value
    return low, high


def row(name: str, table: Table) -> str:
    """A line of the table.

    Args:
        name: of the quantity.
        table: of its runs.
    """
    words, _, begin, unit = QUANTITIES[name]
    shares = {value: share for (value,), share in table.shares(name).items()}
    low, high = interval(shares, begin)
    beyond = ", ".join(
        f"{value:g}: {100 * share.share:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})"
        for value, share in shares.items()
        if not low <= value <= high
    )
    end = ", the greatest tried" if high == max(shares) else ""
    return f"| {words} | {low:g} to {high:g}{unit}{end} | {beyond or '-'} |"


def told(tables: dict[str, Table]) -> str:
    """The table, and how it came about.

    Args:
        tables: runs of each quantity.
    """
    counts = sorted({share.cases for name, table in tables.items() for share in table.shares(name).values()})
    all_of = Share.of(counts[0], counts[0])
    runs = " to ".join(f"{10 * count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    return "\n".join(
        [
            f"The quadruped of `wbc demo` stands, moves its base, and is pushed with 30 % of its weight from any side: "
            f"{runs} runs of 1.8 s for each line (`make robust`). Where all {counts[0]} runs with a value stood, it "
            f"stands in {100 * all_of.low:.0f} to 100 % of them; all intervals are 95 % ones.",
            "",
            "| what is wrong, alone | stands in all runs | share that stands beyond, % |",
            "| --- | --- | --- |",
            *(row(name, table) for name, table in tables.items()),
        ]
    )


def written(text: str, part: str) -> str:
    """A text with a part between its markers.

    Args:
        text: with one pair of markers.
        part: what goes between them.
    """
    pieces = re.split(f"({BEGIN}|{END})", text)
    if pieces[1::2] != [BEGIN, END]:
        raise SystemExit(f"README.md needs one {BEGIN} and one {END} after it")
    pieces[2] = f"\n{part}\n"
    return "".join(pieces)


def main(runs: int = 1000, folder: str = "runs/robust", what: str = "", jobs: int | None = None) -> None:
    """Runs what is missing, prints the table, and writes it where it is asked to."""
    tables: dict[str, Table] = {}
    for share in ROUNDS:
        for name, (_, values, _, _) in QUANTITIES.items():
            seeds = range(max(round(share * runs) // len(values), 1))
            cases = wbc.cases(SCENE, seed=seeds, **{**ALWAYS, name: values})
            tables[name] = wbc.sweep(cases, Path(folder) / name, logs="none", jobs=jobs)
        print(told(tables), "\n", flush=True)
    if what == "write":
        README.write_text(written(README.read_text(encoding="utf-8"), told(tables)), encoding="utf-8")


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, str, str, int), sys.argv[1:], strict=False)))
