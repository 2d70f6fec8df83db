"""Scenes out of stacks that are files: `wbc run stack.toml --robot FILE`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import wbc
from tasks.stack_files import from_toml, read_text, robot_of
from wbc.control.controller import Controller
from wbc.errors import WbcError
from wbc.simulation.scene import Scene, make_plant

if TYPE_CHECKING:
    from wbc.simulation.runnable import Runnable

DURATION = 5.0
"""That such a scene takes, s."""


def _found_from(path: Path, named: str) -> str:
    """The robot that a file names: a file beside it, where there is one of that name; else as it is named."""
    beside = path.parent / named
    return str(beside) if beside.suffix and beside.is_file() else named


def stack_scene(path: Path) -> Callable[..., Runnable]:
    """The function `scene(backend=, solver=, simulator=, robot=)` of a file that has a stack.

    Args:
        path: of the TOML file.
    """

    def scene(backend: str = "auto", solver: str = "", simulator: str = "mujoco", robot: str = "") -> Runnable:
        try:
            text = read_text(path)
            named = robot or _found_from(path, robot_of(text))
        except WbcError as error:
            raise WbcError(f"{path}: {error}") from None
        if not named:
            raise WbcError(f'{path} names no robot: --robot FILE, or a line robot = "FILE" at its beginning')
        loaded = wbc.load(named, backend)  # type: ignore[arg-type]  # a wrong name is told
        try:
            stack = from_toml(text, robot=loaded)
            if stack.kinematic:
                from wbc.kinematics import DifferentialKinematics, KinematicScene

                return KinematicScene(DifferentialKinematics(loaded, stack, solver or "hierarchical-qp"), DURATION)
            controller = Controller(loaded, stack, solver or "elastic-qp")
        except WbcError as error:
            raise WbcError(f"{path}: {error}") from None
        touching = [contact for contact in stack.contacts if contact.on is None]
        return Scene(controller, make_plant(loaded, simulator, contacts=touching or None), DURATION)

    return scene
