"""Close the loop in MuJoCo: robots stand, are pushed, and recover; torques reach the actuators as they were meant."""

from __future__ import annotations

import os
import signal

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import standing
from wbc import WbcError
from wbc.geometry import quaternion
from wbc.model import Model
from wbc.simulation import MujocoSimulator, Push, run


def stand(name: str, duration: float, pushes=(), plant_model: Model | None = None, backend: str = "pinocchio"):
    controller, _ = standing(name, backend)
    plant = MujocoSimulator(controller.robot.model if plant_model is None else plant_model)
    return run(controller, plant, duration, disturbances=pushes)


def turned(log) -> float:
    """How far the base turned from where it began, rad, at the most."""
    start = quaternion.inverse(log.q[0, 3:7])
    return max(
        float(np.linalg.norm(quaternion.to_rotation_vector(quaternion.multiply(start, q)))) for q in log.q[::20, 3:7]
    )


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_standing_does_not_drift(name: str) -> None:
    log = stand(name, 2.0)
    moved, angle = float(np.abs(log.q[:, :3] - log.q[0, :3]).max()), turned(log)
    print(f"{name}: drift {1e3 * moved:.2f} mm, {np.degrees(angle):.3f} degrees")
    assert log.ended == "finished"
    assert set(log.status) == {"optimal"}
    assert moved < 2e-3
    assert np.degrees(angle) < 0.2
    weight = wbc.load(name, "numpy").mass * 9.81
    assert abs(log.measured[-1, :, 2].sum() - weight) < 0.01 * weight
    assert abs(log.forces[-1, :, 2].sum() - weight) < 0.05 * weight


@pytest.mark.parametrize(("name", "share", "time"), [("quadruped", 0.3, 0.2), ("humanoid", 0.2, 0.1)])
@pytest.mark.parametrize("direction", [(1, 0), (0, 1), (-1, 0), (0, -1)])
def test_pushed_robots_recover(name: str, share: float, time: float, direction: tuple[int, int]) -> None:
    force = share * wbc.load(name, "numpy").mass * 9.81
    push = Push("base", (force * direction[0], force * direction[1], 0.0), 0.2, time)
    log = stand(name, 2.5, [push])
    away = float(np.abs(log.q[:, :3] - log.q[0, :3]).max())
    back = float(np.abs(log.q[-1, :3] - log.q[0, :3]).max())
    print(f"{name} pushed {direction}: away {1e3 * away:.1f} mm, back to {1e3 * back:.2f} mm")
    assert log.ended == "finished"
    assert away > 1e-3  # it was pushed
    assert back < 3e-3
    assert log.cone_margin.min() > -1e-6  # the command never asked for what it can't have
    assert log.torque_margin.min() > -1e-6


def test_a_mass_error_of_a_tenth_is_stood_through() -> None:
    from dataclasses import replace

    model = wbc.load("quadruped", "numpy").model
    bodies = [
        replace(body, mass=1.1 * body.mass, inertia=1.1 * body.inertia) if body.name == "base" else body
        for body in model.bodies.values()
        if body.name != "world"
    ]
    heavier = Model(
        "heavier", bodies, model.joints.values(), nominal=model.nominal, feet=model.feet, shapes=model.shapes
    )
    log = stand("quadruped", 2.0, plant_model=heavier)
    assert log.ended == "finished"
    assert np.abs(log.q[-1, :3] - log.q[0, :3]).max() < 0.01


def test_two_backends_give_the_same_torques_over_a_second() -> None:
    logs = [stand("quadruped", 1.0, backend=backend) for backend in ("numpy", "pinocchio", "mujoco")]
    for other in logs[1:]:
        assert np.abs(other.torque - logs[0].torque).max() < 1e-6


