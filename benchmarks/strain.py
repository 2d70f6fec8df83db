"""Robots are led through singular poses and to their limits, and back, in closed loop in MuJoCo.

usage: python -m benchmarks.strain [FOLDER or FILE ...]

Without a name: the packaged robots. Prints, for each robot and each way, the largest jump of torque from tick to tick,
as a share of the range, how many are above 1 %, and how far the task is from its place at the end. What falls short
stands behind it: a fall, more than LIKE_CHATTER of the ticks above 1 % (in a trot: more than in a usual one), a task
that does not come back.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tasks
import wbc
from wbc.arrays import Array
from wbc.model.loops import moved_joints

PACKAGED = ("quadruped", "humanoid", "arm")
LIKE_CHATTER = 0.05
"""Share of the ticks that may change some torque by more than 1 %."""

BACK = 3e-3
"""How far a task may be from its place when it is over, m."""

ARC = 0.3
"""Of a hand's way upwards it goes so much to the front."""

PERIOD = 1e-3


@dataclass
class Way:
    """What a robot is asked for.

    Attributes:
        stack: its tasks.
        frame: whose place at the end is looked at.
        seconds: how long it takes.
        before: called with the time and the controller before each tick.
        usual: the same without what is hard about it, where that has fast torques too; None: it has none.
    """

    stack: wbc.Stack
    frame: str
    seconds: float = 6.0
    before: Callable[[float, wbc.Controller], None] | None = None
    usual: Way | None = None


@dataclass
class Result:
    """What came of it.

    Attributes:
        jumps: the largest change of a torque in a tick by its range, tick by tick.
        off: how far the task is from its place at the end, m.
        fell: when, s; None: it did not.
        failed: ticks without an answer.
        usual: what came of the same without what is hard about it; None where that was not asked for.
    """

    jumps: Array
    off: float
    fell: float | None
    failed: int
    usual: Result | None = None

    @property
    def often(self) -> int:
        """Ticks that change some torque by more than 1 %."""
        return int((self.jumps > 0.01).sum())

    @property
    def short(self) -> str:
        """What falls short; empty where nothing does."""
        fast, far = (0, 0.0) if self.usual is None else (self.usual.often, self.usual.off)
        found = [
            f"fell at {self.fell:.2f} s" if self.fell is not None else "",
            f"{self.often - fast} ticks chatter" if self.often - fast > LIKE_CHATTER * len(self.jumps) else "",
            f"{1e3 * self.off:.1f} mm off at the end" if not self.off < BACK + far and self.fell is None else "",
            f"{self.failed} ticks failed" if self.failed else "",
        ]
        return ", ".join(text for text in found if text)

    def __str__(self) -> str:
        return f"jumps {self.jumps.max():6.1%}, {self.often:4d} above 1 %, {1e3 * self.off:6.2f} mm off"


def there_and_back(t: float, seconds: float) -> float:
    """From 0 to 1, a rest, and back to 0 a second before the end."""

    def smooth(start: float, end: float) -> float:
        s = min(max((t - start) / (end - start), 0.0), 1.0)
        return s * s * s * (10 - 15 * s + 6 * s * s)

    half = seconds / 2
    return smooth(0.3, half - 0.3) - smooth(half, seconds - 1.0)


def _moved(pose: Array, along: Array, seconds: float = 6.0, arc: float = 0.0) -> Callable[[float], Array]:
    """A pose that goes along a vector, m, and back; upwards in an arc to the front, of so much of the way."""
    round_it = np.array([arc * max(float(along[2]), 0.0), 0.0, 0.0])

    def target(t: float) -> Array:
        s, found = there_and_back(t, seconds), pose.copy()
        found[:3, 3] += s * along + np.sin(np.pi * s) * round_it
        return found

    return target


def _point(pose: Array, along: Array, seconds: float = 6.0) -> Callable[[float], Array]:
    """The place of a hand, likewise: upwards it goes before the robot, not through its shoulder."""
    move = _moved(pose, along, seconds, ARC)
    return lambda t: move(t)[:3, 3]


