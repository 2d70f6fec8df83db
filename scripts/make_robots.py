"""Write the packaged robots, `wbc/model/robots/*.urdf`, from the descriptions below.

    python scripts/make_robots.py            # rewrite the files
    python scripts/make_robots.py --check    # exit with 1 if a file is not what this script writes

The machines are our own designs: dimensions, masses, ranges and motors are those of real robots of that size, but of
none in particular. A robot is a list of links made of boxes, rods and balls. What a URDF wants beyond that is worked
out here: inertias from the shapes, right limbs from left ones, and the nominal configuration from where the feet and
the centre of mass must be.

All frames are parallel at q = 0, with x forward, y left and z up, so a joint needs an offset and an axis only.
Lengths are in m, masses in kg, angles in rad, torques in N m, inertias in kg m².
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parents[1] / "wbc" / "model" / "robots"

Vector = NDArray[np.float64]
Point = Sequence[float] | Vector
Span = tuple[float, float]

SHELL, DARK, METAL, ACCENT = "shell", "dark", "metal", "accent"
COLOURS = {SHELL: "0.92 0.92 0.90 1", DARK: "0.15 0.16 0.18 1", METAL: "0.52 0.54 0.57 1"}  # accent: by robot
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
ORIGIN = (0.0, 0.0, 0.0)
FREE = (-math.inf, math.inf)  # the range of what turns on and on

# ---------------------------------------------------------------------------------------------------------- shapes


@dataclass(frozen=True)
class Shape:
    """A primitive of one link: `box` (three edges), `cylinder` (radius, length along z) or `sphere` (radius).

    `mass` is that of a part known by itself (a motor, a battery; 0 for decoration); the shapes without one share what
    is left of the link's mass at one density. A shape without a colour is not seen.
    """

    kind: str
    size: tuple[float, ...]
    at: Point
    rpy: tuple[float, float, float]
    colour: str
    mass: float | None = None
    collides: bool = False

    @property
    def volume(self) -> float:
        """In m³."""
        if self.kind == "box":
            return math.prod(self.size)
        radius = self.size[0]
        return math.pi * radius**2 * self.size[1] if self.kind == "cylinder" else 4 / 3 * math.pi * radius**3

    def inertia(self, mass: float) -> Vector:
        """Inertia about the shape's own centre, in the link's axes (3 × 3)."""
        if self.kind == "box":
            x, y, z = (edge**2 for edge in self.size)
            diagonal = [(y + z) / 12, (x + z) / 12, (x + y) / 12]
        elif self.kind == "cylinder":
            radius, length = self.size
            across = radius**2 / 4 + length**2 / 12
            diagonal = [across, across, radius**2 / 2]
        else:
            diagonal = [0.4 * self.size[0] ** 2] * 3
        R = rotation("z", self.rpy[2]) @ rotation("y", self.rpy[1]) @ rotation("x", self.rpy[0])
        return mass * R @ np.diag(diagonal) @ R.T


def box(size: Point, at: Point, colour: str, mass: float | None = None, pitch: float = 0.0, **more: bool) -> Shape:
    """A box of the given edges about `at`, tilted about y."""
    return Shape("box", tuple(size), at, (0.0, pitch, 0.0), colour, mass, **more)


def ball(radius: float, at: Point, colour: str, mass: float | None = None, **more: bool) -> Shape:
    """A ball about `at`."""
    return Shape("sphere", (radius,), at, ORIGIN, colour, mass, **more)


def rod(start: Point, end: Point, radius: float, colour: str, mass: float | None = None, **more: bool) -> Shape:
    """A cylinder whose end faces are centred on `start` and `end`."""
    x, y, z = np.subtract(end, start)
    rpy = (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x))
    size = (radius, math.hypot(x, y, z))
    return Shape("cylinder", size, tuple(np.add(start, end) / 2), rpy, colour, mass, **more)


def drum(at: Point, axis: str, radius: float, width: float, colour: str, mass: float | None = None) -> Shape:
    """A cylinder about `at` along an axis: the housing of a joint, or its motor where it has a mass of its own."""
    half = np.multiply(AXES[axis], width / 2)
    return rod(np.subtract(at, half), np.add(at, half), radius, colour, mass)


def rotation(axis: str, angle: float) -> Vector:
    """The matrix that turns by an angle about a coordinate axis, by Rodrigues' formula."""
    S = np.cross(np.eye(3), AXES[axis])  # S v = axis × v
    return np.eye(3) + math.sin(angle) * S + (1 - math.cos(angle)) * S @ S


# ---------------------------------------------------------------------------------------------------------- robots


@dataclass(frozen=True)
class Motor:
    """What drives a joint: largest torque and speed, viscous damping at the joint, rotor inertia seen at the joint."""

    torque: float
    speed: float
    damping: float
    armature: float


@dataclass(frozen=True)
class Wheel:
    """What rolls on the ground: see `wbc.Wheel`. Its axle is y, unless it is told; a castor touches with a ball."""

    radius: float
    crown: float = 0.0
    axis: str = "y"
    rollers: float | None = None
    castor: bool = False


@dataclass
class Link:
    """A body, and the joint that carries it (none for the root; fixed when it has no motor)."""

    name: str
    mass: float
    parent: str = ""
    joint: str = ""
    at: Point = ORIGIN
    axis: str = ""
    range: Span = (0.0, 0.0)
    motor: Motor | None = None
    shapes: list[Shape] = field(default_factory=list)

    def made_of(self, *shapes: Shape) -> None:
        """Say what the link looks like and where its mass is."""
        self.shapes = list(shapes)

    def inertial(self) -> tuple[float, Vector, Vector]:
        """Mass, centre of mass and inertia about it: the sum over the shapes, with the parallel-axis theorem."""
        rest = self.mass - sum(shape.mass or 0.0 for shape in self.shapes)
        volume = sum(shape.volume for shape in self.shapes if shape.mass is None)
        parts = [(rest * s.volume / volume if s.mass is None else s.mass, s) for s in self.shapes]
        com = np.sum([mass * np.array(shape.at) for mass, shape in parts], axis=0) / self.mass
        inertia = np.zeros((3, 3))
        for mass, shape in parts:
            r = np.array(shape.at) - com
            inertia += shape.inertia(mass) + mass * (r @ r * np.eye(3) - np.outer(r, r))
        return self.mass, com, inertia


