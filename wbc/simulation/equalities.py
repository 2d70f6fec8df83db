"""Closed loops of a robot of ours as equality constraints of MuJoCo's."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from wbc.errors import WbcError
from wbc.geometry import quaternion
from wbc.model.loops import LOOP_AXES, JointCoupling, LoopClosure
from wbc.model.tree import Tree

STIFF = (2e-3, 1.0)
"""Time constant, s, and damping ratio of a loop (MuJoCo's `solref`): two steps of a millisecond are the shortest."""

HARD = (0.99, 0.999, 0.001, 0.5, 2.0)
"""MuJoCo's `solimp`: how little a loop gives way."""

TORQUE_SCALE = 10
"""Where MuJoCo keeps how much the rotation of a weld counts beside its position."""

MOST_COEFFICIENTS = 5
"""MuJoCo's polynomials have no more."""


def add_equalities(spec: Any, tree: Tree, bodies: list[Any]) -> None:  # noqa: ANN401  mujoco has no types
    """Closes the loops of a robot that `robot_spec` has described.

    Args:
        spec: the description.
        tree: the robot.
        bodies: of the description, one for each node.

    Raises:
        WbcError: MuJoCo has nothing like one of them.
    """
    for loop in tree.model.loops:
        equality = (
            _coupling(spec, tree, loop) if isinstance(loop, JointCoupling) else _closure(spec, tree, bodies, loop)
        )
        equality.name, equality.active = loop.name, True
        equality.solref, equality.solimp = STIFF, HARD


def _closure(spec: Any, tree: Tree, bodies: list[Any], loop: LoopClosure) -> Any:  # noqa: ANN401
    if loop.held not in (LOOP_AXES, LOOP_AXES[:3]):
        raise WbcError(
            f"loop {loop.name!r} holds {', '.join(loop.held)}; MuJoCo can hold all positions, or all positions and "
            "rotations; wbc.Simulator can hold any"
        )
    sites = []
    for frame, at in zip((loop.a, loop.b), loop.poses, strict=True):
        node, pose = tree.place(frame)
        held = pose @ at
        quat = quaternion.from_matrix(held[:3, :3])
        sites.append(bodies[node].add_site(name=f"{frame} in {loop.name}", pos=held[:3, 3], quat=quat, group=4).name)
    welded = len(loop.held) == len(LOOP_AXES)
    kind = mujoco.mjtEq.mjEQ_WELD if welded else mujoco.mjtEq.mjEQ_CONNECT
    equality = spec.add_equality(type=kind, name1=sites[0], name2=sites[1])
    equality.objtype = mujoco.mjtObj.mjOBJ_SITE
    if welded:
        data = np.zeros(len(equality.data))
        data[TORQUE_SCALE] = 1.0
        equality.data = data
    return equality


def _coupling(spec: Any, tree: Tree, loop: JointCoupling) -> Any:  # noqa: ANN401
    if len(loop.polynomial) > MOST_COEFFICIENTS:
        raise WbcError(f"coupling {loop.name!r}: MuJoCo's polynomials have at most {MOST_COEFFICIENTS} coefficients")
    names = []
    for side, coefficients in (("left", loop.joints), ("right", loop.follows)):
        if not coefficients:
            continue
        tendon = spec.add_tendon(name=f"{side} of {loop.name}")
        names.append(tendon.name)
        for joint, coefficient in coefficients.items():
            tendon.wrap_joint(f"velocity {tree.model.v_index[joint]}", coefficient)
    equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_TENDON, name1=names[0], name2=names[1] if names[1:] else "")
    equality.objtype = mujoco.mjtObj.mjOBJ_TENDON
    data = np.zeros(len(equality.data))
    data[: len(loop.polynomial)] = loop.polynomial
    equality.data = data
    return equality
