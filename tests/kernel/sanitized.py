"""Runs pytest with another build of the kernel: the file that WBC_SANITIZED names takes the place of the one in wbc/.

usage: WBC_SANITIZED=kernel.so python -m tests.kernel.sanitized [arguments of pytest]
"""

import importlib.machinery
import importlib.util
import os
import sys

import pytest


def use(path):
    """Loads it under the name of the one in wbc/."""
    loader = importlib.machinery.ExtensionFileLoader("wbc._kernel", path)
    spec = importlib.util.spec_from_file_location("wbc._kernel", path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules["wbc._kernel"] = module


if __name__ == "__main__":
    use(os.environ["WBC_SANITIZED"])
    from wbc.compiled import kernel

    assert kernel is not None, "the kernel is switched off"
    assert kernel.__file__ == os.environ["WBC_SANITIZED"], kernel.__file__
    sys.exit(pytest.main())
