"""Scenes that run: the demonstration, the examples, and those in files. Above `tasks`, below all that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.scenes.demonstration import demo
    from wbc.scenes.finding import default_simulator, examples, load_scene, scene_arguments, scene_file, scene_name

__all__ = ["default_simulator", "demo", "examples", "load_scene", "scene_arguments", "scene_file", "scene_name"]

_LATER = {
    "default_simulator": "wbc.scenes.finding",
    "demo": "wbc.scenes.demonstration",
    "examples": "wbc.scenes.finding",
    "load_scene": "wbc.scenes.finding",
    "scene_arguments": "wbc.scenes.finding",
    "scene_file": "wbc.scenes.finding",
    "scene_name": "wbc.scenes.finding",
}
"""What is imported when it is asked for, and from where."""

__getattr__ = lazy(__name__, _LATER)
