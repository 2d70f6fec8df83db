"""Wheels in both simulators: what touches, what slips, and how well what drives follows."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tasks.wheels import driving
from wbc.geometry import quaternion, so3
from wbc.model import urdf
from wbc.simulation import Simulator, make_plant

SPEED = {"diffdrive": (1.0, 0.0, 0.0), "omni": (0.6, -0.8, 0.0), "wheeled_quadruped": (1.0, 0.0, 0.0)}
TURN = {"diffdrive": (0.5, 0.0, 1.0), "omni": (0.3, 0.2, 1.0)}


def drive(name, plant, command, duration, normal=(0.0, 0.0, 1.0)):
    """Velocities of the base, and the largest slip, m/s, in the last tenth of a second of a run."""
    robot = wbc.load(name)
    stack = driving(robot, command, normal=normal)
    log = wbc.run(wbc.Controller(robot, stack), plant, duration, period=2e-3)
    assert log.ended == "finished" and set(log.status) == {"optimal"}
    seen, slips = [], []
    for q, v in zip(log.q[-50:], log.v[-50:], strict=True):
        robot.update(q, v)
        seen.append(stack["base velocity"].velocity(robot))
        slips.append(max(np.abs(contact.slip(robot)).max() for contact in stack.contacts))
    return log, np.array(seen), max(slips)


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
@pytest.mark.parametrize("name", SPEED)
def test_one_metre_a_second_from_rest_within_a_percent(name: str, simulator: str) -> None:
    pytest.importorskip("mujoco")
    _, seen, slip = drive(name, make_plant(wbc.load(name), simulator), SPEED[name], 1.2)
    assert np.abs(seen - SPEED[name]).max() < 0.01
    assert slip < 1e-3


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
@pytest.mark.parametrize("name", TURN)
def test_one_radian_a_second_within_two_percent(name: str, simulator: str) -> None:
    pytest.importorskip("mujoco")
    _, seen, slip = drive(name, make_plant(wbc.load(name), simulator), TURN[name], 1.2)
    assert abs(seen[:, 2] - 1.0).max() < 0.02 and np.abs(seen[:, 0] - TURN[name][0]).max() < 0.01
    assert slip < 2e-3  # half a step of the simulator is what a wheel that turns seems to slip


@pytest.mark.parametrize("direction", [(0.0, -1.0, 0.0), (1.0, 0.0, 0.0)])
@pytest.mark.parametrize("name", SPEED)
def test_a_slope_of_five_degrees_holds(name: str, direction: tuple[float, ...]) -> None:
    R = so3.exp(np.radians(5.0) * np.array(direction))
    robot = wbc.load(name)
    q = robot.model.nominal.copy()
    q[:3], q[3:7] = R @ q[:3], quaternion.from_matrix(R)
    plant = Simulator(robot, normal=R[:, 2])
    plant.reset(q)
    log, _, slip = drive(name, plant, (0.0, 0.0, 0.0), 0.4, normal=R[:, 2])
    assert np.linalg.norm(log.q[-1, :3] - log.q[0, :3]) < 1e-4 and slip < 1e-4
    borne = log.measured[-1].sum(axis=0)
    assert np.allclose(borne, [0.0, 0.0, 9.81 * robot.mass], atol=0.5)  # by friction too, not by the normal alone


def test_a_slope_is_driven_up() -> None:
    R = so3.exp([0.0, -np.radians(5.0), 0.0])
    robot = wbc.load("diffdrive")
    q = robot.model.nominal.copy()
    q[:3], q[3:7] = R @ q[:3], quaternion.from_matrix(R)
    plant = Simulator(robot, normal=R[:, 2])
    plant.reset(q)
    log, seen, _ = drive("diffdrive", plant, (1.0, 0.0, 0.0), 1.2, normal=R[:, 2])
    assert np.abs(seen - [1.0, 0.0, 0.0]).max() < 0.01
    risen = log.q[-1, :3] - log.q[0, :3]
    assert np.isclose(risen[2] / risen[0], np.tan(np.radians(5.0)), rtol=1e-3)


def single(wheel: str) -> wbc.Model:
    """One wheel alone: a body that floats."""
    text = f"""<robot name="wheel"><wbc base="floating"><wheel link="base" radius="0.1" {wheel}/></wbc>
    <link name="base"><inertial><mass value="2"/><inertia ixx="0.006" iyy="0.01" izz="0.006" ixy="0" ixz="0" iyz="0"/>
    </inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
    return urdf.read_urdf(text.encode())


def leaning(height: float, lean: float):
    q = np.array([0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0])
    q[3:7] = quaternion.from_matrix(so3.exp([lean, 0.0, 0.0]))
    return q


