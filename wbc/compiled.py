"""The compiled kernel, where there is one. Whoever uses it has the same in Python, for where there is none."""

from __future__ import annotations

import os
from types import ModuleType

kernel: ModuleType | None = None
"""The module `wbc._kernel`; None where it was not built, or the environment variable WBC_KERNEL is "off"."""

if os.environ.get("WBC_KERNEL") != "off":
    try:
        from wbc import _kernel  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        pass
    else:
        kernel = _kernel
