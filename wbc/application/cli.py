"""The command line, `wbc` or `python -m wbc`: what it prints, `wbc.application.terminal` prints."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import wbc
from wbc.application.hardware import hardware_sim
from wbc.application.terminal import progress, tell, tell_json, tell_problem
from wbc.errors import WbcError, WbcWarning

if TYPE_CHECKING:
    from wbc.model import Model
    from wbc.simulation import Runnable
    from wbc.sweeps import Case

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

UsageError: Any = typer.BadParameter.__mro__[1]  # typer does not export it
"""What the command line raises about wrong arguments."""

app = typer.Typer(
    name="wbc",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line: the entry point of `wbc`.

    Args:
        arguments: words of the command; None: those of this process.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # not a text file, or closed
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # names may be any text
    try:
        code = app(arguments, prog_name="wbc", standalone_mode=False)
    except UsageError as error:
        tell_problem(error.format_message())
        code = error.exit_code
    except OSError as error:  # of the output: a full disk, say
        sys.exit(f"wbc: {error.strerror or error}")
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except SystemExit as end:
        if hasattr(end, "signal"):  # see wbc.simulation.signals
            tell_problem(f"ended by {end.signal}; the log has all up to then")
        raise
    sys.exit(code)


def _version(asked: bool) -> None:
    if asked:
        from wbc import compiled

        tell(f"wbc {wbc.__version__}, on {'numpy' if compiled.kernel is None else 'the compiled kernel'}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Whole-body control: tasks in strict priority become joint torques, on any robot.

    Start with [bold]wbc demo[/bold]: a quadruped under control. Then
    [bold]wbc robots[/bold]: the robots that come with the package, or what is
    in a file of yours; [bold]wbc run[/bold]: an example, or a scene of yours.

    Exit codes: 0 it went well, 1 it did not, 2 it can't be done like that,
    130 Ctrl-C.
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
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="Compile an MJCF in a process of its own, within bounds.")
    ] = False,
    meshes: Annotated[
        list[Path] | None, typer.Option(help="A folder in which meshes may be, beside the robot's own; once for each.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the shapes that may collide, with the nearest pair, into a PNG.")
    ] = None,
) -> None:
    """List the packaged robots, or show one: its tree, joints, limits and frames, and what in its file looks wrong.

    Exit code: 0 the file can be used, 1 it can't (one line a problem on stderr), 2 wrong usage.

    Try:

      wbc robots

      wbc robots quadruped

      wbc robots my_robot.urdf --floating
    """
    from wbc.application import reports
    from wbc.model import packaged_robots

    if robot is None:
        if floating is not None or not strict or untrusted or meshes or picture:
            hint = "--floating/--no-strict/--untrusted/--meshes/--picture"
            raise typer.BadParameter("it needs a robot: wbc robots NAME|FILE", param_hint=hint)
        tell(reports.overview(_load(name)[0] for name in packaged_robots()))
        tell("", "wbc robots NAME shows one of them, wbc robots FILE what is in a URDF or MJCF file.")
        return
    if robot not in packaged_robots() and not Path(robot).is_file():
        raise typer.BadParameter(_reason(robot), param_hint="NAME|FILE")
    try:
        model, unusual = _load(robot, floating, strict, not untrusted)
    except WbcError as error:
        if str(error).startswith("floating="):
            raise typer.BadParameter(str(error), param_hint="--floating/--fixed") from None
        for problem in error.problems:
            line = problem if problem.startswith("warning: ") else f"error: {problem.removeprefix(f'{robot}: ')}"
            tell(f"{robot}: {line.replace('strict=False', '--no-strict')}", error=True)
        raise typer.Exit(1) from None
    tell(reports.summary(model), "", reports.tree(model), "")
    if model.nv:
        tell(reports.joints(model), "")
    tell(reports.frames(model))
    if model.actuators or model.loops:
        tell("", reports.beside_the_tree(model))
    if model.notes:
        tell("", "found by its shapes, as the file does not name it:", *(f"  {note}" for note in model.notes))
    if unusual:
        tell("", "unusual in the file:", *(f"  {message.removeprefix(f'{robot}: ')}" for message in unusual))
    if model.nv:
        _collisions(model, meshes or [], picture)


def _collisions(model: Model, meshes: list[Path], picture: Path | None) -> None:
    """Tells of the shapes that may collide, and draws them."""
    from wbc.application import reports
    from wbc.collision import CollisionGeometry
    from wbc.dynamics.numpy import NumpyDynamics

    try:
        geometry = CollisionGeometry(NumpyDynamics(model.replace(left_out=())), meshes=meshes)
        if geometry.solids:
            tell("", reports.collisions(geometry))
        if picture is not None:
            from wbc.application.plots import draw_collisions

            draw_collisions(geometry, picture)
            tell(f"wrote {picture}")
    except WbcError as error:
        raise _failure(error, 1) from None


def _load(
    robot: str, floating: bool | None = None, strict: bool = True, trusted: bool = True
) -> tuple[Model, list[str]]:
    """A robot, and the warnings about its file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", WbcWarning)
        model = wbc.load(robot, floating=floating, strict=strict, trusted=trusted).model
    only = [f"forces that only the backend mujoco computes: {', '.join(model.left_out)}"] if model.left_out else []
    return model, [*(str(warning.message) for warning in caught), *only]


