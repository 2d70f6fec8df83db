"""What the command line runs. Of the layer above `tasks`: nothing else in `wbc` imports it."""

from __future__ import annotations

from wbc.application.comparison import Comparison, compare, other_backends
from wbc.application.demo import demo
from wbc.application.scenes import examples, load_scene, scene_file

__all__ = ["Comparison", "compare", "demo", "examples", "load_scene", "other_backends", "scene_file"]
