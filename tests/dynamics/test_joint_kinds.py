"""Every kind of joint, anywhere in the tree, with springs, dampers, friction and rotors: the backends agree."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.equations import equation
from tests.robots import BACKENDS
from wbc.geometry import pose, so3
from wbc.model import Body, Frame, Joint, Model

KINDS = ("floating", "planar", "spherical", "fixed", "prismatic", "revolute", "continuous", "floating", "planar")
SCALAR = ("prismatic", "revolute", "continuous")
CLOSE = 1e-9  # relative to the largest entry

WHOLE = ("mass_matrix", "bias", "gravity_force", "passive_force", "com", "com_velocity", "com_jacobian", "com_bias")
WHOLE += ("momentum", "momentum_matrix", "momentum_bias", "kinetic_energy", "potential_energy")
OF_FRAME = ("pose", "twist", "jacobian", "jacobian_bias", "jacobian_derivative")


def some_tree(seed: int) -> Model:
    """A random tree with a joint of every kind in random order; half of its joints have no motor."""
    rng = np.random.default_rng(seed)

    def somewhere() -> np.ndarray:
        return pose.homogeneous(so3.exp(rng.normal(size=3)), rng.normal(scale=0.3, size=3))

    names, bodies, joints = ["world"], [], []
    for number, kind in enumerate(rng.permutation(KINDS)):
        spread = rng.normal(size=(3, 3))
        inertia = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        bodies.append(Body(f"body {number}", rng.uniform(0.5, 2.0), rng.normal(scale=0.1, size=3), 0.01 * inertia))
        axis = rng.normal(size=3)
        values = {"damping": 0.2, "friction": 0.3, "armature": 0.1} if kind != "fixed" else {}
        spring = {"stiffness": 2.0, "rest": 0.1} if kind in SCALAR else {}
        joints.append(
            Joint(
                f"{kind} {number}",
                str(kind),
                str(rng.choice(names)),
                bodies[-1].name,
                somewhere(),
                axis / np.linalg.norm(axis),
                actuated=bool(number % 2),
                **values,
                **spring,
            )
        )
        names.append(bodies[-1].name)
    return Model("some tree", bodies, joints, [Frame("tip", names[-1], somewhere())])


def assert_close(what: str, found, expected) -> None:
    error = np.abs(np.asarray(found) - expected).max(initial=0.0)
    assert error <= CLOSE * max(1.0, np.abs(expected).max(initial=0.0)), f"{what}: off by {error:.1e}"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("backend", BACKENDS)
def test_all_kinds_of_joints_on_all_backends(backend: str, seed: int) -> None:
    model, rng = some_tree(seed), np.random.default_rng(seed)
    robot, reference = wbc.load(model, backend), wbc.load(model, "numpy")
    for _ in range(3):
        q, v, vdot = robot.random(rng), rng.normal(scale=2.0, size=robot.nv), rng.normal(size=robot.nv)
        robot.update(q, v)
        reference.update(q, v)
        for name in WHOLE:
            assert_close(name, getattr(robot, name), getattr(reference, name))
        for name in OF_FRAME:
            assert_close(name, getattr(robot, name)("tip"), getattr(reference, name)("tip"))
        force = robot.mass_matrix @ vdot + robot.bias
        assert_close("inverse dynamics", robot.inverse_dynamics(q, v, vdot), force)
        tau, wrench = rng.normal(size=robot.na), rng.normal(size=6)
        found = robot.forward_dynamics(q, v, tau, {"tip": wrench})
        applied = robot.jacobian("tip").T @ wrench
        applied[robot.actuated] += tau
        assert_close("forward dynamics", robot.mass_matrix @ found + robot.bias, applied)


@pytest.mark.parametrize("backend", BACKENDS)
@equation("ETH 3.34", "energy of a spring", wbc.Dynamics.potential_energy)
def test_what_joints_do_by_themselves(backend: str) -> None:
    """Dampers and friction brake, a spring pulls to its rest; all three belong to the bias."""
    values = {"damping": 0.2, "friction": 0.3, "stiffness": 2.0, "rest": 0.1}
    body = Body("b", 1.0, np.zeros(3), np.eye(3))
    robot = wbc.load(Model("m", [body], [Joint("j", "revolute", "world", "b", **values)]), backend)
    for angle, rate in ((0.6, 3.0), (0.6, -3.0), (-0.4, 3.0)):
        robot.update([angle], [rate])
        force = -0.2 * rate - 0.3 * np.sign(rate) - 2.0 * (angle - 0.1)
        assert np.allclose(robot.passive_force, [force], atol=1e-12)
        assert np.allclose(robot.bias, [-force], atol=1e-12)
        assert np.allclose(robot.forward_dynamics([angle], [rate], [0.0]), [force], atol=1e-12)
        assert np.isclose(robot.potential_energy, 0.5 * 2.0 * (angle - 0.1) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_rates_of_all_kinds_of_joints_are_those_of_their_positions(seed: int) -> None:
    robot, rng, step = wbc.load(some_tree(seed), "numpy"), np.random.default_rng(seed), 1e-6
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    ends = []
    for sign in (1, -1):
        robot.update(robot.integrate(q, v, sign * step), v)
        ends.append((robot.pose("tip")[:3, 3], robot.jacobian("tip"), robot.momentum, robot.potential_energy))
    position, jacobian, momentum, energy = ((a - b) / (2 * step) for a, b in zip(*ends, strict=True))
    robot.update(q, v)
    assert np.allclose(position, robot.twist("tip")[:3], atol=1e-8)
    assert np.allclose(jacobian, robot.jacobian_derivative("tip"), atol=1e-7)
    assert np.allclose(momentum, robot.momentum_bias, atol=1e-6)
    robot.update(q)  # at rest dampers and friction do nothing, and springs are the rest of the bias
    assert np.isclose(energy, robot.bias @ v, rtol=1e-6, atol=1e-6)
