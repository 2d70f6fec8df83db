"""A robot as plain data: its bodies, joints, frames and limits, and the layout of its configuration and velocity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from wbc.arrays import Array, IntArray, numbers
from wbc.errors import WbcError, show, unknown_name
from wbc.model.actuators import Actuator
from wbc.model.loops import JointCoupling, Loop, LoopClosure
from wbc.model.parts import Body, Frame, Joint, Limits, Mesh, Plane, Shape, constant
from wbc.model.wheel import Wheel

WORLD = "world"
"""The name of the body that never moves; every model has it."""

STANDARD_GRAVITY = (0.0, 0.0, -9.81)

_KEPT = (
    "nominal",
    "feet",
    "hands",
    "shapes",
    "meshes",
    "surroundings",
    "loops",
    "actuators",
    "warnings",
    "notes",
    "simulated",
    "left_out",
    "excluded",
    "source",
)
"""Arguments of a model that it keeps under their name."""

Part = TypeVar("Part", Body, Joint, Frame, Loop)


class Model:
    """A tree of bodies and joints that starts at the world.

    Joints are kept depth first, children in the order in which they were given; `q`, `v` and `τ` follow that order. A
    model is never changed after it was made, so that robots can share it.

    Attributes:
        name: of the robot.
        bodies: by name, the world first.
        joints: by name, depth first.
        frames: the added frames by name; every body that is not virtual is a frame as well.
        gravity: acceleration of free fall in the world, m/s², shape (3,).
        nominal: a configuration to stand or rest in, shape (nq,).
        feet: names of the frames that are made to touch the ground.
        soles: for flat feet, the corners of the sole in the foot's frame, m, shape (n, 2), by foot.
        wheels: the wheels that roll on the ground, by the frame at their centres.
        hands: names of the frames that are made to touch or hold.
        shapes: primitive shapes, for pictures and for contact.
        meshes: collision meshes, as points.
        surroundings: primitive shapes and planes for contact that the file fixes to the world itself.
        loops: what closes loops in the tree: frames that stay together, joints that move together.
        warnings: unusual things in its file.
        notes: what `wbc.load` found by itself because the file does not name it: feet, soles, hands, wheels.
        simulated: the `mujoco.MjModel` that it was read from, laid out as the model is; or None.
        left_out: kinds of forces that its source has and that can't be said here; no backend computes such a robot
            without its source (see `wbc.load(ignore=)`).
        excluded: pairs of bodies that never meet, as its file says.
        source: the file that it was read from, where its meshes are looked for; None: none is known.
        nq: entries of the configuration.
        nv: entries of the velocity.
        na: actuators.
        q_index: by joint, where its coordinates start in `q`.
        v_index: by joint, where its velocities start in `v`.
        actuators: those that are not the motor of a joint; in τ they stand behind the motors.
        actuated: the index in `v` of each motor of a joint, shape (na - len(actuators),).
        limits: of all joints, as arrays.
        armature: by velocity, what the joints' rotors add to the diagonal of the mass matrix, shape (nv,).
        mass: of all moving bodies, kg.
    """

    def __init__(
        self,
        name: str,
        bodies: Iterable[Body],
        joints: Iterable[Joint],
        frames: Iterable[Frame] = (),
        *,
        gravity: Sequence[float] = STANDARD_GRAVITY,
        nominal: Array | None = None,
        feet: Iterable[str] = (),
        soles: Mapping[str, Array] | None = None,
        wheels: Mapping[str, Wheel] | None = None,
        hands: Iterable[str] = (),
        shapes: Iterable[Shape] = (),
        meshes: Iterable[Mesh] = (),
        surroundings: Iterable[Shape | Plane] = (),
        loops: Iterable[Loop] = (),
        actuators: Iterable[Actuator] = (),
        warnings: Iterable[str] = (),
        notes: Iterable[str] = (),
        simulated: Any = None,  # noqa: ANN401  mujoco has no types
        left_out: Iterable[str] = (),
        excluded: Iterable[tuple[str, str]] = (),
        source: Path | None = None,
    ) -> None:
        self.name = name
        self.bodies = MappingProxyType(_by_name("body", [Body(WORLD), *bodies]))
        self.joints = MappingProxyType(_depth_first(self.bodies, _by_name("joint", joints)))
        self.frames = MappingProxyType(_by_name("frame", frames))
        for frame in self.frames.values():
            if frame.body not in self.bodies:
                raise WbcError(f"frame {frame.name!r}: {unknown_name('body', frame.body, self.bodies)}")
            if frame.name in self.bodies:
                raise WbcError(f"the name {frame.name!r} belongs to a body; choose another for the frame")
        self.gravity = constant(gravity, (3,), f"gravity of {name!r}")
        self.shapes = tuple(shapes)
        self.meshes = tuple(meshes)
        self.surroundings = tuple(surroundings)
        self.warnings = tuple(warnings)
        self.notes = tuple(notes)
        self.simulated = simulated
        self.left_out = tuple(left_out)
        self.excluded = tuple((str(one), str(other)) for one, other in excluded)
        self.source = source
        self.feet = tuple(feet)
        self.hands = tuple(hands)
        self.soles = MappingProxyType(
            {foot: numbers(corners, f"the sole of {foot!r}") for foot, corners in (soles or {}).items()}
        )
        self.wheels = MappingProxyType(dict(wheels or {}))
        for frame_name in (*self.feet, *self.hands, *self.soles, *self.wheels):
            if frame_name not in self.frames and frame_name not in self.bodies:
                raise unknown_name("frame", frame_name, self.frame_names)
        self.loops = tuple(loops)
        self._check_loops()
        self.actuators = tuple(actuators)
        self._check_actuators()
        self._lay_out()
        self.limits = self._limits()
        moving = set(self._moving_bodies())
        self.mass = float(sum(body.mass for body in self.bodies.values() if body.name in moving))
        resting = self.neutral() if nominal is None else nominal
        self.nominal = constant(resting, (self.nq,), f"nominal configuration of {name!r}")

    def _lay_out(self) -> None:
        """Gives each joint its place in `q` and `v`."""
        self.q_index: dict[str, int] = {}
        self.v_index: dict[str, int] = {}
        nq = nv = 0
        actuated: list[int] = []
        for joint in self.joints.values():
            self.q_index[joint.name], self.v_index[joint.name] = nq, nv
            if joint.actuated:
                actuated += range(nv, nv + joint.nv)
            nq += joint.nq
            nv += joint.nv
        self.nq, self.nv, self.na = nq, nv, len(actuated) + len(self.actuators)
        joints = self.joints.values()
        self.armature = np.repeat([joint.armature for joint in joints], [joint.nv for joint in joints]).astype(float)
        self.armature.flags.writeable = False
        self.actuated: IntArray = np.array(actuated, dtype=np.intp)
        self.actuated.flags.writeable = False

    def _check_loops(self) -> None:
        """Raises a `WbcError` if a loop names a frame or joint that does not exist."""
        for loop in self.loops:
            if isinstance(loop, LoopClosure):
                for frame in (loop.a, loop.b):
                    if frame not in self.frame_names:
                        raise WbcError(f"loop {loop.name!r}: {unknown_name('frame', frame, self.frame_names)}")
            elif isinstance(loop, JointCoupling):
                for name in (*loop.joints, *loop.follows):
                    if name not in self.joints:
                        raise WbcError(f"coupling {loop.name!r}: {unknown_name('joint', name, self.joints)}")
                    if self.joints[name].nq != 1:
                        raise WbcError(
                            f"coupling {loop.name!r}: joint {name!r} has several coordinates; couple joints with one"
                        )
            else:
                raise WbcError(f"loops must be wbc.LoopClosure or wbc.JointCoupling objects, not {show(loop)}")
        _by_name("loop", self.loops)

    def _check_actuators(self) -> None:
        """Raises a `WbcError` if an actuator names a joint or frame that does not exist."""
        taken = {joint.name for joint in self.joints.values() if joint.actuated}
        for actuator in self.actuators:
            if not isinstance(actuator, Actuator):
                raise WbcError(f"actuators must be wbc.Actuator objects, not {show(actuator)}")
            if actuator.name in taken:
                raise WbcError(f"two actuators share the name {show(actuator.name)}; names must be unique")
            taken.add(actuator.name)
            for name, rate in actuator.acts.items():
                if name not in self.joints:
                    raise WbcError(f"actuator {actuator.name!r}: {unknown_name('joint', name, self.joints)}")
                if self.joints[name].nv != len(rate):
                    count = self.joints[name].nv
                    raise WbcError(
                        f"actuator {actuator.name!r}: joint {name!r} has {count} velocities, not {len(rate)}"
                    )
            for frame in filter(None, (actuator.frame, actuator.against)):
                if frame not in self.frame_names:
                    raise WbcError(f"actuator {actuator.name!r}: {unknown_name('frame', frame, self.frame_names)}")

    def drives(self, joint: str) -> bool:
        """Whether an actuator acts on a joint: a motor of its own, or one through a tendon or gears."""
        return self.joint(joint).actuated or any(joint in actuator.acts for actuator in self.actuators)

    def _limits(self) -> Limits:
        moving = [joint for joint in self.joints.values() if joint.nv]
        sizes = [joint.nv for joint in moving]
        velocity = np.repeat([joint.velocity for joint in moving], sizes)
        effort = np.repeat([joint.effort for joint in moving], sizes)
        lower = np.repeat([joint.lower if joint.nv == 1 else -np.inf for joint in moving], sizes)
        upper = np.repeat([joint.upper if joint.nv == 1 else np.inf for joint in moving], sizes)
        arrays = [np.asarray(a, dtype=float).reshape(self.nv) for a in (lower, upper, velocity, effort)]
        arrays[3] = np.append(arrays[3][self.actuated], [actuator.effort for actuator in self.actuators])
        arrays.append(np.append(-arrays[3][: len(self.actuated)], [actuator.lowest for actuator in self.actuators]))
        for array in arrays:
            array.flags.writeable = False
        return Limits(*arrays)

    def _moving_bodies(self) -> list[str]:
        """Names of the bodies that some joint with a velocity carries, directly or through others."""
        moving: set[str] = set()
        for joint in self.joints.values():
            if joint.nv or joint.parent in moving:
                moving.add(joint.child)
        return [name for name in self.bodies if name in moving]

    @property
    def floating(self) -> bool:
        """Whether the robot has a free base: its first moving joint is a floating one in the world's frame."""
        first = next((joint for joint in self.joints.values() if joint.nv), None)
        if first is None or first.kind != "floating":
            return False
        carrying = {joint.child: joint for joint in self.joints.values()}
        body = first.parent  # the world, or a link that stands for it
        while body in carrying:
            if not np.array_equal(carrying[body].pose, np.eye(4)):
                return False
            body = carrying[body].parent
        return True

    @property
    def root(self) -> str:
        """The body that the rest of the robot hangs on: a floating base, or the first on the world with motors."""
        if self.floating:
            return next(joint.child for joint in self.joints.values() if joint.nv)
        carried: dict[str, str] = {}  # by body, that of its tree on the world
        first = WORLD
        for joint in self.joints.values():
            tree = carried[joint.child] = carried.get(joint.parent, joint.child)
            first = tree if first == WORLD else first
            if self.drives(joint.name):
                return tree
        return first

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that move, in the order of `q` and `v`, without the floating base."""
        names = [joint.name for joint in self.joints.values() if joint.nv]
        return tuple(names[1:] if self.floating else names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Every name that stands for a frame: bodies, then added frames."""
        return (*(body.name for body in self.bodies.values() if not body.virtual), *self.frames)

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        found = self.joints.get(name)
        if found is None:
            raise unknown_name("joint", name, self.joints)
        return found

    def neutral(self) -> Array:
        """The configuration at the origin: all coordinates zero, quaternions 1, 0, 0, 0. Shape (nq,)."""
        q = np.zeros(self.nq)
        for start in self.quaternions():
            q[start] = 1.0
        return q

    def quaternions(self) -> list[int]:
        """Where in `q` each quaternion starts."""
        return [
            self.q_index[joint.name] + (3 if joint.kind == "floating" else 0)
            for joint in self.joints.values()
            if joint.kind in ("spherical", "floating")
        ]

    def with_frame(self, frame: Frame) -> Model:
        """The same model with one frame more; bodies, joints and shapes are shared."""
        if frame.name in self.frames:
            raise WbcError(f"a frame {frame.name!r} exists already")
        return self.replace(frames=[*self.frames.values(), frame])

    def replace(self, **changes: Any) -> Model:  # noqa: ANN401  of the arguments of many kinds
        """The same model with some arguments replaced.

        Args:
            changes: arguments of `Model`, by name.
        """
        parts = self._given()
        unknown = [part for part in changes if part not in parts]
        if unknown:
            raise unknown_name("part of a model", unknown[0], parts)
        return Model(**{**parts, **changes})

    def with_loops(self, *loops: Loop) -> Model:
        """The same model with more loops."""
        return self.replace(loops=[*self.loops, *loops])

    def with_nominal(self, nominal: Array) -> Model:
        """The same model with another configuration to stand or rest in, shape (nq,)."""
        return self.replace(nominal=nominal)

    def _given(self) -> dict[str, Any]:
        """The arguments that make the same model."""
        return {
            "name": self.name,
            "bodies": [body for body in self.bodies.values() if body.name != WORLD],
            "joints": list(self.joints.values()),
            "frames": list(self.frames.values()),
            "gravity": tuple(self.gravity),
            "soles": dict(self.soles),
            "wheels": dict(self.wheels),
            **{part: getattr(self, part) for part in _KEPT},
        }

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Model:
        return self  # it never changes

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_anew, (self._given(), type(self))

    def __repr__(self) -> str:
        base = "floating" if self.floating else "fixed"
        return f"Model({self.name!r}, {base} base, nq={self.nq}, nv={self.nv}, na={self.na}, {self.mass:.3g} kg)"


