"""How the reference takes weak directions out of a level's rows, and what it makes of them."""

import numpy as np
import pytest

from tests.solvers.test_guess import rows_of
from tests.solvers.test_softening import losing, needs_kernel
from wbc.solvers import HierarchicalQP, Hierarchy
from wbc.solvers.hierarchical import soften as module
from wbc.solvers.hierarchical.soften import Soft, soften
from wbc.solvers.level import Motion

AHEAD, GROWS = module._AHEAD, module._GROWS


def soft_rows(level=(0, 1, 1), sigma=(0.01, 0.004, 0.0), share=(0.02, 0.02, 0.1), at_rest=(0.02, 0.02, 0.1)):
    """Three soft rows of four unknowns, beside levels of size 2 and 3."""
    G = np.random.default_rng(0).standard_normal((3, 4))
    shares, level = (np.array(share), np.array(at_rest)), np.array(level)
    return Soft(*shares, G, np.arange(3.0), level, np.arange(3), np.array(sigma), np.ones(3), [2.0, 3.0, 1.0])


def test_soft_rows_count_from_their_own_level_on():
    soft = soft_rows()
    assert [soft.down_to(level) for level in (0, 1, 2)] == [1, 3, 3]
    assert soft.yielding() == [(0, 0, 0.01), (1, 1, 0.004), (1, 2, 0.0)]
    assert soft_rows((1, 2, 2)).down_to(0) == 0


def test_what_soft_rows_weigh():
    """In their own level by what is left of them, below by λ; and at last by what it takes to serve them."""
    soft, Z = soft_rows(sigma=(0.01, 0.004, 0.05)), np.eye(4)[:, 2:]
    decay = [0.03 * (1.0 - 0.25), 0.03 * (1.0 - 0.04), 0.1 * (1.0 - 0.25)]
    shared = soft.G @ Z @ Z.T @ soft.G.T
    for level, own, refuge in ((1, [decay[0], 5.0, 2.0], 1e-13), (2, decay, 1.0)):
        found, expected = soft._weights(level, Z), shared / refuge
        off = ~np.eye(3, dtype=bool)
        np.testing.assert_allclose(found[off], expected[off], rtol=1e-12)
        np.testing.assert_allclose(np.diag(found), np.diag(expected) * (1.0 + 1e-13) + np.square(own), rtol=1e-12)
    np.testing.assert_allclose(soft._weights(0, Z[:, :0]), [[4.0]])


def test_what_is_soft_early_for_its_speed_yields_slowly_at_first():
    """0.04 of 0.1 is what is asked for; 0.75 of the direction is lost."""
    fast = soft_rows(sigma=(0.01, 0.004, 0.05), at_rest=(0.02, 0.02, 0.04))
    found = np.sqrt(np.diag(fast._weights(2, np.eye(4)[:, :0])))
    np.testing.assert_allclose(found[:2], [0.03 * 0.75, 0.03 * 0.96])
    np.testing.assert_allclose(found[2], 0.1 * 0.75 * (1.0 - 0.6 * 0.25))


def test_what_a_level_moves_for_soft_rows_is_least_squares():
    soft, rng = soft_rows(sigma=(0.01, 0.004, 0.05)), np.random.default_rng(1)
    C, Y, Z, x = rng.standard_normal((3, 2)), np.eye(4)[:, :2], np.eye(4)[:, 2:], rng.standard_normal(4)
    step, pull = soft.move(1, C, Y, Z, x)
    N, off = soft._weights(1, Z), soft.G @ (x + Y @ step) - soft.bound
    np.testing.assert_allclose(pull, 9.0 * np.linalg.solve(N, off), rtol=1e-3)
    gradient, size = C.T @ C @ step + (soft.G @ Y).T @ pull, np.abs((soft.G @ Y).T) @ np.abs(pull)
    np.testing.assert_allclose(gradient / size, 0.0, atol=1e-9)


def test_at_the_end_soft_rows_are_served_by_damped_least_squares():
    soft, Z = soft_rows(sigma=(0.01, 0.004, 0.05)), np.eye(4)[:, 1:]
    x = np.array([0.5, 0.0, 0.0, 0.0])
    found, pull = soft.finish(x, Z)
    decay = np.array([0.03 * 0.75, 0.03 * 0.96, 0.1 * 0.75])
    stacked = np.vstack([soft.G @ Z / decay[:, None], np.eye(3)])
    z = np.linalg.lstsq(stacked, np.concatenate([(soft.bound - soft.G @ x) / decay, np.zeros(3)]), rcond=None)[0]
    np.testing.assert_allclose(found, x + Z @ z, rtol=1e-9)
    np.testing.assert_allclose(pull, (soft.G @ found - soft.bound) / decay**2, rtol=1e-6)