class Legs:
    """Ways of a robot on legs: its base holds a place, its hands what they are told."""

    def __init__(self, robot: wbc.Dynamics) -> None:
        self.robot, model = robot, robot.model
        robot.update(np.array(model.nominal), np.zeros(robot.nv))
        self.base = np.array(robot.pose(model.root))
        self.height, self.com = float(self.base[2, 3]), np.array(robot.com)
        self.hands = {hand: np.array(robot.pose(hand)) for hand in model.hands[:2]}
        self.ended = any(model.joints[joint].limited for joint in moved_joints(model))

    def stack(
        self,
        along: Array,
        friction: float = 0.6,
        scale: float = 1.0,
        hands: Array | None = None,
        ends: bool = False,
        arc: float = 0.0,
    ) -> wbc.Stack:
        """The base goes along a vector and back, the hands along another one; beside the ends of joints, or without."""
        limits = tasks.TorqueLimits(scale=scale) + tasks.FrictionCones()
        contact = tasks.ContactMotion(axes=tasks.stacks._held_axes(self.robot))
        root, go = self.robot.model.root, _moved(self.base, np.asarray(along, float), arc=arc)
        base = tasks.EndEffectorAcceleration(root, go, wbc.Gains(3.0), name="base")
        if (hands is not None or ends) and self.ended:
            limits = limits + tasks.JointLimits()
        levels = tasks.EquationOfMotion() / limits / contact
        if hands is None:
            levels = levels / self._balance(go) / base if ends and len(self.robot.model.feet) == 2 else levels / base
        else:  # the weight of the arms moves: balance is of the centre of mass
            trunk = tasks.EndEffectorAcceleration(root, self.base, wbc.Gains(3.0), axes="orientation", name="trunk")
            levels = levels / (tasks.CenterOfMass(gains=wbc.Gains(2.0)) + trunk)
        if hands is not None:
            reach = [
                tasks.EndEffectorAcceleration(
                    hand, _point(pose, np.asarray(hands, float)), gains=wbc.Gains(2.0), axes="position"
                )
                for hand, pose in self.hands.items()
            ]
            levels = levels / (reach[0] + reach[1] if len(reach) > 1 else reach[0])
        posture = tasks.JointAcceleration(gains=wbc.Gains(1.5))
        least = tasks.ForceMinimization() / tasks.TorqueMinimization()  # feet that push apart creep apart in MuJoCo
        return wbc.Stack(levels / posture / least, tasks.stacks.feet(self.robot, friction))

    def _balance(self, go: Callable[[float], Array]) -> wbc.Task:
        """Over two soles the weight is balanced above the base.

        Where that can't go as far down as it is told, its level would trade what is missing for a lean. H1 falls by
        that: its ankles end at 0.82 m of 0.98 m.
        """
        level = np.array([1.0, 1.0, 0.0])
        target = self.com - level * self.base[:3, 3]
        return tasks.CenterOfMass(lambda t: target + level * go(t)[:3, 3], axes="xy", gains=wbc.Gains(2.0))

    def ways(self) -> dict[str, Way]:
        """All of them, by name."""
        h, root = self.height, self.robot.model.root
        found = {
            "straight legs": Way(self.stack(np.array([0.0, 0.0, 0.35 * h])), root),
            "one leg straight": Way(self.stack(np.array([0.05 * h, 0.07 * h, 0.3 * h])), root),
            "sideways": Way(self.stack(np.array([0.0, 0.06 * h, 0.0])), root),
            "crouch": Way(self.stack(np.array([0.0, 0.0, -0.35 * h])), root),
            "crouch to the ends of joints": Way(self.stack(np.array([0.0, 0.0, -0.35 * h]), ends=True), root),
            "slippery": Way(self.stack(np.array([0.05 * h, 0.03 * h, 0.05 * h]), friction=0.25), root),
            "tired": Way(self.stack(np.array([0.0, 0.0, -0.2 * h]), scale=0.5, ends=True), root),
        }
        still = np.zeros(3)
        if self.hands:
            found["arms up"] = Way(self.stack(still, hands=np.array([0.0, 0.0, 1.2])), root)
            found["arms forward"] = Way(self.stack(still, hands=np.array([1.0, 0.0, 0.1])), root)
            found["arms down"] = Way(self.stack(still, hands=np.array([0.0, 0.0, -0.8])), root)
        if len(self.robot.model.feet) == 4:
            found["a foot leaves and comes back"] = self._stepping()
            found["a trot on straight legs"] = self._trot()
        return found

    def _stepping(self) -> Way:
        """High on its legs a foot is let go, and held again, time after time.

        Its base goes to the front as well, so that it balances at the edge of three feet. Without the ends of joints
        the free leg is flung about until it falls.
        """
        stack = self.stack(np.array([0.0, 0.0, 0.12 * self.height]), ends=True, arc=ARC)
        foot = self.robot.model.feet[0]

        def before(t: float, controller: wbc.Controller) -> None:
            phase = round(1e3 * t) % 600
            if 0.5 < t < 5.0 and phase in (0, 300):
                (stack.open_contact if phase == 0 else stack.close_contact)(foot, 0.1)

        return Way(stack, self.robot.model.root, before=before)

    def _trot(self, rise: float = 0.2) -> Way:
        """It trots so high on its legs that they are straight at the end of a step, or as usual."""
        trot, seconds = tasks.Trot(self.robot), 6.0
        first, *others = trot.swings
        above = tasks.EquationOfMotion() / (tasks.TorqueLimits() + tasks.FrictionCones()) / tasks.ContactMotion()
        levels = above / (first + others[0] + others[1] + others[2]) / trot.base
        levels = levels / tasks.JointAcceleration(gains=wbc.Gains(1.5)) / tasks.TorqueMinimization()
        stack = wbc.Stack(levels, tasks.stacks.feet(self.robot))

        def before(t: float, controller: wbc.Controller) -> None:
            trot.command = (0.1 if 0.5 < t < 2.5 else -0.1 if 2.5 < t < 4.5 else 0.0, 0.0, 0.0)
            trot.update(t, controller)
            trot._pose[2] = self.height * (1.0 + rise * there_and_back(t, seconds))

        return Way(stack, self.robot.model.root, seconds, before, self._trot(0.0) if rise else None)


