"""Finds the root of a URDF's links, and what keeps them from being one tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wbc.errors import show
from wbc.model.findings import Findings
from wbc.model.markup import Element
from wbc.model.parts import Joint


def find_root(
    links: Mapping[str, Element], joints: Sequence[Joint], elements: Mapping[str, Element], found: Findings
) -> str | None:
    """The one link that no joint moves.

    Args:
        links: the `<link>` elements by name.
        joints: the joints; their parents and children exist.
        elements: the `<joint>` elements by name.
        found: where loops, second parents and second roots are noted.

    Returns:
        Its name; None where there is none.
    """
    carrying: dict[str, Joint] = {}
    for joint in joints:
        other = carrying.setdefault(joint.child, joint)
        if other is not joint:
            found.error(
                f"{elements[joint.name]}: its child {show(joint.child)} is the child of another joint too, "
                f"{elements[other.name]}; a tree allows one (cut the loop at one of them)"
            )
    roots = [name for name in links if name not in carrying]
    for loop in _loops(carrying):
        first = elements[loop[0]]
        if len(loop) == 1:
            found.error(f"{first}: its parent is its child, a loop")
        else:
            found.error(f"{first}: the joints {show(loop)} form a loop: the child of each is the parent of the next")
    if not roots:
        found.error("it has no root: every link is the child of a joint; one must be the child of none")
    if len(roots) > 1:
        found.error(
            f"it has {len(roots)} roots, the links {show(roots)}: only one link may be the child of no joint; "
            "join the others to the rest"
        )
    return roots[0] if roots else None


def _loops(carrying: Mapping[str, Joint]) -> list[list[str]]:
    """The joints of each loop that is met on the way from a link towards the root."""
    loops: list[list[str]] = []
    walk_of: dict[str, str] = {}  # by link, the link that the walk started at on which it was met
    for start in carrying:
        link = start
        while link in carrying and link not in walk_of:
            walk_of[link] = start
            link = carrying[link].parent
        if link in carrying and walk_of[link] == start:
            loop, first = [carrying[link].name], link
            link = carrying[link].parent
            while link != first:
                loop.append(carrying[link].name)
                link = carrying[link].parent
            loops.append(loop[::-1])
    return loops
