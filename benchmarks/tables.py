"""The tables of the README in Markdown, from the repetitions of a run; nothing is timed here.

A ratio is taken within a repetition. A cell is the median over the repetitions, and in brackets the lowest and the
highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.ticks import Measured, Ticks


@dataclass(frozen=True)
class Results:
    """What a run found.

    Attributes:
        solver: what solvers and backends with a compiled twin ran on.
        gaps: by scene, the worst gap to a level's optimum: of DAQP's hierarchy, and of the exact solver.
        repetitions: one after the other.
    """

    solver: str
    gaps: dict[str, tuple[float, float]]
    repetitions: list[Measured]

    def of(self, table: str, row: str, field: str = "median") -> list[float]:
        """A figure of every repetition; empty where there is none.

        Args:
            table: of a repetition.
            row: of the table.
            field: of `Ticks`.
        """
        rows = [repetition.get(table, {}).get(row, Ticks(float("nan"))) for repetition in self.repetitions]
        found = [float(getattr(ticks, field)) for ticks in rows]
        return found if np.isfinite(found).all() else []


PEER_ROWS = {
    "tsid 1.7.1": "TSID 1.7.1 (C++): one weighted QP",
    "placo 0.10.2": "PlaCo 0.10.2 (C++): one weighted QP",
    "hierarchical-qp": '`"hierarchical-qp"`: strict levels, exact',
    "weighted-qp": '`"weighted-qp"`: one weighted QP',
    "sequential-qp": '`"sequential-qp"`: strict levels, a QP each',
    "DAQP's hierarchy": "DAQP's own hierarchy as our solver: strict levels, not exact",
}
SCENES = {"anymal": "ANYmal", "talos": "Talos"}


def beside_peers(results: Results) -> str:
    """Whole ticks on the peers' scenes."""
    head = [f"{name}: {what}" for name in SCENES.values() for what in ("median", "99 %")]
    unit = "tsid 1.7.1" if results.of("anymal", "tsid 1.7.1") else "hierarchical-qp"
    rows = []
    for row, title in PEER_ROWS.items():
        cells = []
        for scene in SCENES:
            fields = ("median", "high")
            cells += [against(results.of(scene, row, one), results.of(scene, unit, one), row == unit) for one in fields]
        rows.append([title, *cells])
    theirs, ours = (max(results.gaps[scene][k] for scene in SCENES) for k in (0, 1))
    return (
        f"ANYmal (18 velocities) on 4 points, Talos (38) on 2 soles; our solvers on Pinocchio and {results.solver}. "
        f"Multiples of the tick that is 1:\n\n"
        f"{markdown(['whole tick', *head], rows)}\n\n"
        f"In 50 of these states DAQP's hierarchy leaves a level up to {theirs:.0e} from its optimum, relative to 1 + "
        f"its residual; `hierarchical-qp` {ours:.0e}, which is what the judge can tell."
    )


def growth(results: Results) -> str:
    """Chains of more and more joints, a humanoid with more and more levels."""
    rows = []
    for table in ("chain, few torques at limits", "chain, many torques at limits", "levels"):
        first = next(iter(results.repetitions[0][table]))
        unit = results.of(table, first)
        for row in results.repetitions[0][table]:
            median, high = results.of(table, row), results.of(table, row, "high")
            title = (
                f"humanoid, {row} levels" if table == "levels" else f"chain of {row} joints,{table.partition(',')[2]}"
            )
            rows.append([title, against(median, unit), milliseconds(median), milliseconds(high)])
    return (
        f'`"hierarchical-qp"` on {results.solver}, Pinocchio. A chain is in a random state in every tick, with '
        f"up to a third of its torques at their limits (few), or four in ten and more (many); the humanoid has random "
        f"velocities. Multiples of the first line of the kind:\n\n"
        f"{markdown(['whole tick', 'ratio', 'median', '99 %'], rows)}"
    )


