"""The primitive shapes of a URDF file. Meshes are passed over; a damaged shape is only a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from wbc.errors import WbcError
from wbc.model.findings import Findings
from wbc.model.markup import Element, number, numbers
from wbc.model.parts import Shape
from wbc.model.placement import origin

Color = tuple[float, float, float, float]

GREY: Color = (0.7, 0.7, 0.7, 1.0)
"""The colour of a shape that names none."""


def read_shapes(robot: Element, links: Mapping[str, Element], found: Findings) -> list[Shape]:
    """All primitive shapes of all links, those for the eye and those for contact.

    Args:
        robot: the `<robot>` element, which holds the shared materials.
        links: the `<link>` elements by name.
        found: where damaged shapes are noted.
    """
    colors: dict[str, Color] = {}
    for material in robot.all("material"):
        _collect_color(material, colors, found)
    shapes = []
    for name, link in links.items():
        for element in link.children:
            if element.tag not in ("visual", "collision"):
                continue
            try:
                painted = element.first("material")
                color = GREY
                if painted is not None:
                    _collect_color(painted, colors, found)
                    color = colors.get(painted.get("name") or "", GREY)
                geometry = element.first("geometry")
                kind_and_size = None if geometry is None else _primitive(geometry)
                if kind_and_size is not None:
                    kind, size = kind_and_size
                    shapes.append(Shape(name, kind, size, origin(element), color, element.tag == "collision"))
            except WbcError as error:
                found.warn("shapes left out", f"{name}: {error}")
    return shapes


def _primitive(
    geometry: Element,
) -> tuple[Literal["box", "sphere", "cylinder", "capsule"], tuple[float, ...]] | None:
    """Kind and size of the first primitive in a `<geometry>`; None for a mesh."""
    for element in geometry.children:
        match element.tag:
            case "box":
                kind, size = "box", tuple(numbers(element, "size", 3).tolist())
            case "sphere":
                kind, size = "sphere", (number(element, "radius"),)
            case "cylinder" | "capsule":
                kind, size = element.tag, (number(element, "radius"), number(element, "length"))
            case _:
                continue
        if min(size) <= 0:
            raise WbcError(f"{element}: its size {size} is not positive")
        return kind, size  # type: ignore[return-value]  # the match fixed it
    return None


def _collect_color(material: Element, colors: dict[str, Color], found: Findings) -> None:
    """Notes the colour of a material under its name."""
    color = material.first("color")
    if color is None:
        return
    try:
        red, green, blue, alpha = (min(max(value, 0.0), 1.0) for value in numbers(color, "rgba", 4).tolist())
    except WbcError as error:
        found.warn("colours left out", str(error))
    else:
        colors[material.get("name") or ""] = (red, green, blue, alpha)
