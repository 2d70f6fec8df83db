"""What health looks at, one kind of finding after the other, by ticks whose numbers are told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wbc.control.examination import Examination
from wbc.control.health import Finding
from wbc.control.watch import NOTHING, Empty, Look, Past

JOINTS = {"slide": SimpleNamespace(kind="prismatic"), "turn": SimpleNamespace(kind="revolute")}


def task(**is_so: Any) -> Any:
    plain = {"bounds_contacts": False, "bounds_joints": False, "bounds_torques": False, "holds_contacts": False}
    return SimpleNamespace(**plain | is_so)


def part(name: str, lower: Any, upper: Any = None, *, A: Any = None, level: int = 1, rank: int = 1, **rest: Any) -> Any:
    """The rows of a task; equations, where there is no upper bound."""
    low = np.array(lower, dtype=float)
    options = {
        "names": [f"row {k}" for k in range(len(low))],
        "weight": 1.0,
        "weights": None,
        "task": task(),
        "slack": 0.0,
    } | rest
    return SimpleNamespace(
        entry=SimpleNamespace(name=name, task=options["task"], level=level, rank=rank, slack=options["slack"]),
        lower=low,
        upper=low if upper is None else np.array(upper, dtype=float),
        equation=upper is None,
        acceleration=options.get("acceleration", np.arange(len(low))),
        names=options["names"],
        weight=options["weight"],
        weights=options["weights"],
        matrix=lambda layout: np.array(A, dtype=float),
    )


def told(one: Any, residual: Any, value: Any = None) -> tuple[Any, np.ndarray, np.ndarray]:
    miss = np.array(residual, dtype=float)
    return one, one.lower + miss if value is None else np.array(value, dtype=float), miss


def examination(*tells: Any, time: float = 10.0, past: Past = NOTHING, **options: Any) -> Any:
    solution = {"status": "relaxed", "torque": np.zeros(2), "yielding": (), "active": (), "interrupted": False}
    solution |= {"late": False, "iterations": 3}
    limits = SimpleNamespace(effort=np.array(options.pop("effort", [np.inf, np.inf])))
    model = SimpleNamespace(joints=JOINTS, actuators={}, actuated=None)
    robot = SimpleNamespace(model=model, limits=limits)
    tick = SimpleNamespace(time=time, layout=None)
    free = options.pop("free", np.eye(3))
    clipped = options.pop("clipped", False)
    found = SimpleNamespace(**solution | options)
    return Examination(found, robot, tick, list(tells), past, clipped, lambda one: one.names, lambda: free)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "unit"), [({"bounds_contacts": True}, "N"), ({"bounds_torques": True}, "N m"), ({}, "")]
)
def test_the_worst_row_of_a_broken_inequality(kind: dict[str, bool], unit: str) -> None:
    rows = part("mine", [0.0, 0.0, 5.0, 0.0], [1.0, 1.0, 5.0, 1.0], task=task(**kind))
    worst = told(rows, [0.1, -0.3, 7.0, 0.0], [1.1, -0.3, 12.0, 0.5])
    fine = told(part("fine", [0.0], [1.0]), [3e-6], [5.0])
    equations = told(part("equations", [0.0]), [4.0])
    (finding,) = examination(fine, equations, worst)._broken()
    text = f"mine does not hold: row 2 by 7 {unit}".strip()
    assert finding == Finding("relaxed", "mine", 7.0, unit, text), "a bound of no width is a bound"
    assert not examination(worst, status="optimal")._broken()


@pytest.mark.parametrize(
    ("value", "beyond", "broken"), [(0.0, 0.9e-6, 0), (0.0, 1.1e-6, 1), (-9.0, 9e-6, 0), (-9.0, 1.1e-5, 1)]
)
def test_an_inequality_is_broken_beyond_a_millionth_of_its_value(value: float, beyond: float, broken: int) -> None:
    assert len(examination(told(part("a", [0.0], [1.0]), [beyond], [value]))._broken()) == broken


def test_a_bound_that_yields_is_broken_beyond_its_slack() -> None:
    for beyond, broken in ((0.9, 0), (1.1, 1)):
        assert len(examination(told(part("a", [0.0], [1.0], slack=1.0), [beyond], [0.0]))._broken()) == broken


def test_the_worst_row_of_each_contact_that_moves() -> None:
    names = ["x of left", "rz of left", "z of right", "odd"]
    rows = part("still", [0.0] * 4, names=names, task=task(holds_contacts=True))
    other = told(part("other", [0.0]), [9.0])
    found = examination(other, told(rows, [1.5, -2.5, 0.9, 3.0]))._moving_contacts()
    assert found == [
        Finding("contact motion", "left", 2.5, "rad/s²", "still: rz of left missed by 2.5 rad/s²"),
        Finding("contact motion", "odd", 3.0, "", "still: odd missed by 3"),
    ]
    (first, _) = examination(told(rows, [2.5, -2.0, 0.9, 3.0]))._moving_contacts()
    assert (first.value, first.unit) == (2.5, "m/s²")
    assert not examination(told(rows, [1.0, -1.0, 0.0, 0.5]))._moving_contacts()
    none = part("still", [], names=[], task=task(holds_contacts=True))
    assert not examination(told(none, []))._moving_contacts()


@pytest.mark.parametrize(
    ("lasted", "share", "found"),
    [(0.09, 0.5, 0), (0.11, 0.5, 1), (0.11, 0.1, 1), (0.11, 0.09, 0), (1.01, 0.09, 1), (0.99, 0.09, 0)],
)
def test_an_empty_contact_is_told_after_a_while(lasted: float, share: float, found: int) -> None:
    past = Past((), {"toe": Empty(10.0 - lasted, 50.0, -3.0, share)}, {})
    findings = examination(past=past)._empty_contacts()
    assert len(findings) == found
    if findings:
        text = f"toe carries 0 N of 50 N for {lasted:.2g} s"
        assert findings == [Finding("empty contact", "toe", 50.0, "N", text)]


def test_joints_beyond_their_ends_are_told_where_nothing_keeps_them_from_there() -> None:
    def looks(*ends: dict[str, float]) -> Past:
        return Past(tuple(Look(9.0 + 0.25 * k, {}, one) for k, one in enumerate(ends)), {}, {})

    past = looks({}, {"turn": 0.05, "slide": 0.011})
    text = "is 0.05 rad beyond the end of its range, from which no task keeps it"
    slide = Finding("joint end", "slide", 0.011, "m", f"slide {text.replace('0.05 rad', '0.011 m')}")
    turn = Finding("joint end", "turn", 0.05, "rad", f"turn {text}")
    assert examination(past=past)._ends_of_joints() == [turn, slide]
    keeps = told(part("limits", [0.0], [1.0], names=["turn"], task=task(bounds_joints=True)), [0.1])
    assert examination(keeps, past=past)._ends_of_joints() == [slide]
    for past in (looks({"turn": 0.1}, {}), looks()):
        assert not examination(past=past)._ends_of_joints()


def spent(torque: list[float], *tells: Any, effort: Any = (10.0, 20.0)) -> list[Finding]:
    found: list[Finding] = examination(*tells, torque=np.array(torque), effort=effort)._spent_actuators()
    return found


def test_actuators_that_give_all_that_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a task leaves them, where one leaves less; of the least of several."""
    monkeypatch.setattr("wbc.control.examination.actuator_names", lambda model: ["slide", "other"])
    assert spent([9.98, -19.97]) == []
    assert spent([-9.995, 1.0]) == [Finding("torque limit", "slide", 9.995, "N", "slide is at its limit of 10 N")]
    assert [one.unit for one in spent([10.0, 20.0])] == ["N", "N m"]
    limit, loose = (told(part("t", [0.0], [1.0], task=task(bounds_torques=True, scale=s)), [0.0]) for s in (0.5, 0.8))
    plain = told(part("t", [0.0], [1.0], task=task(bounds_torques=True)), [0.0])
    idle = told(part("t", [0.0], [1.0], task=task(scale=0.1)), [0.0])
    assert spent([4.99, 9.0], limit, loose, plain, idle) == []
    assert spent([4.999, 9.0], limit, loose, plain, idle)[0].text == "slide is at its limit of 5 N"
    wide = told(part("t", [0.0], [1.0], task=task(bounds_torques=True, scale=2.0)), [0.0])
    assert len(spent([10.0, 0.0], wide)) == 1
    assert spent([0.0, 1e9], effort=(0.0, np.inf)) == []


