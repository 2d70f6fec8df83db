"""Ready-made stacks, by the kind of robot. They are meant to be read, and to be copied if yours must differ.

Gains follow from how fast a robot falls: a pendulum of height h falls at the rate √(g/h). Balancing tasks are a few
times faster, and always slow enough for the control period.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

import tasks
from tasks.limbs import axes_held, way
from wbc.arrays import Array
from wbc.contacts import Contact, PointContact, SurfaceContact
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, show, unknown_name
from wbc.model.loops import tied_joints
from wbc.tasking.gains import Gains
from wbc.tasking.levels import Levels
from wbc.tasking.task import Task

TURNING, POSTURES = 0.08, 100
"""A hand is held in all six axes where in one of so many postures its arm moves it along the worst of them by this
share of what it does along the best, turns counted at the end of its best lever: a thumb of six joints can't."""

PERIODS = 20.0
"""Control periods that the fastest gain leaves for one swing of an error."""

GREATEST = 5e3
"""Acceleration that limits of an arm's joints leave to a light wrist, rad/s²."""


def standing(robot: Dynamics, friction: float = 0.6, period: float = 1e-3) -> Stack:
    """A stack with which a robot stands, or holds its arm: made by `quadruped`, `humanoid`, `arm` or `holding`.

    The task that moves it is called "base", "center of mass", or as the hand.

    Args:
        robot: of `wbc.load`.
        friction: of its feet with the ground.
        period: of the control, s.
    """
    if not isinstance(robot, Dynamics):
        raise WbcError(f"a stack needs a robot of wbc.load, not {show(robot)}")
    model = robot.model
    if not model.floating:
        return arm(robot, period=period) if model.hands else holding(robot, period)
    if not model.feet:
        raise _footless(robot)
    return quadruped(robot, friction, period) if _legs(robot) > 2 else humanoid(robot, friction, period)


def reaching(robot: Dynamics, hand: str | None = None, friction: float = 0.6, period: float = 1e-3) -> Stack:
    """A stack with which a robot reaches with a hand; a robot with legs stands meanwhile.

    The task has the name of the hand; its target is a point or, for an arm of six joints or more that can turn the
    hand, a pose.

    Args:
        robot: of `wbc.load`.
        hand: frame; None: the first of the model's hands.
        friction: of its feet with the ground.
        period: of the control, s.
    """
    hand = _hand(robot, hand)
    if not robot.model.floating:
        return arm(robot, hand, period)
    if not robot.model.feet:
        raise _footless(robot)
    kind = quadruped if _legs(robot) > 2 else humanoid
    return kind(robot, friction, period, hand)


def quadruped(robot: Dynamics, friction: float = 0.6, period: float = 1e-3, hand: str | None = None) -> Stack:
    """A stack for a robot on four or six legs: its base holds its place against pushes.

    Set the target of the task "base" to move it; "posture" resolves the freedom that is left. Least forces stand
    above least torques: with the latter, feet press sideways against each other and creep on soft ground.

    Args:
        robot: with feet.
        friction: of its feet with the ground.
        period: of the control, s.
        hand: frame that reaches below the base; None: none does.
    """
    base = tasks.EndEffectorAcceleration(robot.model.root, gains=Gains(_frequency(robot, 3.0, period)), name="base")
    levels = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones()) / tasks.ContactMotion() / base
    if hand is not None:
        levels = levels / _reach(robot, hand, period)
    posture = tasks.JointAcceleration(_posture(robot), _chosen(robot), Gains(_frequency(robot, 1.5, period)))
    least = tasks.ForceMinimization() / tasks.TorqueMinimization()
    return Stack(levels / posture / least, contacts=feet(robot, friction))


