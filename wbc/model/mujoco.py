"""Reads a robot from a `mujoco.MjModel`: `q` and `v` have the layout of its `qpos` and `qvel`."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from wbc.arrays import Array, MaskArray
from wbc.geometry import pose as poses
from wbc.geometry import quaternion, so3
from wbc.model.findings import Findings
from wbc.model.model import WORLD, Model
from wbc.model.mujoco_actuators import disabled, joint_efforts, mujoco, reflected
from wbc.model.mujoco_loops import read_loops
from wbc.model.mujoco_rest import forces_left_out, note_the_rest
from wbc.model.mujoco_transmissions import read_actuators, thruster_sites
from wbc.model.parts import Body, Frame, Joint, JointKind, Mesh, Plane, Shape


def body_names(m: Any) -> list[str]:  # noqa: ANN401
    """What the bodies of an `MjModel` are called here: their names, or "body_3" where they have none."""
    return [WORLD, *_named("body", [m.body(number).name for number in range(1, m.nbody)], 1)]


def _named(kind: str, names: list[str], first: int = 0) -> list[str]:
    """The names, with unique ones made of kind and number in place of those that are empty."""
    taken, complete = set(names), []
    for number, given in enumerate(names, start=first):
        name = given or f"{kind}_{number}"
        while not given and name in taken:
            name += "_"
        taken.add(name)
        complete.append(name)
    return complete


def from_mujoco(m: Any, ignore: Collection[str] = ()) -> Model:  # noqa: ANN401
    """The robot in a `mujoco.MjModel`: all that moves in it.

    Joints that an actuator drives are actuated (all with one coordinate, if there are no actuators); sites are frames.
    Equality constraints are loops. Forces that rigid bodies can't express (fluids, tendons) are its `left_out`.

    Args:
        m: the model; it is only read.
        ignore: what not to say of it, and to do without: see `wbc.load`.
    """
    name = m.names[: m.names.find(b"\0")].decode() or "MuJoCo model"
    found = Findings(f"MuJoCo model {name!r}")
    names = body_names(m)
    joint_names = _named("joint", [m.joint(number).name for number in range(m.njnt)])
    bodies: list[Body] = []
    joints: list[Joint] = []
    efforts = joint_efforts(m, found, ignore)
    rotors = reflected(m)
    for number in range(1, m.nbody):
        R = quaternion.to_matrix(m.body_iquat[number])
        inertia = R @ np.diag(m.body_inertia[number]) @ R.T
        mass, com = float(m.body_mass[number]), m.body_ipos[number].copy()
        bodies.append(Body(names[number], mass, com, inertia, compensation=float(m.body_gravcomp[number])))
        _hang(m, number, names, joint_names, bodies, joints, efforts, rotors)
    loops = read_loops(m, names, joint_names, found, ignore)
    note_the_rest(m, found, ignore)
    taken = {*names}
    frames, sites = [], dict[int, str]()
    pushed = thruster_sites(m)
    for number in range(m.nsite):
        site = m.site(number).name or (f"site_{number}" if number in pushed else "")
        if not site:
            continue
        while site in taken:
            site += "_site"
        taken.add(site)
        sites[number] = site
        pose = _pose(m.site_pos[number], m.site_quat[number])
        frames.append(Frame(site, names[m.site_bodyid[number]], pose))
    actuators = read_actuators(m, joint_names, sites, efforts, found, ignore)
    found.emit()
    shapes, surroundings = _shapes(m, names)
    return Model(
        name,
        bodies,
        joints,
        frames,
        gravity=(0.0, 0.0, 0.0) if disabled(m, "GRAVITY") else tuple(m.opt.gravity),
        nominal=(m.key_qpos[0] if m.nkey else m.qpos0).copy(),
        shapes=shapes,
        meshes=_meshes(m, names),
        surroundings=surroundings,
        loops=loops,
        actuators=actuators,
        warnings=found.warnings,
        simulated=m,
        left_out=forces_left_out(m, ignore),
        excluded=[(names[one >> 16], names[one & 0xFFFF]) for one in m.exclude_signature.tolist()],
    )


def _hang(
    m: Any,  # noqa: ANN401
    number: int,
    names: list[str],
    joint_names: list[str],
    bodies: list[Body],
    joints: list[Joint],
    efforts: dict[int, float],
    rotors: tuple[Array, Array],
) -> None:
    """Adds the joints between a body and its parent; between several of them stand virtual bodies."""
    name, carrier = names[number], names[m.body_parentid[number]]
    pose = _pose(m.body_pos[number], m.body_quat[number])
    first, count = int(m.body_jntadr[number]), int(m.body_jntnum[number])
    for index in range(first, first + count):
        kind = m.jnt_type[index]
        q, v = int(m.jnt_qposadr[index]), int(m.jnt_dofadr[index])
        ours: JointKind
        anchor, axis, at_zero = np.eye(4), np.array([1.0, 0.0, 0.0]), np.eye(4)
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            ours, pose = "floating", np.eye(4)  # its position is in the world, whatever the body's pose is
        else:
            anchor[:3, 3] = m.jnt_pos[index]
            if kind == mujoco.mjtJoint.mjJNT_BALL:
                ours = "spherical"
            else:  # MuJoCo's body is in its place at qpos0, ours at zero
                axis, reference = m.jnt_axis[index].copy(), m.qpos0[q]
                if kind == mujoco.mjtJoint.mjJNT_HINGE:
                    ours = "revolute" if m.jnt_limited[index] else "continuous"
                    at_zero[:3, :3] = so3.exp(-reference * axis)
                else:
                    ours = "prismatic"
                    at_zero[:3, 3] = -reference * axis
        last, joint_name = index == first + count - 1, joint_names[index]
        child = name if last and not anchor[:3, 3].any() else f"{name} at {joint_name}"
        scalar, limited = ours in ("revolute", "continuous", "prismatic"), bool(m.jnt_limited[index])
        joints.append(
            Joint(
                joint_name,
                ours,
                carrier,
                child,
                pose @ anchor @ at_zero,
                axis,
                lower=float(m.jnt_range[index, 0]) if limited and scalar else -math.inf,
                upper=float(m.jnt_range[index, 1]) if limited and scalar else math.inf,
                effort=efforts.get(index, math.inf),
                armature=float(rotors[0][v]),
                damping=0.0 if disabled(m, "DAMPER") else float(rotors[1][v]),
                friction=0.0 if disabled(m, "FRICTIONLOSS") else float(m.dof_frictionloss[v]),
                stiffness=float(m.jnt_stiffness[index]) if scalar and not disabled(m, "SPRING") else 0.0,
                rest=float(m.qpos_spring[q]) if scalar else 0.0,
                actuated=index in efforts,
            )
        )
        if child != name:
            bodies.append(Body(child, virtual=True))
        carrier, pose = child, poses.inverse(anchor)
    if carrier != name:
        joints.append(Joint(f"{name} to {carrier}", "fixed", carrier, name, pose, actuated=False))


def _shapes(m: Any, names: list[str]) -> tuple[list[Shape], list[Shape | Plane]]:  # noqa: ANN401
    """The primitive shapes of a model: those of its bodies, and those for contact of the world's own body."""
    shapes: list[Shape] = []
    surroundings: list[Shape | Plane] = []
    touching = solid(m)
    for number in range(m.ngeom):
        body, size = int(m.geom_bodyid[number]), m.geom_size[number].tolist()
        pose = _pose(m.geom_pos[number], m.geom_quat[number])
        red, green, blue, alpha = m.geom_rgba[number].tolist()
        bits = int(m.geom_contype[number]), int(m.geom_conaffinity[number])
        match m.geom_type[number]:
            case mujoco.mjtGeom.mjGEOM_BOX:
                shape = Shape(names[body], "box", (2 * size[0], 2 * size[1], 2 * size[2]), pose)
            case mujoco.mjtGeom.mjGEOM_SPHERE:
                shape = Shape(names[body], "sphere", (size[0],), pose)
            case mujoco.mjtGeom.mjGEOM_CYLINDER:
                shape = Shape(names[body], "cylinder", (size[0], 2 * size[1]), pose)
            case mujoco.mjtGeom.mjGEOM_CAPSULE:
                shape = Shape(names[body], "capsule", (size[0], 2 * size[1]), pose)
            case mujoco.mjtGeom.mjGEOM_PLANE if not body and touching[number]:
                surroundings.append(Plane(pose, bits))
                continue
            case _:
                continue
        shape = replace(shape, color=(red, green, blue, alpha), collides=bool(touching[number]), bits=bits)
        if body:
            shapes.append(shape)
        elif shape.collides:
            surroundings.append(shape)
    return shapes, surroundings


