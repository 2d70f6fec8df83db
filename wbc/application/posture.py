"""Where an arm is tried from: the posture of its file, or one near it in which its hands can move."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tasks import stacks
from tasks.limbs import way
from wbc import simulation
from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.model.model import Model

ROOM = 0.05
"""Share of a joint's range that it should have to either side."""

INNER = 0.2
"""Share of its range that a joint gets to either side where its posture is changed."""

CLEAR = 0.12
"""What a hand moves by in its worst direction, as a share of its best, where it can go round a loop."""

FLAT, POSTURES = 1e-3, 8
"""A hand that moves across a plane by less than this share of what it moves by in it, in each of so many postures,
stays in it."""

SPENT = 0.6
"""Share of what a motor gives that the weight may take."""

SAMPLES = 600
"""Postures that are looked at."""


def ready(robot: Dynamics) -> dict[str, float] | None:
    """Positions of the joints that move the hands, near those of the file, from which the hands can move.

    Those of the file are kept where the hands can move and nothing touches: arms that are folded rub on themselves.

    Args:
        robot: with hands and a fixed base.

    Returns:
        By joint, rad or m; None: those of the file are as good, or none was found.
    """
    model, posed, plant = robot.model, robot.copy(), plant_of(robot)
    q, moved = np.array(model.nominal), list[str]()
    for hand in model.hands:
        joints, turned = moving_joints(robot, hand), stacks.turns(robot, hand)
        found = _moved(posed, q, hand, joints, turned, plant)
        if found is not None:
            q, moved = found, moved + joints
    return {name: float(q[model.q_index[name]]) for name in model.joints if name in moved} or None


def _moved(
    posed: Dynamics, q: Array, hand: str, joints: list[str], turns: bool, plant: simulation.MujocoSimulator | None
) -> Array | None:
    """A configuration near one in which a hand can move and least touches; None: that one is as good.

    Where there is none, the joints are taken into their limits.
    """
    model = posed.model
    ways = freedom(posed, hand, joints)
    before, fits = touching(plant, q), _fits(posed, q, hand, joints, ways, turns)
    if fits and not before:
        return None
    at, (low, high) = [model.q_index[name] for name in joints], _ends(model, joints)
    span, rng, tried = high - low, np.random.default_rng(0), q.copy()
    home = np.clip(q[at], low + INNER * span, high - INNER * span)
    best, least = None, before if fits else before + 1
    for sample in range(SAMPLES):  # farther and farther away
        away = 0.5 * sample / SAMPLES * span * rng.uniform(-1.0, 1.0, len(at))
        tried[at] = np.clip(home + away, low + INNER * span, high - INNER * span).round(3)
        closed = posed.close_loops(tried) if model.loops else tried
        if not _fits(posed, closed, hand, joints, ways, turns):
            continue
        count = touching(plant, closed)
        if count < least:
            best, least = closed.copy(), count
        if not count:
            break
    if best is None and ((q[at] < low) | (q[at] > high)).any():
        best = q.copy()
        best[at] = home
    return best


def moving_joints(robot: Dynamics, hand: str) -> list[str]:
    """The joints with limits and motors of their own that move a hand: and no other one, such as a waist, if there are
    some.
    """
    model = robot.model
    shared = {name for other in model.hands if other != hand for name in way(robot, other)}
    joints = [name for name in way(robot, hand) if model.joints[name].nq == 1 and model.drives(name)]
    return [name for name in joints if name not in shared] or joints


def _fits(posed: Dynamics, q: Array, hand: str, joints: list[str], ways: int, turns: bool) -> bool:
    """Whether the joints of a hand have room and strength, and it can move in as many directions as it ever can."""
    model = posed.model
    posed.update(q)
    for name in joints:
        joint = model.joints[name]
        room = ROOM * min(joint.upper - joint.lower, 2 * np.pi)
        if not joint.lower + room <= q[model.q_index[name]] <= joint.upper - room:
            return False
    return _carries(posed, joints) and can_move(posed, hand, joints, ways, turns)


def _carries(posed: Dynamics, joints: list[str]) -> bool:
    """Whether the motors of joints carry the weight with something to spare."""
    motors = posed.model.actuated
    own = np.isin(motors, [posed.model.v_index[name] for name in joints])
    limits = posed.limits.effort[: len(motors)][own]
    return bool((np.abs(posed.gravity_force[motors][own]) <= SPENT * limits).all())


def freedom(robot: Dynamics, hand: str, joints: list[str]) -> int:
    """In how many directions joints can move a hand, in the best of some postures: two, if it stays in a plane.

    Args:
        robot: of `wbc.load`.
        hand: frame.
        joints: that move it.
    """
    most, columns = 0, [robot.model.v_index[name] for name in joints]
    for posed in in_postures(robot, joints):
        size = np.linalg.svd(posed.jacobian(hand)[:3, columns])[1]
        most = max(most, int((size > FLAT * size.max(initial=1e-300)).sum()))
    return most


def in_postures(robot: Dynamics, joints: list[str]) -> Iterator[Dynamics]:
    """A copy of a robot in its nominal posture, then in some others, within limits.

    Args:
        robot: of `wbc.load`.
        joints: that are moved.
    """
    model, posed, rng = robot.model, robot.copy(), np.random.default_rng(0)
    at, (low, high) = [model.q_index[name] for name in joints], _ends(model, joints)
    q = np.array(model.nominal)
    for posture in range(POSTURES):
        q[at] = rng.uniform(low, high) if posture else q[at]
        posed.update(q)
        yield posed


def _ends(model: Model, joints: list[str]) -> tuple[Array, Array]:
    """The limits of joints, at most half a turn from zero."""
    low = np.array([max(model.joints[name].lower, -np.pi) for name in joints])
    return low, np.array([min(model.joints[name].upper, np.pi) for name in joints])


def can_move(posed: Dynamics, hand: str, joints: list[str], ways: int, turns: bool, share: float = 1.0) -> bool:
    """Whether a hand can move in as many directions as it ever can.

    Args:
        posed: in a state.
        hand: frame.
        joints: that move it.
        ways: of `freedom`.
        turns: whether it is turned, too, or held from turning.
        share: of what is asked of a posture to begin in.
    """
    J = posed.jacobian(hand)[:, [posed.model.v_index[name] for name in joints]]
    size = np.linalg.svd(J[:3])[1]
    if ways > 1 and size[ways - 1] < share * CLEAR * size[0]:
        return False
    alone = len(joints) > 5  # those of a finger turn it with the wrist's, which are not moved
    return not (turns and alone) or stacks.turning(J) >= share * stacks.TURNING


def plant_of(robot: Dynamics) -> simulation.MujocoSimulator | None:
    """A plant that knows what touches: one of MuJoCo's own model, where the robot has that."""
    return None if robot.model.simulated is None else simulation.MujocoSimulator(robot)


def touching(plant: simulation.MujocoSimulator | None, q: Array) -> int:
    """How many contacts there are in a configuration, where that is known.

    Args:
        plant: whose state is changed; None: nothing is known.
        q: configuration, shape (nq,).
    """
    if plant is None:
        return 0
    plant.reset(q)
    return int(plant.mj_data.ncon)
