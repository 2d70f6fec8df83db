"""MuJoCo as a plant: one of our robots on a floor, or any MuJoCo model."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wbc.arrays import Array, ArrayLike, cross
from wbc.dynamics.base import Dynamics
from wbc.dynamics.load import ignorable, with_closed_loops
from wbc.errors import WbcError, WbcWarning, number, show, unknown_name
from wbc.geometry import pose as poses
from wbc.geometry import quaternion
from wbc.model.model import Model
from wbc.model.parts import constant
from wbc.model.space import ConfigurationSpace
from wbc.model.tree import Tree
from wbc.model.wheels import round_shapes
from wbc.simulation.ground import felt
from wbc.simulation.plant import Plant

try:
    import mujoco
except ImportError as error:
    raise WbcError(f"this simulator needs MuJoCo: pip install 'wbc[mujoco]' ({error})") from None

from wbc.dynamics.mujoco import robot_spec
from wbc.dynamics.reading import Options, read_model
from wbc.model.mujoco import body_names
from wbc.simulation.actuation import Actuation
from wbc.simulation.equalities import add_equalities
from wbc.simulation.mujoco_wheels import add_wheels
from wbc.simulation.scenery import add_terrain, furnish
from wbc.simulation.sliding import Chatter
from wbc.simulation.terrain import Terrain
from wbc.simulation.transmissions import add_actuators

ROLLS = 0.5
"""What touches the ground slower than this share of its frame's speed rolls there, and does not slide."""

FAR = 10.0
"""Farther away than this, m, nothing is near."""

STIFFNESS = (5e-3, 1.0)
"""Time constant, s, and damping ratio of a contact with our floor (MuJoCo's `solref`).

MuJoCo's own 20 ms is soft ground: a robot that comes down sliding goes a tenth farther on it than on hard ground. With
5 ms it rests within 4 mm and 0.4° of where it does in `Simulator`. It is five steps of a millisecond; MuJoCo needs two,
and makes a time constant that is shorter than that as long.
"""