def _reason(robot: str) -> str:
    """Why there is nothing of that name."""
    try:
        _load(robot)
    except WbcError as error:
        return str(error)
    return "it was not there a moment ago"


BackendOption = Annotated[
    str, typer.Option(help="Dynamics: auto, numpy, pinocchio or mujoco. auto is Pinocchio where it is installed.")
]
SolverName = Annotated[
    str, typer.Option(help="hierarchical-qp, sequential-qp, weighted-qp, nullspace or operational-space.")
]
SimulatorName = Annotated[
    str,
    typer.Option(help="mujoco or builtin. Default: MuJoCo where it is installed.", show_default=False),
]
Duration = Annotated[
    float | None, typer.Option(help="Simulated time, s. Default: what the scene takes.", show_default=False)
]
Period = Annotated[
    float | None,
    typer.Option(
        help="Of the control, s: a multiple of the simulator's timestep. Default: the controller's own.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option(help="Folder for the log, the picture and the video.")]
View = Annotated[bool, typer.Option("--view", help="Open MuJoCo's viewer, where there is a display; in real time.")]
Realtime = Annotated[bool, typer.Option("--realtime", help="Go no faster than the clock.")]
Web = Annotated[bool, typer.Option("--web", help="Show it on a page in a browser; see docs/web.md.")]
Host = Annotated[str, typer.Option(help="Address that the page is bound to.")]
Port = Annotated[int, typer.Option(help="Of the page; the next free one, where it is in use.")]
VIDEO = "A GIF of the run, where MuJoCo can render."


@app.command()
def demo(
    backend: BackendOption = "auto",
    solver: SolverName = "hierarchical-qp",
    simulator: SimulatorName = "",
    duration: Duration = None,
    period: Period = None,
    out: Out = Path("out"),
    view: View = False,
    video: Annotated[bool, typer.Option("--video/--no-video", help=VIDEO)] = True,
    realtime: Realtime = False,
) -> None:
    """See a quadruped stand, follow a motion of its base, be pushed, recover, and trot.

    Prints how well it went: tracking, margins, and the time of a tick. numpy
    and Pinocchio are both timed, on the same states. Writes a log, a picture,
    and a video.

    Exit code: 0 it went on to the end, 1 it fell or the simulation became
    unstable, 2 it can't be run like that, 130 Ctrl-C. The log is kept.

    Try:

      wbc demo

      wbc demo --view

      wbc demo --simulator builtin --backend numpy --no-video
    """
    beside = not (view or realtime)  # a second controller would make it late
    _run(
        "demo",
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


@app.command("run")
def run_scene(
    what: Annotated[
        str,
        typer.Argument(metavar="EXAMPLE|FILE", help="demo, the number or name of an example, a Python or a TOML file."),
    ],
    backend: BackendOption = "auto",
    solver: SolverName = "hierarchical-qp",
    simulator: SimulatorName = "",
    duration: Duration = None,
    period: Period = None,
    out: Out = Path("out"),
    view: View = False,
    video: Annotated[bool, typer.Option("--video/--no-video", help=VIDEO)] = False,
    realtime: Realtime = False,
    case: Annotated[
        str, typer.Option(metavar="HASH", help="Of a sweep: run that case again, or one whose name begins like that.")
    ] = "",
    runs: Annotated[Path, typer.Option(help="Folder of the sweep, or of several, that has the case.")] = Path("runs"),
    robot: Annotated[str, typer.Option(help="For a stack in a TOML file: a file or a name.")] = "",
    web: Web = False,
    host: Host = "127.0.0.1",
    port: Port = 8080,
) -> None:
    """Run an example, a Python file of yours that has a function scene(), or a stack in a TOML file.

    The function makes a wbc.simulation.Scene: a controller, what it acts on, how long.
    It may have the arguments backend, solver and simulator.

    Exit code: 0 it went on to the end, 1 it fell or the simulation became
    unstable, 2 it can't be run like that, 130 Ctrl-C. The log is kept.

    Try:

      wbc run 6 --video

      wbc run 5 --solver weighted-qp --simulator builtin

      wbc run my_robot.py --view --duration 20

      wbc run demo --web

      wbc run stack.toml --robot my_robot.urdf

      wbc run demo --case 3f2a9c --runs runs/push --view
    """
    if web and view:
        raise typer.BadParameter("a run has a page or a window, not both", param_hint="--web/--view")
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


@app.command("try")
def try_file(
    robot: Annotated[
        str, typer.Argument(metavar="FILE|NAME", help="A URDF or MJCF file, with or without a scene, or a name.")
    ],
    feet: Annotated[
        list[str] | None, typer.Option(help="A body or frame that is a foot; once for each. Default: they are found.")
    ] = None,
    locked: Annotated[list[str] | None, typer.Option(help="A joint that is held fixed; once for each.")] = None,
    floating: Annotated[
        bool | None, typer.Option("--floating/--fixed", help="Whether the base moves freely (URDF).")
    ] = None,
    simulator: SimulatorName = "",
    out: Out = Path("out"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs; no file is written.")] = False,
) -> None:
    """Try a robot: it stands or holds its arm, goes round a small loop, and is pushed with a fifth of its weight.

    Says what was found in the file, what is left out and what was chosen, and
    how well it went. Writes a log and a picture.

    Exit code: 0 it stood and followed, 1 it fell, or did not follow, 2 it
    can't be done, with the reason.

    Try:

      wbc try my_robot.urdf

      wbc try scene.xml --json

      wbc try my_robot.xml --feet left_foot --feet right_foot
    """
    from wbc.application import reports
    from wbc.application.trial import try_robot

    options: dict[str, Any] = {"floating": floating, "locked": locked or ()}
    if feet:
        options["feet"] = feet
    try:
        trial = try_robot(robot, simulator=simulator, record=None if as_json else _in_folder(out, robot), **options)
    except WbcError as error:
        if as_json:
            tell_json({"robot": robot, "reason": str(error)})
            raise typer.Exit(2) from None
        raise _failure(error, 2) from None
    if as_json:
        tell_json(trial.plain())
    else:
        from wbc.application.session import draw

        tell(reports.trial(trial))
        if trial.log is not None and len(trial.log):
            tell("", f"wrote {_in_folder(out, robot)}")
            draw(trial.log, _in_folder(out, robot).with_suffix(".png"), trial.scene)
    if not (trial.stood and trial.followed):
        raise typer.Exit(1)


def _in_folder(out: Path, robot: str) -> Path:
    """Where the log of a trial goes. Many files of robots are called scene.xml: their folder tells them apart."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WbcError(f"can't make the folder {str(out)!r}: {error.strerror}") from None
    file = Path(robot).resolve()
    folder = f"{file.parent.name}_" if file.is_file() and file.stem.startswith("scene") else ""
    return out / f"try_{folder}{file.stem}.log"


@app.command()
def show(
    log: Annotated[Path, typer.Argument(help="A log that wbc run or wbc demo has written.")],
    out: Annotated[
        Path | None, typer.Option(help="File for the plots, .png, .svg or .pdf. Default: LOG_plots.png, beside it.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write it for other programs instead: a file .npz, .mcap or .csv.")
    ] = None,
    web: Web = False,
    robot: Annotated[str, typer.Option(help="Of the page: the file of the robot. Default: the packaged one.")] = "",
    floating: Annotated[
        bool | None,
        typer.Option("--floating/--fixed", help="Of the page: whether its base moves. Default: see the log."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
) -> None:
    """Show what is in a log: a summary, and plots in a picture. A log that breaks off is shown up to there.

    With --web: the robot on a page in a browser, with a timeline.

    Exit code: 0, 1 if it can't be read or drawn, 2 wrong usage.

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
        raise _failure(error, 1) from None
    tell(reports.run(found), "", reports.ticks(found), "")
    if not draw(found, log.with_name(f"{log.stem}_plots.png") if out is None else out):
        raise typer.Exit(1)


@app.command()
def compare(
    what: Annotated[str, typer.Argument(metavar="EXAMPLE|FILE", help="As for wbc run.")] = "demo",
    backend: BackendOption = "auto",
    simulator: SimulatorName = "",
    duration: Annotated[float, typer.Option(help="Simulated time, s.")] = 2.0,
) -> None:
    """Show the states of one run to every solver: how torques and level costs differ, what they broke, their time.

    Exit code: 0, or 2 if it can't be run like that.

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
        raise _failure(error, 2) from None
    tell(reports.comparison(found), "", f"{len(log)} ticks, run by {found[0].name}")


@app.command()
def bench(
    robot: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|FILE]...", help="Default: quadruped and humanoid.")
    ] = None,
    backend: Annotated[str, typer.Option(help="One of them. Default: all that are installed.")] = "",
    solver: Annotated[str, typer.Option(help="One of them. Default: all.")] = "",
    ticks: Annotated[int, typer.Option(help="That are timed of each.")] = 500,
) -> None:
    """Time a tick of standing robots for every solver and backend, as ratios to the first line of a robot.

    A tick is controller.step: state in, torques out, at velocities that change from tick to tick.

    Exit code: 0, or 2 if it can't be run like that.

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
        raise _failure(error, 2) from None
    tell(f"hierarchical-qp, weighted-qp and the backend numpy run on {timer.runs_on()}", "")
    tell(reports.timings(found), "", f"medians of {ticks} ticks; backend, tasks, solver and rest in µs")


app.command("hardware-sim")(hardware_sim)

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUES", help="30:120:10, a grid; a,b,c; normal(1,0.05); uniform(0.9,1.1). Many times."
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Processes. Default: one a core.", show_default=False)]
TimeLimit = Annotated[float, typer.Option(help="That a case may take, s.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def sweep(
    what: Annotated[str, typer.Argument(metavar="[EXAMPLE|FILE]", help="As for wbc run.", show_default=False)] = "",
    parameters: Sets = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many, from 0 on.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the rows and logs.")] = Path("runs/sweep"),
    jobs: Jobs = None,
    dask: Annotated[str, typer.Option(metavar="ADDRESS", help="Of a Dask scheduler: run there.")] = "",
    logs: Annotated[str, typer.Option(help="Whose logs are kept: failures, all or none.")] = "failures",
    time_limit: TimeLimit = 600.0,
    show: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Run nothing: show what is there.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a scene many times: every combination of values, with every seed, on all cores or on a cluster.

    What can be set are the arguments of the function scene(), the parts of its
    realism (realism.mass), and gains and weights of its tasks (base.gains).
    Rows are written as they come: the same command on the same folder goes on.

    Exit code: 0 all cases have a row, 2 it can't be run like that, 130 Ctrl-C.

    Try:

      wbc sweep demo --set share=0.2:0.8:4 --set realism.mass=0.9:1.1:3 --out runs/push

      wbc sweep 5 --set share=0.2,0.3 --set realism.noise.position=1e-3 --seeds 20

      wbc sweep --show runs/push
    """
    from wbc.application import sweeping
    from wbc.sweeps import Table

    if bool(what) == (show is not None):
        raise typer.BadParameter("give a scene, or --show FOLDER", param_hint="EXAMPLE|FILE")
    try:
        if show is not None:
            table = Table(show)
        else:
            asked = sweeping.chosen(what, parameters or [], seeds)
            table = sweeping.run_sweep(asked, out, dask, jobs=None if dask else jobs, logs=logs, time_limit=time_limit)
        sweeping.report(table)  # first: whoever reads the table may stop
        sweeping.tell_table(table, as_json)
    except WbcError as error:
        raise _failure(error, 2) from None
    except KeyboardInterrupt:
        tell_problem(f"stopped; the rows up to here are in {out}, and the same command goes on")
        raise typer.Exit(INTERRUPTED) from None


@app.command()
def tune(
    what: Annotated[str, typer.Argument(metavar="EXAMPLE|FILE", help="As for wbc run.")],
    ranges: Annotated[
        list[str],
        typer.Option("--range", metavar="NAME=LOW:HIGH", help="base.gains=0.5:8; posture.weight=1e-3:1:log; a,b,c."),
    ],
    score: Annotated[str, typer.Option(help="Number of a row, less is better: errors.base.rms, or a sum with +.")],
    parameters: Sets = None,
    seeds: Annotated[int, typer.Option(min=1, help="That judge each trial.")] = 1,
    trials: Annotated[int, typer.Option(min=1, help="That the study is to have.")] = 100,
    storage: Annotated[
        str | None, typer.Option(help="Of Optuna, such as sqlite:///tune.db.", show_default=False)
    ] = None,
    study: Annotated[str | None, typer.Option(help="Its name there. Default: the scene's.", show_default=False)] = None,
    jobs: Jobs = None,
    time_limit: TimeLimit = 600.0,
    out: Annotated[Path, typer.Option(help="File for the report.")] = Path("tuning.html"),
    as_json: AsJson = False,
) -> None:
    """Look for gains, weights and other values with the least score, by Optuna.

    With a storage, any number of these commands work on one study.

    Exit code: 0, 2 it can't be run like that, 130 Ctrl-C.

    Try:

      wbc tune 11 --range hz=0.5:8 --range posture.weight=1e-3:1:log --score errors.base.rms --trials 50
    """
    from wbc.application import sweeping

    options = {"score": score, "trials": trials, "storage": storage or None, "study": study or None, "jobs": jobs}
    try:
        best = sweeping.run_tuning(what, ranges, parameters or [], seeds, time_limit=time_limit, **options)
    except WbcError as error:
        raise _failure(error, 2) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    sweeping.report_study(best, out)
    if as_json:
        names = ("scene", "values", "score", "own", "trials", "pruned")
        tell(json.dumps({name: getattr(best, name) for name in names}))
    else:
        tell(repr(best)[1:-1])


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
    from wbc.scenes import scene_arguments

    def make(name: str) -> Runnable:
        if asked is not None:
            return load(asked, name, solver, simulator)
        return load_scene(what, name, solver, simulator, {"robot": robot} if robot else None)

    asked: Case | None = None
    try:
        name = what if what == "demo" else scene_file(what).stem
        if robot and "robot" not in scene_arguments(what).parameters:
            raise WbcError(f"--robot is for stacks in TOML files; {what} has a robot of its own")
        if case:
            from wbc.application.sweeping import find_case, load

            asked = find_case(what, case, runs)
            name = f"{name}_{asked.hash}"
        log = session.run(make, name, backend, out, **options)
    except WbcError as error:
        raise _failure(error, 2) from None
    if log.ended == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if log.ended not in ("finished", "stopped"):
        raise typer.Exit(1)


def _failure(error: Exception, code: int) -> typer.Exit:
    """Says in a line what is wrong; what is to be raised."""
    tell_problem(error)
    return typer.Exit(code)
