"""`wbc run X --web` and `wbc show LOG --web`: what the command line says around a page."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import wbc
from wbc.application.terminal import tell, tell_problem
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number
from wbc.kinematics import KinematicScene
from wbc.model import packaged_robots
from wbc.simulation.log import Log
from wbc.simulation.runnable import Runnable
from wbc.simulation.scene import Scene
from wbc.web.link import LOOPBACK, Link
from wbc.web.live import Live


class Where(NamedTuple):
    """Where a page is to be.

    Attributes:
        host: address that it is bound to.
        port: the first that is tried.
    """

    host: str = LOOPBACK
    port: int = 8080


def run_live(
    scene: Runnable,
    anew: Callable[[], Runnable],
    where: Where,
    duration: float | None,
    period: float | None,
    record: Path,
) -> tuple[Log, Scene | KinematicScene]:
    """Runs a scene with a page on it, again and again while it is asked to begin anew.

    At its end the page stays until somebody ends it there, or by Ctrl-C.

    Args:
        scene: to begin with.
        anew: makes the next one.
        where: the page is to be.
        duration: s; None: what the scene takes.
        period: of the control, s; None: the controller's.
        record: file of the log; the one of the last run is kept.

    Returns:
        The log of the last run, and its scene.
    """
    if not isinstance(scene, Scene | KinematicScene):
        raise WbcError("no page: the page shows a wbc.simulation.Scene or a wbc.kinematics.KinematicScene")
    check(where)
    live = Live(scene)
    with Link(live, *where) as link:
        _tell_address(link.address, where)
        tell("Stop the run there, or with Ctrl-C.")
        while True:
            log = live.run(duration, period, record)
            if log.ended not in ("interrupted", "stopped"):
                tell(f"{log.ended}; the page stays open until you stop it there, or with Ctrl-C")
                with contextlib.suppress(KeyboardInterrupt):
                    while live.wait(0.2) and not link.gone:
                        pass
            if not live.again:
                break
            following = anew()
            assert isinstance(following, Scene | KinematicScene)
            live.take(following)
            link.show()
        if link.gone:
            tell_problem("the page was closed before the run ended")
    return log, live.scene


def replay(log: Log, robot: str, floating: bool | None, where: Where) -> None:
    """Shows a log on a page until Ctrl-C.

    Args:
        log: of a run.
        robot: a file, or a name; empty: the packaged robot that the log names.
        floating: whether its base moves freely, as for `wbc.load`.
        where: the page is to be.
    """
    check(where)
    from wbc.web.replay import Replay

    shown = Replay(log, _robot_of(log, robot, floating), *where)
    _tell_address(shown.address, where)
    tell("Stop it with Ctrl-C.")
    with contextlib.suppress(KeyboardInterrupt):
        shown.run()
    shown.close()


def check(where: Where) -> None:
    """Raises where there can be no page.

    Args:
        where: it is to be.
    """
    number(where.port, "the port", 1.0, 65535.0)
    if importlib.util.find_spec("viser") is None:
        raise WbcError("the page needs viser: pip install 'wbc[web]'")


def _robot_of(log: Log, robot: str, floating: bool | None) -> Dynamics:
    """The robot of a log. A URDF does not say whether its base moves: the log does."""
    if not robot:
        if log.robot not in packaged_robots():
            raise WbcError(f"the log is of {log.robot!r}, which is not a packaged robot; name its file: --robot FILE")
        return wbc.load(log.robot)
    if floating is None and Path(robot).suffix == ".urdf":
        floating = log.q.shape[1] > log.v.shape[1]
    return wbc.load(robot, floating=floating)


def _tell_address(address: str, where: Where) -> None:
    tell(f"the page: {address}")
    if where.host not in (LOOPBACK, "localhost", "::1"):
        tell_problem(f"it listens on {where.host}: anybody who can reach this machine can move the robot")
