"""A robot in another process: packets, a bad line, and a loop through both."""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import wbc
from tests.realtime.support import standing
from wbc import realtime
from wbc.application.cli import app
from wbc.control.command import Command
from wbc.realtime import HardwareSim, Imu, Line, State, SteppedClock, UdpIO
from wbc.realtime.packets import pack_command, pack_state, unpack_command, unpack_state

ROUNDS = 200


def some_state(rng: np.random.Generator, base: bool = True, imu: bool = True, feet: int = 4) -> State:
    return State(
        rng.normal(),
        rng.normal(size=12),
        rng.normal(size=12),
        rng.normal(size=12),
        Imu(rng.normal(size=3), rng.normal(size=3)) if imu else None,
        {f"foot {n}": float(rng.normal()) for n in range(feet)},
        (rng.normal(size=7), rng.normal(size=6)) if base else None,
    )


@pytest.mark.parametrize(
    ("base", "imu", "feet"), [(True, True, 4), (False, True, 2), (True, False, 0), (False, False, 0)]
)
def test_states_go_there_and_back(base, imu, feet) -> None:
    state = some_state(np.random.default_rng(1), base, imu, feet)
    heading, found = unpack_state(pack_state(state, 7, 3), tuple(state.contacts))
    assert (heading.number, heading.echo, heading.time) == (7, 3, state.time)
    for name in ("position", "velocity", "torque"):
        assert (getattr(found, name) == getattr(state, name)).all()
    assert found.contacts == state.contacts
    assert (found.imu is None) == (not imu) and (found.base is None) == (not base)
    if imu:
        assert (found.imu.rate == state.imu.rate).all() and (found.imu.force == state.imu.force).all()
    if base:
        assert all((a == b).all() for a, b in zip(found.base, state.base, strict=True))


def test_commands_go_there_and_back_and_damaged_ones_do_not() -> None:
    rng = np.random.default_rng(2)
    command = Command(*rng.normal(size=(5, 12)))
    packet = pack_command(command, 12, 5, 4, 1.5)
    heading, found = unpack_command(packet, 12)
    assert (
        tuple(heading) == (5, 4, 1.5) and (found.kd == command.kd).all() and (found.position == command.position).all()
    )
    with pytest.raises(wbc.WbcError, match="is for 12 motors and has 60 numbers; there are 7 motors"):
        unpack_command(packet, 7)
    with pytest.raises(wbc.WbcError, match="begins with b'wbC1' is not a state"):
        unpack_state(packet, ())
    with pytest.raises(wbc.WbcError, match="2 contact sensors; 1 are known: a"):
        unpack_state(pack_state(some_state(rng, feet=2), 1, 1), ("a",))
    for _ in range(ROUNDS):
        broken = bytearray(packet)
        broken[rng.integers(len(packet))] ^= 1 << rng.integers(8)
        with pytest.raises(wbc.WbcError):
            unpack_command(bytes(broken), 12)
        with pytest.raises(wbc.WbcError):
            unpack_state(rng.bytes(rng.integers(0, 9000)), ())


def test_a_line_delays_jitters_loses_and_reorders() -> None:
    def through(line: Line, count: int = 4000) -> tuple[list[int], np.ndarray]:
        order, waits = [], []
        for step in range(count + 100):
            now = 1e-3 * step
            if step < count:
                line.send(step.to_bytes(4, "little"), now)
            for packet in line.arrived(now):
                order.append(int.from_bytes(packet, "little"))
                waits.append(now - 1e-3 * order[-1])
        return order, np.array(waits)

    order, waits = through(Line())
    assert order == list(range(4000)) and not waits.any()
    order, waits = through(Line(delay=4e-3))
    assert order == list(range(4000)) and waits == pytest.approx(4e-3)
    order, waits = through(Line(delay=2e-3, jitter=1e-3, seed=1))
    assert order == list(range(4000)) and waits.min() >= 2e-3 - 1e-9 and 1.5e-3 < waits.mean() - 2e-3 < 4e-3
    line = Line(loss=0.1, seed=2)
    order, _ = through(line)
    assert line.lost == 4000 - len(order) and 300 < line.lost < 500
    line = Line(reorder=0.1, behind=3e-3, seed=3)
    order, _ = through(line)
    assert sorted(order) == list(range(4000)) and line.overtaken == pytest.approx(400, abs=80)
    assert sum(b < a for a, b in itertools.pairwise(order)) > 250
    assert (
        through(Line(jitter=1e-3, loss=0.2, reorder=0.1, seed=4))[0]
        == through(Line(jitter=1e-3, loss=0.2, reorder=0.1, seed=4))[0]
    )
    with pytest.raises(wbc.WbcError, match="loss, a share, = 2"):
        Line(loss=2)


