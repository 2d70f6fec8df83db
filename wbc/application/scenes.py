"""Scenes by name, by number and out of files."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

from wbc.application.demonstration import demo
from wbc.errors import WbcError, show, unknown_name
from wbc.simulation.runnable import Runnable

CHECKOUT = Path(__file__).parents[2]
"""The folder of the repository, where the package is not installed without it."""


def examples() -> dict[str, Path]:
    """The examples of a checkout, by name; an installed package has none."""
    ours = (CHECKOUT / "pyproject.toml").is_file()  # and not a folder of that name beside other packages
    return {path.stem: path for path in sorted((CHECKOUT / "examples").glob("[0-9]*.py"))} if ours else {}


def default_simulator() -> str:
    """MuJoCo where it is installed, else what is built in."""
    return "mujoco" if importlib.util.find_spec("mujoco") else "builtin"


def load_scene(what: str, backend: str = "auto", solver: str = "hierarchical-qp", simulator: str = "") -> Runnable:
    """What `wbc run` runs: what the function `scene(backend=, solver=, simulator=)` of an example or a file makes.

    Args:
        what: "demo", the name or number of an example, or the path of a Python file.
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.
        simulator: "mujoco", "builtin", or empty for MuJoCo where it is installed.
    """
    simulator = simulator or default_simulator()
    if what == "demo":
        return demo(backend, solver, simulator)
    path = scene_file(what)
    module = _module(path)
    make = getattr(module, "scene", None)
    if not callable(make):
        hint = f"; it runs by itself: python {path}" if callable(getattr(module, "main", None)) else ""
        raise WbcError(
            f"{path} has no function scene(backend=, solver=, simulator=) that makes a wbc.simulation.Scene{hint}"
        )
    given = {"backend": backend, "solver": solver, "simulator": simulator}
    taken = inspect.signature(make).parameters
    found = make(**{name: value for name, value in given.items() if name in taken})
    if not isinstance(found, Runnable):
        raise WbcError(f"scene() of {path} made {show(found)}, not a wbc.simulation.Scene")
    return found


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
    raise unknown_name("example or file", what, ["demo", *known])


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem.lstrip("0123456789_") or "scene", path)
    if spec is None or spec.loader is None:
        raise WbcError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except WbcError:
        raise
    except Exception as error:  # whatever is wrong in a user's file
        raise WbcError(f"{path} can't be imported: {type(error).__name__}: {error}") from None
    return module
