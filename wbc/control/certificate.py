"""Evidence that a solution can be: the equation of motion holds, forces lie in their cones, torques within limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.model.names import actuator_names
from wbc.tasking.problem import Variables


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
    """

    equation_of_motion: float
    cone_margin: float
    torque_margin: float
    worst_contact: str
    worst_joint: str

    @property
    def holds(self) -> bool:
        """Whether physics, cones and limits hold to rounding: 1e-8 relative, 1e-6 N and N m."""
        return self.equation_of_motion < 1e-8 and self.cone_margin > -1e-6 and self.torque_margin > -1e-6


def certify(
    robot: Dynamics, variables: Variables, x: Array, physics: Array, sides: int, ceilings: list[float]
) -> Certificate:
    """Checks x in a state.

    Args:
        robot: in the state that x is for.
        variables: the layout of x.
        x: the solution.
        physics: the residual of the equation of motion, shape (nv,).
        sides: of the friction pyramids at the corners of soles; points are judged by the true cone.
        ceilings: the greatest normal force of each closed contact at that time, N.
    """
    f = x[variables.force]
    terms = np.abs(robot.mass_matrix) @ np.abs(x[variables.acceleration]) + np.abs(robot.bias)
    relative = float(np.abs(physics).max(initial=0.0) / max(1.0, terms.max(initial=0.0)))
    cones = contact_margins(robot, variables, f, sides, ceilings)
    limit = robot.limits.effort - np.abs(x[variables.torque])
    names = actuator_names(robot.model)
    joint = int(limit.argmin()) if len(limit) else -1
    worst = min(cones, key=lambda name: cones[name], default="")
    return Certificate(
        relative,
        cones.get(worst, np.inf),
        float(limit[joint]) if joint >= 0 else np.inf,
        worst,
        names[joint] if joint >= 0 else "",
    )


def contact_margins(
    robot: Dynamics, variables: Variables, f: Array, sides: int, ceilings: list[float]
) -> dict[str, float]:
    """How far inside its cone, and the bounds of its normal force, the force of each closed contact is, N.

    Args:
        robot: in the state that the forces are for.
        variables: the layout of f.
        f: the force variables, shape (nf,).
        sides: of the friction pyramids at the corners of soles.
        ceilings: the greatest normal force of each closed contact, N.
    """
    found: dict[str, float] = {}
    for contact, ceiling in zip(variables.contacts, ceilings, strict=True):
        force = f[variables.force_of(contact.name)]
        normal = float(contact.normals(robot) @ force)
        room = min(normal - min(contact.minimum, ceiling), ceiling - normal)
        found[contact.name] = min(contact.margin(robot, force, sides), room)
    return found
