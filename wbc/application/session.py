"""A run with all that goes with it: progress, viewer, pace; summary, log, picture and video."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from wbc.application import reports
from wbc.application.comparison import other_backends
from wbc.application.pace import Pace
from wbc.application.terminal import progress, tell, tell_problem
from wbc.control.solution import Solution
from wbc.errors import WbcError, WbcWarning
from wbc.simulation.log import Log
from wbc.simulation.runnable import Runnable
from wbc.simulation.scene import Scene

if TYPE_CHECKING:
    from wbc.application.comparison import Comparison
    from wbc.application.live import Where
    from wbc.application.viewer import Viewer


def run(
    make: Callable[[str], Runnable],
    name: str,
    backend: str,
    out: Path,
    *,
    duration: float | None = None,
    period: float | None = None,
    view: bool = False,
    video: bool = False,
    realtime: bool = False,
    beside: bool = False,
    web: Where | None = None,
) -> Log:
    """Runs a scene, tells how it went, and writes what is kept of it.

    Args:
        make: gives the scene for a backend.
        name: of the files.
        backend: that the scene is run on.
        out: folder of the files.
        duration: s; None: what the scene takes.
        period: of the control, s; None: the controller's.
        view: whether to open the viewer; in real time.
        video: whether to make a video.
        realtime: whether to go no faster than the clock.
        beside: whether to show the states to the same controller on the other backends.
        web: where a page in a browser is to be; None: there is none.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WbcWarning)
        scene = make(backend)
    for warning in caught:
        tell_problem(warning.message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WbcWarning)  # they are the same
        others = other_backends(scene, make) if beside and isinstance(scene, Scene) else []
    for other in others:
        other.scene.controller.period = scene.period if period is None else period
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WbcError(f"can't make the folder {str(out)!r}: {error.strerror}") from None
    pace: Pace | None = None
    if web is not None:
        from wbc.application.live import run_live

        log, scene = run_live(scene, lambda: make(backend), web, duration, period, out / f"{name}.log")
        return _tell_run(log, scene, name, out, others, pace, video)
    with contextlib.ExitStack() as held:
        window = _open_viewer(scene, held) if view else None
        pace = Pace() if realtime or window else None
        bar = held.enter_context(progress())
        runs = scene.controller if isinstance(scene, Scene) else None
        task = bar.add_task(name, total=scene.duration if duration is None else duration)

        def after(now: float, solution: Solution) -> bool:
            bar.update(task, completed=now)
            for other in others:
                other.take(now, solution, runs)
            if pace is not None:
                pace.wait(now)
            return window is not None and not window.show()

        log = scene.run(duration, period, out / f"{name}.log", until=after)
    return _tell_run(log, scene, name, out, others, pace, video)


def _tell_run(
    log: Log, scene: Runnable, name: str, out: Path, others: list[Comparison], pace: Pace | None, video: bool
) -> Log:
    """Tells how a run went, and draws it."""
    figures = scene.figures(log) if scene.figures is not None and len(log) else None
    tell(reports.run(log, figures), "", reports.ticks(log, f"on {scene.robot.name}", others), "")
    if pace is not None:
        tell(
            f"real time: {pace.simulated:.2f} s took {pace.taken:.2f} s, {100 * pace.late:.1f} % of the ticks were late"
        )
    if log.unwritten:
        tell_problem(log.unwritten)
    else:
        tell(f"wrote {out / f'{name}.log'}")
    draw(log, out / f"{name}.png", scene)
    if video:
        _film(scene, log, out / f"{name}.gif")
    return log


def draw(log: Log, path: Path, scene: Runnable | None = None) -> bool:
    """Writes the plots of a log, where matplotlib is there, and tells; whether they are written.

    Args:
        log: of a run.
        path: of the picture.
        scene: that was run.
    """
    try:
        from wbc.application.plots import draw_log

        draw_log(log, path, scene)
    except WbcError as error:
        tell_problem(f"no picture: {error}")
        return False
    tell(f"wrote {path}")
    return True


def _open_viewer(scene: Runnable, held: contextlib.ExitStack) -> Viewer | None:
    """MuJoCo's viewer on what is run; where there can be none, a line that says so."""
    try:
        if not isinstance(scene, Scene):
            raise WbcError("no viewer: the viewer shows a plant, and this scene has none; use --video or the picture")
        from wbc.application.viewer import Viewer

        return held.enter_context(Viewer(scene.plant))
    except WbcError as error:
        tell_problem(error)
        return None


def _film(scene: Runnable, log: Log, path: Path) -> None:
    """Writes the video of a run, where it can be made; else a line that says why it can't."""
    try:
        from wbc.application.video import write_video

        with progress() as bar:
            task = bar.add_task("video", total=1.0)
            write_video(scene, log, path, lambda share: bar.update(task, completed=share))
    except WbcError as error:
        tell_problem(f"no video: {error}")
        return
    tell(f"wrote {path}")
