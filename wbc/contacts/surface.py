"""A flat sole that touches: a wrench, or a force at each corner."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from wbc.arrays import Array, ArrayLike, numbers
from wbc.contacts.cone import force_cone, wrench_cone
from wbc.contacts.contact import Contact
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.geometry import so3
from wbc.geometry.pose_error import pose_error


class SurfaceContact(Contact):
    """A flat sole: its centre of pressure stays within its corners, and it neither slides nor tilts nor turns.

    Its normal is in the axes of the frame (z, where none is given). The forces it can exert are those of its corners,
    each with friction: this bounds the centre of pressure to the polygon and the yaw moment as well.

    Args:
        frame: of the robot, on the sole.
        friction: coefficient of Coulomb friction.
        corners: of the sole in the frame, m, shape (n, 2) or (n, 3), n ≥ 3; None: those that the robot's model declares
            for the frame, as soon as a controller or a tick is made with both.
        forces: "wrench": the variables are force and torque at the frame's origin (6); "corners": a force at each
            corner (3 n); world axes. Both allow the same wrenches.
    """

    rows = 6

    def __init__(
        self,
        frame: str,
        friction: float = 0.6,
        corners: ArrayLike | None = None,
        *,
        forces: Literal["wrench", "corners"] = "wrench",
        normal: ArrayLike = (0.0, 0.0, 1.0),
        minimum: float = 0.0,
        maximum: float = math.inf,
        on: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, friction, normal=normal, minimum=minimum, maximum=maximum, on=on, name=name)
        if forces not in ("wrench", "corners"):
            raise WbcError(f"contact {self.name!r}: forces = {show(forces)} must be 'wrench' or 'corners'")
        self.forces = forces
        self._own = corners is None  # the robot's own sole
        self._corners = None if corners is None else self._checked(corners)
        self._cones: dict[int, Array] = {}
        self.grounded, self.posed = on is None, forces == "corners"

    def _checked(self, corners: ArrayLike) -> Array:
        """Corners as a read-only copy, shape (n, 3)."""
        given = numbers(corners, f"contact {self.name!r}: corners")
        if given.ndim != 2 or given.shape[1] not in (2, 3) or len(given) < 3 or not np.isfinite(given).all():
            raise WbcError(
                f"contact {self.name!r}: corners must be three or more points, shape (n, 2) or (n, 3), not "
                f"{given.shape}"
            )
        if given.shape[1] == 2:
            given = np.column_stack([given, np.zeros(len(given))])
        if np.linalg.matrix_rank(given - given[0], tol=1e-6) < 2:
            raise WbcError(f"contact {self.name!r}: its corners lie on a line; they must span a surface")
        given.flags.writeable = False
        return given

    @property
    def corners(self) -> Array:
        """Of the sole in the frame, m, shape (n, 3)."""
        if self._corners is None:
            raise WbcError(
                f"contact {self.name!r} has no corners yet: give corners=, or make a controller or a tick with it and "
                f"a robot whose model declares a sole for {self.frame!r}"
            )
        return self._corners

    @property
    def size(self) -> int:
        """See `Contact`."""
        return 6 if self.forces == "wrench" else 3 * len(self.corners)

    def fit(self, robot: Dynamics) -> None:
        """See `Contact`: the corners of the sole."""
        if not self._own:
            return
        soles = robot.model.soles
        if self.frame not in soles:
            if self.frame not in robot.frames:
                raise WbcError(f"contact {self.name!r}: {unknown_name('frame', self.frame, robot.frames)}")
            raise WbcError(
                f"contact {self.name!r}: the model {robot.model.name!r} declares no sole for {self.frame!r} (soles: "
                f"{', '.join(soles) or 'none'}): give corners=, shape (n, 2) or (n, 3), or take a wbc.PointContact"
            )
        found = self._checked(soles[self.frame])
        if self._corners is not None and not np.array_equal(found, self._corners):
            raise WbcError(f"contact {self.name!r} has the sole of another robot: make one for each robot")
        self._corners = found

    def motion(self, robot: Dynamics) -> tuple[Array, Array]:
        """See `Contact`."""
        return self._against(robot)

    def _grasp(self, robot: Dynamics) -> Array:
        """G with wrench = G f of the corners' forces, shape (6, 3 n)."""
        arms = self.corners @ robot.pose(self.frame)[:3, :3].T
        return np.vstack([np.tile(np.eye(3), len(arms)), np.hstack([so3.skew(arm) for arm in arms])])

    def spread(self, robot: Dynamics, J: Array) -> Array:
        """See `Contact`."""
        return J if self.forces == "wrench" else np.asarray(self._grasp(robot).T @ J)

    @property
    def carrier(self) -> str | None:
        """See `Contact`: its own frame."""
        return self.frame

    def carried_normals(self) -> Array:
        """See `Contact`."""
        if self.forces == "wrench":
            return np.concatenate([self.normal, np.zeros(3)])
        return np.tile(self.normal, len(self.corners))

    def carried_cone(self, sides: int) -> Array:
        """All facets of the cone of wrenches, or the corners' pyramids; see `Contact`."""
        C = self._cones.get(sides)
        if C is None:
            if self.forces == "wrench":
                C = wrench_cone(self.corners, self.normal, self.friction, sides)
            else:
                corner = force_cone(self.normal, self.friction, sides, push=True)
                C = np.asarray(np.kron(np.eye(len(self.corners)), corner), dtype=float)
            C.flags.writeable = False
            self._cones[sides] = C
        return C

    def carried_pressure(self) -> Array:
        """See `Contact`."""
        if self.forces == "corners":
            return super().carried_pressure()
        return np.concatenate([self.normal, so3.skew(self.corners.mean(axis=0)) @ self.normal])

    def error(self, robot: Dynamics, anchor: Array) -> Array:
        """See `Contact`."""
        desired, pose = anchor if self.on is None else robot.pose(self.on) @ anchor, robot.pose(self.frame)
        return pose_error(desired, pose)

    def wrench(self, robot: Dynamics, force: Array) -> Array:
        """See `Contact`."""
        return force if self.forces == "wrench" else np.asarray(self._grasp(robot) @ force)

    def margin(self, robot: Dynamics, force: Array, sides: int) -> float:
        """Of the pyramids with that many sides; see `Contact`."""
        return float(min(-(self.cone(robot, sides) @ force).max(), self.normals(robot) @ force))
