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


@pytest.mark.parametrize("way", [0.3, 0.02, 1e-4])
@pytest.mark.parametrize("v", [3.0, 0.2, 0.0, -1.0])
def test_what_accelerates_as_hard_as_it_may_never_passes_its_limit_and_comes_up_to_it(way, v):
    stopping, period = Stopping(20.0, 500.0, 0.05, 12.0), 1e-3
    v = min(v, 0.9 * np.sqrt(2.0 * 20.0 * way))  # from which it can stop
    for _ in range(1500):
        acceleration = float(stopping.most(np.array([way]), np.array([v]), 2.0, period)[0])
        assert acceleration >= -20.0 * 1.05
        way, v = way - v * period - 0.5 * acceleration * period**2, v + acceleration * period
        assert way >= 0.0
    assert way < stopping.inside + 1e-6, "the approach ends within the limit"


def test_near_its_limit_it_reacts_to_speed_and_way_as_softly_as_to_its_greatest_speed():
    """By 3 / period, next to the limit, a humanoid that crouches to the ends of its ankles chattered."""
    stopping, period, small = Stopping(20.0, 500.0, 0.05, 12.0), 1e-3, 1e-7
    for way in (1e-4, 1e-3, 1e-2, 0.2):
        v = way / 0.05 if way < 0.05 else np.sqrt(40.0 * (way - 0.025))
        ways, speeds = np.array([way, way + small, way]), np.array([v, v, v + small])
        found = stopping.most(ways, speeds, 10.0, period)
        assert abs(found[1] - found[0]) / small < 1.1 / 0.05**2
        assert abs(found[2] - found[0]) / small < 2.1 / 0.05


def test_the_last_stretch_begins_without_a_jump():
    stopping, last = Stopping(20.0, 500.0, 0.05, 12.0), 20.0 * 0.05**2
    ways = last + np.array([-1e-9, 1e-9])
    for v in (0.0, 0.5, 1.0):
        found = stopping.most(ways, np.full(2, v), 10.0, 1e-3)
        assert abs(found[1] - found[0]) < 2e-2
