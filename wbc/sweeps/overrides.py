"""Values in place of a scene's own: arguments, parts of its realism, gains and weights of tasks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from wbc.errors import WbcError, unknown_name
from wbc.scenes import load_scene, scene_arguments
from wbc.simulation import Noise, Realism, Runnable
from wbc.tasking.feedback import feedback
from wbc.tasking.gains import Gains
from wbc.tasking.task import Task

REALISM, NOISE = "realism.", "realism.noise."
SETTINGS = ("gains", "weight")
"""What can be set of a task: the frequency of its gains, Hz, and its weight."""

TASK = "TASK."
"""Stands for the name of a task in lists of names."""


def check_overrides(scene: str, overrides: Mapping[str, Any]) -> None:
    """Raises a `WbcError` if a name can't be overridden; it lists the names that can.

    There are the arguments of the scene's function. Where `realism` is one of them, its parts are there too:
    `realism.mass`, `realism.delay`, `realism.noise.position`. And there are the tasks of the scene's stack:
    `base.gains`, a frequency in Hz or one an axis, and `base.weight`.

    Args:
        scene: see `wbc.scenes.load_scene`.
        overrides: values by name.
    """
    taken = _arguments(scene)
    known = _names(taken)
    anything = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())
    for name, value in overrides.items():
        if name == "seed":
            raise WbcError("the seed is no parameter: wbc.cases(..., seed=range(20)), --seeds 20")
        if name not in known and not _of_task(name) and not (anything and "." not in name):
            raise unknown_name(f"parameter of {scene}", name, known)
        if isinstance(value, str) and _is_number(_own(taken, name)):
            raise WbcError(f"{name} = {value!r} must be a number in {scene}")
    if any(map(_of_task, overrides)):
        load_case(scene, overrides, 0)


def uses_seed(scene: str, names: Iterable[str]) -> bool:
    """Whether the runs of a scene differ from seed to seed, though no value is drawn.

    Args:
        scene: see `wbc.scenes.load_scene`.
        names: of what is overridden.
    """
    return "seed" in _arguments(scene) or any(name.startswith(NOISE) for name in names)


def load_case(scene: str, overrides: Mapping[str, Any], seed: int, **choice: str) -> Runnable:
    """The scene of a case.

    Args:
        scene: see `wbc.scenes.load_scene`.
        overrides: values by name: see `check_overrides`.
        seed: of all that is random.
        choice: backend, solver or simulator, where the case does not say.
    """
    taken = _arguments(scene)
    arguments = {name: value for name, value in overrides.items() if "." not in name}
    parts = {name.removeprefix(REALISM): value for name, value in overrides.items() if name.startswith(REALISM)}
    if "seed" in taken:
        arguments["seed"] = seed
    if parts:
        noise = {name.removeprefix("noise."): value for name, value in parts.items() if name.startswith("noise.")}
        rest = {name: value for name, value in parts.items() if not name.startswith("noise.")}
        arguments["realism"] = Realism(**rest, noise=Noise(**noise) if noise else None, seed=seed)
    found = load_scene(scene, **{name: choice[name] for name in choice if name not in arguments}, arguments=arguments)
    for name, value in overrides.items():
        if _of_task(name):
            _change_task(found, name, value)
    return found


def own_values(scene: str, names: Iterable[str]) -> dict[str, float]:
    """The values that a scene has by itself, of those names of which they are one number.

    Args:
        scene: see `wbc.scenes.load_scene`.
        names: see `check_overrides`.
    """
    taken, found, names = _arguments(scene), {}, list(names)
    built = load_case(scene, {}, 0) if any(map(_of_task, names)) else None
    for name in names:
        if built is not None and _of_task(name):
            value = getattr(*_setting(built, name))
            value = _frequency(value) if isinstance(value, Gains) else value
        else:
            value = _own(taken, name)
        if _is_number(value):
            found[name] = value
    return found


def _frequency(gains: Gains) -> float | None:
    """In Hz, of gains that one frequency makes."""
    if np.ndim(gains.kp) or np.ndim(gains.kd) or not gains.kp:
        return None
    omega = math.sqrt(float(gains.kp))
    return omega / (2.0 * math.pi) if math.isclose(float(gains.kd), 2.0 * omega, rel_tol=1e-9) else None


def _arguments(scene: str) -> Mapping[str, inspect.Parameter]:
    return scene_arguments(scene).parameters


def _realism_parts() -> list[str]:
    """What can be set of a realism, as plain data."""
    own = [field.name for field in fields(Realism) if field.name not in ("noise", "seed")]
    return [*own, *(f"noise.{field.name}" for field in fields(Noise))]


def _names(taken: Mapping[str, inspect.Parameter]) -> list[str]:
    """All that can be overridden."""
    own = [name for name in taken if name not in ("realism", "seed")]
    parts = [f"{REALISM}{part}" for part in _realism_parts()] if "realism" in taken else []
    return [*own, *parts, *(f"{TASK}{setting}" for setting in SETTINGS)]


def _own(taken: Mapping[str, inspect.Parameter], name: str) -> Any:  # noqa: ANN401  of a parameter
    """A scene's own value of an argument, or of a part of its realism; None where it has none."""
    return taken[name].default if name in taken else getattr(Realism(), name.removeprefix(REALISM), None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_task(name: str) -> bool:
    """Whether a name is that of a task's setting."""
    return "." in name and not name.startswith(REALISM)


def _change_task(scene: Runnable, name: str, value: Any) -> None:  # noqa: ANN401  it is checked where it is used
    """Gives a task of a scene another weight, or gains by their frequency, which keep their speed.

    Args:
        scene: whose stack has the task.
        name: of the task, a dot, and the setting.
        value: of the setting.
    """
    task, setting = _setting(scene, name)
    if setting == "gains":
        now = feedback(task)
        value = Gains(value, speed=now.speed if isinstance(now, Gains) else None)
    setattr(task, setting, value)


def _setting(scene: Runnable, name: str) -> tuple[Task, str]:
    """The task and the setting of a name; raises where the scene does not have them."""
    owner = getattr(scene, "controller", None) or getattr(scene, "kinematics", None)
    if owner is None:
        raise WbcError(f"no {name}: this scene has no controller, so it has no tasks")
    of, _, setting = name.rpartition(".")
    task: Task = owner.stack[of]
    if setting not in SETTINGS or not hasattr(task, setting):
        raise unknown_name(f"setting of task {of!r}", setting, [one for one in SETTINGS if hasattr(task, one)])
    return task, setting
