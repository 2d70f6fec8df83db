"""What `import wbc, tasks` costs and brings."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import wbc

ROOT = Path(__file__).parents[1]


def _loaded(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split())


def test_import_brings_numpy_scipy_and_a_part_of_our_own() -> None:
    """What it takes in seconds is printed by benchmarks/cold_start.py; here is what it is made of."""
    brought = _loaded("import wbc, tasks") - _loaded("import numpy, scipy.linalg")
    ours = {name for name in brought if name.split(".")[0] in ("wbc", "tasks")}
    assert brought - ours <= set(sys.stdlib_module_names), "another package is imported on first use"
    assert len(ours) < 75, "names are imported on first use"


def test_wbc_by_itself_imports_nothing_heavy() -> None:
    code = "import sys, wbc; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=True, text=True, cwd=ROOT)
    assert not {"numpy", "scipy"} & set(loaded.stdout.split())


def test_the_help_of_the_command_line_imports_no_numbers() -> None:
    code = "import sys; from wbc.application import cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert not {"numpy", "scipy", "wbc.model"} & set(loaded)


def test_every_public_name_is_there() -> None:
    assert [name for name in dir(wbc) if not hasattr(wbc, name)] == []
    assert {"Controller", "run", "Simulator", "load"} < set(dir(wbc))


OLD_PINOCCHIO = "ignore::DeprecationWarning:hppfcl"
"""Pinocchio's own import warns in old versions."""


@pytest.mark.parametrize("flags", [("-O", "-bb"), ("-W", "error", "-W", OLD_PINOCCHIO)])
def test_strict_and_optimised_pythons_run(flags: tuple[str, ...]) -> None:
    code = (
        "import tasks, wbc; robot = wbc.load('quadruped'); stack = tasks.stacks.standing(robot);"
        "print(wbc.run(wbc.Controller(robot, stack), wbc.MujocoSimulator(robot), 0.02).summary())"
    )
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "20 ticks" in done.stdout and not done.stderr, done.stderr


def test_import_brings_no_optional_package() -> None:
    code = "import sys, wbc, tasks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert not {"mujoco", "pinocchio", "matplotlib", "qpsolvers", "typer", "rich"} & set(loaded)


SPARE = {
    *("osqp", "qpsolvers", "daqp", "typer", "rich", "click", "threadpoolctl", "matplotlib", "mujoco", "pinocchio"),
    *("distributed", "optuna", "gymnasium", "PIL"),
}
"""What a controller does without."""


def test_a_controller_needs_numpy_scipy_and_the_kernel_alone() -> None:
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({SPARE!r}))\n"
        "import tasks, wbc\n"
        "robot = wbc.load('quadruped')\n"
        "stack = tasks.stacks.standing(robot)\n"
        "for solver in ('hierarchical-qp', 'weighted-qp'):\n"
        "    log = wbc.run(wbc.Controller(robot, stack, solver), wbc.Simulator(robot), 0.005)\n"
        "    assert log.status == ['optimal'] * 5, log.summary()\n"
        "try:\n    wbc.Controller(robot, stack, 'sequential-qp')\n"
        "except wbc.WbcError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a cascade of QPs needs qpsolvers: pip install qpsolvers")


def test_what_does_not_use_a_package_does_not_import_it(tmp_path: Path) -> None:
    code = (
        "import sys, tasks, wbc\n"
        "robot = wbc.load('quadruped', 'numpy')\n"
        "wbc.run(wbc.Controller(robot, tasks.stacks.standing(robot)), wbc.Simulator(robot), 0.005).summary()\n"
        f"cases = wbc.cases('tests/sweeps/stub_scene.py', x=[0.0, 1.0])\n"
        f"assert wbc.sweep(cases, {str(tmp_path)!r}, jobs=1).shares()[()].share == 1.0\n"
        "from wbc.sweeps.perform import perform\n"
        "assert perform(next(iter(cases)))['kind'] == 'finished'\n"
        "print('loaded', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert not (SPARE - {"threadpoolctl"}) & set(done.stdout.split("loaded")[-1].split())


def test_version_is_that_of_the_distribution() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == wbc.__version__
