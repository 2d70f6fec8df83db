"""The command line, what it runs, and what it draws and prints. Above `tasks`: nothing else in `wbc` imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.application.comparison import Comparison, compare, other_backends
    from wbc.scenes import demo, examples, load_scene, scene_file

__all__ = ["Comparison", "compare", "demo", "examples", "load_scene", "other_backends", "scene_file"]

_LATER = {
    "Comparison": "wbc.application.comparison",
    "compare": "wbc.application.comparison",
    "demo": "wbc.scenes.demonstration",
    "examples": "wbc.scenes.finding",
    "load_scene": "wbc.scenes.finding",
    "other_backends": "wbc.application.comparison",
    "scene_file": "wbc.scenes.finding",
}
"""Names that are imported on first use, and their modules: `wbc --help` needs none of it."""

__getattr__ = lazy(__name__, _LATER)
