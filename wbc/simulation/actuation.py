"""Applies torques to the joints of a MuJoCo model exactly as commanded."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from wbc.arrays import Array, IntArray
from wbc.errors import WbcError
from wbc.model.model import Model
from wbc.model.mujoco_actuators import Drive, drives, mujoco
from wbc.model.mujoco_transmissions import other_drives
from wbc.simulation.transmissions import Others


class Actuation:
    """Turns the actuators of a model into motors, and sets their torques.

    A servo's bias, −kp q − kv v, moves on with the state within a step, and some integrators take it at the step's end:
    however its control is chosen, what it gives is not what was asked of it. So a motor as strong as the servo takes
    its place (`Drive.reach`). Of several actuators on a joint the first gives what it can, the next the rest. Where
    there are no actuators, or some whose filters are ignored, the torque is a force applied to the joint.

    Args:
        m: the `mujoco.MjModel` that is simulated; its actuators are changed.
        model: the robot read from it.
        ignore: see `wbc.load`.
    """

    def __init__(self, m: Any, model: Model, ignore: Collection[str] = ()) -> None:  # noqa: ANN401  mujoco has no types
        others = other_drives(m, _driven(m, model), ignore)
        on_velocity: dict[int, list[Drive]] = {}
        for drive in drives(m, ignore):
            on_velocity.setdefault(int(m.jnt_dofadr[drive.joint]), []).append(drive)
        axes: list[tuple[int, list[Drive]]] = []
        self._balls: list[_Ball] = []
        self._size = 0
        for joint in model.joints.values():
            if not joint.actuated:
                continue
            v = model.v_index[joint.name]
            if joint.kind == "floating":
                raise WbcError(f"joint {joint.name!r} is floating: no motor of MuJoCo drives it")
            if joint.kind == "spherical":
                self._balls.append(_Ball(slice(self._size, self._size + 3), v, on_velocity.get(v, [])))
            else:
                axes += [(v + offset, on_velocity.get(v + offset, [])) for offset in range(joint.nv)]
            self._size += joint.nv
        for several in [*(several for _, several in axes), *(ball.drives for ball in self._balls)]:
            for drive in several:
                _make_motor(m, drive)
        self._others = Others(others, self._size)
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
    actuated = [joint for joint in model.joints.values() if joint.actuated]
    velocities = {model.v_index[joint.name] + offset for joint in actuated for offset in range(joint.nv)}
    return {number for number in range(m.njnt) if int(m.jnt_dofadr[number]) in velocities}


def _make_motor(m: Any, drive: Drive) -> None:  # noqa: ANN401
    """Makes a motor of an actuator, whose ranges are looked after here; one that answers late is switched off."""
    n = drive.number
    m.actuator_gaintype[n], m.actuator_biastype[n] = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_NONE
    m.actuator_gainprm[n], m.actuator_biasprm[n] = 0.0, 0.0
    m.actuator_gainprm[n, 0] = 0.0 if drive.late else 1.0
    m.actuator_forcelimited[n] = m.actuator_ctrllimited[drive.control] = False


class _Axes:
    """The joints with one coordinate.

    Args:
        m: the model.
        torques: where each stands in τ.
        axes: of each, where it stands in v, and its drives.
    """

    def __init__(self, m: Any, torques: list[int], axes: list[tuple[int, list[Drive]]]) -> None:  # noqa: ANN401
        self._torques: IntArray = np.array(torques, dtype=np.intp)
        velocities = np.array([v for v, _ in axes], dtype=np.intp)
        late = [not several or any(drive.late for drive in several) for _, several in axes]
        self._applied, self._applied_v = np.flatnonzero(late), velocities[late]
        flat = [drive for _, several in axes for drive in several]
        self._axis: IntArray = np.repeat(np.arange(len(axes)), [len(several) for _, several in axes])
        rank = np.array([n for _, several in axes for n in range(len(several))], dtype=np.intp)
        self._rounds = [np.flatnonzero(rank == n) for n in range(rank.max(initial=-1) + 1)]
        self._controls: IntArray = np.array([drive.control for drive in flat], dtype=np.intp)
        self._gear = np.array([drive.gear[0] for drive in flat])
        reach = np.array([drive.reach() for drive in flat]).reshape(-1, 2) * self._gear[:, None]
        self._least, self._most = reach.min(axis=1), reach.max(axis=1)
        self._nothing = np.clip(0.0, self._least, self._most)  # what a drive gives that is asked for nothing
        self._low, self._high = np.full((2, len(axes)), [[-np.inf], [np.inf]])
        driven = np.unique(self._axis)
        for ends, own in ((self._low, self._least), (self._high, self._most)):
            ends[driven] = np.bincount(self._axis, own, len(axes))[driven]
        joints = m.dof_jntid[velocities]
        limited = m.jnt_actfrclimited[joints].astype(bool)
        self._low[limited] = np.maximum(self._low, m.jnt_actfrcrange[joints, 0])[limited]
        self._high[limited] = np.minimum(self._high, m.jnt_actfrcrange[joints, 1])[limited]
        m.jnt_actfrclimited[joints[limited]] = False
        # MuJoCo lets motors give the gravity compensation, within their range; here it is a passive force
        lifts = m.jnt_actgravcomp[joints].astype(bool) & limited
        self._lifting, self._lifting_v = np.flatnonzero(lifts), velocities[lifts]

    def control(self, d: Any, torque: Array) -> None:  # noqa: ANN401
        """See `Actuation`; writes what is delivered over what is asked for."""
        low, high = self._low, self._high
        if len(self._lifting):
            low, high = low.copy(), high.copy()
            low[self._lifting] -= d.qfrc_gravcomp[self._lifting_v]
            high[self._lifting] -= d.qfrc_gravcomp[self._lifting_v]
        wanted = np.minimum(np.maximum(torque[self._torques], low), high)
        axis, low, high = self._axis, self._least, self._most
        given = self._nothing.copy()
        left = wanted - np.bincount(axis, given, len(wanted))
        for one_of_each in self._rounds:
            at = axis[one_of_each]
            more = np.minimum(np.maximum(given[one_of_each] + left[at], low[one_of_each]), high[one_of_each])
            left[at] -= more - given[one_of_each]
            given[one_of_each] = more
        d.ctrl[self._controls] = given / self._gear
        torque[self._torques] = wanted
        d.qfrc_applied[self._applied_v] = wanted[self._applied]


class _Ball:
    """A ball joint.

    Args:
        torques: where it stands in τ.
        v: where it stands in v.
        several: its drives.
    """

    def __init__(self, torques: slice, v: int, several: list[Drive]) -> None:
        self.torques, self.drives = torques, several
        self._v = slice(v, v + 3)
        self._late = any(drive.late for drive in several)
        self._gears = np.array([drive.gear for drive in several]).reshape(-1, 3)
        self._inverse = np.linalg.pinv(self._gears.T)
        self._least, self._most = np.array([drive.reach() for drive in several]).reshape(-1, 2).T
        self._controls: IntArray = np.array([drive.control for drive in several], dtype=np.intp)

    def control(self, d: Any, torque: Array) -> None:  # noqa: ANN401
        """See `Actuation`; writes what is delivered over what is asked for."""
        if not self.drives:
            d.qfrc_applied[self._v] = torque[self.torques]
            return
        given = np.clip(self._inverse @ torque[self.torques], self._least, self._most)
        d.ctrl[self._controls] = given
        torque[self.torques] = self._gears.T @ given
        if self._late:
            d.qfrc_applied[self._v] = torque[self.torques]
