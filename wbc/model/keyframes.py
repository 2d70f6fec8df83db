"""Keyframes of an MJCF description that loses joints and actuators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_POSITIONS, _VELOCITIES = (7, 4, 1, 1), (6, 3, 1, 1)
"""How many entries of q and of v a joint has, by MuJoCo's kinds: free, ball, slide, hinge."""


def trim_keys(spec: Any, m: Any, joints: Iterable[int], actuators: Iterable[int]) -> None:  # noqa: ANN401
    """Takes the entries of joints and actuators out of keyframes. MuJoCo before 4.0 does not do so by itself.

    Args:
        spec: without them; changed.
        m: the model with them.
        joints: their numbers.
        actuators: their numbers, without activations of their own.
    """
    kinds = [(int(number), int(m.jnt_type[number])) for number in joints]
    for name, size, gone in (
        ("qpos", m.nq, [m.jnt_qposadr[number] + k for number, kind in kinds for k in range(_POSITIONS[kind])]),
        ("qvel", m.nv, [m.jnt_dofadr[number] + k for number, kind in kinds for k in range(_VELOCITIES[kind])]),
        ("ctrl", m.nu, list(actuators)),
    ):
        for key in spec.keys if gone else ():
            values = np.array(list(getattr(key, name)))
            if len(values) == size:  # MuJoCo 4.0 has emptied it, and fills it when it compiles
                setattr(key, name, np.delete(values, gone))
