"""MuJoCo as a plant: a robot of ours on a floor, or any MuJoCo model as it is."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from wbc.arrays import Array, ArrayLike
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, WbcWarning, show, unknown_name
from wbc.geometry import quaternion
from wbc.model.model import Model
from wbc.model.space import ConfigurationSpace
from wbc.model.tree import Tree
from wbc.simulation.plant import Plant

try:
    import mujoco
except ImportError as error:
    raise WbcError(f"this simulator needs MuJoCo: pip install 'wbc[mujoco]' ({error})") from None

from wbc.dynamics.mujoco import robot_spec
from wbc.model.mujoco import body_names, from_mujoco, read_mjcf
from wbc.simulation.actuation import Actuation


class MujocoSimulator(Plant):
    """A robot in MuJoCo.

    A robot of `wbc.load` is put on a floor, with the collision shapes of its file, a motor on each actuated joint, and
    the joints' damping and friction; a MuJoCo model is taken as it is.

    Args:
        robot: a robot of `wbc.load`, a `wbc.Model`, a `mujoco.MjModel`, or the path of an MJCF file.
        timestep: of the physics, s; None: a millisecond, or the model's own.
        friction: of the floor with the robot's shapes (robots of ours only).

    Attributes:
        model: the robot's layout of q, v and τ.
        mj_model: MuJoCo's model.
        mj_data: MuJoCo's data.
    """

    def __init__(
        self,
        robot: Dynamics | Model | str | Path | Any,  # noqa: ANN401  mujoco is not typed for a strict checker
        timestep: float | None = None,
        friction: float = 1.0,
    ) -> None:
        if isinstance(robot, Dynamics):
            robot = robot.model
        if isinstance(robot, str | Path):
            robot = read_mjcf(Path(robot))
        if isinstance(robot, Model):
            self.model = robot
            tree = Tree(robot)
            self.mj_model = _on_a_floor(tree, friction)
            numbers = {name: (node, pose) for name, (node, pose) in tree.places.items()}
        elif isinstance(robot, mujoco.MjModel):
            self.mj_model = robot
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", WbcWarning)  # what rigid bodies leave out is in the plant all the same
                self.model = from_mujoco(robot)
            numbers = {name: (number, np.eye(4)) for number, name in enumerate(body_names(robot))}
        else:
            raise WbcError(f"can't simulate {show(robot)}: give a robot of wbc.load, a mujoco.MjModel or an MJCF path")
        if timestep is not None:
            if not 0 < timestep < 1:
                raise WbcError(f"timestep = {timestep} must be a time in s, between 0 and 1")
            self.mj_model.opt.timestep = timestep
        self.timestep = float(self.mj_model.opt.timestep)
        self.mj_data = mujoco.MjData(self.mj_model)
        self._bodies = numbers
        self._space = ConfigurationSpace(self.model)
        self._actuation = Actuation(self.mj_model, self.model)
        self._torque = np.zeros(self.model.na)
        self.reset()

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """See `Plant`."""
        mujoco.mj_resetData(self.mj_model, self.mj_data)
        self.mj_data.qpos[:] = self._space.configuration(self.model.nominal if q is None else q)
        self.mj_data.qvel[:] = np.zeros(self.model.nv) if v is None else self._space.velocity(v)
        self._torque[:] = 0.0
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
        given = np.array(torque, dtype=float)
        if given.shape != (self.model.na,) or not np.isfinite(given).all():
            raise WbcError(f"torque must be {self.model.na} finite numbers, not {show(torque)}")
        self._torque = given

    def push(self, frame: str, wrench: ArrayLike) -> None:
        """See `Plant`."""
        place = self._bodies.get(frame)
        if place is None:
            raise unknown_name("body", frame, self._bodies)
        body, pose = place
        given = np.zeros(6)
        values = np.array(wrench, dtype=float)
        if values.shape not in ((3,), (6,)) or not np.isfinite(values).all():
            raise WbcError(f"the push on {frame!r} must be 3 or 6 finite numbers, not {show(wrench)}")
        given[: len(values)] = values
        R = self.mj_data.xmat[body].reshape(3, 3)
        point = self.mj_data.xpos[body] + R @ pose[:3, 3]
        given[3:] += np.cross(point - self.mj_data.xipos[body], given[:3])  # MuJoCo applies it at the centre of mass
        self.mj_data.xfrc_applied[body] = given

    def step(self) -> None:
        """See `Plant`."""
        self._actuation.control(self.mj_data, self._torque)
        mujoco.mj_step(self.mj_model, self.mj_data)

    @property
    def contact_forces(self) -> dict[str, Array]:
        """See `Plant`."""
        m, d = self.mj_model, self.mj_data
        by_body: dict[int, Array] = {}
        local = np.zeros(6)
        for number in range(d.ncon):
            contact = d.contact[number]
            mujoco.mj_contactForce(m, d, number, local)
            force = contact.frame.reshape(3, 3).T @ local[:3]  # from the first geom's body on the second's
            for geom, sign in ((contact.geom1, -1.0), (contact.geom2, 1.0)):
                body = int(m.geom_bodyid[geom])
                by_body[body] = by_body.get(body, np.zeros(3)) + sign * force
        return {foot: by_body.get(self._bodies[foot][0], np.zeros(3)).copy() for foot in self.model.feet}

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


def _on_a_floor(tree: Tree, friction: float) -> Any:  # noqa: ANN401
    """A robot of ours in MuJoCo with a floor, its shapes, motors, damping and friction."""
    model = tree.model
    spec, bodies = robot_spec(tree)
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 100.0  # friction as stiff as the ground: with less, feet that are pressed sideways creep
    if model.floating:
        floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20.0, 20.0, 0.1], name="floor")
        floor.friction = [friction, 0.005, 0.0001]
        floor.contype, floor.conaffinity = 1, 2
        floor.rgba = [0.9, 0.91, 0.92, 1.0]
    kinds = {
        "box": mujoco.mjtGeom.mjGEOM_BOX,
        "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
        "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
        "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    }
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
        geom.contype, geom.conaffinity = (2, 1) if shape.collides else (0, 0)
        geom.group = 3 if shape.collides else 1
    for joint in model.joints.values():
        start = model.v_index[joint.name]
        for offset in range(joint.nv):
            found = spec.joint(f"velocity {start + offset}") or spec.joint(f"velocity {start}")
            _set_first(found, "damping", joint.damping)
            _set_first(found, "stiffness", joint.stiffness)
            found.frictionloss, found.springref = joint.friction, joint.rest
        if joint.actuated and joint.nv == 1:
            motor = spec.add_actuator(name=joint.name, target=f"velocity {start}")
            motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
            motor.gainprm[0], motor.gear[0] = 1.0, 1.0
            if np.isfinite(joint.effort):
                motor.ctrllimited, motor.ctrlrange = True, [-joint.effort, joint.effort]
        elif joint.actuated:
            raise WbcError(f"joint {joint.name!r} has {joint.nv} velocities; MuJoCo's motors drive joints with one")
    return spec.compile()


def _set_first(element: Any, name: str, value: float) -> None:  # noqa: ANN401
    """Sets a number that newer versions of MuJoCo have made the first coefficient of a polynomial."""
    current = getattr(element, name)
    if np.ndim(current):
        current[0] = value
    else:
        setattr(element, name, value)
