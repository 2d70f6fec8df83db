"""`wbc demo`, `wbc run` and `wbc show`: runs, and their logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wbc.application.commands.options import (
    INTERRUPTED,
    BackendOption,
    Duration,
    Host,
    Out,
    Period,
    Port,
    Realtime,
    SimulatorName,
    SolverName,
    View,
    Web,
    failure,
)
from wbc.application.terminal import tell
from wbc.errors import WbcError, unknown_name

if TYPE_CHECKING:
    from wbc.simulation import Runnable
    from wbc.sweeps import Case

VIDEO = "Write a GIF of the run; needs MuJoCo with OpenGL."


def demo(
    robot: Annotated[
        str, typer.Argument(metavar="[quadruped|humanoid]", help="Which robot shows what it can do.")
    ] = "quadruped",
    backend: BackendOption = "auto",
    solver: SolverName = "",
    simulator: SimulatorName = "",
    duration: Duration = None,
    period: Period = None,
    out: Out = Path("out"),
    view: View = False,
    video: Annotated[bool, typer.Option("--video/--no-video", help=VIDEO)] = True,
    realtime: Realtime = False,
) -> None:
    """See a quadruped stand, be pushed, recover and trot, or a humanoid walk, be pushed and climb steps.

    Prints tracking errors, margins, and the time of a tick. numpy and Pinocchio
    are both timed, on the same states. Writes a log, a picture, and a video.

    Exit code: 0 it finished, 1 the robot fell or the simulation became
    unstable, 2 wrong usage, 130 Ctrl-C. The log is kept.

    Try:

      wbc demo

      wbc demo humanoid

      wbc demo --view

      wbc demo --simulator builtin --backend numpy --no-video
    """
    scenes = {"quadruped": "demo", "humanoid": "demo-humanoid"}
    if robot not in scenes:
        raise typer.BadParameter(str(unknown_name("robot of the demonstration", robot, scenes)), param_hint="ROBOT")
    beside = not (view or realtime)  # a second controller would make it late
    _run(
        scenes[robot],
        simulator,
        solver,
        backend,
        out,
        duration=duration,
        period=period,
        view=view,
        video=video,
        realtime=realtime,
        beside=beside,
    )


def run_scene(
    what: Annotated[
        str,
        typer.Argument(
            metavar="EXAMPLE|FILE",
            help="demo, demo-humanoid, the number or name of an example, a Python or a TOML file.",
        ),
    ],
    backend: BackendOption = "auto",
    solver: SolverName = "",
    simulator: SimulatorName = "",
    duration: Duration = None,
    period: Period = None,
    out: Out = Path("out"),
    view: View = False,
    video: Annotated[bool, typer.Option("--video/--no-video", help=VIDEO)] = False,
    realtime: Realtime = False,
    case: Annotated[
        str, typer.Option(metavar="HASH", help="Repeat a case of a sweep, by its name or the beginning of its name.")
    ] = "",
    runs: Annotated[Path, typer.Option(help="Folder of the sweep (or of several sweeps) that has the case.")] = Path(
        "runs"
    ),
    robot: Annotated[str, typer.Option(help="Robot of a stack in a TOML file: a file or a name.")] = "",
    web: Web = False,
    host: Host = "127.0.0.1",
    port: Port = 8080,
) -> None:
    """Run an example, a Python file of yours that has a function scene(), or a stack in a TOML file.

    The function returns a wbc.simulation.Scene: a controller, its plant, and a
    duration. It may have the arguments backend, solver and simulator.

    Exit code: 0 it finished, 1 the robot fell or the simulation became
    unstable, 2 wrong usage, 130 Ctrl-C. The log is kept.

    Try:

      wbc run 6 --video

      wbc run 5 --solver weighted-qp --simulator builtin

      wbc run my_robot.py --view --duration 20

      wbc run demo --web

      wbc run stack.toml --robot my_robot.urdf

      wbc run demo --case 3f2a9c --runs runs/push --view
    """
    if web and view:
        raise typer.BadParameter("give --web or --view, not both", param_hint="--web/--view")
    from wbc.application.live import Where

    _run(
        what,
        simulator,
        solver,
        backend,
        out,
        case=case,
        runs=runs,
        robot=robot,
        web=Where(host, port) if web else None,
        duration=duration,
        period=period,
        view=view,
        video=video,
        realtime=realtime,
    )


def show(
    log: Annotated[Path, typer.Argument(help="A log written by wbc run or wbc demo.")],
    out: Annotated[
        Path | None, typer.Option(help="File for the plots, .png, .svg or .pdf. Default: LOG_plots.png, beside it.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Export the log to this file for other programs instead: .npz, .mcap or .csv.")
    ] = None,
    web: Web = False,
    robot: Annotated[str, typer.Option(help="With --web: the robot's file. Default: the packaged robot.")] = "",
    floating: Annotated[
        bool | None,
        typer.Option("--floating/--fixed", help="With --web: whether the base moves. Default: as in the log."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
) -> None:
    """Show a log: a summary, and plots in a picture. An incomplete log is shown as far as it goes.

    With --web: the robot on a page in a browser, with a timeline.

    Exit code: 0; 1 if the log can't be read or drawn; 2 wrong usage.

    Try:

      wbc show out/demo.log

      wbc show out/demo.log --out demo.pdf

      wbc show out/demo.log --web

      wbc show out/demo.log --export demo.mcap
    """
    from wbc.application import reports
    from wbc.application.session import draw
    from wbc.simulation import read_log

    try:
        found = read_log(log)
        if export is not None:
            from wbc.simulation import save

            save(found, export)
            tell(f"wrote {export}")
            return
        if web:
            from wbc.application.live import Where, replay

            tell(reports.run(found), "")
            replay(found, robot, floating, Where(host, port))
            return
    except WbcError as error:
        raise failure(error, 1) from None
    tell(reports.run(found), "", reports.ticks(found), "")
    if not draw(found, log.with_name(f"{log.stem}_plots.png") if out is None else out):
        raise typer.Exit(1)


def _run(
    what: str,
    simulator: str,
    solver: str,
    backend: str,
    out: Path,
    case: str = "",
    runs: Path = Path("runs"),
    robot: str = "",
    **options: Any,  # noqa: ANN401
) -> None:
    """Runs a scene, and ends with the exit code that says how it went."""
    from wbc.application import load_scene, scene_file, session
    from wbc.scenes import DEMONSTRATIONS, scene_arguments

    def make(name: str) -> Runnable:
        if asked is not None:
            return load(asked, name, solver, simulator)
        return load_scene(what, name, solver, simulator, {"robot": robot} if robot else None)

    asked: Case | None = None
    try:
        name = what if what in DEMONSTRATIONS else scene_file(what).stem
        if robot and "robot" not in scene_arguments(what).parameters:
            raise WbcError(f"--robot is for stacks in TOML files; {what} has its own robot")
        if case:
            from wbc.application.sweeping import find_case, load

            asked = find_case(what, case, runs)
            name = f"{name}_{asked.hash}"
        log = session.run(make, name, backend, out, **options)
    except WbcError as error:
        raise failure(error, 2) from None
    if log.ended == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if log.ended not in ("finished", "stopped"):
        raise typer.Exit(1)
