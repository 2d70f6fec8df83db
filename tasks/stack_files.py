"""Stacks as data: a `wbc.Stack` to and from TOML, with every task that there is.

    units = "SI"            # m, kg, s, N, N m, rad; frequencies in Hz

    [[contacts]]
    type = "point"          # or "surface", "rolling"
    frame = "LF_foot"
    friction = 0.6

    [[tasks]]
    level = 0               # 0 is the highest priority
    type = "EquationOfMotion"

    [[tasks]]
    level = 1
    type = "EndEffectorAcceleration"
    frame = "base"
    gains = { frequency_hz = 3.0 }

The other keys of a contact or a task are the arguments of its class. An unknown key is an error that names the nearest
known one.
"""

from __future__ import annotations

import contextlib
import inspect
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tasks
from tasks.arguments import arguments, made, parameters
from wbc.contacts import Contact, PointContact, RollingContact, SurfaceContact
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.stack import Stack
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.model.bounds import read_bounded
from wbc.tasking.task import Task

CONTACTS: dict[str, type[Contact]] = {"point": PointContact, "surface": SurfaceContact, "rolling": RollingContact}
"""Contact classes by their word in a file."""

UNITS = "SI"

TOP = ("units", "robot", "contacts", "tasks")
"""Keys of a file."""

OF_TASK, OF_CONTACT = ("type", "level", "on"), ("type", "closed")
"""Keys that are no arguments."""

NOTES = {
    "friction": "coefficient",
    "minimum": "N",
    "maximum": "N",
    "corners": "m",
    "frequency_hz": "Hz",
    "stiffness": "N/m, N m/rad",
    "damping": "N s/m, N m s/rad; of an acceleration 1/s",
    "gain": "1/s",
    "margin": "rad or m",
    "braking": "rad/s² or m/s²",
    "return_hz": "Hz",
    "approach": "s",
    "slow": "m/s",
}
"""Units that are written beside a key."""


def to_toml(stack: Stack, *, robot: str = "") -> str:
    """Writes a stack as the text of a TOML file: its present weights, gains and targets, and which tasks are switched
    off.

    Args:
        stack: its tasks are of this package, or of your own classes that keep their arguments as attributes.
        robot: name of a packaged robot or of a file, to be written at the top.

    Raises:
        WbcError: something is a function, such as a target that moves.
    """
    if not isinstance(stack, Stack):
        raise WbcError(f"to_toml writes a wbc.Stack, not {show(stack)}")
    from tasks.toml_text import table, value

    parts = [f"units = {value(UNITS)}  # m, kg, s, N, N m, rad; frequencies in Hz"]
    if robot:
        parts[0] += f"\nrobot = {value(robot)}"
    for contact in stack.contacts:
        kind = next((word for word, kind in CONTACTS.items() if type(contact) is kind), None)
        if kind is None:
            raise WbcError(f"contact {contact.name!r} is a {type(contact).__name__}, a type that a file can't hold")
        entry = {"type": kind, **arguments(contact)}
        if stack.support.activation(contact.name) == 0.0:
            entry["closed"] = False
        parts.append(table("contacts", entry, NOTES))
    for level, members in enumerate(stack.levels):
        for task in members:
            entry = {"level": level, "type": type(task).__name__, **arguments(task)}
            if "name" in entry:
                entry["name"] = stack.name_of(task)
            if stack.presence(stack.name_of(task)) == 0.0:
                entry["on"] = False
            parts.append(table("tasks", entry, NOTES))
    return "\n\n".join(parts) + "\n"


def from_toml(text: str, *, robot: Dynamics | None = None, kinds: Iterable[type[Task]] = ()) -> Stack:
    """Makes a stack from the text of a TOML file.

    Args:
        text: see the module's own, or what `to_toml` writes.
        robot: the robot of the stack; some tasks, such as `CollisionAvoidance`, need it.
        kinds: your own task classes, beside those of `tasks`.

    Raises:
        WbcError: the text has a mistake; the message says where and what was expected.
    """
    data = parsed(text)
    known = {**task_kinds(), **{kind.__name__: kind for kind in kinds}}
    contacts: dict[str, Contact] = {}
    opened = []
    for number, entry in enumerate(_entries(data, "contacts"), 1):
        contact = _made_contact(entry, number)
        if contact.name in contacts:
            raise WbcError(f"contact {number}: two contacts are called {contact.name!r}; rename one")
        contacts[contact.name] = contact
        if not _flag(entry, "closed", f"contact {contact.name!r}"):
            opened.append(contact.name)
    levels: dict[int, list[Task]] = {}
    off: list[Task] = []
    for number, entry in enumerate(_entries(data, "tasks"), 1):
        task, level = _made_task(entry, number, known, contacts, robot)
        levels.setdefault(level, []).append(task)
        if not _flag(entry, "on", f"task {task.name!r}"):
            off.append(task)
    if not levels:
        raise WbcError("the file has no tasks: each begins with a line [[tasks]]")
    stack = Stack([levels[level] for level in sorted(levels)], contacts=list(contacts.values()))
    for task in off:
        stack.switch_off(stack.name_of(task))
    stack.schedule.finish()
    for name in opened:
        stack.support.activate(name, 0.0)
    return stack


