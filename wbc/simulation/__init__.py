"""Plants that a controller can be tried on, the loop that runs it, and the log that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wbc.simulation.builtin import Simulator
from wbc.simulation.log import Log, read_log
from wbc.simulation.loop import Push, run
from wbc.simulation.plant import Plant
from wbc.simulation.realism import Noise, Realism, Realistic, with_mass_error
from wbc.simulation.scene import Scene, make_plant

if TYPE_CHECKING:
    from wbc.simulation.mujoco import MujocoSimulator

__all__ = [
    "Log",
    "MujocoSimulator",
    "Noise",
    "Plant",
    "Push",
    "Realism",
    "Realistic",
    "Scene",
    "Simulator",
    "make_plant",
    "read_log",
    "run",
    "with_mass_error",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  imported when it is asked for: it needs MuJoCo
    if name == "MujocoSimulator":
        from wbc.simulation.mujoco import MujocoSimulator

        return MujocoSimulator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