@pytest.mark.parametrize("ground", ["hard", "soft"])
def test_a_wheel_touches_at_its_lowest_point_and_rolls(ground) -> None:
    model = single('crown="0.02"')
    plant = Simulator(model, ground=ground)
    plant.reset(leaning(0.1, 0.0), [1.0, 0, 0, 0, 10.0, 0])
    for _ in range(500):
        plant.step()
    q, v = plant.state
    assert np.allclose(v, [1.0, 0, 0, 0, 10.0, 0], atol=1e-3) and abs(q[2] - 0.1) < 1e-3
    assert np.allclose(plant.contact_forces["base"], [0.0, 0.0, 2 * 9.81], atol=0.05)
    # skidding, it takes up speed until it rolls: with an inertia of half m r², two thirds of what the rim had
    plant.reset(leaning(0.1, 0.0), [0.0, 0, 0, 0, 15.0, 0])
    for _ in range(500):
        plant.step()
    assert np.isclose(plant.state[1][0], 0.5, atol=5e-3) and np.isclose(plant.state[1][4], 5.0, atol=5e-2)


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
def test_a_wheel_that_leans_falls_like_its_tyre(simulator: str) -> None:
    """Both simulators let it touch where the contact says: to the second order in the lean, in MuJoCo."""
    pytest.importorskip("mujoco")
    model, lean = single('crown="0.02"'), 0.1
    robot, contact = wbc.load(model, "numpy"), wbc.RollingContact("base")
    contact.fit(robot)
    height = 0.02 + 0.08 * np.cos(lean)
    plant = make_plant(model, simulator)
    plant.reset(leaning(height, lean), [1.0, 0, 0, 0, 10.0, 0])
    for _ in range(150):
        plant.step()
    robot.update(*plant.state)
    assert abs(contact.point(robot)[2]) < 1e-3 and np.abs(contact.slip(robot)).max() < 5e-3
    assert robot.v[5] != 0.0 and robot.v[2] < 0.0  # it leans more and more, and turns to the side it leans to


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
def test_rollers_and_castors_let_go(simulator: str) -> None:
    pytest.importorskip("mujoco")
    for wheel, kept in (('rollers="0"', (1.0, 0.0, 0.0)), ('castor="true"', (1.0, 1.0, 0.0))):
        plant = make_plant(single(wheel), simulator)
        # a wheel that does not turn slides as far as nothing holds it: to the side on rollers, or in any direction
        plant.reset(leaning(0.1, 0.0), [*(np.array([0.0, 0.5, 0.0]) + kept), 0.0, 0.0, 0.0])
        for _ in range(20):
            plant.step()
        v = plant.state[1]
        free = [1] if "rollers" in wheel else [0, 1]
        assert np.allclose(v[free], (np.array([0.0, 0.5, 0.0]) + kept)[free], atol=5e-3)
        if "rollers" in wheel:
            assert v[0] < 0.9 and v[4] > 1.0  # along its way it is braked, and set to roll


MECANUM = """<robot name="mecanum"><wbc base="floating">{wheels}<nominal base="0 0 0.08 1 0 0 0"/></wbc>
<link name="base"><inertial><origin xyz="0 0 0.05"/><mass value="10"/>
<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/>
</inertial></link>{links}</robot>"""
LINK = """<joint name="{n}_joint" type="continuous"><parent link="base"/><child link="{n}"/><origin xyz="{x} {y} 0"/>
<axis xyz="0 1 0"/><limit effort="10" velocity="50"/></joint><link name="{n}"><inertial><mass value="1"/>
<inertia ixx="0.002" iyy="0.003" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def test_mecanum_wheels_drive_in_all_directions() -> None:
    places = [("a", 0.2, 0.15, -1), ("b", 0.2, -0.15, 1), ("c", -0.2, 0.15, 1), ("d", -0.2, -0.15, -1)]
    wheels = "".join(f'<wheel link="{n}" radius="0.08" rollers="{s * np.pi / 4}"/>' for n, _, _, s in places)
    text = MECANUM.format(wheels=wheels, links="".join(LINK.format(n=n, x=x, y=y) for n, x, y, _ in places))
    robot = wbc.load(urdf.read_urdf(text.encode()))
    stack = driving(robot, (0.4, 0.3, 0.5))
    drive = stack["base velocity"]
    assert drive.axes == ("x", "y", "rz")
    log = wbc.run(wbc.Controller(robot, stack), Simulator(robot), 0.8, period=2e-3)
    robot.update(log.q[-1], log.v[-1])
    assert np.allclose(drive.velocity(robot), (0.4, 0.3, 0.5), atol=5e-3)
    with pytest.raises(wbc.WbcError, match=r"wheel 'a': MuJoCo has no contact for rollers at -0.785398 rad"):
        wbc.MujocoSimulator(robot)
