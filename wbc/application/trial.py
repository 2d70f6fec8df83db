"""A robot is tried: it stands or holds its arm, goes round a small loop, and is pushed. What `wbc try` runs."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import wbc
from tasks import stacks
from wbc.application import rolling
from wbc.application.beginning import FREE, capture, goes, in_a_fit_posture, on_the_ground, refuse_several, refuse_unfit
from wbc.application.round import AROUND, LOOP, Loop, in_reach, reaches
from wbc.arrays import Array
from wbc.control.controller import Controller
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning
from wbc.scenes import default_simulator
from wbc.simulation.log import Log
from wbc.simulation.loop import Push
from wbc.simulation.plant import Plant
from wbc.simulation.scene import Scene, make_plant

WITHOUT = ("overlaps", "play", "objects")
"""What a trial does without: contacts of parts that are inside of each other push a robot that nobody pushes; and
joints that a tendon couples but for a little play do not move freely; and the robot is pushed, not what lies about."""

PERIOD = 1e-3
"""Of the control, s."""

PUSHED, PUSHING, SHARE = 3.5, 0.2, 0.2
"""When the push begins, how long it lasts, s, and its force as a share of the weight."""

HELD = 0.5
"""Share of what a hand's motors can hold that it is pushed with at the most."""

END = 5.5
"""Of the trial, s."""

RADIUS = {"base": 0.06, "center of mass": 0.025, "hand": 0.06}
"""Of the loop, as a share of the robot's height, or of the way from the base of an arm to its hand."""

UNREAD = "collision meshes not read"
"""How the warning of a model begins whose shapes are not all known."""

NEAR = 0.02
"""Twice what a robot may be off that goes round no loop, m."""

LOW = 10.0
"""A hand that is less high than so many radii of its loop goes up in it."""


@dataclass
class Trial:
    """How a robot was tried.

    Attributes:
        robot: its name.
        kind: "legs", "wheels", "arm" or "joints".
        found: what there is in the file, and what was chosen, by title.
        moved: what was moved round the loop: a base, hands, or the centre of mass; empty for joints.
        unit: of what is off: "m", "m/s" of a base on wheels, which returns to no place, or "rad" of joints.
        radius: of the loop, m.
        figures: numbers, by what they are; distances in m, times in s.
        ended: how the run ended.
        stood: whether it went on to the end.
        followed: whether it came round the loop, and back after the push.
        health: what the log says of its ticks.
        log: of the run.
        scene: that was run.
        frames: that went round the loop: none of joints, or of the centre of mass.
    """

    robot: str
    kind: str
    found: dict[str, str]
    moved: str
    unit: str
    radius: float
    figures: dict[str, float] = field(default_factory=dict)
    ended: str = ""
    stood: bool = False
    followed: bool = False
    health: str = ""
    log: Log | None = None
    scene: Scene | None = None
    frames: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """What a program wants to read: no arrays, no objects."""
        names = ["robot", "kind", "found", "moved", "unit", "radius"]
        names += ["figures", "ended", "stood", "followed", "health"]
        return {name: getattr(self, name) for name in names}


def try_robot(
    file: str,
    *,
    simulator: str = "",
    seconds: float = END,
    record: Path | None = None,
    **options: Any,  # noqa: ANN401  those of load
) -> Trial:
    """Tries a robot: what a file of any kind leads to is a trial, or one kind of error.

    Args:
        file: whatever `wbc.load` takes.
        simulator: "mujoco" or "builtin"; empty: MuJoCo where it is installed.
        seconds: of simulated time.
        record: file to write the log to.
        options: of `wbc.load`.

    Raises:
        WbcError: it can't be tried.
    """
    try:
        return _try(file, simulator, seconds, record, options)
    except WbcError as error:
        if str(file) in str(error):
            raise
        raise WbcError(f"{file}: {error}") from error
    except Exception as error:  # nobody's file should end in a traceback
        raise WbcError(f"{file}: it can't be tried: {type(error).__name__}: {error}") from error


