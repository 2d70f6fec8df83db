"""A ready-made stack for a robot on wheels: it drives at a given velocity and holds its other joints."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.linalg

from tasks.base_velocity import PLANAR, BaseVelocity
from tasks.contacts import ContactMotion, FrictionCones
from tasks.forces import ForceMinimization
from tasks.joints import JointAcceleration, TorqueMinimization
from tasks.limits import TorqueLimits
from wbc.arrays import Array, ArrayLike
from wbc.contacts import RollingContact
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show
from wbc.tasking.gains import Gains

LEAST = 1e-6
"""What of an axis must be left, beside those before it, for a base to be driven along it."""


def driving(
    robot: Dynamics,
    target: ArrayLike = (0.0, 0.0, 0.0),
    friction: float = 0.6,
    *,
    wheels: Iterable[RollingContact] | None = None,
    normal: ArrayLike = (0.0, 0.0, 1.0),
    gain: float = 10.0,
    greatest: tuple[float, float] = (3.0, 20.0),
    base: str | None = None,
) -> Stack:
    """A stack that drives a robot on its wheels.

    Its task "base velocity" is told how fast to go, in the axes that the wheels allow (see `drivable_axes`): set
    `stack["base velocity"].target` to (forward, left, turning to the left), m/s and rad/s, at any time, or to a
    function of time. Joints that drive no wheel hold the posture of the first tick.

    Only the velocity of the base is controlled. Effects that are not in the model cost speed in inverse proportion to
    the gain: the scrub of broad tyres in a turn, or a slope that the contacts' normal does not describe, down which the
    base creeps at g sin(angle) / gain.

    Args:
        robot: with wheels.
        target: what to begin with.
        friction: coefficient of Coulomb friction of the wheels, where they are the model's.
        wheels: contacts; None: the wheels that the model declares.
        normal: of the ground, world axes.
        gain: of the velocity, 1/s.
        greatest: acceleration of the base along the ground, m/s², and about its normal, rad/s².
        base: name of the frame that is steered; None: the root of the model.
    """
    if not isinstance(robot, Dynamics):
        raise WbcError(f"driving needs a robot of wbc.load, not {show(robot)}")
    given = None if wheels is None else tuple(wheels)
    contacts = (
        [RollingContact(wheel, friction, normal=normal) for wheel in robot.model.wheels] if given is None else given
    )
    if not contacts:
        raise WbcError(
            f"{robot.model.name!r} declares no wheels: name them in a URDF, <wbc><wheel link=... radius=.../></wbc>, "
            "or give wheels=[wbc.RollingContact(frame), ...]"
        )
    frame = robot.model.root if base is None else base
    axes = drivable_axes(robot, frame, contacts)
    most = [greatest[axis == "rz"] for axis in axes]
    drive = BaseVelocity(frame, target, gain, axes=axes, greatest=most, normal=normal)
    levels = EquationOfMotion() / (TorqueLimits() + FrictionCones()) / ContactMotion(Gains(kp=0.0, kd=2.0)) / drive
    joints, turning = robot.model.joints, wheel_joints(robot, contacts)
    names = [name for name in robot.joint_names if joints[name].actuated and joints[name].nv == 1]
    held = [name for name in names if name not in turning]
    if held:
        levels = levels / JointAcceleration(joints=held, gains=Gains(3.0))
    return Stack(levels / (TorqueMinimization() + ForceMinimization(weight=1e-4)), contacts)


def wheel_joints(robot: Dynamics, wheels: Iterable[RollingContact] | None = None) -> tuple[str, ...]:
    """The joints that turn a wheel about its axle.

    Args:
        robot: with wheels.
        wheels: contacts; None: the wheels that the model declares.
    """
    model, found = robot.model, []
    for contact in _contacts(robot, wheels):
        body = model.frames[contact.frame].body if contact.frame in model.frames else contact.frame
        while (joint := next((joint for joint in model.joints.values() if joint.child == body), None)) is not None:
            if joint.kind != "fixed":
                break
            body = joint.parent
        if joint is not None and joint.kind in ("revolute", "continuous") and not contact.wheel.castor:
            found.append(joint.name)
    return tuple(found)


def drivable_axes(
    robot: Dynamics, frame: str | None = None, wheels: Iterable[RollingContact] | None = None
) -> tuple[str, ...]:
    """Those of "x", "y", "rz" in which a robot can be driven by its wheels alone, in its nominal configuration.

    Two wheels on one axle drive forward and turn; omni wheels drive in all directions; four parallel wheels drive
    forward: they turn only where they slip, or step. Where turning moves the frame sideways, it is turning that counts.

    Args:
        robot: with wheels.
        frame: of the base; None: the root of the model.
        wheels: contacts; None: the wheels that the model declares.
    """
    model, posed = robot.model, robot.copy()
    posed.update(model.nominal, np.zeros(model.nv))
    contacts = _contacts(posed, wheels)
    rolling = [model.v_index[name] for name in wheel_joints(posed, contacts)]
    passive = np.setdiff1d(np.arange(model.nv), model.actuated)  # the base, and what turns freely, as a swivel does
    columns = np.union1d(rolling, passive).astype(np.intp)
    held = np.vstack([contact.motion(posed)[0][:, columns] for contact in contacts])
    task = BaseVelocity(model.root if frame is None else frame)
    moved: Array = task.jacobian(posed)[:, columns] @ scipy.linalg.null_space(held, rcond=1e-9)
    found: list[str] = []
    taken = np.zeros((0, moved.shape[1]))
    for axis in ("x", "rz", "y"):
        row = moved[PLANAR.index(axis)]
        left = row - np.linalg.pinv(taken) @ (taken @ row) if len(taken) else row
        if np.linalg.norm(left) > LEAST:
            found.append(axis)
            taken = np.vstack([taken, left])
    return tuple(axis for axis in PLANAR if axis in found)


def _contacts(robot: Dynamics, wheels: Iterable[RollingContact] | None) -> tuple[RollingContact, ...]:
    """The wheels, knowing their shapes."""
    found = tuple(RollingContact(wheel) for wheel in robot.model.wheels) if wheels is None else tuple(wheels)
    for contact in found:
        if not isinstance(contact, RollingContact):
            raise WbcError(f"wheels must be wbc.RollingContact objects, not {show(contact)}")
        contact.fit(robot)
    return found
