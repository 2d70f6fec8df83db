"""The adapter for Franka's arms, against a fake of pylibfranka that is as strict as the arm; the fake against that."""

from __future__ import annotations

import importlib
import inspect
import sys

import numpy as np
import pytest

import tasks
import wbc
from tests.realtime import fake_franka
from wbc import realtime
from wbc.realtime import Command, RobotIO, SteppedClock


@pytest.fixture
def franka(monkeypatch):
    fake_franka.install(monkeypatch)
    yield importlib.import_module("wbc.realtime.franka")
    sys.modules.pop("wbc.realtime.franka", None)


def reaching(robot: wbc.Dynamics) -> tuple[wbc.Controller, np.ndarray]:
    posed = robot.copy()
    posed.update(robot.model.nominal)
    goal = posed.pose("tool")[:3, 3] + np.array([-0.05, 0.08, 0.05])
    stack = wbc.Stack(
        (tasks.EquationOfMotion() + tasks.TorqueLimits())
        / tasks.EndEffectorAcceleration("tool", goal, axes="position", gains=wbc.Gains(1.5))
        / tasks.JointAcceleration()
    )
    return wbc.Controller(robot, stack), goal


def test_an_arm_reaches_and_no_rule_of_the_arm_is_broken(franka) -> None:
    robot = wbc.load("arm", "numpy")
    controller, goal = reaching(robot)
    with franka.FrankaIO("arm.local", robot) as io:
        assert isinstance(io, RobotIO)
        arm = fake_franka.Robot.made
        report = realtime.run(controller, io, 1.0, ramp=0.2, clock=SteppedClock())
        assert not arm.finished
    assert report.good and report.ticks == 999 and len(arm.commands) == 1001  # as it begins it reads twice
    robot.update(arm.plant.state[0])
    assert np.linalg.norm(robot.pose("tool")[:3, 3] - goal) < 0.01
    assert np.abs(np.diff([np.zeros(7), *arm.commands], axis=0)).max() <= 1.0 + 1e-9
    assert arm.finished and not arm.stopped and arm.collision == ([20.0] * 7, [20.0] * 6)
    io.close()
    assert len(arm.commands) == 1001


def test_each_command_answers_a_state_however_a_run_ends(franka) -> None:
    robot = wbc.load("arm", "numpy")
    controller, _ = reaching(robot)
    io = franka.FrankaIO("arm.local", robot)
    report = realtime.run(controller, io, 1.0, clock=SteppedClock(), until=lambda t, _: t > 0.01, leave="hold")
    assert report.ended == "stopped"
    io.read()
    io.close()
    assert fake_franka.Robot.made.finished and not fake_franka.Robot.made.stopped


def test_at_rest_nothing_is_commanded_beside_the_weight(franka) -> None:
    robot = wbc.load("arm", "numpy")
    io = franka.FrankaIO("arm.local", robot, enforce=False)
    arm = fake_franka.Robot.made
    assert arm.config is fake_franka.RealtimeConfig.kIgnore
    state = io.read()
    robot.update(state.position)
    weight = robot.gravity_force.copy()
    zero = np.zeros(7)
    io.write(Command(zero, zero, weight, zero, zero))
    assert arm.commands[-1] == pytest.approx(zero, abs=1e-6)
    io.read()
    io.write(Command(zero, zero, weight + 5.0, zero, zero))
    assert arm.commands[-1] == pytest.approx(np.ones(7), abs=1e-6) and io.clipped == 1  # as fast as it may
    state = io.read()
    io.write(Command.hold(state.position + 0.01, np.full(7, 30.0), zero, weight))
    assert arm.commands[-1] == pytest.approx(np.full(7, 0.3), abs=0.05)  # gains act here


