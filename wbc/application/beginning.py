"""Where a trial begins: one robot, on the ground, with arms that can move."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

import wbc
from tasks.limbs import way
from tasks.locomotion.tracking import hull, nearest
from wbc.application.posture import plant_of, ready
from wbc.arrays import Array
from wbc.dynamics.adapt import keyframes
from wbc.dynamics.base import Dynamics
from wbc.dynamics.limbs import Limbs
from wbc.dynamics.stance import put_down
from wbc.errors import WbcError
from wbc.simulation.loop import Push

FREE = 1e-6
"""What a hand or a base that can be moved along an axis moves by at least, m for each radian."""

WEIGHTLESS = 0.05
"""Share of its weight below which a robot's feet carry nothing."""

LYING = 0.05
"""A centre of mass that is not higher above the feet than this share of its distance from them is beside them."""

NARROW = 1e-3
"""Feet on a line: their points are off it by less than this share of the height of the centre of mass."""

INSIDE = 0.01
"""Contacts that are deeper than this, m, push a robot away."""

GAP, DROP = 1e-4, 0.1
"""A robot that is higher than the first, and not as high as the second, above the ground is put down on it, m."""


def refuse_several(robot: Dynamics, file: str) -> None:
    """Raises a `WbcError` where more than one free robot is in a file.

    Args:
        robot: all that is in it.
        file: its name.
    """
    model, trees = robot.model, dict[str, str]()
    bases = {joint.child for joint in model.joints.values() if joint.kind == "floating" and joint.child != model.root}
    several = set()
    for joint in model.joints.values():
        trees[joint.child] = joint.child if joint.child in bases else trees.get(joint.parent, "")
        if model.drives(joint.name) and trees[joint.child]:
            several.add(trees[joint.child])
    if several:
        names = ", ".join(sorted({model.root, *several}))
        raise WbcError(
            f"{file}: there are several robots that float ({names}); a trial takes one: give each its own file"
        )


def refuse_unfit(robot: Dynamics, file: str, because: str = "") -> None:
    """Raises a `WbcError` where a robot is none that stands, or holds an arm, as its file has it.

    Args:
        robot: all that is in it.
        file: its name.
        because: why shapes of feet may not be known.
    """
    model, posed = robot.model, robot.copy()
    posed.update(model.nominal)
    if not model.floating:
        if slides := _drifts(robot):
            raise WbcError(
                f"{file}: all of it moves by {', '.join(slides)}, which have no motors, as a walker in a plane does: a "
                "trial is for a base that floats, rolls, or is fixed"
            )
        return
    if not model.feet:
        return
    if abs(posed.gravity_force[2]) < WEIGHTLESS * 9.81 * model.mass:
        raise WbcError(
            f"{file}: its file takes its weight from it (gravcomp), so that its feet carry nothing: there is no "
            "standing to try; take gravcomp out of the file"
        )
    feet = np.array([posed.pose(foot)[:3, 3] for foot in model.feet])
    height, names = posed.com[2] - feet[:, 2].min(), ", ".join(model.feet)
    other = "give the file a keyframe in which it stands, or wbc.load a nominal= that does"
    if height < LYING * np.linalg.norm(feet - posed.com, axis=1).max():
        raise WbcError(
            f"{file}: in its file's posture it lies: its centre of mass is {1e3 * height:.2g} mm above its feet "
            f"({names}); {other}"
        )
    points = support(posed)
    beside = float(np.linalg.norm(nearest(hull(points), posed.com[:2]) - posed.com[:2]))
    if beside > height:
        raise WbcError(
            f"{file}: in its file's posture it lies: its centre of mass is {1e3 * beside:.2g} mm beside its feet "
            f"({names}); {other}"
        )
    if np.linalg.svd(points - points.mean(axis=0))[1][-1] < NARROW * height:
        raise WbcError(
            f"{file}: its feet ({names}) are points on a line: nothing holds a robot that falls to a side of it but a "
            "step, and a trial makes none. Soles are found where they are wide enough, and wbc.load(feet={frame: "
            f"corners}}) declares them{because}"
        )


def support(posed: Dynamics) -> Array:
    """Where a robot's feet touch the ground, seen from above: points, and corners of soles, m, shape (n, 2).

    Args:
        posed: updated.
    """
    model, found = posed.model, list[Array]()
    for foot in model.feet:
        corners = np.asarray(model.soles.get(foot, np.zeros((1, 2))))
        pose = posed.pose(foot)
        found.append(corners @ pose[:2, :2].T + pose[:2, 3])
    return np.vstack(found)


