"""The middle of a page: the robot, its contacts, and the forces on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.collision.solid import Solid
from wbc.geometry import quaternion
from wbc.web.commands import Aim, Command, Shove
from wbc.web.drawn import cone_triangles, pressure_point, support_polygon
from wbc.web.gaps import NEAR, Gap
from wbc.web.picture import Line, Picture, Scenery, Touch
from wbc.web.shapes import solid_triangles

ARROW = 1.0
"""Length of an arrow for a force of the robot's weight, m; for robots of the size of a person or a dog."""

GREEN, GREY, RED, YELLOW, BLUE = (30, 140, 70), (120, 130, 140), (225, 30, 50), (240, 190, 40), (60, 120, 210)
SAND = (215, 195, 150)

GRACE = 1.0
"""Time after a drag during which a target stays where it was dragged to, s of the clock."""

MOVED = 1e-3
"""Lines between near bodies are drawn anew when an end has moved by this, m."""

SHOWN = {
    "contact forces": True,
    "measured forces": False,
    "friction cones": True,
    "support polygon": True,
    "center of mass": True,
    "distances": True,
    "obstacles": True,
    "targets": True,
    "camera follows": True,
}
"""Options of what is shown beside the robot, with their initial values."""


class Stage:
    """The three-dimensional part of a page.

    Args:
        server: viser's.
        scenery: what is shown.
        send: where commands go.
    """

    def __init__(self, server: Any, scenery: Scenery, send: Callable[[Command], None]) -> None:  # noqa: ANN401
        self._scene, self._scenery, self._send = server.scene, scenery, send
        self._robot = scenery.robot
        self.force, self.duration = 0.3 * scenery.weight, 0.2
        self.shown = dict(SHOWN)
        self._robot.update(self._robot.model.nominal)
        self._extent = _extent(scenery)
        self._scale = ARROW * min(max(self._extent, 0.1), 2.0) / 1.2 / scenery.weight
        self._scene.set_up_direction("+z")
        self._scene.configure_default_lights(
            cast_shadow=False
        )  # they cost a browser without a graphics card half its time
        self._scene.add_grid(
            "/ground", infinite_grid=True, fade_distance=8.0 * max(self._extent, 0.5), cell_size=0.1, section_size=0.5
        )
        self._bodies = self._add_bodies()
        self._cones = {touch.name: self._add_cone(touch) for touch in scenery.touches if touch.friction is not None}
        self._com: Any = self._scene.add_icosphere("/com", radius=0.02 * max(self._extent, 0.3), color=YELLOW)
        self._plumb: Any = self._scene.add_icosphere("/plumb", radius=0.012 * max(self._extent, 0.3), color=YELLOW)
        self._gizmos = {line.name: self._add_gizmo(line) for line in scenery.lines if line.drags}
        self._dragged: dict[str, float] = {}
        self._followed = self._middle() * [1.0, 1.0, 0.0]
        self._gaps = np.zeros((0, 2, 3), np.float32)
        self._obstacles: dict[str, tuple[Solid, Any]] = {}
        self._there: dict[str, Any] = {}  # what is made anew in every picture

    def look_at(self, client: Any) -> None:  # noqa: ANN401  of viser
        """Puts the camera of a browser where it sees the robot.

        Args:
            client: viser's.
        """
        middle = self._middle()
        away = 1.0 * max(self._extent, 0.3)
        client.camera.position = tuple(middle + away * np.array([1.0, -1.1, 0.55]))
        client.camera.look_at = tuple(middle)

    def follow(self, clients: Iterable[Any]) -> None:
        """Takes cameras along with a robot that went away, and leaves the sight that a person has chosen.

        Args:
            clients: viser's, each a browser.
        """
        middle = self._middle() * [1.0, 1.0, 0.0]
        step = middle - self._followed
        if np.linalg.norm(step) < 0.1 * max(self._extent, 0.3):
            return
        self._followed = middle
        if self.shown["camera follows"]:
            for client in clients:
                client.camera.position = tuple(np.array(client.camera.position) + step)  # what it looks at comes along

    def show(self, picture: Picture) -> None:
        """Shows a moment.

        Args:
            picture: of the robot that the scenery has.
        """
        self._robot.update(picture.q)
        for body, frame in self._bodies.items():
            _place(frame, self._robot.pose(body))
        self._show_forces(picture)
        self._show_support(picture)
        self._show_gaps(picture)
        self._show_obstacles(picture)
        self._show_gizmos(picture)

    def _middle(self) -> Array:
        if not self._bodies:
            return np.array(self._robot.com)
        places = np.array([self._robot.pose(body)[:3, 3] for body in self._bodies])
        return np.asarray((places.min(axis=0) + places.max(axis=0)) / 2)

    def _add_bodies(self) -> dict[str, Any]:
        """A frame for each body that is seen, with its surfaces; a click pushes it."""
        frames: dict[str, Any] = {}
        for number, surface in enumerate(self._scenery.surfaces):
            path = f"/robot/{_path(surface.body)}"
            if surface.body not in frames:
                frames[surface.body] = self._scene.add_frame(path, show_axes=False)
            handle = self._scene.add_mesh_simple(
                f"{path}/{number}",
                np.asarray(surface.vertices, np.float32),
                np.asarray(surface.faces, np.uint32),
                color=tuple(round(255 * part) for part in surface.color[:3]),
                opacity=None if surface.color[3] >= 1.0 else surface.color[3],
                flat_shading=True,
                side="double",
            )
            if surface.body in self._scenery.pushable:
                handle.on_click(self._pusher(surface.body))
        return frames

    def _pusher(self, body: str) -> Callable[[Any], None]:
        def push(event: Any) -> None:  # noqa: ANN401  of viser
            way = np.array(event.ray_direction)
            force = self.force * way / max(float(np.linalg.norm(way)), 1e-9)
            self._send(Shove(body, tuple(map(float, force)), self.duration))

        return push

    def _add_cone(self, touch: Touch) -> Any:  # noqa: ANN401  of viser
        vertices, faces = cone_triangles(touch.friction or 0.0, np.array(touch.normal), 0.12 * max(self._extent, 0.3))
        return self._scene.add_mesh_simple(
            f"/cones/{_path(touch.name)}",
            vertices,
            faces,
            color=GREEN,
            opacity=0.25,
            side="double",
            cast_shadow=False,
            visible=False,
        )

    def _add_gizmo(self, line: Line) -> Any:  # noqa: ANN401  of viser
        handle = self._scene.add_transform_controls(
            f"/targets/{_path(line.name)}",
            scale=0.16 * max(self._extent, 0.3),
            disable_axes=line.drags == "orientation",
            disable_sliders=line.drags == "orientation",
            disable_rotations=line.drags in ("position", "center of mass"),
            depth_test=False,
        )

        def moved(event: Any) -> None:  # noqa: ANN401  of viser
            if event.client is None:  # it was set here, and nobody dragged it
                return
            self._dragged[line.name] = perf_counter()
            pose = np.eye(4)
            pose[:3, :3] = quaternion.to_matrix(np.array(handle.wxyz))
            pose[:3, 3] = handle.position
            self._send(Aim(line.name, pose[:3, 3] if line.drags == "center of mass" else pose))

        handle.on_update(moved)
        return handle

    # --- of a moment -------------------------------------------------------------------------------------------

    def _renew(self, name: str, make: Callable[[], Any] | None) -> None:
        """Replaces or removes an object that changes its size from picture to picture."""
        old = self._there.pop(name, None)
        if make is not None:
            self._there[name] = make()
        elif old is not None:
            old.remove()

    def _show_forces(self, picture: Picture) -> None:
        """Arrows from where forces act; cones where contacts are closed."""
        arrows, measured = [], []
        for touch in self._scenery.touches:
            force = picture.forces.get(touch.name)
            if force is None or touch.frame not in self._robot.frames:
                continue
            place = pressure_point(self._robot.pose(touch.frame), force, touch)
            arrows.append((place, place + self._scale * force[:3]))
            if touch.name in self._cones:
                cone = self._cones[touch.name]
                cone.visible = self.shown["friction cones"] and bool(np.any(force[:3]))
                turn = np.eye(3) if touch.on is None else self._robot.pose(touch.on)[:3, :3]
                cone.position, cone.wxyz = tuple(place), tuple(quaternion.from_matrix(turn))
        for frame, force in picture.measured.items():
            if frame in self._robot.frames:
                place = self._robot.pose(frame)[:3, 3]
                measured.append((place, place + self._scale * force[:3]))
        pushes = []
        for frame, push in picture.pushes:
            end = self._robot.pose(frame)[:3, 3]
            pushes.append((end - 1.5 * self._scale * np.array(push), end))
        self._arrows("/forces", arrows if self.shown["contact forces"] else [], GREEN, 1.0)
        self._arrows("/measured", measured if self.shown["measured forces"] else [], GREY, 0.6)
        self._arrows("/pushes", pushes, RED, 1.6)

    def _arrows(self, name: str, arrows: list[tuple[Array, Array]], color: tuple[int, int, int], thick: float) -> None:
        long = [arrow for arrow in arrows if np.linalg.norm(arrow[1] - arrow[0]) > 1e-3]
        if not long:
            self._renew(name, None)
            return
        radius = 0.008 * thick * max(self._extent, 0.3)
        points = np.array(long)
        self._renew(
            name,
            lambda: self._scene.add_arrows(
                name, points, color, shaft_radius=radius, head_radius=2.5 * radius, head_length=5 * radius
            ),
        )

    def _show_support(self, picture: Picture) -> None:
        """The polygon of what is stood on, and the centre of mass above it."""
        com = np.array(self._robot.com)
        corners = []
        for touch in self._scenery.touches:
            force = picture.forces.get(touch.name)
            if touch.on is None and force is not None and np.any(force[:3]) and touch.frame in self._robot.frames:
                T = self._robot.pose(touch.frame)
                corners += [T[:3, :3] @ corner + T[:3, 3] for corner in map(_three, touch.corners or ((0.0, 0.0),))]
        polygon = support_polygon(np.array(corners)) if corners else None
        height = float(np.mean([corner[2] for corner in corners])) if corners else 0.0
        self._com.visible = self._plumb.visible = self.shown["center of mass"]
        self._com.position, self._plumb.position = tuple(com), (com[0], com[1], height)
        if polygon is None or not self.shown["support polygon"]:
            self._renew("/support", None)
            self._renew("/edge", None)
            return
        lifted = np.column_stack([polygon, np.full(len(polygon), height + 2e-3)]).astype(np.float32)
        faces: IntArray = np.array([(0, k, k + 1) for k in range(1, len(lifted) - 1)], dtype=np.intp)
        if len(faces):
            self._renew(
                "/support",
                lambda: self._scene.add_mesh_simple(
                    "/support", lifted, faces, color=BLUE, opacity=0.3, side="double", cast_shadow=False
                ),
            )
        else:
            self._renew("/support", None)
        edges = np.stack([lifted, np.roll(lifted, -1, axis=0)], axis=1)
        self._renew("/edge", lambda: self._scene.add_line_segments("/edge", edges, BLUE))

    def _show_gaps(self, picture: Picture) -> None:
        """Lines between the nearest points of near shapes: red within their margin, yellow near it."""
        gaps = picture.gaps if self.shown["distances"] else ()
        points = np.array([(gap.first, gap.second) for gap in gaps], dtype=np.float32).reshape(-1, 2, 3)
        if points.shape == self._gaps.shape and np.allclose(points, self._gaps, rtol=0.0, atol=MOVED):
            return  # a browser without a graphics card is spared what nobody would see
        self._gaps = points
        colors = np.array([[gap_color(gap)] * 2 for gap in gaps], dtype=np.uint8)
        lines = (lambda: self._scene.add_line_segments("/gaps", points, colors)) if gaps else None
        self._renew("/gaps", lines)

    def _show_obstacles(self, picture: Picture) -> None:
        """What stands around the robot, where it is now."""
        present = {obstacle.solid.name: obstacle for obstacle in picture.obstacles if self.shown["obstacles"]}
        for name, (solid, handle) in list(self._obstacles.items()):
            if name not in present or not _same(present[name].solid, solid):
                handle.remove()
                del self._obstacles[name]
        for name, (solid, pose) in present.items():
            if name not in self._obstacles:
                surface = solid_triangles(solid)
                if surface is None:
                    continue
                vertices, faces = surface
                handle = self._scene.add_mesh_simple(
                    f"/obstacles/{_path(name)}",
                    np.asarray(vertices, np.float32),
                    np.asarray(faces, np.uint32),
                    color=SAND,
                    opacity=0.7,
                    side="double",
                )
                self._obstacles[name] = solid, handle
            _place(self._obstacles[name][1], pose)

    def _show_gizmos(self, picture: Picture) -> None:
        """Targets: where they are set; those that move or are held ride on their frames."""
        clock = perf_counter()
        for line in self._scenery.lines:
            gizmo = self._gizmos.get(line.name)
            if gizmo is None:
                continue
            on = self.shown["targets"] and picture.presence.get(line.name, 0.0) > 0.0
            if gizmo.visible != on:
                gizmo.visible = on
            if not on or clock - self._dragged.get(line.name, -GRACE) < GRACE:
                continue
            target = picture.targets.get(line.name)
            pose = np.eye(4)
            if line.drags == "center of mass":
                pose[:3, 3] = self._robot.com
            else:
                pose = np.array(self._robot.pose(line.frame or ""))
            if target is not None:
                if target.shape == (4, 4):
                    pose = target
                elif target.shape == (3, 3):
                    pose[:3, :3] = target
                else:
                    pose[:3, 3] = target
            _place(gizmo, pose)