def test_an_arm_that_stops_by_itself_is_told_with_its_reason(franka) -> None:
    robot = wbc.load("arm", "numpy")
    controller, _ = reaching(robot)
    io = franka.FrankaIO("arm.local", robot)
    arm = fake_franka.Robot.made

    def bump(t: float, _: object) -> None:
        if t > 0.05:
            arm.trouble = "cartesian_reflex"

    with pytest.raises(wbc.WbcError, match=r'the arm stopped: motion aborted by reflex! \["cartesian_reflex"\]'):
        realtime.run(controller, io, 1.0, clock=SteppedClock(), targets=bump)
    io.close()


def test_an_arm_that_is_not_ready_is_not_moved(franka) -> None:
    robot = wbc.load("arm", "numpy")
    controller, _ = reaching(robot)
    io = franka.FrankaIO("arm.local", robot)
    fake_franka.Robot.made.mode = fake_franka.RobotMode.UserStopped
    with pytest.raises(wbc.WbcError, match="the arm is in the mode UserStopped, not Idle"):
        realtime.run(controller, io, 1.0, clock=SteppedClock())
    assert not fake_franka.Robot.made.commands


def test_bad_arguments_are_named(franka) -> None:
    with pytest.raises(wbc.WbcError, match="can't connect to the arm at 'nobody': libfranka: Connection error"):
        franka.FrankaIO("nobody", wbc.load("arm", "numpy"))
    with pytest.raises(wbc.WbcError, match="'quadruped' has .* Franka's arms have 7 joints: lock those"):
        franka.FrankaIO("arm.local", wbc.load("quadruped", "numpy"))
    with pytest.raises(wbc.WbcError, match="robot = 'arm' must be a robot of wbc.load"):
        franka.FrankaIO("arm.local", "arm")
    with pytest.raises(wbc.WbcError, match="collision = 0"):
        franka.FrankaIO("arm.local", wbc.load("arm", "numpy"), collision=(0, 20))


def test_without_the_package_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pylibfranka", None)
    monkeypatch.delitem(sys.modules, "wbc.realtime.franka", raising=False)
    with pytest.raises(wbc.WbcError, match=r"pip install 'wbc\[franka\]'"):
        importlib.import_module("wbc.realtime.franka")


def test_the_fake_has_the_names_and_arguments_of_the_package() -> None:
    real = pytest.importorskip("pylibfranka")
    for fake in (fake_franka.Robot, fake_franka.ActiveControlBase, fake_franka.Torques):
        for name, function in inspect.getmembers(fake, inspect.isfunction):
            if name in ("advance", "state") or (name.startswith("__") and name != "__init__"):
                continue
            assert hasattr(getattr(real, fake.__name__), name), f"{fake.__name__}.{name}"
            told = getattr(getattr(real, fake.__name__), name).__doc__ or ""
            for argument in list(inspect.signature(function).parameters)[1:]:
                assert argument in told or name in ("__init__", "writeOnce"), f"{fake.__name__}.{name}({argument})"
    torques = real.Torques([0.5] * 7)
    torques.motion_finished = True
    assert list(torques.tau_J) == [0.5] * 7
    assert {"Idle", "UserStopped", "Move"} <= set(real.RobotMode.__members__)
    assert {"kEnforce", "kIgnore"} <= set(real.RealtimeConfig.__members__)
    assert real.RobotMode.Idle.name == "Idle" and issubclass(real.ControlException, RuntimeError)
    assert issubclass(real.NetworkException, RuntimeError) and issubclass(real.FrankaException, Exception)
    for name in ("q", "dq", "tau_J", "time", "robot_mode"):
        assert hasattr(real.RobotState, name)
    assert hasattr(real.Duration, "to_sec")


def test_the_package_refuses_an_arm_that_is_not_there(monkeypatch) -> None:
    pytest.importorskip("pylibfranka")
    monkeypatch.delitem(sys.modules, "wbc.realtime.franka", raising=False)
    module = importlib.import_module("wbc.realtime.franka")
    with pytest.raises(wbc.WbcError, match="can't connect to the arm at '127.0.0.1'"):
        module.FrankaIO("127.0.0.1", wbc.load("arm", "numpy"), enforce=False)
    sys.modules.pop("wbc.realtime.franka", None)
