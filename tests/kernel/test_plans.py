"""Plans: whatever they are handed is solved or refused by an exception, and leaves no trace."""

import threading

import numpy as np
import pytest

from tests.kernel.odd import REFUSALS, any_of, holders, numbers, other_layouts
from tests.solvers.families import hard
from wbc.compiled import kernel

pytestmark = pytest.mark.skipif(kernel is None, reason="the kernel is not built, or off")


def plan_of(levels, n, steps=1000):
    return kernel.Plan(n, [len(lower) for _, lower, _ in levels], steps, 1e-9)


def arguments_of(levels, n):
    rows = sum(len(lower) for _, lower, _ in levels)
    A = np.vstack([np.zeros((0, n)), *(level[0] for level in levels)])
    lower, upper = (np.concatenate([np.zeros(0), *(level[i] for level in levels)]) for i in (1, 2))
    return [A, lower, upper, None, np.inf, np.empty(n), np.empty(rows), np.empty(rows, np.int8), np.empty(len(levels))]


def small(rng, share=0.0, most=6):
    """Levels of few rows, any of which may be empty."""
    n, levels = int(rng.integers(0, most + 3)), []
    for _ in range(int(rng.integers(1, most))):
        m = int(rng.integers(0, most))
        A, b, width = numbers(rng, (m, n), share), numbers(rng, m, share), np.abs(numbers(rng, m, share))
        kind = rng.random(m)
        lower = np.where(kind < 0.3, -np.inf, b)
        with np.errstate(all="ignore"):
            levels.append((A, lower, np.where(kind < 0.6, b, b + width)))
    return levels, n


def fuzz(seed):
    rng = np.random.default_rng(seed)
    levels, n = small(rng, share=rng.choice([0.0, 0.02, 0.2]), most=int(rng.choice([3, 6, 14])))
    plan, arguments = plan_of(levels, n, int(rng.choice([1, 3, 1000]))), arguments_of(levels, n)
    rows = len(arguments[1])
    for _ in range(3):
        status, _, _, bad = plan.solve(*arguments)
        assert status in range(4)
        assert (0 <= bad < max(rows, 1)) == (status == 3)
        if status != 3:
            assert np.isfinite(arguments[5]).all()
            assert set(arguments[7].tolist()) <= {-1, 0, 1}
        pulls = plan.multipliers(np.empty((len(levels) + 1) * rows))
        assert all(0 <= k <= len(levels) for k in pulls)
        for i in (0, 1, 2):
            arguments[i] = arguments[i] + 1e-3 * rng.standard_normal(arguments[i].shape)
        arguments[2] = np.maximum(arguments[1], arguments[2]) if rng.random() < 0.7 else arguments[2]
        arguments[4] = rng.choice([np.inf, 0.0, -1.0, np.nan, 1e-6])
        arguments[3] = rng.choice([None, 1]) and numbers(rng, rows, 0.1)


@pytest.mark.parametrize("part", range(4))
def test_any_numbers_are_solved_or_named(part):
    for seed in range(250):
        fuzz([part, seed])


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4, 24))
def test_many_more_numbers(part):
    for seed in range(2000):
        fuzz([part, seed])


@pytest.mark.parametrize("seed", range(0, 2000, 40))
def test_hierarchies_unlike_a_robots(seed):
    _, levels = hard(seed)
    n = levels[0][0].shape[1]
    plan, arguments = plan_of(levels, n, 1 + seed % 7 * 100), arguments_of(levels, n)
    for _ in range(2):
        assert plan.solve(*arguments)[0] in range(4)
        arguments[4] = 2e-4


def test_arrays_of_another_layout_are_read_alike_or_refused():
    rng = np.random.default_rng(3)
    levels, n = small(rng, most=8)
    arguments = arguments_of(levels, n)
    plan = plan_of(levels, n)
    plan.solve(*arguments)
    for i in (0, 1, 2, 5, 6, 7, 8):
        for odd in other_layouts(arguments[i]):
            plan.forget()
            given = [np.zeros_like(a) if j > 4 else a for j, a in enumerate(arguments)]
            given[i] = odd
            same = i > 4 or np.array_equal(odd, arguments[i])  # a row that is broadcast is another
            try:
                plan.solve(*given)
            except REFUSALS:
                continue
            assert not same or np.array_equal(np.asarray(given[5]), arguments[5])


