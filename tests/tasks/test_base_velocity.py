"""Velocities of a base in its own heading, and what a robot's wheels can drive."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tasks.wheels import drivable_axes, driving, wheel_joints
from wbc.simulation import Simulator


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.2, -0.1, 0.9)])
def test_the_rows_are_the_rate_of_the_velocity(normal: tuple[float, ...]) -> None:
    robot, rng, h = wbc.load("wheeled_quadruped", "numpy"), np.random.default_rng(2), 1e-5
    task = tasks.BaseVelocity(target=(0.3, -0.2, 0.4), gain=(5.0, 6.0, 7.0), normal=normal)
    for _ in range(3):
        q = robot.integrate(robot.model.nominal, rng.normal(scale=0.5, size=robot.nv))
        v, a, seen = rng.normal(size=robot.nv), rng.normal(size=robot.nv), []
        for t in (-h, h):
            robot.update(robot.integrate(q, v * t + a * t * t / 2), v + a * t)
            seen.append(task.velocity(robot))
        robot.update(q, v)
        tick = wbc.Tick(robot)
        A, b = task.matrices(robot, tick)
        wanted = np.array([5.0, 6.0, 7.0]) * ([0.3, -0.2, 0.4] - task.velocity(robot))
        assert np.allclose(task.error(robot, tick), [0.3, -0.2, 0.4] - task.velocity(robot))
        # J v̇ = b at the v̇ whose rate is what is wanted
        assert np.allclose(A[:, : robot.nv] @ a - b + wanted, (seen[1] - seen[0]) / (2 * h), atol=1e-7)


def test_axes_and_the_greatest_acceleration() -> None:
    robot = wbc.load("diffdrive", "numpy")
    robot.update(robot.model.nominal, np.zeros(robot.nv))
    tick = wbc.Tick(robot)
    task = tasks.BaseVelocity(target=lambda t: (10.0 * t, 5.0, -10.0 * t), axes=("x", "rz"), greatest=(2.0, 3.0))
    assert np.allclose(task.matrices(robot, tick.replace(time=0.01))[1], [1.0, -1.0])
    assert np.allclose(task.matrices(robot, tick.replace(time=1.0))[1], [2.0, -3.0])
    with_rate = tasks.BaseVelocity(
        target=lambda t: ((0.1 * t, 0.0, 0.2), (0.1, 0.0, -0.7), (0.0, 0.0, 0.0)), axes=("x", "rz"), greatest=(2.0, 1.0)
    )
    assert np.allclose(with_rate.matrices(robot, tick.replace(time=1.0))[1], [0.1 + 10.0 * 0.1, 1.0])
    assert task.row_names(robot, tick) == ["x of the velocity of base", "rz of the velocity of base"]
    for options in ({"axes": "z"}, {"greatest": 0.0}, {"normal": (0, 0, 0)}, {"gain": -1.0}, {"target": (1.0, 2.0)}):
        with pytest.raises(wbc.WbcError):
            tasks.BaseVelocity(**options)  # type: ignore[arg-type]
    with pytest.raises(wbc.WbcError, match="no frame 'bas'"):
        tasks.BaseVelocity("bas").check(robot, {})


@pytest.mark.parametrize(
    ("name", "axes"), [("diffdrive", ("x", "rz")), ("omni", ("x", "y", "rz")), ("wheeled_quadruped", ("x",))]
)
def test_what_wheels_can_drive(name: str, axes: tuple[str, ...]) -> None:
    robot = wbc.load(name, "numpy")
    assert drivable_axes(robot) == axes
    assert set(wheel_joints(robot)) == {f"{wheel}_joint" for wheel in robot.model.wheels if wheel != "castor"}
    stack = driving(robot)
    assert stack["base velocity"].axes == axes and len(stack.contacts) == len(robot.model.wheels)


CART = """<mujoco model="cart"><option timestep="0.002" cone="elliptic" impratio="100"/><worldbody>
<geom name="floor" type="plane" size="5 5 0.1"/><body name="cart" pos="0 0 0.1"><freejoint/>
<geom type="box" size="0.2 0.1 0.03" mass="8" pos="-0.02 0 0.05" contype="0" conaffinity="0"/>
<body name="left" pos="0.1 0.15 0"><joint name="left" axis="0 1 0" damping="0.01"/>
<geom type="cylinder" size="0.1 0.015" euler="90 0 0" mass="1" solref="0.005 1"/></body>
<body name="right" pos="0.1 -0.15 0"><joint name="right" axis="0 1 0" damping="0.01"/>
<geom type="cylinder" size="0.1 0.015" euler="90 0 0" mass="1" solref="0.005 1"/></body>
<body name="nose" pos="-0.2 0 -0.06"><geom type="sphere" size="0.04" condim="1" priority="1" mass="0.1"/></body>
</body></worldbody><actuator><motor joint="left" ctrlrange="-9 9"/><motor joint="right" ctrlrange="-9 9"/></actuator>
</mujoco>"""


def test_a_file_of_any_kind_drives_on_wheels_that_are_named() -> None:
    """Cylinders, in a file that has no word for wheels; the base's frame is off the axle, and turns to the side.

    In a turn their broad treads scrub, which no model of the controller has: it costs a tenth of the turning.
    """
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(CART)
    robot = wbc.load(model, "mujoco")
    wheels = [wbc.RollingContact("left", 0.6), wbc.RollingContact("right", 0.6)]
    castor = wbc.RollingContact("nose", wheel=wbc.Wheel(0.04, castor=True))
    stack = driving(robot, (0.8, 0.0, 0.6), wheels=[*wheels, castor], gain=60.0)
    drive = stack["base velocity"]
    assert drive.axes == ("x", "rz") and wheels[0].wheel.radius == 0.1
    log = wbc.run(wbc.Controller(robot, stack), wbc.MujocoSimulator(model), 1.0, period=2e-3)
    seen = []
    for q, v in zip(log.q[-100:], log.v[-100:], strict=True):
        robot.update(q, v)
        seen.append(drive.velocity(robot))
    forward, aside, turning = np.mean(seen, axis=0)
    assert abs(forward - 0.8) < 0.008 and 0.5 < turning < 0.61
    assert np.isclose(aside, -0.1 * turning, atol=5e-3)


def test_driving_is_for_robots_on_wheels() -> None:
    with pytest.raises(wbc.WbcError, match="declares no wheels"):
        driving(wbc.load("quadruped", "numpy"))
    with pytest.raises(wbc.WbcError, match=r"wheels must be wbc\.RollingContact objects"):
        driving(wbc.load("diffdrive", "numpy"), wheels=[wbc.PointContact("castor")])  # type: ignore[list-item]
    with pytest.raises(wbc.WbcError, match=r"needs a robot of wbc\.load"):
        driving("diffdrive")  # type: ignore[arg-type]


def test_a_quadruped_steps_and_turns_while_it_rolls() -> None:
    command = (0.3, 0.2, 0.8)
    robot = wbc.load("wheeled_quadruped")
    trot = tasks.Trot(robot, command, settle=0.0)
    legs = [name for name in robot.joint_names if name not in wheel_joints(robot)]
    wheels = [wbc.RollingContact(wheel) for wheel in robot.model.wheels]
    stack = wbc.Stack(
        tasks.EquationOfMotion()
        / (tasks.TorqueLimits() + tasks.FrictionCones())
        / tasks.ContactMotion(wbc.Gains(kp=0.0, kd=5.0))
        / trot.steps
        / trot.base
        / tasks.JointAcceleration(joints=legs, gains=wbc.Gains(1.5))
        / tasks.TorqueMinimization(),
        wheels,
    )
    log = wbc.run(wbc.Controller(robot, stack), Simulator(robot), 3.0, period=2e-3, targets=trot.update)
    seen, lifted, task = [], 0.0, tasks.BaseVelocity()
    for q, v in zip(log.q, log.v, strict=True):
        robot.update(q, v)
        seen.append(task.velocity(robot))
        lifted = max(lifted, *(robot.pose(wheel)[2, 3] - 0.08 for wheel in robot.model.wheels))
    steps = log.time >= 2.0  # four steps of a quarter of a second: what a step sways is not of the mean
    met = np.abs(np.mean(np.array(seen)[steps], axis=0) - command)
    assert (met < [0.04, 0.02, 0.02]).all()  # a trot holds its base softly along the ground
    assert lifted > 0.05 and abs(log.q[:, 2] - robot.model.nominal[2]).max() < 0.01


def test_a_wheel_in_the_air_is_set_to_roll() -> None:
    robot = wbc.load("wheeled_quadruped", "numpy")
    wheel = wbc.RollingContact("LF_wheel")
    v = np.zeros(robot.nv)
    v[0] = 0.8
    robot.update(robot.model.nominal, v)
    spin = tasks.WheelSpin(wheel, gain=10.0)
    A, b = spin.matrices(robot, wbc.Tick(robot))
    turning = robot.model.v_index["LF_wheel_joint"]
    # at 0.8 m/s it should turn with 10 rad/s, and it stands still: the row asks for 100 rad/s² of this joint alone
    assert np.isclose(b[0] / A[0, turning], 100.0) and np.allclose(spin.error(robot, wbc.Tick(robot)), -0.8)
    assert spin.row_names(robot, wbc.Tick(robot)) == ["spin of LF_wheel"]
    with pytest.raises(wbc.WbcError, match=r"must be a wbc\.RollingContact"):
        tasks.WheelSpin(wbc.PointContact("LF_wheel"))
