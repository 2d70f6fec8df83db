"""Tuning: Optuna proposes values, and runs of a scene judge them."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wbc.errors import WbcError, number, show, unknown_name
from wbc.sweeps.case import Case, Cases, cases
from wbc.sweeps.cell import Orders
from wbc.sweeps.executors import LocalProcesses, run_chunk
from wbc.sweeps.overrides import own_values
from wbc.sweeps.runner import sweep
from wbc.sweeps.table import value_of, why
from wbc.sweeps.values import plain
from wbc.sweeps.versions import source_of, versions

FAILED = 1e6
"""The score of a run that did not finish, at least: more than that of any that did."""

ENDED = "ended"
"""What a trial tells in Optuna's storage of a run that did not finish."""

Score = Callable[[Mapping[str, Any]], float]


@dataclass(frozen=True)
class Range:
    """The values that a parameter may take.

    Attributes:
        name: of the parameter.
        low: least value, in the unit of the parameter.
        high: greatest value, likewise in its unit.
        kind: "", "log" or "int".
        choices: instead of a range; empty: there is one.
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    kind: str = ""
    choices: tuple[Any, ...] = ()

    @classmethod
    def of(cls, name: str, given: object) -> Range:
        """What was given for a parameter: (low, high), (low, high, "log"), (low, high, "int"), or a list of values.

        Args:
            name: of the parameter.
            given: its range.
        """
        if isinstance(given, list) and len(given) > 1:
            return cls(name, choices=tuple(plain(name, value) for value in given))
        if (
            not isinstance(given, tuple)
            or len(given) not in (2, 3)
            or (len(given) == 3 and given[2] not in ("log", "int"))
        ):
            raise WbcError(
                f"{name} = {show(given)} must be (low, high), (low, high, 'log'), (low, high, 'int'), or a list "
                "of values"
            )
        low = number(given[0], f"the least {name}", -math.inf)
        high = number(given[1], f"the greatest {name}", low, above=True)
        kind = given[2] if len(given) == 3 else ""
        if kind == "log" and low <= 0:
            raise WbcError(f"{name} = {show(given)}: a logarithmic range begins above zero")
        return cls(name, low, high, kind)

    @property
    def example(self) -> Any:  # noqa: ANN401  of a parameter
        """One of the values."""
        return self.choices[0] if self.choices else int(self.low) if self.kind == "int" else self.low

    def has(self, value: object) -> bool:
        """Whether a value is one of these."""
        if self.choices:
            return value in self.choices
        return isinstance(value, int | float) and self.low <= value <= self.high

    def propose(self, trial: Any) -> Any:  # noqa: ANN401  Optuna has it
        """A value for a trial of Optuna's."""
        if self.choices:
            return trial.suggest_categorical(self.name, self.choices)
        if self.kind == "int":
            return trial.suggest_int(self.name, int(self.low), int(self.high))
        return trial.suggest_float(self.name, self.low, self.high, log=self.kind == "log")


@dataclass(frozen=True)
class Comparison:
    """The scene's own values and tuned ones, on the same cases.

    Attributes:
        own: mean score of the scene's own.
        tuned: mean score of the tuned.
        own_finished: runs that finished, of the scene's own.
        tuned_finished: of the tuned.
        cases: of each.
    """

    own: float
    tuned: float
    own_finished: int
    tuned_finished: int
    cases: int


@dataclass(frozen=True)
class Best:
    """The result of a study.

    Attributes:
        scene: that was tuned.
        values: the best values, by name.
        score: of them.
        own: score of the scene's own values; None where these are not known, or not in the ranges.
        trials: that ended.
        pruned: of these, that were given up early.
        study: Optuna's.
    """

    scene: str
    values: dict[str, Any]
    score: float
    own: float | None
    trials: int
    pruned: int
    study: Any
    _score: Score
    _fixed: dict[str, object]

    def compare(self, seed: int | Iterable[int], out: str | Path, *, jobs: int | None = None) -> Comparison:
        """Runs the scene's own values and the tuned ones on seeds that the study has not seen.

        Args:
            seed: one, or several.
            out: folder of the rows.
            jobs: processes; None: one a core.
        """
        seeds = (seed,) if isinstance(seed, int) else tuple(seed)
        found = []
        for name, values in (("own", {}), ("tuned", self.values)):
            table = sweep(cases(self.scene, seed=seeds, **{**self._fixed, **values}), Path(out) / name, jobs=jobs)
            rows = list(table)
            finished = sum(row["kind"] == "finished" for row in rows)
            found.append((float(np.mean([_judged(row, self._score) for row in rows])), finished, len(rows)))
        (own, own_finished, count), (tuned, tuned_finished, _) = found
        return Comparison(own, tuned, own_finished, tuned_finished, count)

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in self.values.items()
        )
        own = "" if self.own is None else f"; the scene's own values {self.own:.4g}"
        return f"<Best of {self.trials} trials ({self.pruned} given up early): {values}; score {self.score:.4g}{own}>"


