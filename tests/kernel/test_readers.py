"""What reads a backend's memory bears, or refuses by an exception, whatever it is handed."""

import contextlib
import sys

import numpy as np
import pytest

from tests.kernel.odd import REFUSALS, any_of, holders, numbers, read_only, unaligned
from wbc.compiled import kernel

pytestmark = pytest.mark.skipif(kernel is None, reason="the kernel is not built, or off")
REVOLUTE, PRISMATIC, TRANSLATION, SPHERICAL = range(4)


def a_frame(rng, nv, moves=True):
    node = (rng.standard_normal(3), np.eye(3), *(rng.standard_normal(3) for _ in range(5)))
    return numbers(rng, (4, 4), 0.05), tuple(int(j) for j in rng.permutation(nv)[: nv // 2]), node if moves else None


def frames(rng, nv, count):
    J = numbers(rng, (6, nv), 0.05)
    return [None, J, bool(rng.integers(2)), tuple(a_frame(rng, nv, rng.random() < 0.7) for _ in range(count))]


def states(rng):
    return [int(rng.integers(7, 12)), int(rng.integers(0, 5)), (3,), 1e-3]


def passive(rng, nq, nv):
    springs = tuple((int(rng.integers(nq)), int(rng.integers(nv)), 1.0, 0.0) for _ in range(3)) if nq and nv else ()
    return rng.standard_normal(nv), rng.standard_normal(nv), np.full(nv, 0.01), springs


def terms(rng, nq, nv):
    arrays = numbers(rng, (nv, nv), 0.05), numbers(rng, nv, 0.05), rng.standard_normal(3)
    return [None, nq, 2.0, *arrays, rng.standard_normal((6, nv)), rng.standard_normal((6, nv)), passive(rng, nq, nv)]


def tree(rng, count):
    nodes, nq, nv = [], 0, 0
    for n in range(count):
        kind = int(rng.integers(4))
        axis = np.array([0.0, 0.0, 1.0])
        inertia = np.eye(3), rng.standard_normal(3), axis
        nodes.append((int(rng.integers(n + 1)), kind, *inertia, nq, nv, 1.0, rng.standard_normal(3), np.eye(3)))
        nv += 1 if kind in (REVOLUTE, PRISMATIC) else 3
        nq += {TRANSLATION: 3, SPHERICAL: 4}.get(kind, 1)
    memory = np.zeros((count + 1, 24)), np.zeros((nv, 6)), np.zeros(3)
    return [nq, nv, tuple(nodes), np.zeros(nv), np.array([0.0, 0.0, -9.81]), passive(rng, nq, nv), *memory]


def spoiled(rng, given):
    """The arguments with one of them, at any depth, another one."""
    if not isinstance(given, tuple) or not given or rng.random() < 0.1:
        return any_of(rng, given)
    i = int(rng.integers(len(given)))
    return (*given[:i], spoiled(rng, given[i]), *given[i + 1 :])


def try_each(rng, make, given, use):
    """Makes one of spoiled arguments; uses what comes of them. Gives how often it was refused."""
    held, refused = holders(given), 0
    for _ in range(40):
        i = int(rng.integers(len(given)))
        try:
            made = make(*given[:i], spoiled(rng, given[i]), *given[i + 1 :])
            use(made)
        except REFUSALS:
            refused += 1
        made = None
    assert holders(given) == held
    return refused


@pytest.mark.parametrize("seed", range(30))
def test_frames(seed):
    rng = np.random.default_rng(seed)
    nv, count = (int(n) for n in rng.integers(0, 8, size=2))
    given = frames(rng, nv, count)
    made = kernel.Frames(*given)
    for call, size in ((made.motion, count * (6 * nv + 28)), (made.points, count * (3 * nv + 6))):
        call(np.empty(size))
        for _ in range(20):
            with np.errstate(all="ignore"), contextlib.suppress(REFUSALS):
                call(any_of(rng, np.zeros(size)))
    try_each(rng, kernel.Frames, given, lambda made: made.motion(np.empty(count * (6 * nv + 28))))


@pytest.mark.parametrize("seed", range(10))
def test_states(seed):
    rng = np.random.default_rng(seed)
    given = states(rng)
    made, nq, nv = kernel.States(*given), given[0], given[1]
    q, v = rng.standard_normal(nq), rng.standard_normal(nv)
    q[3:7] /= np.linalg.norm(q[3:7])
    assert made.take(q, v, np.empty(nq + nv))
    for _ in range(40):
        arrays = [q, v, np.empty(nq + nv)]
        i = int(rng.integers(3))
        arrays[i] = any_of(rng, arrays[i])
        try:
            made.take(*arrays)
        except REFUSALS:
            assert i == 2  # a state is judged, not refused
    try_each(rng, kernel.States, given, lambda made: made.take(q, v, np.empty(nq + nv)))


def test_a_tolerance_that_is_no_number_holds_for_no_state():
    q = np.array([0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    assert not kernel.States(7, 0, (3,), np.nan).take(q, np.zeros(0), np.empty(7))


@pytest.mark.parametrize("seed", range(30))
def test_terms(seed):
    rng = np.random.default_rng(seed)
    nq, nv = (int(n) for n in rng.integers(0, 8, size=2))
    given, size = terms(rng, nq, nv), nv * nv + 4 * nv + 6
    made, arrays = kernel.Terms(*given), [rng.standard_normal(nq), rng.standard_normal(nv), np.empty(size)]
    with np.errstate(all="ignore"):
        made.read(*arrays)
        try_each(rng, made.read, arrays, lambda found: None)
        try_each(rng, kernel.Terms, given, lambda made: made.read(*arrays))


@pytest.mark.parametrize("seed", range(30))
def test_trees(seed):
    rng = np.random.default_rng(seed)
    given = tree(rng, int(rng.integers(0, 7)))
    nq, nv = given[:2]
    q, v, block, momentum = (
        numbers(rng, nq, 0.1),
        numbers(rng, nv, 0.1),
        np.empty(nv * nv + 4 * nv + 6),
        np.empty(6 * nv + 6),
    )

    def use(made):
        made.update(q, v)
        made.read(q, v, block)
        made.momentum(momentum)

    made = kernel.Tree(*given)
    use(made)
    try_each(rng, made.update, [q, v], lambda found: None)
    try_each(rng, made.read, [q, v, block], lambda found: None)
    try_each(rng, made.momentum, [momentum], lambda found: None)
    given[6][:] = np.nan  # the memory is Python's, which may write what it likes
    use(made)
    try_each(rng, kernel.Tree, given, use)


@pytest.mark.parametrize("seed", range(10))
def test_pose_errors(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 4))
    arrays = [numbers(rng, (count, 4, 4)), numbers(rng, (count, 4, 4)), np.empty((count, 6))]
    kernel.pose_errors(*arrays)
    try_each(rng, kernel.pose_errors, arrays, lambda found: None)


@pytest.mark.parametrize("seed", range(10))
def test_filters(seed):
    """Whatever the numbers are: 16 feet and none, a covariance that is not one, no time between two readings."""
    rng = np.random.default_rng(seed)
    feet = int(rng.choice([0, 1, 2, 4, 16]))
    size = 15 + 3 * feet
    vectors = [numbers(rng, shape, 0.05) for shape in ((3, 3), 3, 3, 3, 3, (feet, 3), (size, size))]
    if seed % 2:
        half = rng.standard_normal((size, size))
        vectors[-1] = half @ half.T
    state = [*vectors, rng.integers(0, 2, feet).astype(np.int8)]
    readings = [numbers(rng, 3, 0.05), numbers(rng, 3, 0.05), float(rng.choice([0.0, 1e-3, 0.1, np.nan]))]
    step = [*state, *readings, numbers(rng, (feet, 3)), np.array([0.0, 0.0, -9.81]), np.full(5, 1e-3)]
    correction = [*state, numbers(rng, (feet, 3)), np.tile(np.eye(3), (feet, 1, 1)), 16.0]
    level = [*state, max(feet - 1, 0), 0.02, float(rng.choice([0.0, 1e-6]))]
    for make, given in (
        (kernel.filter_predict, step),
        (kernel.filter_correct, correction),
        (kernel.filter_level, level),
    ):
        if feet or make is not kernel.filter_level:
            make(*given)
        try_each(rng, make, given, lambda found: None)


@pytest.mark.parametrize("seed", range(10))
def test_feet(seed):
    rng = np.random.default_rng(seed)
    feet, joints = int(rng.integers(0, 5)), int(rng.integers(0, 5))
    motion = [
        numbers(rng, (feet, 4, 4), 0.05),
        numbers(rng, (6 * feet, 6 + joints), 0.05),
        numbers(rng, 6 * feet, 0.05),
    ]
    given = [*motion, 6, numbers(rng, (3, 3)), numbers(rng, 3), 1e-3, 2e-3]
    given += [np.empty((feet, 3)), np.empty((feet, 3, 3)), np.empty((feet, 3))]
    kernel.feet_seen(*given)
    try_each(rng, kernel.feet_seen, given, lambda found: None)
    given = [numbers(rng, (feet, 3), 0.05), numbers(rng, 3), numbers(rng, (3, 3)), numbers(rng, feet, 0.05), 1e-3]
    given.append(np.empty((feet, 3)))
    kernel.feet_rolled(*given)
    try_each(rng, kernel.feet_rolled, given, lambda found: None)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_of_solids(seed):
    """How they move, their corners and crossings: whatever the numbers and the shapes are."""
    rng = np.random.default_rng(seed)
    n, pairs, bodies, nv = (int(rng.integers(low, 5)) for low in (1, 0, 1, 0))
    odd = 0.02 * (seed % 3)
    poses, later = numbers(rng, (n, 4, 4), odd), numbers(rng, (n, 4, 4), odd)
    origins, moved, turn = numbers(rng, (n, 3), odd), numbers(rng, (n, 3), odd), numbers(rng, (n, 3, 3), odd)
    V, W, bias = (numbers(rng, (n, 6), odd) for _ in range(3))
    one, other, on = rng.integers(n, size=pairs), rng.integers(n, size=pairs), rng.integers(bodies, size=n)
    planes, horizon = rng.integers(0, 2, n).astype(np.int8), np.array([0.1, 0.1, 5.0])
    seen, again = ([numbers(rng, (pairs, 3), odd) for _ in range(3)] for _ in range(2))
    J, rows = numbers(rng, (bodies, 6, nv), odd), np.empty((pairs, nv))
    room, radii = np.empty(pairs), np.abs(rng.normal(size=n))
    within = [poses, origins, V, radii, planes, one, other, horizon, room, np.empty(pairs, dtype=np.int8)]
    rates = [*seen, *again, one, other, on, V, origins, W, moved, J, 2e-4, 0.01, room, room.copy(), rows]
    shapes = tuple(
        (int(rng.integers(6)), (0.2, 0.3, 0.4), numbers(rng, (int(rng.integers(6)), 3), odd)) for _ in range(n)
    )
    most, more = 8 * pairs, 16 * pairs
    corners = [np.empty(4 * most, dtype=np.int64), np.empty((most, 3)), np.empty(most)]
    edges, thick, across = np.empty((more, 2, 2, 3)), np.empty((more, 2)), np.empty((more, 3))
    limits, both = np.array([0.03, 0.02, 1e-3]), np.stack([one, other], axis=1).ravel()
    crossed = [np.empty(4 * more, dtype=np.int64), edges, thick, across]
    lines = [numbers(rng, (pairs, 2, 2, 3), odd), numbers(rng, (pairs, 2), odd), seen[0], 1e-12, room, *again]
    calls = (
        (kernel.pairs_close, within),
        (kernel.bodies_carried, [poses, origins, V, bias, 1e-4, later, W, moved, turn]),
        (kernel.pairs_closing, [*seen, one, other, V, origins, room]),
        (kernel.pairs_rates, rates),
        (kernel.pairs_features, [shapes, poses, both, seen[0], limits, *corners, *crossed]),
        (kernel.edges_passing, lines),
        (kernel.features_carried, [seen[0][:0], lines[0], one, other, poses, later, turn]),
        (kernel.stopping_most, [np.ones(5), V[0], V[-1], radii[:1], 1e-3, W[0]]),
    )
    for make, given in calls:
        make(*given)
        try_each(rng, make, given, lambda found: None)


@pytest.mark.parametrize("sizes", [(16, 16, 5), (16, 32, 6), (15, 15, 0), (15, 15, 6), (16, 16, 12)], ids=str)
def test_errors_of_other_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="16 numbers"):
        kernel.pose_errors(*(np.zeros(size) for size in sizes))


def test_frames_of_more_velocities_than_can_be_counted_are_refused():
    """Sizes whose product is beyond the largest number come round to a small one."""
    J = np.broadcast_to(np.zeros((6, 1)), (6, 2**57))
    with pytest.raises(ValueError, match="none of a robot"):
        kernel.Frames(None, J, True, ((np.eye(4), (), None),) * 64).motion(np.empty(64 * 28))


def test_an_output_may_be_what_is_read():
    memory = np.arange(22.0)
    given = [
        None,
        2,
        1.0,
        memory[1:5].reshape(2, 2, order="F"),
        np.zeros(2),
        np.zeros(3),
        np.zeros((6, 2)),
        np.zeros((6, 2)),
    ]
    made = kernel.Terms(*given, None)
    made.read(np.zeros(2), np.zeros(2), memory[:18])


def test_arrays_that_are_not_aligned_are_refused():
    made = kernel.Terms(None, 2, 1.0, np.eye(2), np.zeros(2), np.zeros(3), np.zeros((6, 2)), np.zeros((6, 2)), None)
    with pytest.raises(ValueError, match="aligned"):
        made.read(unaligned(np.zeros(2)), np.zeros(2), np.empty(18))
    pose = memoryview(bytearray(16 * 8 + 1))[1:].cast("d")
    for arrays in ((pose, np.zeros(16), np.empty(6)), (np.zeros(16), pose, np.empty(6))):
        with pytest.raises(ValueError, match="aligned"):
            kernel.pose_errors(*arrays)
    with pytest.raises(TypeError, match="written to"):
        made.read(np.zeros(2), np.zeros(2), read_only(np.zeros(18)))


def test_what_is_read_stays_until_nobody_reads_it():
    J, owner = np.zeros((6, 2)), object()
    before = sys.getrefcount(J), sys.getrefcount(owner)
    made = kernel.Frames(owner, J, True, ((np.eye(4), (0, 1), None),))
    assert (sys.getrefcount(J), sys.getrefcount(owner)) == (before[0] + 1, before[1] + 1)
    for wrong in ((None,), (J, True), (J[:5], True, ()), (J, True, ((np.eye(4), (2,), None),)), (J, True, (3,))):
        with pytest.raises(REFUSALS):
            kernel.Frames(owner, *wrong)
    del wrong
    motion = made.motion
    del made
    motion(np.empty(6 * 2 + 28))
    del motion
    assert (sys.getrefcount(J), sys.getrefcount(owner)) == before
