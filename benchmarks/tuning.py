"""Gains that `wbc.tune` finds for the standing quadruped and the humanoid, which are pushed, against our own.

usage: python -m benchmarks.tuning [FOLDER] [PROCESSES] [STUDY]...

The robots are not quite what their controllers believe, torques are late and sensors noisy. The tuned values and ours
are compared on seeds that the study has not seen: other masses, other noise, other pushes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import wbc
from wbc.sweeps.tuning import score_of

LESS_THAN_IDEAL = {
    "realism.mass": wbc.normal(1.0, 0.1),
    "realism.delay": 0.002,
    "realism.noise.position": 3e-4,
    "realism.noise.velocity": 0.02,
}
"""What all cases have: mass against the model; s; standard deviations of encoders, rad and rad/s."""

ESTIMATOR = {
    "realism.noise.base_position": 1e-3,
    "realism.noise.base_orientation": 2e-3,
    "realism.noise.base_velocity": 0.01,
    "realism.noise.base_rate": 0.01,
}
"""Standard deviations of a good state estimator, m, rad, m/s and rad/s. No measured error is below them."""


@dataclass(frozen=True)
class Study:
    """What is tuned.

    Attributes:
        scene: see `wbc.cases`.
        ranges: see `wbc.tune`.
        score: of a row.
        fixed: what all cases have.
        trials: of the study.
        seeds: that judge a trial.
        unseen: that judge what was found.
    """

    scene: str
    ranges: dict[str, object]
    score: str
    fixed: dict[str, object]
    trials: int
    seeds: int
    unseen: int


STUDIES = {
    "demo": Study(
        "benchmarks/standing.py",
        {"stand.gains": (1.0, 12.0, "log"), "posture.gains": (0.3, 6.0, "log")},
        "errors.stand.rms",
        {**LESS_THAN_IDEAL, **ESTIMATOR, "direction": wbc.uniform(0.0, 360.0)},
        40,
        3,
        30,
    ),
    "humanoid": Study(
        "7",
        {"trunk.gains": (0.7, 6.0, "log"), "posture.gains": (0.3, 6.0, "log"), "right_hand.gains": (0.3, 4.0, "log")},
        "errors.right_hand.rms + errors.trunk.rms",
        {**LESS_THAN_IDEAL, "begin": 20.0, "pushed": [[20.8]]},
        16,
        2,
        8,
    ),
}
"""The humanoid begins with its reach, and is pushed to the left while it holds it, 2 s in all."""


def spread(rows: list[float], others: list[float]) -> str:
    """How much less the others are, in percent, with a 95 % interval from pairs of equal seeds (bootstrap)."""
    one, other = np.array(rows), np.array(others)
    drawn = np.random.default_rng(0).integers(len(one), size=(4000, len(one)))
    low, high = np.percentile(100 * (other[drawn].mean(axis=1) / one[drawn].mean(axis=1) - 1), [2.5, 97.5])
    return f"{100 * (other.mean() / one.mean() - 1):+.1f} % ({low:+.1f} to {high:+.1f} %)"


def compare(name: str, study: Study, values: dict[str, object], seeds: range, folder: Path, jobs: int | None) -> None:
    """Runs our values and the tuned ones on the same cases, and prints how they did."""
    judge, scores, stood = score_of(study.score), [], []
    for which, chosen in (("own", {}), ("tuned", values)):
        table = wbc.sweep(
            wbc.cases(study.scene, seed=seeds, **{**study.fixed, **chosen}),  # type: ignore[arg-type]
            folder / f"{name}-{which}",
            jobs=jobs,
            logs="none",
        )
        rows = sorted(table, key=lambda row: row["seed"])
        stood.append([row["kind"] == "finished" for row in rows])
        scores.append([judge(row) if row["kind"] == "finished" else np.inf for row in rows])
    both = [place for place, pair in enumerate(zip(*stood, strict=True)) if all(pair)]
    ours, tuned = ([column[place] for place in both] for column in scores)
    print(
        f"  {name}, {len(seeds)} unseen seeds: {study.score} {np.mean(ours):.4g} with our values, {np.mean(tuned):.4g} "
        f"with the tuned ones: {spread(ours, tuned)}; finished {sum(stood[0])} and {sum(stood[1])}",
        flush=True,
    )


def main(folder: str = "runs/tuning", jobs: int | None = None, *which: str) -> None:
    """Tunes and compares."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name in which or STUDIES:
        study = STUDIES[name]
        best = wbc.tune(
            study.scene,
            study.ranges,
            score=study.score,
            trials=study.trials,
            seed=range(study.seeds),
            storage=f"sqlite:///{out / 'tuning.db'}",
            jobs=jobs,
            **study.fixed,  # type: ignore[arg-type]
        )
        print(best, flush=True)
        wbc.sweeps.write_study(best, out / f"{name}.html")
        compare(name, study, best.values, range(100, 100 + study.unseen), out, jobs)


if __name__ == "__main__":
    words = sys.argv[1:]
    main(*words[:1], *map(int, words[1:2]), *words[2:])