def _try(file: str, simulator: str, seconds: float, record: Path | None, options: dict[str, Any]) -> Trial:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", WbcWarning)
        options = {**options, "ignore": (*options.get("ignore", ()), *WITHOUT)}
        robot = wbc.load(file, **options)
        unusual = [str(warning.message).removeprefix(f"{file}: ") for warning in caught]
        unread = [text for text in robot.model.warnings if text.startswith(UNREAD) and text not in unusual]
        found = describe(robot, unusual + unread)
        if not robot.na:
            raise WbcError(f"{file}: no actuator drives a joint, so it can't be controlled")
        refuse_several(robot, file)
        because = f"; {unread[0]}" if unread else ""
        refuse_unfit(robot, file, because)
        robot = in_a_fit_posture(robot, file, found, options)
        robot = on_the_ground(robot, file, found, options)
        wheeled = rolling.rolls(robot)
        if robot.model.floating and not robot.model.feet and not wheeled:
            if not any(robot.model.drives(name) for name in robot.model.joints):
                raise WbcError(
                    f"{file}: it flies: its {robot.na} actuators push or turn its base, and no joint has a motor; a "
                    "trial is for what stands, rolls or holds an arm. What hovers is a stack with "
                    f"tasks.EndEffectorAcceleration({robot.model.root!r})"
                )
            raise WbcError(f"{file}: no feet or wheels were found: name its feet (--feet){because}")
        stack = rolling.stack(robot, PERIOD) if wheeled else stacks.standing(robot, period=PERIOD)
        plant = _plant(robot, simulator or default_simulator())
        controller = Controller(robot, stack, period=PERIOD)
    trial = _plan(robot, controller, found)
    scene = _scene(robot, controller, plant, trial, seconds)
    log = scene.run(record=record)
    _judge(trial, robot, log, scene)
    return trial


def describe(robot: Dynamics, unusual: list[str]) -> dict[str, str]:
    """What there is in a robot's file, by title.

    Args:
        robot: of `wbc.load`.
        unusual: warnings about its file.
    """
    model = robot.model
    base = f"{model.root} floats" if model.floating else "fixed"
    found = {"base": base, "mass": f"{model.mass:.4g} kg", "motors": f"{model.na} on {len(model.joint_names)} joints"}
    if model.feet:
        feet = [f"{foot} ({'sole' if foot in model.soles else 'point'})" for foot in model.feet]
        found["feet"] = ", ".join(feet)
    if model.wheels:
        found["wheels"] = ", ".join(model.wheels)
    for note in model.notes:
        if note.startswith("wheels: "):
            found["wheels"] = note.removeprefix("wheels: ")
    if "wheels" in found and not model.floating and model.simulated is None:
        found["base"] += ": its wheels turn in the air; --floating lets it drive on them"
    if model.hands:
        found["hands"] = ", ".join(model.hands)
    if unusual:
        found["unusual"] = "; ".join(unusual)
    return found


def _plant(robot: Dynamics, simulator: str) -> Plant:
    m = robot.model.simulated
    if m is None or simulator != "mujoco":
        return make_plant(robot, simulator, timestep=PERIOD)
    own = float(m.opt.timestep)
    fits = own <= PERIOD and abs(round(PERIOD / own) * own - PERIOD) < 1e-12
    return make_plant(robot, simulator, timestep=own if fits else PERIOD)


def _plan(robot: Dynamics, controller: Controller, found: dict[str, str]) -> Trial:
    """What is moved, and by how much."""
    model, posed = robot.model, robot.copy()
    posed.update(model.nominal)
    kind, moved, unit, radius = "joints", "", "rad", 0.0
    frames: tuple[str, ...] = ()
    if rolling.rolls(robot):
        kind, moved, unit, radius = "wheels", model.root, "m/s", rolling.radius(controller)
    elif model.floating:
        unit = "m"
        kind = "legs"
        names = [task.name for task in controller.stack]
        moved = "base" if "base" in names else "center of mass"
        frames = (model.root,) if moved == "base" else ()
        radius = RADIUS[moved] * float(posed.com[2] - min(posed.pose(foot)[2, 3] for foot in model.feet))
        if moved == "base" and not (goes(posed, 2) and (goes(posed, 0) or goes(posed, 1))):
            found["no loop"] = f"the feet stay, and {model.root} has no way to go without turning: legs have few joints"
            radius = 0.0
    elif frames := tuple(hand for hand in model.hands if reaches(robot, hand)):
        kind, moved, unit = "arm", ", ".join(frames), "m"
        root = model.root if model.root in model.frame_names else "world"
        start = posed.pose(root)[:3, 3]
        reach = min(float(np.linalg.norm(posed.pose(hand)[:3, 3] - start)) for hand in frames)
        radius = min(0.05, RADIUS["hand"] * reach)
    trial = Trial(model.name, kind, found, moved, unit, radius, frames=frames)
    if kind == "arm":
        loop = lambda hand, size: _loop(posed, controller, trial, hand, size)  # noqa: E731
        trial.radius, trial.frames = in_reach(robot, radius, loop, frames)
        trial.moved = ", ".join(trial.frames)
        if not trial.frames:
            trial.kind, trial.unit, trial.radius = "joints", "rad", 0.0
    if held := [hand for hand in model.hands if kind in ("arm", "joints") and hand not in trial.frames]:
        found["held"] = f"{', '.join(held)}: no loop is in reach there"
    return trial