@dataclass
class Robot:
    """A tree of links, root first and every parent before its children, and what `wbc` wants to know about it."""

    name: str
    about: str
    accent: str
    links: list[Link] = field(default_factory=list)
    feet: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # with the corners of the sole, if flat
    wheels: dict[str, Wheel] = field(default_factory=dict)
    hands: list[str] = field(default_factory=list)
    nominal: dict[str, float] = field(default_factory=dict)
    height: float = 0.0  # of the base in the nominal configuration

    def body(self, name: str, mass: float, parent: str = "", at: Point = ORIGIN) -> Link:
        """Add the root, or a link fixed to its parent (without mass: a frame)."""
        self.links.append(Link(name, mass, parent, f"{name}_fixed" if parent else "", at))
        return self.links[-1]

    def hinge(
        self, name: str, parent: str, at: Point, axis: str, span: Span, motor: Motor, child: str, mass: float
    ) -> Link:
        """Add a joint at `at` in the parent's frame, and the link it carries, whose frame has its origin there."""
        self.links.append(Link(child, mass, parent, name, at, axis, span, motor))
        return self.links[-1]

    def mirror(self, left: str, right: str) -> None:
        """Add the other limb of a pair: links named `left`… without a counterpart, reflected in the x–z plane."""

        def name(old: str) -> str:
            return right + old.removeprefix(left) if old.startswith(left) else old

        def across(point: Point) -> Point:
            return (point[0], -point[1], point[2])

        known = {link.name for link in self.links}
        for link in [link for link in self.links if link.name.startswith(left) and name(link.name) not in known]:
            shapes = [replace(s, at=across(s.at), rpy=(-s.rpy[0], s.rpy[1], -s.rpy[2])) for s in link.shapes]
            # A reflection turns rotations about x and z round, and leaves those about y as they are.
            span = link.range if link.axis == "y" or link.range == FREE else (-link.range[1], -link.range[0])
            other = replace(link, name=name(link.name), parent=name(link.parent), joint=name(link.joint))
            self.links.append(replace(other, at=across(link.at), range=span, shapes=shapes))
        self.feet |= {name(foot): corners for foot, corners in self.feet.items() if foot.startswith(left)}
        self.wheels |= {name(link): wheel for link, wheel in self.wheels.items() if link.startswith(left)}
        self.hands += [name(hand) for hand in self.hands if hand.startswith(left)]

    def poses(self, q: dict[str, float]) -> dict[str, tuple[Vector, Vector]]:
        """Forward kinematics: rotation and position of every link in the root's frame; joints not in `q` are at 0."""
        poses: dict[str, tuple[Vector, Vector]] = {}
        for link in self.links:
            R, p = poses.get(link.parent, (np.eye(3), np.zeros(3)))
            turn = rotation(link.axis, q.get(link.joint, 0.0)) if link.axis else np.eye(3)
            poses[link.name] = R @ turn, p + R @ np.array(link.at)
        return poses

    def stand(self, posture: Callable[[float], dict[str, float]], clearance: float) -> None:
        """Set the nominal configuration so that the centre of mass is over the middle of the feet.

        Args:
            posture: the configuration with the feet this far before the hips.
            clearance: height of a foot's frame over the ground it stands on.
        """
        bodies = [(link.name, *link.inertial()[:2]) for link in self.links if link.mass]
        shift = 0.0
        for _ in range(40):  # a fixed point: the legs are light, so each round leaves a small part of the error
            poses = self.poses(q := posture(shift))
            moments = [mass * (poses[name][1] + poses[name][0] @ com) for name, mass, com in bodies]
            com = np.sum(moments, axis=0) / sum(mass for _, mass, _ in bodies)
            feet = np.mean([poses[foot][1] for foot in (*self.feet, *self.wheels)], axis=0)
            shift += float(com[0] - feet[0])
        self.nominal = {link.joint: q.get(link.joint, 0.0) for link in self.links if link.motor}
        self.height = clearance - float(feet[2])


def bend(thigh: float, shank: float, before: float, below: float, knee: int) -> tuple[float, float]:
    """Hip and knee angle about y for an ankle this far before and below the hip; `knee` +1: the knee points forward."""
    reach = math.hypot(before, below)
    k = knee * math.acos((reach**2 - thigh**2 - shank**2) / (2 * thigh * shank))
    hip = math.atan2(-before, below) - math.atan2(shank * math.sin(k), thigh + shank * math.cos(k))
    return round(hip, 6), round(k, 6)  # rounded here, so that the base height fits the angles as they are written


# ---------------------------------------------------------------------------------------- the planar arm, and the arm


