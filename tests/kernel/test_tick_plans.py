"""Plans of ticks: whatever they are handed is solved or refused by an exception."""

import contextlib
import sys
import threading

import numpy as np
import pytest

from tests.kernel.odd import REFUSALS, any_of, holders, numbers, other_layouts, unaligned
from wbc.compiled import kernel

pytestmark = pytest.mark.skipif(kernel is None, reason="the kernel is not built, or off")
NOTHING, MATRIX, INDICES = range(3)


class Ticks:
    """A plan of random sizes, any of which may be zero, and what it is to solve."""

    def __init__(self, rng, share=0.0, most=6):
        self.rng, self.share = rng, share
        self.nv, self.nf = (int(n) for n in rng.integers(0, most + 3, size=2))
        self.loops = int(rng.integers(0, self.nf + 1)) if rng.random() < 0.5 else 0
        self.actuated = tuple(int(i) for i in rng.permutation(self.nv)[: int(rng.integers(0, self.nv + 1))])
        self.levels, self.widths = int(rng.integers(1, most)), (self.nv, self.nf, len(self.actuated))
        self.tiers = int(rng.integers(4)) if rng.random() < 0.5 else 0
        self.shapes = tuple(self._shape(most) for _ in range(int(rng.integers(most))))
        self.n = sum(self.widths)

    def _shape(self, most):
        """A part: its level, its rows, its blocks, and the tier of its pulls and one, or 0."""
        level, rows = int(self.rng.integers(self.levels)), int(self.rng.integers(most))
        kinds = (self._kind(width) for width in self.widths)
        return level, rows, *kinds, int(self.rng.integers(self.tiers + 1))

    def _kind(self, width):
        return int(self.rng.integers(3 if width else 2))

    def plan(self, steps=1000):
        sizes = self.nv, self.nf, self.loops, self.actuated, 7.0, self.levels, self.shapes
        plan = kernel.TickPlan(*sizes, steps, 1e-9, self.tiers)
        if self.rng.random() < 0.7:
            plan.elastic(
                10.0 ** self.rng.uniform(0, 12, self.tiers), self.rng.choice([1e-6, 1.0, np.inf], self.tiers), 1.0
            )
        return plan

    def rows(self):
        """How many rows the parts have."""
        return sum(shape[1] for shape in self.shapes)

    def _block(self, rows, kind, width):
        if kind == MATRIX:
            return numbers(self.rng, (rows, width), self.share)
        return self.rng.integers(0, width, size=rows) if kind == INDICES else None

    def part(self, shape):
        rng, rows = self.rng, shape[1]
        lower = numbers(rng, rows, self.share)
        upper = lower if rng.random() < 0.4 else lower + rng.choice([0.0, 1.0, np.inf], size=rows)
        weights = None if rng.random() < 0.5 else np.abs(numbers(rng, rows, self.share))
        blocks = [self._block(rows, kind, width) for kind, width in zip(shape[2:5], self.widths, strict=True)]
        return lower, upper, weights, float(rng.choice([0.0, 1.0, 1e-3])), *blocks, "whose"

    def arguments(self):
        M = numbers(self.rng, (self.nv, self.nv), self.share)
        M = M @ M.T + np.eye(self.nv) if not self.share else M
        h, J = numbers(self.rng, self.nv, self.share), numbers(self.rng, (self.nf, self.nv), self.share)
        L, bias = (numbers(self.rng, size, self.share) for size in ((self.loops, self.nv), self.loops))
        parts = tuple(self.part(shape) for shape in self.shapes)
        return [M, h, J, L, bias, parts, np.inf, 1e-6, np.empty(self.n), False]


