"""The tasks that a user composes into a stack: one small class for each.

Equations: `EquationOfMotion`, `ContactMotion`, `EndEffectorAcceleration`, `CartesianImpedance`, `CenterOfMass`,
`CentroidalMomentum`, `JointAcceleration`, `JointImpedance`, `ContactForce`; `BaseVelocity` and `WheelSpin` for wheels;
and for the freedom that is left, `TorqueMinimization`, `ForceMinimization`, `AccelerationMinimization`. Inequalities:
`TorqueLimits`, `FrictionCones`, `JointLimits`, `CollisionAvoidance`, `Barrier`, and any equation with a tolerance.
`Rows` takes your own rows.

For velocities, without forces (`wbc.kinematics.DifferentialKinematics`): `EndEffectorVelocity`, `CenterOfMassVelocity`,
`JointVelocity`, `ContactVelocity`, `VelocityMinimization`, and the inequalities `VelocityLimits`.

`tasks.stacks` has stacks that are ready to use, by the kind of robot: `standing(robot)`, `reaching(robot)`;
`tasks.wheels.driving` makes one for a robot on wheels. `to_toml(stack)`, `from_toml(text)` and `read_stack(file)` keep
stacks as data.

`Trot` is a gait, not a task: before each tick it sets the targets of its own tasks, and opens and closes contacts.
"""

from typing import TYPE_CHECKING

from tasks.balance import CenterOfMass, CentroidalMomentum
from tasks.contacts import ContactMotion, FrictionCones
from tasks.custom import Rows
from tasks.forces import ContactForce, ForceMinimization
from tasks.frame import CartesianImpedance, EndEffectorAcceleration
from tasks.joints import AccelerationMinimization, JointAcceleration, JointImpedance, TorqueMinimization
from tasks.limits import JointLimits, TorqueLimits
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.lazy import lazy

if TYPE_CHECKING:
    from tasks import locomotion as locomotion
    from tasks import stacks as stacks
    from tasks import wheels as wheels
    from tasks.barrier import Barrier
    from tasks.base_velocity import BaseVelocity
    from tasks.collision import CollisionAvoidance
    from tasks.dexterity import Manipulability, ManipulabilityFloor
    from tasks.gaze import Gaze, InView
    from tasks.kinematics import (
        CenterOfMassVelocity,
        ContactVelocity,
        EndEffectorVelocity,
        JointVelocity,
        VelocityLimits,
        VelocityMinimization,
    )
    from tasks.locomotion.trot import Trot
    from tasks.pressure import CenterOfPressure, DivergentComponent, PressureBounds, ZeroMomentPoint
    from tasks.reference import ReferenceForces, ReferenceMotion, ReferenceTorque
    from tasks.regions import FrameSpeedLimit, KeepIn, KeepOut, OverSupport, PowerLimit
    from tasks.relative import AxialMomentum, RelativePose
    from tasks.spin import WheelSpin
    from tasks.stack_files import from_toml as from_toml
    from tasks.stack_files import read_stack as read_stack
    from tasks.stack_files import to_toml as to_toml
    from tasks.yielding import Admittance, PassiveImpedance

__all__ = [
    "AccelerationMinimization",
    "Admittance",
    "AxialMomentum",
    "Barrier",
    "BaseVelocity",
    "CartesianImpedance",
    "CenterOfMass",
    "CenterOfMassVelocity",
    "CenterOfPressure",
    "CentroidalMomentum",
    "CollisionAvoidance",
    "ContactForce",
    "ContactMotion",
    "ContactVelocity",
    "DivergentComponent",
    "EndEffectorAcceleration",
    "EndEffectorVelocity",
    "EquationOfMotion",
    "ForceMinimization",
    "FrameSpeedLimit",
    "FrictionCones",
    "Gaze",
    "InView",
    "JointAcceleration",
    "JointImpedance",
    "JointLimits",
    "JointVelocity",
    "KeepIn",
    "KeepOut",
    "Manipulability",
    "ManipulabilityFloor",
    "OverSupport",
    "PassiveImpedance",
    "PowerLimit",
    "PressureBounds",
    "ReferenceForces",
    "ReferenceMotion",
    "ReferenceTorque",
    "RelativePose",
    "Rows",
    "TorqueLimits",
    "TorqueMinimization",
    "Trot",
    "VelocityLimits",
    "VelocityMinimization",
    "WheelSpin",
    "ZeroMomentPoint",
]

_LATER = {
    "ReferenceForces": "tasks.reference",
    "ReferenceTorque": "tasks.reference",
    "ReferenceMotion": "tasks.reference",
    "PassiveImpedance": "tasks.yielding",
    "Admittance": "tasks.yielding",
    "AxialMomentum": "tasks.relative",
    "RelativePose": "tasks.relative",
    "ManipulabilityFloor": "tasks.dexterity",
    "Manipulability": "tasks.dexterity",
    "InView": "tasks.gaze",
    "Gaze": "tasks.gaze",
    "PowerLimit": "tasks.regions",
    "OverSupport": "tasks.regions",
    "FrameSpeedLimit": "tasks.regions",
    "KeepOut": "tasks.regions",
    "KeepIn": "tasks.regions",
    "DivergentComponent": "tasks.pressure",
    "PressureBounds": "tasks.pressure",
    "ZeroMomentPoint": "tasks.pressure",
    "CenterOfPressure": "tasks.pressure",
    "Barrier": "tasks.barrier",
    "CollisionAvoidance": "tasks.collision",
    "BaseVelocity": "tasks.base_velocity",
    "Trot": "tasks.locomotion.trot",
    "CenterOfMassVelocity": "tasks.kinematics",
    "ContactVelocity": "tasks.kinematics",
    "EndEffectorVelocity": "tasks.kinematics",
    "JointVelocity": "tasks.kinematics",
    "VelocityLimits": "tasks.kinematics",
    "VelocityMinimization": "tasks.kinematics",
    "WheelSpin": "tasks.spin",
    "from_toml": "tasks.stack_files",
    "read_stack": "tasks.stack_files",
    "to_toml": "tasks.stack_files",
}
"""Names that are imported on first use, and their modules: by those who walk, drive, or have no use for forces."""

__getattr__ = lazy(__name__, _LATER, modules=("locomotion", "stacks", "wheels"))
