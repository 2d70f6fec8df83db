"""The marker that ties an equation of the seeds to our function that computes it and to the test that shows it.

    @equation("ETH 3.90", "torque of end-effector dynamics", operational_space.torque)
    def test_...

`python scripts/make_equation_table.py` collects the markers into `docs/equations.md`. Of several tests of an equation
one bears the marker: the one that says most. Of a parametrised test a case may bear it:
`pytest.param(..., marks=equation(...))`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cached_property

import pytest

SEEDS = {
    "Kindr": "Gehring and others, *Kindr library: kinematics and dynamics for robotics* (cheat sheet)",
    "ETH": "Hutter, Siegwart, Stastny, *Robot Dynamics* (lecture notes, ETH Zürich)",
    "Liu-Jain": "Liu and Jain, *A quick tutorial on multibody dynamics*",
    "TS": "Traversaro and Saccon, *Multibody dynamics notation*",
    "From": "From, *Singularity-free dynamic equations of mechanical systems: single rigid bodies*",
}
"""The documents, by the names that markers give them."""


def equation(number: str, what: str, *functions: object) -> pytest.MarkDecorator:
    """Marks the test of an equation.

    Args:
        number: the document and its own number, "ETH 3.90" or "From 57"; what has no number is named by its section or
            table, "ETH example 2.9.1", "Kindr appendix III".
        what: what it says, in about five words.
        functions: what computes it, out of `wbc` or `tasks`: functions, classes, methods or properties.
    """
    seed, _, place = number.partition(" ")
    assert seed in SEEDS, f"{number}: the first word is one of {', '.join(SEEDS)}"
    assert re.fullmatch(r"\d+(\.\d+)?[a-z]?|[a-z].*", place), f"{number}: a number, or words that begin in lower case"
    assert what and "|" not in what and len(what) <= 80, f"{number}: {what!r} is no short description"
    assert functions, f"{number}: which function computes it?"
    return pytest.mark.equation(number, what, tuple(public_name(function) for function in functions))


def public_name(function: object) -> str:
    """The dotted name of a function, class, method or property of ours."""
    if isinstance(function, property):
        function = function.fget
    elif isinstance(function, cached_property):
        function = function.func
    function = inspect.unwrap(function) if isinstance(function, Callable) else function
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    assert module.split(".")[0] in ("wbc", "tasks"), f"{function!r} is not of wbc or tasks"
    assert name and not any(part.startswith("_") for part in name.split(".")), f"{module}.{name} is not public"
    return f"{module}.{name}"