def test_a_mjcf_with_motors_and_servos_gets_the_torques_it_was_given() -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body name="a"><joint name="j1" axis="0 1 0"/><geom size="0.05 0.2" type="capsule"/>
        <body name="b" pos="0 0 0.5"><joint name="j2" axis="0 1 0"/><geom size="0.05 0.2" type="capsule"/></body></body>
        </worldbody><actuator><motor joint="j1" gear="3"/><position joint="j2" kp="40" kv="2"/></actuator></mujoco>"""
    )
    plant = MujocoSimulator(spec.compile())
    plant.reset([0.3, -0.4], [0.5, 1.0])
    plant.apply([1.5, -2.5])
    plant.step()
    assert np.allclose(plant.mj_data.qfrc_actuator, [1.5, -2.5], atol=1e-12)


@pytest.mark.parametrize(
    ("actuator", "message"),
    [
        ('<muscle name="biceps" joint="j"/>', "'biceps' is neither a motor nor a servo"),
        ('<damper name="brake" joint="j" kv="2" ctrlrange="0 1"/>', "'brake' is neither a motor nor a servo"),
        ('<general joint="j" gainprm="0" biastype="affine" biasprm="0 -5 0"/>', "'actuator_0' has no gain"),
        ('<intvelocity name="drive" joint="j" kp="1" actrange="-1 1"/>', "'drive' has dynamics of its own"),
    ],
)
def test_actuators_that_can_not_be_mapped_are_refused_by_name(actuator: str, message: str) -> None:
    m = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body><joint name="j" range="-1 1" limited="true"/><geom size="0.1"/></body></worldbody>
        <actuator>{actuator}</actuator></mujoco>"""
    )
    for make in (MujocoSimulator, wbc.load):
        with pytest.raises(WbcError, match=message):
            make(m)
    assert MujocoSimulator(m, ignore=["actuators"]).model.na == 0
    with pytest.warns(wbc.WbcWarning, match="drive no joint, not used"):
        assert wbc.load(m, ignore="actuators").na == 0


def test_pushes_act_at_the_frame() -> None:
    robot = wbc.load("quadruped", "numpy")
    plant = MujocoSimulator(robot)
    plant.mj_model.opt.gravity[:] = 0.0
    q = np.array(robot.model.nominal)
    q[2] = 5.0
    plant.reset(q)
    robot.update(q)
    wrench = np.array([3.0, -2.0, 5.0, 0.4, 0.1, -0.2])
    plant.push("LF_shank", wrench)
    mujoco.mj_forward(plant.mj_model, plant.mj_data)
    expected = np.linalg.solve(robot.mass_matrix, robot.generalized_force("LF_shank", wrench))
    assert np.allclose(plant.mj_data.qacc, expected, atol=1e-8)
    with pytest.raises(WbcError, match="no frame 'LF_shnk'; did you mean 'LF_shank'"):
        plant.push("LF_shnk", wrench)


STOOL = """<mujoco><option timestep="0.001" cone="elliptic" impratio="100"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="seat" pos="0 0 0.3"><freejoint/><geom type="box" size="0.3 0.2 0.02" mass="6"/>
    <body name="legs">{legs}</body>
    <body name="arm"><joint name="turn"/><geom type="sphere" pos="0.1 0 0.1" size="0.05" mass="1"/></body></body>
  </worldbody><actuator><motor joint="turn"/></actuator></mujoco>"""
LEGS = "".join(
    f'<geom type="sphere" size="0.02" pos="{x} {y} -0.28" mass="0.5"/><site name="foot{n}" pos="{x} {y} -0.3"/>'
    for n, (x, y) in enumerate([(0.25, 0.0), (-0.25, 0.15), (-0.25, -0.15)])
)


@pytest.mark.filterwarnings("ignore:no task bounds the forces")
def test_contact_forces_of_an_mjcf_robot_are_measured_at_the_contacts_of_the_stack() -> None:
    """Three feet on one rigid part, which is another body of the file than the one with the joint."""
    m = mujoco.MjModel.from_xml_string(STOOL.format(legs=LEGS))
    robot = wbc.load(m)
    feet = [wbc.PointContact(f"foot{n}") for n in range(3)]
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.ContactMotion() / tasks.JointAcceleration(), contacts=feet)
    plant = MujocoSimulator(m)
    assert plant.contact_forces == {}
    log = run(wbc.Controller(robot, stack), plant, 0.5)
    assert log.feet == ("foot0", "foot1", "foot2")
    robot.update(log.q[-1])
    measured, weight = log.measured[-1, :, 2], 9.81 * robot.mass
    assert measured.sum() == pytest.approx(weight, rel=2e-3)
    places = np.array([robot.pose(f"foot{n}")[:2, 3] for n in range(3)])
    assert measured @ places / weight == pytest.approx(robot.com[:2], abs=2e-3), "the lever rule"
    assert measured.min() > 0.1 * weight
    with pytest.raises(WbcError, match="no frame 'foot3'"):
        plant.measure(["foot3"])


def test_two_pushes_on_one_body_add_up() -> None:
    robot = wbc.load("quadruped")
    robot.add_frame("back", "base", (-0.3, 0.0, 0.1))
    plant = MujocoSimulator(robot)
    plant.push("base", [1.0, 2.0, 3.0])
    plant.push("back", [0.0, 0.0, 4.0])
    assert np.allclose(plant.mj_data.xfrc_applied[2, :3], [1.0, 2.0, 7.0])
    plant.push("base", [0.0, 0.0, 0.0])
    assert np.allclose(plant.mj_data.xfrc_applied[2, :3], [0.0, 0.0, 4.0])
    plant.reset()
    assert not plant.mj_data.xfrc_applied.any()


