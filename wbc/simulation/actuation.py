"""Torques that reach the joints of a MuJoCo model as they were commanded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.errors import WbcError
from wbc.geometry import quaternion
from wbc.model.model import Model
from wbc.model.mujoco_actuators import FILTERS, Drive, drives, mujoco
from wbc.model.mujoco_transmissions import other_drives
from wbc.simulation.transmissions import Others


class Actuation:
    """Makes motors of the actuators of a model, and tells them what to give.

    A servo's bias, −kp q − kv v, moves on with the state within a step, and some integrators take it at the step's end:
    however its control is chosen, what it gives is not what was asked of it. So a motor takes its place, and what the
    servo could not have given in the state where the step begins is cut off. Of several actuators on a joint the first
    gives what it can, the next the rest. Where there are no actuators, or some whose filters are ignored, the torque is
    a force applied to the joint.

    Args:
        m: the `mujoco.MjModel` that is simulated; its actuators are changed.
        model: the robot read from it.
        ignore_filters: see `wbc.load(ignore=["filters"])`.
    """

    def __init__(self, m: Any, model: Model, ignore_filters: bool = False) -> None:  # noqa: ANN401  mujoco has no types
        others = other_drives(m, _driven(m, model), (FILTERS,) if ignore_filters else ())
        on_velocity: dict[int, list[Drive]] = {}
        for drive in drives(m, (FILTERS,) if ignore_filters else ()):
            on_velocity.setdefault(int(m.jnt_dofadr[drive.joint]), []).append(drive)
        axes: list[tuple[int, int, list[Drive]]] = []
        self._balls: list[_Ball] = []
        self._size = 0
        for joint in model.joints.values():
            if not joint.actuated:
                continue
            q, v = model.q_index[joint.name], model.v_index[joint.name]
            if joint.kind == "floating":
                raise WbcError(f"joint {joint.name!r} is floating: no motor of MuJoCo drives it")
            if joint.kind == "spherical":
                self._balls.append(_Ball(slice(self._size, self._size + 3), q, v, on_velocity.get(v, [])))
            else:
                axes += [(q + offset, v + offset, on_velocity.get(v + offset, [])) for offset in range(joint.nv)]
            self._size += joint.nv
        for _, _, several in [*axes, *((0, 0, ball.drives) for ball in self._balls)]:
            for drive in several:
                _make_motor(m, drive)
        self._others = Others(m, others, self._size)
        for drive in others:
            _make_motor(m, drive)
        of_balls = {n for ball in self._balls for n in range(ball.torques.start, ball.torques.stop)}
        self._axes = _Axes(m, [n for n in range(self._size) if n not in of_balls], axes)

    def control(self, d: Any, torque: Array) -> Array:  # noqa: ANN401
        """Sets controls and applied forces so that the actuators exert these torques from now on, as far as they can.

        Args:
            d: MuJoCo's data.
            torque: shape (na,).

        Returns:
            The torques that they exert, shape (na,).
        """
        delivered = torque.copy()
        self._axes.control(d, delivered)
        for ball in self._balls:
            ball.control(d, delivered)
        self._others.control(d, delivered)
        return delivered


def _driven(m: Any, model: Model) -> set[int]:  # noqa: ANN401
    """The joints that have motors, by MuJoCo's number."""
    velocities = {model.v_index[joint.name] for joint in model.joints.values() if joint.actuated}
    return {number for number in range(m.njnt) if int(m.jnt_dofadr[number]) in velocities}


def _make_motor(m: Any, drive: Drive) -> None:  # noqa: ANN401
    """Makes a motor of an actuator, whose ranges are looked after here; one that answers late is switched off."""
    n = drive.number
    m.actuator_gaintype[n], m.actuator_biastype[n] = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_NONE
    m.actuator_gainprm[n], m.actuator_biasprm[n] = 0.0, 0.0
    m.actuator_gainprm[n, 0] = 0.0 if drive.late else 1.0
    m.actuator_forcelimited[n] = m.actuator_ctrllimited[drive.control] = False


class _Ranges:
    """What drives can give in a state.

    Args:
        several: the drives.
    """

    def __init__(self, several: Sequence[Drive]) -> None:
        self._ends = np.array([sorted(drive.gain * drive.controls) for drive in several]).reshape(-1, 2).T
        self._forces = np.array([drive.forces for drive in several]).reshape(-1, 2).T
        self._bias = np.array([drive.bias for drive in several]).reshape(-1, 3).T

    def forces(self, length: Array, speed: Array) -> tuple[Array, Array]:
        """The least and the greatest forces, shapes (n,), for lengths and speeds of the actuators."""
        bias = self._bias[0] + self._bias[1] * length + self._bias[2] * speed
        low, high = np.clip(self._ends + bias, *self._forces)
        return low, high