def _loop(posed: Dynamics, controller: Controller, trial: Trial, frame: str, radius: float) -> Loop:
    """The loop of a frame: of its pose, or of its place where its task leaves the rotation open."""
    home = posed.pose(frame).copy()
    if "rx" not in _task(controller, trial, frame).axes:
        home = home[:3, 3]
    return Loop(home, radius, _side(posed, trial, frame), _upwards(posed, trial))


def _scene(robot: Dynamics, controller: Controller, plant: Plant, trial: Trial, seconds: float) -> Scene:
    model, posed = robot.model, robot.copy()
    posed.update(model.nominal)
    if trial.kind == "wheels":
        drive: Any = controller.stack[rolling.TASK]
        drive.target = _way(controller, trial).target
    elif trial.moved == "center of mass":
        balance: Any = controller.stack[trial.moved]
        balance.target = Loop(posed.com.copy(), trial.radius, _side(posed, trial)).target
    for frame in trial.frames:
        _task(controller, trial, frame).target = _loop(posed, controller, trial, frame, trial.radius).target
    weight = SHARE * 9.81 * model.mass
    body = model.root if trial.kind != "arm" else trial.frames[0]
    if trial.kind == "joints":
        # a body with several joints is fixed to the last of them
        ends = sorted(model.joints.values(), key=lambda joint: joint.nv > 0)
        body = next(joint.child for joint in reversed(ends) if joint.child in model.frame_names)
    aside = np.array([0.0, 1.0, 0.0])
    if trial.kind == "arm":
        aside = _side(posed, trial)
        weight = min(SHARE * 9.81 * _carried(posed), HELD * _strength(posed, body, aside))
    push = Push(body, tuple(weight * aside), PUSHED, PUSHING)
    phases = [
        (0.0, "stands" if model.floating else "holds"),
        (LOOP, "goes round a loop" if trial.radius else "keeps its place"),
        (LOOP + AROUND, "holds"),
    ]
    phases += [(PUSHED, f"is pushed, {weight:.3g} N"), (PUSHED + PUSHING, "recovers")]
    return Scene(controller, plant, seconds, disturbances=[push], phases=phases)


def _carried(posed: Dynamics) -> float:
    """The mass of a robot with arms, kg, without a base that slides over the ground: no arm carries that."""
    mass = posed.model.mass
    for body in posed.model.bodies.values():
        if body.mass and body.name in posed.frames:
            J = posed.jacobian(body.name)
            slides = (np.abs(J[:2]).max(axis=0) > FREE) & (np.abs(J[3:]).max(axis=0) < FREE)
            if slides.any() and np.abs(J[2:5]).max() < FREE:
                mass -= body.mass
    return mass


def _strength(posed: Dynamics, hand: str, aside: Array) -> float:
    """The force on a hand, N, that its motors can hold at rest, beside the weight that they carry already."""
    motors = posed.model.actuated
    limits = posed.limits.effort[: len(motors)]
    levers = np.abs(aside @ posed.jacobian(hand)[:3, motors])
    left = np.maximum(limits - np.abs(posed.gravity_force[motors]), 0.0)
    moved = levers > FREE
    return float((left[moved] / levers[moved]).min(initial=np.inf))


def _way(controller: Controller, trial: Trial) -> rolling.Way:
    drive: Any = controller.stack[rolling.TASK]
    return rolling.Way(trial.radius, "y" in drive.axes, LOOP, AROUND)


def _task(controller: Controller, trial: Trial, frame: str) -> Any:  # noqa: ANN401  a task with axes
    return controller.stack["base" if trial.moved == "base" else frame]


