"""Rigid bodies on Lie groups: the dynamics of a single body without a singularity (From).

A body that may move freely has its poses in SE(3), one that turns about a point in SO(3), one that slides on a table in
SE(2), and so on: groups, each given by the twists that it allows (`Group`). From the group and the body's mass follow
inertia, Coriolis matrix and equations of motion (`RigidBody`), and motion in time (`step`, `simulate`), with no angle
anywhere. `boltzmann_hamel` has the general formula behind it, for any coordinates.

A state is a pose T_world_body (4, 4), From's g_0b, and m velocities `v`, those of the body's frame that the group
leaves: H v is the left twist, From's V_0b^B, linear part first both here and there. A robot's base has its linear
velocity in the world instead: `Group.velocity_map` leads to it.
"""

from wbc.liegroups import boltzmann_hamel, extended_pose
from wbc.liegroups.group import GROUPS, Group
from wbc.liegroups.motion import METHODS, Motion, simulate, step
from wbc.liegroups.rigid_body import RigidBody

__all__ = ["GROUPS", "METHODS", "Group", "Motion", "RigidBody", "boltzmann_hamel", "extended_pose", "simulate", "step"]