@pytest.mark.parametrize("sigma", [[0.5, 0.015, 1e-4], [0.011, 0.01, 0.009], [0.5, 0.019, 0.4]])
def test_what_is_taken_out_of_rows_is_what_soft_rows_ask(sigma):
    """What met the rows meets both; and the weakest stands first, with the row that has most of it."""
    rng = np.random.default_rng(2)
    U, V = np.linalg.qr(rng.standard_normal((3, 3)))[0], np.linalg.qr(rng.standard_normal((5, 3)))[0]
    A, x = U * np.array(sigma) @ V.T, rng.standard_normal(5)
    scales = np.array([2.0, 2.0, 0.5])
    A *= scales[:, None]
    rows = rows_of([(np.eye(1, 5), -1.0, 1.0), (A, A @ x, A @ x)])
    left, soft = soften(rows, np.concatenate([[1.0], scales]), 1, 0.02)
    weak = sorted(s for s in sigma if 0.0 < s < 0.02)
    np.testing.assert_allclose(soft.sigma, weak, rtol=1e-9)
    np.testing.assert_allclose(left.A[1:] @ x, left.lower[1:], atol=1e-12)
    np.testing.assert_array_equal(left.lower[1:], left.upper[1:])
    np.testing.assert_allclose(soft.G @ x, soft.bound, atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.svd(left.A[1:] / scales[:, None])[1],
        [s for s in sigma if s >= 0.02] + [0.0] * (3 - len([s for s in sigma if s >= 0.02])),
        atol=1e-12,
    )
    for one, s in enumerate(weak):
        u = U[:, sigma.index(s)]
        assert soft.row[one] == 1 + np.abs(u).argmax() and soft.level[one] == 1 and soft.share[one] == 0.02
        np.testing.assert_allclose(np.abs(soft.G[one]), s * np.abs(V[:, sigma.index(s)]), atol=1e-12)
        assert soft.length[one] == pytest.approx(np.linalg.norm(u / scales * rows.norms[1:]))
    assert (left.norms[1:] >= scales).all() and (left.norms >= rows.norms).all()
    np.testing.assert_array_equal(left.A[0], rows.A[0])
    assert soft.sizes == [1.0, pytest.approx(np.sqrt((4.0 + 4.0 + 0.25) / 3)), 1.0]


def test_levels_that_may_not_yield_or_have_bounds_are_left_as_they_are():
    weak = np.array([[1e-3, 0.0], [0.0, 1.0]])
    rows = rows_of([(weak, 1.0, 1.0)])
    for first, expected in ((0, [1e-3]), (1, [])):
        left, soft = soften(rows, np.ones(2), first, 0.02)
        assert ([] if soft is None else soft.sigma.tolist()) == pytest.approx(expected)
        assert expected or left is rows
    beside = rows_of([(weak, np.array([1.0, -1.0]), np.array([1.0, 1.0]))])
    assert soften(beside, np.ones(2), 0, 0.02)[1] is None
    above = rows_of([(np.eye(1, 2), 0.0, 0.0), (weak, 1.0, 1.0)])  # nothing is left of the weak one
    assert soften(above, np.ones(3), 0, 0.02)[1] is None
    whole = rows_of([(np.eye(2), 0.0, 0.0), (weak, 1.0, 1.0)])
    assert soften(whole, np.ones(4), 0, 0.02)[1] is None


@pytest.mark.parametrize(
    ("sigma", "step", "share"),
    [(0.05, 1.0, 0.02), (0.05, 4.0, 0.05), (0.05, -10.0, 0.125), (0.05, 1e2, 0.2), (0.2, 1e2, 0.02), (0.01, 0.0, 0.02)],
)
def test_a_direction_is_soft_earlier_where_too_much_is_asked_of_it(sigma, step, share):
    """Of the loads 1 and 0.5 the larger counts: beyond 4 of what can be given."""
    demand, direction = module._Demand(0.02, np.array([[0.5, 9.0], [-1.0, 9.0]]), np.array([step, 5.0])), np.eye(2)[0]
    rows = direction, sigma, np.ones(1), np.arange(1)
    assert demand.shares(*rows) == pytest.approx((share, share))
    assert module._Demand(0.02, np.zeros((0, 2)), np.array([1e9, 0.0])).shares(*rows) == (0.02, 0.02)
    whole = module._Demand(0.5, np.array([[1e9, 0.0]]), np.array([1e9, 0.0]))
    assert whole.shares(direction, 0.9, np.ones(1), np.arange(1)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("velocity", "rate", "asked", "share"),
    [
        (0.025 / AHEAD, 9.0, 1e9, 0.1),  # as far as it gets, times what its fastest joint turns, squared
        (0.025 / AHEAD, 9.0, 0.025 / AHEAD / GROWS, 0.05),  # half as far where it doubles in that time
        (-0.025 / AHEAD, -9.0, -0.025 / AHEAD / GROWS, 0.05),
        (20.0, 9.0, 1e9, 0.2),  # no further
        (2.0, 1e-3 / AHEAD, 1e9, 0.08),  # as far as the rows do: their velocity over what is left
        (-2.0, -9.0, 1e9, 0.02),  # what is asked brakes
        (2.0, -9.0, 1e9, 0.02),  # the rows go the other way
        (0.0, 9.0, 1e9, 0.02),
        (2.0, 9.0, 0.0, 0.02),
    ],
)
def test_a_direction_is_soft_earlier_where_it_is_run_along_faster_and_faster(velocity, rate, asked, share):
    direction = np.eye(2)[0]
    motion = Motion(np.array([velocity, 7.0]), np.array([0.0, rate]), np.array([[-2.0, 9.0], [1.0, 9.0]]))
    demand = module._Demand(0.02, np.zeros((0, 2)), np.array([asked, 5.0]), motion)
    assert demand.shares(direction, 0.05, np.ones(1), np.array([1])) == pytest.approx((share, 0.02), rel=1e-6)
    assert demand.shares(direction, 0.3, np.ones(1), np.array([1])) == (0.02, 0.02)


