"""What a wheel holds: the velocity of its lowest point, and the derivative of that, on slopes and leaning."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tasks.wheels import driving
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


@pytest.mark.parametrize("normal", NORMALS)
def test_the_normal_row_is_the_rate_of_the_height_of_the_lowest_point(normal: tuple[float, ...]) -> None:
    robot, h = cart(), 1e-6
    contact = wbc.RollingContact("wheel", wheel=wbc.Wheel(0.1, (0.0, 1.0, 0.2), 0.03), normal=normal)
    for q, v, _ in states(robot):
        heights = []
        for t in (-h, h):
            robot.update(robot.integrate(q, v * t), v)
            heights.append(contact.normal @ contact.point(robot))
        robot.update(q, v)
        assert np.isclose(contact.slip(robot)[2], (heights[1] - heights[0]) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("crown", [0.0, 0.03, 0.1])
def test_the_point_is_the_lowest_of_the_tyre(crown: float) -> None:
    robot, rng = cart(), np.random.default_rng(3)
    wheel = wbc.Wheel(0.1, (0.0, 1.0, 0.2), crown)
    angle = np.linspace(0, 2 * np.pi, 2001)
    side = np.cross(wheel.axle, [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    rim = (0.1 - crown) * (np.outer(np.cos(angle), side) + np.outer(np.sin(angle), np.cross(wheel.axle, side)))
    for normal in NORMALS:
        contact = wbc.RollingContact("wheel", wheel=wheel, normal=normal)
        for q, v, _ in states(robot, 3):
            robot.update(q, rng.permutation(v))
            pose = robot.pose("wheel")
            lowest = ((rim @ pose[:3, :3].T + pose[:3, 3]) @ contact.normal).min() - crown
            assert np.isclose(contact.normal @ contact.point(robot), lowest, atol=1e-6)


def test_an_upright_wheel_that_turns_positively_rolls_forward() -> None:
    robot = wbc.load("diffdrive", "numpy")
    contact = wbc.RollingContact("left_wheel")
    contact.fit(robot)
    v = np.zeros(robot.nv)
    v[0], v[6:] = 1.0, 10.0  # 1 m/s on wheels of 0.1 m
    robot.update(robot.model.nominal, v)
    J, bias = contact.motion(robot)
    assert np.allclose(contact.slip(robot), 0.0) and np.allclose(bias, 0.0)  # the centripetal part is not of the ground
    assert np.allclose(contact.directions(robot), np.eye(3))
    assert np.allclose(contact.point(robot), [0.0, 0.19, 0.0])
    assert J[0, 0] == 1.0 and np.isclose(J[0, 6], -0.1)


def test_rollers_and_castors_hold_less() -> None:
    robot = cart()
    robot.update(next(states(robot))[0], np.ones(robot.nv))
    tyre = wbc.RollingContact("wheel", wheel=wbc.Wheel(0.1)).motion(robot)[0]
    for angle in (0.0, 0.6, -np.pi / 4):
        contact = wbc.RollingContact("wheel", wheel=wbc.Wheel(0.1, rollers=angle))
        assert (contact.rows, contact.size, contact.axes) == (2, 2, ("x", "z"))
        grip = np.cos(angle) * tyre[0] + np.sin(angle) * tyre[1]
        assert np.allclose(contact.motion(robot)[0], [grip, tyre[2]])
    castor = wbc.RollingContact("wheel", wheel=wbc.Wheel(0.1, castor=True))
    assert (castor.rows, castor.axes, castor.force_names()) == (1, ("z",), ["z of wheel"])
    assert np.allclose(castor.motion(robot)[0], robot.jacobian("wheel")[2:3])


@pytest.mark.parametrize("wheel", WHEELS)
def test_forces_do_the_work_of_a_force_at_the_lowest_point(wheel: wbc.Wheel) -> None:
    robot = cart()
    contact = wbc.RollingContact("wheel", wheel=wheel, normal=(0.2, 0.1, 0.9))
    for q, v, _ in states(robot, 2):
        robot.update(q, v)
        f = np.arange(1.0, contact.size + 1)
        arm = contact.point(robot) - robot.pose("wheel")[:3, 3]
        pushed = contact.wrench(robot, f)
        expected = robot.jacobian("wheel").T @ np.concatenate([pushed, np.cross(arm, pushed)])
        assert np.allclose(wbc.Tick(robot, [contact]).contact_jacobian(robot).T @ f, expected)
        assert np.isclose(pushed @ contact.normal, f[-1])


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("wheel", [WHEELS[0], WHEELS[3], WHEELS[5]])
def test_the_cone_allows_what_the_margin_says(wheel: wbc.Wheel, friction: float) -> None:
    robot, rng = cart(), np.random.default_rng(1)
    robot.update(robot.neutral(), np.zeros(robot.nv))
    contact = wbc.RollingContact("wheel", friction, wheel)
    C = contact.cone(robot, 8)
    for _ in range(200):
        f = rng.normal(size=contact.size) * [1.0] * contact.size
        margin = contact.margin(robot, f, 8)
        if (C @ f <= 0.0).all():
            assert margin >= -1e-12  # the pyramid is inside the cone
        if margin < 0.0:
            assert (C @ f).max() > 0.0
    assert (C @ np.eye(contact.size)[-1] <= 0.0).all() and contact.normals(robot)[-1] == 1.0


def test_a_wheel_on_its_side_gives_numbers() -> None:
    robot = cart()
    q = robot.neutral()
    for tilt in (np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 - 1e-5):
        q[3:7] = quaternion.from_matrix(so3.exp([tilt, 0.0, 0.0]))
        robot.update(q, np.ones(robot.nv))
        J, bias = wbc.RollingContact("wheel", wheel=wbc.Wheel(0.1)).motion(robot)
        assert np.isfinite(J).all() and np.isfinite(bias).all()


def test_a_wheel_comes_from_the_model_or_from_its_shape() -> None:
    robot = cart()
    contact = wbc.RollingContact("wheel")
    wbc.Tick(robot, [contact])
    assert (contact.wheel.radius, contact.wheel.crown) == (0.1, 0.03)  # what is declared is not looked for
    assert np.allclose(contact.wheel.axle, np.array([0.0, 1.0, 0.2]) / np.sqrt(1.04))
    bare = wbc.load(urdf.read_urdf(CART.replace(b"<wheel ", b"<wheels ")), "numpy")
    contact.fit(robot)
    with pytest.raises(wbc.WbcError, match="the wheel of another robot"):
        contact.fit(bare)
    found = wbc.RollingContact("wheel")
    found.fit(bare)
    assert (found.wheel.radius, found.wheel.crown) == (0.15, 0.0)
    assert np.allclose(found.wheel.axle, [0.0, 1.0, 0.0], atol=1e-6)  # of the cylinder, turned as the joint turns
    with pytest.raises(wbc.WbcError, match="declares no wheel for 'arm'.*give wheel=wbc.Wheel"):
        wbc.RollingContact("arm").fit(bare)
    with pytest.raises(wbc.WbcError, match="no frame 'whel'; did you mean 'wheel'"):
        wbc.RollingContact("whel").fit(bare)
    with pytest.raises(wbc.WbcError, match="has no wheel yet"):
        _ = wbc.RollingContact("wheel").rows
    ball = CART.replace(b"<wheel ", b"<wheels ").replace(
        b'<cylinder radius="0.15" length="0.04"/>', b'<sphere radius="0.15"/>'
    )
    found = wbc.RollingContact("wheel")
    found.fit(wbc.load(urdf.read_urdf(ball), "numpy"))
    assert found.wheel.crown == 0.15
    assert np.allclose(found.wheel.axle, np.array([0.0, 1.0, 0.2]) / np.sqrt(1.04))  # of the joint


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"radius": 0.0}, "radius"),
        ({"radius": 0.1, "crown": 0.2}, "crown"),
        ({"radius": 0.1, "axle": (0.0, 0.0, 0.0)}, "axle"),
        ({"radius": 0.1, "rollers": 0.0, "castor": True}, "not both"),
        ({"radius": 0.1, "rollers": np.pi / 2}, "own axle"),
        ({"radius": float("nan")}, "radius"),
    ],
)
def test_wheels_that_can_not_be(options: dict[str, object], words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        wbc.Wheel(**options)  # type: ignore[arg-type]


def test_a_file_is_told_what_is_wrong_with_a_wheel() -> None:
    for old, new, words in (
        (b'link="wheel" radius', b'link="whel" radius', "whel"),
        (b'radius="0.1"', b'radius="-1"', "radius"),
        (b'crown="0.03"/>', b'crown="0.03"/><wheel link="wheel" radius="1"/>', "named as a wheel before"),
        (b'crown="0.03"', b'castor="yes"', "castor"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            urdf.read_urdf(CART.replace(old, new, 1))


def test_tasks_speak_of_wheels_by_their_own_axes() -> None:
    robot = wbc.load("diffdrive", "numpy")
    robot.update(robot.model.nominal, np.ones(robot.nv))
    wheels = [wbc.RollingContact(wheel) for wheel in robot.model.wheels]
    tick, held = wbc.Tick(robot, wheels), tasks.ContactMotion(wbc.Gains(kp=100.0, kd=5.0))
    names = [f"{axis} of {side}_wheel" for side in ("left", "right") for axis in "xyz"] + ["z of castor"]
    assert held.row_names(robot, tick) == names and tick.nf == 7
    A, b = held.matrices(robot, tick)
    J, bias = tick.contact_motion(robot)
    assert np.allclose(A[:, : robot.nv], J) and np.allclose(b, -bias - 5.0 * J @ robot.v)  # and no place
    some = tasks.ContactMotion(axes={"left_wheel": "xz"})
    assert np.allclose(some.matrices(robot, tick)[0][:, : robot.nv], J[[0, 2, 3, 4, 5, 6]])
    with pytest.raises(wbc.WbcError, match="'castor' has the axes z"):
        tasks.ContactMotion(axes={"castor": "x"}).check(robot, {wheel.name: wheel for wheel in wheels})
    # a force is told in the world's axes, whatever those of the wheel
    push = tasks.ContactForce("right_wheel", (1.0, 2.0, 3.0))
    f = np.linalg.lstsq(push.matrices(robot, tick)[0][:, tick.force], [1.0, 2.0, 3.0], rcond=None)[0]
    assert np.allclose(wheels[1].wrench(robot, f[3:6]), [1.0, 2.0, 3.0])


def test_wheels_points_and_soles_stand_side_by_side() -> None:
    """The cones of what turns are turned, those of wheels are not."""
    robot = wbc.load("wheeled_quadruped", "numpy")
    q = robot.integrate(robot.model.nominal, np.random.default_rng(0).normal(scale=0.2, size=robot.nv))
    robot.update(q, np.zeros(robot.nv))
    corners = [[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]]
    contacts = [
        wbc.RollingContact("LF_wheel", wheel=wbc.Wheel(0.08, rollers=0.3)),
        wbc.SurfaceContact("base", corners=corners),
        wbc.RollingContact("RF_wheel"),
        wbc.PointContact("LH_wheel"),
    ]
    tick, cones = wbc.Tick(robot, contacts), tasks.FrictionCones()
    A, _, _ = cones.matrices(robot, tick)
    start = 0
    for contact in contacts:
        C, where = contact.cone(robot, 4), tick.force_of(contact.name)
        assert where is not None
        rows = slice(start, start + len(C))
        assert np.allclose(A[rows, robot.nv + where.start : robot.nv + where.stop], C)
        start += len(C)
    assert len(cones.row_names(robot, tick)) == len(A)


@pytest.mark.parametrize("backend", ["numpy", "pinocchio", "mujoco"])
def test_every_backend_and_solver_gives_the_same_torques(backend: str) -> None:
    pytest.importorskip(backend)
    robot = wbc.load("wheeled_quadruped", backend)
    q = robot.model.nominal
    v = np.zeros(robot.nv)
    v[0], v[5] = 0.5, 0.3
    torques = []
    for made, solver in ((robot, "hierarchical-qp"), (wbc.load("wheeled_quadruped", "numpy"), "sequential-qp")):
        controller = wbc.Controller(made, driving(made, (1.0, 0.0, 0.0)), solver)
        solution = controller.step(q, v, 0.0)
        assert solution.status == "optimal" and solution.certificate.holds
        torques.append(solution.torque)
    assert np.allclose(torques[0], torques[1], atol=1e-4)
    robot.update(q, v)
    J, bias = wbc.Tick(robot, controller.stack.contacts).contact_motion(robot)
    assert np.isclose(np.linalg.norm(J @ solution.acceleration + bias + 2.0 * J @ v), 0.0, atol=1e-6)


def test_a_wheel_is_lifted_along_a_ramp() -> None:
    robot = wbc.load("wheeled_quadruped", "numpy")
    controller = wbc.Controller(robot, driving(robot))
    q, v, stack = robot.model.nominal, np.zeros(robot.nv), controller.stack
    assert controller.step(q, v, 0.0).forces["LF_wheel"][2] > 20.0
    stack.open_contact("LF_wheel", 0.1)
    borne = [controller.step(q, v, 0.01 * k).forces["LF_wheel"][2] for k in range(1, 13)]
    assert borne[-1] == 0.0 and borne == sorted(borne, reverse=True) and 0.0 < borne[5] < borne[0]
