"""A check of a solution: the equation of motion holds, forces are in their cones, torques within limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wbc.arrays import Array
from wbc.control.equation_of_motion import MotionEquation
from wbc.control.solving import Outcome
from wbc.control.tolerance import SHARE, force_tolerance, torque_tolerance
from wbc.dynamics.base import Dynamics
from wbc.model.names import actuator_names
from wbc.tasking.tick import Tick


@dataclass(frozen=True)
class Certificate:
    """The result of the check.

    Attributes:
        equation_of_motion: the largest entry of M v̇ + h − Sᵀ τ − Jᵀ f, relative to the largest term in it.
        cone_margin: distance of the worst contact force from the edge of its friction cone and from the bounds of its
            normal force, N; negative is outside.
        torque_margin: distance of the worst torque from its limit, N m or N; negative is beyond.
        worst_contact: the contact with the least cone margin; empty without contacts.
        worst_joint: the joint with the least torque margin; empty without actuators.
        cone_tolerance: distance outside that counts as rounding, N: a share of the robot's weight.
        torque_tolerance: distance beyond the limit that counts as rounding, N m or N: a share of the limit.
        loops: how much more closed loops could be kept from opening: see `MotionEquation.opening`.
    """

    equation_of_motion: float
    cone_margin: float
    torque_margin: float
    worst_contact: str
    worst_joint: str
    cone_tolerance: float = 1e-6
    torque_tolerance: float = 1e-6
    loops: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the equation of motion, closed loops, cones and limits hold to rounding, see
        `wbc.control.tolerance`.
        """
        return (
            self.equation_of_motion < SHARE
            and self.loops < SHARE
            and self.cone_margin > -self.cone_tolerance
            and self.torque_margin > -self.torque_tolerance
        )


def certify(robot: Dynamics, tick: Tick, x: Array, equation: MotionEquation, sides: int) -> Certificate:
    """Checks x in a state.

    Args:
        robot: in the state that x is for.
        tick: the layout of x, and the greatest normal force of each closed contact.
        x: the solution.
        equation: physics in that state.
        sides: of the friction pyramids at the corners of soles; points are judged by the true cone.
    """
    f = x[tick.force]
    cones = contact_margins(robot, tick, f, sides)
    worst = min(cones, key=lambda name: cones[name], default="")
    margin, tolerance, joint = np.inf, 0.0, ""
    if robot.na:
        torque = x[tick.torque]
        limit = np.minimum(robot.limits.effort - torque, torque - robot.limits.least)
        allowed = np.maximum(torque_tolerance(robot), 1e-300)
        beyond = limit < -allowed  # a weak joint beyond its limit is worse than a strong one at it
        index = int(np.where(beyond, limit / allowed, np.inf).argmin() if beyond.any() else limit.argmin())
        margin, tolerance = float(limit[index]), float(allowed[index])
        joint = actuator_names(robot.model)[index]
    return Certificate(
        equation.relative_residual(x[tick.acceleration], f, x[tick.torque]),
        cones.get(worst, np.inf),
        margin,
        worst,
        joint,
        force_tolerance(robot.mass),
        tolerance,
        equation.opening(x[tick.acceleration]),
    )


def judged(outcome: Outcome, tick: Tick, equation: MotionEquation) -> Outcome:
    """An answer that is no better than what it says of physics: "failed" where the equation of motion does not hold,
    and "relaxed" where loops open.

    Args:
        outcome: of a solve.
        tick: the layout of x.
        equation: physics.
    """
    if outcome.status == "failed":
        return outcome
    acceleration = outcome.x[tick.acceleration]
    if not equation.relative_residual(acceleration, outcome.x[tick.force], outcome.x[tick.torque]) < SHARE:
        reason = ArithmeticError("the equation of motion does not hold to rounding in a state like this")
        return outcome._replace(status="failed", reason=reason)
    return outcome if equation.opening(acceleration) < SHARE else outcome._replace(status="relaxed")


def contact_margins(robot: Dynamics, tick: Tick, f: Array, sides: int) -> dict[str, float]:
    """Distance of each closed contact's force from the edge of its cone and from the bounds of its normal force, N.

    Args:
        robot: in the state that the forces are for.
        tick: the layout of f, and the greatest normal force of each closed contact.
        f: the force variables, shape (nf,).
        sides: of the friction pyramids at the corners of soles.
    """
    found: dict[str, float] = {}
    for contact, ceiling in zip(tick.contacts, tick.ceilings, strict=True):
        force = f[tick.force_of(contact.name)]
        normal = float(contact.normals(robot) @ force)
        room = min(normal - min(contact.minimum, ceiling), ceiling - normal)
        found[contact.name] = min(contact.margin(robot, force, sides), room)
    return found
