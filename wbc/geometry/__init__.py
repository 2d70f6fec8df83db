"""Rotations, poses, twists, wrenches and inertias: pure functions on arrays.

Every function takes what numpy turns into an array and returns a new array. Leading dimensions are a batch: where one
vector is (3,), a thousand are (1000, 3). A wrong shape is a `WbcError`.

Rotations
    `so3` has the group of rotation matrices: exp, log, ⊞, ⊟, interpolation, the Jacobian of exp. Each parameterisation
    has a module with `to_matrix`, `from_matrix`, `rates_to_angular_velocity` (the map E) and
    `angular_velocity_to_rates` (its inverse): `quaternion`, `angle_axis`, `rotation_vector`, `euler`; the last two
    have the rate of E as well. `convert` takes any to any other.
Positions
    `position`: cylindrical and spherical coordinates.
Rigid bodies
    `pose` (4×4), `twist`, `wrench` and `acceleration` (linear, then angular) in the left, right and mixed
    representation, `inertia` (6×6).

`R_a_b` and `T_a_b` map coordinates in b to coordinates in a; quaternions are (w, x, y, z); angles are in radians.
At a singularity nothing is NaN: a conversion returns one of the answers (its docstring says which), a map to rates
the pseudo-inverse.
"""

from typing import TYPE_CHECKING

from wbc.geometry import angle_axis, euler, quaternion, rotation_vector, so3
from wbc.geometry.convert import convert
from wbc.geometry.so3 import exp, log, skew
from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.geometry import acceleration, inertia, pose, position, twist, wrench

__all__ = [
    "acceleration",
    "angle_axis",
    "convert",
    "euler",
    "exp",
    "inertia",
    "log",
    "pose",
    "position",
    "quaternion",
    "rotation_vector",
    "skew",
    "so3",
    "twist",
    "wrench",
]

# what a controller has no use for
__getattr__ = lazy(__name__, {}, modules=("acceleration", "inertia", "pose", "position", "twist", "wrench"))
