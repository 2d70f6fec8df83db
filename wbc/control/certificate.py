"""Evidence that a solution can be: the equation of motion holds, forces lie in their cones, torques within limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.model.names import actuator_names
from wbc.tasking.tick import Tick


@dataclass(frozen=True)
class Certificate:
    """What was checked.

    Attributes:
        equation_of_motion: the largest entry of M v̇ + h − Sᵀ τ − Jᵀ f, relative to the largest term in it.
        cone_margin: how far inside its cone of friction, and the bounds of its normal force, the worst contact force
            is, N; negative is outside.
        torque_margin: how far from its limit the worst torque is, N m or N; negative is beyond.
        worst_contact: the contact with the least cone margin; empty without contacts.
        worst_joint: the joint with the least torque margin; empty without actuators.
        loops: the largest entry of J_l v̇ + J̇_l v, by which closed loops would open, m/s² or rad/s², relative to the
            largest acceleration, or to 1.
    """

    equation_of_motion: float
    cone_margin: float
    torque_margin: float
    worst_contact: str
    worst_joint: str
    loops: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether physics, closed loops, cones and limits hold to rounding: 1e-8 relative, 1e-6 N and N m."""
        consistent = self.equation_of_motion < 1e-8 and self.loops < 1e-8
        return consistent and self.cone_margin > -1e-6 and self.torque_margin > -1e-6


def certify(
    robot: Dynamics, tick: Tick, x: Array, physics: Array, sides: int, loops: Array | None = None
) -> Certificate:
    """Checks x in a state.

    Args:
        robot: in the state that x is for.
        tick: the layout of x, and the greatest normal force of each closed contact.
        x: the solution.
        physics: the residual of the equation of motion, shape (nv,).
        sides: of the friction pyramids at the corners of soles; points are judged by the true cone.
        loops: by which the accelerations would open the robot's closed loops, shape (loops,).
    """
    f = x[tick.force]
    terms = np.abs(robot.mass_matrix) @ np.abs(x[tick.acceleration]) + np.abs(robot.bias)
    relative = float(np.abs(physics).max(initial=0.0) / max(1.0, terms.max(initial=0.0)))
    fastest = np.abs(x[tick.acceleration]).max(initial=1.0)
    opening = 0.0 if loops is None else float(np.abs(loops).max(initial=0.0) / fastest)
    cones = contact_margins(robot, tick, f, sides)
    torque = x[tick.torque]
    limit = np.minimum(robot.limits.effort - torque, torque - robot.limits.least)
    names = actuator_names(robot.model)
    joint = int(limit.argmin()) if len(limit) else -1
    worst = min(cones, key=lambda name: cones[name], default="")
    return Certificate(
        relative,
        cones.get(worst, np.inf),
        float(limit[joint]) if joint >= 0 else np.inf,
        worst,
        names[joint] if joint >= 0 else "",
        opening,
    )


def contact_margins(robot: Dynamics, tick: Tick, f: Array, sides: int) -> dict[str, float]:
    """How far inside its cone, and the bounds of its normal force, the force of each closed contact is, N.

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
