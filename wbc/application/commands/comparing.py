"""`wbc compare` and `wbc bench`: solvers and backends beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wbc.application.commands.options import BackendOption, SimulatorName, failure
from wbc.application.terminal import progress, tell
from wbc.errors import WbcError

if TYPE_CHECKING:
    from wbc.simulation import Runnable


def compare(
    what: Annotated[str, typer.Argument(metavar="EXAMPLE|FILE", help="As for wbc run.")] = "demo",
    backend: BackendOption = "auto",
    simulator: SimulatorName = "",
    duration: Annotated[float, typer.Option(help="Simulated time, s.")] = 2.0,
) -> None:
    """Solve the states of one run with every solver: differences of torques and level costs, violations, and times.

    Exit code: 0, or 2 for wrong usage.

    Try:

      wbc compare --duration 8

      wbc compare 3
    """
    from wbc import application
    from wbc.application import reports
    from wbc.solvers import solver_names

    def make(solver: str) -> Runnable:
        return application.load_scene(what, backend, solver, simulator)

    try:
        log, found = application.compare(make, solver_names(), duration)
    except WbcError as error:
        raise failure(error, 2) from None
    tell(reports.comparison(found), "", f"{len(log)} ticks, run by {found[0].name}")


def bench(
    robot: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|FILE]...", help="Default: quadruped and humanoid.")
    ] = None,
    backend: Annotated[str, typer.Option(help="One backend. Default: all that are installed.")] = "",
    solver: Annotated[str, typer.Option(help="One solver. Default: all.")] = "",
    ticks: Annotated[int, typer.Option(help="Number of ticks to time for each combination.")] = 500,
) -> None:
    """Time a tick of standing robots for every solver and backend, as ratios to the first line of a robot.

    A tick is one controller.step, at velocities that change from tick to tick.

    Exit code: 0, or 2 for wrong usage.

    Try:

      wbc bench

      wbc bench quadruped --solver hierarchical-qp
    """
    from wbc.application import bench as timer
    from wbc.application import reports
    from wbc.solvers import solver_names

    names = robot or ["quadruped", "humanoid"]
    solvers, backends = [solver] if solver else solver_names(), [backend] if backend else timer.backends()
    jobs = [(name, one, other) for name in names for one in solvers for other in backends]
    found = []
    try:
        with progress() as bar:
            task = bar.add_task("bench", total=len(jobs))
            for name, one, other in jobs:
                bar.update(task, description=f"{name}, {one} on {other}")
                found.append(timer.measure(name, one, other, *timer.standing(name, other, one), ticks))
                bar.advance(task)
    except WbcError as error:
        raise failure(error, 2) from None
    tell(f"elastic-qp, hierarchical-qp, weighted-qp and the backend numpy run on {timer.runs_on()}", "")
    tell(reports.timings(found), "", f"medians of {ticks} ticks; backend, tasks, solver and rest in µs")
