"""Kinematic control: from the motion of frames to the motion of joints, without forces (ETH 2.8–2.10).

`DifferentialKinematics` is a controller whose output are velocities: stacks, priorities and solvers are those of
torques. `inverse_kinematics` finds a configuration. `MinimumJerk` and `Spline` are paths for tasks to follow.
`analytical_jacobian`, `jacobian_hessian` and the pseudo-inverses are the formulas themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.kinematics.differential import DifferentialKinematics
    from wbc.kinematics.floating_base import (
        SupportRanks,
        configuration_rates_to_velocity,
        support_ranks,
        velocity_to_configuration_rates,
    )
    from wbc.kinematics.generalised_inverse import (
        damped_pseudo_inverse,
        null_space_projector,
        pseudo_inverse,
        weighted_pseudo_inverse,
    )
    from wbc.kinematics.hessian import jacobian_hessian
    from wbc.kinematics.inverse import InverseKinematics, InverseSolution, inverse_kinematics
    from wbc.kinematics.parameterisation import (
        POSITIONS,
        ROTATIONS,
        analytical_jacobian,
        end_effector_coordinates,
        rates_to_twist,
        twist_to_rates,
    )
    from wbc.kinematics.scene import KinematicScene
    from wbc.kinematics.trajectory import MinimumJerk, Spline, minimum_jerk
    from wbc.kinematics.velocity_solution import MotionCertificate, VelocitySolution, VelocityVariables

__all__ = [
    "POSITIONS",
    "ROTATIONS",
    "DifferentialKinematics",
    "InverseKinematics",
    "InverseSolution",
    "KinematicScene",
    "MinimumJerk",
    "MotionCertificate",
    "Spline",
    "SupportRanks",
    "VelocitySolution",
    "VelocityVariables",
    "analytical_jacobian",
    "configuration_rates_to_velocity",
    "damped_pseudo_inverse",
    "end_effector_coordinates",
    "inverse_kinematics",
    "jacobian_hessian",
    "minimum_jerk",
    "null_space_projector",
    "pseudo_inverse",
    "rates_to_twist",
    "support_ranks",
    "twist_to_rates",
    "velocity_to_configuration_rates",
    "weighted_pseudo_inverse",
]

_MODULES = {
    "scene": ("KinematicScene",),
    "trajectory": ("MinimumJerk", "Spline", "minimum_jerk"),
    "inverse": ("InverseKinematics", "InverseSolution", "inverse_kinematics"),
    "floating_base": (
        "SupportRanks",
        "configuration_rates_to_velocity",
        "support_ranks",
        "velocity_to_configuration_rates",
    ),
    "differential": ("DifferentialKinematics",),
    "velocity_solution": ("MotionCertificate", "VelocitySolution", "VelocityVariables"),
    "hessian": ("jacobian_hessian",),
    "parameterisation": (
        "POSITIONS",
        "ROTATIONS",
        "analytical_jacobian",
        "end_effector_coordinates",
        "rates_to_twist",
        "twist_to_rates",
    ),
    "generalised_inverse": (
        "damped_pseudo_inverse",
        "null_space_projector",
        "pseudo_inverse",
        "weighted_pseudo_inverse",
    ),
}
_LATER = {name: f"wbc.kinematics.{module}" for module, names in _MODULES.items() for name in names}

__getattr__ = lazy(__name__, _LATER)
