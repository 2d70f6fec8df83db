"""MuJoCo's viewer on a run, while it goes on."""

from __future__ import annotations

import contextlib
import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np

from wbc.errors import WbcError
from wbc.simulation.plant import Plant

try:
    import mujoco
except ImportError as error:
    raise WbcError(f"the viewer needs MuJoCo: pip install 'wbc[mujoco]' ({error})") from None

from wbc.application.rendering import has_display

EVERY = 1.0 / 60
"""From picture to picture, s of the clock."""


class Viewer:
    """A window that shows a plant. Close it, or use it in a `with`.

    With `wbc.MujocoSimulator` it is the simulated robot itself, and a mouse can push it; another plant is shown by a
    model that follows its state.

    Args:
        plant: any.
    """

    def __init__(self, plant: Plant) -> None:
        _check_display()
        import mujoco.viewer

        from wbc.application.video import inner_plant, mujoco_model

        own = inner_plant(plant)
        self._plant, self._follows = own, not hasattr(own, "mj_data")
        self._model: Any = mujoco_model(plant)
        self._data: Any = mujoco.MjData(self._model) if self._follows else own.mj_data  # type: ignore[attr-defined]
        self._shown = -1.0
        try:
            self._window = mujoco.viewer.launch_passive(
                self._model, self._data, show_left_ui=False, show_right_ui=False
            )
        except RuntimeError as error:  # on a Mac, windows belong to the main thread
            raise WbcError(f"can't open the viewer: {error}; on macOS, use mjpython -m wbc ...") from None
        if own.model.floating:
            camera = self._window.cam
            camera.type, camera.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, _first_free_body(self._model)
            camera.distance, camera.azimuth, camera.elevation = 2.2, 125.0, -16.0

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the window."""
        with contextlib.suppress(Exception):  # it may be closed already
            self._window.close()

    def show(self) -> bool:
        """Shows the plant as it is now, if the last picture is old enough; whether the window is still open."""
        if perf_counter() - self._shown >= EVERY:
            if self._follows:
                self._data.qpos[:], self._data.qvel[:] = self._plant.state
                mujoco.mj_forward(self._model, self._data)
            self._window.sync()
            self._shown = perf_counter()
        return bool(self._window.is_running())


def _first_free_body(model: Any) -> int:  # noqa: ANN401
    """The number of the first body that moves freely, or of the first body."""
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    return int(model.jnt_bodyid[free[0]]) if len(free) else 1


def _check_display() -> None:
    """Raises if no window can be opened: MuJoCo itself would end the process."""
    reason = "" if has_display() else "there is no display here"
    if not reason and sys.platform != "darwin":
        import glfw

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if glfw.init():
                return
        reason = "the display named by DISPLAY can't be opened"
    if reason:
        raise WbcError(f"no viewer: {reason}")