@pytest.mark.parametrize("seed", range(20))
def test_what_is_no_array_is_refused_and_leaves_no_trace(seed):
    rng = np.random.default_rng(seed)
    levels, n = small(rng, most=8)
    arguments = arguments_of(levels, n)
    plan = plan_of(levels, n)
    plan.solve(*arguments)
    expected = [a.copy() for a in arguments[5:]]
    held = holders(arguments)
    refused = 0
    for _ in range(60):
        given = [a.copy() if i > 4 else a for i, a in enumerate(arguments)]
        i = int(rng.integers(len(given)))
        given[i] = any_of(rng, given[i])
        if rng.random() < 0.1:
            given = given[:i]
        try:
            plan.solve(*given)
        except REFUSALS:
            refused += 1
        try:
            plan.multipliers(any_of(rng, np.zeros((len(levels) + 1) * len(arguments[1]))))
        except REFUSALS:
            refused += 1
    assert refused > 20
    del given
    plan.forget()
    plan.solve(*arguments)
    assert all(np.array_equal(found, before) for found, before in zip(arguments[5:], expected, strict=True))
    assert held == holders(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (-1, [1], 10, 1e-9),
        (20001, [1], 10, 1e-9),
        (2**31, [1], 10, 1e-9),
        (2, [], 10, 1e-9),
        (2, [1] * 1001, 10, 1e-9),
        (2, [-1], 10, 1e-9),
        (2, [100001], 10, 1e-9),
        (2, [10**30], 10, 1e-9),
        (2, ["x"], 10, 1e-9),
        (2, 3, 10, 1e-9),
        (2, [1], 0, 1e-9),
        (2, [1], 10, 0.0),
        (2, [1], 10, np.nan),
        (2, {1: 2}, 10, 1e-9),
    ],
    ids=str,
)
def test_sizes_that_are_none_are_refused(arguments):
    with pytest.raises((*REFUSALS, KeyError)):
        kernel.Plan(*arguments)


def test_more_than_there_is_memory_for_is_refused():
    with pytest.raises((MemoryError, ValueError)):
        kernel.Plan(20000, [100000] * 1000, 10, 1e-9)


def large(rng, n=120):
    """Levels that take some time to solve."""
    levels = []
    for _ in range(3):
        A, b = rng.standard_normal((n, n)), rng.standard_normal(n)
        levels.append((A, b - 0.1, b + 0.1))
    return levels


@pytest.mark.parametrize("what", ["solve", "multipliers", "forget"])
def test_a_plan_in_two_threads_is_refused_by_name(what):
    levels = large(np.random.default_rng(0))
    plan, arguments = plan_of(levels, 120), arguments_of(levels, 120)
    lines = np.empty(4 * 360)
    calls = {
        "solve": lambda: plan.solve(*arguments_of(levels, 120)),
        "multipliers": lambda: plan.multipliers(lines),
        "forget": plan.forget,
    }
    refused, ended, failed = [], threading.Event(), []

    def work():
        try:
            for _ in range(20):
                if refused:
                    break
                plan.solve(*arguments)
        except RuntimeError as error:  # the other one was first
            failed.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not ended.is_set():
        try:
            calls[what]()
        except RuntimeError as error:
            refused.append(str(error))
    thread.join()
    assert refused or failed
    assert all("two threads" in text for text in (*refused, *map(str, failed)))
    plan.solve(*arguments)


def test_a_number_that_uses_the_plan_is_refused():
    levels, n = small(np.random.default_rng(5))
    plan, arguments = plan_of(levels, n), arguments_of(levels, n)

    class Number:
        def __float__(self):
            plan.solve(*arguments)
            return 1.0

    with pytest.raises(RuntimeError, match="by itself"):
        plan.solve(*arguments[:4], Number(), *arguments[5:])
    plan.solve(*arguments)


def test_outputs_may_be_inputs():
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((4, 4)), rng.standard_normal(4)
    plan, arguments = plan_of([(A, b, b)], 4), arguments_of([(A, b, b)], 4)
    plan.solve(*arguments)
    both = b.copy()
    plan.solve(A, both, both, None, np.inf, both, np.empty(4), np.empty(4, np.int8), np.empty(1))
    assert np.allclose(both, arguments[5])


def test_plans_go_while_others_stay():
    rng = np.random.default_rng(2)
    kept = []
    for _ in range(100):
        levels, n = small(rng)
        plan, arguments = plan_of(levels, n), arguments_of(levels, n)
        plan.solve(*arguments)
        solve = plan.solve
        del plan
        solve(*arguments)
        kept = [solve, *kept][:3]
