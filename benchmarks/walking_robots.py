"""What other people's robots do when they are told to walk, with nothing but what is found out about them.

    python benchmarks/walking_robots.py 0.3 go2/scene.xml h1/scene.xml anymal.urdf

The first argument is the speed that is asked for, m/s. A robot with two soles walks, one with more feet trots,
for 4 s in MuJoCo at the model's own timestep or a millisecond; a row is printed for each.
"""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path

import numpy as np

import wbc
from tasks.locomotion import Gait, Walk

DURATION = 4.0


def row(path: str, speed: float) -> str:
    """What a robot did, in words."""
    try:
        robot = wbc.load(path)
        legs = Gait if len(robot.model.feet) > 2 else Walk
        walk = legs(robot, command=(speed, 0.0, 0.0))
        controller = wbc.Controller(robot, walk.stack())
        plant = wbc.MujocoSimulator(path if path.endswith(".xml") else robot)
        log = wbc.run(controller, plant, DURATION, targets=walk, deadline=math.inf)
    except wbc.WbcError as error:
        return f"refused: {error}"
    half = len(log) // 2
    gone = float(np.hypot(*(log.q[-1, :2] - log.q[half, :2]))) / (log.time[-1] - log.time[half])
    beyond = int((np.minimum(log.cone_margin, log.torque_margin) < -1e-6).sum())
    kind = "trots" if legs is Gait else "walks"
    ended = kind if log.ended == "finished" else f"{log.ended} after {log.time[-1]:.1f} s"
    return f"{ended}, {gone:.2f} m/s of {speed:g} in its second half; bounds broken in {beyond} of {len(log)} ticks"


def main() -> None:
    """Prints a row for each file."""
    warnings.simplefilter("ignore", wbc.WbcWarning)
    speed, *paths = sys.argv[1:]
    for path in paths:
        print(f"{Path(path).parent.name}/{Path(path).name}: {row(path, float(speed))}", flush=True)


if __name__ == "__main__":
    main()