def _side(posed: Dynamics, trial: Trial, frame: str = "") -> Array:
    """Where the loop goes first: to the left, but forward where that can't be, or along the plane that an arm is in."""
    if trial.kind == "arm":
        ways, sizes, _ = np.linalg.svd(posed.jacobian(frame or trial.frames[0])[:2])
        if sizes[1:].sum() < 1e-6 * sizes[0]:
            return np.array([*(ways[:, 0] if ways[:, 0].sum() > 0.0 else -ways[:, 0]), 0.0])
        return np.array([0.0, 1.0, 0.0])
    # legs without a joint that rolls them can't sway to the side
    aside = trial.moved != "center of mass" and (not posed.model.feet or goes(posed, 1))
    return np.array([0.0, 1.0, 0.0] if aside else [1.0, 0.0, 0.0])


def _upwards(posed: Dynamics, trial: Trial) -> float:
    """1 where the loop is to go up, since a hand is low and the ground near; -1 where it goes down."""
    if trial.kind != "arm":
        return -1.0
    low = min(posed.pose(hand)[2, 3] for hand in trial.frames)
    return 1.0 if low < LOW * trial.radius else -1.0


def _judge(trial: Trial, robot: Dynamics, log: Log, scene: Scene) -> None:
    """Puts down how it went."""
    trial.log, trial.scene, trial.ended = log, scene, log.ended
    trial.stood = log.ended == "finished"
    trial.health = log.health()
    trial.figures["tick, median"] = float(np.median(log.tick_time)) if len(log) else math.nan
    trial.figures["ticks that were not optimal"] = float(sum(status != "optimal" for status in log.status))
    if not len(log):
        return
    if trial.kind == "legs" and not trial.stood and log.time[-1] > PUSHED:
        trial.found["push"] = _beyond(robot, scene)
    off, limit = _deviation(trial, robot, log, scene), _limit(trial)
    parts = {
        "off while it stands": (0.5, LOOP),
        "off on the loop": (LOOP, LOOP + AROUND),
        "off after the push": (PUSHED, log.time[-1] + 1.0),
    }
    for title, (start, end) in parts.items():
        during = (log.time >= start) & (log.time < end)
        if during.any():
            trial.figures[title] = float(off[during].max())
    trial.figures["off at the end"] = float(off[-1])
    loop = trial.figures.get("off on the loop", 0.0)
    trial.followed = trial.stood and loop < limit and trial.figures["off at the end"] < limit


def _beyond(robot: Dynamics, scene: Scene) -> str:
    """What a push asks of feet that don't step."""
    posed, push = robot.copy(), next(iter(scene.disturbances))
    posed.update(robot.model.nominal)
    needed, room = capture(posed, push)
    verdict = "it can't be taken without a step" if needed > room else f"it takes {100 * needed / room:.0f} % of them"
    return (
        f"without a step, a pendulum's centre of pressure has to go {1e3 * needed:.0f} mm to the side for it, and the "
        f"feet end at {1e3 * room:.0f} mm: {verdict}"
    )


def _limit(trial: Trial) -> float:
    """How far off it may be on the loop and at the end: half of the loop's radius or speed; or 0.1 rad."""
    if trial.kind == "wheels":
        assert trial.scene is not None
        return _way(trial.scene.controller, trial).fastest / 2  # type: ignore[arg-type]
    return (trial.radius or NEAR) / 2 if trial.moved else 0.1


def _deviation(trial: Trial, robot: Dynamics, log: Log, scene: Scene) -> Array:
    """How far off what is moved was, or the worst joint, in the unit of the trial, shape (ticks,)."""
    if trial.kind == "wheels":
        return rolling.deviation(robot, log, _way(scene.controller, trial))  # type: ignore[arg-type]
    posed, off = robot.copy(), np.zeros(len(log))
    if not trial.moved:
        model = robot.model  # what has no motor of its own moves as loops and springs make it
        held = [model.v_index[name] for name in robot.joint_names if model.drives(name)]
        worst: Array = np.abs([robot.difference(model.nominal, q)[held] for q in log.true_q]).max(axis=1)
        return worst
    controller: Any = scene.controller
    targets = {frame: _task(controller, trial, frame).target for frame in trial.frames}
    for tick, (t, q) in enumerate(zip(log.time, log.true_q, strict=True)):
        posed.update(q)
        if not targets:
            off[tick] = np.linalg.norm(controller.stack[trial.moved].target(float(t))[0] - posed.com)
        for frame, target in targets.items():
            wanted = target(float(t))[0]
            away = (wanted if wanted.shape == (3,) else wanted[:3, 3]) - posed.pose(frame)[:3, 3]
            off[tick] = max(off[tick], np.linalg.norm(away))
    return off
