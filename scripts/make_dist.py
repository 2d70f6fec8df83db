"""Makes what a release is, an sdist and wheels with and without the kernel, and tries each in an empty environment.

usage: python scripts/make_dist.py [--untried]

What is made is in out/dist. Trying takes a virtual environment each, in which the blocks of the README run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "out" / "dist"

BLOCKS = """
import runpy, sys, warnings
warnings.simplefilter("ignore")
for block in sys.argv[1:]:
    runpy.run_path(block)
"""


def main() -> int:
    """Makes and tries; 0 where all is well."""
    DIST.mkdir(parents=True, exist_ok=True)
    for old in DIST.iterdir():
        old.unlink()
    sdist = _build("--sdist", kernel=True)
    wheel = _build("--wheel", kernel=True)
    pure = _build("--wheel", kernel=False)
    if not pure.name.endswith("-py3-none-any.whl"):
        print(f"{pure.name} is no pure wheel")
        return 1
    if wheel == pure:
        print("no wheel with the kernel: it takes a C compiler")
    if "--untried" in sys.argv[1:]:
        return 0
    return max([_try(made, made != pure and wheel != pure) for made in dict.fromkeys((sdist, wheel, pure))])


def _build(kind: str, kernel: bool) -> Path:
    """Builds one of them, in an environment of its own; the file."""
    before = set(DIST.iterdir())
    command = [sys.executable, "-m", "build", kind, "--outdir", str(DIST), str(ROOT)]
    environment = os.environ | {"WBC_KERNEL": "" if kernel else "off"}
    subprocess.run(command, check=True, env=environment, capture_output=True)
    (made,) = set(DIST.iterdir()) - before or {next(path for path in before if path.suffix == ".whl")}
    print(f"{made.name}: {made.stat().st_size / 1e3:.0f} kB", flush=True)
    return made


def _try(made: Path, kernel: bool) -> int:
    """Installs a file where nothing else is, and runs the README's blocks; 0 where all is well."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"{made}[all]"], check=True)
        installed = time.perf_counter()
        blocks = _blocks(Path(folder))
        # away from the tree: what is imported is what was installed
        done = subprocess.run([python, "-c", BLOCKS, *blocks], cwd=folder, capture_output=True, text=True)
        ran = time.perf_counter()
        said = subprocess.run([python, "-m", "wbc", "--version"], cwd=folder, capture_output=True, text=True).stdout
    right = ("compiled kernel" in said) == kernel
    seconds = f"installed in {installed - began:.0f} s, {len(blocks)} blocks of the README in {ran - installed:.0f} s"
    print(f"{made.name}: {seconds}; {said.strip()}", flush=True)
    if done.returncode:
        print(done.stderr)
    return int(bool(done.returncode) or not right)


def _blocks(folder: Path) -> list[str]:
    """The README's blocks as files, beside the robot of a user's that they speak of."""
    sys.path.insert(0, str(ROOT))
    from tests.foreign import biped

    (folder / "my_robot.urdf").write_text(biped())
    files = []
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)):
        file = folder / f"block_{number}.py"
        file.write_text(block)
        files.append(str(file))
    return files


if __name__ == "__main__":
    sys.exit(main())