@needs_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_and_reference_look_at_motion_alike(weighted):
    changed = 0
    for seed in range(8):
        hierarchy, rng = losing(seed, (3, 2), 5.0), np.random.default_rng(seed)
        n, count = hierarchy.A.shape[1], len(hierarchy.A)
        hierarchy.loads = None
        if weighted:
            hierarchy.weights = rng.uniform(0.5, 2.0, count)
        still = HierarchicalQP().solve(hierarchy)
        velocity = 30.0 * rng.standard_normal(n)
        hierarchy.motion = Motion(velocity, hierarchy.A @ velocity, np.eye(n)[:, ::-1].copy())
        kernel, reference = (HierarchicalQP(compiled=c).solve(hierarchy) for c in (True, False))
        np.testing.assert_allclose(kernel.x, reference.x, atol=1e-7 * (1.0 + np.linalg.norm(kernel.x)))
        np.testing.assert_allclose(*([s for *_, s in one.yielding] for one in (kernel, reference)), rtol=1e-6)
        changed += not np.allclose(kernel.x, still.x, atol=1e-6 * (1.0 + np.linalg.norm(kernel.x)))
    assert changed > 2


@needs_kernel
@pytest.mark.parametrize("loads", [None, 0.5, 20.0])
def test_kernel_and_reference_end_alike_where_something_stays_free(loads):
    for seed in range(6):
        whole, answers = losing(seed), []
        hierarchy = Hierarchy(np.diff(whole.starts[:4]).tolist(), 30)
        stop = whole.starts[3]
        hierarchy.A, hierarchy.lower, hierarchy.upper = whole.A[:stop], whole.lower[:stop], whole.upper[:stop]
        hierarchy.yields_from, hierarchy.loads = 1, None if loads is None else loads * np.eye(30)
        answers = [HierarchicalQP(compiled=compiled).solve(hierarchy) for compiled in (True, False)]
        kernel, reference = answers
        assert kernel.status == reference.status
        np.testing.assert_allclose(kernel.x, reference.x, atol=1e-7 * (1.0 + np.linalg.norm(kernel.x)))
        np.testing.assert_allclose(*([s for *_, s in one.yielding] for one in answers), rtol=1e-6)


def test_sizes_of_levels_are_of_rows_that_have_one():
    assert module._size(np.array([3.0, 0.0, 4.0])) == pytest.approx(np.sqrt(12.5))
    assert module._size(np.zeros(2)) == 0.0 == module._size(np.zeros(0))
    assert module._inverse(np.array([4.0, 0.0])).tolist() == [0.25, 0.0]


@needs_kernel
@pytest.mark.parametrize("seed", range(4))
def test_two_directions_that_are_almost_strong_share_the_last_free_one(seed):
    """What they weigh there is almost singular. The kernel's answer was far off; one of a walk was no number at all."""
    n, sigma, rng = 8, 0.02 * (1.0 - 1e-3), np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((n, n)))[0]
    U = np.linalg.qr(np.column_stack([np.ones(3), rng.standard_normal((3, 2))]))[0]
    weak = U @ np.diag([np.sqrt(3.0 - 2.0 * sigma**2), sigma, sigma]) @ V[1:4]  # its rows have the length 1
    hierarchy = Hierarchy([1, 3, n - 3], n)
    hierarchy.A[:] = np.vstack([V[:1], weak, rng.standard_normal((n - 3, n))])
    hierarchy.lower[:] = hierarchy.upper[:] = rng.standard_normal(n + 1)
    hierarchy.yields_from = 1
    kernel, reference = (HierarchicalQP(compiled=compiled).solve(hierarchy) for compiled in (True, False))
    assert len(kernel.yielding) == len(reference.yielding) == 2
    np.testing.assert_allclose(kernel.x, reference.x, atol=0.02 * np.abs(reference.x).max())
