"""One convex quadratic programme, by any solver that qpsolvers knows."""

from __future__ import annotations

import functools
import importlib
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
"""What a solver is told so that its answer is good to well below a user's tolerance."""

_PACKAGES = {name: name for name in ("clarabel", "cvxopt", "daqp", "ecos", "osqp", "piqp", "quadprog", "scs")} | {
    "gurobi": "gurobipy",
    "highs": "highspy",
    "proxqp": "proxsuite",
}

_INFINITE = 1e20


@functools.cache
def _daqp() -> Any:  # noqa: ANN401  daqp has no types
    """The module, imported when it is first used."""
    return importlib.import_module("daqp")


class QuadraticProgram:
    """``min ½ zᵀ P z + qᵀ z`` with ``lower <= G z <= upper``, by a named solver.

    Attributes:
        solver: the name.
    """

    def __init__(self, solver: str) -> None:
        """Choose the solver.

        Raises:
            WbcError: there is no solver of this name, or it is not installed.
        """
        import qpsolvers

        self.solver = solver
        if solver not in qpsolvers.available_solvers:
            if solver in _PACKAGES:
                raise WbcError(f"QP solver {solver!r} is not installed: pip install {_PACKAGES[solver]}")
            raise unknown_name("QP solver", solver, sorted(qpsolvers.available_solvers))
        self._qpsolvers = qpsolvers
        # These two take both bounds of a row at once, which qpsolvers does not: half the rows, and no row twice.
        native = {"daqp": self._by_daqp, "proxqp": self._by_proxqp}
        self._call = native.get(solver, self._by_qpsolvers)

    def solve(self, P: Array, q: Array, G: Array, lower: Array, upper: Array, attempt: int = 0) -> Array | None:
        """The minimiser, or None where the solver found none.

        Args:
            P: positive definite, shape (n, n).
            q: shape (n,).
            G: rows, shape (m, n).
            lower: their lower bounds, -inf where there is none.
            upper: their upper bounds, inf where there is none.
            attempt: 0, or 1 where the programme has failed already: tolerances are wider then.
        """
        if not len(G):
            return np.asarray(np.linalg.solve(P, -q), dtype=float)
        try:
            z = self._call(P, q, G, np.maximum(lower, -_INFINITE), np.minimum(upper, _INFINITE), attempt)
        except Exception:  # whatever a solver throws at hard numbers is "no answer" to the cascade, which tries again
            return None
        return z if z is not None and np.isfinite(z).all() else None

    def hold(self, P: Array, q: Array, G: Array, lower: Array, upper: Array) -> tuple[Array, Array] | None:
        """The minimiser by DAQP and the multipliers of the rows, positive at upper bounds; None where there is none."""
        high, low = np.minimum(upper, 1e30), np.maximum(lower, -1e30)
        if not abs(float(q.sum() + high.sum() + low.sum())) < np.inf:
            return None
        sense = np.zeros(len(G), dtype=np.int32)
        z, _, flag, info = _daqp().solve(P, q, np.ascontiguousarray(G), high, low, sense, primal_tol=1e-11)
        return (z, info["lam"]) if flag > 0 and z.dot(z) < np.inf else None

    def _by_daqp(self, P: Array, q: Array, G: Array, lower: Array, upper: Array, attempt: int) -> Array | None:
        sense = np.zeros(len(G), dtype=np.int32)
        tolerance = (5e-12, 1e-8)[attempt]
        lower, upper = np.where(lower <= -_INFINITE, -1e30, lower), np.where(upper >= _INFINITE, 1e30, upper)
        z, _, flag, _ = _daqp().solve(P, q, np.ascontiguousarray(G), upper, lower, sense, primal_tol=tolerance)
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
        programme.init(P, q, None, None, G, lower, upper)
        programme.solve()
        solved = programme.results.info.status == proxqp.QPSolverOutput.PROXQP_SOLVED
        return np.array(programme.results.x) if solved else None

    def _by_qpsolvers(self, P: Array, q: Array, G: Array, lower: Array, upper: Array, attempt: int) -> Array | None:
        above, below = upper < _INFINITE, lower > -_INFINITE
        rows, bounds = np.vstack([G[above], -G[below]]), np.concatenate([upper[above], -lower[below]])
        options = _ACCURATE.get(self.solver, {}) if attempt == 0 else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = self._qpsolvers.Problem(P, q, rows, bounds)
            solution = self._qpsolvers.solve_problem(problem, solver=self.solver, **options)
        return np.array(solution.x) if solution.found and solution.x is not None else None
