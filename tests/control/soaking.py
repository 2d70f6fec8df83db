"""Rounds of a soak: wild and plausible states, contacts that switch at every tick, all solvers.

usage: python -m tests.control.soaking [TICKS] [NOTES] [PROCESSES]   (`make soak` runs a million, and other tests)

Prints the ticks by solver and status, and what was wrong. Rounds are noted in a file, so that a second call goes on
where the first one ended; those that other code ran do not count.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tasks
import wbc
from tests.control.scenes import SOLVERS
from tests.robots import PACKAGED, REAL, load

ROUND = 40
"""Ticks of one controller."""

FIRST = 1_000_000
"""Number of the first round; smaller ones are those of the usual tests."""

CHUNK = 30
"""Rounds that a process runs before it tells of them: each robot with each solver once."""

ROBOTS = {robot.name.split(":")[0]: robot for robot in (*PACKAGED, *REAL)}
CHOSEN = ("arm", "quadruped", "humanoid", "panda", "anymal", "talos")
FEET = {
    "anymal": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
    "talos": ("left_sole_link", "right_sole_link"),
}
CORNERS = [(0.1, 0.05), (0.1, -0.05), (-0.1, -0.05), (-0.1, 0.05)]


@cache
def robot_of(name: str, backend: str) -> wbc.Dynamics:
    return load(ROBOTS[name], backend)


def contacts_of(robot: wbc.Dynamics, name: str, rng: np.random.Generator) -> list[wbc.Contact]:
    """Feet, as points or as soles; an arm leans on its last link now and then."""
    friction, forces = float(rng.uniform(0.1, 1.0)), str(rng.choice(["wrench", "corners"]))
    frames = FEET.get(name, robot.model.feet)
    if not frames:
        frames = (robot.model.frame_names[-1],) if rng.random() < 0.3 else ()
    soles: dict[str, object] = dict.fromkeys(frames, CORNERS) if name == "talos" else dict(robot.model.soles)
    return [
        wbc.SurfaceContact(frame, friction, soles[frame], forces=forces)  # type: ignore[arg-type]
        if frame in soles and rng.random() < 0.8
        else wbc.PointContact(frame, friction)
        for frame in frames
    ]


def stack_of(robot: wbc.Dynamics, name: str, rng: np.random.Generator) -> wbc.Stack:
    """Limits on top, alone or beside what contradicts them; targets in and out of reach."""
    contacts = contacts_of(robot, name, rng)
    limits: tasks.Task = tasks.TorqueLimits() if rng.random() < 0.8 else tasks.TorqueLimits(rate=1e4)
    if contacts:
        limits = limits + tasks.FrictionCones()
    if rng.random() < 0.3:
        limits = limits + tasks.JointLimits()
    levels = tasks.EquationOfMotion() / limits
    if contacts:
        levels = levels + tasks.ContactMotion() if rng.random() < 0.3 else levels / tasks.ContactMotion()
    frame = robot.model.root if robot.model.floating else robot.model.frame_names[-1]
    target = np.eye(4)
    target[:3, 3] = rng.normal(scale=rng.choice([0.1, 5.0]), size=3)
    levels = levels / tasks.EndEffectorAcceleration(frame, target, wbc.Gains(3.0))
    if rng.random() < 0.5 and robot.mass:
        levels = levels + tasks.CenterOfMass(gains=wbc.Gains(2.0))
    last = tasks.TorqueMinimization() if rng.random() < 0.7 else tasks.AccelerationMinimization()
    return wbc.Stack(levels / tasks.JointAcceleration(gains=wbc.Gains(1.5)) / last, contacts=contacts)


def state_of(robot: wbc.Dynamics, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Plausible, or wild: joints up to 1e6 rad, velocities up to 1e3."""
    nominal = np.array(robot.model.nominal)
    kind = rng.random()
    if kind < 0.4:
        q = robot.integrate(nominal, rng.normal(scale=0.2, size=robot.nv))
        return q, rng.normal(scale=float(rng.choice([0.0, 0.3, 3.0])), size=robot.nv)
    if kind < 0.6:
        return robot.random(rng), rng.normal(scale=2.0, size=robot.nv)
    if kind < 0.7:  # straight: all joints at zero, or almost
        q = robot.integrate(robot.neutral(), float(rng.choice([0.0, 1e-9, 1e-4])) * rng.normal(size=robot.nv))
        return q, rng.normal(scale=0.3, size=robot.nv)
    speed, reach = 10.0 ** rng.uniform(0.0, 3.0), 10.0 ** rng.uniform(0.0, 6.0)
    return robot.integrate(nominal, reach * rng.uniform(-1.0, 1.0, robot.nv)), speed * rng.uniform(-1, 1, robot.nv)