def through_udp(duration: float, bad: bool, **options) -> tuple[realtime.Report, HardwareSim, UdpIO, wbc.Controller]:
    """The quadruped stands behind UDP, in lockstep."""
    controller = standing()
    lines = {
        way: Line(delay=1e-3, jitter=3e-4, loss=0.02, reorder=0.02, seed=seed) if bad else Line()
        for seed, way in enumerate(("up", "down"))
    }
    sim = HardwareSim(wbc.MujocoSimulator(controller.robot), port=0, base=True, lockstep=True, **lines)
    thread = threading.Thread(target=sim.run, args=(duration + 0.1, 20.0))
    thread.start()
    io = UdpIO.of(controller.robot.model, port=sim.address[1], lockstep=True)
    try:
        report = realtime.run(controller, io, duration, ramp=0.2, kd=1.0, clock=SteppedClock(), **options)
    finally:
        io.close()
        thread.join(30.0)
        sim.close()
    return report, sim, io, controller


@pytest.mark.parametrize("bad", [False, True])
def test_the_quadruped_stands_through_udp(bad) -> None:
    report, sim, io, controller = through_udp(0.6, bad)
    assert report.ended == "finished" and not report.faults
    assert sim.report.fell is None and not sim.report.refused and not io.refused
    if bad:
        assert io.overtaken > 0 and io.lost > 0 and sim.report.overtaken > 0
    else:
        assert report.stale == 0 and io.lost == 0
    q, v = controller.robot.q, controller.robot.v
    assert abs(q[2] - controller.robot.model.nominal[2]) < 0.02 and np.abs(v[:6]).max() < 0.1


def test_the_same_line_does_the_same_each_time() -> None:
    first, second = (through_udp(0.15, True)[3].robot.q for _ in range(2))
    assert (first == second).all()


def test_a_robot_that_is_gone_is_told(monkeypatch) -> None:
    monkeypatch.setattr("wbc.realtime.udp.SILENT", 2)
    controller = standing()
    sim = HardwareSim(wbc.MujocoSimulator(controller.robot), port=0, base=True, lockstep=True)
    thread = threading.Thread(target=sim.run, args=(0.02, 20.0))
    thread.start()
    io = UdpIO.of(controller.robot.model, port=sim.address[1], lockstep=True)
    io._patience = 0.05
    with pytest.raises(wbc.WbcError, match="the robot fell silent: 3 waits of 0.05 s"):
        realtime.run(controller, io, 1.0, clock=SteppedClock())
    thread.join(30.0)
    io.close()
    sim.close()


def test_nobody_at_the_other_end(monkeypatch) -> None:
    controller = standing()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    io = UdpIO.of(controller.robot.model, port=port)
    with pytest.raises(wbc.WbcError, match=r"no state came from <UdpIO, 12 motors, 0 states came> in 0.1 s"):
        realtime.run(controller, io, 1.0, patience=0.1)
    io.close()
    with pytest.raises(wbc.WbcError, match="can't connect to a robot at host = 'no.such.host.invalid'"):
        UdpIO(12, host="no.such.host.invalid")
    with pytest.raises(wbc.WbcError, match="can't listen at host = '127.0.0.1', port = 99999"):
        HardwareSim(wbc.MujocoSimulator(controller.robot), port=99999)


def test_it_listens_on_this_computer_only_and_hears_nothing_but_commands() -> None:
    robot = wbc.load("quadruped", "numpy")
    sim = HardwareSim(wbc.MujocoSimulator(robot), port=0)
    assert sim.address[0] == "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.settimeout(0.2)
        stranger.sendto(b"hello?", sim.address)
        report = sim.run(0.05, 0.05)
        with pytest.raises(TimeoutError):
            stranger.recvfrom(9000)
    assert report.refused == 1 and report.fell is None and not report.commands
    sim.close()