def looks(*errors: Any, times: Any = (8.9, 9.2, 9.5, 10.0), name: str = "mine") -> Past:
    return Past(tuple(Look(t, {name: np.array(e, dtype=float)}) for t, e in zip(times, errors, strict=True)), {}, {})


@pytest.mark.parametrize(
    ("errors", "row"),
    [
        ([[0.1, 0.0, 0.0]] * 4, "x of tool"),
        ([[0.0, 0.06, 0.0]] * 4, "rx of tool"),
        ([[0.0, 0.04, 0.0]] * 4, None),  # less than 0.05 rad
        ([[0.021, 0.0, 0.0]] * 4, "x of tool"),
        ([[0.019, 0.0, 0.0]] * 4, None),
        ([[0.0, 0.0, 0.021]] * 4, "slide"),
        ([[0.03, 0.2, 0.0]] * 4, "rx of tool"),  # the worst by what is far
        ([[0.1, 0.2, 0.0]] * 4, "x of tool"),
        ([[0.1, 0.0, 0.0], [0.01, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0]], None),  # it came near
        ([[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0]], None),  # it went through
        ([[-0.1, 0.0, 0.0]] * 4, "x of tool"),
        ([[0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.089, 0.0, 0.0]], None),  # it shrinks
        ([[0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.091, 0.0, 0.0]], "x of tool"),
        ([[0.1, 0.0]] * 3 + [[0.1, 0.0, 0.0]], None),  # it had other rows
    ],
)
def test_an_error_that_stays_for_a_second_is_out_of_reach(errors: Any, row: str | None) -> None:
    rows = part("mine", [3.0] * 3, names=["x of tool", "rx of tool", "slide"], A=np.eye(3))
    found = examination(told(rows, [0.0] * 3), past=looks(*errors))._out_of_reach()
    assert [finding.text.split(" is ")[0] for finding in found] == ([] if row is None else [f"mine: {row}"])
    if row == "slide" or (row == "x of tool" and abs(errors[-1][0]) == 0.1):
        off = abs(errors[-1][2 if row == "slide" else 0])
        text = f"mine: {row} is {off:.3g} m off its target and came no nearer in 1.1 s"
        assert found == [Finding("out of reach", "mine", pytest.approx(off), "m", text)]


