"""The collision shapes of a robot and its surroundings, and the pairs whose distances are measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array, ArrayLike, IntArray, numbers
from wbc.collision.adding import Adding, placed
from wbc.collision.engine import Engine, Witnesses, make_engine
from wbc.collision.reading import (
    base_of,
    can_meet,
    groups,
    in_configurations,
    neighbours,
    solids_of,
    standing_on,
    touching,
)
from wbc.collision.solid import Solid, SolidKind
from wbc.copies import Independent
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.model import markup
from wbc.model.bounds import read_bounded
from wbc.model.model import WORLD
from wbc.model.parts import constant


class Nearest(NamedTuple):
    """Two shapes and their distance.

    Attributes:
        first: name of a shape.
        second: name of another one.
        distance: m; negative where they overlap.
    """

    first: str
    second: str
    distance: float


class CollisionGeometry(Adding, Independent):
    """The collision shapes of a robot and its world, and the pairs of them that can meet.

    The robot's shapes are those of its file: primitives, and meshes by their convex hulls. Pairs are all of its shapes
    but: those of one part and of neighbours (with one joint between them), those that the file excludes, and those that
    overlap in its nominal configuration. Shapes that are added to the world or a body are paired with all shapes that
    move relative to them, except neighbours. `notes` lists what was left out.

    Args:
        robot: of `wbc.load`.
        engine: "coal" (of the extra `pinocchio`; all shapes as they are), "own" (numpy alone; cylinders and meshes are
            covered by capsules or boxes), or "auto": coal where it is installed.
        meshes: further folders with meshes, or one.
        shapes: whether to include the shapes of the robot's file; otherwise there are none at first.

    Attributes:
        robot: it is only read.
        notes: what was left out, and why.
        version: changes with each change of shapes and pairs.
    """

    def __init__(
        self,
        robot: Dynamics,
        engine: str = "auto",
        meshes: str | Path | Iterable[str | Path] = (),
        *,
        shapes: bool = True,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"a collision geometry needs a robot of wbc.load, not {show(robot)}")
        folders = [Path(meshes)] if isinstance(meshes, str | Path) else [Path(folder) for folder in meshes]
        for folder in folders:
            if not folder.is_dir():
                raise WbcError(f"meshes: there is no folder {show(str(folder))}")
        self.robot, self._folders, self._engine_name = robot, folders, engine
        self._solids: dict[str, Solid] = {}
        self._pairs: dict[tuple[str, str], None] = {}
        self._moved: dict[str, tuple[Array, Array]] = {}
        self._added: dict[str, None] = {}
        self._engine: Engine | None = None
        self.notes: list[str] = []
        self.version = 0
        make_engine(engine, ())
        if shapes:
            self._read()

    def _read(self) -> None:
        """Takes the shapes and pairs of the robot's file."""
        model = self.robot.model
        solids, self.notes = solids_of(model, self._folders)
        self._solids = {solid.name: solid for solid in solids}
        nodes, parents = groups(self.robot, solids)
        excluded, base = {frozenset(pair) for pair in model.excluded}, base_of(model)
        pairs = [
            (i, j)
            for i in range(len(solids))
            for j in range(i)
            if can_meet(solids[i], solids[j], (nodes[i], nodes[j]), parents, base, excluded)
        ]
        touches = standing_on(self.robot, nodes)
        pairs = [(i, j) for i, j in pairs if (nodes[i] and nodes[j]) or not touches.intersection((i, j))]
        if touches and not all(nodes):
            self.notes.append("feet and wheels may touch what surrounds the robot: with it they are no pairs")
        if pairs:
            nominal, always = touching(self.robot, self.engine, pairs)
            for (i, j), now, ever in zip(pairs, nominal, always, strict=True):
                if not now:
                    self._pairs[solids[j].name, solids[i].name] = None
                    continue
                when = "in every configuration" if ever else "in the nominal configuration"
                self.notes.append(f"{solids[j].name} and {solids[i].name} overlap {when} and are left out of the pairs")
        self._changed()

    def _changed(self) -> None:
        self._engine = None
        self.version += 1

    @property
    def engine(self) -> Engine:
        """What measures; made anew after shapes were added or removed."""
        if self._engine is None:
            self._engine = make_engine(self._engine_name, tuple(self._solids.values()))
        return self._engine

    @property
    def solids(self) -> dict[str, Solid]:
        """All shapes by name; a copy."""
        return dict(self._solids)

    @property
    def added(self) -> tuple[str, ...]:
        """The names of the shapes that were added: they are not of the robot's file."""
        return tuple(self._added)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of shapes that are looked at, by their names."""
        return tuple(self._pairs)

    def indices(self) -> tuple[IntArray, IntArray]:
        """The pairs as indices of the solids, shape (pairs,) each."""
        order = {name: number for number, name in enumerate(self._solids)}
        found = np.array([(order[one], order[other]) for one, other in self._pairs], dtype=np.intp).reshape(-1, 2)
        return found[:, 0].copy(), found[:, 1].copy()

    # --- shapes -------------------------------------------------------------------------------------------------------

    def _add(
        self,
        name: str,
        kind: SolidKind,
        size: tuple[float, ...],
        pose: ArrayLike | None,
        body: str,
        points: ArrayLike | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise WbcError(f"a shape's name must be a non-empty text, not {show(name)}")
        whose = f"shape {show(name)}"
        if name in self._solids:
            raise WbcError(f"a shape {name!r} exists already")
        if body not in self.robot.frames:
            raise WbcError(f"{whose}: {unknown_name('frame', body, self.robot.frames)}")
        place = placed(pose, whose)
        if points is not None:  # about their middle, which broad looks are taken at
            corners = numbers(points, f"{whose}: its points")
            shift = np.eye(4)
            shift[:3, 3] = corners.mean(axis=0) if corners.ndim == 2 and corners.shape[1:] == (3,) else 0.0
            place, points = place @ shift, corners - shift[:3, 3] if corners.shape[1:] == (3,) else corners
        solid = Solid(name, body, kind, size, place, points)
        solids = [*self._solids.values(), solid]
        nodes, parents = groups(self.robot, solids)
        mine = nodes[-1]
        self._solids[name] = solid
        self._added[name] = None
        for other, node in zip(solids[:-1], nodes[:-1], strict=True):
            beside = mine and node and neighbours(mine, node, parents)
            if mine != node and not beside and not (kind == "plane" == other.kind):
                self._pairs[other.name, name] = None
        self._changed()

    def remove(self, name: str) -> None:
        """Takes a shape away, with all its pairs.

        Args:
            name: of the shape.
        """
        if name not in self._solids:
            raise unknown_name("shape", name, self._solids)
        del self._solids[name]
        self._moved.pop(name, None)
        self._added.pop(name, None)
        self._pairs = {pair: None for pair in self._pairs if name not in pair}
        self._changed()

    def move(self, name: str, pose: ArrayLike, twist: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)) -> None:
        """Sets the pose and the velocity of a shape of the world. It may be called before every tick.

        Args:
            name: of a shape on "world".
            pose: in the world, shape (4, 4), or its centre, shape (3,), m.
            twist: linear velocity of its origin and angular velocity, world axes, m/s and rad/s, shape (6,).
        """
        solid = self._solids.get(name)
        if solid is None:
            raise unknown_name("shape", name, self._solids)
        if solid.body != WORLD:
            raise WbcError(f"shape {name!r} is fixed to {solid.body!r}; only shapes on 'world' can be moved")
        whose = f"shape {name!r}"
        self._moved[name] = placed(pose, whose), constant(twist, (6,), f"{whose}: its twist")

    @property
    def moved(self) -> dict[str, tuple[Array, Array]]:
        """Poses in the world, m, and twists, m/s and rad/s, of shapes of the world that were moved."""
        return self._moved

    # --- pairs --------------------------------------------------------------------------------------------------------

    def add_pair(self, first: str, second: str) -> None:
        """Adds a pair, also of neighbours or of bodies that the file excludes.

        Args:
            first: name of a shape, or of a body: all of its shapes.
            second: likewise.
        """
        for one in self._named(first):
            for other in self._named(second):
                if one == other:
                    raise WbcError(f"shape {one!r} can't be paired with itself")
                if self._solids[one].kind == self._solids[other].kind == "plane":
                    raise WbcError(f"{one!r} and {other!r} are planes: they have no distance")
                if (other, one) not in self._pairs:
                    self._pairs[one, other] = None
        self.version += 1

    def remove_pair(self, first: str, second: str) -> None:
        """Removes a pair.

        Args:
            first: name of a shape, or of a body: all of its shapes.
            second: likewise.
        """
        ones, others = self._named(first), self._named(second)
        gone = [
            pair
            for pair in self._pairs
            if (pair[0] in ones and pair[1] in others) or (pair[1] in ones and pair[0] in others)
        ]
        if not gone:
            raise WbcError(f"{show(first)} and {show(second)} are not a pair")
        for pair in gone:
            del self._pairs[pair]
        self.version += 1

    def keep_pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Removes all other pairs.

        Args:
            pairs: of `pairs`: the names of two shapes each.
        """
        kept = {tuple(pair): None for pair in pairs}
        for first, second in kept:
            if (first, second) not in self._pairs:
                raise WbcError(f"{show(first)} and {show(second)} are not a pair")
        self._pairs = {pair: None for pair in self._pairs if pair in kept}
        self.version += 1

    def exclude(self, srdf: str | Path) -> int:
        """Removes the pairs that an SRDF file disables; bodies that have no shapes here are passed over.

        Args:
            srdf: path of the file.

        Returns:
            How many pairs were removed.
        """
        root = markup.parse(read_bounded(srdf))
        if root.tag != "robot":
            raise WbcError(f"{srdf}: it is not an SRDF file: its first element is <{root.tag}>, not <robot>")
        off = {frozenset((e.get("link1") or "", e.get("link2") or "")) for e in root.all("disable_collisions")}
        kept = {
            pair: None
            for pair in self._pairs
            if frozenset((self._solids[pair[0]].body, self._solids[pair[1]].body)) not in off
        }
        gone = len(self._pairs) - len(kept)
        self._pairs = kept
        self.version += 1
        return gone

    def _named(self, name: str) -> list[str]:
        """The shapes of a name: the one called so, or all of a body."""
        if name in self._solids and not any(s.body == name and s.name != name for s in self._solids.values()):
            return [name]
        found = [solid.name for solid in self._solids.values() if solid.body == name]
        if not found:
            raise unknown_name("shape or body with shapes", name, [*self._solids])
        return found

    # --- distances ----------------------------------------------------------------------------------------------------

    def poses(self, robot: Dynamics) -> Array:
        """Where all shapes are in the world, shape (solids, 4, 4).

        Args:
            robot: updated.
        """
        found = np.empty((len(self._solids), 4, 4))
        for number, (name, solid) in enumerate(self._solids.items()):
            moved = self._moved.get(name)
            found[number] = robot.pose(solid.body) @ solid.pose if moved is None else moved[0]
        return found

    def witnesses(self, robot: Dynamics) -> Witnesses:
        """The nearest points of all pairs, in their order.

        Args:
            robot: updated.
        """
        return self.engine.measure(self.poses(robot), *self.indices())

    def room(self, margin: float) -> Array:
        """The margin that each pair can have, m, shape (pairs,).

        Two parts of a robot may be nearer than `margin` in every configuration that is tried: such a pair can have half
        of its least distance.

        Args:
            margin: that is wanted, m.
        """
        first, second = self.indices()
        found, least = np.full(len(first), margin), np.full(len(first), np.inf)
        solids = list(self._solids.values())
        on_robot = np.array([solid.body != WORLD for solid in solids], dtype=bool)
        left = np.flatnonzero(on_robot[first] & on_robot[second])
        for robot in in_configurations(self.robot):
            if not len(left):
                break
            distance = self.engine.measure(self.poses(robot), first[left], second[left]).distance
            least[left] = np.minimum(least[left], distance)
            left = left[distance < margin]
        found[left] = 0.5 * np.maximum(least[left], 0.0)
        return found

    def nearest(self, robot: Dynamics, count: int = 1) -> list[Nearest]:
        """The pairs that are nearest to each other, the nearest first.

        Args:
            robot: updated.
            count: how many.
        """
        distance = self.witnesses(robot).distance
        pairs = self.pairs
        return [
            Nearest(pairs[k][0], pairs[k][1], float(distance[k]))
            for k in np.argsort(distance, kind="stable")[:count].tolist()
        ]

    def __repr__(self) -> str:
        count, pairs, by = len(self._solids), len(self._pairs), self.engine.name
        return f"<CollisionGeometry of {self.robot.model.name!r}: {count} shapes, {pairs} pairs, engine {by!r}>"
