"""The command line, `wbc` or `python -m wbc`: the only module that prints."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType

import wbc
from wbc import reports
from wbc.errors import WbcError, WbcWarning
from wbc.model import Model, packaged_robots

PIPE_WIDTH = 1000
"""Columns of what is not a terminal: lines are not wrapped for whatever reads them."""

app = typer.Typer(
    name="wbc",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Runs the command line: the entry point of `wbc`."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # not a text file, or closed
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # names may be any text
    try:
        app(prog_name="wbc")
    except OSError as error:  # of the output: a full disk, say
        sys.exit(f"wbc: {error.strerror or error}")


def _show(*parts: RenderableType, error: bool = False) -> None:
    """Prints to the terminal in colour, to anything else as plain text of whatever width it has."""
    console = Console(stderr=error, highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))


def _version(asked: bool) -> None:
    if asked:
        _show(f"wbc {wbc.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Whole-body control: tasks in strict priority become joint torques, on any robot.

    Start with [bold]wbc demo[/bold]: a quadruped under control; then [bold]wbc robots[/bold]: the robots that come with
    the package, or what is in a file of your own.
    """


@app.command()
def robots(
    robot: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE]", help="A packaged robot, or any URDF or MJCF file.", show_default=False),
    ] = None,
    floating: Annotated[
        bool | None,
        typer.Option("--floating/--fixed", help="Whether the base moves freely (URDF). Default: as the file says."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict/--no-strict", help="Whether unphysical inertias make a URDF unusable.")
    ] = True,
) -> None:
    """List the packaged robots, or show one: its tree, joints, limits and frames, and what in its file looks wrong.

    Exit code: 0 the file can be used, 1 it can't (one line a problem on stderr), 2 wrong usage.

    Try:

      wbc robots

      wbc robots quadruped

      wbc robots my_robot.urdf --floating
    """
    if robot is None:
        if floating is not None or not strict:
            raise typer.BadParameter("it needs a robot: wbc robots NAME|FILE", param_hint="--floating/--no-strict")
        _show(reports.overview(_load(name, None, True)[0] for name in packaged_robots()))
        _show("", "wbc robots NAME shows one of them, wbc robots FILE what is in a URDF or MJCF file.")
        return
    if robot not in packaged_robots() and not Path(robot).is_file():
        raise typer.BadParameter(_reason(robot), param_hint="NAME|FILE")
    try:
        model, unusual = _load(robot, floating, strict)
    except WbcError as error:
        if str(error).startswith("floating="):
            raise typer.BadParameter(str(error), param_hint="--floating/--fixed") from None
        for problem in error.problems:
            line = problem if problem.startswith("warning: ") else f"error: {problem.removeprefix(f'{robot}: ')}"
            _show(f"{robot}: {line.replace('strict=False', '--no-strict')}", error=True)
        raise typer.Exit(1) from None
    _show(reports.summary(model), "", reports.tree(model), "")
    if model.nv:
        _show(reports.joints(model), "")
    _show(reports.frames(model))
    if unusual:
        _show("", "unusual in the file:", *(f"  {message.removeprefix(f'{robot}: ')}" for message in unusual))