def switch(stack: wbc.Stack, rng: np.random.Generator) -> None:
    """Opens and closes contacts: at once, along ramps, or to any share."""
    for contact in stack.contacts:
        way = rng.integers(4)
        if way == 0:
            stack.support.activate(contact.name, float(rng.choice([0.0, 0.3, 1.0])))
        elif way == 1:
            stack.open_contact(contact.name, float(rng.choice([0.0, 0.003])))
        elif way == 2:
            stack.close_contact(contact.name, float(rng.choice([0.0, 0.003])))


def wrong(robot: wbc.Dynamics, solution: wbc.Solution, keeps: bool) -> str:
    """What is not as it should be; empty where all is.

    Args:
        robot: that it is for.
        solution: of a tick.
        keeps: whether limits and cones stand alone on the top level, and the solver looks at them: they can hold.
    """
    if not all(np.isfinite(part).all() for part in (solution.torque, solution.acceleration, *solution.forces.values())):
        return "not finite"
    if (np.abs(solution.torque) > robot.limits.effort).any():
        return "beyond the actuators"
    found = solution.certificate
    if solution.status != "failed" and not found.equation_of_motion < 1e-8:
        return f"the equation of motion is off by {found.equation_of_motion:.1e}"
    if solution.status == "optimal" and not found.holds:
        return f"better than the certificate: {found}"
    if solution.status == "optimal" and solution.violated:
        return f"optimal, and does not hold: {solution.violated[0]}"
    size = 1.0 + max(float(np.abs(force).max()) for force in (*solution.forces.values(), solution.torque))
    plausible = max(float(np.abs(part).max()) for part in (solution.q, solution.v)) < 100.0
    kept = keeps or solution.interrupted  # what was cut short is brought inside the cones, whatever stands beside them
    if solution.status == "relaxed" and kept and plausible and not found.cone_margin > -1e-8 * size:
        return f"what can hold does not: {found}"
    return ""


def soak(number: int, deadline: float | None = None) -> tuple[list[str], Counter[tuple[str, str]]]:
    """The ticks of one controller: what was wrong, and the statuses by solver. The same number gives the same.

    Args:
        number: of the round.
        deadline: of each tick, s.
    """
    rng = np.random.default_rng([20, number])
    name, solver = CHOSEN[number % len(CHOSEN)], SOLVERS[number // len(CHOSEN) % len(SOLVERS)]
    backend = str(rng.choice(["numpy", "pinocchio", "mujoco"], p=[0.4, 0.5, 0.1]))
    robot = robot_of(name, backend)
    told, statuses = [], Counter[tuple[str, str]]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        stack = stack_of(robot, name, rng)
        controller = wbc.Controller(robot, stack, solver, deadline=deadline)
        keeps = not controller.solver.ignores_inequalities and not any(
            isinstance(task, tasks.JointLimits | tasks.ContactMotion) for task in stack.levels[1]
        )
        for tick in range(ROUND):
            switch(stack, rng)
            solution = controller.step(*state_of(robot, rng), 1e-3 * tick)
            statuses[solver, solution.status] += 1
            fault = wrong(robot, solution, keeps)
            if fault:
                told.append(f"round {number}, tick {tick}, {name} on {backend} by {solver}, {solution.status}: {fault}")
            if tick % 10 == 0:
                solution.explain()
    return told, statuses


class Soaked(NamedTuple):
    """What a soak came to.

    Attributes:
        told: what was wrong, a line each.
        statuses: ticks by solver and status.
    """

    told: list[str]
    statuses: Counter[str]

    @property
    def ticks(self) -> int:
        """How many there were."""
        return self.statuses.total()

    def __str__(self) -> str:
        lines = [f"{self.ticks} ticks", *(f"{what}: {count}" for what, count in sorted(self.statuses.items()))]
        return "\n".join([*lines, *self.told, f"{len(self.told)} faults"])


def fingerprint() -> str:
    """Of the code that is soaked, and of this file."""
    found = hashlib.sha256()
    folders = [Path(str(package.__file__)).parent for package in (wbc, tasks)]
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in (".py", ".so", ".pyd")]
    for file in [*sorted(files), Path(__file__)]:
        found.update(file.read_bytes())
    return found.hexdigest()[:12]