def planar_arm() -> Robot:
    """ETH examples 2.8.5–2.8.7 and 2.9.1: three unit links in the x–z plane, upright at q = 0, turning about y."""
    about = "ETH's planar arm, (2.141): l0 = l1 = l2 = l3 = 1 m; the joints turn about +y; at q = 0 it stands upright."
    robot = Robot("planar_arm", about, accent="0.10 0.42 0.72 1")
    robot.body("base", 10.0).made_of(
        box((0.36, 0.36, 0.04), (0, 0, 0.02), DARK),
        rod((0, 0, 0.04), (0, 0, 0.94), 0.05, SHELL),
        rod((0, 0, 0.20), (0, 0, 0.23), 0.052, ACCENT, 0.0),
        drum((0, 0, 1), "y", 0.085, 0.13, DARK),
    )
    for i, (torque, radius) in enumerate(((120.0, 0.045), (80.0, 0.038), (40.0, 0.031)), start=1):
        # The rod alone has mass, and the motors add nothing, so that the equations of motion are the textbook's.
        motor, parent = Motor(torque, 6.0, 0.0, 0.0), f"link_{i - 1}" if i > 1 else "base"
        robot.hinge(f"joint_{i}", parent, (0, 0, 1), "y", (-3.1, 3.1), motor, f"link_{i}", 1.0).made_of(
            rod(ORIGIN, (0, 0, 1), radius, SHELL),
            drum(ORIGIN, "y", radius + 0.02, 0.14, ACCENT, 0.0),
            drum((0, 0, 1), "y", radius + 0.012, 0.11, DARK, 0.0) if i < 3 else ball(0.045, (0, 0, 1), ACCENT, 0.0),
        )
    robot.body("end_effector", 0.0, "link_3", (0, 0, 1))
    robot.nominal = {f"joint_{i}": round(math.pi / divisor, 9) for i, divisor in ((1, 6), (2, 3), (3, 3))}  # of (2.224)
    return robot


def arm() -> Robot:
    """A torque-controlled arm with a spherical shoulder, an elbow and a spherical wrist, for the redundancy."""
    about = "Joints 1-3: shoulder, 4: elbow, 5-7: wrist. From the shoulder's centre to the flange it reaches 0.85 m."
    robot = Robot("arm", about, accent="0.05 0.55 0.55 1", hands=["tool"])
    big, middle = Motor(90.0, 2.2, 0.5, 0.2), Motor(60.0, 2.4, 0.3, 0.1)
    fore, small = Motor(40.0, 2.4, 0.3, 0.1), Motor(15.0, 3.0, 0.1, 0.02)
    robot.body("base", 3.4).made_of(
        rod(ORIGIN, (0, 0, 0.025), 0.115, DARK),
        rod((0, 0, 0.025), (0, 0, 0.16), 0.082, SHELL),
        box((0.08, 0.10, 0.09), (-0.08, 0, 0.07), DARK),
    )
    robot.hinge("joint_1", "base", (0, 0, 0.32), "z", (-2.9, 2.9), big, "link_1", 3.4).made_of(
        rod((0, 0, -0.157), (0, 0, -0.14), 0.083, ACCENT, 0.0),
        rod((0, 0, -0.14), (0, 0, -0.03), 0.078, SHELL),
        drum(ORIGIN, "y", 0.078, 0.15, SHELL, 2.0),
    )
    robot.hinge("joint_2", "link_1", ORIGIN, "y", (-2.0, 2.0), big, "link_2", 3.3).made_of(
        drum(ORIGIN, "y", 0.066, 0.19, DARK, 1.7),
        rod((0, 0, 0.05), (0, 0, 0.20), 0.068, SHELL, collides=True),
        rod((0, 0, 0.19), (0, 0, 0.205), 0.0685, ACCENT, 0.0),
    )
    robot.hinge("joint_3", "link_2", (0, 0, 0.40), "z", (-2.9, 2.9), middle, "link_3", 2.8).made_of(
        rod((0, 0, -0.195), (0, 0, -0.03), 0.066, SHELL, collides=True),
        drum(ORIGIN, "y", 0.068, 0.135, SHELL, 1.5),
    )
    robot.hinge("joint_4", "link_3", ORIGIN, "y", (-2.1, 2.1), middle, "link_4", 2.4).made_of(
        drum(ORIGIN, "y", 0.057, 0.17, DARK, 1.3),
        rod((0, 0, 0.05), (0, 0, 0.19), 0.058, SHELL, collides=True),
        rod((0, 0, 0.18), (0, 0, 0.195), 0.0585, ACCENT, 0.0),
    )
    robot.hinge("joint_5", "link_4", (0, 0, 0.36), "z", (-2.9, 2.9), fore, "link_5", 1.6).made_of(
        rod((0, 0, -0.165), (0, 0, -0.03), 0.055, SHELL, collides=True),
        drum(ORIGIN, "y", 0.055, 0.105, SHELL, 0.8),
    )
    robot.hinge("joint_6", "link_5", ORIGIN, "y", (-2.0, 2.0), small, "link_6", 1.3).made_of(
        drum(ORIGIN, "y", 0.046, 0.13, DARK, 0.8),
        rod((0, 0, 0.02), (0, 0, 0.062), 0.047, SHELL),
    )
    robot.hinge("joint_7", "link_6", ORIGIN, "z", (-3.0, 3.0), small, "link_7", 0.4).made_of(
        rod((0, 0, 0.062), (0, 0, 0.082), 0.045, METAL)
    )
    robot.body("flange", 0.1, "link_7", (0, 0, 0.09)).made_of(rod((0, 0, -0.008), ORIGIN, 0.04, ACCENT))
    robot.body("tool", 0.5, "flange", (0, 0, 0.12)).made_of(  # a gripper; its frame lies between the finger tips
        rod((0, 0, -0.12), (0, 0, -0.10), 0.034, DARK),
        box((0.05, 0.11, 0.04), (0, 0, -0.08), DARK, collides=True),
        box((0.02, 0.014, 0.065), (0, 0.03, -0.0275), METAL, collides=True),
        box((0.02, 0.014, 0.065), (0, -0.03, -0.0275), METAL, collides=True),
    )
    # At rest the upper arm leans forward, the elbow is up, and the tool points straight down.
    angles = (0.0, 0.3, 0.0, 1.6, 0.0, round(math.pi - 1.9, 9), 0.0)
    robot.nominal = {f"joint_{i}": angle for i, angle in enumerate(angles, start=1)}
    return robot


