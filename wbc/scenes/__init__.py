"""Scenes: the demonstration, the examples, and those in files. Above `tasks`, below the code that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.scenes.demonstration import demo
    from wbc.scenes.finding import (
        DEMONSTRATIONS,
        default_simulator,
        examples,
        load_scene,
        scene_arguments,
        scene_file,
        scene_name,
    )
    from wbc.scenes.humanoid_demonstration import demo_humanoid

__all__ = [
    "DEMONSTRATIONS",
    "default_simulator",
    "demo",
    "demo_humanoid",
    "examples",
    "load_scene",
    "scene_arguments",
    "scene_file",
    "scene_name",
]

_LATER = {
    "DEMONSTRATIONS": "wbc.scenes.finding",
    "default_simulator": "wbc.scenes.finding",
    "demo": "wbc.scenes.demonstration",
    "demo_humanoid": "wbc.scenes.humanoid_demonstration",
    "examples": "wbc.scenes.finding",
    "load_scene": "wbc.scenes.finding",
    "scene_arguments": "wbc.scenes.finding",
    "scene_file": "wbc.scenes.finding",
    "scene_name": "wbc.scenes.finding",
}
"""Names that are imported on first use, and their modules."""

__getattr__ = lazy(__name__, _LATER)
