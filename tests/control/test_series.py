"""Springs between motors and contacts count as rigid where they are too fast to be controlled."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.closed_loops import bar, mjcf
from wbc.control.series import _null_space, rigid_springs, with_rigid_springs
from wbc.simulation import Push

STIFF, SOFT = 800.0, 3.0


def springy(stiffness: float = STIFF) -> wbc.Dynamics:
    """A torso on a rail above a leg whose shin is driven through a spring; and a tail on a spring of its own."""
    leg = f"""<geom name="floor" type="plane" size="5 5 .1" friction="1"/>
    <body name="torso" pos="0 0 .6435"><joint name="rail" type="slide" axis="0 0 1"/>
      <geom type="box" size=".1 .1 .05" mass="10"/>
      <body name="tail" pos="-.1 0 0"><joint name="tail" axis="0 1 0" stiffness="40"/>{bar(0.1, 0.05)}</body>
      <body name="thigh" euler="0 60 0"><joint name="hip" axis="0 1 0" armature=".05" damping=".5"/>{bar(0.3, 1.0)}
        <body name="rotor" pos=".3 0 0" euler="0 60 0"><joint name="knee" axis="0 1 0" armature=".05" damping=".5"/>
          <geom size=".02" mass=".1" contype="0" conaffinity="0"/>
          <body name="shin"><joint name="spring" axis="0 1 0" stiffness="{stiffness}" damping=".2"/>{bar(0.42, 0.5)}
            <geom name="foot" size=".02" pos=".42 0 0" mass=".05" friction="1"/>
            <site name="toe" pos=".42 0 0"/></body></body></body></body>"""
    motors = '<motor joint="hip" ctrlrange="-80 80"/><motor joint="knee" ctrlrange="-80 80"/>'
    return wbc.load(mujoco.MjModel.from_xml_string(mjcf(leg, f"<actuator>{motors}</actuator>")), "numpy")


def controller(robot: wbc.Dynamics, springs: bool) -> wbc.Controller:
    physics, limits = tasks.EquationOfMotion(), tasks.TorqueLimits() + tasks.FrictionCones()
    levels = physics / limits / tasks.ContactMotion() / tasks.EndEffectorAcceleration("torso", axes="z", name="height")
    levels = levels / tasks.JointAcceleration(gains=wbc.Gains(1.0), joints=["hip", "knee"]) / tasks.TorqueMinimization()
    stack = wbc.Stack(levels, contacts=[wbc.PointContact("toe", friction=0.8)])
    return wbc.Controller(robot, stack, period=1e-3, springs=springs)


def run(robot: wbc.Dynamics, springs: bool) -> tuple[wbc.Log, np.ndarray]:
    """Half a second on the spot and a push, and the height of the torso."""
    push = Push("torso", (0.0, 0.0, -25.0), 0.2, 0.1)
    log = wbc.run(controller(robot, springs), wbc.MujocoSimulator(robot), 0.8, disturbances=[push], deadline=np.inf)
    return log, log.true_q[:, 0] - log.true_q[0, 0]


def test_only_fast_springs_that_contacts_load_are_rigid() -> None:
    toe = [wbc.PointContact("toe", friction=0.8)]
    assert rigid_springs(springy(), toe) == ["spring"], "a tail carries nothing"
    assert rigid_springs(springy(), []) == []
    assert rigid_springs(springy(SOFT), toe) == []
    assert rigid_springs(springy(), [wbc.PointContact("torso", friction=0.8)]) == []


def test_a_spring_may_be_the_first_joint_of_a_floating_base() -> None:
    legs = """<geom name="floor" type="plane" size="5 5 .1"/>
    <body name="torso" pos="0 0 .32"><freejoint/><geom type="box" size=".1 .1 .05" mass="10"/>
      <body name="leg"><joint name="spring" axis="0 1 0" stiffness="800"/><geom size=".02" mass=".3"/>
        <body name="foot" pos=".1 0 -.3"><joint name="ankle" axis="0 1 0"/><geom name="sole" size=".02" mass=".1"/>
          <site name="toe" pos="0 0 -.02"/></body></body></body>"""
    text = mjcf(legs, '<actuator><motor joint="ankle" ctrlrange="-80 80"/></actuator>')
    robot = wbc.load(mujoco.MjModel.from_xml_string(text), "numpy")
    assert robot.model.v_index["spring"] == 6
    assert rigid_springs(robot, [wbc.PointContact("toe", friction=0.8)]) == ["spring"]


def test_a_leg_stands_on_its_spring() -> None:
    log, height = run(springy(), springs=True)
    assert log.ended == "finished"
    assert height.min() > -0.01 and abs(height[-1]) < 2e-3, "it yields to the push, and comes back"
    assert np.abs(np.diff(log.torque, axis=0)[20:]).max() < 2.0, "its torques are smooth"
    chased, _ = run(springy(), springs=False)
    assert np.abs(np.diff(chased.torque, axis=0)[20:]).max() > 4.0, "without this they are twice as rough"


def test_the_spring_is_held_as_a_loop_is() -> None:
    robot = springy()
    q = robot.model.nominal.copy()
    q[robot.model.q_index["spring"]] = -0.02
    index = robot.model.v_index["spring"]
    solution = controller(robot, springs=True).step(q, np.zeros(robot.nv))
    assert abs(solution.acceleration[index]) < 1e-9 < 1.0 < abs(solution.loop_forces["spring spring"][0])
    assert solution.certificate.holds
    assert abs(controller(robot, springs=False).step(q, np.zeros(robot.nv)).acceleration[index]) > 1.0
    with pytest.raises(wbc.WbcError, match="springs = 1 must be True or False"):
        controller(robot, springs=1)  # type: ignore[arg-type]


def test_a_rigid_spring_holds_its_joint_where_it_rests() -> None:
    robot, toe = springy(), [wbc.PointContact("toe", friction=0.8)]
    held = with_rigid_springs(robot, toe)
    (loop,) = held.model.loops
    assert isinstance(loop, wbc.JointCoupling) and dict(loop.joints) == {"spring": 1.0} and loop.name == "spring spring"
    assert list(loop.polynomial) == [robot.model.joints["spring"].rest] and not robot.model.loops
    free = with_rigid_springs(robot, [])
    assert free is not robot and not free.model.loops


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_what_is_nothing_is_a_share_of_the_largest(size: float) -> None:
    A = size * np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 4e-9, 0.0, 0.0], [0.0, 0.0, 0.5e-9, 0.0]])
    basis = _null_space(A)
    assert basis.shape == (4, 2) and np.allclose(basis.T @ basis, np.eye(2)) and np.allclose(basis[:2], 0.0)
    assert _null_space(np.zeros((0, 3))).shape == (3, 3) == _null_space(np.zeros((2, 3))).shape


@pytest.mark.parametrize(("hertz", "rigid"), [(7.5, []), (8.5, ["spring"])])
def test_a_spring_is_too_fast_from_eight_hertz_on(hertz: float, rigid: list[str]) -> None:
    robot = springy(1.0)
    robot.update(robot.model.nominal)
    index = robot.model.v_index["spring"]
    mobility = np.linalg.inv(robot.mass_matrix)[index, index]
    stiffness = (2.0 * np.pi * hertz) ** 2 / mobility
    assert rigid_springs(springy(float(stiffness)), [wbc.PointContact("toe", friction=0.8)]) == rigid
