"""Robots that swing freely keep their energy, and in free fall their momentum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wbc
from tests.equations import equation
from wbc.model import Model


def frictionless(name: str) -> wbc.Dynamics:
    """A packaged robot without dampers, on the numpy backend."""
    model = wbc.load(name, "numpy").model
    joints = [replace(joint, damping=0.0, friction=0.0) for joint in model.joints.values()]
    bodies = [body for body in model.bodies.values() if body.name != "world"]
    return wbc.load(Model(model.name, bodies, joints, nominal=model.nominal), "numpy")


def runge_kutta(robot: wbc.Dynamics, q: np.ndarray, v: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """A step of fourth order in the coordinates δ of q ⊞ δ around the step's start.

    The rate of δ is v to the order that matters: what the angular coordinates lack, (ω × δ)/2 and (δ × (δ × ω))/12, is
    added (the inverse Jacobian of the exponential map in the body frame).
    """
    spins = [
        slice(robot.model.v_index[name] + 3, robot.model.v_index[name] + 6)
        for name, joint in robot.model.joints.items()
        if joint.kind == "floating"
    ]

    def rates(delta: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        robot.update(robot.integrate(q, delta), velocity)
        delta_rate = velocity.copy()
        for spin in spins:
            d, w = delta[spin], velocity[spin]
            delta_rate[spin] = w + np.cross(d, w) / 2 + np.cross(d, np.cross(d, w)) / 12
        return delta_rate, np.linalg.solve(robot.mass_matrix, -robot.bias)

    zero = np.zeros_like(v)
    d1, a1 = rates(zero, v)
    d2, a2 = rates(dt / 2 * d1, v + dt / 2 * a1)
    d3, a3 = rates(dt / 2 * d2, v + dt / 2 * a2)
    d4, a4 = rates(dt * d3, v + dt * a3)
    return robot.integrate(q, dt / 6 * (d1 + 2 * d2 + 2 * d3 + d4)), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


@pytest.mark.parametrize(("name", "dt"), [("planar_arm", 1e-3), ("arm", 1e-3), ("quadruped", 1e-3), ("humanoid", 1e-3)])
@equation("ETH 3.54", "energy is conserved", wbc.Dynamics.kinetic_energy, wbc.Dynamics.potential_energy)
def test_energy_of_a_freely_swinging_robot_is_conserved(name: str, dt: float) -> None:
    robot = frictionless(name)
    rng = np.random.default_rng(1)
    q, v = robot.model.nominal.copy(), rng.normal(scale=0.3, size=robot.nv)
    robot.update(q, v)
    start = robot.kinetic_energy + robot.potential_energy
    exchanged = 0.0
    linear = robot.momentum[:3]
    steps = round(5.0 / dt)
    for step in range(steps):
        q, v = runge_kutta(robot, q, v, dt)
        if step % 50 == 0 or step == steps - 1:
            robot.update(q, v)
            exchanged = max(exchanged, robot.kinetic_energy)
            energy = robot.kinetic_energy + robot.potential_energy
            assert abs(energy - start) <= 1e-6 * max(abs(start), exchanged), f"after {step * dt:.2f} s"
    if robot.model.floating:
        fallen = robot.momentum[:3] - linear
        assert np.allclose(fallen, robot.mass * robot.model.gravity * 5.0, atol=1e-6)
