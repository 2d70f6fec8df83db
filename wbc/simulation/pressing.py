"""A warning before a run: what slides faster under its force than a contact of MuJoCo keeps hold of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.contacts import Contact
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcWarning
from wbc.simulation.plant import Plant
from wbc.simulation.sliding import sliding_speed_limit

SAMPLES = 200
"""Times of a run at which the planned speed is looked at."""


def warn_of_sliding(robot: Dynamics, stack: Any, plant: Plant, duration: float) -> None:  # noqa: ANN401  of any tasks
    """Warns of contacts of a stack that are to slide faster than the law of `docs/pressing.md` allows.

    What is not known beforehand, such as a speed without a plan or a target that can't be asked, is not warned of.

    Args:
        robot: of the controller; it is not touched.
        stack: of the controller.
        plant: in the state to start from.
        duration: of the run, s.
    """
    planned = {name: plan for task in stack for name, plan in _plans(task).items()}
    contacts = {contact.name: contact for contact in stack.contacts}
    for name, plan in planned.items():
        contact = contacts.get(name)
        if contact is None or not callable(plan):
            continue
        soft = plant.softness(contact.frame) if contact.frame in plant.frames else None
        if soft is None or not (soft[0][0] > 0.0 and all(0.0 < share < 1.0 for share in soft[1][:2])):
            continue
        times = np.linspace(0.0, duration, SAMPLES)
        force = max((_force(task, name, contact, times) for task in stack), default=0.0)
        speed = max(float(np.linalg.norm(np.asarray(plan(float(t)), dtype=float)[:3])) for t in times)
        mass = _mass(robot, contact, plant)
        if not (force > 0.0 and contact.friction > 0.0 and np.isfinite([speed, mass]).all()):
            continue
        limit = sliding_speed_limit(force, mass, contact.friction, *soft)
        if speed > limit:
            warnings.warn(
                f"MuJoCo lifts what slides faster than {limit:.2g} m/s under {force:.3g} N, and {name!r} is to slide "
                f"at up to {speed:.2g} m/s: its force is right on average at best; slide slower, "
                f"press harder, make the ground softer (solref with {soft[0][0] * speed / limit:.2g} s instead of "
                f"{soft[0][0]:.2g} s) or use wbc.Simulator: docs/pressing.md",
                WbcWarning,
                stacklevel=3,
            )


def _plans(task: Any) -> dict[str, Any]:  # noqa: ANN401
    sliding = getattr(task, "sliding", None)
    return sliding if isinstance(sliding, dict) else {}


def _force(task: Any, name: str, contact: Contact, times: Array) -> float:  # noqa: ANN401
    """The greatest force along the normal that a task asks of a contact, N."""
    if getattr(task, "contact", None) != name or not hasattr(task, "target"):
        return 0.0
    target, normal = task.target, np.asarray(contact.normal)
    wanted = [target(float(t)) for t in times] if callable(target) else [target]
    firsts = [one[0] if isinstance(one, tuple) else one for one in wanted]
    return max(float(np.asarray(one, dtype=float)[:3] @ normal) for one in firsts)


def _mass(robot: Dynamics, contact: Contact, plant: Plant) -> float:
    """What of a robot's inertia moves along the normal of a contact, kg."""
    posed = robot.copy()
    posed.update(*plant.true_state)
    row: Array = np.asarray(contact.normal) @ posed.jacobian(contact.frame)[:3]
    yields = float(row @ np.linalg.solve(posed.mass_matrix, row))
    return 1.0 / max(yields, 1e-12)
