"""A ready-made stack for a robot on wheels: it drives as it is told, and holds its joints beside."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tasks.base_velocity import PLANAR, BaseVelocity
from tasks.contacts import ContactMotion, ForceMinimization, FrictionCones
from tasks.joints import JointAcceleration, TorqueMinimization
from tasks.limits import TorqueLimits
from wbc.arrays import Array, ArrayLike
from wbc.contacts import RollingContact
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show
from wbc.tasking.gains import Gains

SHARE = 1e-6
"""A base moves along an axis if it can by more than this, where what it can do at all is one."""


def driving(
    robot: Dynamics,
    target: ArrayLike = (0.0, 0.0, 0.0),
    friction: float = 0.6,
    *,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    gain: float = 10.0,
    greatest: float = 3.0,
    base: str | None = None,
) -> Stack:
    """A stack that drives a robot on the wheels that its model declares.

    Its task "base velocity" is told how fast to go, in the axes that the wheels allow (see `drivable_axes`): set
    `stack["base velocity"].target` to (forward, left, turning to the left), m/s and rad/s, at any time, or to a
    function of time. Joints that drive no wheel hold the posture of the first tick.

    Args:
        robot: with wheels.
        target: what to begin with.
        friction: coefficient of Coulomb friction of the wheels.
        normal: of the ground, world axes.
        gain: of the velocity, 1/s.
        greatest: acceleration, m/s² and rad/s².
        base: name of the frame that is steered; None: the root of the model.
    """
    if not isinstance(robot, Dynamics):
        raise WbcError(f"driving needs a robot of wbc.load, not {show(robot)}")
    if not robot.model.wheels:
        raise WbcError(
            f"{robot.model.name!r} declares no wheels: name them in the file, <wbc><wheel link=... radius=.../></wbc>, "
            "or make a stack of your own with wbc.RollingContact(frame, wheel=wbc.Wheel(radius))"
        )
    frame = robot.model.root if base is None else base
    wheels = [RollingContact(wheel, friction, normal=normal) for wheel in robot.model.wheels]
    drive = BaseVelocity(frame, target, gain, axes=drivable_axes(robot, frame), greatest=greatest, normal=normal)
    limits = TorqueLimits() + FrictionCones() + ContactMotion(Gains(kp=0.0, kd=2.0))
    levels = EquationOfMotion() / limits / drive
    held = [robot.model.joints[name] for name in robot.joint_names]
    turning = wheel_joints(robot)
    names = [joint.name for joint in held if joint.actuated and joint.nv == 1 and joint.name not in turning]
    if names:
        levels = levels / JointAcceleration(joints=names, gains=Gains(3.0))
    return Stack(levels / (TorqueMinimization() + ForceMinimization(weight=1e-4)), wheels)


def wheel_joints(robot: Dynamics) -> tuple[str, ...]:
    """The joints that turn a wheel about its axle.

    Args:
        robot: with wheels.
    """
    model, found = robot.model, []
    for frame, wheel in model.wheels.items():
        body = model.frames[frame].body if frame in model.frames else frame
        while (joint := next((joint for joint in model.joints.values() if joint.child == body), None)) is not None:
            if joint.kind != "fixed":
                break
            body = joint.parent
        if joint is not None and joint.kind in ("revolute", "continuous") and not wheel.castor:
            found.append(joint.name)
    return tuple(found)


def drivable_axes(robot: Dynamics, frame: str | None = None) -> tuple[str, ...]:
    """Those of "x", "y", "rz" in which a robot can be driven by its wheels alone, in its nominal configuration.

    Two wheels on one axle drive forward and turn; omni wheels drive in all directions; four parallel wheels drive
    forward: they turn only where they slip, or step.

    Args:
        robot: with wheels.
        frame: of the base; None: the root of the model.
    """
    model = robot.model
    posed = robot.copy()
    posed.update(model.nominal, np.zeros(model.nv))
    columns = [*range(6 if model.floating else 0), *(model.v_index[name] for name in wheel_joints(robot))]
    held = []
    for wheel in model.wheels:
        contact = RollingContact(wheel)
        contact.fit(posed)
        held.append(contact.motion(posed)[0][:, columns])
    free = scipy.linalg.null_space(np.vstack(held), rcond=1e-9)
    task = BaseVelocity(model.root if frame is None else frame)
    moved: Array = (task._heading(posed)[0] @ posed.jacobian(task.frame)[:, columns]) @ free
    # an axis can be told by itself where the unit vector of it is among what the base can do
    basis = scipy.linalg.orth(moved, rcond=1e-9) if moved.size else np.zeros((3, 0))
    return tuple(axis for axis, row in zip(PLANAR, basis, strict=True) if abs(row @ row - 1.0) < SHARE)
