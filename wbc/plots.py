"""Plots of a log with matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wbc.errors import WbcError
from wbc.simulation.log import Log

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise WbcError(f"plots need matplotlib: pip install 'wbc[plot]' ({error})") from None


def draw_log(log: Log, path: Path) -> None:
    """Draws base, torques, contact forces and tick times of a run into a picture.

    Args:
        log: of the run.
        path: of the picture; its ending says the format.
    """
    figure = Figure(figsize=(11, 8), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    floating = log.q.shape[1] > log.v.shape[1]
    t = log.time
    base, torque, force, time = axes.ravel()
    if floating and len(log):
        for axis, name in enumerate("xyz"):
            base.plot(t, 1e3 * (log.q[:, axis] - log.q[0, axis]), label=name)
        base.set(title="base, away from where it began", ylabel="mm")
    else:
        base.plot(t, log.q)
        base.set(title="joint positions", ylabel="rad or m")
    torque.plot(t, log.torque, linewidth=0.8)
    torque.set(title="torques commanded", ylabel="N m")
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
        if panel.get_legend_handles_labels()[0]:
            panel.legend(fontsize=8, loc="upper right")
    figure.suptitle(f"{log.robot}: {log.ended or 'the file breaks off'}")
    figure.savefig(path, dpi=90)
