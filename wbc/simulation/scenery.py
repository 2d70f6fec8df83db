"""A robot's surroundings in MuJoCo: what they look like, and the terrain that it walks on."""

from __future__ import annotations

import math
from typing import Any

import mujoco

from wbc.geometry import quaternion, so3
from wbc.simulation.terrain import THICK, Terrain

TILE = 0.25
"""Edge of a tile of the floor, m."""

EXTENT = 1.2
"""Size of what is looked at, m."""


def furnish(spec: Any) -> None:  # noqa: ANN401  mujoco is not typed for a strict checker
    """Gives a scene a tiled floor, that motion can be seen against, a sky, and a light that casts shadows.

    Args:
        spec: a `mujoco.MjSpec`; its plane named "floor" gets the tiles, and one that nothing touches is added if there
            is none.
    """
    floor = spec.geom("floor")
    if floor is None:
        floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20.0, 20.0, 0.1], name="floor")
        floor.contype = floor.conaffinity = 0
    tiles = spec.add_texture(
        name="tiles",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        width=64,
        height=64,
        rgb1=[0.93, 0.94, 0.95],
        rgb2=[0.82, 0.85, 0.88],
    )
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        width=16,
        height=16,
        rgb1=[0.96, 0.97, 0.98],
        rgb2=[0.96, 0.97, 0.98],
    )
    material = spec.add_material(name="floor", texuniform=True, texrepeat=[0.5 / TILE] * 2, reflectance=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = tiles.name
    floor.material = material.name
    # A light that goes with the robot, so that its shadows, which are drawn around it, are sharp everywhere.
    body = spec.worldbody.first_body() or spec.worldbody
    light = body.add_light(pos=[1.0, -1.5, 3.0], dir=[-0.3, 0.45, -0.85], castshadow=True)
    light.mode, light.type = mujoco.mjtCamLight.mjCAMLIGHT_TRACK, mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    light.diffuse, light.specular = [0.55] * 3, [0.1] * 3
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.35] * 3, [0.25] * 3
    spec.visual.quality.shadowsize, spec.visual.map.shadowclip = 1024, 2.0
    spec.stat.extent = EXTENT  # else the floor would set the scale of shadows and of the viewer's first look


def add_terrain(spec: Any, terrain: Terrain, friction: float, stiffness: tuple[float, float]) -> None:  # noqa: ANN401
    """Adds the patches of a terrain as boxes, whose tops are the patches.

    Args:
        spec: a `mujoco.MjSpec`.
        terrain: to add.
        friction: of the patches with the robot's shapes.
        stiffness: MuJoCo's `solref` of a contact.
    """
    for number, patch in enumerate(terrain.patches):
        (x0, x1), (y0, y1), (z0, z1) = patch.x, patch.y, patch.z
        pitch = math.atan2(z0 - z1, x1 - x0)
        R = so3.exp([0.0, pitch, 0.0])
        deep = THICK + abs(z1 - z0)
        box = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, name=f"patch {number}")
        box.size = [math.hypot(x1 - x0, z1 - z0) / 2, (y1 - y0) / 2, deep / 2]
        middle = [(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2]
        box.pos, box.quat = [a - deep / 2 * n for a, n in zip(middle, R[:, 2], strict=True)], quaternion.from_matrix(R)
        box.friction, box.solref = [friction, 0.005, 0.0001], stiffness
        box.contype, box.conaffinity = 1, 2
        shade = 0.74 + 0.08 * (number % 2)
        box.rgba = [shade, shade + 0.03, shade + 0.07, 1.0]
