"""Cases are plain data with a name that is their content; wrong ones are told before anything runs."""

import json

import numpy as np
import pytest

import wbc
from wbc.sweeps import Case
from wbc.sweeps.values import parse

STUB = "tests/sweeps/stub_scene.py"


def test_every_combination_with_every_seed():
    cases = wbc.cases(STUB, x=wbc.grid(0, 1, 3), way=["run", "raise"], seed=range(4))
    found = list(cases)
    assert len(cases) == len(found) == 24 == len({case.hash for case in found})
    assert {(case.overrides["x"], case.overrides["way"], case.seed) for case in found} == {
        (x, way, seed) for x in (0.0, 0.5, 1.0) for way in ("run", "raise") for seed in range(4)
    }


def test_a_case_is_what_json_says_and_its_hash_that_of_its_content():
    case = next(iter(wbc.cases(STUB, x=np.float64(0.5), y=[[1, 2.5]])))
    assert json.loads(json.dumps(case.plain())) == {
        "scene": STUB,
        "overrides": {"x": 0.5, "y": [1, 2.5]},
        "seed": 0,
    }
    assert Case.of(json.loads(json.dumps(case.plain()))).hash == case.hash
    # fixed: it names rows that were written long ago
    assert Case("demo", {"share": 0.3, "realism.mass": 1.1}, 7).hash == "8d47bd085a6714b0"
    assert Case("demo", {"realism.mass": 1.1, "share": 0.3}, 7).hash == "8d47bd085a6714b0", "the order is nothing"
    assert Case("demo", {"share": 0.3, "realism.mass": 1.1}, 8).hash != "8d47bd085a6714b0"


def test_an_example_has_one_name():
    assert wbc.cases("5").scene == wbc.cases("05_standing").scene == "05_standing"


def test_a_grid_ends_where_it_is_told():
    assert wbc.grid(30, 120, 10) == [30, 40, 50, 60, 70, 80, 90, 100, 110, 120]
    assert wbc.grid(0, 360, 4, wrap=True) == [0, 90, 180, 270]
    assert wbc.grid(0, 0.3, 4) == [0.0, 0.1, 0.2, 0.3]
    assert wbc.grid(2, 9, 1) == [2]


def test_a_drawn_value_belongs_to_its_seed():
    cases = list(wbc.cases(STUB, x=wbc.normal(1.0, 0.05), y=wbc.uniform(2, 3), wait=[0.0, 0.1], seed=range(200)))
    by_seed = {}
    for case in cases:
        by_seed.setdefault(case.seed, set()).add((case.overrides["x"], case.overrides["y"]))
    assert all(len(values) == 1 for values in by_seed.values()), "the same at every point of the grid"
    x, y = np.array([values.pop() for values in by_seed.values()]).T
    assert abs(x.mean() - 1.0) < 0.015 and 0.04 < x.std() < 0.06
    assert 2 <= y.min() < 2.1 and 2.9 < y.max() <= 3
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.2, "each parameter has its own numbers"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"z": 1}, r"no parameter of .*stub_scene.py 'z'.*'x'"),
        ({"x": "1:b"}, "x = '1:b' must be a number"),
        ({"x": float("nan")}, "x = nan is not finite"),
        ({"x": object()}, "must be plain data"),
        ({"x": []}, "x has no value"),
        ({"x": [1, 1]}, "a value twice"),
        ({"seed": [0, 0]}, "several different ones"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": []}, "one seed"),
        ({"seed": True}, "seed"),
    ],
)
def test_what_can_not_be_is_told(given, words):
    with pytest.raises(wbc.WbcError, match=words):
        wbc.cases(STUB, **given)


def test_parts_of_a_realism_and_settings_of_tasks_can_be_overridden():
    assert len(wbc.cases("5", **{"realism.mass": [1.0, 1.1], "realism.noise.position": 1e-3}, seed=range(3))) == 6
    assert len(wbc.cases("demo", **{"stand.gains": [2.0, 3.0], "posture.weight": 2})) == 2
    for name, words in (
        ("realism.masss", "did you mean 'realism.mass'"),
        ("stood.gains", "no task 'stood'; did you mean 'stand'"),
        ("stand.speed", "no setting of task 'stand'"),
        ("realism", "no parameter of demo"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            wbc.cases("demo", **{name: 1.0})
    with pytest.raises(wbc.WbcError, match="seed is no parameter"):
        wbc.sweeps.overrides.check_overrides(STUB, {"seed": 1})


def test_a_setting_reaches_its_task():
    from wbc.sweeps.overrides import load_case

    scene = load_case("demo", {"stand.gains": 2.0, "posture.weight": 0.5, "realism.delay": 0.002}, 3, backend="numpy")
    stack = scene.controller.stack
    assert stack["stand"].gains.kp == pytest.approx((4 * np.pi) ** 2)
    assert stack["posture"].weight == 0.5
    assert scene.robot.name == "numpy"


def test_seeds_that_change_nothing_are_told():
    with pytest.raises(wbc.WbcError, match="20 equal runs"):
        wbc.cases("5", share=0.2, seed=range(20))
    assert len(wbc.cases("5", share=wbc.normal(0.2, 0.01), seed=range(20))) == 20


def test_the_command_line_says_the_same():
    assert parse("push=30:120:10") == ("push", wbc.grid(30, 120, 10))
    assert parse("direction=0:360:16:wrap") == ("direction", wbc.grid(0, 360, 16, wrap=True))
    assert parse("mass = normal(1, 0.05)") == ("mass", wbc.normal(1, 0.05))
    assert parse("mass=uniform(0.9,1.1)") == ("mass", wbc.uniform(0.9, 1.1))
    assert parse("solver=weighted-qp,nullspace") == ("solver", ["weighted-qp", "nullspace"])
    assert parse("a=1,2.5,true,null,x:y") == ("a", [1, 2.5, True, None, "x:y"])
    for text in ("push", "push=", "=3", "push=1:2:x", "push=a:b:3", "mass=normal(1,x)", "push=1:2:0"):
        with pytest.raises(wbc.WbcError):
            parse(text)
    with pytest.raises(wbc.WbcError, match="has no count: .* such as push=30:120:5"):
        parse("push=30:120")
