"""`wbc sweep` and `wbc tune`: many runs of a scene."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from wbc.application.commands.options import INTERRUPTED, failure
from wbc.application.terminal import tell, tell_problem
from wbc.errors import WbcError

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUES", help="30:120:10 (a grid); a,b,c; normal(1,0.05); uniform(0.9,1.1). Repeatable."
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Processes. Default: one a core.", show_default=False)]
TimeLimit = Annotated[float, typer.Option(help="Time limit of a case, s.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def sweep(
    what: Annotated[str, typer.Argument(metavar="[EXAMPLE|FILE]", help="As for wbc run.", show_default=False)] = "",
    parameters: Sets = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds, counted from 0.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for rows and logs.")] = Path("runs/sweep"),
    jobs: Jobs = None,
    dask: Annotated[str, typer.Option(metavar="ADDRESS", help="Address of a Dask scheduler to run on.")] = "",
    logs: Annotated[str, typer.Option(help="Which logs to keep: failures, all or none.")] = "failures",
    time_limit: TimeLimit = 600.0,
    show: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Run nothing; show the results in this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a scene many times: every combination of values, with every seed, on all cores or on a cluster.

    You can set the arguments of the function scene(), the parts of its realism
    (realism.mass), and gains and weights of its tasks (base.gains). Rows are
    written as they come: the same command on the same folder continues.

    Exit code: 0 all cases have a row, 2 wrong usage, 130 Ctrl-C.

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
        raise failure(error, 2) from None
    except KeyboardInterrupt:
        tell_problem(f"stopped; the rows so far are in {out}; the same command continues")
        raise typer.Exit(INTERRUPTED) from None


def tune(
    what: Annotated[str, typer.Argument(metavar="EXAMPLE|FILE", help="As for wbc run.")],
    ranges: Annotated[
        list[str],
        typer.Option("--range", metavar="NAME=LOW:HIGH", help="base.gains=0.5:8; posture.weight=1e-3:1:log; a,b,c."),
    ],
    score: Annotated[
        str, typer.Option(help="Quantity of a row to minimise, such as errors.base.rms, or a sum with +.")
    ],
    parameters: Sets = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds that judge each trial.")] = 1,
    trials: Annotated[int, typer.Option(min=1, help="Number of trials that the study should have.")] = 100,
    storage: Annotated[
        str | None, typer.Option(help="Optuna storage, such as sqlite:///tune.db.", show_default=False)
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Name of the study in the storage. Default: the scene's.", show_default=False)
    ] = None,
    jobs: Jobs = None,
    time_limit: TimeLimit = 600.0,
    out: Annotated[Path, typer.Option(help="File for the report.")] = Path("tuning.html"),
    as_json: AsJson = False,
) -> None:
    """Search for gains, weights and other values with the lowest score, with Optuna.

    With a storage, several of these commands can work on one study.

    Exit code: 0, 2 wrong usage, 130 Ctrl-C.

    Try:

      wbc tune 11 --range hz=0.5:8 --range posture.weight=1e-3:1:log --score errors.base.rms --trials 50
    """
    from wbc.application import sweeping

    options = {"score": score, "trials": trials, "storage": storage or None, "study": study or None, "jobs": jobs}
    try:
        best = sweeping.run_tuning(what, ranges, parameters or [], seeds, time_limit=time_limit, **options)
    except WbcError as error:
        raise failure(error, 2) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    sweeping.report_study(best, out)
    if as_json:
        names = ("scene", "values", "score", "own", "trials", "pruned")
        tell(json.dumps({name: getattr(best, name) for name in names}))
    else:
        tell(repr(best)[1:-1])
