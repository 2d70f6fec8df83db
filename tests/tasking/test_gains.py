"""Gains."""

from __future__ import annotations

import numpy as np
import pytest

from wbc import Gains, WbcError


def test_frequency_and_damping_ratio_are_those_of_the_motion() -> None:
    """ë + kd ė + kp e = 0 at 3 Hz and ζ = 0.5: eigenvalues ω (-ζ ± i √(1 - ζ²))."""
    gains = Gains(3.0, 0.5)
    roots = np.roots([1.0, gains.kd, gains.kp])
    assert np.allclose(np.abs(roots), 2 * np.pi * 3.0) and np.allclose(roots.real, -0.5 * 2 * np.pi * 3.0)
    assert Gains(2.0).kd == pytest.approx(2 * np.sqrt(Gains(2.0).kp))  # critically damped, where nothing is said


def test_gains_by_axis_and_by_value() -> None:
    frequency = np.array([1.0, 2.0])
    gains = Gains(frequency)
    frequency[:] = 9.0
    assert np.allclose(gains.kp, (2 * np.pi * np.array([1, 2])) ** 2)
    with pytest.raises(ValueError, match="read-only"):
        gains.kp[0] = 1.0
    assert (Gains(kp=100.0).kd, Gains(kp=100.0, damping_ratio=0.5).kd) == pytest.approx((20.0, 10.0))
    assert (Gains(kp=4.0, kd=1.0).kp, Gains(kp=4.0, kd=1.0).kd, Gains(kd=3.0).kp) == (4.0, 1.0, 0.0)
    assert repr(Gains(kp=4.0, kd=[1.0, 2.0])) == "Gains(kp=4.0, kd=[1.0, 2.0])"


def test_what_is_printed_tells_hertz_from_kp() -> None:
    assert repr(Gains(3.0)) == "<Gains of 3 Hz: kp = 355.3 1/s², kd = 37.7 1/s>"
    assert repr(Gains(kp=3.0, kd=1.0)) == "Gains(kp=3.0, kd=1.0)"
    assert repr(Gains([1.0, 2.0], 0.5)) == "<Gains of [1, 2] Hz: kp = [39.48, 157.9] 1/s², kd = [6.283, 12.57] 1/s>"


def test_a_speed_is_kept_and_printed() -> None:
    assert Gains(3.0).speed is None and Gains(3.0, speed=0.3).speed == 0.3
    assert repr(Gains(3.0, speed=0.3)) == "<Gains of 3 Hz: kp = 355.3 1/s², kd = 37.7 1/s, speed = 0.3 m/s or rad/s>"
    again = eval(repr(Gains(kp=[3.0, 1.0], kd=1.0, speed=0.25)))
    assert again.speed == 0.25 and again.kp.tolist() == [3.0, 1.0]
    assert Gains([2.0, 0.0], speed=0.3).kd[1] == 0.0, "an axis without stiffness needs no damping"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "either a frequency_hz, or kp"),
        ({"frequency_hz": 1.0, "kp": 1.0}, "either"),
        ({"frequency_hz": -1.0}, "frequency_hz = -1.0"),
        ({"frequency_hz": []}, r"frequency_hz = \[\]"),
        ({"frequency_hz": 1e200}, r"frequency_hz = 1e\+200 is too high"),
        ({"frequency_hz": [1.0, 1e200]}, "is too high"),
        ({"frequency_hz": 1.0, "damping_ratio": -1.0}, "damping_ratio"),
        ({"kp": np.nan}, "kp = nan"),
        ({"kp": "stiff"}, "kp = 'stiff' is not an array of numbers"),
        ({"kp": np.ones((2, 2))}, "a number or one an axis"),
        ({"kp": 1.0, "kd": np.inf}, "kd = inf"),
        ({"frequency_hz": 1.0, "speed": 0.0}, "speed, m/s or rad/s, = 0.0 must be a number, more than 0"),
        ({"frequency_hz": 1.0, "speed": np.inf}, "speed, m/s or rad/s, = inf"),
        ({"frequency_hz": 1.0, "speed": np.nan}, "speed, m/s or rad/s, = nan"),
        ({"frequency_hz": 1.0, "speed": [0.1, 0.2]}, "speed, m/s or rad/s,"),
        ({"frequency_hz": 1.0, "speed": "slow"}, "'slow' must be a number"),
        ({"kp": [1.0, 2.0], "kd": [1.0, 0.0], "speed": 1.0}, "needs damping"),
        ({"frequency_hz": 1.0, "damping_ratio": 0.0, "speed": 1.0}, "needs damping"),
    ],
)
def test_mistakes_are_named(options: dict, words: str) -> None:
    with pytest.raises(WbcError, match=words):
        Gains(**options)
