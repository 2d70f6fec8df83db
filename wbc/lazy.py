"""Names of a package whose modules are imported when the names are asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazy(package: str, names: Mapping[str, str], modules: Iterable[str] = ()) -> Callable[[str], Any]:
    """Makes the `__getattr__` of a package that imports some of its names late.

    A type checker does not see them: import them under `TYPE_CHECKING` too.

    Args:
        package: its `__name__`.
        names: the module that each name is imported from.
        modules: names of modules of the package that are themselves imported late.
    """
    paths, own = dict(names), frozenset(modules)

    def find(name: str) -> Any:  # noqa: ANN401  of many kinds
        if name in paths:
            found = getattr(importlib.import_module(paths[name]), name)
            setattr(sys.modules[package], name, found)  # the next one does not come here
            return found
        if name in own:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
