"""`wbc robots` and `wbc try`: what is in a robot's file, and what the robot can do."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import wbc
from wbc.application.commands.options import Out, SimulatorName, failure
from wbc.application.terminal import tell, tell_json
from wbc.errors import WbcError, WbcWarning

if TYPE_CHECKING:
    from wbc.model import Model


Strict = Annotated[
    bool,
    typer.Option(
        "--strict/--no-strict",
        help="Refuse a URDF with unphysical inertias (the default), or accept it with a warning.",
    ),
]

OPTION = re.compile(r'ignore=\["([a-z ]+)"\]')
"""How a message names the words of `wbc.load` that `--ignore` takes."""


def robots(
    robot: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE]", help="A packaged robot, or any URDF or MJCF file.", show_default=False),
    ] = None,
    floating: Annotated[
        bool | None,
        typer.Option("--floating/--fixed", help="Whether the base moves freely (URDF). Default: as the file says."),
    ] = None,
    strict: Strict = True,
    untrusted: Annotated[
        bool,
        typer.Option(
            "--untrusted",
            help="The file is from a stranger: compile an MJCF in a separate process with limits on time and memory.",
        ),
    ] = False,
    meshes: Annotated[
        list[Path] | None, typer.Option(help="Another folder to look for meshes in; may be repeated.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the collision shapes and their nearest pair into this PNG file.")
    ] = None,
) -> None:
    """List the packaged robots, or show one: its tree, joints, limits and frames, and what in its file looks wrong.

    Exit code: 0 the file can be used, 1 it can't (one line a problem on
    stderr), 2 wrong usage.

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
        tell("", "not named in the file, found by shape:", *(f"  {note}" for note in model.notes))
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
        raise failure(error, 1) from None


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
    return "this is unexpected: report it"


def try_file(
    robot: Annotated[
        str, typer.Argument(metavar="FILE|NAME", help="A URDF or MJCF file, with or without a scene, or a name.")
    ],
    feet: Annotated[
        list[str] | None, typer.Option(help="A body or frame that is a foot; may be repeated. Default: found by shape.")
    ] = None,
    locked: Annotated[list[str] | None, typer.Option(help="A joint that is held fixed; may be repeated.")] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="What to leave out of an MJCF file, a word of wbc.load's ignore; may be repeated."),
    ] = None,
    keyframe: Annotated[
        str | None, typer.Option(help="The keyframe of an MJCF file to begin in. Default: the first one.")
    ] = None,
    floating: Annotated[
        bool | None, typer.Option("--floating/--fixed", help="Whether the base moves freely (URDF).")
    ] = None,
    strict: Strict = True,
    simulator: SimulatorName = "",
    out: Out = Path("out"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for other programs; write no files.")] = False,
) -> None:
    """Try a robot: it stands or holds its arm, goes round a small loop, and is pushed with a fifth of its weight.

    Reports what was found in the file, what is left out, what was chosen, and
    how well the trial went. Writes a log and a picture.

    Exit code: 0 it stood and followed; 1 it fell or did not follow; 2 it can't
    be tried, with the reason.

    Try:

      wbc try my_robot.urdf

      wbc try scene.xml --json

      wbc try my_robot.xml --feet left_foot --feet right_foot
    """
    from wbc.application import reports
    from wbc.application.trial import try_robot

    options: dict[str, Any] = {"floating": floating, "locked": locked or (), "ignore": ignore or (), "strict": strict}
    if feet:
        options["feet"] = feet
    if keyframe is not None:
        options["nominal"] = keyframe
    try:
        trial = try_robot(robot, simulator=simulator, record=None if as_json else _in_folder(out, robot), **options)
    except WbcError as error:
        reason = OPTION.sub(r"--ignore \1", str(error)).replace("strict=False", "--no-strict")
        reason = reason.replace("wbc.Simulator, simulator='builtin',", "--simulator builtin")
        if as_json:
            tell_json({"robot": robot, "reason": reason})
            raise typer.Exit(2) from None
        raise failure(WbcError(reason), 2) from None
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