def _load(robot: str, floating: bool | None, strict: bool) -> tuple[Model, list[str]]:
    """A robot, and the warnings about its file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", WbcWarning)
        model = wbc.load(robot, backend="numpy", floating=floating, strict=strict).model
    return model, [str(warning.message) for warning in caught]


def _reason(robot: str) -> str:
    """Why there is nothing of that name."""
    try:
        _load(robot, None, True)
    except WbcError as error:
        return str(error)
    return "it was not there a moment ago"


Backend = Annotated[str, typer.Option(help="Dynamics: auto, numpy, pinocchio or mujoco.")]
SolverName = Annotated[
    str, typer.Option(help="hierarchical-qp, sequential-qp, weighted-qp, nullspace or operational-space.")
]
SimulatorName = Annotated[str, typer.Option(help="What is simulated in: mujoco or builtin.")]
Duration = Annotated[float | None, typer.Option(help="Simulated time, s. Default: what the scene takes.", min=0.0)]
Out = Annotated[Path, typer.Option(help="Folder for the log and the picture.")]


@app.command()
def demo(
    backend: Backend = "auto",
    solver: SolverName = "hierarchical-qp",
    simulator: SimulatorName = "",
    duration: Duration = None,
    out: Out = Path("out"),
) -> None:
    """See a quadruped stand, follow a motion of its base, be pushed, and recover.

    Writes a log and a picture, and prints how well it went.

    Exit code: 0 it stood to the end, 1 it did not, 2 wrong usage.
    """
    _run("demo", backend, solver, simulator, duration, None, out)


@app.command("run")
def run_scene(
    what: Annotated[
        str, typer.Argument(metavar="EXAMPLE|FILE", help="The name or number of an example, or a Python file.")
    ],
    backend: Backend = "auto",
    solver: SolverName = "hierarchical-qp",
    simulator: SimulatorName = "",
    duration: Duration = None,
    period: Annotated[float | None, typer.Option(help="Of the control, s. Default: a millisecond.")] = None,
    out: Out = Path("out"),
) -> None:
    """Run an example, or a file of yours that has a function scene(backend=, solver=, simulator=).

    Exit code: 0 it ran to its end, 1 it fell, became unstable or can't be run, 2 wrong usage.
    """
    _run(what, backend, solver, simulator, duration, period, out)


@app.command()
def show(
    log: Annotated[Path, typer.Argument(help="A log that wbc run or wbc demo has written.")],
    out: Annotated[Path | None, typer.Option(help="File for the plots. Default: beside the log.")] = None,
) -> None:
    """Show what is in a log: a summary, and plots in a picture. Exit code: 0, or 1 if it can't be read."""
    from wbc.simulation import read_log

    try:
        found = read_log(log)
        _show(reports.run(found))
        picture = log.with_suffix(".png") if out is None else out
        _draw(found, picture)
    except WbcError as error:
        _show(f"{error}", error=True)
        raise typer.Exit(1) from None


@app.command()
def compare(
    what: Annotated[str, typer.Argument(metavar="EXAMPLE|FILE", help="As for wbc run.")] = "demo",
    backend: Backend = "auto",
    simulator: SimulatorName = "",
    duration: Annotated[float, typer.Option(help="Simulated time, s.", min=0.01)] = 2.0,
) -> None:
    """Show the states of one run to every solver: how torques and level costs differ, what they broke, their time."""
    from wbc import application
    from wbc.solvers import solver_names

    simulator = simulator or _simulator()
    try:
        log, found = application.compare(
            lambda solver: application.load_scene(what, backend, solver, simulator), solver_names(), duration
        )
    except WbcError as error:
        raise typer.BadParameter(str(error)) from None
    _show(
        reports.comparison(found), "", f"{len(log)} ticks, run by {found[0].solver}; the others saw every tenth state"
    )


def _run(
    what: str,
    backend: str,
    solver: str,
    simulator: str,
    duration: float | None,
    period: float | None,
    out: Path,
) -> None:
    """Runs a scene with a progress bar, and leaves its log, its picture and a summary."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from wbc import application

    try:
        scene = application.load_scene(what, backend, solver, simulator or _simulator())
        out.mkdir(parents=True, exist_ok=True)
        stem = Path(what).stem
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
            bar = progress.add_task(stem, total=1.0)
            log = scene.run(duration, period, out / f"{stem}.log", lambda share: progress.update(bar, completed=share))
    except WbcError as error:
        _show(f"{error}", error=True)
        raise typer.Exit(2) from None
    _show(reports.run(log, scene.controller.period if period is None else period))
    _show(f"wrote {out / f'{stem}.log'}")
    _draw(log, out / f"{stem}.png")
    if log.ended not in ("finished", "stopped"):
        raise typer.Exit(1)


def _draw(log: wbc.Log, path: Path) -> None:
    """Writes the plots of a log, if matplotlib is there."""
    try:
        from wbc.plots import draw_log
    except WbcError as error:
        _show(f"no picture: {error}")
        return
    draw_log(log, path)
    _show(f"wrote {path}")


def _simulator() -> str:
    """MuJoCo where it is installed, else what is built in."""
    import importlib.util

    return "mujoco" if importlib.util.find_spec("mujoco") else "builtin"