def _made_anew(given: dict[str, Any], kind: type[Model]) -> Model:
    """A model of the arguments that `Model._given` gave."""
    return kind(**given)


def _by_name(kind: str, parts: Iterable[Part]) -> dict[str, Part]:
    named: dict[str, Part] = {}
    for part in parts:
        if part.name in named:
            several = "bodies" if kind == "body" else f"{kind}s"
            raise WbcError(f"two {several} share the name {show(part.name)}; names must be unique")
        named[part.name] = part
    return named


def _depth_first(bodies: Mapping[str, Body], joints: Mapping[str, Joint]) -> dict[str, Joint]:
    """The joints from the world outwards; a body without a way to the world, or with two, is an error."""
    below: dict[str, list[Joint]] = {name: [] for name in bodies}
    carried: dict[str, str] = {}
    for joint in joints.values():
        for role, body in (("parent", joint.parent), ("child", joint.child)):
            if body not in bodies:
                raise WbcError(f"joint {joint.name!r}: unknown {role}: {unknown_name('body', body, bodies)}")
        if joint.child in carried:
            raise WbcError(
                f"body {joint.child!r} is the child of two joints, {carried[joint.child]!r} and {joint.name!r}; "
                "a tree allows one (cut the loop at one of them)"
            )
        carried[joint.child] = joint.name
        below[joint.parent].append(joint)
    ordered: dict[str, Joint] = {}
    waiting = below[WORLD][::-1]
    while waiting:
        joint = waiting.pop()
        ordered[joint.name] = joint
        waiting += below[joint.child][::-1]
    if len(ordered) < len(joints):
        loose = [joint.name for joint in joints.values() if joint.name not in ordered]
        raise WbcError(f"joints {show(loose)} form a loop that is not connected to the world")
    adrift = [name for name in bodies if name != WORLD and name not in carried]
    if adrift:
        raise WbcError(f"bodies {show(adrift)} are not connected: each needs a joint to the rest of the robot")
    return ordered
