"""The right-hand side of a task with a target: by the kernel and by numpy."""

import itertools

import numpy as np
import pytest

from wbc import compiled
from wbc.tasking import law as module
from wbc.tasking.law import law

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
    with pytest.raises(TypeError, match="10 arguments"):
        compiled.kernel.law(out)
