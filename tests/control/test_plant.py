"""The controller at 1 kHz against another's physics: MuJoCo with a floor, and somebody who pushes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller

mujoco = pytest.importorskip("mujoco")

PERIOD = 1e-3


def plant(robot: wbc.Dynamics):
    """A packaged robot in MuJoCo, its feet round or with a ball at each corner, a motor at each joint.

    Elliptic cones with a high impratio: MuJoCo's contacts are soft, and with its defaults feet under a tangential load
    creep at centimetres a second, whatever the controller does.
    """
    path = Path(wbc.__file__).parent / "model" / "robots" / f"{robot.model.name}.urdf"
    spec = mujoco.MjSpec.from_file(str(path))
    spec.option.timestep = PERIOD
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    bodies = {body.name: body for body in spec.bodies}
    bodies["base"].add_freejoint()
    touch = {"friction": [0.8, 0.005, 0.0001], "contype": 1, "conaffinity": 1}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10.0, 10.0, 0.1], **touch)
    for foot in robot.model.feet:
        sole, radius = (robot.model.soles[foot], 0.005) if foot in robot.model.soles else (None, 0.025)
        for corner in [(0.0, 0.0, 0.0)] if sole is None else [(x, y, radius) for x, y in sole]:
            ball = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [radius, 0, 0], "pos": corner, "mass": 0.0}
            bodies[foot].add_geom(**ball, **touch)
    for joint in spec.joints:
        if joint.name in robot.joint_names:
            joint.armature = robot.model.armature[robot.model.v_index[joint.name]]
    for name in robot.joint_names:
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gainprm[0] = 1.0
    return spec.compile()


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_it_stands_and_recovers_from_a_push(name: str) -> None:
    robot = wbc.load(name, "pinocchio")
    model = plant(robot)
    assert np.isclose(model.body_mass.sum(), robot.mass)
    data, nominal = mujoco.MjData(model), np.array(robot.model.nominal)
    data.qpos[:] = nominal
    joints = [model.joint(joint) for joint in robot.joint_names]
    assert [joint.qposadr[0] for joint in joints] == [robot.model.q_index[joint] for joint in robot.joint_names]
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    balance, posture = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(3.0)), tasks.JointAcceleration()
    levels = tasks.EquationOfMotion() / limits / balance / posture / tasks.TorqueMinimization()
    ours = controller(robot, wbc.Stack(levels, contacts=contacts(robot)), "hierarchical-qp")
    off = []
    for tick in range(2500):
        solution = ours.step(data.qpos, data.qvel, PERIOD * tick)
        assert solution.status == "optimal"
        data.ctrl[:] = solution.torque
        pushed = 500 <= tick < 700
        data.xfrc_applied[model.body("base").id, 1] = 0.3 * 9.81 * robot.mass if pushed else 0.0
        mujoco.mj_step(model, data)
        off.append(np.abs(data.qpos[:3] - nominal[:3]).max())
    assert max(off[:500]) < 2e-3, "m: standing, the floor gives way a little"
    assert 5e-3 < max(off) < 3e-2, "m: it is pushed, and holds"
    assert off[-1] < 2e-3 and np.abs(data.qvel).max() < 2e-2
