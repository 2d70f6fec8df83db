"""What is special about a base that floats (ETH 2.10): its coordinates, and how contacts hold it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.contacts import Contact, as_contacts
from wbc.dynamics.base import Dynamics
from wbc.dynamics.formulations.coordinates import Coordinates
from wbc.errors import WbcError
from wbc.kinematics.generalised_inverse import RANK_TOLERANCE
from wbc.model.model import Model


def configuration_rates_to_velocity(model: Model, q: ArrayLike) -> Array:
    """E_fb of u = E_fb q̇ (ETH 2.262): identity but for quaternions, for which it is that of ω in the body's axes.

    Args:
        model: of the robot, `robot.model`.
        q: configuration, shape (nq,).

    Returns:
        Shape (nv, nq).
    """
    return Coordinates(model, "quaternion").rates_to_velocity(q)


def velocity_to_configuration_rates(model: Model, q: ArrayLike) -> Array:
    """E_fb⁻¹ of q̇ = E_fb⁻¹ u (ETH 2.262), shape (nq, nv); the arguments are those of the other way."""
    return Coordinates(model, "quaternion").velocity_to_rates(q)


class SupportRanks(NamedTuple):
    """How contacts constrain a robot with a floating base (ETH 2.10.4).

    Attributes:
        constraints: independent ones, rank(J_c).
        base: those on the base, rank(J_c,b): 6 where the joints determine its motion; where it is less, the base can
            move with all joints locked.
        internal: the others, which hold limbs against each other.
    """

    constraints: int
    base: int
    internal: int


def support_ranks(robot: Dynamics, contacts: Contact | Iterable[Contact]) -> SupportRanks:
    """The ranks of J_c = [J_c,b J_c,j] (ETH 2.271, 2.272).

    Args:
        robot: updated, with a floating base.
        contacts: that are closed.
    """
    if not robot.model.floating:
        raise WbcError(f"{robot.model.name!r} has no floating base that contacts could hold")
    J = np.vstack([np.zeros((0, robot.nv)), *(contact.motion(robot)[0] for contact in as_contacts(contacts))])
    constraints, base = _rank(J), _rank(J[:, :6])
    return SupportRanks(constraints, base, constraints - base)


def _rank(J: Array) -> int:
    s = np.linalg.svd(J, compute_uv=False) if len(J) else np.zeros(1)
    return int((s > RANK_TOLERANCE * max(s.max(), 1e-300)).sum())