def humanoid(robot: Dynamics, friction: float = 0.6, period: float = 1e-3, hand: str | None = None) -> Stack:
    """A stack for a robot on two legs: its centre of mass stays over the feet, its trunk upright, its arms quiet.

    Quiet arms, and a quiet waist, are above balance: otherwise, when the feet can't do what balance asks, arms, trunk
    and pelvis become reaction wheels and flail. Rates of torque are limited: a push brings soles to their limits, where
    the optimal torques jump.
    A leg with fewer than six joints, such as one whose ankle does not roll, can't hold its foot in all
    six axes: the roll is left to the ground.

    Args:
        robot: with feet.
        friction: of its feet with the ground.
        period: of the control, s.
        hand: frame that reaches below balance, with an arm that is not quiet; None: none does.
    """
    weight, height = 9.81 * robot.mass, _height(robot)
    limits = tasks.TorqueLimits(rate=20.0 * weight * height) + tasks.FrictionCones()
    contact = tasks.ContactMotion(Gains(kp=10.0, kd=20.0), axes=_held_axes(robot))
    com = tasks.CenterOfMass(gains=Gains(_frequency(robot, 2.0, period)))
    trunk = tasks.EndEffectorAcceleration(
        robot.model.root, gains=Gains(_frequency(robot, 3.0, period)), axes="orientation", name="trunk"
    )
    posture = tasks.JointAcceleration(_posture(robot), _chosen(robot), Gains(_frequency(robot, 1.5, period)))

    levels = tasks.EquationOfMotion() / limits / contact
    quiet = _quiet_joints(robot, hand)
    if quiet:
        gains = Gains(_frequency(robot, 2.0, period))
        levels = levels / tasks.JointAcceleration(_posture(robot, quiet), quiet, gains, name="arms")
    levels = levels / (com + trunk)
    if hand is not None:
        levels = levels / _reach(robot, hand, period)
    return Stack(levels / posture / tasks.TorqueMinimization(), contacts=feet(robot, friction))


def arm(robot: Dynamics, hand: str | None = None, period: float = 1e-3) -> Stack:
    """A stack for arms on a fixed base: a hand moves to a pose, or to a point if its arm can't turn it as well.

    Limits of the joints that move a hand stand above it. Those of fingers do not: an arm would shake to keep them. They
    are approached as fast as a hand's error falls: were they softer, a light wrist that is pushed would be held back
    from its brake far from any limit, and the whole arm would swing to make up for it.

    Args:
        robot: with a fixed base.
        hand: frame; None: each of the model's hands.
        period: of the control, s.
    """
    fast = min(8.0, 1.0 / (PERIODS * period))
    hands = robot.model.hands[1:] if hand is None else ()
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits()
    limited = _limited_joints(robot, robot.model.hands if hand is None else (hand,))
    if limited:
        approach = 1.0 / (4.0 * math.pi * fast)  # one over the damping of the hand's gains
        levels = levels / tasks.JointLimits(joints=limited, approach=approach, greatest=GREATEST)
    reach: Task | Levels = _arm(robot, _hand(robot, hand), fast)
    for other in hands:
        reach = reach + _arm(robot, other, fast)
    # a soft posture: what it demands is what a hand near a singularity must outweigh
    posture = tasks.JointAcceleration(_posture(robot), _chosen(robot), Gains(fast / 8))
    return Stack(levels / reach / posture / tasks.TorqueMinimization())


def holding(robot: Dynamics, period: float = 1e-3) -> Stack:
    """A stack for a robot on a fixed base that holds its posture.

    Args:
        robot: with a fixed base.
        period: of the control, s.
    """
    fast = min(3.0, 1.0 / (PERIODS * period))
    return Stack(
        tasks.EquationOfMotion()
        / tasks.TorqueLimits()
        / tasks.JointAcceleration(_posture(robot), _chosen(robot), Gains(fast))
        / tasks.TorqueMinimization()
    )


def feet(robot: Dynamics, friction: float = 0.6) -> list[Contact]:
    """The contacts of a robot's feet: soles where its model has them, else points.

    Args:
        robot: of `wbc.load`.
        friction: with the ground.
    """
    soles = robot.model.soles
    return [
        SurfaceContact(foot, friction) if foot in soles else PointContact(foot, friction) for foot in robot.model.feet
    ]


# --- what the stacks above are made from ------------------------------------------------------------------------------


def _footless(robot: Dynamics) -> WbcError:
    wheels = "; tasks.wheels.driving(robot) is a stack for its wheels" if robot.model.wheels else ""
    return WbcError(f"{robot.model.name!r} has no feet to stand on: name them, wbc.load(..., feet=[...]){wheels}")


def _arm(robot: Dynamics, hand: str, fast: float) -> Task:
    axes = "pose" if turns(robot, hand) else "position"
    return tasks.EndEffectorAcceleration(hand, gains=Gains(fast), axes=axes)


def _reach(robot: Dynamics, hand: str, period: float) -> Task:
    return tasks.EndEffectorAcceleration(hand, gains=Gains(_frequency(robot, 2.0, period)), axes="position")


def _height(robot: Dynamics) -> float:
    """Of the centre of mass over the feet in the nominal posture, m."""
    posed = robot.copy()
    posed.update(robot.model.nominal)
    return float(max(posed.com[2] - min(posed.pose(foot)[2, 3] for foot in robot.model.feet), 0.05))


