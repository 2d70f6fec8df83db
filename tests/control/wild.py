"""Robots of other people under stacks that are drawn: wild and plausible states, contacts that switch, all solvers.

usage: python -m tests.control.wild ROUNDS FILE or FOLDER ...   (of a folder: every scene*.xml below it)

As `tests.control.soaking`, for any robot: prints what was wrong, and the ticks by solver and status. The same number of
a round gives the same.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tasks
import wbc
from tests.control.scenes import SOLVERS
from tests.control.soaking import state_of, switch, wrong

TICKS = 20
"""Of one controller."""


def further(hand: str, rng: np.random.Generator) -> wbc.Task | None:
    """One more task, where the robot can have it; None: without."""
    kinds: list[Callable[[], wbc.Task]] = [
        lambda: tasks.FrameSpeedLimit(hand, 0.3),
        lambda: tasks.PowerLimit(50.0),
        lambda: tasks.CenterOfMass(gains=wbc.Gains(2.0), tolerance=0.5),
        lambda: tasks.ManipulabilityFloor(hand, 0.05, "x"),
    ]
    kind = int(rng.integers(len(kinds) + 1))
    return kinds[kind]() if kind < len(kinds) else None


def stack_of(robot: wbc.Dynamics, rng: np.random.Generator) -> wbc.Stack:
    """Limits on top, joint limits anywhere, targets in and out of reach."""
    model = robot.model
    contacts = tasks.stacks.feet(robot) if model.feet else []
    limits = tasks.EquationOfMotion() / tasks.TorqueLimits(scale=float(rng.choice([1.0, 0.3])))
    if contacts:
        limits = limits + tasks.FrictionCones()
    limited = any(joint.limited for name, joint in model.joints.items() if model.drives(name))
    joints = tasks.JointLimits(margin=float(rng.choice([0.0, 0.1])), approach=float(rng.choice([0.0, 0.05])))
    place = int(rng.integers(4)) if limited else 3
    levels = limits + joints if place == 0 else limits / joints if place == 1 else limits
    if contacts:
        levels = levels / tasks.ContactMotion()
    frame = model.root if model.floating else model.frame_names[-1]
    target = np.eye(4)
    target[:3, 3] = rng.normal(size=3) * rng.choice([0.1, 5.0])
    main = tasks.EndEffectorAcceleration(frame, target, wbc.Gains(float(rng.choice([1.0, 3.0, 10.0]))), name="main")
    levels = levels / (main + joints) if place == 2 else levels / main
    hand = model.hands[0] if model.hands else str(rng.choice(model.frame_names[1:]))
    if (more := further(hand, rng)) is not None:
        levels = levels / more
    reach = tasks.EndEffectorAcceleration(hand, rng.normal(size=3), wbc.Gains(2.0), axes="position", name="hand")
    posture = tasks.JointAcceleration(gains=wbc.Gains(1.5), tolerance=None if rng.random() < 0.7 else 0.1)
    return wbc.Stack(levels / reach / posture / tasks.TorqueMinimization(), contacts=contacts)


def attack(number: int, robots: list[wbc.Dynamics]) -> tuple[list[str], Counter[str]]:
    """The ticks of one controller: what was wrong, and the statuses by solver.

    Args:
        number: of the round.
        robots: the next one is taken in each round.
    """
    rng, robot = np.random.default_rng([77, number]), robots[number % len(robots)]
    solver = SOLVERS[number // len(robots) % len(SOLVERS)]
    told, statuses = [], Counter[str]()
    try:
        ours = wbc.Controller(robot, stack_of(robot, rng), solver, deadline=None if rng.random() < 0.7 else 1e-3)
    except wbc.WbcError as error:  # frames that nothing moves, say
        return [], Counter({f"refused: {error}": 1})
    for tick in range(TICKS):
        switch(ours.stack, rng)
        solution = ours.step(*state_of(robot, rng), 1e-3 * tick)
        statuses[f"{solver}, {solution.status}"] += 1
        fault = wrong(robot, solution, False)
        if fault:
            told.append(f"round {number}, tick {tick}, {robot.model.name} by {solver}, {solution.status}: {fault}")
        if tick % 5 == 0:
            solution.explain(), str(solution.health)
    return told, statuses


def load(names: list[str]) -> list[wbc.Dynamics]:
    """The robots of files and folders that can be read; says of the others why not."""
    robots = []
    for name in names:
        for file in sorted(Path(name).rglob("scene*.xml")) if Path(name).is_dir() else [Path(name)]:
            try:
                robots.append(wbc.load(str(file)))
            except wbc.WbcError as error:
                print(f"not tried: {str(error)[:200]}")
    return robots


def main(rounds: int, names: list[str]) -> int:
    """Prints the statuses and what was wrong; gives how much that is."""
    warnings.simplefilter("ignore")
    robots, faults, statuses = load(names), 0, Counter[str]()
    for number in range(rounds):
        try:
            told, found = attack(number, robots)
        except Exception:
            told, found = [f"round {number} raised:\n{traceback.format_exc()}"], Counter()
        faults += len(told)
        statuses += found
        print("\n".join(told), end="\n" if told else "", flush=True)
    ticks = sum(count for what, count in statuses.items() if "refused" not in what)
    print("\n".join(f"{what}: {count}" for what, count in sorted(statuses.items())))
    print(f"{ticks} ticks, {faults} faults, {len(robots)} robots")
    return faults


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), sys.argv[2:])))
