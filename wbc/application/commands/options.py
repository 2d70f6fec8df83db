"""Options that several commands have, and how a command ends that can't go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wbc.application.terminal import tell_problem

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

BackendOption = Annotated[
    str, typer.Option(help="Dynamics: auto, numpy, pinocchio or mujoco. auto is Pinocchio where it is installed.")
]
SOLVERS = "elastic-qp, hierarchical-qp, sequential-qp, weighted-qp, nullspace or operational-space"
SolverName = Annotated[str, typer.Option(help=f"{SOLVERS}. Default: the scene's own.", show_default=False)]
SimulatorName = Annotated[
    str,
    typer.Option(help="mujoco or builtin. Default: MuJoCo where it is installed.", show_default=False),
]
Duration = Annotated[
    float | None, typer.Option(help="Simulated time, s. Default: the scene's own.", show_default=False)
]
Period = Annotated[
    float | None,
    typer.Option(
        help="Control period, s: a multiple of the simulator's timestep. Default: the controller's own.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option(help="Folder for the log, the picture and the video.")]
View = Annotated[bool, typer.Option("--view", help="Open MuJoCo's viewer and run in real time; needs a display.")]
Realtime = Annotated[bool, typer.Option("--realtime", help="Run no faster than real time.")]
Web = Annotated[bool, typer.Option("--web", help="Show the run on a page in a browser; see docs/web.md.")]
Host = Annotated[str, typer.Option(help="Address that the page listens on.")]
Port = Annotated[int, typer.Option(help="Port of the page; if it is in use, the next free one.")]


def failure(error: Exception, code: int) -> typer.Exit:
    """Says in a line what is wrong, and gives what is to be raised.

    Args:
        error: what was wrong.
        code: exit code.
    """
    tell_problem(error)
    return typer.Exit(code)
