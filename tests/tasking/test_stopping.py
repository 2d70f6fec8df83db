"""How hard something may be accelerated towards its limit: by the kernel and by numpy."""

import numpy as np
import pytest

from wbc.tasking import stopping as module
from wbc.tasking.stopping import Stopping


@pytest.mark.skipif(module.kernel is None, reason="the kernel was not built")
@pytest.mark.parametrize("shape", [(7,), (2, 7), (0,), (1,)], ids=str)
def test_the_kernel_agrees_with_numpy(shape, monkeypatch):
    """Near and far, beyond the limit and on it, at rest and fast, without limits of way or speed."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        braking, greatest = np.exp(rng.normal((3.0, 6.0)))
        stopping = Stopping(braking, greatest, float(rng.choice([0.0, 0.05])), float(rng.uniform(1.0, 30.0)))
        way, v = rng.normal(size=(2, *shape)) * 10.0 ** rng.uniform(-6, 1, (2, *shape))
        speed = np.abs(rng.normal(size=shape[-1:])) * 5.0
        for array, odd in ((way, np.inf), (way, 0.0), (v, 0.0), (speed, np.inf)):
            array[rng.random(array.shape) < 0.1] = odd
        for fastest in (speed, 1.5, np.broadcast_to(speed, shape)):
            found = stopping.most(way, v, fastest, 1e-3)
            with monkeypatch.context() as context:
                context.setattr(module, "kernel", None)
                expected = stopping.most(way, v, fastest, 1e-3)
            assert found.shape == shape
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(module.kernel is None, reason="the kernel was not built")
def test_wrong_sizes_are_errors_of_the_kernel():
    parameters, three = np.ones(5), np.ones(3)
    for given in (
        (np.ones(4), three, three, three, 1e-3, np.empty(3)),
        (parameters, np.ones(2), three, three, 1e-3, np.empty(3)),
        (parameters, three, three, np.empty(0), 1e-3, np.empty(3)),
    ):
        with pytest.raises(ValueError, match=r"numbers|speed"):
            module.kernel.stopping_most(*given)
