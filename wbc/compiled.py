"""The compiled kernel, if it was built: the one place that imports it."""

from __future__ import annotations

import importlib
import os
from types import ModuleType


def _find() -> ModuleType | None:
    wanted = os.environ.get("WBC_KERNEL", "").lower()
    if wanted == "off":
        return None
    try:
        found = importlib.import_module("wbc._kernel")
    except ImportError:
        return None
    if wanted == "plain":
        found.choose_plain()
    return found


kernel: ModuleType | None = _find()
"""The module wbc._kernel; None where it was not built, or where the environment variable WBC_KERNEL is "off".

Where that is "plain" the solver runs as on a processor without AVX2.
"""