def test_a_silent_controller_lets_the_robot_down_softly() -> None:
    robot = wbc.load("quadruped", "numpy")
    sim = HardwareSim(wbc.MujocoSimulator(robot), port=0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(pack_command(Command.hold(*np.zeros((3, 12))), 12, 1, 0, 0.0), sim.address)
        report = sim.run(0.3, 1.0)
    assert report.commands == 1 and report.silent == pytest.approx(200, abs=2)
    assert np.abs(robot.limits.effort).max() > np.abs(sim._plant.torque).max() > 0  # damping
    sim.close()


def test_the_command_line_listens_and_tells(tmp_path) -> None:
    command = [sys.executable, "-m", "wbc", "hardware-sim", "quadruped", "--port", "0", "--base", "--lockstep"]
    line = ["--delay", "0.001", "--loss", "0.01", "--duration", "0.1", "--wait", "20"]
    with subprocess.Popen([*command, *line], stdout=subprocess.PIPE, text=True) as process:
        told = process.stdout.readline()
        port = int(told.split("127.0.0.1:")[1].split()[0].rstrip(",;"))
        controller = standing()
        io = UdpIO.of(controller.robot.model, port=port, lockstep=True)
        try:
            report = realtime.run(controller, io, 0.08, clock=SteppedClock(), record=tmp_path / "a.log")
        finally:
            io.close()
            process.wait(30)
        rest = process.stdout.read()
    assert report.ended == "finished" and process.returncode == 0
    assert "stood" in rest and "commands" in rest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--wait", "nan"], "wait, s, = nan must be a number"),
        (["--duration", "-1"], "duration, s, = -1.0 must be a number"),
        (["--seed", "-1"], "seed = -1 must be a number"),
        (["--priority", "200"], "priority = 200 must be a number, 1 or more, 99 at the most"),
        (["--cpu", "-1"], "cpu = -1 must be a number, 0 or more"),
        (["--locked", "LF_knee"], "LF_knee"),
    ],
)
def test_wrong_options_of_the_command_line_are_named(options, message) -> None:
    found = CliRunner().invoke(app, ["hardware-sim", "quadruped", "--port", "0", *options])
    assert found.exit_code == 2 and message in found.output


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UdpIO(0), "motors = 0 must be a whole number, 1 or more"),
        (lambda: UdpIO("two"), "motors = 'two' must be a whole number"),
        (lambda: UdpIO(2, "foot"), "sensors must be a list of names, not the text 'foot'"),
        (lambda: UdpIO(2, 3), "sensors must be a list of names, not 3"),
        (lambda: UdpIO.of("quadruped"), "model = 'quadruped' must be that of a robot"),
        (lambda: HardwareSim(wbc.Simulator(wbc.load("arm")), port=0, up=3), "up = 3 must be a wbc.realtime.Line"),
        (lambda: HardwareSim(wbc.Simulator(wbc.load("arm")), port=0, seed=-1), "seed = -1 must be a whole number"),
        (lambda: realtime.PlantIO(wbc.Simulator(wbc.load("arm")), seed="a"), "seed = 'a' must be a whole number"),
    ],
)
def test_bad_arguments_are_named(make, message) -> None:
    with pytest.raises(wbc.WbcError, match=message):
        make()


def test_states_of_another_robot_are_told_and_so_is_a_way_that_was_closed() -> None:
    controller = standing()
    sim = HardwareSim(wbc.Simulator(controller.robot), port=0)
    thread = threading.Thread(target=sim.run, args=(10.0, 1.0))
    thread.start()
    io = UdpIO(controller.robot.na, ["LF_foot"], port=sim.address[1])
    with pytest.raises(
        wbc.WbcError, match=r"no state came from .* refused: the state has 4 contact sensors; 1 are known"
    ):
        realtime.run(controller, io, 0.1, patience=0.3)
    io.close()
    with pytest.raises(wbc.WbcError, match="was closed: make another one"):
        realtime.run(controller, io, 0.1)
    thread.join(20.0)
    sim.close()


def test_states_that_were_not_read_are_kept_for_who_wants_them() -> None:
    rng = np.random.default_rng(4)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as robot:
        robot.bind(("127.0.0.1", 0))
        robot.settimeout(5.0)
        io = UdpIO(12, ("a",), port=robot.getsockname()[1])
        assert io.read() is None
        packet, client = robot.recvfrom(9000)  # it asks
        assert unpack_command(packet, 12)[0].number == 0
        asked = 1  # again, as none has come
        states = [some_state(rng, feet=1) for _ in range(5)]
        for number in (1, 2, 4, 3, 5):
            robot.sendto(pack_state(replace(states[number - 1], contacts={"a": 0.0}), number, 0), client)
        robot.sendto(b"noise", client)
        time.sleep(0.05)
        newest = io.read()
        assert newest.time == states[4].time
        assert [state.time for state in io.earlier] == [states[n].time for n in (0, 1, 3)]
        assert (io.received, io.lost, io.overtaken, io.refused) == (5, 0, 1, 1)
        assert io.read() is newest and not io.earlier
        io.close()
        told = [unpack_command(robot.recv(9000), 12)[0].number for _ in range(1 + asked)]
        assert told[-1] == 2**64 - 1
        io.close()
