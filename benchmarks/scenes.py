"""The scenes of `peers/tsid_tick.py` for our controllers, on strict levels."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import tasks
import wbc


def peer(name: str, backend: str, solver: str) -> tuple[wbc.Controller, np.ndarray]:
    """The scene of that name of `peers/tsid_tick.py`, its tasks on strict levels."""
    spec = importlib.util.find_spec("cmeel")
    assert spec is not None and spec.origin is not None, "the scenes of the peers need example-robot-data"
    robots = Path(spec.origin).parents[1] / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    file, feet, stance = PEERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        robot = wbc.load(robots / file, backend, floating=True)
    q, angles = robot.neutral(), stance(robots)
    q[2] = angles["height"]
    for joint in robot.joint_names:
        q[robot.model.q_index[joint]] = angles.get(joint, 0.0)
    gains = wbc.Gains(kp=100.0, kd=20.0)
    corners = [(0.1, 0.05), (0.1, -0.05), (-0.1, -0.05), (-0.1, 0.05)]
    contacts = [
        wbc.PointContact(foot, 0.6, minimum=1.0, maximum=2000.0)
        if name == "anymal"
        else wbc.SurfaceContact(foot, 0.6, corners, minimum=1.0, maximum=2000.0)
        for foot in feet
    ]
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion(gains)
    com, posture = tasks.CenterOfMass(gains=gains), tasks.JointAcceleration(gains=gains)
    stack = wbc.Stack(tasks.EquationOfMotion() / limits / com / posture, contacts=contacts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        return wbc.Controller(robot, stack, solver), q


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