class MujocoSimulator(Plant):
    """A robot in MuJoCo.

    A robot of an MJCF file or an `MjModel` is simulated in a copy of that model, as it is, but for its servos: motors
    that give what is commanded stand in their place. Any other robot is put on a floor, with the collision shapes of
    its file, a motor on each actuated joint, and the joints' damping and friction. Forces are measured on the model's
    feet, and wherever `measure` is told: `wbc.run` tells it the contacts of the stack.

    Args:
        robot: a robot of `wbc.load`, a `wbc.Model`, a `mujoco.MjModel`, or the path of an MJCF file.
        timestep: of the physics, s; None: a millisecond, or the model's own.
        friction: of the floor with the robot's shapes (robots of ours only).
        terrain: patches on the floor (robots of ours only); None: none.
        ignore: for a MuJoCo model: "filters" and "actuators", as for `wbc.load`. What is not used has a control of 0.

    Attributes:
        model: the robot's layout of q, v and τ.
        mj_model: MuJoCo's model, a copy of what was given.
        mj_data: MuJoCo's data.
    """

    def __init__(
        self,
        robot: Dynamics | Model | str | Path | Any,  # noqa: ANN401  mujoco is not typed for a strict checker
        timestep: float | None = None,
        friction: float = 1.0,
        ignore: Iterable[str] = (),
        *,
        terrain: Terrain | None = None,
    ) -> None:
        added: dict[str, tuple[int, Array]] = {}
        ignored = ignorable(ignore)
        if isinstance(robot, Dynamics):
            own = {name: robot._find(name) for name in robot.frames if name not in robot.model.frame_names}
            added, robot = {name: (place.node, place.pose) for name, place in own.items()}, robot.model
        if isinstance(robot, str | Path | mujoco.MjModel):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", WbcWarning)  # what rigid bodies leave out is in the plant all the same
                robot = with_closed_loops(read_model(robot, Options(ignore=ignored)))
        elif isinstance(robot, Model):
            ignored = ("filters", "actuators")  # what can't be asked for a torque was refused, or ignored, by `load`
        if not isinstance(robot, Model):
            raise WbcError(f"can't simulate {show(robot)}: give a robot of wbc.load, a mujoco.MjModel or an MJCF path")
        self.model = robot
        if robot.simulated is None:
            tree = Tree(robot)
            self.mj_model = _on_a_floor(tree, number(friction, "friction", high=1e9), terrain)
            places = {name: tree.place(name) for name in robot.frame_names} | added
        else:
            if terrain is not None:
                raise WbcError("a MuJoCo model has its own surroundings: put the terrain into its file")
            self.mj_model = copy.copy(robot.simulated)
            bodies = {name: number for number, name in enumerate(body_names(self.mj_model))}
            places = {name: (number, np.eye(4)) for name, number in bodies.items()}
            places |= {frame.name: (bodies[frame.body], frame.pose) for frame in robot.frames.values()}
            if added:
                of_node = {node: (name, pose) for name, (node, pose) in reversed(Tree(robot).places.items())}
                for name, (node, pose) in added.items():
                    body, offset = of_node[node]
                    places[name] = bodies[body], poses.inverse(offset) @ pose
        if timestep is not None:
            self.mj_model.opt.timestep = number(timestep, "timestep, s,", high=1.0, above=True)
        self.timestep = float(self.mj_model.opt.timestep)
        self._places = places
        self._space = ConfigurationSpace(self.model)
        self._actuation = Actuation(self.mj_model, self.model, ignored)
        self.mj_model.jnt_actgravcomp[:] = False  # it is no share of the torques
        self.mj_data = mujoco.MjData(self.mj_model)
        self._torque, self._delivered = np.zeros(self.model.na), np.zeros(self.model.na)
        self._pushes = dict[str, Array]()
        self._sensors: tuple[str, ...] = (*self.model.feet, *self.model.wheels)
        self._named: tuple[str, ...] = ()
        self._chatter = Chatter()
        self.reset()

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """See `Plant`."""
        mujoco.mj_resetData(self.mj_model, self.mj_data)
        self.mj_data.qpos[:] = self._space.configuration(self.model.nominal if q is None else q)
        self.mj_data.qvel[:] = np.zeros(self.model.nv) if v is None else self._space.velocity(v)
        self._torque, self._delivered, self._pushes = np.zeros(self.model.na), np.zeros(self.model.na), {}
        mujoco.mj_forward(self.mj_model, self.mj_data)

    @property
    def time(self) -> float:
        """See `Plant`."""
        return float(self.mj_data.time)

    @property
    def state(self) -> tuple[Array, Array]:
        """See `Plant`."""
        return self.mj_data.qpos.copy(), self.mj_data.qvel.copy()

    def apply(self, torque: ArrayLike) -> None:
        """See `Plant`."""
        self._torque = constant(torque, (self.model.na,), "torque")

    @property
    def torque(self) -> Array:
        """See `Plant`."""
        return self._delivered.copy()

    def push(self, frame: str, wrench: ArrayLike) -> None:
        """See `Plant`."""
        self._place(frame)
        shape = (3,) if np.shape(wrench) == (3,) else (6,)
        given = constant(wrench, shape, f"the push on {frame!r}")
        if frame not in self._pushes and not given.any():
            return  # as it is
        self._pushes[frame] = np.append(given, np.zeros(3))[:6]
        self._push()
        if not given.any():
            del self._pushes[frame]

    def _push(self) -> None:
        """Hands the pushes to MuJoCo, which applies a wrench at a body's centre of mass."""
        d = self.mj_data
        for frame in self._pushes:
            d.xfrc_applied[self._place(frame)[0]] = 0.0
        for (frame, wrench), point in zip(self._pushes.items(), self._points(self._pushes), strict=True):
            body = self._place(frame)[0]
            d.xfrc_applied[body] += wrench
            d.xfrc_applied[body, 3:] += cross(point - d.xipos[body], wrench[:3])

    @property
    def frames(self) -> tuple[str, ...]:
        """See `Plant`."""
        return tuple(self._places)

    def _place(self, frame: str) -> tuple[int, Array]:
        """MuJoCo's body, and the pose of the frame in it."""
        place = self._places.get(frame)
        if place is None:
            raise unknown_name("frame", frame, self._places)
        return place

    def _points(self, frames: Iterable[str]) -> Array:
        """Where the origins of frames are in the world, m, shape (n, 3)."""
        d, places = self.mj_data, [self._place(frame) for frame in frames]
        found = [d.xpos[body] + d.xmat[body].reshape(3, 3) @ pose[:3, 3] for body, pose in places]
        return np.array(found).reshape(-1, 3)

    def measure(self, frames: Iterable[str]) -> None:
        """See `Plant`."""
        named = list(frames)
        for frame in named:
            self._place(frame)
        self._sensors = tuple(dict.fromkeys([*self._sensors, *named]))
        known = (*self.model.feet, *self.model.wheels, *self._named)  # feet come and go
        self._named = (*self._named, *(frame for frame in dict.fromkeys(named) if frame not in known))

    def step(self) -> None:
        """See `Plant`."""
        self._push()
        self._delivered = self._actuation.control(self.mj_data, self._torque)
        mujoco.mj_step(self.mj_model, self.mj_data)

    @property
    def contact_forces(self) -> dict[str, Array]:
        """See `Plant`."""
        m, d = self.mj_model, self.mj_data
        count = 2 * d.ncon
        forces, local, contacts = np.zeros((count, 3)), np.zeros((d.ncon, 6)), d.contact
        for row in range(d.ncon):
            mujoco.mj_contactForce(m, d, row, local[row])
        # from the first geom's body on the second's
        forces[1::2] = (local[:, None, :3] @ contacts.frame.reshape(-1, 3, 3))[:, 0]
        forces[::2] = -forces[1::2]
        rigid = m.body_weldid  # bodies without a joint between them are one part
        parts = rigid[m.geom_bodyid[contacts.geom]].ravel()
        own = np.array([rigid[self._place(frame)[0]] for frame in self._sensors], dtype=np.intp)
        measured = felt(contacts.pos.repeat(2, axis=0), parts, self._points(self._sensors), own) @ forces
        found = dict(zip(self._sensors, measured, strict=True))
        for frame in self._named:
            self._chatter.look(frame, bool(found[frame].any()), partial(self._speed, frame))
        return found

    def softness(self, frame: str) -> tuple[tuple[float, float], tuple[float, ...]] | None:
        """See `Plant`: of the frame's part with what is fixed and nearest to it."""
        m, d = self.mj_model, self.mj_data
        part = m.body_weldid[m.geom_bodyid] == m.body_weldid[self._place(frame)[0]]
        ground = m.body_weldid[m.geom_bodyid] == 0
        pairs = [
            (mujoco.mj_geomDistance(m, d, a, b, FAR, None), a, b)
            for a in np.flatnonzero(part).tolist()
            for b in np.flatnonzero(ground).tolist()
            if m.geom_contype[a] & m.geom_conaffinity[b] or m.geom_contype[b] & m.geom_conaffinity[a]
        ]
        if not pairs:
            return None
        _, a, b = min(pairs)
        share = m.geom_solmix[a] / max(m.geom_solmix[a] + m.geom_solmix[b], 1e-15)
        if m.geom_priority[a] != m.geom_priority[b]:
            share = float(m.geom_priority[a] > m.geom_priority[b])
        ref, imp = (share * x[a] + (1.0 - share) * x[b] for x in (m.geom_solref, m.geom_solimp))
        return (float(ref[0]), float(ref[1])), tuple(imp.tolist())

    def _speed(self, frame: str) -> float:
        """How fast a frame's part slides where it touches something now, m/s; 0 where it rolls, or touches nothing."""
        m, d = self.mj_model, self.mj_data
        (body, pose), twist = self._place(frame), np.zeros(6)
        touching = (m.body_weldid[m.geom_bodyid[d.contact.geom]] == m.body_weldid[body]).any(axis=1)
        mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
        arms = np.vstack([d.xmat[body].reshape(3, 3) @ pose[:3, 3], d.contact.pos[touching] - d.xpos[body]])
        origin, *touched = np.linalg.norm(twist[3:] + np.cross(twist[:3], arms), axis=1)
        slowest = min(touched, default=0.0)
        return float(slowest) if slowest > ROLLS * origin else 0.0

    @property
    def trouble(self) -> str:
        """See `Plant`."""
        for kind in (
            mujoco.mjtWarning.mjWARN_BADQPOS,
            mujoco.mjtWarning.mjWARN_BADQVEL,
            mujoco.mjtWarning.mjWARN_BADQACC,
        ):
            if self.mj_data.warning[kind].number:
                return f"MuJoCo became unstable ({kind.name[7:].lower()})"
        return ""


