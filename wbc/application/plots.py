"""Plots of a log with matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wbc.errors import WbcError
from wbc.simulation.log import Log
from wbc.simulation.runnable import Runnable

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise WbcError(f"plots need matplotlib: pip install 'wbc[plot]' ({error})") from None

from wbc.application.drawing import draw, draw_geometry

if TYPE_CHECKING:
    from wbc.collision import CollisionGeometry

SNAPSHOTS = 6
"""Pictures of the robot above the plots."""


def draw_log(log: Log, path: Path, scene: Runnable | None = None) -> None:
    """Draws base, torques, contact forces and tick times of a run into a picture.

    Args:
        log: of the run.
        path: of the picture; its ending says the format.
        scene: that was run: its robot is drawn above the plots.
    """
    figure = Figure(figsize=(13, 8), layout="constrained")
    plots: Any = figure
    if scene is not None and len(log) and scene.robot.model.shapes:
        figure.set_size_inches(13, 10)
        halves: Any = figure.subfigures(2, 1, height_ratios=(1, 3.4))
        plots = halves[1]
        _draw_snapshots(halves[0], log, scene)
    axes = plots.subplots(2, 2, sharex=True)
    base, torque, force, time = axes.ravel()
    t = log.time
    if log.q.shape[1] > log.v.shape[1] and len(log):
        for axis, name in enumerate("xyz"):
            base.plot(t, log.q[:, axis] - log.q[0, axis], label=name)
        base.set(title="base, away from where it began", ylabel="m")
    else:
        base.plot(t, log.q)
        base.set(title="joint positions", ylabel="rad or m")
    _draw_torques(torque, log, scene)
    for number, name in enumerate(log.contacts):
        line = force.plot(t, log.forces[:, number, 2], label=f"{name}, commanded")[0]
        if name in log.feet:
            measured = log.measured[:, log.feet.index(name), 2]
            force.plot(t, measured, linewidth=0.5, alpha=0.6, color=line.get_color())
    force.set(title="vertical contact forces (thin: measured)", ylabel="N", xlabel="time, s")
    time.semilogy(t, 1e3 * np.maximum(log.tick_time, 1e-6), ".", markersize=1)
    time.set(title="controller.step", ylabel="ms", xlabel="time, s")
    for panel in axes.ravel():
        panel.grid(alpha=0.3)
        for push in scene.disturbances if scene is not None else ():
            panel.axvspan(push.start, push.start + push.duration, color="0.8", linewidth=0)
        if len(t) > 1:
            panel.set_xlim(t[0], t[-1])
        if panel.get_legend_handles_labels()[0]:
            panel.legend(fontsize=8, loc="upper left")
    figure.suptitle(f"{log.robot}: {log.ended or 'the file is incomplete'}")
    try:
        figure.savefig(path, dpi=80)
    except (OSError, ValueError) as error:
        raise WbcError(f"can't write the picture {str(path)!r}: {error}") from None


def _draw_torques(axes: Any, log: Log, scene: Runnable | None) -> None:  # noqa: ANN401  of matplotlib
    """The range of the commanded torques over all actuators: as a share of their limits, if these are known."""
    effort = scene.robot.limits.effort if scene is not None else np.full(log.torque.shape[1], np.inf)
    known = bool(len(effort) == log.torque.shape[1] and len(effort) and np.isfinite(effort).all() and effort.all())
    value = 100.0 * log.torque / effort if known else log.torque
    if value.size:
        axes.fill_between(log.time, value.min(axis=1), value.max(axis=1), alpha=0.35, label="all actuators")
        axes.plot(log.time, np.sqrt(np.mean(value**2, axis=1)), linewidth=0.8, label="root mean square")
    if known:
        axes.axhline(100.0, color="C3", linewidth=0.8, linestyle="--", label="limits")
        axes.axhline(-100.0, color="C3", linewidth=0.8, linestyle="--")
    axes.set(title="torques commanded", ylabel="% of the limit" if known else "N m")


def _draw_snapshots(figure: Any, log: Log, scene: Runnable) -> None:  # noqa: ANN401  of matplotlib
    """The robot at moments of the run, side by side."""
    for number, tick in enumerate(np.linspace(0, len(log) - 1, SNAPSHOTS).astype(int)):
        axes = figure.add_axes((number / SNAPSHOTS, 0.0, 1.0 / SNAPSHOTS, 0.86), projection="3d")
        draw(axes, scene.robot, log.q[tick])
        axes.view_init(elev=16, azim=-52)
        words = next((words for start, words in reversed(scene.phases) if log.time[tick] >= start), "")
        figure.text((number + 0.5) / SNAPSHOTS, 0.9, f"{log.time[tick]:.1f} s  {words}", ha="center", fontsize=10)


def draw_collisions(geometry: CollisionGeometry, path: Path) -> None:
    """Draws what may collide, in the robot's nominal configuration, into a PNG.

    Args:
        geometry: shapes and pairs.
        path: of the file.
    """
    robot = geometry.robot.copy()
    robot.update(robot.model.nominal)
    figure = Figure(figsize=(6, 6))
    axes = figure.add_subplot(projection="3d")
    draw_geometry(axes, geometry, robot, ground=robot.model.floating)
    axes.set_title(f"{robot.model.name}: {len(geometry.solids)} shapes, {len(geometry.pairs)} pairs", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
