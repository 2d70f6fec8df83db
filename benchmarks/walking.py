"""What the packaged humanoid and quadruped do when they walk: a row of docs/walking.md for each thing that is asked.

    python benchmarks/walking.py humanoid forward          # 30 s at 0.5 m/s
    python benchmarks/walking.py quadruped pushes          # eight directions, at several moments of a cycle
    python benchmarks/walking.py all                       # everything; it takes an hour

Rows: forward, sideways, turning, pushes, stairs, slope, bumps, starts (the stairs from other places, at other speeds),
mass, friction, delay, noise, together; of the quadruped also pace and walk. In MuJoCo at 1 kHz, on Pinocchio. A row is
printed as it comes; "bounds" is how often a torque was beyond its actuator or a contact's force outside its cone, by
the certificate of every tick. "Joints" is the least distance of a joint to its limits, "apart" that of two shapes of
the robot, looked at every 5 ms; what is negative is beyond.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

import wbc
from tasks.locomotion import Gait, Walk
from tasks.locomotion.gait import GAITS
from wbc.collision import CollisionGeometry
from wbc.simulation import Noise, Plant, Realism, Terrain, bumps, make_plant, slope, stairs
from wbc.simulation.fall import Fall

PERIOD = 1e-3
COMMANDS = {
    "humanoid": {"forward": (0.5, 0.0, 0.0), "sideways": (0.0, 0.15, 0.0), "turning": (0.0, 0.0, 0.4)},
    "quadruped": {
        "forward": (1.0, 0.0, 0.0),
        "sideways": (0.0, 0.4, 0.0),
        "turning": (0.0, 0.0, 1.0),
        "pace": (0.3, 0.0, 0.0),
        "walk": (0.3, 0.0, 0.0),
    },
}
PUSHES = {"humanoid": ("torso", 20.0, (0.4, 0.0, 0.0)), "quadruped": ("base", 30.0, (0.5, 0.0, 0.0))}
RISE = {"humanoid": 0.08, "quadruped": 0.10}
"""Of the stairs, m."""

Ground: TypeAlias = tuple[Terrain, bool, tuple[float, float, float]]
"""What is walked on, whether it is known, and the command."""

GROUND: dict[str, dict[str, Ground]] = {
    "humanoid": {
        "stairs": (stairs(0.8, RISE["humanoid"], 0.35, 3), True, (0.25, 0.0, 0.0)),
        "slope": (slope(0.8, 8.0, 1.5), False, (0.25, 0.0, 0.0)),
        "bumps": (bumps(0.5, 4.0, 0.02), False, (0.25, 0.0, 0.0)),
    },
    "quadruped": {
        "stairs": (stairs(0.8, RISE["quadruped"], 0.35, 3), True, (0.3, 0.0, 0.0)),
        "slope": (slope(0.8, 10.0, 1.5), False, (0.4, 0.0, 0.0)),
        "bumps": (bumps(0.6, 4.0, 0.03), False, (0.4, 0.0, 0.0)),
    },
}
NOISE = Noise(1e-4, 5e-3, 1e-3, 1e-3, 1e-2, 5e-3)


class Bounds:
    """What a robot comes near to while it walks: what its actuators, its contacts and its joints can do, and itself.

    Args:
        robot: of the controller.
    """

    def __init__(self, robot: wbc.Dynamics) -> None:
        self._robot = robot.copy()
        self._geometry = CollisionGeometry(self._robot)
        self.ticks = self.broken = self.relaxed = 0
        self.torque = 0.0
        self.joint, self.apart = (math.inf, ""), (math.inf, "")

    def look(self, solution: wbc.Solution, q: np.ndarray, effort: np.ndarray) -> None:
        """Takes a tick, and where the robot truly is."""
        margins = solution.certificate
        self.broken += margins.cone_margin < -1e-6 or margins.torque_margin < -1e-6
        self.torque = max(self.torque, float((np.abs(solution.torque) / effort).max()))
        self.relaxed += solution.status != "optimal"
        limits, joints = self._robot.limits, slice(-self._robot.na, None)
        room = np.minimum(q[joints] - limits.lower[joints], limits.upper[joints] - q[joints])
        nearest = int(room.argmin())
        self.joint = min(self.joint, (float(room[nearest]), self._robot.joint_names[nearest]))
        if self.ticks % 5 == 0:
            self._robot.update(q)
            pair = self._geometry.nearest(self._robot)[0]
            self.apart = min(self.apart, (pair.distance, f"{pair.first}, {pair.second}"))
        self.ticks += 1

    def __str__(self) -> str:
        (room, joint), (apart, pair) = self.joint, self.apart
        return (
            f"bounds {self.broken}, relaxed {self.relaxed} of {self.ticks}, torque up to {self.torque:.0%}, "
            f"joints {room:.3f} rad ({joint}), apart {1000 * apart:.0f} mm ({pair})"
        )


@dataclass
class Walked:
    """What came of a walk."""

    bounds: Bounds
    ended: str = "walks"
    q: list[np.ndarray] = field(default_factory=list)
    felt: dict[str, np.ndarray] = field(default_factory=dict)


def go(
    walk: Walk | Gait,
    controller: wbc.Controller,
    plant: Plant,
    start: float,
    duration: float,
    push: tuple[str, np.ndarray] | None = None,
    felt: dict[str, np.ndarray] | None = None,
    bounds: Bounds | None = None,
) -> Walked:
    """Runs a walk from a time on, without the cost of a log; a push is for its first 0.2 s."""
    fall = Fall(controller.robot.copy(), plant.true_state[0])
    found = Walked(Bounds(controller.robot) if bounds is None else bounds, felt=dict(felt or {}))
    names, effort = {contact.name for contact in controller.stack.contacts}, controller.robot.limits.effort
    for tick in range(round(duration / PERIOD)):
        t, (q, v) = start + PERIOD * tick, plant.state
        if plant.trouble or (tick % 20 == 0 and fall.has_fallen(plant.true_state[0])):
            found.ended = plant.trouble or f"falls after {tick * PERIOD:.1f} s"
            break
        walk(t, controller)
        solution = controller.step(q, v, t, measured=found.felt or None)
        found.bounds.look(solution, plant.true_state[0], effort)
        plant.apply(solution.torque)
        if push is not None:
            plant.push(push[0], push[1] * (tick * PERIOD < 0.2 - 1e-9))
        plant.step()
        found.felt = {name: force for name, force in plant.contact_forces.items() if name in names}
        found.q.append(plant.true_state[0])
    return found


def speeds(q: np.ndarray) -> np.ndarray:
    """Mean speed forward and to the left, m/s, and yaw rate, rad/s, in the heading's axes."""
    w, x, y, z = q[:, 3:7].T
    yaw = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    way, at = np.diff(q[:, :2], axis=0), yaw[:-1]
    forward = (np.cos(at) * way[:, 0] + np.sin(at) * way[:, 1]).sum()
    left = (np.cos(at) * way[:, 1] - np.sin(at) * way[:, 0]).sum()
    return np.array([forward, left, yaw[-1] - yaw[0]]) / ((len(q) - 1) * PERIOD)


