"""The robots that the tests run on: ours, and real ones out of the package example-robot-data."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import NamedTuple

import wbc
from wbc.dynamics import Dynamics
from wbc.model import packaged_path


class Robot(NamedTuple):
    """A URDF file and how to load it."""

    name: str
    path: Path
    floating: bool


def _shipped(folder_and_file: str) -> Path:
    spec = importlib.util.find_spec("cmeel")
    assert spec is not None and spec.origin is not None, "the tests need the package example-robot-data"
    prefix = Path(spec.origin).parents[1] / "cmeel.prefix"
    return prefix / "share" / "example-robot-data" / "robots" / folder_and_file


PACKAGED = [
    Robot("planar_arm", packaged_path("planar_arm"), False),
    Robot("arm", packaged_path("arm"), False),
    Robot("quadruped", packaged_path("quadruped"), True),
    Robot("humanoid", packaged_path("humanoid"), True),
    Robot("diffdrive", packaged_path("diffdrive"), True),
]

REAL = [
    Robot("panda: prismatic fingers", _shipped("panda_description/urdf/panda.urdf"), False),
    Robot("ur5: root called world", _shipped("ur_description/urdf/ur5_robot.urdf"), False),
    Robot("kinova: continuous joints", _shipped("kinova_description/robots/kinova.urdf"), False),
    Robot("tiago: lift and wheels", _shipped("tiago_description/robots/tiago_no_hand.urdf"), False),
    Robot("anymal: many fixed links", _shipped("anymal_c_simple_description/urdf/anymal.urdf"), True),
    Robot("talos: 38 velocities", _shipped("talos_data/robots/talos_reduced.urdf"), True),
    Robot("g1 with hands: 49 velocities", _shipped("g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf"), True),
    Robot("human: massless links that move", _shipped("human_description/robots/human.urdf"), True),
]

ALL = PACKAGED + REAL

BACKENDS = ("numpy", "pinocchio", "mujoco")
"""All of them: what the tests of the interface, of finite differences and of agreement run over."""


def load(robot: Robot, backend: str) -> Dynamics:
    """The robot on a backend; what is unusual in the real ones is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        return wbc.load(robot.path, backend, floating=robot.floating)  # type: ignore[arg-type]