def score_of(name: str) -> Score:
    """A score by its place in a row, such as "errors.base.rms"; or a sum of several with "+".

    Args:
        name: see `wbc.sweeps.table.value_of`.
    """

    def score(row: Mapping[str, Any]) -> float:
        return sum(_number_of(row, part.strip()) for part in name.split("+"))

    return score


def _number_of(row: Mapping[str, Any], name: str) -> float:
    """A number of a row that finished; raises where it has none of that name."""
    found = value_of(row, name)
    if math.isnan(found):
        raise unknown_name("number of a row", name, list(_numbers_in(row)))
    return found


def _numbers_in(row: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Names of the numbers that may be a score, as `value_of` takes them."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            if key not in ("versions", "timing"):
                yield from _numbers_in(value, "" if key == "overrides" else f"{before}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{before}{key}"


def tune(
    scene: str,
    parameters: Mapping[str, object],
    *,
    score: Score | str,
    trials: int = 100,
    seed: int | Iterable[int] = 0,
    storage: str | None = None,
    study: str | None = None,
    sampler: Any = None,  # noqa: ANN401  Optuna's
    pruner: Any = None,  # noqa: ANN401  Optuna's
    jobs: int | None = None,
    time_limit: float = 600.0,
    progress: Callable[[int, float | None], None] | None = None,
    **fixed: object,
) -> Best:
    """Searches for the values of a scene's parameters with the lowest score, with Optuna.

    A trial is judged by the mean score over its cases: all seeds, and all combinations of what is `fixed`. They are run
    one after the other; a trial that is worse so far than others were at that point is given up. The scene's own values
    are the first trial.

    Args:
        scene: see `wbc.cases`.
        parameters: by name (see `wbc.cases`): (low, high), (low, high, "log"), (low, high, "int"), or a list of values.
        score: of a row that finished, less is better: a function, or where it stands in the row, "errors.base.rms".
            Others count `FAILED`, and more the earlier they ended.
        trials: that the study is to have, with those that it had.
        seed: of the cases that judge a trial.
        storage: of Optuna, "sqlite:///tune.db": any number of processes and machines work on one study, and it goes on
            where it was. None: in memory.
        study: its name in the storage; None: the scene's.
        sampler: Optuna's; None: its default, TPE.
        pruner: Optuna's; None: trials are given up that are worse than the median of others.
        jobs: trials at the same time, each in a process; None: one a core.
        time_limit: of a case, s.
        progress: called after each trial with the count of trials, and the best score if there is one.
        fixed: what the cases of a trial have, as for `wbc.cases`.
    """
    ranges = [Range.of(name, given) for name, given in parameters.items()]
    if not ranges:
        raise WbcError("there is nothing to tune: give parameters, such as {'base.gains': (0.5, 8.0)}")
    judge = score_of(score) if isinstance(score, str) else score
    number(trials, "trials", 1)
    overlap = sorted(set(parameters) & set(fixed))
    if overlap:
        raise WbcError(f"{overlap[0]} is to be tuned and is fixed")
    # the names are looked at here, before anything runs
    chosen = cases(scene, seed=seed, **{**fixed, **{one.name: one.example for one in ranges}})
    orders = Orders(number(time_limit, "the time limit, s,", above=True), versions(), source_of(chosen.scene))
    optuna = _optuna()
    pruner = optuna.pruners.MedianPruner() if pruner is None else pruner
    with _quiet(optuna):
        try:
            found = optuna.create_study(
                storage=storage, sampler=sampler, pruner=pruner, study_name=study or chosen.scene, load_if_exists=True
            )
        except Exception as error:  # of whatever keeps it
            raise WbcError(
                f"Optuna can't keep a study in {show(storage)}: {type(error).__name__}: {error}; give a storage such "
                "as sqlite:///tune.db"
            ) from None
        own = own_values(chosen.scene, [one.name for one in ranges])
        usable = len(own) == len(ranges) and all(one.has(own[one.name]) for one in ranges)
        if usable and not found.get_trials(deepcopy=False):
            found.enqueue_trial(own, user_attrs={"own": True})
        _optimise(optuna, found, ranges, chosen, judge, orders, int(trials), jobs, progress)
        return _best(optuna, found, chosen.scene, judge, fixed)


def _optimise(
    optuna: Any,  # noqa: ANN401  a module
    study: Any,  # noqa: ANN401  Optuna's
    ranges: Sequence[Range],
    chosen: Cases,
    judge: Score,
    orders: Orders,
    trials: int,
    jobs: int | None,
    progress: Callable[[int, float | None], None] | None,
) -> None:
    """Runs trials until the study has enough."""
    state = optuna.trial.TrialState
    ended = (state.COMPLETE, state.PRUNED)
    executor = LocalProcesses(jobs)
    running: dict[Future[float | None], Any] = {}
    try:
        while True:
            count = len(study.get_trials(deepcopy=False, states=ended))
            while len(running) < executor.jobs and count + len(running) < trials:
                trial = study.ask()
                values = {one.name: one.propose(trial) for one in ranges}
                running[executor.submit(_trial, trial, values, chosen, judge, orders)] = trial
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                trial, value = running.pop(future), future.result()
                study.tell(trial, value, state=state.PRUNED if value is None else state.COMPLETE)
                if progress is not None:
                    done = study.get_trials(deepcopy=False, states=(state.COMPLETE,))
                    progress(count + 1, min((one.value for one in done), default=None))
    finally:
        executor.halt()
        for trial in running.values():
            with contextlib.suppress(Exception):  # the storage may be what ended it
                study.tell(trial, state=state.FAIL)


def _trial(trial: Any, values: Mapping[str, Any], chosen: Cases, judge: Score, orders: Orders) -> float | None:  # noqa: ANN401
    """The mean score over the cases; None where it was given up."""
    scores: list[float] = []
    for case in chosen:
        asked = Case(case.scene, {**case.overrides, **values}, case.seed)
        (answer,) = run_chunk([asked.plain()], orders)
        row = json.loads(answer)
        if row["kind"] != "finished":
            trial.set_user_attr(ENDED, f"{row['kind']}: {why(row)}")
        scores.append(_judged(row, judge))
        trial.report(float(np.mean(scores)), len(scores) - 1)
        if len(scores) < len(chosen) and trial.should_prune():
            return None
    return float(np.mean(scores))


def _judged(row: Mapping[str, Any], judge: Score) -> float:
    """The score of a row."""
    if row["kind"] != "finished":
        share = row.get("time", 0.0) / (row.get("duration") or 1.0)
        return FAILED * (2.0 - float(share))
    found = float(judge(row))
    if not math.isfinite(found):
        raise WbcError(
            f"the score of case {row['case']} is {found}: it must be a number; the row has {show(sorted(row))}"
        )
    return found


def _best(optuna: Any, study: Any, scene: str, judge: Score, fixed: dict[str, object]) -> Best:  # noqa: ANN401
    """What is known at the end."""
    state = optuna.trial.TrialState
    done = study.get_trials(deepcopy=False, states=(state.COMPLETE,))
    if not done:
        raise WbcError(f"no trial of the study of {scene} has ended")
    best = min(done, key=lambda trial: trial.value)
    if ENDED in best.user_attrs:
        raise WbcError(
            f"no trial of the study of {scene} has runs that all finished; the best one {best.user_attrs[ENDED]}"
        )
    own = next((trial.value for trial in done if trial.user_attrs.get("own")), None)
    pruned = len(study.get_trials(deepcopy=False, states=(state.PRUNED,)))
    return Best(scene, dict(best.params), best.value, own, len(done) + pruned, pruned, study, judge, fixed)


def _optuna() -> Any:  # noqa: ANN401  a module
    try:
        import optuna
    except ImportError as error:
        raise WbcError(f"tuning needs Optuna: pip install 'wbc[tune]' ({error})") from None
    return optuna


@contextlib.contextmanager
def _quiet(optuna: Any) -> Iterator[None]:  # noqa: ANN401  a module
    """Without a line for each trial: the library prints nothing."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
