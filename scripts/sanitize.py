"""Builds the kernel with AddressSanitizer and UndefinedBehaviorSanitizer, and runs tests with it.

usage: python scripts/sanitize.py [arguments of pytest]

Without arguments it runs what tests the kernel. The build goes to out/sanitize; the one in wbc/ stays as it is. Where
there is no gcc, or no libasan, it says so and is content.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "out" / "sanitize" / "_kernel.so"
FLAGS = "-shared -fPIC -O1 -g -std=c11 -DPy_LIMITED_API=0x030B0000 -fno-omit-frame-pointer"
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all"
TESTS = {
    "wide": ("tests/kernel", "tests/dynamics/test_compiled.py", "-k", "not pinocchio and not mujoco"),
    "plain": ("tests/kernel",),
}
"""By the variant of the solver; of the backends the one whose memory is numpy's."""


def main() -> int:
    """Builds, tests with each variant of the solver; 0 where all is well or nothing can be built."""
    gcc = shutil.which("gcc")
    libraries = [_library(gcc, name) for name in ("libasan.so", "libstdc++.so")] if gcc else []
    if gcc is None or None in libraries:
        print("no sanitizer was run: it needs gcc and libasan")
        return 0
    BUILT.parent.mkdir(parents=True, exist_ok=True)
    sources = sorted(str(path) for path in (ROOT / "kernel").glob("*.c"))
    include = "-I" + sysconfig.get_path("include")
    command = [gcc, *FLAGS.split(), *SANITIZERS.split(), include, *sources, "-o", str(BUILT), "-lm"]
    if subprocess.run(command, check=False).returncode:
        return 1
    environment = os.environ | {
        "LD_PRELOAD": " ".join(str(library) for library in libraries),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # the interpreter keeps what it has at its end
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # else what is beside an object is an object
        "WBC_SANITIZED": str(BUILT),
    }
    for variant, usual in TESTS.items():
        print(f"sanitized, {variant}:", flush=True)
        tests = [sys.executable, "-m", "tests.kernel.sanitized", "--capture=sys", *(sys.argv[1:] or usual)]
        code = subprocess.run(tests, env=environment | {"WBC_KERNEL": variant}, cwd=ROOT, check=False).returncode
        if code:
            return code
    return 0


def _library(gcc: str, name: str) -> Path | None:
    """Where gcc has a library; None where it has none."""
    found = subprocess.run([gcc, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(found).resolve() if Path(found).is_absolute() else None


if __name__ == "__main__":
    sys.exit(main())