def made(
    kind: str,
    command: tuple[float, float, float],
    terrain: Terrain | None = None,
    known: bool = False,
    realism: Realism | None = None,
    gait: str = "trot",
) -> tuple[Walk | Gait, wbc.Controller, Plant]:
    """A robot that walks, its controller, and its plant."""
    robot = wbc.load(kind, "pinocchio")
    height = terrain if known else None
    walk = Walk(robot, command, terrain=height) if kind == "humanoid" else Gait(robot, gait, command, terrain=height)
    controller = wbc.Controller(robot, walk.stack())
    return walk, controller, make_plant(robot, realism=realism, terrain=terrain)


def steady(kind: str, row: str, seconds: float, realism: Realism | None = None) -> str:
    """A command for a while: mean speeds after the first 3 s, in which it is taken up."""
    command = COMMANDS[kind].get(row, tuple(0.6 * v for v in COMMANDS[kind]["forward"]))
    gait = row if row in GAITS else "trot"
    found = go(*made(kind, command, realism=realism, gait=gait), 0.0, seconds)
    q = np.array(found.q)
    mean = speeds(q[min(3000, len(q) // 2) :]) if len(q) > 2 else np.zeros(3)
    asked, got = np.array(command), np.round(mean, 3)
    return f"{found.ended}; asked {tuple(asked.round(3).tolist())}, mean {tuple(got.tolist())}; {found.bounds}"


def pushed(kind: str, impulse: float | None = None, moments: int = 4) -> str:
    """Pushes in eight directions at moments spread over a cycle; 2 s are looked at after each."""
    frame, usual, command = PUSHES[kind]
    size = usual if impulse is None else impulse
    walk, controller, plant = made(kind, command)
    start, felt, held, lost, bounds = 2.0, {}, 0, [], Bounds(controller.robot)
    found = go(walk, controller, plant, 0.0, start, bounds=bounds)
    for _ in range(moments):
        felt = found.felt
        for degrees in range(0, 360, 45):
            way = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])
            copied = copy.deepcopy((walk, controller, plant))
            tried = go(*copied, start, 2.0, (frame, way * size / 0.2), felt, bounds)
            held += tried.ended == "walks"
            lost += [] if tried.ended == "walks" else [f"{degrees}° at {start:.2f} s ({tried.ended})"]
        step = round(walk.schedule.period / moments / PERIOD) * PERIOD
        found = go(walk, controller, plant, start, step, felt=felt, bounds=bounds)
        start += step
    return f"{size:g} N s: {held} of {8 * moments} held" + (f"; lost {', '.join(lost)}" if lost else "") + f"; {bounds}"


def over(kind: str, ground: Ground) -> str:
    """Ground that is not flat, from end to end."""
    terrain, known, command = ground
    end = max(patch.x[1] for patch in terrain.patches) + 0.4
    walk, controller, plant = made(kind, command, terrain, known)
    t, felt, bounds = 0.0, {}, Bounds(controller.robot)
    while t < 2.0 * end / command[0] + 3.0:
        found = go(walk, controller, plant, t, 0.5, felt=felt, bounds=bounds)
        t, felt = t + 0.5, found.felt
        if found.ended != "walks" or plant.true_state[0][0] > end:
            break
    at = float(plant.true_state[0][0])
    verdict = found.ended if found.ended != "walks" else "over it" if at > end else "stuck"
    return f"{verdict} at x = {at:.2f} of {end:.2f} m after {t:.1f} s; {bounds}"


def starts(kind: str) -> str:
    """The stairs six times, each time 3 cm further away and at another speed: feet come to their edges otherwise."""
    rise, (speed, *rest) = RISE[kind], GROUND[kind]["stairs"][2]
    slower = [(1.0 - 0.03 * (k % 3)) * speed for k in range(6)]
    return " | ".join(
        over(kind, (stairs(0.8 + 0.03 * k, rise, 0.35, 3), True, (v, *rest))) for k, v in enumerate(slower)
    )


def rows(kind: str, asked: str, seconds: float) -> Iterator[tuple[str, str]]:
    """The rows that were asked for."""
    real = {
        "mass": [Realism(mass=1.1), Realism(mass=0.9)],
        "friction": [Realism(friction=0.5)],
        "delay": [Realism(delay=3e-3)],
        "noise": [Realism(noise=NOISE)],
        "together": [Realism(mass=1.1, friction=0.5, delay=3e-3, noise=NOISE)],
    }
    names = [*COMMANDS[kind], "pushes", *GROUND[kind], "starts", *real] if asked == "all" else [asked]
    for name in names:
        if name in COMMANDS[kind]:
            yield name, steady(kind, name, seconds)
        elif name == "pushes":
            yield name, pushed(kind)
        elif name in GROUND[kind]:
            yield name, over(kind, GROUND[kind][name])
        elif name == "starts":
            yield name, starts(kind)
        else:
            yield name, " | ".join(steady(kind, name, min(seconds, 6.0), realism) for realism in real[name])


def main() -> None:
    """Prints rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", choices=["humanoid", "quadruped", "all"])
    parser.add_argument("row", nargs="*", default=["all"])
    parser.add_argument("--seconds", type=float, default=30.0, help="of a command")
    given = parser.parse_args()
    for kind in ("humanoid", "quadruped") if given.robot == "all" else (given.robot,):
        for asked in given.row:
            began = time.process_time()
            for name, told in rows(kind, asked, given.seconds):
                print(f"{kind} {name}: {told} [{time.process_time() - began:.0f} s of CPU]", flush=True)


if __name__ == "__main__":
    main()