def _meshes(m: Any, names: list[str]) -> list[Mesh]:  # noqa: ANN401
    """The meshes and ellipsoids of a model that are there for contact, without those of the world's own body."""
    meshes, touching = [], solid(m)
    for number in range(m.ngeom):
        body, pose = int(m.geom_bodyid[number]), _pose(m.geom_pos[number], m.geom_quat[number])
        if not body or not touching[number]:
            continue
        match m.geom_type[number]:
            case mujoco.mjtGeom.mjGEOM_MESH:
                mesh = int(m.geom_dataid[number])
                first = int(m.mesh_vertadr[mesh])
                points = m.mesh_vert[first : first + int(m.mesh_vertnum[mesh])]
            case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
                points = m.geom_size[number] * _DIRECTIONS
            case _:
                continue
        bits = int(m.geom_contype[number]), int(m.geom_conaffinity[number])
        meshes.append(Mesh(names[body], points @ pose[:3, :3].T + pose[:3, 3], bits))
    return meshes


def solid(m: Any) -> MaskArray:  # noqa: ANN401
    """Which geoms are there for contact, shape (ngeom,): a pair that is named touches whatever its types say."""
    touches: MaskArray = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
    touches[m.pair_geom1[:]] = touches[m.pair_geom2[:]] = True
    return touches


def _sphere(count: int = 500) -> Array:
    """Directions spread evenly over a sphere, along a spiral, shape (count, 3)."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.pi * (1.0 + math.sqrt(5.0)) * np.arange(count)
    ring = np.sqrt(1.0 - z**2)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])


_DIRECTIONS = np.vstack([_sphere(), np.eye(3), -np.eye(3)])


def _pose(position: Array, orientation: Array) -> Array:
    """A homogeneous transform from a position and a quaternion (w, x, y, z)."""
    return poses.homogeneous(quaternion.to_matrix(orientation), position)