def test_an_error_is_told_as_it_was_at_the_last_look() -> None:
    rows = part("mine", [3.0], names=["x of tool"], A=[[1.0, 0.0, 0.0]])
    (finding,) = examination(told(rows, [0.0]), past=looks([-0.1], [-0.13], [-0.12], [-0.11]))._out_of_reach()
    assert finding.value == pytest.approx(0.11) and "0.11 m" in finding.text


def test_who_is_out_of_reach_is_found_once_a_look_and_only_while_its_task_is_on() -> None:
    rows, errors = part("mine", [3.0], names=["x of tool"], A=[[1.0, 0.0, 0.0]]), [[0.1]] * 4
    past = looks(*errors)
    assert examination(told(rows, [0.0]), past=past)._out_of_reach() and past.looks[-1].stays
    assert not examination(past=past)._out_of_reach()
    past.looks[-1].stays = []
    assert not examination(told(rows, [0.0]), past=past)._out_of_reach()
    assert not examination(told(rows, [0.0]))._out_of_reach()
    for first, found in ((9.1, 0), (9.0, 1)):  # less than a second ago, and more
        past = looks(*errors, times=(first, 9.3, 9.6, 10.0))
        assert len(examination(told(rows, [0.0]), past=past)._out_of_reach()) == found
    near = looks([0.0], [0.1], [0.1], [0.1], times=(8.0, 8.9, 9.5, 10.0))  # what was before the last second is past
    assert len(examination(told(rows, [0.0]), past=near)._out_of_reach()) == 1
    many = looks([0.1], [0.1], [0.1], [0.01])
    assert not examination(told(rows, [0.0]), past=many)._out_of_reach()