# --------------------------------------------------------------------------------------------------- the quadruped


def quadruped() -> Robot:
    """A 30 kg machine on four legs of three joints each, with all knees pointing backward, as a dog's elbows do."""
    about = "A foot's frame is the centre of its ball (radius 0.025 m), which stays at one height as the ball rolls."
    robot = Robot("quadruped", about, accent="0.95 0.42 0.08 1")
    radius = 0.025
    quadruped_trunk(robot)
    for leg, right, f in (("LF", "RF", 1), ("LH", "RH", -1)):
        quadruped_leg(robot, leg, f)
        foot = robot.body(f"{leg}_foot", 0.08, f"{leg}_shank", (0, 0, -SHIN))
        foot.made_of(ball(radius, ORIGIN, DARK, collides=True))
        robot.feet[f"{leg}_foot"] = []
        robot.mirror(leg, right)
    robot.stand(lambda shift: quadruped_posture(shift, 0.45), clearance=radius)
    return robot


def wheeled_quadruped() -> Robot:
    """The quadruped with a driven wheel at the end of each leg in the place of a foot."""
    about = "A wheel's frame is its centre; its tyre (radius 0.08 m) is round, so that it may lean."
    robot = Robot("wheeled_quadruped", about, accent="0.95 0.42 0.08 1")
    wheel, motor = Wheel(0.08, crown=0.02), Motor(20.0, 40.0, 0.02, 0.01)
    quadruped_trunk(robot)
    for leg, right, f in (("LF", "RF", 1), ("LH", "RH", -1)):
        quadruped_leg(robot, leg, f)
        name, at = f"{leg}_wheel", (0, 0.045, -SHIN)
        robot.hinge(f"{name}_joint", f"{leg}_shank", at, "y", FREE, motor, name, 0.9).made_of(
            *tyre(wheel.radius, 0.04, "y"), drum((0, -0.03, 0), "y", 0.034, 0.03, METAL, 0.4)
        )
        robot.wheels[name] = wheel
        robot.mirror(leg, right)
    robot.stand(lambda shift: quadruped_posture(shift, 0.42), clearance=wheel.radius)
    return robot


THIGH_BONE, SHIN = 0.27, 0.29  # lengths of the quadruped's legs


def quadruped_posture(shift: float, below: float) -> dict[str, float]:
    """Legs with their ends this far before and below the hips."""
    hip, knee = bend(THIGH_BONE, SHIN, shift, below, -1)
    return {f"{leg}_{name}": q for leg in ("LF", "RF", "LH", "RH") for name, q in (("HFE", hip), ("KFE", knee))}


def quadruped_trunk(robot: Robot) -> None:
    """The base, with battery, handle and head."""
    robot.body("base", 14.8).made_of(
        box((0.50, 0.19, 0.11), (0, 0, 0.015), SHELL),
        box((0.40, 0.15, 0.05), (0, 0, -0.06), DARK, 3.0),  # the battery
        box((0.34, 0.13, 0.022), (-0.03, 0, 0.075), DARK),
        box((0.18, 0.192, 0.018), (0, 0, 0.02), ACCENT, 0.0),
        rod((-0.14, 0, 0.10), (0.06, 0, 0.10), 0.011, ACCENT, 0.0),  # the handle
        *(rod((x, 0, 0.08), (x, 0, 0.105), 0.0105, DARK, 0.0) for x in (-0.14, 0.06)),
        *(drum((x, y, 0), "x", 0.06, 0.11, DARK, 0.9) for x in (0.20, -0.20) for y in (0.075, -0.075)),
        box((0.06, 0.10, 0.06), (-0.27, 0, 0.02), DARK),
        box((0.14, 0.09, 0.07), (0.30, 0, 0.035), DARK),  # the neck, the head and its eyes
        box((0.11, 0.135, 0.09), (0.39, 0, 0.075), SHELL),
        drum((0.425, 0, 0.072), "y", 0.041, 0.128, DARK),
        *(ball(0.017, (0.456, y, 0.085), ACCENT, 0.0) for y in (0.036, -0.036)),
        box((0.50, 0.19, 0.15), (0, 0, -0.005), "", 0.0, collides=True),
    )


def quadruped_leg(robot: Robot, leg: str, f: int) -> None:
    """Hip abduction, hip flexion and knee flexion of a left leg at the front (`f` = 1) or the hind end."""
    abduction, swing, knee = Motor(60.0, 14.0, 0.05, 0.04), Motor(80.0, 14.0, 0.05, 0.06), Motor(80.0, 18.0, 0.05, 0.06)
    robot.hinge(f"{leg}_HAA", "base", (0.26 * f, 0.085, 0), "x", (-0.45, 0.7), abduction, f"{leg}_hip", 1.5).made_of(
        drum(ORIGIN, "x", 0.05, 0.02, METAL, 0.1),
        drum((0.065 * f, 0.005, 0), "y", 0.056, 0.095, DARK),
        drum((0.065 * f, 0.05, 0), "y", 0.05, 0.02, METAL, 0.1),
    )
    hip = (0.065 * f, 0.09, 0)
    robot.hinge(f"{leg}_HFE", f"{leg}_hip", hip, "y", (-1.2, 2.4), swing, f"{leg}_thigh", 1.8).made_of(
        drum(ORIGIN, "y", 0.056, 0.055, SHELL, 0.95),  # the knee's motor, kept high; a belt runs down
        drum((0, 0.029, 0), "y", 0.036, 0.006, ACCENT, 0.0),
        box((0.058, 0.034, 0.235), (0, 0, -0.1325), SHELL),
        box((0.030, 0.038, 0.14), (0, 0, -0.15), DARK),
        drum((0, 0, -THIGH_BONE), "y", 0.036, 0.052, DARK),
    )
    robot.hinge(
        f"{leg}_KFE", f"{leg}_thigh", (0, 0, -THIGH_BONE), "y", (-2.6, -0.2), knee, f"{leg}_shank", 0.42
    ).made_of(
        drum(ORIGIN, "y", 0.025, 0.06, METAL),
        rod((0, 0, -0.01), (0, 0, -0.16), 0.02, DARK),
        rod((0, 0, -0.14), (0, 0, -SHIN + 0.01), 0.014, METAL, collides=True),
        rod((0, 0, -0.15), (0, 0, -0.165), 0.021, ACCENT, 0.0),
    )