class _Axes:
    """The joints with one coordinate.

    Args:
        m: the model.
        torques: where each stands in τ.
        axes: of each, where it stands in q and v, and its drives.
    """

    def __init__(self, m: Any, torques: list[int], axes: list[tuple[int, int, list[Drive]]]) -> None:  # noqa: ANN401
        self._torques: IntArray = np.array(torques, dtype=np.intp)
        drives_of = [[] if any(drive.late for drive in several) else several for _, _, several in axes]
        applied = [axis for axis, several in enumerate(drives_of) if not several]
        self._applied: IntArray = np.array(applied, dtype=np.intp)
        self._applied_v: IntArray = np.array([axes[axis][1] for axis in applied], dtype=np.intp)
        flat = [drive for several in drives_of for drive in several]
        self._axis: IntArray = np.repeat(np.arange(len(axes)), [len(several) for several in drives_of])
        self._q: IntArray = np.array([axis[0] for axis in axes], dtype=np.intp)[self._axis]
        self._v: IntArray = np.array([axis[1] for axis in axes], dtype=np.intp)[self._axis]
        rank = np.array([n for several in drives_of for n in range(len(several))], dtype=np.intp)
        self._rounds = [np.flatnonzero(rank == n) for n in range(rank.max(initial=-1) + 1)]
        self._gear, self._ranges = np.array([drive.gear[0] for drive in flat]), _Ranges(flat)
        self._controls: IntArray = np.array([drive.control for drive in flat], dtype=np.intp)
        joints = m.dof_jntid[np.array([axis[1] for axis in axes], dtype=np.intp)]
        limited = m.jnt_actfrclimited[joints].astype(bool)
        self._low = np.where(limited, m.jnt_actfrcrange[joints, 0], -np.inf)
        self._high = np.where(limited, m.jnt_actfrcrange[joints, 1], np.inf)
        m.jnt_actfrclimited[joints[limited]] = False
        # MuJoCo lets motors give the gravity compensation, within their range; here it is a passive force
        lifts = m.jnt_actgravcomp[joints].astype(bool) & limited
        self._lifting, self._lifting_v = np.flatnonzero(lifts), np.array([axis[1] for axis in axes], np.intp)[lifts]

    def control(self, d: Any, torque: Array) -> None:  # noqa: ANN401
        """See `Actuation`; writes what is delivered over what is asked for."""
        low, high = self._low, self._high
        if len(self._lifting):
            low, high = low.copy(), high.copy()
            low[self._lifting] -= d.qfrc_gravcomp[self._lifting_v]
            high[self._lifting] -= d.qfrc_gravcomp[self._lifting_v]
        wanted = np.clip(torque[self._torques], low, high)
        gear, axis = self._gear, self._axis
        ends = [gear * force for force in self._ranges.forces(gear * d.qpos[self._q], gear * d.qvel[self._v])]
        low, high = np.minimum(*ends), np.maximum(*ends)
        given = np.clip(0.0, low, high)
        left = wanted - np.bincount(axis, given, len(wanted))
        for one_of_each in self._rounds:
            at = axis[one_of_each]
            more = np.clip(given[one_of_each] + left[at], low[one_of_each], high[one_of_each])
            left[at] -= more - given[one_of_each]
            given[one_of_each] = more
        d.ctrl[self._controls] = given / gear
        left[self._applied] = 0.0
        torque[self._torques] = wanted - left
        d.qfrc_applied[self._applied_v] = wanted[self._applied]


class _Ball:
    """A ball joint.

    Args:
        torques: where it stands in τ.
        q: where it stands in q.
        v: where it stands in v.
        several: its drives.
    """

    def __init__(self, torques: slice, q: int, v: int, several: list[Drive]) -> None:
        self.torques, self.drives = torques, several
        self._q, self._v = slice(q, q + 4), slice(v, v + 3)
        self._late = not several or any(drive.late for drive in several)
        self._gears = np.array([drive.gear for drive in several]).reshape(-1, 3)
        self._inverse, self._ranges = np.linalg.pinv(self._gears.T), _Ranges(several)
        self._controls: IntArray = np.array([drive.control for drive in several], dtype=np.intp)

    def control(self, d: Any, torque: Array) -> None:  # noqa: ANN401
        """See `Actuation`; writes what is delivered over what is asked for."""
        if self._late:
            d.qfrc_applied[self._v] = torque[self.torques]
            return
        length = self._gears @ quaternion.to_rotation_vector(d.qpos[self._q])
        force = self._inverse @ torque[self.torques]
        given = np.clip(force, *self._ranges.forces(length, self._gears @ d.qvel[self._v]))
        d.ctrl[self._controls] = given
        torque[self.torques] = self._gears.T @ given
