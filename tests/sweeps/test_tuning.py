"""Tuning finds what is better than a scene's own values, and gives up early what is not."""

import sys

import pytest

import wbc
from wbc.sweeps.overrides import own_values
from wbc.sweeps.tuning import FAILED, Range, score_of

STUB = "tests/sweeps/stub_scene.py"


def distance(row):
    return abs(row["overrides"]["y"] - 2.0) + 1e-3 * row["seed"]


@pytest.fixture
def optuna():
    return pytest.importorskip("optuna")


def test_it_finds_a_minimum_and_its_own_values_are_the_first_trial(optuna):
    told = []
    best = wbc.tune(
        STUB,
        {"y": (-3.0, 3.0)},
        score=distance,
        trials=25,
        seed=range(2),
        jobs=1,
        sampler=optuna.samplers.TPESampler(seed=1),
        progress=lambda count, score: told.append((count, score)),
    )
    assert best.own == pytest.approx(2.0005), "y is 0 by itself"
    assert abs(best.values["y"] - 2.0) < 0.5 and best.score < 0.5 < best.own
    assert best.trials == 25 == len(told) and told[-1] == (25, best.score)
    assert 0 < best.pruned < 25, "some were given up after their first case"
    assert "score" in repr(best)


def test_a_run_that_goes_wrong_is_worse_than_any_other(optuna):
    best = wbc.tune(
        STUB, {"x": [-1.0, 1.0]}, score="overrides.x", trials=6, jobs=1, sampler=optuna.samplers.RandomSampler(seed=0)
    )
    assert best.values == {"x": 1.0} and best.score == 1.0
    failed = [trial.value for trial in best.study.trials if trial.params["x"] < 0 and trial.value is not None]
    assert failed and min(failed) >= FAILED


def test_two_calls_work_on_one_study_and_unseen_seeds_judge_it(optuna, tmp_path):
    storage = f"sqlite:///{tmp_path / 'tune.db'}"
    options = {"score": distance, "storage": storage, "jobs": 2}
    assert wbc.tune(STUB, {"y": (-3.0, 3.0)}, trials=4, **options).trials == 4
    best = wbc.tune(STUB, {"y": (-3.0, 3.0)}, trials=7, **options)
    assert best.trials == 7, "those of the first call count"

    def score(row):
        return abs(row["overrides"].get("y", 0.0) - 2.0)

    best = wbc.tune(STUB, {"y": (-3.0, 3.0)}, trials=7, **{**options, "score": score})
    found = best.compare(range(100, 103), tmp_path / "unseen", jobs=1)
    assert found.cases == 3 == found.own_finished == found.tuned_finished
    assert found.own == 2.0 and found.tuned == pytest.approx(abs(best.values["y"] - 2.0))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "nothing to tune"),
        ({"z": (0.0, 1.0)}, "no parameter of .* 'z'"),
        ({"y": (1.0, 0.0)}, "the greatest y"),
        ({"y": (0.0, 1.0, "log")}, "above zero"),
        ({"y": 3.0}, "must be .low, high"),
        ({"x": (0.0, 1.0)}, "is to be tuned and is fixed"),
    ],
)
def test_what_can_not_be_is_told(optuna, parameters, words):
    with pytest.raises(wbc.WbcError, match=words):
        wbc.tune(STUB, parameters, score=distance, x=1.0)


def test_a_score_that_is_no_number_is_told(optuna):
    with pytest.raises(wbc.WbcError, match=r"no number of a row 'errors.base.rms'.*'errors.x.rms'"):
        wbc.tune(STUB, {"y": (0.0, 1.0)}, score="errors.base.rms", trials=1, jobs=1)
    with pytest.raises(wbc.WbcError, match="the score of case .* is inf"):
        wbc.tune(STUB, {"y": (0.0, 1.0)}, score=lambda row: float("inf"), trials=1, jobs=1)


def test_a_study_without_a_run_that_finished_is_told(optuna):
    with pytest.raises(
        wbc.WbcError, match="no trial of .* all finished; the best one error: ValueError: x = 0.0 is not"
    ):
        wbc.tune(STUB, {"y": (0.0, 1.0)}, score="errors.x.rms", way="raise", trials=2, jobs=1)


def test_a_storage_that_can_not_be_used_is_told(optuna):
    with pytest.raises(wbc.WbcError, match="can't keep a study in 'nosuch:///x': .* such as sqlite"):
        wbc.tune(STUB, {"y": (0.0, 1.0)}, score="errors.x.rms", storage="nosuch:///x", trials=2, jobs=1)


def test_without_optuna_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(wbc.WbcError, match=r"pip install 'wbc\[tune\]'"):
        wbc.tune(STUB, {"y": (0.0, 1.0)}, score=distance)


def test_a_scenes_own_values_are_known():
    assert own_values("demo", ["share", "stand.gains", "posture.weight", "realism.mass", "realism.noise.position"]) == {
        "share": 0.3,
        "stand.gains": pytest.approx(3.0),
        "posture.weight": 1.0,
        "realism.mass": 1.0,
    }
    assert "base.gains" not in own_values("demo", ["base.gains"]), "of six numbers"


def test_a_score_may_be_a_sum():
    row = {"overrides": {}, "errors": {"base": {"rms": 0.25}, "left.hand": {"rms": 0.5}}}
    assert score_of("errors.base.rms + errors.left.hand.rms")(row) == 0.75


def test_a_range_knows_its_values():
    assert Range.of("n", (1, 5, "int")).has(3) and not Range.of("n", (1, 5, "int")).has(6)
    assert Range.of("way", ["a", "b"]).has("a") and not Range.of("way", ["a", "b"]).has("c")