def _chunk(numbers: list[int]) -> list[tuple[int, list[str], dict[str, int]]]:
    """The rounds of those numbers; one that raises is told of like one that is wrong."""
    found = []
    for number in numbers:
        try:
            told, statuses = soak(number)
        except Exception as error:  # whatever it is, it is what a soak looks for
            told, statuses = [f"round {number} raised {type(error).__name__}: {error}"], Counter()
        found.append((number, told, {f"{solver}, {status}": count for (solver, status), count in statuses.items()}))
    return found


def _noted(notes: Path, code: str) -> dict[int, tuple[list[str], dict[str, int]]]:
    """The rounds in a file that this code ran; a line that was cut short does not count."""
    found = {}
    for line in notes.read_text().splitlines() if notes.exists() else []:
        try:
            by, number, told, statuses = json.loads(line)
        except ValueError:  # cut short, or empty
            continue
        if by == code:
            found[number] = told, statuses
    return found


def _run(chunks: list[list[int]], processes: int) -> Iterator[list[tuple[int, list[str], dict[str, int]]]]:
    """Chunk by chunk, as they end."""
    if processes == 1:
        yield from map(_chunk, chunks)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        under_way = {pool.submit(_chunk, numbers): numbers for numbers in chunks}
        for ended in as_completed(under_way):
            try:
                yield ended.result()
            except BrokenProcessPool:
                numbers = under_way[ended]
                yield [(numbers[0], [f"a process ended, perhaps in a round from {numbers[0]} to {numbers[-1]}"], {})]
                return


def soak_ticks(ticks: int, notes: Path, processes: int = 1) -> Soaked:
    """Runs so many ticks, but for those that are noted, and notes them.

    Args:
        ticks: how many, with those that are noted.
        notes: a file, a line a round.
        processes: in which they run.
    """
    code, last = fingerprint(), FIRST + ticks // ROUND
    known = _noted(notes, code)
    missing = [number for number in range(FIRST, last) if number not in known]
    chunks = [missing[start : start + CHUNK] for start in range(0, len(missing), CHUNK)]
    notes.parent.mkdir(parents=True, exist_ok=True)
    with notes.open("a") as out:
        print(end="\n" if out.tell() else "", file=out)  # the last line may have been cut short
        for found in _run(chunks, processes):
            for number, told, statuses in found:
                known[number] = told, statuses
                print(json.dumps([code, number, told, statuses]), file=out, flush=True)
    counted = [known[number] for number in sorted(known) if number < last]
    statuses = Counter[str]()
    for _, count in counted:
        statuses.update(count)
    return Soaked([line for told, _ in counted for line in told], statuses)


def main(ticks: str = "1000000", notes: str = "runs/soak.jsonl", processes: str = "1") -> int:
    """Prints what a soak comes to; 1 where something is wrong."""
    found = soak_ticks(int(ticks), Path(notes), int(processes))
    print(found)
    return int(bool(found.told) or found.ticks < int(ticks) // ROUND * ROUND)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
