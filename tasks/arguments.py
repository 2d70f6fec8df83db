"""The arguments of tasks and contacts as plain data (numbers, words, lists and tables), and back."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tasks.collision import CollisionAvoidance
from tasks.custom import Rows as OwnRows
from tasks.spin import WheelSpin
from wbc.contacts import Contact, RollingContact, SurfaceContact
from wbc.errors import WbcError, show, unknown_name, words
from wbc.model.wheel import Wheel
from wbc.tasking.gains import Gains
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task

HOLD = "hold"
"""Stands for the target of a task that holds what it finds at its first tick."""

ALWAYS = ("name", "gains", "friction")
"""Arguments that are written even if they have their default value, because a reader wants to see them."""

WHEEL = ("radius", "axle", "crown", "rollers", "castor")
ROWS = ("lower", "upper", "acceleration", "force", "torque", "velocity", "weights", "kind")
GAINS = ("frequency_hz", "damping_ratio", "kp", "kd", "speed")
"""Entries of tables."""

Getter = Callable[[Any], object]

_OWN: dict[tuple[type, str], Getter] = {
    (CollisionAvoidance, "geometry"): lambda task: None,
    (OwnRows, "make"): lambda task: task._make,
    (WheelSpin, "wheels"): lambda task: [contact.name for contact in task.wheels],
    (Contact, "normal"): lambda contact: contact.normal,
    (SurfaceContact, "corners"): lambda contact: None if contact._own else contact.corners,
    (RollingContact, "wheel"): lambda contact: None if contact._own else contact.wheel,
}
"""Where an argument is found that is no attribute of its own name; others are as they were given."""


def parameters(kind: type) -> dict[str, inspect.Parameter]:
    """The arguments of a task or a contact, by name.

    Args:
        kind: a class.
    """
    found = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]  # of that class
    return {one.name: one for one in found if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}


def arguments(made: Task | Contact) -> dict[str, Any]:
    """The arguments that make the same task or contact again, as plain data; defaults are left out.

    Args:
        made: the object in its present state: targets, gains and weight may have changed since it was made.
    """
    found = {}
    for name, parameter in parameters(type(made)).items():
        what = f"{type(made).__name__} {getattr(made, 'name', '')!r}: {name}"
        value = plain(_value(made, name), what)
        if value is None:
            if name == "target" and parameter.default is not None:
                found[name] = HOLD
            continue
        usual = parameter.default
        if usual is inspect.Parameter.empty or callable(usual) or name in ALWAYS or value != plain(usual, what):
            found[name] = value
    return found


def _value(made: Task | Contact, name: str) -> object:
    for kind in type(made).__mro__:
        if (kind, name) in _OWN:
            return _OWN[kind, name](made)
    if hasattr(made, name) and not callable(getattr(type(made), name, None)):  # it may have been changed
        return getattr(made, name)
    given, named = made._made_of if isinstance(made, Task) else ((), {})
    known = parameters(type(made))
    found = {**dict(zip(known, given, strict=False)), **named}.get(name, known[name].default)
    if found is ... or found is inspect.Parameter.empty:
        raise WbcError(f"{type(made).__name__} {made.name!r} can't be written to a file: its {name} is not plain data")
    return found


def plain(value: object, what: str) -> Any:  # noqa: ANN401  plain data of many kinds
    """An argument as numbers, words, lists and tables.

    Args:
        value: an argument.
        what: it is, for messages.
    """
    match value:
        case None | bool() | str():
            return value
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return float(value)
        case np.ndarray():
            return value.tolist()
        case Gains():
            return _plain_gains(value)
        case Wheel():
            return {name: plain(getattr(value, name), what) for name in WHEEL if getattr(value, name) is not None}
        case Rows():
            return {name: plain(getattr(value, name), what) for name in ROWS if getattr(value, name) is not None}
        case Mapping():
            if value and all(part is None for part in value.values()):
                return list(map(str, value))
            return {str(key): plain(part, what) for key, part in value.items()}
        case list() | tuple():
            return [plain(part, what) for part in value]
    if callable(value):
        raise WbcError(f"{what} is a function, which a file can't hold; set it after reading the file")
    raise WbcError(f"{what} = {show(value)} can't be written into a file")


def _plain_gains(gains: Gains) -> dict[str, Any]:
    """A frequency and a damping ratio if they give the same gains to the last digit, else kp and kd; then a speed."""
    speed = {} if gains.speed is None else {"speed": gains.speed}
    kp, kd = np.asarray(gains.kp), np.asarray(gains.kd)
    with np.errstate(divide="ignore", invalid="ignore"):
        omega = np.sqrt(kp)
        told = omega / (2.0 * math.pi), kd / (2.0 * omega)
    if np.isfinite(told[0]).all() and np.isfinite(told[1]).all():
        hz, ratio = (np.vectorize(lambda part: float(f"{part:.12g}"))(part) for part in told)
        again = Gains(hz, ratio)
        if np.array_equal(again.kp, gains.kp) and np.array_equal(again.kd, gains.kd):
            shown = {"frequency_hz": hz.tolist()}
            return {**shown, **({} if (ratio == 1.0).all() else {"damping_ratio": ratio.tolist()}), **speed}
    return {"kp": kp.tolist(), "kd": kd.tolist(), **speed}


def made(name: str, value: Any, contacts: Mapping[str, Contact]) -> Any:  # noqa: ANN401
    """An argument from plain data that `plain` made or a person wrote.

    Args:
        name: of the argument.
        value: plain data.
        contacts: of the stack, by name.
    """
    if name == "target" and value == HOLD:
        return None
    if name == "gains":
        return _made_gains(value)
    if name == "wheels":
        return [_contact(one, contacts) for one in ([value] if isinstance(value, str) else words(value, name))]
    if name == "wheel" and isinstance(value, Mapping):
        _check_keys(value, WHEEL, "entry of the wheel")
        return Wheel(**value)
    if name == "make":
        if not isinstance(value, Mapping):
            raise WbcError(f"make = {show(value)} must be a table of rows: lower, upper, and blocks")
        _check_keys(value, ROWS, "entry of the rows")
        parts: dict[str, Any] = {key: part if isinstance(part, str) else _block(part) for key, part in value.items()}
        return Rows(**parts)
    if isinstance(value, list) and _ragged(value):
        raise WbcError(f"{name} = {show(value)} has rows of different lengths")
    return value


def _ragged(value: list[Any]) -> bool:
    """Whether it is a matrix of numbers whose rows are not as long as each other."""
    rows = [part for part in value if isinstance(part, list) and all(isinstance(one, int | float) for one in part)]
    return len(rows) == len(value) and len({len(row) for row in rows}) > 1


def _block(value: object) -> Any:  # noqa: ANN401  an array
    """Bounds and matrices of numbers; a list of whole numbers picks entries."""
    found = np.array(value)
    return found.astype(np.intp) if found.dtype.kind in "iu" and found.ndim == 1 else found.astype(float)


def _made_gains(value: object) -> Gains:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Gains(value)
    if not isinstance(value, Mapping):
        raise WbcError(f"gains = {show(value)} must be a frequency in Hz, or a table such as {{ frequency_hz = 2.0 }}")
    _check_keys(value, GAINS, "entry of the gains")
    return Gains(**value)


def _contact(name: str, contacts: Mapping[str, Contact]) -> Contact:
    if name not in contacts:
        raise unknown_name("contact", name, contacts)
    return contacts[name]


def _check_keys(given: Mapping[str, object], known: tuple[str, ...], what: str) -> None:
    for key in given:
        if key not in known:
            raise unknown_name(what, key, known)