def read_stack(path: str | Path, *, robot: Dynamics | None = None, kinds: Iterable[type[Task]] = ()) -> Stack:
    """Reads a stack from a TOML file.

    Args:
        path: of the file.
        robot: see `from_toml`.
        kinds: see `from_toml`.
    """
    try:
        return from_toml(read_text(path), robot=robot, kinds=kinds)
    except WbcError as error:
        raise WbcError(f"{path}: {error}") from None


def read_text(path: str | Path) -> str:
    """The text of a file.

    Args:
        path: of it.
    """
    try:
        return read_bounded(path).decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError:
        raise WbcError("it is not UTF-8 text") from None


def robot_of(text: str) -> str:
    """The robot that a file names; empty where it names none.

    Args:
        text: of the file.
    """
    return str(parsed(text).get("robot", ""))


def parsed(text: str) -> dict[str, Any]:
    """The entries of a file, of which all are known.

    Args:
        text: of the file.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WbcError(f"it is not TOML: {error}") from None
    for key in data:
        if key not in TOP:
            raise unknown_name("entry of a stack's file", key, TOP)
    if data.get("units", UNITS) != UNITS:
        raise WbcError(f"units = {show(data['units'])}: a stack's file must use {UNITS} units, with angles in rad")
    if not isinstance(data.get("robot", ""), str):
        raise WbcError(f"robot = {show(data['robot'])} must be the name of a robot, or of a file")
    return data


def task_kinds() -> dict[str, type[Task]]:
    """All classes of tasks of this package, by name."""
    found = {name: getattr(tasks, name) for name in tasks.__all__}
    return {name: kind for name, kind in found.items() if inspect.isclass(kind) and issubclass(kind, Task)}


def _entries(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise WbcError(f"write each of the {name} below its own line [[{name}]]")
    return found


def _flag(entry: Mapping[str, Any], name: str, whose: str) -> bool:
    value = entry.get(name, True)
    if not isinstance(value, bool):
        raise WbcError(f"{whose}: {name} = {show(value)} must be true or false")
    return value


def _made_contact(entry: dict[str, Any], number: int) -> Contact:
    name = entry.get("name", entry.get("frame", ""))
    whose = f"contact {number} ({name})" if name else f"contact {number}"
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in CONTACTS:
        raise WbcError(f"{whose}: {unknown_name('type of contact', kind, CONTACTS)}")
    made_of = _arguments(CONTACTS[kind], entry, OF_CONTACT, {}, whose)
    contact: Contact = _call(CONTACTS[kind], made_of, whose)
    return contact


def _made_task(
    entry: dict[str, Any],
    number: int,
    known: Mapping[str, type[Task]],
    contacts: Mapping[str, Contact],
    robot: Dynamics | None,
) -> tuple[Task, int]:
    """A task, and its priority."""
    kind, level = entry.get("type"), entry.get("level")
    whose = f"task {number} ({entry.get('name') or kind or '?'})"
    if not isinstance(kind, str) or kind not in known:
        raise WbcError(f"{whose}: {unknown_name('type of task', kind, known)}")
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise WbcError(f"{whose}: level = {show(level)} must be a whole number; 0 is the highest priority")
    made_of = _arguments(known[kind], entry, OF_TASK, contacts, whose)
    if "geometry" in parameters(known[kind]):
        if "geometry" in made_of:
            raise WbcError(f"{whose}: its geometry is taken from the robot; don't write it in the file")
        if robot is None:
            raise WbcError(f"{whose}: it needs the robot: from_toml(text, robot=robot)")
        made_of["geometry"] = robot
    task: Task = _call(known[kind], made_of, whose)
    if isinstance(task, EquationOfMotion) and not _flag(entry, "on", whose):
        raise WbcError(f"{whose}: it can't be switched off: physics always holds")
    return task, level


def _arguments(
    kind: type, entry: Mapping[str, Any], others: tuple[str, ...], contacts: Mapping[str, Contact], whose: str
) -> dict[str, Any]:
    known = parameters(kind)
    for key in entry:
        if key not in known and key not in others:
            raise WbcError(f"{whose}: {unknown_name(f'key of {kind.__name__}', key, [*others, *known])}")
    found = {}
    for key, value in entry.items():
        if key not in others:
            with _naming(whose, f"{key} = {show(value)}: "):
                found[key] = made(key, value, contacts)
    return found


def _call(kind: type, made_of: dict[str, Any], whose: str) -> Any:  # noqa: ANN401  of that kind
    required = [name for name, one in parameters(kind).items() if one.default is one.empty and name not in made_of]
    if required:
        raise WbcError(f"{whose}: it needs {', '.join(required)}")
    with _naming(whose):
        return kind(**made_of)


@contextlib.contextmanager
def _naming(whose: str, what: str = "") -> Iterator[None]:
    """Names the task or contact that an error is about, and what of it where the error can't."""
    try:
        yield
    except WbcError as error:
        raise WbcError(f"{whose}: {error}") from None
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:  # what a class does not look at
        raise WbcError(f"{whose}: {what}{error}") from None
