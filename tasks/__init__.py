"""What a user composes into a stack: one small class for each thing that a robot can be asked to do.

Equations: `EquationOfMotion`, `ContactMotion`, `EndEffectorAcceleration`, `CartesianImpedance`, `CenterOfMass`,
`CentroidalMomentum`, `JointAcceleration`, `JointImpedance`, `ContactForce`, and what is wanted least:
`TorqueMinimization`, `ForceMinimization`, `AccelerationMinimization`. Inequalities: `TorqueLimits`, `FrictionCones`,
`JointLimits`, and any equation with a tolerance. `Rows` takes rows of one's own.
"""

from typing import TYPE_CHECKING, Any

from tasks.balance import CenterOfMass, CentroidalMomentum
from tasks.contacts import ContactForce, ContactMotion, ForceMinimization, FrictionCones
from tasks.custom import Rows
from tasks.frame import CartesianImpedance, EndEffectorAcceleration
from tasks.joints import AccelerationMinimization, JointAcceleration, JointImpedance, TorqueMinimization
from tasks.limits import JointLimits, TorqueLimits
from tasks.physics import EquationOfMotion

if TYPE_CHECKING:
    from tasks.gait import Trot

__all__ = [
    "AccelerationMinimization",
    "CartesianImpedance",
    "CenterOfMass",
    "CentroidalMomentum",
    "ContactForce",
    "ContactMotion",
    "EndEffectorAcceleration",
    "EquationOfMotion",
    "ForceMinimization",
    "FrictionCones",
    "JointAcceleration",
    "JointImpedance",
    "JointLimits",
    "Rows",
    "TorqueLimits",
    "TorqueMinimization",
    "Trot",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  a gait is imported by those who walk
    if name == "Trot":
        from tasks.gait import Trot

        return Trot
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