def fuzz(seed):
    rng = np.random.default_rng(seed)
    ticks = Ticks(rng, rng.choice([0.0, 0.02, 0.2]), int(rng.choice([2, 6, 12])))
    plan = ticks.plan(int(rng.choice([1, 3, 1000])))
    with np.errstate(all="ignore"):
        for _ in range(4):
            arguments = ticks.arguments()
            arguments[6] = rng.choice([np.inf, np.inf, 0.0, np.nan, 1e-6])
            arguments[9] = rng.random() < 0.3
            status = plan.solve(*arguments)[0]
            assert status in range(4)
            plan.recall(plan.memory())
            if ticks.tiers:
                missed, loads = np.empty(ticks.rows()), np.empty(ticks.tiers)
                plan.pulls(missed, loads)
                assert np.isfinite(missed).all() and np.isfinite(loads).all() and (loads >= 0.0).all()
                plan.adopt(missed * rng.choice([0.0, 1.0, -1e6]))


@pytest.mark.parametrize("part", range(4))
def test_any_numbers_are_solved_or_named(part):
    for seed in range(250):
        fuzz([part, seed])


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4, 24))
def test_many_more_numbers(part):
    for seed in range(2000):
        fuzz([part, seed])


@pytest.mark.parametrize("seed", range(20))
def test_what_is_no_array_is_refused_and_leaves_no_trace(seed):
    rng = np.random.default_rng(seed)
    ticks = Ticks(rng, most=8)
    while len(ticks.shapes) < 2 or ticks.n < 3:
        ticks = Ticks(rng, most=8)
    plan, arguments = ticks.plan(), ticks.arguments()
    plan.solve(*arguments)
    expected = arguments[8].copy()
    held = holders([*arguments, *arguments[5][0], *arguments[5][1]])
    refused = 0
    for _ in range(80):
        given = [*arguments[:8], arguments[8].copy(), False]
        i = int(rng.integers(len(given)))
        if i == 5:
            k, j = int(rng.integers(len(given[5]))), int(rng.integers(7))
            part = list(given[5][k])
            part[j] = any_of(rng, part[j])
            parts = list(given[5])
            parts[k] = (rng.choice([0, 1, 2, 3]) and tuple(part)) or part[: rng.integers(8)]
            given[5] = tuple(parts) if rng.random() < 0.95 else parts
        else:
            given[i] = any_of(rng, given[i])
        try:
            plan.solve(*given)
        except REFUSALS:
            refused += 1
    assert refused > 20
    del given, parts, part
    plan.forget()
    plan.solve(*arguments)
    assert np.array_equal(arguments[8], expected, equal_nan=True)
    assert held == holders([*arguments, *arguments[5][0], *arguments[5][1]])


GOOD = (2, 3, 1, (0,), 1.0, 1, ((0, 1, 1, 0, 0, 0),), 10, 1e-9, 2)