def meant(mine: Any, residual: Any, *others: Any, free: Any = None) -> bool:
    found = examination(told(mine, residual), *others, free=np.eye(3) if free is None else free)
    return bool(found._meant(0, np.ones(len(residual), dtype=bool)))


def test_a_row_is_missed_on_purpose_where_tasks_above_take_most_of_its_pull() -> None:
    mine = part("mine", [1.0], A=[[1.0, 0.0, 0.0]], level=2)
    for along, taken in (
        ([1e-5, 0.0, 0.0], True),
        ([1e5, 0.0, 0.0], True),
        ([1.0, 0.0, 0.0], True),
        ([0.9, 0.43, 0.0], True),
        ([0.8, 0.6, 0.0], False),
        ([0.0, 1.0, 0.0], False),
    ):
        for level, weight, counts in ((1, 1.0, True), (2, 2.0, True), (2, 1.0, False), (3, 9.0, False)):
            other = told(part("other", [0.0], A=[along], level=level, weight=weight), [0.0])
            # sin of the angle between the two is what is left
            assert meant(mine, [0.5], other) == (taken and counts), (along, level)
    above = told(part("above", [0.0, 0.0], [0.0, 1.0], A=[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], level=0), [0.0, 0.0])
    assert not meant(mine, [0.5], above), "of bounds with a width nobody knows whether they are in the way"


def test_what_contacts_or_physics_leave_nothing_of_is_out_of_reach() -> None:
    mine = part("mine", [1.0], A=[[1.0, 0.0, 0.0]], level=2)
    rival = told(part("rival", [0.0], A=[[1.0, 0.0, 0.0]], level=1), [0.0])
    still = told(part("still", [0.0], A=[[1.0, 0.0, 0.0]], level=3, task=task(holds_contacts=True)), [0.0])
    assert meant(mine, [0.5], rival) and not meant(mine, [0.5], rival, still)
    assert not meant(mine, [0.5], rival, free=np.eye(3)[:, 1:])
    beside = told(part("still", [0.0], A=[[0.0, 1.0, 0.0]], level=3, task=task(holds_contacts=True)), [0.0])
    assert meant(mine, [0.5], rival, beside)


def test_a_row_that_is_to_come_about_and_does_not_has_something_in_its_way() -> None:
    mine = part("mine", [-2.0, 9.0], A=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], level=2)
    rival = told(part("rival", [0.0], A=[[1.0, 0.0, 0.0]], level=1), [0.0])
    for missed, so in ((1.9e-3, False), (2.1e-3, True), (-2.1e-3, True)):
        found = examination(told(mine, [missed, 5.0]), rival)
        assert found._meant(0, np.array([True, False])) == so


def test_weights_tell_what_a_task_pulls_with() -> None:
    rival = told(part("rival", [0.0], A=[[1.0, 0.0, 0.0]], level=1), [0.0])
    for weights, so in ((None, False), ([9.0, 1.0], True)):
        mine = part("mine", [1.0, 1.0], A=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], level=2, weights=weights)
        if weights is not None:
            mine.weights = np.array(weights)
        assert meant(mine, [0.5, 0.5], rival) == so


