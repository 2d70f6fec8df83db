"""MuJoCo's compiler in a separate process: an untrusted file can crash or block that process, not ours.

usage, by `compile_apart`: python -m wbc.model.apart FILE.xml COMPILED.mjb MEGABYTES SECONDS
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wbc.errors import WbcError

SECONDS = 10.0
"""That a file may take."""

MEGABYTES = 500
"""Of memory that a file may take, beside what the process needs by itself."""

GONE_WRONG = 3
"""What the process ends with where the error is named on its output."""


def compile_apart(
    path: str | Path,
    locked: Iterable[str] = (),
    passive: Iterable[str] = (),
    nominal: object = None,
    ignore: Iterable[str] = (),
) -> Any:  # noqa: ANN401  mujoco is not typed for a strict checker
    """As `read_mjcf`, in a process with bounds on its time and its memory.

    Args:
        path: of the file.
        locked: see `read_mjcf`.
        passive: see `read_mjcf`.
        nominal: see `read_mjcf`: the name of a keyframe, or positions by joint.
        ignore: see `read_mjcf`.

    Raises:
        WbcError: it can't be compiled, or not within the bounds, or the compiler crashed on it.
    """
    import mujoco

    how = json.dumps([list(locked), list(passive), nominal if isinstance(nominal, str | dict) else None, list(ignore)])
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "model.mjb"
        given = [str(Path(path).absolute()), str(compiled), str(MEGABYTES), str(SECONDS), how]
        places = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]))
        try:
            done = subprocess.run(
                [sys.executable, "-m", __name__, *given],
                capture_output=True,
                timeout=2.0 * SECONDS,  # for a process that sleeps; one that works is ended by its own bound
                cwd=folder,  # what MuJoCo logs is written there
                env={**os.environ, "PYTHONPATH": places},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise WbcError(f"{path}: MuJoCo did not compile it within {2.0 * SECONDS:g} s") from None
        if done.returncode == GONE_WRONG:
            raise WbcError(done.stdout.decode(errors="replace"))
        if done.returncode or not compiled.is_file():
            raise WbcError(
                f"{path}: MuJoCo's compiler crashed on it, or needed more than {SECONDS:g} s or {MEGABYTES} MB"
            )
        return mujoco.MjModel.from_binary_path(str(compiled))


def _bound(megabytes: int, seconds: int) -> None:
    """Bounds this process, where the system can."""
    try:
        import resource
    except ImportError:  # no Unix: the parent's patience is the bound
        return
    try:
        own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        own = 1_000_000_000
    most = own + megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds + 2, seconds + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(file: str, compiled: str, megabytes: str, seconds: str, how: str) -> int:
    """Compiles a file, and writes the model. Gives the exit code.

    Args:
        file: MJCF.
        compiled: where the model goes.
        megabytes: of memory at the most.
        seconds: of time at the most.
        how: the other arguments of `read_mjcf`, as JSON.
    """
    import mujoco

    from wbc.model.mjcf import read_mjcf

    arguments = json.loads(how)
    _bound(int(megabytes), round(float(seconds)))
    try:
        mujoco.mj_saveModel(read_mjcf(file, *arguments), compiled, None)
    except WbcError as error:
        sys.stdout.write(str(error))
        return GONE_WRONG
    except MemoryError:
        sys.stdout.write(f"{file}: MuJoCo needs more than {megabytes} MB to compile it")
        return GONE_WRONG
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
