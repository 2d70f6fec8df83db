"""The collision shapes of a model, and which pairs of them can meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from wbc.arrays import MaskArray
from wbc.collision.engine import Engine
from wbc.collision.solid import Solid
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError
from wbc.model import Model
from wbc.model.model import WORLD
from wbc.model.parts import Mesh, Plane, Shape

SAMPLES = 100
"""Random configurations that pairs are looked at in: what overlaps in all of them is built so."""


def solids_of(model: Model, folders: Sequence[Path] = ()) -> tuple[list[Solid], list[str]]:
    """The collision shapes of a model, and what was left out, in words.

    Args:
        model: of `wbc.load`.
        folders: where its meshes may be, beside its own folders.
    """
    names: dict[str, int] = {}
    notes: list[str] = []

    def name_of(body: str) -> str:
        names[body] = names.get(body, 0) + 1
        return body if names[body] == 1 else f"{body} #{names[body]}"

    surroundings = [shape for shape in model.surroundings if isinstance(shape, Shape)]
    found = [
        Solid(name_of(shape.body), shape.body, shape.kind, shape.size, shape.pose, bits=shape.bits)
        for shape in (*model.shapes, *surroundings)
        if shape.collides
    ]
    planes = [shape for shape in model.surroundings if isinstance(shape, Plane)]
    found += [Solid(name_of(WORLD), WORLD, "plane", (), plane.pose, bits=plane.bits) for plane in planes]
    meshes, failures = _meshes(model, folders)
    for mesh in meshes:
        name, middle = name_of(mesh.body), mesh.points.mean(axis=0)
        pose = np.eye(4)
        pose[:3, 3] = middle
        try:
            found.append(Solid(name, mesh.body, "convex", (), pose, mesh.points - middle, mesh.bits))
        except WbcError as error:
            notes.append(str(error))
    notes += [f"mesh {name!r} is left out: {reason}" for name, reason in failures]
    return found, notes


def _meshes(model: Model, folders: Sequence[Path]) -> tuple[Iterable[Mesh], list[tuple[str, str]]]:
    """Those that were read with the model; else those that its URDF names."""
    if model.simulated is not None or model.source is None:
        return model.meshes, []
    from wbc.model.mesh_files import read_meshes

    return read_meshes(model.source, folders)


def groups(robot: Dynamics, solids: Sequence[Solid]) -> tuple[list[int], dict[int, int]]:
    """What moves as one.

    Args:
        robot: of `wbc.load`.
        solids: on its bodies.

    Returns:
        The node that carries each solid; and the node that carries each of these, by its number: massless ones between
        joints are passed over. The world is node 0.
    """
    nodes = [robot._find(solid.body).node for solid in solids]
    tree, used = robot._tree.nodes, set(nodes)
    parents: dict[int, int] = {}
    for node in range(1, len(tree)):
        above = tree[node].parent
        while above > 0 and not tree[above].mass and above not in used:
            above = tree[above].parent
        parents[node] = above
    return nodes, parents


def base_of(model: Model) -> set[str]:
    """The bodies that stand still and carry what moves; other bodies that stand still are surroundings."""
    above = {joint.child: joint for joint in model.joints.values()}
    found = set()
    for joint in model.joints.values():
        body = joint.parent
        while joint.nv and body in above and body not in found:
            found.add(body)
            body = above[body].parent
    return found


def can_meet(
    one: Solid,
    other: Solid,
    nodes: tuple[int, int],
    parents: dict[int, int],
    base: set[str],
    excluded: set[frozenset[str]],
) -> bool:
    """Whether two shapes of a robot's file can meet: neither neighbours, nor excluded by the file.

    Args:
        one: of them.
        other: of them.
        nodes: what carries them.
        parents: of nodes, see `groups`.
        base: see `base_of`.
        excluded: pairs of bodies.
    """
    a, b = nodes
    surrounding = (not a and one.body not in base) or (not b and other.body not in base)
    if a == b or (not surrounding and neighbours(a, b, parents)):
        return False
    if frozenset((one.body, other.body)) in excluded:
        return False
    return bool(one.bits[0] & other.bits[1] or other.bits[0] & one.bits[1])


def neighbours(a: int, b: int, parents: dict[int, int]) -> bool:
    """Whether a joint leads from one carrier of shapes to another.

    Args:
        a: one carrier.
        b: the other.
        parents: of carriers, see `groups`.
    """
    return parents.get(a) == b or parents.get(b) == a


def standing_on(robot: Dynamics, nodes: Sequence[int]) -> set[int]:
    """The shapes that move with a foot or a wheel, by their places.

    Args:
        robot: of `wbc.load`.
        nodes: what carries each shape.
    """
    feet = {robot._find(frame).node for frame in (*robot.model.feet, *robot.model.wheels)}
    return {number for number, node in enumerate(nodes) if node and node in feet}


def in_configurations(robot: Dynamics) -> Iterator[Dynamics]:
    """A copy of a robot in its nominal configuration, then in `SAMPLES` others.

    Args:
        robot: its state is not touched.
    """
    twin, rng = robot.copy(), np.random.default_rng(0)
    for sample in range(SAMPLES + 1):
        twin.update(twin.random(rng) if sample else robot.model.nominal)
        yield twin


def touching(robot: Dynamics, engine: Engine, pairs: Sequence[tuple[int, int]]) -> tuple[MaskArray, MaskArray]:
    """Which pairs overlap in the nominal configuration, and which of them in every configuration that was tried.

    Args:
        robot: its state is not touched.
        engine: with the solids.
        pairs: of indices of its solids.
    """
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    local = np.array([solid.pose for solid in engine.solids]).reshape(-1, 4, 4)
    bodies = tuple(dict.fromkeys(solid.body for solid in engine.solids))
    on = np.array([bodies.index(solid.body) for solid in engine.solids], dtype=np.intp)
    always = nominal = np.zeros(len(first), dtype=bool)
    for sample, twin in enumerate(in_configurations(robot)):
        poses = np.array([twin.pose(body) for body in bodies])[on] @ local
        if not sample:
            nominal = engine.measure(poses, first, second).distance <= 0.0
            always = nominal.copy()
            continue
        left = np.flatnonzero(always)
        if not len(left):
            break
        always[left] = engine.measure(poses, first[left], second[left]).distance <= 0.0
    return nominal, always