def test_the_period_must_be_a_multiple_of_the_timestep() -> None:
    standing_one, _ = standing("quadruped")
    controller = wbc.Controller(standing_one.robot, standing_one.stack, period=1e-3)
    plant = MujocoSimulator(controller.robot, timestep=4e-4)
    with pytest.raises(WbcError, match=r"period, 0\.001 s, must be a multiple of the plant's timestep, 0\.0004 s"):
        run(controller, plant, 0.1)
    log = run(controller, plant, 0.02, period=2e-3)
    assert len(log) == 10
    assert np.isclose(plant.time, 0.02)
    other = MujocoSimulator(wbc.load("arm"))
    with pytest.raises(WbcError, match="the plant's"):
        run(controller, other, 0.1)
    for duration in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(WbcError, match="duration"):
            run(controller, plant, duration, period=2e-3)


@pytest.mark.parametrize(("timestep", "period"), [(2e-3, 2e-3), (4e-4, 8e-4), (5e-3, 5e-3), (1e-3, 1e-3), (1e-4, 1e-3)])
def test_a_period_that_nobody_gave_is_that_of_the_plant(timestep: float, period: float) -> None:
    controller, _ = standing("quadruped")
    plant = MujocoSimulator(controller.robot, timestep=timestep)
    seen = []
    log = run(controller, plant, 5 * period, until=lambda now, solution: seen.append(controller.period) or False)
    assert np.allclose(seen, period, rtol=1e-12, atol=0)
    assert np.allclose(np.diff(log.time), period) and controller.period == 1e-3
    posture = wbc.classical.JointPD(controller.robot)
    assert np.allclose(np.diff(run(posture, plant, 3 * period).time), period)


def test_a_fall_and_an_interruption_end_the_run_with_the_log() -> None:
    controller, _ = standing("quadruped")
    plant = MujocoSimulator(controller.robot)
    shove = Push("base", (0.0, 2000.0, 0.0), 0.05, 0.3)
    log = run(controller, plant, 3.0, disturbances=[shove])
    assert log.ended == "fell"
    assert 50 < len(log) < 2900

    def stop(now: float, _: wbc.Controller) -> None:
        if now > 0.05:
            os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C

    controller.reset()
    plant.reset()
    # a process that a shell has started in the background ignores Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        log = run(controller, plant, 1.0, targets=stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert log.ended == "interrupted"
    assert 50 <= len(log) <= 53
    plant.reset()
    controller.reset()
    assert run(controller, plant, 1.0, until=lambda now, solution: now > 0.02).ended == "stopped"


def test_an_ik_target_is_followed() -> None:
    """The base goes up and down by 3 cm at 0.5 Hz; it is where it should be to a few millimetres."""
    controller, _ = standing("quadruped")
    start = np.array(controller.robot.model.nominal)

    def wave(t: float):
        T = np.eye(4)
        T[:3, 3] = start[:3]
        w = 2 * np.pi * 0.5
        T[2, 3] += 0.03 * (1 - np.cos(w * t)) / -2
        rate, acceleration = np.zeros(6), np.zeros(6)
        rate[2], acceleration[2] = -0.015 * w * np.sin(w * t), -0.015 * w * w * np.cos(w * t)
        return T, rate, acceleration

    base = controller.stack["base"]
    assert isinstance(base, tasks.EndEffectorAcceleration)
    base.target = wave
    log = run(controller, MujocoSimulator(controller.robot), 4.0)
    wanted = np.array([wave(t)[0][2, 3] for t in log.time])
    assert np.abs(log.q[:, 2] - wanted).max() < 4e-3
    assert log.ended == "finished"


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_a_robot_touches_the_floor_and_never_itself(name: str) -> None:
    """Neighbouring parts overlap by design, and legs may cross."""
    robot, rng = wbc.load(name, "numpy"), np.random.default_rng(0)
    plant = MujocoSimulator(robot)
    model, data = plant.mj_model, plant.mj_data
    for height, touches in ((5.0, False), (0.0, True)):
        seen = 0
        for _ in range(30):
            q = robot.random(rng)
            q[:3] = 0.0, 0.0, height
            plant.reset(q)
            mujoco.mj_forward(model, data)
            seen += data.ncon
            for contact in data.contact[: data.ncon]:
                assert "floor" in (model.geom(contact.geom1).name, model.geom(contact.geom2).name)
        assert bool(seen) == touches
