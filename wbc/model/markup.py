"""Reads XML into plain elements that know their line, and numbers out of their attributes.

A document type declaration is refused: it has no place in a robot file, and it is how small files are made to swell.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show
from wbc.model.bounds import MOST_ELEMENTS

LONGEST_NUMBERS = 10_000
"""Characters an attribute that holds numbers may have; more is a damaged file."""

LARGEST = 1e12
"""No length, mass or inertia of a robot is greater, in SI units; more is a damaged file, or the absence of a limit."""

DEEPEST = 1_000
"""Greatest depth of nested elements; robot files need five levels."""


@dataclass(eq=False)
class Element:
    """An XML element.

    Attributes:
        tag: its name.
        attributes: by name.
        line: where it starts in the file.
        children: the elements in it, in order.
        owner: the nearest element around it that has a name, the root left aside; None where there is none.
        text: in it, where it was asked for.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    owner: Element | None = None
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """The direct children of that tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first direct child of that tag, or None."""
        return next(self.all(tag), None)

    def get(self, name: str) -> str | None:
        """An attribute, or None."""
        return self.attributes.get(name)

    def __str__(self) -> str:
        whose = f" of {self.owner.called}" if self.owner is not None and "name" not in self.attributes else ""
        return f"{self.called} (line {self.line}){whose}"

    @property
    def called(self) -> str:
        """Its tag and its name."""
        name = self.attributes.get("name")
        return f"<{self.tag}{'' if name is None else f' name={show(name)}'}>"


def parse(text: bytes, texts: Collection[str] = ()) -> Element:
    """Reads a document.

    Args:
        text: the bytes of the file.
        texts: tags of the elements whose text is kept.

    Returns:
        Its root element.
    """
    count = 0
    open_elements: list[Element] = []
    roots: list[Element] = []
    said: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        element = Element(tag, attributes, parser.CurrentLineNumber)
        if count > MOST_ELEMENTS:
            raise WbcError(
                f"line {element.line}: it has more than {MOST_ELEMENTS:,} elements, the limit for a robot's file"
            )
        if len(open_elements) >= DEEPEST:
            raise WbcError(f"line {element.line}: elements are nested more than {DEEPEST} levels deep")
        (open_elements[-1].children if open_elements else roots).append(element)
        if len(open_elements) > 1:
            around = open_elements[-1]
            element.owner = around if "name" in around.attributes else around.owner
        open_elements.append(element)
        said.clear()

    def end(tag: str) -> None:
        element = open_elements.pop()
        if tag in texts:
            element.text = "".join(said)
        said.clear()

    def refuse(*_: object) -> None:
        raise WbcError("it has a document type declaration (<!DOCTYPE ...>); robot files have none, remove it")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    if texts:
        parser.buffer_text, parser.CharacterDataHandler = True, said.append
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise WbcError(f"it is not well-formed XML: {error}") from None
    except (ValueError, LookupError) as error:  # an unknown or broken text encoding
        raise WbcError(f"it is not readable XML: {error}") from None
    return roots[0]


class _FirstElement(Exception):  # noqa: N818  not an error
    """Ends the reading of a document at its first element."""


def root_tag(text: bytes) -> str | None:
    """The name of a document's first element; None where there is none, or no XML.

    Args:
        text: the bytes of the file, or its beginning.
    """
    parser = expat.ParserCreate()

    def start(tag: str, _: dict[str, str]) -> None:
        raise _FirstElement(tag)

    parser.StartElementHandler = start
    try:
        parser.Parse(text, False)
    except _FirstElement as first:
        return str(first)
    except (expat.ExpatError, ValueError, LookupError):
        pass
    return None


def numbers(
    element: Element, name: str, count: int, default: tuple[float, ...] | None = None, *, limits: bool = False
) -> Array:
    """The numbers in an attribute: finite, and of a size that a robot can have.

    Args:
        element: that has the attribute.
        name: of the attribute.
        count: how many there must be.
        default: what a missing attribute means; None if it must be there.
        limits: whether they are limits: one beyond any robot's size is infinite then: there is none.

    Returns:
        Shape (count,).
    """
    text = element.get(name)
    wanted = "a number" if count == 1 else f"{count} numbers"
    if text is None:
        if default is None:
            raise WbcError(f"{element}: attribute {name!r} is missing; it needs {wanted}")
        return np.array(default, dtype=float)
    if len(text) > LONGEST_NUMBERS:
        raise WbcError(f"{element}: {name} is {len(text)} characters long; it needs {wanted}")
    if "${" in text:
        raise WbcError(f"{element}: {name}={show(text)} is an expression of xacro; expand the file to a URDF first")
    try:
        if "_" in text:  # Python's own way to group digits
            raise ValueError
        values = [float(word) for word in text.split()]
    except ValueError:
        raise WbcError(f"{element}: {name}={show(text)} is not {wanted}") from None
    if len(values) != count:
        has = "no value" if not values else "1 value" if len(values) == 1 else f"{len(values)} values"
        raise WbcError(f"{element}: {name}={show(text)} has {has}; it needs {wanted}")
    if limits and not any(math.isnan(value) for value in values):
        return np.array([value if abs(value) < LARGEST else math.copysign(math.inf, value) for value in values])
    if not all(math.isfinite(value) for value in values):
        raise WbcError(f"{element}: {name}={show(text)} is not finite")
    if max(map(abs, values), default=0.0) > LARGEST:
        raise WbcError(f"{element}: {name}={show(text)} is beyond any robot's size ({LARGEST:g} in SI units)")
    return np.array(values)


def number(element: Element, name: str, default: float | None = None) -> float:
    """The number in an attribute; `default` where it is missing, an error if that is None."""
    return float(numbers(element, name, 1, None if default is None else (default,))[0])


def limit(element: Element, name: str) -> float:
    """The limit in an attribute; zero where it is missing, infinite where it is greater than anything real."""
    return float(numbers(element, name, 1, (0.0,), limits=True)[0])
