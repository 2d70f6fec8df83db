"""Reads a URDF file: all that dynamics needs, and the primitive shapes. Meshes are never opened.

Beside the standard elements, `<robot>` may hold one `<wbc>` element (other readers ignore it):

    <wbc base="floating">
      <foot link="left_foot" corners="0.1 0.05  0.1 -0.05  -0.1 -0.05  -0.1 0.05"/>
      <wheel link="left_wheel" radius="0.1" axle="0 1 0" crown="0.02" rollers="0.785" castor="false"/>
      <hand link="left_hand"/>
      <nominal base="0 0 0.9  1 0 0 0"> <joint name="left_knee" position="0.4"/> </nominal>
      <joint name="left_knee" armature="0.02" actuated="true" stiffness="0" rest="0"/>
    </wbc>
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from wbc.arrays import Array
from wbc.errors import WbcError, show, unknown_name
from wbc.model import markup
from wbc.model.bounds import check_velocities, read_bounded
from wbc.model.findings import Findings, check_inertias
from wbc.model.loops import JointCoupling
from wbc.model.markup import Element, limit, number, numbers
from wbc.model.model import WORLD, Model
from wbc.model.parts import POSITIONS, Body, Joint
from wbc.model.placement import origin
from wbc.model.space import ConfigurationSpace
from wbc.model.urdf_shapes import read_shapes
from wbc.model.urdf_tree import find_root
from wbc.model.wheel import Wheel

Part = TypeVar("Part", Body, Joint)


TURNS, FAR = 25.0, 20.0
"""Limits of a joint, rad, and a distance between joints, m, beyond which units are likely to be others."""


def read_urdf(
    source: str | Path | bytes, *, floating: bool | None = None, passive: Iterable[str] = (), strict: bool = True
) -> Model:
    """Reads a robot from a URDF file.

    Args:
        source: a path, or the bytes of a file.
        floating: whether its root moves freely; None: as the file's `<wbc base=…>` says, else fixed.
        passive: names of joints that no motor drives, or the name of one.
        strict: whether the unphysical inertia of a moving part is an error; else it is a warning.

    Raises:
        WbcError: if the file can't be used; `problems` has all that is wrong.
    """
    if floating is not None and not isinstance(floating, (bool, np.bool_)):
        raise WbcError(f"floating is {show(floating)}; expected True, False or None")
    if isinstance(source, bytes):
        name, text = "URDF", source
    else:
        name, text = str(source), read_bounded(source)
    found = Findings(name)
    undriven = {passive} if isinstance(passive, str) else set(passive)
    try:
        root = markup.parse(text)
        if root.tag != "robot":
            part = "; it is a part of an MJCF model: give the file that includes it" * (root.tag == "mujocoinclude")
            raise WbcError(f"it is no URDF: its first element is <{show(root.tag)[1:-1]}>, not <robot>{part}")
        model = _Reader(root, found).model(floating, undriven, strict)
    except WbcError as error:
        if error is not found.raised:
            found.error(str(error))
            found.stop_on_error()
        raise
    found.emit()
    return model if isinstance(source, bytes) else model.replace(source=Path(source))


class _Reader:
    """One pass over the elements of a `<robot>`."""

    def __init__(self, root: Element, found: Findings) -> None:
        self.root, self.found = root, found
        self.extension = root.first("wbc") or Element("wbc", {}, root.line)

    def model(self, floating: bool | None, passive: set[str], strict: bool) -> Model:
        for child in self.root.children:
            if child.tag.startswith("xacro:"):
                raise WbcError(f"{child}: it is a xacro file; expand it to a URDF first")
        links = self._unique("link")
        bodies = {name: self._collect(self._body, element) for name, element in links.items()}
        extras = {element.get("name") or "": element for element in self.extension.all("joint")}
        elements = self._unique("joint")
        joints: list[Joint] = []
        for element in elements.values():
            joint = self._collect(self._joint, element, links, extras)
            if joint is not None:
                joints.append(joint)
            if self.found.enough:
                break
        self.found.stop_on_error()
        check_velocities(sum(joint.nv for joint in joints))
        for name in [*extras, *passive]:
            if name not in elements:
                where = f"{extras[name]}: " if name in extras else "passive: "
                raise WbcError(f"{where}{unknown_name('joint', name, elements)}")
        joints = [replace(joint, actuated=False) if joint.name in passive else joint for joint in joints]
        root_joint = self._root_joint(find_root(links, joints, elements, self.found), links, joints, floating)
        shapes = read_shapes(self.root, links, self.found)
        name = self.root.get("name") or "robot"
        all_joints = ([root_joint] if root_joint else []) + joints
        kept = [body for body in bodies.values() if body is not None and body.name != WORLD]
        plain = Model(name, kept, all_joints)
        check_inertias(plain, links, self.found, strict)
        self.found.stop_on_error()
        feet, soles, hands = self._ends(links)
        couplings = [self._mimic(element, plain) for element in elements.values() if plain.joints[_name(element)].nv]
        return Model(
            name,
            kept,
            all_joints,
            nominal=self._nominal(plain),
            feet=feet,
            soles=soles,
            wheels=self._wheels(links),
            hands=hands,
            shapes=shapes,
            loops=[coupling for coupling in couplings if coupling is not None],
            warnings=self.found.warnings,
        )

    def _mimic(self, element: Element, model: Model) -> JointCoupling | None:
        """The coupling of a joint that follows another one: q = multiplier · q of the other + offset."""
        found = element.first("mimic")
        if found is None:
            return None
        joint, other = model.joints[_name(element)], found.get("joint")
        if other is None:
            raise WbcError(f"{element}: its <mimic> names no joint")
        if other not in model.joints:
            raise WbcError(f"{element}: it mimics an unknown joint: {unknown_name('joint', other, model.joints)}")
        if joint.nq != 1 or model.joints[other].nq > 1 or other == joint.name:
            raise WbcError(f"{element}: it can't mimic {show(other)}: two joints with one coordinate each can do that")
        multiplier, offset = number(found, "multiplier", 1.0), number(found, "offset", 0.0)
        follows = {other: multiplier} if model.joints[other].nq else {}  # what mimics a fixed joint does not move
        return JointCoupling({joint.name: 1.0}, follows, (offset, 1.0) if follows else (offset,), f"{joint.name} mimic")

    def _unique(self, tag: str) -> dict[str, Element]:
        """The elements of a tag by name; a name that is missing or there twice is an error."""
        named: dict[str, Element] = {}
        for element in self.root.all(tag):
            name = element.get("name")
            if not name:
                self.found.error(f"{element}: it has no name")
            elif name in named:
                self.found.error(f"{element}: there is another of that name on line {named[name].line}")
            else:
                named[name] = element
        if tag == "link" and not named:
            self.found.error("it has no links")
        return named

    def _collect(self, read: Callable[..., Part | None], *arguments: object) -> Part | None:
        """The result of a part of the reader; None, with a note, if it raised an error."""
        try:
            return read(*arguments)
        except WbcError as error:
            self.found.error(str(error))
            return None

    def _body(self, element: Element) -> Body:
        name = element.attributes["name"]
        inertial = element.first("inertial")
        if inertial is None:
            return Body(name)
        mass_element, inertia_element = inertial.first("mass"), inertial.first("inertia")
        if mass_element is None or inertia_element is None:
            missing = "mass" if mass_element is None else "inertia"
            raise WbcError(f"{element}: its <inertial> has no <{missing}>")
        mass = number(mass_element, "value")
        if mass < 0:
            raise WbcError(f"{element}: its mass is {mass:g} kg; a mass is not negative")
        entries = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        ixx, ixy, ixz, iyy, iyz, izz = (
            number(inertia_element, entry, 0.0 if entry in ("ixy", "ixz", "iyz") else None) for entry in entries
        )
        pose = origin(inertial)
        R = pose[:3, :3]
        inertia = R @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ R.T
        return Body(name, mass, pose[:3, 3].copy(), (inertia + inertia.T) / 2)

    def _joint(self, element: Element, links: dict[str, Element], extras: dict[str, Element]) -> Joint:
        name, kind = element.attributes["name"], element.get("type")
        if kind not in POSITIONS:
            if kind is None:
                raise WbcError(f"{element}: attribute 'type' is missing; it is one of {', '.join(POSITIONS)}")
            raise WbcError(f"{element}: {unknown_name('joint type', kind, POSITIONS)}")
        parent, child = (self._end(element, role, links) for role in ("parent", "child"))
        driven = kind not in ("fixed", "floating")  # no motor drives a free body
        joint = Joint(name, kind, parent, child, origin(element), _axis(element, kind), actuated=driven)
        if float(np.linalg.norm(joint.pose[:3, 3])) > FAR:
            self.found.warn(
                "joints more than 20 m from their parent's (a URDF counts in metres, not millimetres)", name
            )
        if kind == "fixed":
            return joint
        joint = self._limited(joint, element)
        dynamics = element.first("dynamics")
        if dynamics is not None:
            damping, friction = number(dynamics, "damping", 0.0), number(dynamics, "friction", 0.0)
            joint = replace(joint, damping=_positive(element, "damping", damping))
            joint = replace(joint, friction=_positive(element, "friction", friction))
        if element.first("mimic") is not None:
            driven = False  # it follows another one, which has the motor
            joint = replace(joint, actuated=False)
        extra = extras.get(name)
        if extra is not None:
            joint = replace(
                joint,
                armature=_positive(extra, "armature", number(extra, "armature", 0.0)),
                stiffness=_positive(extra, "stiffness", number(extra, "stiffness", 0.0)),
                rest=number(extra, "rest", 0.0),
                actuated=_choice(extra, "actuated", {"true": True, "false": False}, "true" if driven else "false"),
            )
            if joint.stiffness and joint.nv > 1:
                self.found.warn("springs left out (of joints with several coordinates)", name)
        return joint

    def _end(self, element: Element, role: str, links: dict[str, Element]) -> str:
        """The link at the parent's or the child's end of a joint."""
        found = element.first(role)
        link = None if found is None else found.get("link")
        if link is None:
            raise WbcError(f'{element}: it has no <{role} link="…"/>')
        if link not in links:
            raise WbcError(f"{element}: its {role} is unknown: {unknown_name('link', link, links)}")
        return link

    def _limited(self, joint: Joint, element: Element) -> Joint:
        """The joint with its limits; a limit that is not given is none, but for a single missing bound: it is zero."""
        found, warn = element.first("limit"), self.found.warn
        bounded = joint.kind in ("revolute", "prismatic")
        if found is None:
            if bounded:
                warn("joints without limits", joint.name)
            return joint
        lower, upper = -math.inf, math.inf
        if bounded:
            if found.get("lower") is None and found.get("upper") is None:
                warn("joints without position limits", joint.name)
            else:
                lower, upper = limit(found, "lower"), limit(found, "upper")
                if lower > upper:
                    raise WbcError(f"{element}: its lower limit {lower:g} is above its upper limit {upper:g}")
                if joint.kind == "revolute" and TURNS < max(-lower, upper) < 100.0 * TURNS:
                    warn("joints that turn by more than ±25 rad (a URDF counts in radians, not degrees)", joint.name)
                if lower == upper:
                    if math.isinf(lower):
                        raise WbcError(f"{element}: its position limits are both {lower:g}")
                    warn("joints whose position limits are equal, so that they can't move", joint.name)
        effort, velocity = limit(found, "effort"), limit(found, "velocity")
        for what, value in (("effort", effort), ("velocity", velocity)):
            if value < 0:
                raise WbcError(f"{element}: its {what} limit is {value:g}; it must not be negative")
            if value == 0:
                warn(f"joints with no {what} limit (none or 0 given, taken as unlimited)", joint.name)
        return replace(joint, lower=lower, upper=upper, effort=effort or math.inf, velocity=velocity or math.inf)

    def _root_joint(
        self, root: str | None, links: dict[str, Element], joints: list[Joint], floating: bool | None
    ) -> Joint | None:
        """The joint that hangs the robot on the world; None where its root link is the world itself."""
        self.found.stop_on_error()
        assert root is not None  # else it was noted
        if floating is None:
            floating = _choice(self.extension, "base", {"floating": True, "fixed": False}, "fixed")
        floats = next((joint for joint in joints if joint.kind == "floating" and joint.parent == root), None)
        if root == WORLD:
            if floating and floats is None:
                raise WbcError(
                    "its root link is called 'world', which can't float: rename it, or load with a fixed base"
                )
            return None
        if WORLD in links:
            raise WbcError(f"{links[WORLD]}: the world has no parent; rename this link, or make it the root")
        if floating and floats is not None:
            raise WbcError(f"joint {show(floats.name)} floats on the root link already; load with a fixed base")
        name = "root_joint"
        taken = {joint.name for joint in joints}
        while name in taken:
            name += "_"
        return Joint(name, "floating" if floating else "fixed", WORLD, root, actuated=False)

    def _ends(self, links: dict[str, Element]) -> tuple[list[str], dict[str, Array], list[str]]:
        """Feet, the corners of their soles, and hands."""
        ends: dict[str, list[str]] = {"foot": [], "hand": []}
        soles = {}
        for tag, names in ends.items():
            for element in self.extension.all(tag):
                name = _required(element, "link")
                if name not in links:
                    raise WbcError(f"{element}: {unknown_name('link', name, links)}")
                if name in names:
                    raise WbcError(f"{element}: link {show(name)} is named as a {tag} before")
                names.append(name)
                text = element.get("corners")
                if text is not None and tag == "foot":
                    count = len(text[: markup.LONGEST_NUMBERS].split())
                    if count < 6 or count % 2:
                        raise WbcError(f"{element}: its corners are {count} numbers; it needs x and y of three or more")
                    soles[name] = numbers(element, "corners", count).reshape(-1, 2)
        return ends["foot"], soles, ends["hand"]

    def _wheels(self, links: dict[str, Element]) -> dict[str, Wheel]:
        """What rolls, by the link at its centre."""
        wheels: dict[str, Wheel] = {}
        for element in self.extension.all("wheel"):
            name = _required(element, "link")
            if name not in links:
                raise WbcError(f"{element}: {unknown_name('link', name, links)}")
            if name in wheels:
                raise WbcError(f"{element}: link {show(name)} is named as a wheel before")
            radius, crown = number(element, "radius"), number(element, "crown", 0.0)
            axle = numbers(element, "axle", 3, (0.0, 1.0, 0.0))
            rollers = None if element.get("rollers") is None else number(element, "rollers")
            castor = _choice(element, "castor", {"true": True, "false": False}, "false")
            try:
                wheels[name] = Wheel(radius, axle, crown, rollers, castor)
            except WbcError as error:
                raise WbcError(f"{element}: {error}") from None
        return wheels

    def _joint_of(self, element: Element, model: Model) -> Joint:
        name = _required(element, "name")
        if name not in model.joints:
            raise WbcError(f"{element}: {unknown_name('joint', name, model.joints)}")
        return model.joints[name]

    def _nominal(self, model: Model) -> Array | None:
        """The stored configuration; what it does not name is zero, or amid limits that exclude zero."""
        element = self.extension.first("nominal")
        q, excluded = model.neutral(), False
        for joint in model.joints.values():
            if joint.nq == 1 and not joint.lower <= 0.0 <= joint.upper:
                finite = math.isfinite(joint.lower) and math.isfinite(joint.upper)
                q[model.q_index[joint.name]] = (
                    0.5 * (joint.lower + joint.upper) if finite else min(max(0.0, joint.lower), joint.upper)
                )
                excluded = True
        if element is None:
            return q if excluded else None
        if model.floating and element.get("base") is not None:  # a robot that was loaded with a fixed base has none
            q[:7] = numbers(element, "base", 7)
        for child in element.all("joint"):
            joint = self._joint_of(child, model)
            position = numbers(child, "position", joint.nq)
            q[model.q_index[joint.name] : model.q_index[joint.name] + joint.nq] = position
            if joint.nq == 1 and not joint.lower <= position[0] <= joint.upper:
                self.found.warn("nominal positions outside of the limits of their joint", joint.name)
        return ConfigurationSpace(model).configuration(q, "nominal configuration")


def _name(element: Element) -> str:
    return element.attributes["name"]


def _axis(element: Element, kind: str) -> Array:
    """The unit vector of a joint's `<axis>`; x where none is given."""
    found = element.first("axis")
    if found is None or kind not in ("revolute", "continuous", "prismatic", "planar"):
        return np.array([1.0, 0.0, 0.0])
    axis = numbers(found, "xyz", 3)
    size = float(np.max(np.abs(axis)))
    if size < 1e-6:
        raise WbcError(f"{element}: its axis {show(axis.tolist())} has no direction")
    axis = axis / size  # first, so that the norm of a great vector does not overflow
    return axis / np.linalg.norm(axis)


def _positive(element: Element, what: str, value: float) -> float:
    if value < 0:
        raise WbcError(f"{element}: its {what} is {value:g}; it must not be negative")
    return value


def _required(element: Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        raise WbcError(f"{element}: attribute {name!r} is missing")
    return value


def _choice(element: Element, name: str, choices: dict[str, bool], default: str) -> bool:
    value = element.get(name) or default
    if value not in choices:
        raise WbcError(f"{element}: {name}={show(value)} must be one of {', '.join(choices)}")
    return choices[value]
