"""How hard levels may pull: see `wbc.solvers.ElasticQP`.

Near a singularity σ a level whose pull is bounded by K accelerates the joints by K σ. In the closed loop that is a
spring of stiffness K. It is calm if the posture damps it, or if its torques are small beside what the actuators give.
So K is as large as one of these allows, and no larger than what the control period resolves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from wbc.control.program import Part
from wbc.dynamics.base import Dynamics
from wbc.tasking.task import Task

DAMPING_RATIO = 0.28
"""ζ with which the posture's damping kd damps that spring: K = (kd / 2 ζ)²."""

RANGES = 20.0
"""Torque ranges by which that spring changes a torque in a radian: K = RANGES · a, with the authority a."""

TURN = 0.45
"""ω T of that spring at most, rad: K ≤ (TURN / T)²."""


class Pulls:
    """The bound on pulls of a robot.

    Args:
        robot: of the controller.

    Attributes:
        authority: the acceleration of its joints that its torques give in the worst direction, rad/s².
    """

    def __init__(self, robot: Dynamics) -> None:
        self.authority = authority(robot)

    def bound(self, postures: Iterable[Task], period: float) -> float:
        """K, the bound on the pull of the level above the posture, m/s².

        Args:
            postures: the tasks by whose level pulls are measured.
            period: between ticks, s.
        """
        kd = 0.0
        for task in postures:
            kd = max(kd, task.posture_damping or 0.0)
        calm = max((kd / (2.0 * DAMPING_RATIO)) ** 2, RANGES * self.authority)
        return min(calm, (TURN / period) ** 2)


def authority(robot: Dynamics) -> float:
    """1 / ‖E⁻¹ M_a‖: acceleration at full torque in the worst direction of the driven joints, rad/s².

    E are the effort limits and M_a the mass matrix of these joints, in the nominal configuration.

    Args:
        robot: of `wbc.load`.
    """
    posed = robot.copy()
    posed.update(robot.model.nominal)
    G, M, effort = posed.actuation_matrix, posed.mass_matrix / posed.lengths, robot.limits.effort
    moved = np.abs(G).sum(axis=0) > 0.0
    torques = np.linalg.lstsq(G[:, moved].T, M[np.ix_(moved, moved)], rcond=None)[0]
    gives = np.isfinite(effort) & (effort > 0.0)
    share = torques[gives] / effort[gives, None]
    return 1.0 / max(float(np.linalg.norm(share, 2)), 1e-9) if share.size else np.inf


def posture_rank(parts: Sequence[Part], levels: int) -> int:
    """The level by which pulls are measured: the lowest that asks for accelerations, if it is a posture; else the one
    below it.

    Args:
        parts: of a tick.
        levels: how many a solver sees.
    """
    asking = [part.entry for part in parts if part.acceleration is not None and part.equation]
    lowest = max((entry.rank for entry in asking), default=levels)
    posture = any(entry.task.posture_damping is not None for entry in asking if entry.rank == lowest)
    return min(lowest if posture else lowest + 1, levels - 1)