def gap_color(gap: Gap) -> tuple[int, int, int]:
    """The colour of a distance."""
    return RED if gap.distance < gap.margin else YELLOW if gap.distance < gap.margin + 0.5 * NEAR else GREY


def _same(one: Solid, other: Solid) -> bool:
    """Whether two shapes look alike."""
    return (one.kind, one.size) == (other.kind, other.size) and np.array_equal(one.points, other.points)  # type: ignore[arg-type]


def _three(corner: tuple[float, ...]) -> Array:
    """A corner of a sole, two numbers or three, as a point."""
    return np.array([*corner, 0.0][:3], dtype=float)


def _extent(scenery: Scenery) -> float:
    """The size of the robot, m."""
    robot = scenery.robot
    points = [robot.pose(s.body)[:3, :3] @ s.vertices.T + robot.pose(s.body)[:3, 3:] for s in scenery.surfaces]
    if not points:
        return 1.0
    everything = np.hstack(points)
    return float(np.linalg.norm(everything.max(axis=1) - everything.min(axis=1)))


def _path(name: str) -> str:
    """A name as a part of a path in viser's tree."""
    return name.replace("/", "_") or "_"


def _place(handle: Any, pose: Array) -> None:  # noqa: ANN401  of viser
    handle.position, handle.wxyz = tuple(pose[:3, 3]), tuple(quaternion.from_matrix(pose[:3, :3]))
