"""At which masses, delays, noise and pushes the demonstration stands: a table, from as many runs each as are asked for.

usage: python -m benchmarks.robust [RUNS] [FOLDER]   (`make robust`)

Each quantity is varied alone, over ten values with a tenth of the runs each. All runs have the sensor noise of a good
robot, with a seed of their own. A run is 10.5 s long: 4,000 of them take an hour or two on two cores. Rows are kept in
FOLDER, so that a second call goes on where the first one ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

import wbc
from wbc.sweeps import Share, Table

NOISE = {"realism.noise.position": 3e-4, "realism.noise.velocity": 0.02}
"""Standard deviations, rad and rad/s."""

QUANTITIES: dict[str, tuple[str, list[float], float, str]] = {
    "mass of the robot against the model": ("realism.mass", wbc.grid(0.7, 1.6, 10), 1.0, ""),
    "delay of the torques": ("realism.delay", wbc.grid(0.0, 0.018, 10), 0.0, " s"),
    "noise of the joint velocities": ("realism.noise.velocity", wbc.grid(0.0, 0.9, 10), 0.0, " rad/s"),
    "push of 0.2 s, as a share of the weight": ("share", wbc.grid(0.1, 1.0, 10), 0.1, ""),
}
"""Words; the parameter, its values, the one to begin from, and its unit."""


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


def main(runs: int = 1000, folder: str = "runs/robust") -> None:
    """Runs what is missing, and prints the table."""
    print(
        f"| the demonstration, {runs} runs each | stands in all runs | share that stands beyond |\n| --- | --- | --- |"
    )
    for words, (name, values, begin, unit) in QUANTITIES.items():
        cases = wbc.cases("demo", seed=range(max(runs // len(values), 1)), **{**NOISE, name: values})
        out = Path(folder) / name
        table: Table = wbc.sweep(cases, out, logs="none")
        shares = {value: share for (value,), share in table.shares(name).items()}
        low, high = interval(shares, begin)
        beyond = ", ".join(
            f"{value:g}: {100 * share.share:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f} %)"
            for value, share in shares.items()
            if not low <= value <= high
        )
        print(f"| {words} | {low:g} to {high:g}{unit} | {beyond or '-'} |", flush=True)


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, str), sys.argv[1:], strict=False)))