def _frequency(robot: Dynamics, faster: float, period: float) -> float:
    """A multiple of the rate of falling, in Hz, as far as the control period allows."""
    falling = math.sqrt(9.81 / _height(robot)) / (2 * math.pi)
    return min(faster * falling, 1.0 / (PERIODS * number(period, "period, s,", above=True)))


def _posture(robot: Dynamics, names: Iterable[str] | None = None) -> Array:
    """The nominal positions of joints: of those that are driven, or of those that are named."""
    model = robot.model
    if names is None:
        names = [joint.name for joint in model.joints.values() if joint.nv == 1 and model.drives(joint.name)]
    return np.array([model.nominal[model.q_index[name]] for name in names])


def _chosen(robot: Dynamics) -> list[str] | None:
    """The driven joints of a posture by name, where some others that are driven have several coordinates; else None."""
    driven = [joint for joint in robot.model.joints.values() if robot.model.drives(joint.name)]
    scalar = [joint.name for joint in driven if joint.nv == 1]
    return None if len(scalar) == len(driven) else scalar


def _legs(robot: Dynamics) -> int:
    """Legs: feet at the same end of a limb count once."""
    return len({tuple(way(robot, foot)) for foot in robot.model.feet})


def _limited_joints(robot: Dynamics, hands: Iterable[str]) -> list[str]:
    """The driven joints with limits that move hands."""
    model = robot.model
    moving = {name for hand in hands for name in way(robot, hand) if model.drives(name)}
    return [joint.name for joint in model.joints.values() if joint.name in moving and joint.limited]


def turns(robot: Dynamics, hand: str) -> bool:
    """Whether an arm can turn its hand whatever place it holds it at: six joints, and room for them to do so.

    Args:
        robot: of `wbc.load`.
        hand: frame.
    """
    model, posed, rng = robot.model, robot.copy(), np.random.default_rng(0)
    joints = [model.joints[name] for name in way(robot, hand) if model.drives(name) and model.joints[name].nv == 1]
    if len(joints) < 6:
        return False
    at, columns = ([index[joint.name] for joint in joints] for index in (model.q_index, model.v_index))
    low = np.array([max(joint.lower, -math.pi) for joint in joints])
    high = np.array([min(joint.upper, math.pi) for joint in joints])
    q = model.nominal.copy()
    for posture in range(POSTURES):
        q[at] = rng.uniform(low, high) if posture else q[at]
        posed.update(q)
        if turning(posed.jacobian(hand)[:, columns]) >= TURNING:
            return True
    return False


def turning(J: Array) -> float:
    """What a hand moves by in the worst of its six directions, as a share of the best; turns at its best lever's end.

    Args:
        J: Jacobian of the hand for the joints that move it, linear rows first, shape (6, n); n is 6 or more.
    """
    scaled = J.copy()
    scaled[3:] *= np.linalg.norm(J[:3], 2)
    size = np.linalg.svd(scaled)[1]
    return float(size[5] / (size[0] or 1.0))  # nothing moves a hand on all of its axes


def _held_axes(robot: Dynamics) -> dict[str, tuple[str, ...]]:
    """The axes in which each sole is held: see `tasks.limbs.axes_held`."""
    held = axes_held(robot, robot.model.feet)
    return {foot: held[foot] for foot in robot.model.soles}


def _quiet_joints(robot: Dynamics, hand: str | None) -> list[str]:
    """The joints with motors that move no foot, or all feet alike, and not the hand that reaches.

    A waist below the trunk is no leg's: at the limits of the soles it would swing the pelvis to hold the balance.
    """
    legs = {frozenset(way(robot, foot)) for foot in robot.model.feet}
    waist = frozenset[str].intersection(*legs) if len(legs) > 1 else frozenset[str]()
    busy = set[str]().union(*legs) - waist
    if hand is not None:
        busy |= set(way(robot, hand))
    model = robot.model
    for tied in tied_joints(model):  # a motor beside the hip that turns it through gears is the leg's
        busy |= tied if tied & busy else set()
    return [name for name, joint in model.joints.items() if joint.nv == 1 and model.drives(name) and name not in busy]


def _hand(robot: Dynamics, hand: str | None) -> str:
    if hand is not None:
        if hand not in robot.frames:
            raise unknown_name("frame", hand, robot.frames)
        return hand
    if not robot.model.hands:
        raise WbcError(f"{robot.model.name!r} has no hand: name a frame, hand=..., or wbc.load(..., hands=[...])")
    return robot.model.hands[0]
