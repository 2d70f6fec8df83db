"""What a wheel holds: the velocity of its lowest point, and the derivative of that, on slopes and leaning."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from wbc.geometry import quaternion, so3
from wbc.model import urdf

NORMALS = [(0.0, 0.0, 1.0), (0.1, -0.25, 0.95), (-0.6, 0.2, 0.5)]
WHEELS = [
    wbc.Wheel(0.1),
    wbc.Wheel(0.1, crown=0.03),
    wbc.Wheel(0.1, (0.0, 1.0, 0.2), 0.1),
    wbc.Wheel(0.1, rollers=0.0),
    wbc.Wheel(0.1, crown=0.02, rollers=np.pi / 4),
    wbc.Wheel(0.1, castor=True),
]

CART = b"""<robot name="cart"><wbc base="floating"><wheel link="wheel" radius="0.1" axle="0 1 0.2" crown="0.03"/></wbc>
<link name="base"><inertial><mass value="4"/><inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="fork" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="1 0.5 0.3"/>
<limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<link name="arm"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="axle" type="continuous"><parent link="arm"/><child link="wheel"/><origin xyz="0.2 0.1 -0.2"/>
<axis xyz="0 1 0.2"/><limit effort="5" velocity="50"/></joint>
<link name="wheel"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><origin rpy="1.5707963 0 0"/><geometry><cylinder radius="0.15" length="0.04"/></geometry>
</collision></link></robot>"""


def cart(backend: str = "numpy") -> wbc.Dynamics:
    return wbc.load(urdf.read_urdf(CART), backend)


def states(robot: wbc.Dynamics, count: int = 5):
    """Random states in which the wheel leans, but does not lie on its side."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        q = robot.neutral()
        q[:3], q[3:7] = rng.normal(size=3), quaternion.from_matrix(so3.exp(rng.normal(scale=0.4, size=3)))
        q[7:] = rng.normal(scale=0.5, size=len(q) - 7)
        yield q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.mark.parametrize("wheel", WHEELS)
@pytest.mark.parametrize("normal", NORMALS)
def test_the_bias_is_the_derivative_of_the_slip_along_a_motion(wheel: wbc.Wheel, normal: tuple[float, ...]) -> None:
    robot, h = cart(), 1e-5
    contact = wbc.RollingContact("wheel", wheel=wheel, normal=normal)
    for q, v, a in states(robot):
        slips = []
        for t in (-h, h):
            robot.update(robot.integrate(q, v * t + a * t * t / 2), v + a * t)
            slips.append(contact.slip(robot))
        robot.update(q, v)
        J, bias = contact.motion(robot)
        assert np.allclose(J @ a + bias, (slips[1] - slips[0]) / (2 * h), atol=2e-8, rtol=1e-7)
