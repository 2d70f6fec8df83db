"""Data for a page: first the constant part, then picture after picture. All of it can be pickled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.contacts import Contact, SurfaceContact
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.model.model import Model
from wbc.model.names import actuator_names
from wbc.web.gaps import Gap, Obstacle
from wbc.web.knobs import Knob, turnable


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles that are fixed to a body.

    Attributes:
        body: that carries them.
        vertices: in the body frame, m, shape (n, 3).
        faces: corners of each triangle, shape (m, 3).
        color: red, green, blue, alpha in [0, 1].
    """

    body: str
    vertices: Array
    faces: IntArray
    color: tuple[float, float, float, float]


@dataclass(frozen=True)
class Touch:
    """A contact, as it is drawn.

    Attributes:
        name: of the contact.
        frame: of the robot.
        friction: coefficient; None: not known.
        normal: in the axes of what it touches.
        on: the body that is touched; None: the ground.
        corners: of a sole, in its frame, m; empty for a point.
    """

    name: str
    frame: str
    friction: float | None
    normal: tuple[float, ...] = (0.0, 0.0, 1.0)
    on: str | None = None
    corners: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def of(cls, contact: Contact) -> Touch:
        """The drawn properties of a contact.

        Args:
            contact: of a stack that has been fitted to its robot.
        """
        corners = contact.corners if isinstance(contact, SurfaceContact) else ()
        listed = tuple(tuple(map(float, corner)) for corner in corners)
        return cls(contact.name, contact.frame, contact.friction, tuple(contact.normal), contact.on, listed)


@dataclass(frozen=True)
class Line:
    """A task, as it is listed.

    Attributes:
        name: in its stack.
        level: its priority.
        purpose: in a few words.
        knobs: what can be turned, and where it began.
        frame: whose target can be dragged; None: none can.
        drags: "pose", "position", "orientation", or "center of mass".
    """

    name: str
    level: int
    purpose: str
    knobs: tuple[Knob, ...]
    frame: str | None = None
    drags: str = ""


def lines(stack: Stack, found: dict[str, list[Knob]]) -> tuple[Line, ...]:
    """The tasks of a stack, highest priority first.

    Args:
        stack: of a controller.
        found: knobs by task.
    """
    listed = []
    for level, members in enumerate(stack.levels):
        for task in members:
            name = stack.name_of(task)
            frame, drags = _dragged(task) if turnable(task) else (None, "")
            listed.append(Line(name, level, task.purpose, tuple(found[name]), frame, drags))
    return tuple(listed)


def _dragged(task: Any) -> tuple[str | None, str]:  # noqa: ANN401  a task of any kind
    """The frame whose target can be dragged in the world, and how."""
    axes = getattr(task, "axes", None)
    if not hasattr(type(task), "target") or not axes:
        return None, ""
    frame = getattr(task, "frame", None)
    if frame is None:
        return ("", "center of mass") if hasattr(task, "_target") and _is_com(task) else (None, "")
    if getattr(task, "relative_to", None) is not None or not hasattr(task, "_deviation"):
        return None, ""
    turns, shifts = any(axis.startswith("r") for axis in axes), any(not axis.startswith("r") for axis in axes)
    return frame, "pose" if turns and shifts else "orientation" if turns else "position"


def _is_com(task: Any) -> bool:  # noqa: ANN401
    return type(task).__name__.startswith("CenterOfMass")


@dataclass(frozen=True, eq=False)
class Scenery:
    """The constant part of a page.

    Attributes:
        title: of the page.
        robot: a copy, for where its bodies are.
        surfaces: of its bodies.
        touches: contacts of the stack.
        feet: frames whose forces are measured.
        actuators: names, in the order of torques.
        least: torques, N m or N, shape (na,).
        most: torques, N m or N, shape (na,).
        levels: how many the stack has.
        lines: tasks; none in a replay.
        pushable: frames that can be pushed; none in a replay.
        times: of a log, s, shape (ticks,); None: it is live.
    """

    title: str
    robot: Dynamics
    surfaces: tuple[Surface, ...]
    touches: tuple[Touch, ...]
    feet: tuple[str, ...]
    actuators: tuple[str, ...]
    least: Array
    most: Array
    levels: int
    lines: tuple[Line, ...] = ()
    pushable: tuple[str, ...] = ()
    times: Array | None = None

    @property
    def weight(self) -> float:
        """Weight of the robot, N; the scale of drawn forces."""
        gravity = float(np.linalg.norm(self.robot.model.gravity)) or 9.81
        return max(self.robot.mass * gravity, 1e-6)


def limits(model: Model) -> tuple[tuple[str, ...], Array, Array]:
    """Names of the actuators, their least and their greatest torques."""
    return tuple(actuator_names(model)), model.limits.least, model.limits.effort


@dataclass(frozen=True, eq=False)
class Picture:
    """A moment.

    Attributes:
        time: s.
        q: configuration, shape (nq,).
        torque: commanded, N m or N, shape (na,).
        forces: by contact, N, world axes: shape (3,), or a wrench, shape (6,).
        measured: by frame, N, world axes, shape (3,).
        costs: of each level, in the units of its rows, shape (levels,).
        tick: time of the slowest tick since the last picture, s.
        status: of the tick.
        mode: "running", "paused", "ended", or "replay".
        weights: of tasks, by name.
        presence: share of each task that is in force.
        knobs: where the other knobs are, by task and name, in their units.
        targets: constant targets by task, in the axes of the task: poses, shape (4, 4), positions, m, shape (3,), or
            rotations, shape (3, 3).
        pushes: frame and force of each, N, world axes.
        health: of the tick, a line or several.
        explanation: of the tick, or of one shortly before; None: nobody asked.
        notice: what could not be done.
        gaps: shapes that are near each other.
        obstacles: shapes around the robot that are not of its file.
    """

    time: float
    q: Array
    torque: Array
    forces: dict[str, Array]
    measured: dict[str, Array]
    costs: Array
    tick: float
    status: str
    mode: str
    weights: dict[str, float] = field(default_factory=dict)
    presence: dict[str, float] = field(default_factory=dict)
    knobs: dict[str, dict[str, float]] = field(default_factory=dict)
    targets: dict[str, Array] = field(default_factory=dict)
    pushes: tuple[tuple[str, tuple[float, ...]], ...] = ()
    health: str = ""
    explanation: str | None = None
    notice: str = ""
    gaps: tuple[Gap, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