def changes(results: Results) -> str:
    """Ticks in which feet change, and the demonstration."""
    rows = []
    for table in [name for name in results.repetitions[0] if " on " in name]:
        unit = results.of(table, "steady")
        cells = [milliseconds(unit)]
        for row in ("again", "first"):
            median = results.of(table, row)
            cells += [against(median, unit), milliseconds(median)]
        rows.append([table, *cells])
    head = ["feet come off and down", "other ticks", "feet change", "median", "for the first time", "median"]
    demo = []
    for backend in results.repetitions[0]["demo"]:
        times = [milliseconds(results.of("demo", backend, field), True) for field in ("median", "high", "highest")]
        shares = [percent(results.of("demo", backend, field)) for field in ("over_half", "over_one")]
        demo.append([f"on {backend}", *times, *shares])
    over = ["`wbc demo`, 10,500 ticks", "median", "99 %", "99.9 %", "over 0.5 ms", "over 1 ms"]
    return (
        f"Ticks in which feet change, as multiples of the others, and all ticks of the demonstration; solver and numpy "
        f"backend on {results.solver}:\n\n{markdown(head, rows)}\n\n{markdown(over, demo)}"
    )


BACKEND_ROWS = {
    "numpy": ('`"numpy"`', "nothing else", "ours, all rigid parts at once; here on the compiled kernel"),
    "numpy, kernel off": ('`"numpy"`', "nothing else", "the same without the compiled kernel; readable"),
    "pinocchio": ('`"pinocchio"`', "`wbc[pinocchio]`", "Pinocchio, with a base in our coordinates"),
    "mujoco": (
        '`"mujoco"`',
        "`wbc[mujoco]`",
        "MuJoCo's rigid-body dynamics, with tendons, fluids and all other forces of an MJCF",
    ),
}


def backends(results: Results) -> str:
    """M and h on each backend."""
    rows = []
    for row, (name, needs, what) in BACKEND_ROWS.items():
        cells = [against(results.of(robot, row), results.of(robot, "computeAllTerms")) for robot in ROBOTS]
        rows.append([name, needs, *cells, what])
    head = ["backend", "needs", *(f"M and h, {robot}" for robot in ROBOTS), "what it is"]
    units = " and ".join(f"{1e6 * float(np.median(results.of(robot, 'computeAllTerms'))):.1f} µs" for robot in ROBOTS)
    return f"{markdown(head, rows)}\n\nTimes are multiples of Pinocchio's own `computeAllTerms` ({units})."


ROBOTS = ("quadruped", "humanoid")


def against(values: Sequence[float], units: Sequence[float], is_unit: bool = False) -> str:
    """A ratio with its spread, such as "1.5 × (1.4–1.6)"; of the unit itself, its time.

    Args:
        values: by repetition.
        units: what they are divided by.
        is_unit: whether the values are the unit.
    """
    if not values or not units:
        return "-"
    if is_unit:
        return f"1 ({1e6 * float(np.median(values)):.0f} µs)"
    ratios = np.array(values) / np.array(units)
    return f"{_short(np.median(ratios))} × ({_short(ratios.min())}–{_short(ratios.max())})"


def milliseconds(values: Sequence[float], spread: bool = False) -> str:
    """A time in ms.

    Args:
        values: s, by repetition.
        spread: whether to give lowest and highest.
    """
    if not values:
        return "-"
    ms = 1e3 * np.array(values)
    return f"{_short(np.median(ms))} ms" + (f" ({_short(ms.min())}–{_short(ms.max())})" if spread else "")


def percent(values: Sequence[float]) -> str:
    """A share in percent.

    Args:
        values: by repetition.
    """
    return f"{100 * float(np.median(values)):.2f} %" if values else "-"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table.

    Args:
        head: titles of the columns.
        rows: cells.
    """
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def _short(value: float) -> str:
    """Two digits, or three where the first is a 1."""
    digits = 3 if f"{value:.1e}"[0] == "1" else 2
    return f"{float(f'{value:.{digits - 1}e}'):.10g}"
