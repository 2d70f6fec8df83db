"""The command line, `wbc` or `python -m wbc`: what it prints, `wbc.application.terminal` prints."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

import wbc
from wbc.application.commands.comparing import bench, compare
from wbc.application.commands.hardware import hardware_sim
from wbc.application.commands.options import INTERRUPTED
from wbc.application.commands.robots import robots, try_file
from wbc.application.commands.runs import demo, run_scene, show
from wbc.application.commands.sweeps import sweep, tune
from wbc.application.terminal import tell, tell_problem

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
            tell_problem(f"ended by {end.signal}; the log is complete up to that moment")
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Whole-body control: tasks in strict priority become joint torques, on any robot.

    Start with [bold]wbc demo[/bold]: a quadruped under control. Then try
    [bold]wbc robots[/bold]: the packaged robots, or what is in your own file, and
    [bold]wbc run[/bold]: an example, or your own scene.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 130 Ctrl-C.
    """


COMMANDS: dict[str, Callable[..., None]] = {
    "robots": robots,
    "demo": demo,
    "run": run_scene,
    "try": try_file,
    "show": show,
    "compare": compare,
    "bench": bench,
    "hardware-sim": hardware_sim,
    "sweep": sweep,
    "tune": tune,
}

for name, command in COMMANDS.items():
    app.command(name)(command)