@pytest.mark.parametrize(
    ("index", "value"),
    [
        *((0, value) for value in (-1, 10001, 2**31, "x", None)),
        *((1, value) for value in (-1, 10001, 2**40)),
        *((2, value) for value in (-1, 4, None)),
        *((3, value) for value in ([0], (2,), (-1,), (0, 0), ("x",), (10**30,), None)),
        *((4, value) for value in (0.0, -1.0, np.nan, np.inf)),
        *((5, value) for value in (0, 1001, -(2**31))),
        *((6, value) for value in ([], (3,), ((0, 1, 1, 0, 0),), ((1, 1, 1, 0, 0, 0),), ((0, -1, 1, 0, 0, 0),))),
        *((6, value) for value in (((0, 100001, 1, 0, 0, 0),), ((0, 1, 3, 0, 0, 0),), ((0, 1, 1, "x", 0, 0),))),
        *((6, ((0, 1, 1, 0, 0, tier),)) for tier in (-1, 3, "x", None)),
        (6, ((0, 100000, 1, 0, 0, 0),) * 30000),  # in an int this is less than nothing
        (6, ((0, 0, 1, 0, 0, 0),) * 100001),
        (7, 0),
        (8, 0.0),
        *((9, value) for value in (-1, 1001, 2**40, "x", None)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_sizes_that_are_none_are_refused(index, value):
    kernel.TickPlan(*GOOD)
    with pytest.raises(REFUSALS):
        kernel.TickPlan(*GOOD[:index], value, *GOOD[index + 1 :])


def one_row(block, kind=INDICES, lower=None):
    lower = np.zeros(len(block)) if lower is None else lower
    plan = kernel.TickPlan(3, 0, 0, (0, 1, 2), 1.0, 1, ((0, len(block), kind, 0, 0, 0),), 10, 1e-9, 0)
    part, none = (lower, lower, None, 1.0, block, None, None, ""), np.zeros((0, 3))
    arguments = [np.eye(3), np.zeros(3), none, none, np.zeros(0), (part,)]
    return plan, [*arguments, np.inf, 1e-6, np.empty(6), False]


@pytest.mark.parametrize("index", [-1, 3, 2**62, -(2**63)])
def test_indices_out_of_range_are_refused(index):
    plan, arguments = one_row(np.array([0, index]))
    with pytest.raises(IndexError, match=str(index)):
        plan.solve(*arguments)


def test_rows_of_another_layout_are_read_alike_or_refused():
    rng = np.random.default_rng(0)
    block, lower = rng.standard_normal((2, 3)), rng.standard_normal(2)
    plan, arguments = one_row(block, MATRIX, lower)
    plan.solve(*arguments)
    for odd in other_layouts(block):
        if not np.array_equal(odd, block):
            continue
        _, given = one_row(np.asarray(odd) if isinstance(odd, memoryview) else odd, MATRIX, lower)
        try:
            plan.solve(*given)
        except REFUSALS:
            assert not odd.flags.aligned
        else:
            assert np.array_equal(given[8], arguments[8])
    with pytest.raises(ValueError, match="aligned"):
        plan.solve(*one_row(unaligned(block), MATRIX, lower)[1])
    with pytest.raises(ValueError, match="aligned"):
        plan.solve(*one_row(block, MATRIX, unaligned(lower))[1])


def test_a_number_that_uses_the_plan_is_refused():
    """A weight is asked for when arrays are held already."""
    plan, arguments = one_row(np.arange(3))
    part = arguments[5][0]

    class Weight:
        def __float__(self):
            plan.solve(*arguments)
            return 1.0

    given = [*arguments]
    given[5] = ((*part[:3], Weight(), *part[4:]),)
    with pytest.raises(RuntimeError, match="by itself"):
        plan.solve(*given)
    plan.solve(*arguments)


def test_indices_that_another_thread_changes_do_no_harm():
    rng = np.random.default_rng(0)
    nv = 200
    block, lower = np.zeros(nv, dtype=np.int64), np.zeros(nv)
    plan = kernel.TickPlan(nv, 0, 0, tuple(range(nv)), 1.0, 1, ((0, nv, INDICES, 0, 0, 0),), 2, 1e-9, 0)
    M = rng.standard_normal((nv, nv))
    part = (lower, lower, None, 1.0, block, None, None, "")
    arguments = (
        M,
        np.zeros(nv),
        np.zeros((0, nv)),
        np.zeros((0, nv)),
        np.zeros(0),
        (part,),
        np.inf,
        1e-6,
        np.empty(2 * nv),
        False,
    )
    ended = threading.Event()

    def spoil():
        while not ended.is_set():
            block[:] = 2**40
            block[:] = 0

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=spoil)
    thread.start()
    try:
        for _ in range(300):
            with contextlib.suppress(IndexError):
                plan.solve(*arguments)
    finally:
        ended.set()
        thread.join()
        sys.setswitchinterval(before)


def three_tiers():
    """Two parts with pulls, of three and of one row, one part without, of two rows; the second tier has no part."""
    shapes = ((0, 3, INDICES, 0, 0, 1), (0, 2, INDICES, 0, 0, 0), (0, 1, INDICES, 0, 0, 3))
    plan = kernel.TickPlan(3, 0, 0, (0, 2), 1.0, 1, shapes, 20, 1e-9, 3)
    none = np.zeros((0, 3))
    parts = tuple(
        (np.full(rows, b), np.full(rows, b), None, 1.0, np.arange(rows), None, None, "")
        for rows, b in ((3, 2.0), (2, 0.0), (1, -1.0))
    )
    return plan, [np.eye(3), np.zeros(3), none, none, np.zeros(0), parts, np.inf, 1e-6, np.empty(5), False]


def read(plan):
    missed, loads = np.full(6, np.nan), np.full(3, np.nan)
    plan.pulls(missed, loads)
    return missed, loads


def test_pulls_are_read_adopted_kept_and_forgotten():
    plan, arguments = three_tiers()
    plan.elastic(np.array([9.0, 3.0, 1.0]), np.array([0.01, 1.0, np.inf]), 1.0)
    assert not read(plan)[0].any()
    plan.solve(*arguments)
    missed, loads = read(plan)
    assert missed[:2].all() and missed[5] and not missed[2], "nothing is against the third"
    assert not missed[3:5].any(), "rows without a tier have no pull"
    assert loads[0] == pytest.approx(np.linalg.norm(missed[:3]) / 0.01) and not loads[1:].any()
    first, memory = arguments[8].copy(), plan.memory()
    plan.solve(*arguments[:9], True)
    np.testing.assert_array_equal(arguments[8], first)
    np.testing.assert_array_equal(read(plan)[0], missed)
    plan.solve(*arguments)
    second = arguments[8].copy()
    assert not np.array_equal(second, first)
    for way in ("recalled", "adopted"):
        other, _ = three_tiers()
        other.elastic(np.array([9.0, 3.0, 1.0]), np.array([0.01, 1.0, np.inf]), 1.0)
        other.recall(memory) if way == "recalled" else other.adopt(missed)
        other.solve(*arguments)
        np.testing.assert_allclose(arguments[8], second, rtol=0.0, atol=0.0 if way == "recalled" else 1e-12)
    plan.forget_set()
    assert read(plan)[0].any()
    plan.forget()
    assert not read(plan)[0].any()
    plan.solve(*arguments)
    np.testing.assert_array_equal(arguments[8], first)


def test_a_plan_without_tiers_has_no_pulls():
    plan, arguments = one_row(np.arange(3))
    plan.solve(*arguments)
    plan.pulls(np.empty(0), np.empty(0))
    plan.adopt(np.empty(0))
    plan.elastic(np.empty(0), np.empty(0), 1.0)
    with pytest.raises(REFUSALS):
        plan.pulls(np.empty(3), np.empty(0))


def test_pulls_of_other_sizes_are_refused():
    plan, _ = three_tiers()
    one, rows = np.ones(3), np.ones(6)
    for weights, reaches in (
        *((bad, one) for bad in (np.zeros(3), -one, one * np.nan, one * np.inf, np.ones(2), [1.0] * 3, None)),
        *((one, bad) for bad in (np.zeros(3), -one, one * np.nan, np.ones(4), np.ones((3, 1)), None)),
    ):
        with pytest.raises(REFUSALS):
            plan.elastic(weights, reaches, 1.0)
    for held in (-1.0, np.nan, "x", None):
        with pytest.raises(REFUSALS):
            plan.elastic(one, one, held)
    for given in ((rows,), (np.ones(5), one), (rows, np.ones(2)), (rows, None), (rows, one, one)):
        with pytest.raises(REFUSALS):
            plan.pulls(*given)
    for bad in (np.ones(5), np.ones(6, dtype=int), None, [1.0] * 6):
        with pytest.raises(REFUSALS):
            plan.adopt(bad)
    memory = plan.memory()
    for bad in (b"", memory[:-1], memory + b"x", None, "x"):
        with pytest.raises(REFUSALS):
            plan.recall(bad)
    plan.recall(memory)


@pytest.mark.parametrize("lengths", [[1.0, 0.0], [1.0, np.nan], [1.0, np.inf], [1.0, -1.0], [1.0]])
def test_lengths_that_are_none_are_refused(lengths: list[float]) -> None:
    plan = kernel.TickPlan(2, 0, 0, (0, 1), 1.0, 1, ((0, 2, INDICES, 0, 0, 0),), 2, 1e-9, 0)
    with pytest.raises(ValueError):
        plan.lengths(np.array(lengths))
    plan.lengths(np.array([1.0, 0.5]))
