"""Scenes by name, by number and out of files."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from wbc.errors import WbcError, show, unknown_name
from wbc.scenes.demonstration import demo
from wbc.scenes.humanoid_demonstration import demo_humanoid
from wbc.simulation.runnable import Runnable

DEMONSTRATIONS: Mapping[str, Callable[..., Runnable]] = {"demo": demo, "demo-humanoid": demo_humanoid}
"""The scenes of the package itself, by name."""

CHECKOUT = Path(__file__).parents[2]
"""The folder of the repository, where the package is not installed without it."""


def examples() -> dict[str, Path]:
    """The examples of a checkout, by name; an installed package has none."""
    ours = (CHECKOUT / "pyproject.toml").is_file()  # and not a folder of that name beside other packages
    return {path.stem: path for path in sorted((CHECKOUT / "examples").glob("[0-9]*.py"))} if ours else {}


def default_simulator() -> str:
    """MuJoCo where it is installed, else what is built in."""
    return "mujoco" if importlib.util.find_spec("mujoco") else "builtin"


def load_scene(
    what: str,
    backend: str = "auto",
    solver: str = "",
    simulator: str = "",
    arguments: Mapping[str, object] | None = None,
) -> Runnable:
    """What `wbc run` runs: what the function `scene(backend=, solver=, simulator=)` of an example or a file makes.

    Args:
        what: "demo", "demo-humanoid", the name or number of an example, or the path of a Python file, or of a TOML file
            with a stack.
        backend: see `wbc.load`.
        solver: see `wbc.Controller`; empty: the scene's own.
        simulator: "mujoco", "builtin", or empty for MuJoCo where it is installed.
        arguments: others of the function, by name.
    """
    make = _scene_function(what)
    given = {"backend": backend, "simulator": simulator or default_simulator()}
    taken = inspect.signature(make).parameters
    if solver or ("solver" in taken and taken["solver"].default is inspect.Parameter.empty):
        given["solver"] = solver or "elastic-qp"
    found = make(**{name: value for name, value in given.items() if name in taken} | dict(arguments or {}))
    if not isinstance(found, Runnable):
        raise WbcError(f"scene() of {scene_name(what)} returned {show(found)}; it must return a wbc.simulation.Scene")
    return found


def scene_arguments(what: str) -> inspect.Signature:
    """What the function of a scene takes.

    Args:
        what: see `load_scene`.
    """
    return inspect.signature(_scene_function(what))


def scene_name(what: str) -> str:
    """One name for a scene, however it was asked for: that of a demonstration or of an example, or the path of a file.

    Args:
        what: see `load_scene`.
    """
    if what in DEMONSTRATIONS:
        return what
    path = scene_file(what)
    return path.stem if path in examples().values() else path.as_posix()


def _scene_function(what: str) -> Callable[..., object]:
    """What makes a scene."""
    if what in DEMONSTRATIONS:
        return DEMONSTRATIONS[what]
    path = scene_file(what)
    if path.suffix == ".toml":
        from wbc.scenes.written import stack_scene

        return stack_scene(path)
    module = _module(path)
    make = getattr(module, "scene", None)
    if not callable(make):
        hint = f"; it runs by itself: python {path}" if callable(getattr(module, "main", None)) else ""
        raise WbcError(
            f"{path} has no function scene(backend=, solver=, simulator=) that makes a wbc.simulation.Scene{hint}"
        )
    return make  # type: ignore[no-any-return]  # of a user's file


def scene_file(what: str) -> Path:
    """The file of an example, or the one that is named.

    Args:
        what: the name or number of an example, or the path of a Python file.
    """
    known = examples()
    for name, path in known.items():
        number = name.partition("_")[0]
        if what == name or (what.isdecimal() and number.isdecimal() and int(what) == int(number)):
            return path
    if Path(what).is_file():
        return Path(what)
    if not known and what[:1].isdecimal():
        raise WbcError(
            f"no example {show(what)}: the examples come with the repository, not with the installed package; "
            f"with its files here, it is wbc run examples/{what}_....py"
        )
    raise unknown_name("example or file", what, [*DEMONSTRATIONS, *known])


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem.lstrip("0123456789_") or "scene", path)
    if spec is None or spec.loader is None:
        raise WbcError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except WbcError:
        raise
    except Exception as error:  # whatever is wrong in a user's file
        raise WbcError(f"{path} can't be imported: {type(error).__name__}: {error}") from None
    return module
