"""The right-hand side of a task with a target: by the kernel and by numpy."""

import itertools

import numpy as np
import pytest

from wbc import compiled
from wbc.tasking import law as module
from wbc.tasking.law import approach, law

N, NV = 3, 5


def given(rng, wide):
    """All that a law may be given, J by rows, by columns, or as part of a larger one."""
    J = (rng.normal(size=(N, NV)), np.asfortranarray(rng.normal(size=(N, NV))), rng.normal(size=(9, 12))[::3, 1:11:2])
    vectors = {name: rng.normal(size=N) for name in ("bias", "place", "wanted", "rate", "acceleration")}
    return vectors | {"J": J[wide], "v": rng.normal(size=NV)}


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("wide", [0, 1, 2])
def test_it_is_what_it_says(kernel, wide, monkeypatch):
    if not kernel:
        monkeypatch.setattr(module, "kernel", None)
    elif compiled.kernel is None:
        pytest.skip("the kernel was not built")
    rng = np.random.default_rng(wide)
    for left_out in itertools.product((False, True), repeat=6):
        parts = given(rng, wide)
        for name, out in zip(("bias", "place", "wanted", "rate", "acceleration", "J"), left_out, strict=True):
            if out:
                del parts[name]
        if "J" not in parts:
            parts["v"] = parts["v"][:N]
        for kd, kp in ((3.0, 2.0), (rng.normal(size=N), rng.normal(size=N)), (0.0, rng.normal(size=N))):
            zero = np.zeros(N)
            moves = parts["J"] @ parts["v"] if "J" in parts else parts["v"]
            expected = (
                parts.get("acceleration", zero) - parts.get("bias", zero) + kd * (parts.get("rate", zero) - moves)
            )
            expected = expected + kp * (parts.get("wanted", zero) - parts.get("place", zero))
            np.testing.assert_allclose(law(kd=kd, kp=kp, **parts), expected, rtol=0, atol=1e-13)


@pytest.mark.skipif(compiled.kernel is None, reason="the kernel was not built")
@pytest.mark.parametrize("groups", [None, [0, 0, 0, 1, 1, 1], [4, 0, 4, 0, 1, 4]])
def test_a_speed_is_the_same_in_the_kernel_and_in_numpy(groups, monkeypatch):
    rng, n = np.random.default_rng(5), 6
    together = None if groups is None else np.array(groups, dtype=np.intp)
    for speed in np.geomspace(1e-3, 1e2, 40).tolist():
        vectors = {name: rng.normal(size=n) for name in ("bias", "place", "wanted", "rate", "acceleration")}
        if rng.random() < 0.3:
            del vectors[rng.choice(["place", "wanted"])]
        kd, kp = rng.uniform(0.1, 9.0, size=n), rng.uniform(0.0, 9.0, size=n)
        if rng.random() < 0.5:
            kd, kp = float(kd[0]), float(kp[0])
        parts = vectors | {"J": rng.normal(size=(n, 9)), "v": rng.normal(size=9)}
        found = law(kd=kd, kp=kp, speed=speed, groups=together, **parts)
        with monkeypatch.context() as patch:
            patch.setattr(module, "kernel", None)
            expected = law(kd=kd, kp=kp, speed=speed, groups=together, **parts)
            without = law(kd=kd, kp=0.0, **parts)
            usual = law(kd=kd, kp=kp, **parts)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        demand, whole = expected - without, usual - without
        size, full = (np.abs(part / (kd * speed)) for part in (demand, whole))
        if groups is not None:
            size, full = (np.array([np.linalg.norm(part[together == of]) for of in together]) for part in (size, full))
        assert size.max() <= 1.0 + 1e-9
        np.testing.assert_allclose(demand, whole / np.maximum(full, 1.0), rtol=0, atol=1e-12)


def test_what_has_no_damping_or_no_demand_is_not_divided_by():
    with np.errstate(all="raise"):
        assert approach(np.array([0.0, 2.0, 0.0]), np.array([0.0, 1.0, 1.0]), 0.5).tolist() == [1.0, 0.25, 1.0]
        pair = np.zeros(2, dtype=np.intp)
        assert approach(np.array([3.0, 4.0]), 2.0, 1.0, pair).tolist() == [0.4, 0.4]
        assert approach(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 2.0, pair).tolist() == [1.0, 1.0]


@pytest.mark.skipif(compiled.kernel is None, reason="the kernel was not built")
def test_wrong_sizes_are_errors_of_the_kernel():
    out, v = np.empty(3), np.zeros(5)
    J = np.zeros((3, 5))
    good = [out, None, None, None, J, v, 1.0, None, None, 1.0]
    compiled.kernel.law(*good)
    for place, bad in (
        (0, np.empty(2)),
        (1, np.zeros(4)),
        (4, np.zeros((3, 4))),
        (5, np.zeros(4)),
        (6, np.zeros(2)),
        (4, None),
    ):
        wrong = list(good)
        wrong[place] = bad
        with pytest.raises(ValueError, match=r"\d"):
            compiled.kernel.law(*wrong)
    for place, bad in ((0, None), (5, None), (6, "2"), (4, J.astype(int))):
        wrong = list(good)
        wrong[place] = bad
        with pytest.raises((TypeError, ValueError, BufferError)):
            compiled.kernel.law(*wrong)
    for speed, groups in ((0.0, None), (1, None), (None, None), (1.0, np.zeros(2, int)), (1.0, np.zeros(3))):
        with pytest.raises((TypeError, ValueError)):
            compiled.kernel.law(*good, speed, groups)
    with pytest.raises(TypeError, match="10 arguments"):
        compiled.kernel.law(out)
