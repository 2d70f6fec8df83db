"""`wbc.load`: a robot from whatever describes it, on the backend that was asked for."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.model import Model, packaged_path, packaged_robots

Backend = Literal["auto", "numpy", "pinocchio", "mujoco"]

BACKENDS: tuple[str, ...] = ("auto", "numpy", "pinocchio", "mujoco")
"""What `load` takes as its backend."""

IGNORABLE = ("fluid", "springs", "tendons", "flexible bodies", "plugins", "filters", "actuators")
"""What `load` can be told to ignore."""


def load(
    what: Any,  # noqa: ANN401  foreign models have no types to import without importing them
    backend: Backend = "auto",
    floating: bool | None = None,
    *,
    passive: Iterable[str] = (),
    strict: bool = True,
    ignore: Iterable[str] = (),
) -> Dynamics:
    """A robot, ready for `update(q, v)`.

    Args:
        what: the name of a packaged robot, the path of a URDF or MJCF file, a `Model`, a `mujoco.MjModel`, or a
            `pinocchio.Model`.
        backend: "numpy", "pinocchio", "mujoco", or "auto": Pinocchio where it is installed, numpy otherwise; MuJoCo
            for an MJCF file with forces that only it computes.
        floating: for a URDF: whether its root moves freely (None: as the file says, else fixed).
        passive: for a URDF: names of joints that no motor drives, or the name of one.
        strict: for a URDF: whether the unphysical inertia of a moving part is an error or a warning.
        ignore: for an MJCF file: what to do without. "fluid", "springs" (nonlinear ones, and those of ball joints),
            "tendons" (their springs, friction and inertia), "flexible bodies" and "plugins" are forces that the
            backends numpy and pinocchio don't compute, and refuse without this word. "filters" takes actuators whose
            force lags behind their control as motors; "actuators" does not use those that can't be asked for a torque,
            such as muscles: their joints are passive.

    Returns:
        A `Dynamics`; it has no state yet.
    """
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    model, foreign = _read(what, floating, _names(passive, "passive is the names of joints"), strict, ignorable(ignore))
    if backend == "auto":
        backend = "pinocchio" if importlib.util.find_spec("pinocchio") else "numpy"
        if model.left_out and foreign is not None:
            backend = "mujoco"
    if backend == "pinocchio":
        from wbc.dynamics.pinocchio import PinocchioDynamics

        return PinocchioDynamics(model)
    if backend == "mujoco":
        from wbc.dynamics.mujoco import MujocoDynamics

        return MujocoDynamics(model, simulated=foreign)
    from wbc.dynamics.numpy import NumpyDynamics

    return NumpyDynamics(model)


def _read(
    what: Any,  # noqa: ANN401
    floating: bool | None,
    passive: tuple[str, ...],
    strict: bool,
    ignore: tuple[str, ...],
) -> tuple[Model, Any]:
    """The model of a robot, and the `MjModel` it came from if it came from one."""
    from wbc.model.urdf import read_urdf  # imported when there is something to read

    if isinstance(what, (str, Path)):
        if str(what) in packaged_robots():
            return read_urdf(packaged_path(str(what)), floating=floating, passive=passive, strict=strict), None
        if str(what).lstrip().startswith("<"):
            raise WbcError("load takes the path of a file, not its text; wbc.model.read_urdf takes the bytes of a URDF")
        path = Path(what)
        if not _is_file(path):
            if path.suffix.lower() in (".urdf", ".xml", ".mjcf"):
                raise WbcError(f"there is no file {show(str(path))}")
            if str(what) and len(str(what)) < 1000 and path.is_dir():
                raise WbcError(f"{show(str(path))} is a folder; give the URDF or MJCF file in it")
            raise unknown_name("packaged robot or file", str(what), packaged_robots())
        if _is_mjcf(path):
            from wbc.model.mujoco import read_mjcf

            what = read_mjcf(path)
        else:
            return read_urdf(path, floating=floating, passive=passive, strict=strict), None
    elif isinstance(what, Model):
        _refuse(what, floating, passive)
        return what, None
    # A foreign model can only be here if its package is imported already.
    mujoco, pinocchio = sys.modules.get("mujoco"), sys.modules.get("pinocchio")
    if mujoco is not None and isinstance(what, mujoco.MjModel):
        from wbc.model.mujoco import from_mujoco

        _refuse(what, floating, passive)
        return from_mujoco(what, ignore), what
    if pinocchio is not None and isinstance(what, pinocchio.Model):
        from wbc.model.pinocchio import from_pinocchio

        _refuse(what, floating, passive)
        return from_pinocchio(what), None
    raise WbcError(
        f"can't load {show(what)}: name a packaged robot ({', '.join(packaged_robots())}), the path of a URDF "
        "or MJCF file, a wbc.Model, a mujoco.MjModel or a pinocchio.Model"
    )


def _names(given: Any, what: str) -> tuple[str, ...]:  # noqa: ANN401
    """Names, or one name, as a tuple of names; `what` they are begins the error."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(name, str) for name in names):
        raise WbcError(f"{what}, not {show(given)}")
    return names


def ignorable(ignore: Any) -> tuple[str, ...]:  # noqa: ANN401
    """The words of `ignore`, each of which means something."""
    words = _names(ignore, "ignore is words for what to do without")
    for word in words:
        if word not in IGNORABLE:
            raise unknown_name("word for what to ignore", word, IGNORABLE)
    return words


def _refuse(what: object, floating: bool | None, passive: tuple[str, ...]) -> None:
    """Options that only mean something for a URDF are not silently dropped."""
    if floating is not None or passive:
        option = "floating" if floating is not None else "passive"
        kind = f"{'an' if type(what).__name__ == 'MjModel' else 'a'} {type(what).__name__}"
        raise WbcError(f"{option}= is for URDF files; {kind} says itself how its base and joints move")


def _is_file(path: Path) -> bool:
    """Whether a path is that of a file; what can't be a path at all is not."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a zero in it
        return False


def _is_mjcf(path: Path) -> bool:
    """Whether a file's first element is <mujoco>."""
    from wbc.model import markup

    try:
        with path.open("rb") as file:
            return markup.root_tag(file.read(100_000)) == "mujoco"
    except OSError as error:
        raise WbcError(f"can't read {show(str(path))}: {error.strerror}") from None
