"""Wheels for MuJoCo: one smooth shape for each, that touches the floor where the wheel does.

A cylinder on a plane touches at up to four points that come and go as it turns. An ellipsoid, a ball and a short
capsule touch at one, and roll evenly.

- A tyre is an ellipsoid. With the half-axis √(crown · radius) along the axle, its lowest point is that of the tyre up
  to the second order in the lean.
- A castor is a ball without friction.
- A wheel with rollers is a capsule, hardly longer than a ball: MuJoCo lays the first tangent of its contacts along the
  capsule's axis, so each direction can have its own friction. That is enough for omni wheels, whose rollers hold across
  the axle. Directions that turn with the wheel, as a mecanum wheel's, can't be had in this way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from wbc.errors import WbcError
from wbc.geometry import quaternion
from wbc.model.parts import plane_axes
from wbc.model.tree import Tree

FREE = 1e-4
"""The coefficient of friction along what is free."""

THINNEST = 0.1
"""The least half-axis of an ellipsoid, as a share of the wheel's radius."""


def add_wheels(
    spec: Any,  # noqa: ANN401  mujoco is not typed for a strict checker
    bodies: Sequence[Any],
    tree: Tree,
    friction: float,
    stiffness: tuple[float, float],
) -> None:
    """Adds the wheels that a model declares; they touch the geom "floor" only.

    Args:
        spec: MuJoCo's, with the floor.
        bodies: its bodies, by the nodes of the tree.
        tree: of the robot.
        friction: of the floor.
        stiffness: of the contact, MuJoCo's `solref`.
    """
    kinds = mujoco.mjtGeom
    if any(wheel.rollers is not None for wheel in tree.model.wheels.values()):
        # where friction differs so much by direction, MuJoCo's usual tolerances let a wheel slip now and then
        spec.option.tolerance, spec.option.ls_tolerance, spec.option.ls_iterations = 1e-14, 1e-4, 200
    for frame, wheel in tree.model.wheels.items():
        node, pose = tree.place(frame)
        radius, name = wheel.radius, f"wheel {frame}"
        if wheel.castor:
            kind, size, sliding = kinds.mjGEOM_SPHERE, [max(radius, 1e-4), 0.0, 0.0], (FREE, FREE)
        elif wheel.rollers is None:
            across = max(math.sqrt(wheel.crown * radius), THINNEST * radius)
            kind, size, sliding = kinds.mjGEOM_ELLIPSOID, [radius, radius, across], (friction, friction)
        elif abs(math.sin(wheel.rollers)) < 1e-9:
            kind, size, sliding = kinds.mjGEOM_CAPSULE, [radius, 1e-4 * radius, 0.0], (FREE, friction)
        else:
            raise WbcError(
                f"wheel {frame!r}: MuJoCo has no contact for rollers at {wheel.rollers:g} rad, only for those of an "
                "omni wheel, at 0: take wbc.Simulator, or a MuJoCo model with bodies for the rollers"
            )
        first, second = plane_axes(wheel.axle)
        geom = bodies[node].add_geom(type=kind, size=size, name=name)
        geom.pos = pose[:3, 3]
        geom.quat = quaternion.from_matrix(pose[:3, :3] @ np.column_stack([first, second, wheel.axle]))
        geom.mass, geom.group, geom.contype, geom.conaffinity = 0.0, 3, 0, 0  # it touches by the pair below
        pair = spec.add_pair(geomname1="floor", geomname2=name)
        pair.condim, pair.friction = 3, [*sliding, 0.005, 1e-4, 1e-4]
        pair.solref = stiffness