# ------------------------------------------------------------------------------------------------- what has wheels only


def tyre(radius: float, width: float, axis: str, rollers: int = 0) -> list[Shape]:
    """A wheel about its frame: a tyre that touches with its whole width, a hub, and spokes that show how it turns."""
    shapes = [
        replace(drum(ORIGIN, axis, radius, width, DARK), collides=True),
        drum(ORIGIN, axis, 0.6 * radius, 1.05 * width, METAL),
        drum(ORIGIN, axis, 0.2 * radius, 1.15 * width, ACCENT, 0.0),
    ]
    start = np.roll(AXES[axis], 1) * 1.0
    for k in range(3):
        spoke = rotation(axis, 2 * math.pi * k / 3) @ start
        shapes.append(rod(0.25 * radius * spoke, 0.55 * radius * spoke, 0.55 * width, ACCENT, 0.0))
    for k in range(rollers):
        middle = 0.9 * radius * rotation(axis, 2 * math.pi * k / rollers) @ start
        along = 0.2 * radius * np.cross(AXES[axis], middle / np.linalg.norm(middle))
        shapes.append(rod(middle - along, middle + along, 0.11 * radius, METAL, 0.0))
    return shapes


def diffdrive() -> Robot:
    """A 20 kg base that turns by the difference of its two wheels' speeds; a castor keeps it from tipping backward."""
    about = "Two driven wheels on one axis, and a castor behind them: a ball that slides and rolls freely."
    robot = Robot("diffdrive", about, accent="0.10 0.60 0.25 1")
    wheel, castor, motor = Wheel(0.1, crown=0.01), Wheel(0.04, castor=True), Motor(8.0, 25.0, 0.02, 0.01)
    robot.body("base", 16.5).made_of(
        box((0.46, 0.30, 0.10), (-0.06, 0, 0.03), SHELL, collides=True),
        box((0.16, 0.24, 0.08), (-0.14, 0, 0.0), DARK, 7.0),  # the battery
        drum((0.04, 0, 0.11), "z", 0.06, 0.07, DARK),  # what sees
        drum((0.04, 0, 0.12), "z", 0.061, 0.012, ACCENT, 0.0),
        box((0.02, 0.26, 0.03), (0.165, 0, 0.03), ACCENT, 0.0),
        rod((-0.24, 0, -0.06), (-0.24, 0, 0.0), 0.02, METAL),
    )
    robot.hinge("left_wheel_joint", "base", (0, 0.19, 0), "y", FREE, motor, "left_wheel", 1.5).made_of(
        *tyre(wheel.radius, 0.035, "y")
    )
    robot.wheels["left_wheel"] = wheel
    robot.mirror("left_", "right_")
    robot.body("castor", 0.3, "base", (-0.24, 0, castor.radius - wheel.radius)).made_of(
        ball(castor.radius, ORIGIN, METAL, collides=True)
    )
    robot.wheels["castor"] = castor
    robot.nominal, robot.height = {"left_wheel_joint": 0.0, "right_wheel_joint": 0.0}, wheel.radius
    return robot


def omni() -> Robot:
    """A 20 kg base on four omni wheels, which goes in any direction."""
    about = "Four wheels with rollers, at the front, the left, the rear and the right, their axles pointing outward."
    robot = Robot("omni", about, accent="0.60 0.20 0.60 1")
    motor, radius, reach = Motor(8.0, 25.0, 0.02, 0.01), 0.08, 0.24
    robot.body("base", 15.0).made_of(
        drum((0, 0, 0.03), "z", 0.20, 0.09, SHELL),
        drum((0, 0, 0.0), "z", 0.13, 0.08, DARK, 6.0),  # the battery
        drum((0, 0, 0.085), "z", 0.07, 0.04, DARK),
        drum((0, 0, 0.11), "z", 0.071, 0.012, ACCENT, 0.0),
        box((0.05, 0.06, 0.03), (0.18, 0, 0.06), ACCENT, 0.0),
        box((0.28, 0.28, 0.12), (0, 0, 0.03), "", 0.0, collides=True),
    )
    for place, axis, x, y in (("front", "x", 1, 0), ("left", "y", 0, 1), ("rear", "x", -1, 0), ("right", "y", 0, -1)):
        name, at = f"{place}_wheel", (reach * x, reach * y, 0)
        robot.hinge(f"{name}_joint", "base", at, axis, FREE, motor, name, 1.2).made_of(*tyre(radius, 0.04, axis, 8))
        robot.wheels[name] = Wheel(radius, crown=0.01, axis=axis, rollers=0.0)
        robot.nominal[f"{name}_joint"] = 0.0
    robot.height = radius
    return robot


# ---------------------------------------------------------------------------------------------------- the humanoid

THIGH, SHANK, ANKLE = 0.38, 0.38, 0.085  # lengths, and the ankle's height over the ground
SOLE, HEEL = (0.22, 0.10), 0.03  # length and width of the sole; how far the ankle is behind its middle


