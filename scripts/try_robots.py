"""Tries every robot of a folder, each in a process of its own, and writes the table of docs/robots.md.

    python scripts/try_robots.py FOLDER

A folder such as MuJoCo Menagerie's: a robot is a folder in it with scenes (`scene*.xml`), else with MJCF or URDF files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

from wbc.arrays import Array

LIMIT = 240.0
"""Time for one robot, s."""

PAGE = Path(__file__).parents[1] / "docs" / "robots.md"

BEGIN, END = "<!-- wild: made by scripts/try_robots.py -->", "<!-- end of wild -->"

HEADER = (
    "| robot | found | acceleration, against MuJoCo's | stands or holds | loop | push | tick, of the quadruped's | "
    "why not |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def robots(folder: Path) -> list[Path]:
    """The files of the robots in a folder, in order: their scenes, where there are some.

    Args:
        folder: with a folder for each robot.
    """
    found: list[Path] = []
    for robot in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(robot.glob("scene*.xml")) or sorted(robot.rglob("*.urdf")) or sorted(robot.glob("*.xml"))
        found += files
    return found


def agreement(file: Path) -> float | None:
    """How far accelerations are from MuJoCo's own, relative to 1 + their size, without contact; None for a URDF, and
    for what does not move.

    Equality constraints yield in MuJoCo, here they don't: it is MuJoCo's limit as they stiffen that is compared, solved
    for directly from its own matrices, as its iterations leave an error of 1e-5 where masses are small.

    Args:
        file: of the robot.
    """
    import mujoco

    import wbc

    model = wbc.load(file).model
    if model.simulated is None or not model.nv:
        return None
    model = model.replace(joints=[replace(joint, friction=0.0) for joint in model.joints.values()])
    m = model.simulated
    m.jnt_actgravcomp[:] = False  # what motors lift is part of their torques here
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
    d, rng, worst = mujoco.MjData(m), np.random.default_rng(0), 0.0
    robot = wbc.load(model)
    for _ in range(5):
        q = robot.integrate(model.nominal, 0.2 * rng.normal(size=robot.nv))
        q = robot.close_loops(q)
        v = robot.project_velocity(q, 0.5 * rng.normal(size=robot.nv))
        torque = rng.normal(size=robot.na)
        robot.update(q, v)
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, robot.actuator_force(torque)
        theirs = unyielding(m, d)
        ours = robot.forward_dynamics(q, v, torque)
        worst = max(worst, float(np.abs((ours - theirs) / (1.0 + np.abs(theirs))).max()))
    return worst


def unyielding(m: Any, d: Any) -> Array:  # noqa: ANN401  mujoco has no types
    """MuJoCo's accelerations with equality constraints that do not yield: by M, those nearest to those without.

    What pulls a constraint back that is open is left out: a linkage whose file is not quite flat is open by 1e-7 m for
    good, and MuJoCo pulls at that with 1e5 / s².

    Args:
        m: the `mujoco.MjModel`, without contact.
        d: its data, in a state.
    """
    import mujoco

    mujoco.mj_forward(m, d)
    free: Array = d.qacc_smooth.copy()
    if not d.nefc:
        return free
    M, J = np.zeros((m.nv, m.nv)), np.zeros((d.nefc, m.nv))
    mujoco.mj_fullM(m, d, M)
    if mujoco.mj_isSparse(m):
        mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
    else:
        J[:] = d.efc_J.reshape(J.shape)
    U, sizes, _ = np.linalg.svd(J, full_matrices=False)  # redundant rows are normal
    U = U[:, sizes > 1e-6 * sizes.max()]
    stiffness, damping, impedance, _ = d.efc_KBIP.T
    J, wanted = U.T @ J, U.T @ (d.efc_aref + damping * d.efc_vel + stiffness * impedance * d.efc_pos)
    L = np.linalg.cholesky(M)
    Y = scipy.linalg.solve_triangular(L, J.T, lower=True)
    z = np.linalg.lstsq(Y.T, wanted - J @ free, rcond=None)[0]
    return np.asarray(free + scipy.linalg.solve_triangular(L, z, lower=True, trans=1))


def one(file: Path) -> dict[str, object]:
    """Tries a robot: what a row of the table is made from.

    Args:
        file: of the robot.
    """
    from wbc.application.trial import try_robot
    from wbc.errors import WbcError

    warnings.simplefilter("ignore")
    found: dict[str, object] = {}
    try:
        found["agreement"] = agreement(file)
        found |= try_robot(str(file)).plain()
        # a loaded machine slows both
        found["quadruped"] = try_robot("quadruped", seconds=0.5).plain()["figures"]["tick, median"]
    except WbcError as error:
        found["reason"] = str(error).removeprefix(f"{file}: ")
    except Exception as error:  # of MuJoCo, say
        found["reason"] = f"{type(error).__name__}: {error}"
    return found


def row(name: str, found: dict[str, object]) -> str:
    """A row of the table.

    Args:
        name: of the robot.
        found: how it went.
    """
    match = found.get("agreement")
    accuracy = "-" if match is None else f"{match:.0e}"
    reason = " ".join(str(found.get("reason", "")).replace("|", "/").split())
    if reason or "figures" not in found:
        return f"| {name} | - | {accuracy} | - | - | - | - | {_cut(reason)} |"
    figures, described = found["figures"], found["found"]
    assert isinstance(figures, dict) and isinstance(described, dict)
    counts = {key: len(described[key].split(", ")) for key in ("feet", "wheels", "hands") if key in described}
    kinds = [f"{count} {key if count > 1 else key.removesuffix('s')}" for key, count in counts.items()]
    scale, name_of_unit = {"m": (1e3, "mm"), "m/s": (1e3, "mm/s")}.get(str(found["unit"]), (1.0, "rad"))
    unit = lambda x: f"{scale * x:.2g} {name_of_unit}"  # noqa: E731
    shown = [unit(figures[key]) if key in figures else "-" for key in ("off on the loop",)]
    push = f"{unit(figures['off after the push'])} → {unit(figures['off at the end'])}" if found["stood"] else "-"
    verdict = "yes" if found["stood"] else str(found["ended"])
    health = str(found["health"]).replace("|", "/").replace("center", "centre")  # the page is in British English
    reasons = ["does not follow"] if found["stood"] else []
    reasons += [health] if health != "good" else []
    reasons += [str(described["push"])] if "push" in described else []
    why = "" if found["followed"] else _cut(": ".join(reasons))
    beside = found.get("quadruped")
    tick = f"{figures['tick, median'] / beside:.1f} x" if isinstance(beside, float) else "-"
    return f"| {name} | {', '.join(kinds) or '-'} | {accuracy} | {verdict} | {shown[0]} | {push} | {tick} | {why} |"


def _cut(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[:most]} …"


def main(folder: Path) -> None:
    """Tries all robots of a folder and writes the table.

    Args:
        folder: with a folder for each robot.
    """
    rows = []
    for file in robots(folder):
        name = f"{file.parent.name} `{file.name}`"
        command = [sys.executable, __file__, "--one", str(file)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment, check=False)
            lines = done.stdout.strip().splitlines()
            found = json.loads(lines[-1]) if lines else {"reason": f"it ended with code {done.returncode}"}
        except subprocess.TimeoutExpired:
            found = {"reason": f"it took more than {LIMIT:g} s"}
        found["reason"] = str(found.get("reason", "")).replace(str(folder), "").replace(str(folder.resolve()), "")
        rows.append(row(name, found))
        print(rows[-1], flush=True)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    table = "\n".join([HEADER, *rows])
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        print(json.dumps(one(Path(sys.argv[2]))))
    elif len(sys.argv) == 2 and Path(sys.argv[1]).is_dir():
        main(Path(sys.argv[1]))
    else:
        sys.exit(__doc__)
