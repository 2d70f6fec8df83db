"""What is held to be nothing is a share of the robot's own forces and torques."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wbc.control.tolerance import GRAVITY, force_tolerance, load_unit, torque_tolerance


def robot(mass: float, *effort: float) -> SimpleNamespace:
    return SimpleNamespace(mass=mass, limits=SimpleNamespace(effort=np.array(effort)))


def test_a_force_may_be_off_by_a_share_of_the_weight() -> None:
    assert force_tolerance(50.0) == pytest.approx(1e-8 * 9.81 * 50.0)
    assert 0.0 < force_tolerance(0.0) < 1e-15
    assert torque_tolerance(robot(1.0, 3.0, 40.0)).tolist() == pytest.approx([3e-8, 4e-7])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mass", "effort", "of_torque", "of_force"),
    [
        (50.0, (80.0, 20.0), 1.0, 1.0),
        (0.01, (0.2, 0.5), 0.5, 0.01 * GRAVITY),
        (0.01, (0.2, np.inf), 0.2, 0.01 * GRAVITY),
        (0.01, (np.inf, np.inf), 0.01 * GRAVITY, 0.01 * GRAVITY),
    ],
)
def test_the_unit_of_loads_is_no_more_than_a_small_robot_has(mass, effort, of_torque, of_force) -> None:  # type: ignore[no-untyped-def]
    ours, some = robot(mass, *effort), np.array([0])
    assert load_unit(ours, some, None) == load_unit(ours, some, some) == 1.0  # type: ignore[arg-type]
    assert load_unit(ours, None, some) == pytest.approx(of_torque)  # type: ignore[arg-type]
    assert load_unit(ours, None, None) == pytest.approx(of_force)  # type: ignore[arg-type]
