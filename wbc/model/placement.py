"""The pose that a URDF element gives in its `<origin>`."""

from __future__ import annotations

import numpy as np

from wbc.arrays import Array
from wbc.geometry import euler
from wbc.model.markup import Element, numbers


def origin(element: Element) -> Array:
    """The pose in an element's `<origin>`: translation and roll, pitch, yaw about fixed axes. Shape (4, 4)."""
    pose = np.eye(4)
    found = element.first("origin")
    if found is not None:
        pose[:3, 3] = numbers(found, "xyz", 3, (0.0, 0.0, 0.0))
        roll, pitch, yaw = numbers(found, "rpy", 3, (0.0, 0.0, 0.0))
        pose[:3, :3] = euler.to_matrix(np.array([yaw, pitch, roll]), "zyx")
    return pose