def humanoid() -> Robot:
    """A 60 kg, 1.6 m machine with flat feet: 6 joints a leg, 7 an arm, 3 in the waist and 2 in the neck."""
    about = "A foot's frame is the middle of its sole, on the ground; a hand's frame is the middle of the palm."
    robot = Robot("humanoid", about, accent="0.12 0.40 0.85 1")
    robot.body("base", 6.9).made_of(
        box((0.15, 0.17, 0.10), (-0.01, 0, 0.0), SHELL, collides=True),
        drum((0, 0, -0.01), "y", 0.062, 0.23, DARK, 2.4),
        drum((0, 0, 0.06), "z", 0.075, 0.05, DARK, 1.5),
        box((0.02, 0.10, 0.045), (0.067, 0, 0.005), ACCENT, 0.0),
    )
    humanoid_leg(robot)
    robot.mirror("left_", "right_")
    humanoid_torso(robot)
    humanoid_arm(robot)
    robot.mirror("left_", "right_")

    def posture(shift: float) -> dict[str, float]:
        hip, knee = bend(THIGH, SHANK, shift - HEEL, 0.735, 1)
        leg = {"hip_pitch": hip, "knee": knee, "ankle_pitch": round(-hip - knee, 6)}
        arms = {"left_shoulder_roll": 0.2, "right_shoulder_roll": -0.2}
        both = leg | {"shoulder_pitch": 0.25, "elbow": -1.0}
        return arms | {f"{side}_{name}": q for side in ("left", "right") for name, q in both.items()}

    robot.stand(posture, clearance=0.0)
    return robot


def humanoid_leg(robot: Robot) -> None:
    """Hip (three axes through one point), knee and ankle (two axes through one point)."""
    yaw, roll, pitch = Motor(120.0, 11.0, 0.1, 0.08), Motor(160.0, 11.0, 0.1, 0.08), Motor(200.0, 13.0, 0.1, 0.12)
    knee, ankle, tilt = Motor(230.0, 13.0, 0.1, 0.12), Motor(80.0, 11.0, 0.1, 0.05), Motor(60.0, 11.0, 0.1, 0.05)
    robot.hinge("left_hip_yaw", "base", (0, 0.095, -0.085), "z", (-0.6, 0.9), yaw, "left_hip_yoke", 1.1).made_of(
        drum((0, 0, 0.03), "z", 0.052, 0.05, METAL),
        drum((-0.065, 0, 0), "x", 0.045, 0.05, DARK, 0.7),
    )
    robot.hinge("left_hip_roll", "left_hip_yoke", ORIGIN, "x", (-0.4, 0.7), roll, "left_hip", 1.3).made_of(
        drum(ORIGIN, "y", 0.055, 0.08, DARK, 1.0),
        box((0.05, 0.05, 0.05), (-0.03, 0, 0), METAL),
    )
    robot.hinge("left_hip_pitch", "left_hip", ORIGIN, "y", (-2.1, 0.7), pitch, "left_thigh", 4.5).made_of(
        drum((0, 0.058, 0), "y", 0.062, 0.036, SHELL, 0.8),
        drum((0, 0.077, 0), "y", 0.036, 0.005, ACCENT, 0.0),
        rod((0, 0.012, -0.07), (0, 0, -0.33), 0.058, SHELL),
        box((0.10, 0.10, 0.12), (0.005, 0.012, -0.11), SHELL),
        box((0.008, 0.05, 0.18), (0.054, 0.006, -0.19), DARK, 0.0),
        drum((0, 0, -THIGH), "y", 0.052, 0.11, DARK, 1.5),  # the knee's motor
    )
    robot.hinge("left_knee", "left_thigh", (0, 0, -THIGH), "y", (0.0, 2.4), knee, "left_shank", 2.8).made_of(
        drum(ORIGIN, "y", 0.044, 0.124, METAL, 0.4),
        ball(0.046, (0.022, 0, 0), ACCENT, 0.0),
        rod((0, 0, -0.05), (0, 0, -0.34), 0.042, SHELL),
        box((0.085, 0.085, 0.15), (-0.012, 0, -0.145), SHELL, 1.5, collides=True),  # the ankle's motors
        box((0.02, 0.045, 0.20), (0.036, 0, -0.17), DARK, 0.0),
    )
    at = (0, 0, -SHANK)
    robot.hinge("left_ankle_pitch", "left_shank", at, "y", (-0.9, 0.6), ankle, "left_ankle_cross", 0.2).made_of(
        drum(ORIGIN, "y", 0.024, 0.075, METAL),
        drum(ORIGIN, "x", 0.02, 0.07, METAL),
    )
    robot.hinge("left_ankle_roll", "left_ankle_cross", ORIGIN, "x", (-0.4, 0.4), tilt, "left_ankle", 0.4).made_of(
        box((0.11, 0.06, 0.03), (0, 0, -0.038), DARK),
        drum(ORIGIN, "x", 0.026, 0.035, DARK),
    )
    length, width = SOLE
    robot.body("left_foot", 0.8, "left_ankle", (HEEL, 0, -ANKLE)).made_of(
        box((length, width, 0.022), (0, 0, 0.011), DARK, collides=True),
        box((length - 0.03, width - 0.014, 0.026), (-0.01, 0, 0.034), SHELL),
        box((0.04, width - 0.02, 0.016), (0.08, 0, 0.028), ACCENT, 0.0, pitch=0.35),
    )
    robot.feet["left_foot"] = [(x * length / 2, y * width / 2) for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1))]


