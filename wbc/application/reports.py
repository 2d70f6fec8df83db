"""What the command line shows of robots, runs and timings, as renderables of `rich`; nothing is printed here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from wbc.arrays import Array
from wbc.model import Actuator, Joint, JointCoupling, LoopClosure, Model
from wbc.model.model import WORLD
from wbc.sweeps.table import command, why

if TYPE_CHECKING:
    from wbc.application import Comparison
    from wbc.application.bench import Timing
    from wbc.application.trial import Trial
    from wbc.collision import CollisionGeometry
    from wbc.simulation.log import Log
    from wbc.sweeps.table import Table as Sweep

ROUNDING = 1e-9
"""Margins below this are zero: N, N m."""

MOST = 20
"""Values of a parameter that are listed one by one."""

NONE = "-"
"""Stands for a limit that does not exist and for a value of zero that is usual."""


def overview(models: Iterable[Model]) -> Table:
    """One line a robot."""
    table = _table("robot", "base", ">joints", ">velocities", ">mass [kg]", "feet and wheels", "hands")
    for model in models:
        table.add_row(
            Text(model.name, "bold"),
            _base(model),
            str(len(model.joint_names)),
            str(model.nv),
            f"{model.mass:.4g}",
            Text(", ".join([*model.feet, *model.wheels]) or NONE),
            Text(", ".join(model.hands) or NONE),
        )
    return table


def summary(model: Model) -> Text:
    """Base, mass and dimensions."""
    return Text.assemble(
        (model.name, "bold"),
        f": {_base(model)} base, {_count(len(model.joint_names), 'joint')} that {_verb(len(model.joint_names))}, "
        f"{model.mass:.4g} kg; nq = {model.nq} coordinates, nv = {model.nv} velocities, na = {model.na} actuators",
    )


def tree(model: Model) -> Tree:
    """The bodies as they hang on each other, each with the joint that carries it; fixed ones are dim."""
    root = Tree(Text(WORLD, "dim"), guide_style="dim")
    branches = {WORLD: root}
    for joint in model.joints.values():
        body = model.bodies[joint.child]
        label = Text("(between two joints)" if body.virtual else body.name, "dim italic" if body.virtual else "bold")
        axis = f" about {_direction(joint.axis)}" if joint.kind in ("revolute", "continuous") else ""
        if joint.kind in ("prismatic", "planar"):
            axis = f" {'along' if joint.kind == 'prismatic' else 'across'} {_direction(joint.axis)}"
        label.append(f"  {joint.name}: {joint.kind}{axis}", "not bold cyan" if joint.nv else "not bold")
        if body.mass:
            label.append(f"  {body.mass:.4g} kg", "not bold")
        if not joint.nv:
            label.stylize("dim not bold")
        branches[joint.child] = branches[joint.parent].add(label)
    return root


def joints(model: Model) -> Table:
    """The joints that move, in the order of the velocity, with what limits and slows them."""
    table = _table(
        ">v",
        "joint",
        "kind",
        ">from",
        ">to",
        "unit",
        ">speed",
        ">effort",
        ">damping",
        ">friction",
        ">armature",
        "actuated",
    )
    for joint in model.joints.values():
        if not joint.nv:
            continue
        first = model.v_index[joint.name]
        values = (joint.damping, joint.friction, joint.armature)
        table.add_row(
            str(first) if joint.nv == 1 else f"{first}-{first + joint.nv - 1}",
            Text(joint.name),
            joint.kind,
            *(_number(value) for value in (joint.lower, joint.upper)),
            _unit(joint),
            *(_number(value) for value in (joint.velocity, joint.effort)),
            *(_number(value) if value else NONE for value in values),
            "yes" if joint.actuated else "no",
            style=None if joint.actuated else "dim",
        )
    return table


def frames(model: Model) -> Text:
    """The names that stand for frames; which of them are feet, wheels and hands."""
    text = Text()
    ends = (("feet", model.feet), ("wheels", tuple(model.wheels)), ("hands", model.hands))
    for title, names in (("frames", model.frame_names), *ends):
        if names:
            text.append(f"{title} ({len(names)}): ", "bold").append(", ".join(names) + "\n")
    text.rstrip()
    return text


def collisions(geometry: CollisionGeometry) -> Text:
    """The shapes that may collide, and how many pairs of them can meet."""
    kinds = Counter(solid.kind for solid in geometry.solids.values())
    shapes = ", ".join(
        _count(number, kind).replace("boxs", "boxes").replace("convexs", "convex")
        for kind, number in sorted(kinds.items())
    )
    text = Text.assemble(
        ("collisions: ", "bold"),
        f"{_count(len(geometry.solids), 'shape')}{f' ({shapes})' if shapes else ''}, "
        f"{_count(len(geometry.pairs), 'pair')} of them can meet",
    )
    for note in geometry.notes:
        text.append(f"\n  {note}", "dim")
    return text


def beside_the_tree(model: Model) -> Text:
    """What drives joints beside their own motors, and what closes loops."""
    text = Text()
    for title, things in (("further actuators", model.actuators), ("closed loops and couplings", model.loops)):
        if things:
            text.append(f"{title} ({len(things)}): ", "bold").append("; ".join(map(_acts, things)) + "\n")
    text.rstrip()
    return text


def _acts(thing: Actuator | LoopClosure | JointCoupling) -> str:
    """The name of an actuator or loop, and between what it acts."""
    if isinstance(thing, LoopClosure):
        return f"{thing.name}, {thing.a} on {thing.b} ({', '.join(thing.held)})"
    if isinstance(thing, JointCoupling):
        return f"{thing.name}, {' and '.join([*thing.joints, *thing.follows])} go together"
    return f"{thing.name}, on {' and '.join([*thing.joints] or [thing.frame])}"


def run(log: Log, figures: Mapping[str, str] | None = None) -> Table:
    """How a run went: one line each for what matters.

    Args:
        log: of the run.
        figures: what else there is to say, by title.
    """
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 3, 0, 0))
    ended = log.ended or "the file is incomplete"
    if not len(log):
        table.add_row("run", f"{log.robot}: no ticks; {ended}")
        return table
    table.add_row("run", Text(f"{log.robot}: {log.time[-1]:.2f} s, {len(log)} ticks; {ended}"))
    table.add_row("statuses", ", ".join(f"{log.status.count(one)} {one}" for one in dict.fromkeys(log.status)))
    if log.ill is not None:
        table.add_row("health", Text(log.health()))
    for title, words in (figures or {}).items():
        table.add_row(Text(title), Text(words))
    if log.q.shape[1] > log.v.shape[1]:
        away = np.linalg.norm(log.q[:, :3] - log.q[0, :3], axis=1)
        table.add_row("base", f"{_length(away.max())} from where it began at the most, {_length(away[-1])} at the end")
    if np.isfinite(log.cost).all():  # a loop in real time has no time to compute them
        levels = ", ".join(_small(cost) for cost in np.sqrt((log.cost**2).mean(axis=0)))
        table.add_row("residual by level", f"{levels} (root mean square)")
    if np.isfinite([log.cone_margin.min(), log.torque_margin.min()]).any():  # without forces there are no margins
        cone = f"{_small(log.cone_margin.min())} N in the friction cones, " if log.contacts else ""
        table.add_row("least margins", f"{cone}{_small(log.torque_margin.min())} N m of torque")
    return table


def trial(tried: Trial) -> Table:
    """How a robot was tried: what was found in its file, and how well it went.

    Args:
        tried: the trial.
    """
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 3, 0, 0))
    verb = {"legs": "stood", "wheels": "drove"}.get(tried.kind, "held")
    verdict = tried.ended if not tried.stood else verb if tried.followed else f"{verb}, but did not follow"
    table.add_row("verdict", Text(f"{tried.robot}: {verdict}", "bold"))
    for title, words in tried.found.items():
        table.add_row(title, Text(words))
    if tried.radius:
        way = (
            "forward and back, or round a loop where its wheels allow it," if tried.kind == "wheels" else "round a loop"
        )
        table.add_row("moved", Text(f"{tried.moved}, {way} of {_length(tried.radius)} radius"))
    for title, value in tried.figures.items():
        words = f"{value:.3g}"
        if title.startswith("tick,"):
            words = f"{1e3 * value:.3f} ms"
        elif title.startswith("off"):
            words = {"m": _length(value), "rad": f"{value:.3g} rad or m"}.get(tried.unit, f"{value:.3g} {tried.unit}")
        elif title.startswith("ticks"):
            words = f"{value:.0f}"
        table.add_row(title, words)
    if tried.health:
        table.add_row("health", Text(tried.health))
    return table


def ticks(log: Log, name: str = "controller.step", beside: Iterable[Comparison] = ()) -> Table:
    """How long ticks took, against the control period.

    Args:
        log: of the run.
        name: of what ran.
        beside: what saw the same states, if anything did.
    """
    period = float(np.median(np.diff(log.time))) if len(log) > 1 else math.nan
    others = list(beside)
    title = f">over {1e3 * period:g} ms" if len(log) > 1 else ">late"
    table = _table("tick", ">median", ">99 %", ">longest", title, *(["torques differ by"] if others else []))
    found: list[tuple[str, Array, str]] = [(name, log.tick_time, "")]
    found += [(one.name, np.array(one.times), f"{one.torque:.1e} N m") for one in others]
    for what, times, differ in found:
        if len(times):
            ms = (1e3 * value for value in (np.median(times), np.percentile(times, 99), times.max()))
            late = f"{100 * float((times > period).mean()):.2f} %"
            table.add_row(what, *(f"{value:.3f} ms" for value in ms), late, *([differ] if others else []))
    return table


def comparison(found: list[Comparison]) -> Table:
    """Controllers on the same states.

    Args:
        found: the first one ran; the others are compared with it.
    """
    levels = [f"level {level}" for level in range(len(found[0].cost))]
    table = _table("solver", "torque differs [N m]", *levels, "broke", "tick [ms]")
    for one in found:
        broke = ", ".join(f"{task} ({count} ticks)" for task, count in one.violated.items()) or NONE
        costs = [f"{cost:.1e}" if math.isfinite(cost) else NONE for cost in one.cost]
        table.add_row(one.name, f"{one.torque:.2e}", *costs, broke, f"{1e3 * np.median(one.times):.3f}")
    return table


def timings(found: list[Timing], peers: Mapping[str, float] | None = None) -> Table:
    """Ticks of controllers, each with its ratio to the first of its scene.

    Args:
        found: in order.
        peers: what else to give ratios to: time in s, by scene.
    """
    parts = ("backend", "tasks", "solver", "rest")
    ratios = [">ratio", *([">x TSID"] if peers else [])]
    columns = (">median", ">99 %", *ratios, *(f">{part}" for part in parts), ">steps", "statuses")
    table = _table("robot", "solver", "backend", *columns)
    firsts: dict[str, float] = {}
    for one in found:
        median = float(np.median(one.times))
        cells = [f"{1e6 * median:.1f} µs", f"{1e6 * np.percentile(one.times, 99):.1f} µs"]
        cells.append(f"{median / firsts.setdefault(one.scene, median):.2f}")
        if peers:
            cells.append(f"{median / peers[one.scene]:.2f}" if one.scene in peers else NONE)
        cells += [f"{1e6 * part:.1f}" for part in one.parts]
        told = ", ".join(f"{count} {status}" for status, count in one.statuses.items())
        table.add_row(one.scene, one.solver, one.backend, *cells, f"{one.steps:.0f}", told)
    return table


def sweep(table: Sweep) -> list[Table | str]:
    """What came of a sweep: the share that finished, by each parameter, and the worst cases.

    Args:
        table: its rows.
    """
    parts: list[Table | str] = []
    for name, values in table.varied.items():
        if len(values) > MOST:  # drawn at random, or too fine to be read
            continue
        shares = _table(name, ">finished", ">of", ">share", "95 %")
        for (value,), found in table.shares(name).items():
            interval = f"{100 * found.low:.0f} to {100 * found.high:.0f} %"
            shares.add_row(
                Text(f"{value:g}" if isinstance(value, float) else str(value)),
                str(found.finished),
                str(found.cases),
                f"{100 * found.share:.1f} %",
                interval,
            )
        parts += [shares, ""]
    worst = _table("worst", "why", ">time [s]", ">margin [N]", ">margin [N m]", "again with")
    for row in table.worst():
        numbers = (row.get(name) for name in ("time", "cone_margin", "torque_margin"))
        cells = (NONE if value is None else f"{value if abs(value) > ROUNDING else 0.0:.3g}" for value in numbers)
        reason = Text("" if row["kind"] == "fell" else why(row))
        worst.add_row(row["kind"], reason, *cells, Text(command(table, row)))
    return [*parts, worst]


def _table(*columns: str) -> Table:
    """An empty table; a ">" before its title aligns a column to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in columns:
        right = title.startswith(">")
        table.add_column(title.removeprefix(">"), justify="right" if right else "left", overflow="fold")
    return table


def _base(model: Model) -> str:
    return "floating" if model.floating else "fixed"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _verb(number: int) -> str:
    return "moves" if number == 1 else "move"


def _number(value: float) -> str:
    """A limit; none where it is infinite."""
    return f"{value:.4g}" if math.isfinite(value) else NONE


def _length(value: float) -> str:
    return f"{value:.2f} m" if value >= 1.0 else f"{1e3 * value:.2f} mm"


def _small(value: float) -> str:
    """A number that may be what rounding leaves of zero."""
    return f"{value:.3g}" if abs(value) > 1e-9 else "0"


def _unit(joint: Joint) -> str:
    return {"prismatic": "m", "planar": "m, rad", "floating": "m, rad"}.get(joint.kind, "rad")


def _direction(axis: Array) -> str:
    """An axis by name where it has one."""
    for index, name in enumerate("xyz"):
        for sign in (1.0, -1.0):
            if np.allclose(axis, sign * np.eye(3)[index], atol=1e-9):
                return name if sign > 0 else f"-{name}"
    return "(" + " ".join(f"{value:.3g}" for value in axis) + ")"
