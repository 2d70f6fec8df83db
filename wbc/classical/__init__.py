"""The controllers of a robotics course, as formulas: each with the interface of `wbc.Controller`.

Joints
    `JointPD`, `ComputedTorque` (ETH 3.8).
End effectors
    `TaskSpaceControl`, `HybridControl` with `selection_matrices` (ETH 3.9).
Robots on contacts
    `InverseDynamics` (ETH 3.10); `VirtualModelControl` with `VirtualSpring`, `ConstantForce`, `distribute` (ETH 3.11).
What they are made from
    `TaskSpace`: Λ, μ, p of an end effector; contact forces and null space of a support (ETH 3.7, 3.9); `impact`;
    `multi_task_acceleration`.

All of them ignore inequalities. The status of each solution says whether its torques and contact forces are possible;
to keep limits, use `wbc.Controller` with a stack.
"""

from wbc.classical.controller import ClassicalController, ClassicalSolution
from wbc.classical.end_effector import HybridControl, Selection, TaskSpaceControl, selection_matrices
from wbc.classical.impacts import Impact, impact
from wbc.classical.inverse_dynamics import InverseDynamics
from wbc.classical.joints import ComputedTorque, JointPD
from wbc.classical.motion import multi_task_acceleration
from wbc.classical.task_space import TaskSpace
from wbc.classical.virtual_model import ConstantForce, VirtualForce, VirtualModelControl, VirtualSpring, distribute

__all__ = [
    "ClassicalController",
    "ClassicalSolution",
    "ComputedTorque",
    "ConstantForce",
    "HybridControl",
    "Impact",
    "InverseDynamics",
    "JointPD",
    "Selection",
    "TaskSpace",
    "TaskSpaceControl",
    "VirtualForce",
    "VirtualModelControl",
    "VirtualSpring",
    "distribute",
    "impact",
    "multi_task_acceleration",
    "selection_matrices",
]
