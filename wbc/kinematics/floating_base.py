"""What is special about a base that floats (ETH 2.10): its coordinates, and how contacts hold it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.contact import Contact
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show
from wbc.geometry import quaternion
from wbc.kinematics.generalised_inverse import RANK_TOLERANCE
from wbc.model.model import Model
from wbc.model.space import ConfigurationSpace


def configuration_rates_to_velocity(model: Model, q: ArrayLike) -> Array:
    """E_fb of u = E_fb q̇ (ETH 2.262): identity but for quaternions, for which it is that of ω in the body's axes.

    Args:
        model: of the robot, `robot.model`.
        q: configuration, shape (nq,).

    Returns:
        Shape (nv, nq).
    """
    return _map(model, q, inverse=False)


def velocity_to_configuration_rates(model: Model, q: ArrayLike) -> Array:
    """E_fb⁻¹ of q̇ = E_fb⁻¹ u (ETH 2.262), shape (nq, nv); the arguments are those of the other way."""
    return _map(model, q, inverse=True)


def _map(model: Model, q: ArrayLike, inverse: bool) -> Array:
    checked = ConfigurationSpace(model).configuration(q)
    E = np.zeros((model.nv, model.nq))  # or, transposed, its inverse
    for joint in model.joints.values():
        row, column = model.v_index[joint.name], model.q_index[joint.name]
        plain = {"spherical": 0, "floating": 3}.get(joint.kind, joint.nv)
        E[row : row + plain, column : column + plain] = np.eye(plain)
        if plain < joint.nv:
            row, column = row + plain, column + plain
            turn, rates = quaternion.rates_to_angular_velocity, quaternion.angular_velocity_to_rates
            value = checked[column : column + 4]
            E[row : row + 3, column : column + 4] = rates(value, "body").T if inverse else turn(value, "body")
    return E.T if inverse else E


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
    given = [contacts] if isinstance(contacts, Contact) else list(contacts)
    if any(not isinstance(contact, Contact) for contact in given):
        raise WbcError(f"contacts are PointContact or SurfaceContact objects, not {show(given)}")
    J = np.vstack([np.zeros((0, robot.nv)), *(contact.motion(robot)[0] for contact in given)])
    constraints, base = _rank(J), _rank(J[:, :6])
    return SupportRanks(constraints, base, constraints - base)


def _rank(J: Array) -> int:
    s = np.linalg.svd(J, compute_uv=False) if len(J) else np.zeros(1)
    return int((s > RANK_TOLERANCE * max(s.max(), 1e-300)).sum())
