"""Franka's arms by `pylibfranka`, as a robot for `wbc.realtime.run`."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from wbc.arrays import Array
from wbc.control.command import Command, motor_positions
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, show
from wbc.realtime.state import State

try:
    import pylibfranka
except ImportError as error:
    raise WbcError(f"Franka's arms need pylibfranka: pip install 'wbc[franka]' ({error})") from None

JOINTS = 7

STEP = 1.0
"""How much a torque may change in a millisecond, N m: the arm stops with a reflex beyond that."""


class FrankaIO:
    """A Franka arm with the interface of a robot. The arm's clock sets the ticks: 1 kHz.

    The arm compensates its own weight and takes torques on top: gravity by the robot's model is subtracted from the
    commanded torques. Its motors have no controllers of their own in this mode: gains act here, once a tick. Torques
    change no faster than the arm allows. Control begins with the first command.

    Args:
        address: of the arm's control unit: a name, or an IP address.
        robot: of `wbc.load`: its 7 joints, and no others; lock those of a gripper, wbc.load(..., locked=[...]).
        enforce: whether the kernel has to be a real-time one, as Franka asks for.
        collision: torques, N m, and forces, N, from which on the arm stops by itself.

    Attributes:
        paced: see `RobotIO`.
        arm: the `pylibfranka.Robot`.
        clipped: commands whose torques would have changed too fast, or were too large.
    """

    paced = True

    def __init__(
        self, address: str, robot: Dynamics, *, enforce: bool = True, collision: tuple[float, float] = (20.0, 20.0)
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"robot = {show(robot)} must be a robot of wbc.load")
        if robot.model.floating or (robot.nq, robot.nv, robot.na) != (JOINTS, JOINTS, JOINTS):
            raise WbcError(
                f"{robot.model.name!r} has (nq, nv, na) = {robot.nq, robot.nv, robot.na}; Franka's arms have {JOINTS} "
                "joints: lock those of the gripper, wbc.load(..., locked=[...])"
            )
        self._robot, self._places = robot.copy(), motor_positions(robot.model)
        most = np.minimum(robot.limits.effort, 1e3)
        self._least, self._most = -most, most
        torque, force = (number(value, "collision", above=True) for value in collision)
        config = pylibfranka.RealtimeConfig
        try:
            self.arm = pylibfranka.Robot(address, config.kEnforce if enforce else config.kIgnore)
            self.arm.set_collision_behavior([torque] * JOINTS, [torque] * JOINTS, [force] * 6, [force] * 6)
        except (RuntimeError, pylibfranka.FrankaException) as error:
            raise WbcError(f"can't connect to the arm at {show(address)}: {error}") from None
        self._control: Any = None
        self._unanswered = False
        self._torque = np.zeros(JOINTS)
        self._state: State | None = None
        self.clipped = 0

    def read(self) -> State:
        """See `RobotIO`; while the arm is controlled it waits for the next state, a millisecond after the last one."""
        try:
            told = self.arm.read_once() if self._control is None else self._control.readOnce()[0]
        except (RuntimeError, pylibfranka.FrankaException) as error:
            self._control = None
            raise WbcError(f"the arm stopped: {error}") from None
        return self._take(told)

    def _take(self, told: Any) -> State:  # noqa: ANN401  pylibfranka's RobotState
        """The state in our words."""
        self._unanswered = True
        q, v, torque = (np.array(values, dtype=float) for values in (told.q, told.dq, told.tau_J))
        self._state = State(told.time.to_sec(), q, v, torque)
        return self._state

    def write(self, command: Command) -> None:
        """See `RobotIO`."""
        try:
            if self._control is None:
                self._begin()
            if not self._unanswered:  # a command answers a state, and only one
                self._take(self._control.readOnce()[0])
            self._unanswered = False
            self._control.writeOnce(pylibfranka.Torques(self._allowed(command).tolist()))
        except (RuntimeError, pylibfranka.FrankaException) as error:
            self._control = None
            raise WbcError(f"the arm stopped: {error}") from None

    def _begin(self) -> None:
        """Takes the arm over; a state has to be read before each command."""
        mode = self.arm.read_once().robot_mode
        if mode != pylibfranka.RobotMode.Idle:
            raise WbcError(
                f"the arm is in the mode {mode.name}, not Idle: release the stop, unlock the joints, and switch FCI "
                "on in Desk"
            )
        self._control = self.arm.start_torque_control()
        self._take(self._control.readOnce()[0])
        self._torque = np.zeros(JOINTS)

    def _allowed(self, command: Command) -> Array:
        """Torques beside the arm's own weight, as far as the arm takes them, N m, shape (7,)."""
        state = self._state
        assert state is not None
        self._robot.update(state.position, state.velocity)
        effort = np.clip(command.effort(state.position[self._places], state.velocity), self._least, self._most)
        wanted = effort - self._robot.gravity_force
        allowed = np.clip(wanted, self._torque - STEP, self._torque + STEP)
        self.clipped += bool((allowed != wanted).any())
        self._torque = allowed
        return allowed

    def close(self) -> None:
        """Ends the control; the arm holds itself. Twice is once."""
        control, self._control = self._control, None
        if control is None:
            return
        try:
            if not self._unanswered:
                control.readOnce()
            last = pylibfranka.Torques(self._torque.tolist())
            last.motion_finished = True
            control.writeOnce(last)
        except (RuntimeError, pylibfranka.FrankaException):
            self.arm.stop()

    def __enter__(self) -> FrankaIO:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
