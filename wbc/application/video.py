"""A run as a moving picture: the robot in MuJoCo's rendering, pushes and contact forces as arrows, a caption."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import uniform_filter1d

from wbc.arrays import Array, IntArray
from wbc.errors import WbcError
from wbc.model.model import Model
from wbc.simulation.log import Log
from wbc.simulation.plant import Plant
from wbc.simulation.runnable import Runnable
from wbc.simulation.scene import Scene

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as error:
    raise WbcError(f"a video needs Pillow, which comes with matplotlib: pip install 'wbc[plot]' ({error})") from None

SIZE = (480, 320)
"""Of a picture, pixels."""

PAUSE = 0.08
"""From picture to picture, s: a GIF counts hundredths."""

COLORS = 64
"""In the palette of the GIF: more look no better and take more room."""

ARROW = 1.0
"""Length of an arrow for a force of the robot's weight, m; of a push, which has less force, half as much again."""

WIDTH = 0.012
"""Of an arrow, m."""


def write_video(
    scene: Runnable, log: Log, path: Path, progress: Callable[[float], None] | None = None, size: tuple[int, int] = SIZE
) -> None:
    """Writes the GIF of a run.

    Args:
        scene: that was run.
        log: of the run.
        path: of the GIF.
        progress: called with the share that is done.
        size: width and height, pixels.
    """
    from wbc.application.rendering import FORCE_COLOR, PUSH_COLOR, Renderer

    if not len(log):
        raise WbcError("no video: the run has no ticks")
    period = float(np.median(np.diff(log.time))) if len(log) > 1 else 1.0
    ticks = np.arange(0, len(log), max(1, round(PAUSE / period)))
    robot = scene.robot.copy()
    scale = ARROW / (9.81 * robot.mass)
    frames = []
    model = mujoco_model(scene.plant if isinstance(scene, Scene) else robot.model)
    with Renderer(model, *size) as renderer:
        aim = _aim(renderer, log, ticks, period)
        for number, tick in enumerate(ticks):
            robot.update(log.true_q[tick], log.true_v[tick])
            renderer.pose(log.true_q[tick])
            feet = [robot.pose(foot)[:3, 3] for foot in log.feet]
            arrows = [(p, p + scale * f, WIDTH, FORCE_COLOR) for p, f in zip(feet, log.measured[tick], strict=True)]
            for push in scene.disturbances:
                if push.start <= log.time[tick] < push.start + push.duration:
                    force = np.array(push.force[:3])
                    end = renderer.surface(robot.pose(push.frame)[:3, 3], force)
                    arrows.append((end - 1.5 * scale * force, end, 2 * WIDTH, PUSH_COLOR))
            renderer.camera.lookat[:] = aim[number]
            picture = Image.fromarray(renderer.draw(arrows))
            words = next((words for start, words in reversed(scene.phases) if log.time[tick] >= start), "")
            _write_caption(picture, f"{log.time[tick]:.1f} s   {words}")
            frames.append(picture)
            if progress is not None:
                progress((number + 1) / len(ticks))
    _write_gif(frames, path)


def mujoco_model(plant: Plant | Model) -> Any:  # noqa: ANN401  a mujoco.MjModel
    """MuJoCo's model of a plant: its own, or one made to look at it.

    Args:
        plant: any, or the model of a robot that has none.
    """
    own = plant if isinstance(plant, Model) else inner_plant(plant)
    if hasattr(own, "mj_model"):
        return own.mj_model
    from wbc.simulation.mujoco import MujocoSimulator

    return MujocoSimulator(own if isinstance(own, Model) else own.model).mj_model


def inner_plant(plant: Plant) -> Plant:
    """The plant itself, where others are around it, such as `wbc.simulation.Realistic`.

    Args:
        plant: any.
    """
    while isinstance(inner := getattr(plant, "plant", None), Plant):
        plant = inner
    return plant


def _aim(renderer: Any, log: Log, ticks: IntArray, period: float) -> Array:  # noqa: ANN401
    """Puts the camera at a distance, and gives what it looks at in each picture, m, shape (pictures, 3)."""
    renderer.pose(log.true_q[0])
    lower, upper = renderer.bounds
    middle = np.tile((lower + upper) / 2, (len(ticks), 1))
    renderer.camera.azimuth, renderer.camera.elevation = 125.0, -16.0
    renderer.camera.distance = 1.2 * float(np.linalg.norm(upper - lower))
    if log.q.shape[1] > log.v.shape[1]:  # it follows a floating base, and does not shake with it
        smooth = uniform_filter1d(log.true_q[:, :2], max(1, round(1.0 / period)), axis=0, mode="nearest")
        middle[:, :2] += smooth[ticks] - log.true_q[0, :2]
    return middle


def _write_caption(picture: Any, words: str) -> None:  # noqa: ANN401
    font, ink, halo = ImageFont.load_default(16), (40, 44, 52), (246, 247, 250)  # to be read on any ground
    ImageDraw.Draw(picture).text((10, 8), words, font=font, fill=ink, stroke_fill=halo, stroke_width=2)


def _write_gif(frames: list[Any], path: Path) -> None:
    """All pictures with the colours of a few of them."""
    few = frames[:: max(1, len(frames) // 6)][:6]
    width, height = few[0].size
    sheet = Image.new("RGB", (width, height * len(few)))
    for number, frame in enumerate(few):
        sheet.paste(frame, (0, number * height))
    palette = sheet.quantize(COLORS)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    try:
        first.save(path, save_all=True, append_images=others, duration=round(1000 * PAUSE), loop=0, optimize=False)
    except OSError as error:
        raise WbcError(f"can't write the video {str(path)!r}: {error.strerror or error}") from None
