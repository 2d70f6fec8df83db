"""Collects errors and warnings about a robot file, so that a reader can report all of them at once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.errors import WbcError, WbcWarning, show
from wbc.model.markup import Element
from wbc.model.model import Model
from wbc.model.parts import Body
from wbc.model.tree import Tree

ROUNDING = 1e-3
"""Relative error that printed inertias are allowed to have in the triangle inequality."""

ENOUGH = 100
"""Errors after which a reader gives up on a file."""

SHOWN = 40
"""Names that are written out in a warning."""


class Findings:
    """Errors and warnings about one source.

    Args:
        source: what is read, as it stands at the start of every message.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.errors: list[str] = []
        self.raised: WbcError | None = None
        self._warnings: dict[str, list[str]] = {}

    def error(self, message: str) -> None:
        """Notes something that makes the file unusable."""
        self.errors.append(message)

    def warn(self, what: str, name: str) -> None:
        """Notes something unusual; the names that share a `what` come in one warning."""
        self._warnings.setdefault(what, []).append(name)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One message for each kind of unusual thing."""
        messages = []
        for what, names in self._warnings.items():
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            messages.append(f"{what}: {', '.join(map(show, names[:SHOWN]))}{more}")
        return tuple(messages)

    @property
    def enough(self) -> bool:
        """Whether so much is wrong that reading on is pointless."""
        return len(self.errors) >= ENOUGH

    def stop_on_error(self) -> None:
        """Raises if an error was found."""
        if self.errors:
            more = f" (and {len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
            problems = (*self.errors, *(f"warning: {message}" for message in self.warnings))
            self.raised = WbcError(f"{self.source}: {self.errors[0]}{more}", problems)
            raise self.raised

    def emit(self) -> None:
        """Issues the warnings, each as a `WbcWarning` that points at the line outside the library that asked."""
        level, caller = 1, sys._getframe()
        while caller.f_back is not None and caller.f_globals.get("__name__", "").partition(".")[0] == "wbc":
            level, caller = level + 1, caller.f_back
        for message in self.warnings:
            warnings.warn(f"{self.source}: {message}", WbcWarning, stacklevel=level)


def unphysical(mass: float, inertia: Array) -> str | None:
    """What is unphysical in a mass and an inertia about the centre of mass; None if nothing is.

    Moments of inertia are integrals of squared distances: all positive, and the sum of two at least the third.

    Args:
        mass: kg, positive.
        inertia: kg m², shape (3, 3).
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(inertia).all():
            return "an inertia that is not finite"
        moments = np.linalg.eigvalsh(inertia)
    if moments[0] <= 1e-12 * max(moments[2], 0.0):
        return f"an inertia that is not positive definite (its principal moments are {_moments(moments)} kg m²)"
    if moments[2] > (moments[0] + moments[1]) * (1 + ROUNDING):
        return (
            f"an inertia that no body can have (triangle inequality): of its principal moments {_moments(moments)} "
            "kg m² the greatest is more than the sum of the other two"
        )
    return None


def check_inertias(model: Model, links: Mapping[str, Element], found: Findings, strict: bool) -> None:
    """Checks mass and inertia of bodies that move as one; an odd link in a sound whole is a warning.

    A link without `<inertial>` may stand between two joints; one that says that it has no mass, and moves by itself, is
    unphysical.

    Args:
        model: the robot.
        links: the elements that its bodies were read from.
        found: where to note it.
        strict: whether an unphysical inertia of a moving part is an error or a warning.
    """
    tree = Tree(model)
    inert = [node.mass > 0 or bool(node.inertia.any()) for node in tree.nodes]  # itself, or carries something that is
    for index in range(len(tree.nodes) - 1, 0, -1):
        inert[tree.nodes[index].parent] |= inert[index]
    bodies_of: dict[int, list[Body]] = {}
    for name, (place, _) in tree.places.items():
        bodies_of.setdefault(place, []).append(model.bodies[name])
    armature = {joint.child: joint.armature for joint in model.joints.values() if joint.nv}
    for index, node in enumerate(tree.nodes[1:], start=1):
        bodies = bodies_of.get(index, [])
        if not bodies:
            continue  # stands inside a floating or planar joint
        link = links[node.name]
        if node.mass == 0.0:
            stated = node.inertia.any() or link.first("inertial") is not None
            if not inert[index] and (armature[node.name] == 0.0 or model.mass == 0.0):
                found.error(f"{link}: it moves, but neither it nor what it carries has a mass; give it one or fix it")
            elif stated and strict:
                found.error(
                    f"{link}: it moves, but its mass is 0 kg; give it a positive one, or leave out its <inertial> if "
                    "it only stands between two joints"
                )
            elif stated:
                found.warn("accepted links that move with a stated mass of 0 kg", node.name)
            else:
                found.warn("massless links that move (what they carry has mass)", node.name)
            continue
        problem = unphysical(node.mass, node.inertia)
        if problem:
            names = [body.name for body in bodies if body.mass > 0 or body.inertia.any()]
            whose = f"{links[names[0]]}: it has" if len(names) == 1 else f"links {show(names)} have together"
            if strict:
                found.error(f"{whose} {problem}; strict=False accepts it")
            else:
                found.warn(f"accepted {problem}", node.name)
        else:
            for body in bodies:
                if body.mass > 0 and unphysical(body.mass, body.inertia):
                    found.warn(
                        "links with an unphysical inertia, sound together with what they are fixed to", body.name
                    )


def _moments(moments: ArrayLike) -> str:
    return ", ".join(f"{moment:.4g}" for moment in np.ravel(moments))
