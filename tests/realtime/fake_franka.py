"""What `pylibfranka` looks like to a program, with a simulated arm behind it that is as strict as the real one."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np

import wbc

PERIOD = 1e-3


class FrankaException(Exception):  # noqa: N818  as the package has it
    pass


class ControlException(RuntimeError):  # noqa: N818  as the package has it
    pass


class NetworkException(RuntimeError):  # noqa: N818  as the package has it
    pass


class _Member(SimpleNamespace):
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class RobotMode:
    Idle, UserStopped, Move = (_Member(name=name) for name in ("Idle", "UserStopped", "Move"))


class RealtimeConfig:
    kEnforce, kIgnore = (_Member(name=name) for name in ("kEnforce", "kIgnore"))  # noqa: N815


class Torques:
    def __init__(self, tau_J) -> None:
        assert isinstance(tau_J, list) and len(tau_J) == 7 and all(isinstance(value, float) for value in tau_J)
        self.tau_J, self.motion_finished = tau_J, False


class ActiveControlBase:
    """Each state has to be answered by one command, and torques may change by 1 N m at a time."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._answered = robot, True

    def readOnce(self):
        robot = self._robot
        if not self._answered:
            raise ControlException('motion aborted by reflex! ["communication_constraints_violation"]')
        if robot.trouble:
            raise ControlException(f'motion aborted by reflex! ["{robot.trouble}"]')
        robot.advance()
        self._answered = False
        return robot.state(), SimpleNamespace(to_sec=lambda: PERIOD)

    def writeOnce(self, command: Torques) -> None:
        robot, tau = self._robot, np.array(command.tau_J)
        if self._answered:
            raise ControlException("a command without a state before it")
        if np.abs(tau - robot.torque).max() > 1.0 + 1e-9:
            raise ControlException('motion aborted by reflex! ["controller_torque_discontinuity"]')
        self._answered, robot.torque, robot.finished = True, tau, command.motion_finished
        robot.commands.append(tau)


class Robot:
    made: Robot | None = None

    def __init__(self, robot_ip_address: str, realtime_config=RealtimeConfig.kEnforce) -> None:
        if robot_ip_address == "nobody":
            raise NetworkException("libfranka: Connection error: No route to host")
        Robot.made = self
        self.config, self.mode, self.trouble = realtime_config, RobotMode.Idle, ""
        self.model = wbc.load("arm", "numpy")
        self.plant = wbc.Simulator(self.model)
        self.torque, self.commands, self.finished, self.stopped, self.collision = np.zeros(7), [], False, False, None
        self.hold, self.control = self.plant.state[0], None

    def set_collision_behavior(
        self, lower_torque_thresholds, upper_torque_thresholds, lower_force_thresholds, upper_force_thresholds
    ) -> None:
        self.collision = upper_torque_thresholds, upper_force_thresholds

    def advance(self) -> None:
        q, v = self.plant.state
        self.model.update(q, v)
        self.plant.apply(self.torque + self.model.gravity_force)  # it holds its own weight
        self.plant.step()

    def state(self):
        q, v = self.plant.state
        now = self.plant.time
        return SimpleNamespace(
            q=q.tolist(),
            dq=v.tolist(),
            tau_J=self.plant.torque.tolist(),
            robot_mode=self.mode,
            time=SimpleNamespace(to_sec=lambda: now),
        )

    def read_once(self):
        return self.state()

    def start_torque_control(self) -> ActiveControlBase:
        self.control = ActiveControlBase(self)
        return self.control

    def stop(self) -> None:
        self.stopped = True


def install(monkeypatch) -> None:
    """Puts it in the place of pylibfranka."""
    fake = ModuleType("pylibfranka")
    for thing in (FrankaException, RobotMode, RealtimeConfig, Torques, ActiveControlBase, Robot):
        setattr(fake, thing.__name__, thing)
    monkeypatch.setitem(sys.modules, "pylibfranka", fake)
    monkeypatch.delitem(sys.modules, "wbc.realtime.franka", raising=False)
