"""Collision shapes of a robot and its surroundings, the pairs of them that can meet, and their distances.

`CollisionGeometry` has the shapes and pairs of a robot; `tasks.CollisionAvoidance` keeps them apart.
"""

from wbc.collision.engine import Engine, Witnesses
from wbc.collision.geometry import CollisionGeometry
from wbc.collision.proximity import Horizon, Proximity, Rates
from wbc.collision.solid import Solid

__all__ = ["CollisionGeometry", "Engine", "Horizon", "Proximity", "Rates", "Solid", "Witnesses"]
