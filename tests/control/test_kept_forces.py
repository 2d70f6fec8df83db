"""Contact forces that are brought inside their cones."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.arrays import Array
from wbc.control.kept_forces import forces_within


def contacts_of(robot: wbc.Dynamics, kind: str) -> list[wbc.Contact]:
    if kind == "points":
        return [wbc.PointContact(foot, 0.5) for foot in robot.model.feet]
    return [wbc.SurfaceContact(foot, 0.5, forces=kind, maximum=400.0) for foot in robot.model.feet]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["points", "wrench", "corners"])
def test_forces_are_kept_inside_cones_and_as_they_are_where_they_were(kind: str) -> None:
    robot, rng = wbc.load("humanoid"), np.random.default_rng(0)
    q = robot.integrate(np.array(robot.model.nominal), rng.normal(scale=0.3, size=robot.nv))
    feet = contacts_of(robot, kind)
    limits = tasks.TorqueLimits() + tasks.FrictionCones()
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / tasks.ContactMotion(), contacts=feet)
    controller = wbc.Controller(robot, stack)
    solution = controller.step(q, np.zeros(robot.nv))
    robot, tick, parts = controller.robot, solution._tick, solution._parts
    bounds = next(part for part in parts if part.force is not None)

    def beyond(force: Array) -> float:
        assert bounds.force is not None
        value = bounds.force @ force
        return float(np.maximum(bounds.lower - value, value - bounds.upper).max())

    for contact in feet:
        pressure = contact.pressure(robot)
        assert contact.normals(robot) @ pressure == pytest.approx(1.0)
        assert (contact.cone(robot, 4) @ pressure < 1e-12).all()
    for scale in (1.0, 100.0, 1e5):
        force = rng.normal(scale=scale, size=tick.nf)
        given = force.copy()
        found = forces_within(robot, tick, parts, force)
        assert beyond(found) <= 1e-9 * (1.0 + scale) < beyond(force)
        assert np.array_equal(force, given)
    inside = np.concatenate([100.0 * contact.pressure(robot) for contact in feet])
    assert forces_within(robot, tick, parts, inside) is inside
    half = np.concatenate([inside[: len(inside) // 2], rng.normal(scale=100.0, size=len(inside) // 2)])
    found = forces_within(robot, tick, parts, half)
    assert beyond(found) <= 1e-7
    np.testing.assert_allclose(found[: len(inside) // 2], half[: len(inside) // 2])
    assert not np.allclose(found, half)