def humanoid_torso(robot: Robot) -> None:
    """Waist, trunk, neck and head."""
    turn, waist, neck = Motor(100.0, 8.0, 0.1, 0.08), Motor(140.0, 8.0, 0.1, 0.08), Motor(10.0, 6.0, 0.02, 0.005)
    robot.hinge("waist_yaw", "base", (0, 0, 0.085), "z", (-1.2, 1.2), turn, "waist", 1.0).made_of(
        drum((0, 0, 0.015), "z", 0.06, 0.03, METAL),
        drum((0, 0, 0.06), "x", 0.042, 0.10, DARK),
    )
    robot.hinge("waist_roll", "waist", (0, 0, 0.06), "x", (-0.4, 0.4), waist, "abdomen", 1.4).made_of(
        drum(ORIGIN, "y", 0.05, 0.15, METAL)
    )
    robot.hinge("waist_pitch", "abdomen", ORIGIN, "y", (-0.3, 1.0), waist, "torso", 14.5).made_of(
        box((0.12, 0.15, 0.10), (0, 0, 0.06), DARK),
        box((0.145, 0.20, 0.08), (0, 0, 0.145), SHELL),
        box((0.165, 0.27, 0.17), (0, 0, 0.26), SHELL, collides=True),
        box((0.12, 0.19, 0.035), (-0.005, 0, 0.36), DARK),
        box((0.012, 0.17, 0.07), (0.084, 0, 0.275), DARK, 0.0),
        box((0.006, 0.09, 0.014), (0.092, 0, 0.285), ACCENT, 0.0),
        box((0.07, 0.19, 0.22), (-0.11, 0, 0.24), DARK, 4.2),  # battery and computers
        drum((0, 0, 0.31), "y", 0.06, 0.28, DARK, 2.4),  # the motors of the shoulders
    )
    robot.hinge("neck_yaw", "torso", (0, 0, 0.39), "z", (-1.2, 1.2), neck, "neck", 0.5).made_of(
        drum((0, 0, 0.02), "z", 0.038, 0.05, DARK),
        drum((0, 0, 0.06), "y", 0.028, 0.07, METAL),
    )
    robot.hinge("neck_pitch", "neck", (0, 0, 0.06), "y", (-0.5, 0.7), neck, "head", 2.4).made_of(
        ball(0.086, (0.005, 0, 0.105), SHELL, collides=True),
        drum((0.005, 0, 0.075), "z", 0.07, 0.09, SHELL),
        drum((0.040, 0, 0.105), "z", 0.060, 0.06, DARK),  # the visor, the eyes and the ears
        *(ball(0.013, (0.094, y, 0.108), ACCENT, 0.0) for y in (0.026, -0.026)),
        drum((0.0, 0, 0.10), "y", 0.034, 0.186, ACCENT, 0.0),
    )


def humanoid_arm(robot: Robot) -> None:
    """Shoulder and wrist of three axes each, and an elbow between them; hanging down at q = 0."""
    big, middle, small = Motor(60.0, 8.0, 0.05, 0.04), Motor(40.0, 8.0, 0.05, 0.03), Motor(20.0, 9.0, 0.02, 0.01)
    at = (0, 0.20, 0.31)
    robot.hinge("left_shoulder_pitch", "torso", at, "y", (-2.9, 1.2), big, "left_shoulder", 0.8).made_of(
        drum((0, -0.045, 0), "y", 0.05, 0.03, METAL, 0.2),
        drum(ORIGIN, "x", 0.048, 0.11, DARK),
    )
    robot.hinge(
        "left_shoulder_roll", "left_shoulder", ORIGIN, "x", (-0.2, 2.6), big, "left_shoulder_yoke", 0.9
    ).made_of(
        ball(0.062, (0, 0.01, 0), SHELL),
        drum((0, 0.01, -0.065), "z", 0.045, 0.03, METAL, 0.2),
    )
    at = (0, 0.01, 0)
    robot.hinge("left_shoulder_yaw", "left_shoulder_yoke", at, "z", (-1.6, 1.6), middle, "left_upper_arm", 1.5).made_of(
        rod((0, 0, -0.08), (0, 0, -0.22), 0.044, SHELL),
        drum((0, 0, -0.27), "y", 0.042, 0.085, DARK, 0.6),
        rod((0, 0, -0.10), (0, 0, -0.115), 0.0455, ACCENT, 0.0),
    )
    robot.hinge("left_elbow", "left_upper_arm", (0, 0, -0.27), "y", (-2.3, 0.0), middle, "left_forearm", 1.0).made_of(
        drum(ORIGIN, "y", 0.03, 0.10, METAL, 0.2),
        rod((0, 0, -0.03), (0, 0, -0.13), 0.04, SHELL, collides=True),
    )
    robot.hinge("left_wrist_yaw", "left_forearm", (0, 0, -0.13), "z", (-1.8, 1.8), small, "left_cuff", 0.5).made_of(
        rod((0, 0, -0.002), (0, 0, -0.10), 0.035, SHELL),
        rod(ORIGIN, (0, 0, -0.014), 0.041, ACCENT, 0.0),
    )
    robot.hinge("left_wrist_pitch", "left_cuff", (0, 0, -0.12), "y", (-1.0, 1.0), small, "left_wrist", 0.2).made_of(
        drum(ORIGIN, "y", 0.024, 0.06, METAL)
    )
    robot.hinge("left_wrist_roll", "left_wrist", ORIGIN, "x", (-0.7, 0.7), small, "left_palm", 0.25).made_of(
        drum((0, 0, -0.012), "x", 0.02, 0.05, DARK)
    )
    robot.body("left_hand", 0.4, "left_palm", (0, 0, -0.075)).made_of(
        box((0.075, 0.03, 0.08), (0, 0, 0.015), DARK, collides=True),
        *(rod((x, 0, -0.02), (x, -0.012, -0.085), 0.0105, METAL) for x in (-0.026, 0.0, 0.026)),
        rod((0.035, 0, 0.02), (0.062, -0.012, -0.03), 0.0105, METAL),
    )
    robot.hands.append("left_hand")


