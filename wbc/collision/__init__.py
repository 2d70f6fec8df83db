"""Bodies that meet: collision shapes of a robot and its world, the pairs that can meet, and the distances of these.

`CollisionGeometry` has the shapes and pairs of a robot; `tasks.CollisionAvoidance` keeps them apart.
"""

from wbc.collision.engine import Engine, Witnesses
from wbc.collision.geometry import CollisionGeometry
from wbc.collision.proximity import Horizon, Proximity, Rates
from wbc.collision.solid import Solid

__all__ = ["CollisionGeometry", "Engine", "Horizon", "Proximity", "Rates", "Solid", "Witnesses"]
