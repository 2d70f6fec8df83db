"""Draws the way of a tick from the code's own names, and writes the tables of docs/architecture.md.

usage: python scripts/draw_architecture.py [--check]

A name that is not in the code any more is an error, and so is a call that is not made any more. With --check nothing is
written, and a picture or a page that is out of date is an error too.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import sys
import textwrap
import tomllib
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this tree, whatever is installed
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "pictures" / "architecture.svg"


class Station(NamedTuple):
    """A box of the picture.

    Attributes:
        name: of a class, method or function, with its module.
        words: what happens there.
        column: 0 is the way of a tick, 1 is what it asks for.
        row: from the top.
        calls: names that its code must have: what it hands on to.
    """

    name: str
    words: str
    column: int
    row: int
    calls: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name without its module."""
        parts = self.name.split(".")
        first = next((number for number, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
        return ".".join(parts[first:])


WAY = (
    Station(
        "wbc.control.controller.Controller.step",
        "state in, torques out: the whole tick on one page",
        0,
        0,
        (
            "update",
            "tick",
            "MotionEquation.of",
            "_lay_out",
            "parts_or_error",
            "adopt",
            "_solve",
            "_clip",
            "command",
            "Solution",
            "note",
        ),
    ),
    Station("wbc.dynamics.base.Dynamics.update", "sets the robot to its state: q and v", 0, 1),
    Station(
        "wbc.control.ticker.Ticker.tick",
        "advances the ramps; freezes the moment in a Tick",
        0,
        2,
        ("schedule.advance", "support.advance", "_at"),
    ),
    Station("wbc.tasking.tick.Tick", "layout of x, time, period, last torque, contacts; frozen", 1, 2),
    Station("wbc.control.equation_of_motion.MotionEquation.of", "M v̇ + h = Sᵀ τ + Jᵀ f, in one place", 0, 3),
    Station("wbc.control.program.Program.parts", "the rows of every task that is switched on", 0, 4, ("rows", "Part")),
    Station("wbc.tasking.task.Task.rows", "lower ≤ A x ≤ upper in x = (v̇, f, τ)", 1, 4),
    Station(
        "wbc.control.controller.Controller._solve",
        "one problem a tick, within the deadline",
        0,
        5,
        ("solve",),
    ),
    Station("wbc.control.pulls.Pulls.bound", "K: the bound on the pull of a level", 1, 5),
    Station(
        "wbc.control.compiled_solving.CompiledSolving.solve",
        "physics, levels and search in one call of the kernel",
        0,
        6,
        ("_call",),
    ),
    Station(
        "wbc.control.level_solving.LevelSolving.solve",
        "eliminates physics in numpy, for all other solvers",
        1,
        6,
        ("basis", "hierarchy_of", "bound", "ask", "expand"),
    ),
    Station(
        "wbc.control.command_limits.Clip.__call__",
        "clips torques to the actuators' limits",
        0,
        7,
        ("forces_within", "moved"),
    ),
    Station("wbc.solvers.base.Solver.solve", "levels in, an Answer out: no robotics", 1, 7),
    Station("wbc.control.fallback.command", "x, or a safe torque if the tick failed", 0, 8, ("fallback_torque",)),
    Station(
        "wbc.control.solution.Solution",
        "torque and status; certificate and explain() on demand",
        0,
        9,
        ("certify", "MotionEquation.of"),
    ),
    Station("wbc.control.ticker.Ticker.note", "remembers the torque and the contact forces", 0, 10),
)

ACROSS = ((2, 3), (5, 6), (7, 8), (8, 10), (10, 12))
"""Arrows beside those down the first column: from which station to which."""

DOWN = (0, 1, 2, 4, 5, 7, 9, 11, 13, 14, 15)
"""The stations of the first column, in their order."""

LAYERS = {
    "wbc.application": "the command line, reports, pictures, videos, the viewer",
    "wbc.web": "a page in a browser, on a run or a log",
    "wbc.gym": "scenes as environments of gymnasium",
    "wbc.sweeps": "thousands of runs: cases, rows, executors, pictures, tuning",
    "wbc.scenes": "the demonstration, the examples, and scenes out of files",
    "tasks": "what a user composes: small files, a family of tasks each, and the gait that steers some of them",
    "wbc.classical": "controllers of the lecture notes whose torques are a formula",
    "wbc.kinematics": "velocities, inverse kinematics, paths",
    "wbc.simulation": "plants, the loop, logs, and what `wbc run` runs",
    "wbc.estimation": "where the base is, what the feet feel, what pushes",
    "wbc.realtime": "the loop for hardware, its watchdog, robots behind UDP",
    "wbc.liegroups": "single rigid bodies on Lie groups",
    "wbc.control": "a state in, torques out",
    "wbc.solvers": "levels in, x out: no robotics; the compiled kernel and the same in numpy",
    "wbc.contacts": "points, soles, wheels, friction cones",
    "wbc.tasking": "what a task is: rows, targets, gains, the tick",
    "wbc.collision": "shapes that may meet: pairs, distances, what they bound",
    "wbc.dynamics": "robots in a state: the backends",
    "wbc.model": "robots as plain data, and their readers",
    "wbc.geometry": "pure functions on arrays",
    "wbc.arrays": "array types, and numbers out of what a user hands over",
    "wbc.compiled": "the kernel, where it was built",
    "wbc.copies": "copies that share nothing that changes",
    "wbc.errors": "errors that name what is wrong",
    "wbc.lazy": "names that are imported when asked for",
    "wbc.threads": "small matrices on one thread, and one thread in a controller",
    "wbc.triangular": "triangles that are inverted on one thread",
}
"""What is in each package of the layers."""


class OutOfDateError(Exception):
    """The picture or the page does not tell of the code as it is."""


def resolve(name: str) -> object:
    """What a dotted name stands for.

    Raises:
        OutOfDateError: there is no such name.
    """
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                raise OutOfDateError(f"the code has no {name}")
            found = getattr(found, part)
        return found
    raise OutOfDateError(f"the code has no {name}")


def check_calls(station: Station) -> None:
    """Raises an `OutOfDateError` where the code of a station does not speak of what it hands on to."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(resolve(station.name))))  # type: ignore[arg-type]
    spoken = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name)]
    for call in station.calls:
        if not any(text == call or text.endswith(f".{call}") for text in spoken):
            raise OutOfDateError(f"{station.name} does not call {call} any more")


def file_of(station: Station) -> str:
    """Where the code of a station is, from the root."""
    return Path(inspect.getsourcefile(resolve(station.name)) or "").relative_to(ROOT).as_posix()  # type: ignore[arg-type]


def layers() -> list[list[str]]:
    """The layers of pyproject's import-linter, the highest first."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    found = next(rule["layers"] for rule in rules if rule["type"] == "layers")
    return [re.split(r" [|:] ", layer) for layer in found]


def draw() -> str:
    """The picture as SVG."""
    width, height, wide, tall, gap = 980, 60 * 11 + 30, 440, 44, 60
    place = [(20 + 500 * station.column, 20 + gap * station.row) for station in WAY]
    lines = []
    for one, other in itertools.pairwise(DOWN):
        (x, y), (_, y_to) = place[one], place[other]
        lines.append(f'<path d="M{x + 220} {y + tall} V{y_to - 2}" marker-end="url(#tip)"/>')
    for one, other in ACROSS:
        (x, y), (x_to, y_to) = place[one], place[other]
        if x == x_to:
            path = f"M{x + 220} {y + tall} V{y_to - 2}"
        elif y == y_to:
            path = f"M{x + wide} {y + tall // 2} H{x_to - 2}"
        else:
            path = f"M{x + wide} {y + tall // 2} H{x_to + 220} V{y_to - 2}"
        lines.append(f'<path d="{path}" marker-end="url(#tip)"/>')
    (x, y), (_, y_to) = place[DOWN[-1]], place[2]  # the way back: one line from the last tick to the next
    back = f"M{x} {y + tall // 2} H8 V{y_to + tall // 2} H{x - 2}"
    lines.append(f'<path d="{back}" stroke-dasharray="4 3" marker-end="url(#tip)"/>')
    boxes = []
    for station, (x, y) in zip(WAY, place, strict=True):
        fill = "#e8eef7" if station.column == 0 else "#f4efe4"
        boxes.append(f'<rect x="{x}" y="{y}" width="{wide}" height="{tall}" rx="5" fill="{fill}"/>')
        boxes.append(f'<text x="{x + 12}" y="{y + 18}" class="name">{escape(station.title)}</text>')
        boxes.append(f'<text x="{x + wide - 12}" y="{y + 18}" class="file">{escape(file_of(station))}</text>')
        boxes.append(f'<text x="{x + 12}" y="{y + 36}">{escape(station.words)}</text>')
    style = (
        "text{font:12px sans-serif;fill:#222}.name{font:bold 13px monospace}"
        ".file{font:10px monospace;fill:#667;text-anchor:end}rect{stroke:#889}path{stroke:#556;fill:none}"
    )
    tip = '<marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto"><path d="M0 0 L6 3 L0 6 z"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    defs = f'<style>{style}</style><defs>{tip} style="fill:#556"/></marker></defs>'
    return "\n".join(
        [head, defs, f'<rect width="{width}" height="{height}" fill="#fff" stroke="none"/>', *lines, *boxes]
    )


def tables() -> dict[str, str]:
    """The tables of the page, by the name of their place in it."""
    way = ["| step | what happens | file |", "| --- | --- | --- |"]
    for station in WAY:
        name = file_of(station)
        way.append(f"| `{station.title}` | {station.words} | [{name}](../{name}) |")
    rows = ["| layer | what is in it |", "| --- | --- |"]
    for layer in layers():
        unknown = [package for package in layer if package not in LAYERS]
        if unknown:
            raise OutOfDateError(f"say in LAYERS what is in {', '.join(unknown)}")
        rows += [f"| {'+ ' if beside else ''}`{package}` | {LAYERS[package]} |" for beside, package in enumerate(layer)]
    gone = set(LAYERS) - {package for layer in layers() for package in layer}
    if gone:
        raise OutOfDateError(f"pyproject.toml has no layer {', '.join(sorted(gone))}")
    return {"way": "\n".join(way), "layers": "\n".join(rows)}


def filled(page: str) -> str:
    """The page with its tables as they are now."""
    for name, table in tables().items():
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)"
        page, count = re.subn(
            pattern, lambda found, table=table: found[1] + table + "\n" + found[2], page, flags=re.DOTALL
        )
        if count != 1:
            raise OutOfDateError(f"the page has no place for the table {name!r}")
    return page


def check() -> None:
    """Raises an `OutOfDateError` where picture or page are not those of the code."""
    for station in WAY:
        check_calls(station)
    page = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"`(wbc\.[\w.]+|tasks\.[\w.]+)`", page):
        resolve(name)
    if filled(page) != page or PICTURE.read_text(encoding="utf-8") != draw() + "\n</svg>\n":
        raise OutOfDateError("docs/architecture.md or its picture is out of date: python scripts/draw_architecture.py")


def main() -> None:
    """Writes the picture and the page's tables, or checks them."""
    if "--check" not in sys.argv[1:]:
        for station in WAY:
            check_calls(station)
        PICTURE.write_text(draw() + "\n</svg>\n", encoding="utf-8")
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    check()


if __name__ == "__main__":
    main()