# ------------------------------------------------------------------------------------------------------ the writer


def text(*numbers: float) -> str:
    """Numbers as they stand in an attribute: short, and never a negative zero."""
    return " ".join(f"{round(float(number), 9) + 0.0:.9g}" for number in numbers)


def urdf(robot: Robot) -> str:
    """The robot as the text of a URDF file."""
    lines = [
        '<?xml version="1.0"?>',
        f"<!-- {robot.about} Written by scripts/make_robots.py: change it there. -->",
        f'<robot name="{robot.name}">',
        # Without this MuJoCo welds fixed links into their parents, and the frames of feet and hands are lost.
        '  <mujoco><compiler fusestatic="false" discardvisual="false" balanceinertia="false"/></mujoco>',
        *wbc_lines(robot),
    ]
    for name, rgba in {**COLOURS, ACCENT: robot.accent}.items():
        lines.append(f'  <material name="{name}"><color rgba="{rgba}"/></material>')
    for link in robot.links:
        lines += ["", *joint_lines(link), *link_lines(link)]
    return "\n".join([*lines, "</robot>", ""])


def wbc_lines(robot: Robot) -> list[str]:
    """What `wbc` wants to know and URDF has no word for."""
    lines = [f'  <wbc base="{"floating" if robot.feet or robot.wheels else "fixed"}">']
    for foot, corners in robot.feet.items():
        outline = f' corners="{"  ".join(text(*corner) for corner in corners)}"' if corners else ""
        lines.append(f'    <foot link="{foot}"{outline}/>')
    lines += [wheel_line(link, wheel) for link, wheel in robot.wheels.items()]
    lines += [f'    <hand link="{hand}"/>' for hand in robot.hands]
    lines.append(f'    <nominal base="0 0 {text(robot.height)}  1 0 0 0">')
    lines += [f'      <joint name="{name}" position="{text(angle)}"/>' for name, angle in robot.nominal.items()]
    lines.append("    </nominal>")
    motors = [(link.joint, link.motor) for link in robot.links if link.motor]
    lines += [f'    <joint name="{name}" armature="{text(motor.armature)}"/>' for name, motor in motors]
    return [*lines, "  </wbc>"]


def wheel_line(link: str, wheel: Wheel) -> str:
    """What `wbc` wants to know of a wheel."""
    axle = f' axle="{text(*AXES[wheel.axis])}"' if wheel.axis != "y" else ""
    crown = f' crown="{text(wheel.crown)}"' if wheel.crown else ""
    rollers = "" if wheel.rollers is None else f' rollers="{text(wheel.rollers)}"'
    castor = ' castor="true"' if wheel.castor else ""
    return f'    <wheel link="{link}" radius="{text(wheel.radius)}"{axle}{crown}{rollers}{castor}/>'


def joint_lines(link: Link) -> list[str]:
    """The joint that carries a link."""
    if not link.joint:
        return []
    motor, endless = link.motor, link.range == FREE
    kind = ("continuous" if endless else "revolute") if motor else "fixed"
    lines = [
        f'  <joint name="{link.joint}" type="{kind}">',
        f'    <parent link="{link.parent}"/><child link="{link.name}"/><origin xyz="{text(*link.at)}" rpy="0 0 0"/>',
    ]
    if motor:
        low, high, torque, speed = (text(number) for number in (*link.range, motor.torque, motor.speed))
        bounds = "" if endless else f'lower="{low}" upper="{high}" '
        lines += [
            f'    <axis xyz="{text(*AXES[link.axis])}"/>',
            f'    <limit {bounds}effort="{torque}" velocity="{speed}"/>',
            f'    <dynamics damping="{text(motor.damping)}" friction="0"/>',
        ]
    return [*lines, "  </joint>"]


def link_lines(link: Link) -> list[str]:
    """A link: its inertia, what is seen of it, and what of it collides."""
    lines = [f'  <link name="{link.name}">']
    if link.mass:
        mass, com, inertia = link.inertial()
        entries = [f'i{"xyz"[i]}{"xyz"[j]}="{text(inertia[i, j])}"' for i in range(3) for j in range(i, 3)]
        lines += [
            f'    <inertial><origin xyz="{text(*com)}" rpy="0 0 0"/><mass value="{text(mass)}"/>',
            f"      <inertia {' '.join(entries)}/></inertial>",
        ]
    for shape in link.shapes:
        names = {"box": ["size"], "cylinder": ["radius", "length"], "sphere": ["radius"]}[shape.kind]
        sizes = [text(*shape.size)] if shape.kind == "box" else [text(number) for number in shape.size]
        size = " ".join(f'{name}="{number}"' for name, number in zip(names, sizes, strict=True))
        where = f'<origin xyz="{text(*shape.at)}" rpy="{text(*shape.rpy)}"/><geometry><{shape.kind} {size}/></geometry>'
        if shape.colour:
            lines.append(f'    <visual>{where}<material name="{shape.colour}"/></visual>')
        if shape.collides:
            lines.append(f"    <collision>{where}</collision>")
    return [*lines, "  </link>"]


ROBOTS: tuple[Callable[[], Robot], ...] = (planar_arm, arm, quadruped, humanoid, diffdrive, omni, wheeled_quadruped)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or compare them with what would be written."""
    parser = argparse.ArgumentParser(description="Write the packaged robots.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    check = parser.parse_args(arguments).check
    stale = 0
    for make in ROBOTS:
        path, content = FOLDER / f"{make.__name__}.urdf", urdf(make())
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            stale += 1
            print(f"{'differs' if check else 'written'}: {path.name}")
            if not check:
                path.write_text(content, encoding="utf-8", newline="\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