def yielding(row: str, missed: float, since: float = 9.8, **options: Any) -> list[Finding]:
    """A task on rank 5 pulls as hard as it may since then."""
    names = ["y of tool", row]
    other = part("other", [0.0], A=[[0.0, 1.0, 0.0] if options.pop("rival", False) else [0.0, 0.0, 1.0]], level=1)
    mine = part("mine", [1.0, 3.0], A=np.eye(3)[:2], level=2, rank=5, names=names)
    mine.acceleration = options.pop("acceleration", mine.acceleration)
    past = Past(options.pop("seen", ()), {}, {5: since, 1: 0.0})
    found: list[Finding] = examination(
        told(other, [0.0]), told(mine, [0.0, missed]), past=past, yielding=[("mine", row, missed)], **options
    )._yielding()
    return found


def test_a_task_that_pulls_as_hard_as_it_may_for_a_while_and_misses_much_yields() -> None:
    text = "mine pulls as hard as it may and misses {row} by 1.5 {unit}"
    for row, unit in (
        ("z of tool", "m/s²"),
        ("ry of tool", "rad/s²"),
        ("slide", "m/s²"),
        ("turn", "rad/s²"),
        ("odd", ""),
    ):
        found = yielding(row, -1.5)
        assert found == [Finding("yielding", "mine", 1.5, unit, text.format(row=row, unit=unit).strip())]
    assert not yielding("odd", 0.9) and yielding("odd", 1.1) and yielding("odd", -1.1)
    assert not yielding("odd", 2.0, since=9.91) and yielding("odd", 2.0, since=9.89)
    assert not yielding("odd", 2.0, acceleration=None) and not yielding("odd", np.nan)


def test_a_task_that_yields_to_one_above_is_no_worry() -> None:
    assert yielding("odd", 2.0) and not yielding("odd", 2.0, rival=True)


def test_why_a_row_yields_is_found_out_once_a_look() -> None:
    look = Look(9.9, {})
    assert yielding("odd", 2.0, seen=(look,)) and look.meant == {("mine", 1): False}
    assert yielding("odd", 2.0, seen=(look,), rival=True), "it is remembered"
    look.meant["mine", 1] = True
    assert not yielding("odd", 2.0, seen=(look,))


def test_a_rank_of_which_nothing_was_remembered_has_just_begun_to_yield() -> None:
    mine = part("mine", [1.0], A=[[1.0, 0.0, 0.0]], rank=2)
    assert not examination(told(mine, [5.0]), yielding=[("mine", "row 0", 5.0)])._yielding()


@pytest.mark.parametrize("bounded", [False, True])
def test_physics_and_forces_that_nothing_bounds(bounded: bool) -> None:
    cones = told(part("cones", [0.0], [1.0], task=task(bounds_contacts=bounded)), [0.0])
    for off, margin, kinds in (
        (1e-9, 1.0, []),
        (1.5e-8, 1.0, ["physics"]),
        (np.nan, 1.0, ["physics"]),
        (1e-9, -0.2, ["cone"]),
    ):
        certificate = SimpleNamespace(
            equation_of_motion=off, cone_margin=margin, cone_tolerance=0.1, worst_contact="toe"
        )
        found = examination(cones, certificate=certificate)._against_nature()
        assert [finding.kind for finding in found] == [kind for kind in kinds if kind == "physics" or not bounded]
    if found:
        assert found == [Finding("cone", "toe", 0.2, "N", "the force at toe is 0.2 N outside its cone")]
    certificate.cone_margin = -0.09
    assert not examination(cones, certificate=certificate)._against_nature()


def test_what_kept_the_solver_from_its_work() -> None:
    assert not examination()._stopped()
    whole = SimpleNamespace(total=0.00125)
    found = examination(interrupted=True, late=True, clipped=True, iterations=7)
    found.solution.time = whole
    asked = "the solver asked for more torque than the actuators give"
    assert found._stopped() == [
        Finding("cut short", "solver", 7.0, "steps", "the solver was stopped after 7 steps"),
        Finding("late", "controller", 1.25, "ms", "the tick took 1.25 ms, longer than its deadline"),
        Finding("clipped", "actuators", 1.0, "", f"{asked}: it was clipped"),
    ]
