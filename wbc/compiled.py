"""The compiled kernel, where it was built: the one place that asks for it."""

from __future__ import annotations

import importlib
import os
from types import ModuleType


def _find() -> ModuleType | None:
    if os.environ.get("WBC_KERNEL", "").lower() == "off":
        return None
    try:
        return importlib.import_module("wbc._kernel")
    except ImportError:
        return None


kernel: ModuleType | None = _find()
"""The module wbc._kernel; None where it was not built, or where the environment variable WBC_KERNEL is "off"."""
