"""Pictures of a MuJoCo model, made without a window."""

from __future__ import annotations

import contextlib
import ctypes.util
import importlib
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wbc.arrays import Array
from wbc.errors import WbcError

try:
    import mujoco
except ImportError as error:
    raise WbcError(f"rendering needs MuJoCo: pip install 'wbc[mujoco]' ({error})") from None

WAYS = {"linux": ("egl", "osmesa", "glfw"), "darwin": ("cgl", "glfw"), "win32": ("glfw",)}
"""What may give an OpenGL context, by platform: on Linux first what needs no display."""

LIBRARIES = {"egl": "EGL", "osmesa": "OSMesa"}
"""What the way needs to be installed."""

PUSH_COLOR, FORCE_COLOR = (0.95, 0.05, 0.15, 1.0), (0.1, 0.55, 0.25, 1.0)
"""Of arrows: of what disturbs the robot, and of what holds it up."""


def _context(width: int, height: int) -> Any:  # noqa: ANN401  one of MuJoCo's
    """An OpenGL context that is current, the first that can be had; `MUJOCO_GL` says which one to take."""
    asked = os.environ.get("MUJOCO_GL", "").lower().strip()
    ways = (asked,) if asked in ("egl", "osmesa", "glfw", "cgl") else WAYS.get(sys.platform, ("glfw",))
    if asked in ("disable", "disabled", "off", "false", "0"):
        raise WbcError(f"rendering is switched off: MUJOCO_GL={asked}")
    reasons = []
    for way in ways:
        if way in LIBRARIES and ctypes.util.find_library(LIBRARIES[way]) is None:
            reasons.append(f"{way}: no lib{LIBRARIES[way]}")
            continue
        if way == "glfw" and not has_display():
            reasons.append("glfw: no display")
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of glfw, which warns and goes on
                context = importlib.import_module(f"mujoco.{way}").GLContext(width, height)
                context.make_current()
        except Exception as error:  # each way fails in ways of its own
            reasons.append(f"{way}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
        else:
            return context
    raise WbcError(
        f"there is no OpenGL to render with ({'; '.join(reasons)}); on Linux, libegl1 or libosmesa6 is enough"
    )


def has_display() -> bool:
    """Whether a window could be opened."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


Arrow: TypeAlias = tuple[Array, Array, float, tuple[float, float, float, float]]
"""Beginning and end in the world, m, shape (3,) each; width, m; and colour."""


class Renderer:
    """Renders states of a MuJoCo model into arrays. Close it, or use it in a `with`.

    Args:
        model: a `mujoco.MjModel`; it is not changed.
        width: of the pictures, pixels.
        height: of the pictures, pixels.

    Attributes:
        data: a `mujoco.MjData`, in the state that was drawn last.
        camera: a `mujoco.MjvCamera`: from where the robot is seen.
    """

    def __init__(self, model: Any, width: int, height: int) -> None:  # noqa: ANN401  a mujoco.MjModel
        self._gl: Any = None
        self._mjr: Any = None
        self._model, self._size = mujoco.MjModel.__copy__(model), (width, height)
        self._model.vis.global_.offwidth, self._model.vis.global_.offheight = width, height
        if not self._model.nlight:
            self._model.vis.headlight.ambient, self._model.vis.headlight.diffuse = [0.4] * 3, [0.6] * 3
        self.data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self.data)
        self.camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(self._model, self.camera)
        self._scene, self._option = mujoco.MjvScene(self._model, maxgeom=2000), mujoco.MjvOption()
        self._gl = _context(width, height)
        try:
            self._mjr = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._mjr)
        except Exception as error:  # such as mujoco.FatalError, of a driver
            self.close()
            raise WbcError(f"MuJoCo can't render here: {error}") from None

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives back what is held of the graphics driver."""
        for holder in (self._mjr, self._gl):
            if holder is not None:
                with contextlib.suppress(Exception):
                    holder.free()
        self._mjr = self._gl = None

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Corners of a box around all shapes that are seen and are not endless, m, shape (3,) each."""
        m, d = self._model, self.data
        seen = (m.geom_rgba[:, 3] > 0) & (m.geom_type != mujoco.mjtGeom.mjGEOM_PLANE) & (m.geom_group < 3)
        radius = m.geom_rbound[seen][:, None]
        if not seen.any():
            return -np.ones(3), np.ones(3)
        return (d.geom_xpos[seen] - radius).min(axis=0), (d.geom_xpos[seen] + radius).max(axis=0)

    def pose(self, q: Array) -> None:
        """Puts the robot in a configuration.

        Args:
            q: shape (nq,).
        """
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self._model, self.data)
        mujoco.mj_comPos(self._model, self.data)
        mujoco.mj_camlight(self._model, self.data)

    def surface(self, point: Array, way: Array) -> Array:
        """Where something that comes from afar along a direction towards a point meets the robot, m, shape (3,).

        Args:
            point: m, shape (3,), world.
            way: shape (3,), world axes.
        """
        way = way / max(float(np.linalg.norm(way)), 1e-9)
        start = point - 5.0 * way
        distance = mujoco.mj_ray(self._model, self.data, start, way, None, 0, -1, np.zeros(1, np.int32))
        return start + min(distance, 5.0) * way if distance >= 0 else point

    def draw(self, arrows: Iterable[Arrow] = ()) -> NDArray[np.uint8]:
        """A picture, shape (height, width, 3).

        Args:
            arrows: to draw into it.
        """
        mujoco.mjv_updateScene(
            self._model, self.data, self._option, None, self.camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
        for arrow in arrows:
            self._add_arrow(*arrow)
        width, height = self._size
        rect = mujoco.MjrRect(0, 0, width, height)
        picture = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_render(rect, self._scene, self._mjr)
        mujoco.mjr_readPixels(picture, None, rect, self._mjr)
        return picture[::-1]  # OpenGL begins at the bottom

    def _add_arrow(self, begin: Array, end: Array, width: float, color: tuple[float, float, float, float]) -> None:
        if self._scene.ngeom >= self._scene.maxgeom or np.linalg.norm(end - begin) < 1e-3:
            return
        geom, arrow = self._scene.geoms[self._scene.ngeom], mujoco.mjtGeom.mjGEOM_ARROW
        mujoco.mjv_initGeom(geom, arrow, np.zeros(3), np.zeros(3), np.eye(3).ravel(), np.array(color, np.float32))
        mujoco.mjv_connector(geom, arrow, width, begin, end)
        self._scene.ngeom += 1