def _on_a_floor(tree: Tree, friction: float, terrain: Terrain | None) -> Any:  # noqa: ANN401
    """A robot of ours in MuJoCo with a floor, its shapes, motors, damping and friction."""
    model = tree.model
    if model.left_out:
        raise WbcError(
            f"{model.name!r} has forces that its description here leaves out: {', '.join(model.left_out)}; simulate "
            "the MJCF file itself, or load it with ignore="
        )
    spec, bodies = robot_spec(tree)
    _compensate(tree, bodies)
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 100.0  # friction as stiff as the ground: with less, feet that are pressed sideways creep
    if model.floating:
        floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20.0, 20.0, 0.1], name="floor")
        floor.friction = [friction, 0.005, 0.0001]
        floor.contype, floor.conaffinity, floor.solref = 1, 2, STIFFNESS
        if terrain is not None:
            add_terrain(spec, terrain, friction, STIFFNESS)
    furnish(spec)
    add_equalities(spec, tree, bodies)
    kinds = {
        "box": mujoco.mjtGeom.mjGEOM_BOX,
        "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
        "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
        "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    }
    replaced = [shape for frame in model.wheels for shape in round_shapes(tree, frame)] if model.floating else []
    if model.floating:
        add_wheels(spec, bodies, tree, friction, STIFFNESS)
    for shape in model.shapes:
        node, place = tree.places[shape.body]
        pose = place @ shape.pose
        size = (
            [edge / 2 for edge in shape.size]
            if shape.kind == "box"
            else [shape.size[0], *(x / 2 for x in shape.size[1:])]
        )
        geom = bodies[node].add_geom(type=kinds[shape.kind], size=[*size, 0.0, 0.0][:3])
        geom.pos, geom.quat, geom.rgba = pose[:3, 3], quaternion.from_matrix(pose[:3, :3]), shape.color
        geom.mass = 0.0
        geom.friction = [friction, 0.005, 0.0001]
        # shapes touch the floor, not each other: neighbouring parts overlap by design
        geom.contype, geom.conaffinity = (2, 1) if shape.collides and shape not in replaced else (0, 0)
        geom.solref = STIFFNESS
        geom.group = 3 if shape.collides else 1
    for joint in model.joints.values():
        start = model.v_index[joint.name]
        for offset in range(joint.nv):
            found = spec.joint(f"velocity {start + offset}") or spec.joint(f"velocity {start}")
            _set_first(found, "damping", joint.damping)
            _set_first(found, "stiffness", joint.stiffness)
            found.frictionloss, found.springref = joint.friction, joint.rest
            if joint.actuated and joint.kind != "floating":
                motor = spec.add_actuator(name=joint.name if joint.nv == 1 else f"{joint.name} {offset + 1}")
                motor.trntype, motor.target = mujoco.mjtTrn.mjTRN_JOINT, found.name
                motor.gainprm[0] = 1.0
                motor.gear[:3] = np.eye(3)[offset if joint.kind == "spherical" else 0]
                if np.isfinite(joint.effort):
                    motor.ctrllimited, motor.ctrlrange = True, [-joint.effort, joint.effort]
    add_actuators(spec, tree, bodies)
    try:
        return spec.compile()
    except ValueError as error:  # of a part that no body can be, which was accepted with strict=False
        what = " ".join(str(error).split())
        raise WbcError(
            f"MuJoCo can't simulate {tree.model.name!r}: {what}; wbc.Simulator, simulator='builtin', can"
        ) from None


def _compensate(tree: Tree, bodies: list[Any]) -> None:
    """Tells MuJoCo's bodies, of which each may be several of ours, what carries their weight."""
    shares: dict[int, set[float]] = {}
    for body in tree.model.bodies.values():
        if body.mass:
            shares.setdefault(tree.places[body.name][0], set()).add(body.compensation)
    for node, several in shares.items():
        if len(several) > 1:
            raise WbcError(
                f"bodies that move as one with {tree.nodes[node].name!r} have different shares of their weight "
                f"compensated, {', '.join(f'{share:g}' for share in sorted(several))}; MuJoCo's body has one"
            )
        bodies[node].gravcomp = several.pop()


def _set_first(element: Any, name: str, value: float) -> None:  # noqa: ANN401
    """Sets a number that newer versions of MuJoCo have made the first coefficient of a polynomial."""
    current = getattr(element, name)
    if np.ndim(current):
        current[0] = value
    else:
        setattr(element, name, value)
