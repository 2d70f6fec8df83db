"""Solvers of hierarchies: levels of rows ``lower <= A x <= upper`` in, x out. Pure numerics, no robotics.

Every solver is a `Solver`: ``solve(levels) -> Answer``. A module is imported when its solver is first
asked for: qpsolvers is not, unless a QP is to be solved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.errors import unknown_name
from wbc.lazy import lazy
from wbc.solvers.answer import Answer, AnswerStatus, LevelAnswer, grade
from wbc.solvers.base import Solver
from wbc.solvers.level import Hierarchy, Level

if TYPE_CHECKING:
    from wbc.solvers.elastic_qp import ElasticQP
    from wbc.solvers.hierarchical_qp import HierarchicalQP
    from wbc.solvers.nullspace import NullSpace
    from wbc.solvers.operational_space import OperationalSpace
    from wbc.solvers.sequential_qp import SequentialQP
    from wbc.solvers.weighted_qp import WeightedQP

__all__ = [
    "Answer",
    "AnswerStatus",
    "ElasticQP",
    "HierarchicalQP",
    "Hierarchy",
    "Level",
    "LevelAnswer",
    "NullSpace",
    "OperationalSpace",
    "SequentialQP",
    "Solver",
    "WeightedQP",
    "grade",
    "make_solver",
    "solver_names",
]

_SOLVERS = {
    "elastic-qp": "ElasticQP",
    "hierarchical-qp": "HierarchicalQP",
    "nullspace": "NullSpace",
    "operational-space": "OperationalSpace",
    "sequential-qp": "SequentialQP",
    "weighted-qp": "WeightedQP",
}
"""Name → class; the module is the name with underscores."""

_LATER = {class_name: "wbc.solvers." + name.replace("-", "_") for name, class_name in _SOLVERS.items()}

__getattr__ = lazy(__name__, _LATER)


def solver_names() -> list[str]:
    """The names `make_solver` knows."""
    return list(_SOLVERS)


def make_solver(name: str, **options: object) -> Solver:
    """Make a solver by name.

    Args:
        name: "elastic-qp", "hierarchical-qp", "nullspace", "sequential-qp", "weighted-qp" or "operational-space".
        **options: arguments of its class.

    Raises:
        WbcError: there is no solver of this name.
    """
    if name not in _SOLVERS:
        raise unknown_name("solver", name, _SOLVERS)
    solver: Solver = __getattr__(_SOLVERS[name])(**options)
    return solver
