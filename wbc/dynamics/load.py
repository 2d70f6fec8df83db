"""`wbc.load`: a robot from a file, a name or a model, on a chosen backend."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from wbc.arrays import ArrayLike
from wbc.dynamics.adapt import names
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning, show, unknown_name
from wbc.model import JointCoupling, LoopClosure, Model
from wbc.model.loops import Loop

BackendName = Literal["auto", "numpy", "pinocchio", "mujoco"]

BACKENDS: tuple[str, ...] = ("auto", "numpy", "pinocchio", "mujoco")
"""What `load` takes as its backend."""

MOST_BY_PINOCCHIO = 200
"""Velocities up to which "auto" takes Pinocchio: the memory of its data grows with their cube, 2 GB for 300."""

UNMOVED = 1e-12
"""A nominal configuration whose loops are closed but for this is kept as it is, rad and m."""

IGNORABLE = (
    "fluid",
    "springs",
    "tendons",
    "flexible bodies",
    "plugins",
    "filters",
    "actuators",
    "overlaps",
    "play",
    "objects",
)
"""What `load` can be told to ignore."""


def load(
    what: Any,  # noqa: ANN401  foreign models have no types to import without importing them
    backend: BackendName = "auto",
    floating: bool | None = None,
    *,
    feet: Iterable[str] | Mapping[str, ArrayLike | None] | None = None,
    hands: Iterable[str] | None = None,
    locked: Iterable[str] = (),
    passive: Iterable[str] = (),
    nominal: ArrayLike | Mapping[str, ArrayLike] | str | None = None,
    strict: bool = True,
    ignore: Iterable[str] = (),
    loops: Iterable[Loop] = (),
    trusted: bool = True,
) -> Dynamics:
    """A robot, ready for `update(q, v)`.

    What a file does not name is found: feet, soles, hands and wheels from the collision geometry, and a posture to
    stand in if that of the file has straight legs or feet off the ground. `robot.model.notes` and warnings list the
    choices.

    Args:
        what: the name of a packaged robot, the path of a URDF or MJCF file, a name of the package robot_descriptions
            (the extra `robots`), a `Model`, a `mujoco.MjModel`, or a `pinocchio.Model`.
        backend: "numpy", "pinocchio", "mujoco", or "auto": Pinocchio where it is installed and the robot has no
            more than 200 velocities (its memory grows with their cube), numpy otherwise; MuJoCo for an MJCF file with
            forces that only it computes.
        floating: for a URDF: whether its root moves freely. None: as the file says; else it floats if it stands on
            legs: if its lowest points are those of two limbs or more, each with two joints or more, and not its root's.
        feet: bodies or frames that are feet: where they touch the ground is found; or frames that lie on the ground,
            each with the corners of its sole in its own axes, m, shape (n, 2), or None for a point.
        hands: frames that are hands.
        locked: names of joints that are fixed as they are in the nominal posture, or the name of one; they are no part
            of q and v, and what they carry belongs to the body that carries them.
        passive: names of joints that no motor drives, or the name of one.
        nominal: the posture to stand or rest in: positions by joint, rad or m (the others stay what they are); a
            configuration, shape (nq,); or the name of a keyframe of an MJCF file.
        strict: for a URDF: whether the unphysical inertia of a moving part is an error or a warning.
        ignore: for an MJCF file: what to leave out. "fluid", "springs" (nonlinear ones, and those of ball joints),
            "tendons" (their springs, friction and inertia), "flexible bodies" and "plugins" are forces that the
            backends numpy and pinocchio don't compute, and refuse without this word. "filters" takes actuators whose
            force lags behind their control as motors; "actuators" does not use those that can't be asked for a torque,
            such as muscles: their joints are passive. "overlaps" leaves out the contacts of parts that are inside of
            each other in the file's posture; "play" takes tendons whose limits leave their joints next to none as
            couplings; "objects" holds free bodies without motors where they are in the file's posture.
        loops: closed loops that are not in the file: `wbc.LoopClosure` and `wbc.JointCoupling`.
        trusted: False for an MJCF file from a stranger: MuJoCo compiles it in a separate process with limits on time
            and memory. All files, trusted or not, have limits on their size and on the size of the result.

    Returns:
        A `Dynamics`; it has no state yet.
    """
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    from wbc.dynamics.reading import Options, read_model  # imported when there is something to read

    held, undriven = names(locked, "locked"), names(passive, "passive")
    declared = _loops(loops)
    options = Options(floating, feet, hands, held, undriven, nominal, strict, ignorable(ignore), declared, trusted)
    model = read_model(what, options)
    if declared:  # MuJoCo's model has none of them: a plant is made of this one
        model = model.with_loops(*declared).replace(simulated=model.simulated if model.left_out else None)
    model = with_closed_loops(model)
    if backend == "auto":
        backend = "pinocchio" if importlib.util.find_spec("pinocchio") and model.nv <= MOST_BY_PINOCCHIO else "numpy"
        if not strict and not _sound(model):
            backend = "numpy"  # others refuse them
        if model.left_out and model.simulated is not None:
            backend = "mujoco"
    if backend == "pinocchio":
        from wbc.dynamics.pinocchio import PinocchioDynamics

        return PinocchioDynamics(model)
    if backend == "mujoco":
        from wbc.dynamics.mujoco import MujocoDynamics

        return MujocoDynamics(model, simulated=model.simulated)
    from wbc.dynamics.numpy import NumpyDynamics

    return NumpyDynamics(model)


def _sound(model: Model) -> bool:
    """Whether the inertias of all bodies are those of some mass: none is negative in any direction."""
    return all(np.linalg.eigvalsh(body.inertia)[0] >= 0.0 for body in model.bodies.values())


def with_closed_loops(model: Model) -> Model:
    """The model with its loops closed in the nominal configuration, or itself where they are, or have none."""
    if not model.loops:
        return model
    from wbc.dynamics.numpy import NumpyDynamics

    try:
        q = NumpyDynamics(model.replace(left_out=())).close_loops(model.nominal)  # forces don't matter
    except WbcError as error:
        warnings.warn(f"nominal configuration: {error}", WbcWarning, stacklevel=3)
        return model
    return model if np.abs(q - model.nominal).max() < UNMOVED else model.with_nominal(q)


def _loops(loops: Any) -> tuple[Loop, ...]:  # noqa: ANN401
    """Several loops, or one."""
    if isinstance(loops, LoopClosure | JointCoupling):
        return (loops,)
    if not isinstance(loops, Iterable):
        raise WbcError(f"loops must be wbc.LoopClosure or wbc.JointCoupling objects, not {show(loops)}")
    return tuple(loops)


def ignorable(ignore: Any) -> tuple[str, ...]:  # noqa: ANN401
    """The words of `ignore`, each of which means something."""
    words = names(ignore, "ignore", "what to do without")
    for word in words:
        if word not in IGNORABLE:
            raise unknown_name("word for what to ignore", word, IGNORABLE)
    return words
