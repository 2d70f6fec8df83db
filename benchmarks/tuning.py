"""Gains that `wbc.tune` finds for the standing quadruped and the humanoid, which are pushed, against our own.

usage: python -m benchmarks.tuning [TRIALS] [SEEDS] [FOLDER]

A trial is judged by two seeds of the sensor noise; the tuned values and ours are then compared on SEEDS others.
"""

from __future__ import annotations

import sys
from pathlib import Path

import wbc

NOISE = {"realism.noise.position": 3e-4, "realism.noise.velocity": 0.02}
"""Standard deviations, rad and rad/s."""

STUDIES: dict[str, tuple[dict[str, object], str, dict[str, object]]] = {
    "5": (
        {"base.gains": (0.5, 8.0, "log"), "posture.gains": (0.3, 6.0, "log")},
        "errors.base.rms",
        {},
    ),
    "7": (
        {"trunk.gains": (0.5, 6.0, "log"), "posture.gains": (0.3, 6.0, "log"), "right_hand.gains": (0.3, 4.0, "log")},
        "errors.right_hand.rms",
        {"begin": 11.0},
    ),
}
"""What is tuned, its score, and what is fixed: the humanoid begins before its first push."""


def main(trials: int = 100, seeds: int = 20, folder: str = "runs/tuning") -> None:
    """Tunes and compares."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for scene, (ranges, score, fixed) in STUDIES.items():
        storage = f"sqlite:///{Path(folder) / 'tuning.db'}"
        given = {**NOISE, **fixed}
        best = wbc.tune(scene, ranges, score=score, trials=trials, seed=range(2), storage=storage, **given)  # type: ignore[arg-type]
        print(best)
        found = best.compare(range(100, 100 + seeds), Path(folder) / f"unseen-{scene}")
        print(
            f"  {scene}, {found.cases} seeds that the study has not seen: {score} {found.own:.4g} with our values, "
            f"{found.tuned:.4g} with the tuned ones ({100 * (found.tuned / found.own - 1):+.1f} %); "
            f"finished {found.own_finished} and {found.tuned_finished}",
            flush=True,
        )


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, int, str), sys.argv[1:], strict=False)))
