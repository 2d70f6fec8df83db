"""One convex quadratic programme, by any solver that qpsolvers knows: the one place that calls a QP solver."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, unknown_name

_ACCURATE: dict[str, dict[str, Any]] = {
    "clarabel": {"tol_feas": 1e-10, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10},
    "osqp": {
        "eps_abs": 1e-8,
        "eps_rel": 1e-8,
        "max_iter": 20000,
    },  # not polished: it would print, and that is done here
    "piqp": {"eps_abs": 1e-9, "eps_rel": 1e-9},
    "scs": {"eps_abs": 1e-8, "eps_rel": 1e-8},
}
"""Options of the QP solvers, so that their answers are well below a user's tolerance."""

_PACKAGES = {name: name for name in ("clarabel", "cvxopt", "daqp", "ecos", "osqp", "piqp", "quadprog", "scs")} | {
    "gurobi": "gurobipy",
    "highs": "highspy",
    "proxqp": "proxsuite",
}

_INFINITE = 1e20
"""A bound beyond this is none."""

_FAR = 1e30
"""Stands for infinity in solvers without it."""


class QuadraticProgram:
    """``min ½ zᵀ P z + qᵀ z`` with ``lower <= G z <= upper``, by a named solver.

    Attributes:
        solver: the name.
        reason: why the last programme was not solved; None where it was.
    """

    def __init__(self, solver: str) -> None:
        """Choose the solver.

        Raises:
            WbcError: there is no solver of this name, or it is not installed.
        """
        try:
            import qpsolvers
        except ImportError as error:
            raise WbcError(f"a cascade of QPs needs qpsolvers: pip install qpsolvers ({error})") from None
        self.solver = solver
        self.reason: Exception | None = None
        self._seconds = math.inf
        if solver not in qpsolvers.available_solvers:
            if solver in _PACKAGES:
                raise WbcError(f"QP solver {solver!r} is not installed: pip install {_PACKAGES[solver]}")
            raise unknown_name("QP solver", solver, sorted(qpsolvers.available_solvers))
        self._qpsolvers = qpsolvers
        # These two take both bounds of a row at once, which qpsolvers does not: half the rows, and no row twice.
        native = {"daqp": self._by_daqp, "proxqp": self._by_proxqp}
        self._call = native.get(solver, self._by_qpsolvers)

    def __reduce__(self) -> tuple[type[QuadraticProgram], tuple[str]]:
        return type(self), (self.solver,)

    def solve(
        self,
        P: Array,
        q: Array,
        G: Array,
        lower: Array,
        upper: Array,
        attempt: int = 0,
        seconds: float = math.inf,
    ) -> Array | None:
        """The minimiser, or None where the solver found none.

        Args:
            P: positive definite, shape (n, n).
            q: shape (n,).
            G: rows, shape (m, n).
            lower: their lower bounds, -inf where there is none.
            upper: their upper bounds, inf where there is none.
            attempt: 0, or 1 where the programme has failed already: tolerances are wider then.
            seconds: after which DAQP gives up; the others can't be stopped.
        """
        self.reason, self._seconds = None, seconds
        try:
            if not len(G):
                z: Array | None = np.asarray(np.linalg.solve(P, -q), dtype=float)
            else:
                low, high = np.where(lower <= -_INFINITE, -np.inf, lower), np.where(upper >= _INFINITE, np.inf, upper)
                z = self._call(P, q, G, low, high, attempt)
        except Exception as error:  # whatever a solver throws at hard numbers: the cascade goes another way
            self.reason = error
            return None
        if z is None or not np.isfinite(z).all():
            self.reason = ArithmeticError(f"QP solver {self.solver!r} gave no answer")
            return None
        return z

    def _by_daqp(self, P: Array, q: Array, G: Array, lower: Array, upper: Array, attempt: int) -> Array | None:
        daqp = importlib.import_module("daqp")
        low, high = np.maximum(lower, -_FAR), np.minimum(upper, _FAR)
        # No row is marked as soft: some releases of DAQP write beyond their memory then.
        sense = np.zeros(len(G), dtype=np.int32)
        tolerance = (5e-12, 1e-8)[attempt]
        settings = {"primal_tol": tolerance}
        if self._seconds < math.inf:  # looked at every 32 steps; 0 would be no limit
            settings["time_limit"] = max(self._seconds, 1e-6)
        z, _, flag, _ = daqp.solve(P, q, np.ascontiguousarray(G), high, low, sense, **settings)
        return np.array(z) if flag > 0 else None

    def _by_proxqp(self, P: Array, q: Array, G: Array, lower: Array, upper: Array, attempt: int) -> Array | None:
        proxqp = importlib.import_module("proxsuite").proxqp
        programme = proxqp.dense.QP(len(q), 0, len(G))
        settings = programme.settings
        settings.eps_abs, settings.eps_rel = (1e-10, 1e-8)[attempt], 0.0
        # No programme of a cascade is infeasible, or unbounded: what ProxQP takes for a sign of it is not one.
        settings.eps_primal_inf = settings.eps_dual_inf = 1e-30
        settings.max_iter = 200
        settings.bcl_update = attempt == 0
        programme.init(P, q, None, None, G, np.maximum(lower, -_INFINITE), np.minimum(upper, _INFINITE))
        programme.solve()
        solved = programme.results.info.status == proxqp.QPSolverOutput.PROXQP_SOLVED
        return np.array(programme.results.x) if solved else None

    def _by_qpsolvers(self, P: Array, q: Array, G: Array, lower: Array, upper: Array, attempt: int) -> Array | None:
        above, below = upper < np.inf, lower > -np.inf
        rows, bounds = np.vstack([G[above], -G[below]]), np.concatenate([upper[above], -lower[below]])
        options = _ACCURATE.get(self.solver, {}) if attempt == 0 else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = self._qpsolvers.Problem(P, q, rows, bounds)
            solution = self._qpsolvers.solve_problem(problem, solver=self.solver, **options)
        return np.array(solution.x) if solution.found and solution.x is not None else None
