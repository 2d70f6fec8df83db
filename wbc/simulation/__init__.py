"""Simulated robots (plants), the loop that runs a controller on them, and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy
from wbc.simulation.builtin import Simulator
from wbc.simulation.log import Cone, Log, Worry, read_log
from wbc.simulation.loop import Push, run
from wbc.simulation.plant import Plant
from wbc.simulation.plants import Plants
from wbc.simulation.realism import Noise, Realism, Realistic, with_mass_error
from wbc.simulation.runnable import Runnable
from wbc.simulation.scene import Scene, make_plant
from wbc.simulation.sliding import sliding_speed_limit
from wbc.simulation.terrain import Patch, Terrain, bumps, slope, stairs

if TYPE_CHECKING:
    from wbc.simulation.exports import save, save_mcap, save_npz, to_pandas
    from wbc.simulation.mujoco import MujocoSimulator

__all__ = [
    "Cone",
    "Log",
    "MujocoSimulator",
    "Noise",
    "Patch",
    "Plant",
    "Plants",
    "Push",
    "Realism",
    "Realistic",
    "Runnable",
    "Scene",
    "Simulator",
    "Terrain",
    "Worry",
    "bumps",
    "make_plant",
    "read_log",
    "run",
    "save",
    "save_mcap",
    "save_npz",
    "sliding_speed_limit",
    "slope",
    "stairs",
    "to_pandas",
    "with_mass_error",
]

_LATER = {
    "MujocoSimulator": "wbc.simulation.mujoco",  # it needs MuJoCo
    "save": "wbc.simulation.exports",
    "save_mcap": "wbc.simulation.exports",
    "save_npz": "wbc.simulation.exports",
    "to_pandas": "wbc.simulation.exports",
}
"""Names that are imported on first use, and their modules."""

__getattr__ = lazy(__name__, _LATER)