def capture(posed: Dynamics, push: Push) -> tuple[float, float]:
    """How far the centre of pressure has to go for a robot to take a push without a step, and how far it can, m.

    Of a pendulum of constant height: the capture point, moved by a force F at a height h for a time T, must not pass
    the centre of pressure. That is F h / (m g) (1 - exp(-ω T)) from the centre of mass, with ω = √(g / height).

    Args:
        posed: updated; on feet.
        push: along the ground.
    """
    points, place = support(posed), posed.com[:2]
    ground = min(posed.pose(foot)[2, 3] for foot in posed.model.feet)
    size = float(np.linalg.norm(push.force))
    way = np.asarray(push.force)[:2] / size
    rate = np.sqrt(9.81 / max(posed.com[2] - ground, 1e-6))
    high = float(posed.pose(push.frame)[2, 3] - ground)
    needed = size * high / (9.81 * posed.model.mass) * (1.0 - np.exp(-rate * push.duration))
    # the farthest point of the feet's hull on the way: shares of its points, and the distance
    A = np.vstack([(points - place).T, np.ones(len(points))])
    A = np.column_stack([A, [-way[0], -way[1], 0.0]])
    found = scipy.optimize.linprog([*np.zeros(len(points)), -1.0], A_eq=A, b_eq=[0.0, 0.0, 1.0])
    return needed, float(found.x[-1]) if found.success else 0.0


def _drifts(robot: Dynamics) -> list[str]:
    """The joints without motors by which all that has motors moves, where one of them slides."""
    model, passive = robot.model, list[str]()
    driven = [set(way(robot, joint.child)) for joint in model.joints.values() if model.drives(joint.name)]
    if driven:
        shared = set[str].intersection(*driven)
        passive = [name for name in model.joints if name in shared and model.joints[name].nv and not model.drives(name)]
    return passive if any(model.joints[name].kind == "prismatic" for name in passive) else []


def in_a_fit_posture(robot: Dynamics, file: str, found: dict[str, str], options: dict[str, Any]) -> Dynamics:
    """The robot, or the same with arms in a posture in which its hands can move.

    Args:
        robot: as its file has it.
        file: what it was loaded from.
        found: where to say so.
        options: it was loaded with.
    """
    if robot.model.floating or not robot.model.hands or options.get("nominal") is not None:
        return robot
    posture = ready(robot)
    if posture is None:
        return robot
    told = ", ".join(f"{name} {position:.3g}" for name, position in posture.items())
    why = "joints or motors at a limit, parts that touch, or hands that can't move to every side in the file's"
    found["posture"] = f"{why}; tried from {told}"
    return wbc.load(file, **{**options, "nominal": posture})


def on_the_ground(robot: Dynamics, file: str, found: dict[str, str], options: dict[str, Any]) -> Dynamics:
    """The robot, or the same put down where it is a little above the ground: a trial does not begin with a fall.

    Args:
        robot: as its file has it.
        file: what it was loaded from.
        found: where to say so.
        options: it was loaded with.
    """
    model = robot.model
    if not model.floating:
        return robot
    if _inside(robot, model.nominal):
        others = [name for name in list(keyframes(model))[1:] if name]
        told = f"; --keyframe begins in another one: {', '.join(others)}" if others else ""
        found["posture"] = f"parts are inside of others, or of the scene, in the file's, and are pushed out{told}"
    if options.get("nominal") is not None:
        return robot
    q = put_down(Limbs(model))
    above = float(model.nominal[2] - q[2])
    if not GAP < above < DROP or _inside(robot, q):
        return robot
    found["posture"] = f"{1e3 * above:.2g} mm above the ground in the file's; put down"
    return wbc.load(file, **{**options, "nominal": q})


def _inside(robot: Dynamics, q: Array) -> bool:
    """Whether a robot would be inside of what it stands on: a table of the scene, say, that no plane tells of."""
    plant = plant_of(robot)
    if plant is None:
        return False
    plant.reset(q)
    return bool((plant.mj_data.contact.dist < -INSIDE).any())


def goes(posed: Dynamics, axis: int) -> bool:
    """Whether a base can go along an axis while its feet stay where they are and it does not turn.

    Args:
        posed: updated.
        axis: 0 is forward, 1 to the side, 2 up.
    """
    model = posed.model
    J = posed.jacobian(model.root)
    held = np.vstack([J[3:], *(posed.jacobian(foot)[: 6 if foot in model.soles else 3] for foot in model.feet)])
    along: Array = J[axis]
    return bool(np.linalg.norm(along @ scipy.linalg.null_space(held, rcond=1e-6)) > FREE)
