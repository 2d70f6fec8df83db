"""Parts of a MuJoCo model that are inside of each other in its posture, so that their contacts push them apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.model.findings import Findings
from wbc.model.mujoco_actuators import mujoco

OVERLAPS = "overlaps"
"""What `wbc.load` is told to ignore: contacts of parts that overlap in the posture of their file."""

DEEP = 1e-3
"""Parts overlap whose contact is deeper than this, m; pads of a closed gripper touch."""


def kept_off(m: Any, q: Array) -> float:  # noqa: ANN401
    """How far the ground keeps a robot off that touches it, m: the margins of geoms, within which contacts carry.

    Args:
        m: the `mujoco.MjModel`.
        q: a configuration in which the robot touches the ground, shape (nq,).
    """
    d = _collided(m, q)
    geoms = np.asarray(d.contact.geom).reshape(-1, 2)
    ground = (geoms >= 0).all(axis=1) & (m.body_weldid[m.geom_bodyid[geoms]] == 0).any(axis=1)
    return float(np.asarray(d.contact.includemargin)[ground].min(initial=np.inf)) if ground.any() else 0.0


def _collided(m: Any, q: Array) -> Any:  # noqa: ANN401
    """MuJoCo's data in a configuration, with its contacts."""
    d = mujoco.MjData(m)
    d.qpos[:] = q
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_collision(m, d)
    return d


def overlapping(m: Any, q: Array) -> dict[tuple[int, int], float]:  # noqa: ANN401  mujoco has no types
    """The pairs of bodies of one robot that are inside of each other, and how deep, m.

    Args:
        m: the `mujoco.MjModel`.
        q: the configuration, shape (nq,).
    """
    d = _collided(m, q)
    found: dict[tuple[int, int], float] = {}
    for geoms, distance in zip(d.contact.geom, d.contact.dist, strict=True):
        if min(geoms) < 0:
            continue  # of a flexible body
        a, b = sorted(int(m.geom_bodyid[geom]) for geom in geoms)
        if a and m.body_rootid[a] == m.body_rootid[b] and distance < -DEEP:
            found[a, b] = max(found.get((a, b), 0.0), -float(distance))
    return found


def tell(m: Any, pairs: Mapping[tuple[int, int], float], found: Findings, left_out: bool) -> None:  # noqa: ANN401
    """Warns of parts that overlap.

    Args:
        m: the model.
        pairs: of `overlapping`.
        found: where to note it.
        left_out: whether their contacts are left out.
    """
    what = "parts overlap in the file's posture, and their contacts "
    what += (
        f'are left out (ignore=["{OVERLAPS}"])' if left_out else f'push them: ignore=["{OVERLAPS}"] leaves these out'
    )
    for (a, b), depth in pairs.items():
        names = (m.body(number).name or f"body_{number}" for number in (a, b))
        found.warn(what, f"{' and '.join(names)} by {1e3 * depth:.2g} mm")


def without(spec: Any, m: Any, pairs: Mapping[tuple[int, int], float]) -> Any:  # noqa: ANN401
    """The model without the contacts of pairs of bodies.

    Args:
        spec: that the model was compiled from.
        m: the model.
        pairs: of bodies.
    """
    named = {body.id: body for body in spec.bodies}
    taken = {body.name for body in spec.bodies}
    for pair in pairs:
        for number in pair:
            if not named[number].name:
                name = f"body_{number}"
                while name in taken:
                    name += "_"
                taken.add(name)
                named[number].name = name
        spec.add_exclude(bodyname1=named[pair[0]].name, bodyname2=named[pair[1]].name)
    return spec.compile()
