"""Actuators that are not joint motors, in MuJoCo: their description and their controls."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from wbc.arrays import Array, IntArray
from wbc.errors import WbcError
from wbc.geometry import quaternion
from wbc.model.actuators import Actuator
from wbc.model.model import Model
from wbc.model.mujoco_actuators import Drive
from wbc.model.tree import Tree


class Others:
    """The actuators behind the motors in τ, as motors of MuJoCo's that are told their force.

    Args:
        drives: they, in the order of the model's.
        start: where they begin in τ.
    """

    def __init__(self, drives: list[Drive], start: int) -> None:
        self._torques = slice(start, start + len(drives))
        self._controls: IntArray = np.array([drive.control for drive in drives], dtype=np.intp)
        self._low, self._high = np.array([drive.reach() for drive in drives]).reshape(-1, 2).T
        for drive in drives:
            if drive.late:
                raise WbcError(f"actuator {drive.name!r} answers late, and is not the motor of a joint: not simulated")

    def control(self, d: Any, torque: Array) -> None:  # noqa: ANN401  mujoco has no types
        """Sets the controls; writes what is delivered over what is asked for."""
        given = np.clip(torque[self._torques], self._low, self._high)
        d.ctrl[self._controls] = given
        torque[self._torques] = given


def add_actuators(spec: Any, tree: Tree, bodies: list[Any]) -> None:  # noqa: ANN401
    """The actuators of a robot that `robot_spec` has described.

    Args:
        spec: the description.
        tree: the robot.
        bodies: of the description, one for each node.
    """
    model = tree.model
    for actuator in model.actuators:
        motor = spec.add_actuator(name=actuator.name)
        motor.gainprm[0] = 1.0
        low, high = max(actuator.lowest, -UNLIMITED), min(actuator.effort, UNLIMITED)
        motor.ctrllimited, motor.ctrlrange = True, [low, high]
        if actuator.frame:
            _push(motor, tree, bodies, actuator)
        else:
            _pull(spec, motor, model, actuator)


UNLIMITED = 1e9
"""A force that is as good as none, N or N m: MuJoCo has no control that is limited on one side alone."""


def _push(motor: Any, tree: Tree, bodies: list[Any], actuator: Actuator) -> None:  # noqa: ANN401
    """A thruster at a site, against another one."""
    if actuator.acts:
        raise WbcError(f"actuator {actuator.name!r} acts on joints and on a frame; MuJoCo's act on one of them")
    names = []
    for end in filter(None, (actuator.frame, actuator.against)):
        node, pose = tree.place(end)
        quat = quaternion.from_matrix(pose[:3, :3])
        site = bodies[node].add_site(name=f"{end} of {actuator.name}", pos=pose[:3, 3], quat=quat, group=4)
        names.append(site.name)
    motor.trntype, motor.target, motor.gear = mujoco.mjtTrn.mjTRN_SITE, names[0], actuator.unit
    if actuator.against:
        motor.refsite = names[1]


def _pull(spec: Any, motor: Any, model: Model, actuator: Actuator) -> None:  # noqa: ANN401
    """A tendon on joints; a joint with several coordinates by itself."""
    joints = {name: model.joints[name] for name in actuator.acts}
    if all(joint.nv == 1 for joint in joints.values()):
        tendon = spec.add_tendon(name=f"tendon of {actuator.name}")
        for name, rate in actuator.acts.items():
            tendon.wrap_joint(f"velocity {model.v_index[name]}", float(rate[0]))
        motor.trntype, motor.target = mujoco.mjtTrn.mjTRN_TENDON, tendon.name
        return
    (name, joint), *more = joints.items()
    if more or joint.kind != "spherical":
        raise WbcError(f"actuator {actuator.name!r} acts on joints in a way that MuJoCo's actuators don't")
    motor.trntype, motor.target = mujoco.mjtTrn.mjTRN_JOINT, f"velocity {model.v_index[name]}"
    motor.gear = np.append(actuator.acts[name], np.zeros(3))
