"""The scenes of `peers/` for our controllers, on strict levels.

The problem is TSID's: its feet, places, gains and torque limits, normal forces of 1 to 2000 N, and least forces on the
last level, as TSID regularises them. TSID's friction pyramid is the outer one, |f_x|, |f_y| ≤ 0.6 f_z, and ours the
inner one of its cone: a coefficient of 0.6 √2 makes them the same. TSID does not know joint friction and damping: the
URDF is read without them. What differs: TSID has all tasks on one weighted level, the motion of its contacts too; ours
stand on levels of their own, and contacts stand beside the limits.
"""

from __future__ import annotations

import importlib.util
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import tasks
import wbc
from wbc.model import read_urdf

CORNERS = [(0.1, 0.05), (0.1, -0.05), (-0.1, -0.05), (-0.1, 0.05)]


def peer(name: str, backend: str, solver: str | wbc.solvers.Solver) -> tuple[wbc.Controller, np.ndarray]:
    """The scene of that name, and its configuration.

    Args:
        name: of `PEERS`.
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.
    """
    spec = importlib.util.find_spec("cmeel")
    assert spec is not None and spec.origin is not None, "the scenes of the peers need example-robot-data"
    robots = Path(spec.origin).parents[1] / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    file, feet, stance = PEERS[name]
    text = re.sub(rb"<dynamics\b[^>]*/>", b"", (robots / file).read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        robot = wbc.load(read_urdf(text, floating=True), backend)  # type: ignore[arg-type]
    q, angles = robot.neutral(), stance(robots)
    q[2] = angles["height"]
    for joint in robot.joint_names:
        q[robot.model.q_index[joint]] = angles.get(joint, 0.0)
    gains, friction = wbc.Gains(kp=100.0, kd=20.0), 0.6 * math.sqrt(2.0)
    contacts = [
        wbc.PointContact(foot, friction, minimum=1.0, maximum=2000.0)
        if name == "anymal"
        else wbc.SurfaceContact(foot, friction, CORNERS, minimum=1.0, maximum=2000.0)
        for foot in feet
    ]
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion(gains)
    com, posture = tasks.CenterOfMass(gains=gains), tasks.JointAcceleration(gains=gains)
    levels = tasks.EquationOfMotion() / limits / com / posture / tasks.ForceMinimization()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        return wbc.Controller(robot, wbc.Stack(levels, contacts=contacts), solver), q  # as the peers do


def _half_sitting(srdf: Path) -> dict[str, float]:
    """The joint angles that an SRDF file stores under that name, and the height of the base."""
    state = next(
        group for group in ElementTree.parse(srdf).getroot().iter("group_state") if group.get("name") == "half_sitting"
    )
    values = {joint.get("name", ""): joint.get("value", "").split() for joint in state.iter("joint")}
    height = float(values.pop("root_joint")[2])
    return {"height": height, **{name: float(value[0]) for name, value in values.items()}}


def _anymal(robots: Path) -> dict[str, float]:
    angles = {f"{side}{leg}_HFE": angle for leg, angle in (("F", 0.4), ("H", -0.4)) for side in "LR"}
    angles |= {f"{side}{leg}_KFE": angle for leg, angle in (("F", -0.8), ("H", 0.8)) for side in "LR"}
    return {"height": 0.5, **angles}


def _talos(robots: Path) -> dict[str, float]:
    return _half_sitting(robots / "talos_data" / "srdf" / "talos.srdf")


PEERS: dict[str, tuple[str, tuple[str, ...], Callable[[Path], dict[str, float]]]] = {
    "anymal": (
        "anymal_c_simple_description/urdf/anymal.urdf",
        ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
        _anymal,
    ),
    "talos": ("talos_data/robots/talos_reduced.urdf", ("left_sole_link", "right_sole_link"), _talos),
}
"""File, feet, and what gives the configuration."""