class Arm:
    """Ways of an arm: its hand holds a place, or a pose."""

    def __init__(self, robot: wbc.Dynamics) -> None:
        self.robot = robot
        robot.update(np.array(robot.model.nominal), np.zeros(robot.nv))
        self.hand = robot.model.hands[0] if robot.model.hands else robot.model.frame_names[-1]
        self.pose = np.array(robot.pose(self.hand))
        out = self.pose[:3, 3] * [1.0, 1.0, 0.0]
        self.out = out / max(float(np.linalg.norm(out)), 1e-9)

    def way(self, along: Array, axes: str = "position", scale: float = 1.0, seconds: float = 6.0) -> Way:
        """The hand goes along a vector and back."""
        along = np.asarray(along, dtype=float)
        target = (_moved if axes == "pose" else _point)(self.pose, along, seconds)
        limits = tasks.EquationOfMotion() / tasks.TorqueLimits(scale=scale) / tasks.JointLimits()
        hold = tasks.EndEffectorAcceleration(self.hand, target, axes=axes, gains=wbc.Gains(2.0))
        levels = limits / hold / tasks.JointAcceleration(gains=wbc.Gains(1.0)) / tasks.TorqueMinimization()
        return Way(wbc.Stack(levels), self.hand, seconds)

    def ways(self) -> dict[str, Way]:
        """All of them, by name."""
        up, across = np.array([0.0, 0.0, 1.0]), np.array([-self.out[1], self.out[0], 0.0])
        return {
            "beyond its reach": self.way(self.out),
            "beyond its reach, as a pose": self.way(self.out, "pose"),
            "beyond its reach, fast": self.way(self.out, seconds=4.0),
            "straight up": self.way(1.2 * up),
            "down": self.way(-0.8 * up),
            "over its own axis": self.way(-(self.pose[:3, 3] @ self.out) * self.out + 0.02 * across),
            "into its own foot": self.way(-0.8 * self.out - 0.3 * up),
            "sideways too far": self.way(1.2 * across, "pose"),
            "tired": self.way(0.6 * self.out, scale=0.5),
        }


def _pass_through_each_other(plant: wbc.MujocoSimulator) -> None:
    """The parts of a robot; they still meet the ground, and what stands on it.

    No task of these stacks keeps arms off the trunk and the legs, and an impact is no chatter: Talos, told to raise its
    arms further than they go, changes a torque by more than 1 % in 1,700 ticks with its impacts, and in 124 without.
    """
    m = plant.mj_model
    own = m.geom_bodyid > 0
    m.geom_conaffinity[own] |= m.geom_contype[own]
    m.geom_contype[own] = 0


def lead(robot: wbc.Dynamics, way: Way, solver: str | wbc.solvers.Solver = "elastic-qp") -> Result:
    """Leads a robot along a way, in MuJoCo."""
    usual = None if way.usual is None else lead(robot, way.usual, solver)
    controller, plant = (
        wbc.Controller(robot, way.stack, solver, period=PERIOD),
        wbc.MujocoSimulator(robot, timestep=PERIOD),
    )
    if robot.model.floating:
        _pass_through_each_other(plant)
    start = np.array(robot.model.nominal)
    controller.robot.update(start, np.zeros(robot.nv))
    home = np.array(controller.robot.pose(way.frame))[:3, 3]
    effort = np.maximum(robot.limits.effort, 1e-9)
    before, jumps, failed = None, [0.0], 0
    for k in range(round(way.seconds / PERIOD)):
        q, v = plant.state
        if robot.model.floating and q[2] < 0.5 * start[2]:
            return Result(np.array(jumps), np.inf, k * PERIOD, failed, usual)
        if way.before is not None:
            way.before(k * PERIOD, controller)
        solution = controller.step(q, v, k * PERIOD)
        failed += solution.status == "failed"
        if before is not None:
            jumps.append(float(np.abs((solution.torque - before) / effort).max()))
        before = solution.torque
        plant.apply(solution.torque)
        plant.step()
    off = float(np.linalg.norm(np.array(controller.robot.pose(way.frame))[:3, 3] - home))
    return Result(np.array(jumps), off, None, failed, usual)


def ways_of(robot: wbc.Dynamics) -> dict[str, Way]:
    """The ways that suit a robot; none for one that neither stands nor reaches."""
    if robot.model.floating:
        return Legs(robot).ways() if robot.model.feet else {}
    return Arm(robot).ways()


def _files(names: list[str]) -> list[str]:
    found = []
    for name in names:
        folder = Path(name)
        found += sorted(str(file) for file in folder.glob("*.xml")) if folder.is_dir() else [name]
    return found


def main(names: list[str]) -> int:
    """Prints the table; gives how many ways fall short."""
    warnings.simplefilter("ignore")
    short = 0
    for name in _files(names) or PACKAGED:
        robot = wbc.load(name)
        for way, what in ways_of(robot).items():
            result = lead(robot, what)
            short += bool(result.short)
            print(f"{robot.model.name:12.12s} {way:30s} {result}  {result.short}", flush=True)
    return short


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
