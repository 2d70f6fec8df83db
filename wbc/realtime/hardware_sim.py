"""A stand-in for a robot: a simulated one in its own process, behind UDP, with an adjustable line quality."""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass

import numpy as np

from wbc.control.command import Command, motor_positions
from wbc.copies import Unique
from wbc.dynamics.load import load
from wbc.errors import WbcError, number, show
from wbc.realtime.clock import Deadlines, MonotonicClock
from wbc.realtime.holding import holding_gains
from wbc.realtime.line import Line
from wbc.realtime.packets import ASKING, GONE, LARGEST, Heading, number_of, pack_state, unpack_command
from wbc.realtime.plant_io import Drive
from wbc.realtime.sensors import SensorErrors, Sensors
from wbc.realtime.udp import BURST, HOST, PORT
from wbc.simulation.fall import Fall
from wbc.simulation.plant import Plant

SILENCE = 0.1
"""s without a command, after which the motors brake, and give way."""

PATIENCE = 2.0
"""s, of the clock on the wall, that a simulation in lockstep waits for a command."""

SETTLING = 0.5
"""s for which the robot stands, before anybody is listened to: it begins a little above the ground, or in it."""

UNANSWERED = 5
"""Such waits in a row, after which nobody is there any more."""


@dataclass(eq=False)
class SimReport:
    """The report of a stand-in.

    Attributes:
        steps: of the simulation.
        behind: periods for which the simulation was too slow: its robot's time stood still.
        commands: that came.
        overtaken: commands that came after newer ones.
        refused: packets that were no commands.
        silent: steps without a command for `SILENCE` or longer, after the first.
        fell: when the robot fell, s of its time; None: it did not.
    """

    steps: int = 0
    behind: int = 0
    commands: int = 0
    overtaken: int = 0
    refused: int = 0
    silent: int = 0
    fell: float | None = None

    def __str__(self) -> str:
        fell = "stood" if self.fell is None else f"fell at {self.fell:.3f} s"
        return (
            f"{self.steps} steps ({self.behind} too late), {fell}; {self.commands} commands, {self.overtaken} "
            f"overtaken, {self.refused} refused, {self.silent} steps without one"
        )


class HardwareSim(Unique):
    """A plant that sends its sensors' states and takes commands, by UDP.

    Until the first command its motors hold the present posture. They follow the newest command with its gains at every
    step, and brake when none comes for `SILENCE`. States go to the sender of the last valid packet.

    Args:
        plant: the robot.
        host: where to listen: this computer only, unless another address is given.
        port: 0: any that is free.
        period: s between two states: whole steps of the plant.
        up: the line of the commands; None: a good one.
        down: the line of the states; None: a good one.
        errors: of the sensors; None: none.
        seed: of these errors.
        base: whether states tell where the base truly is.
        lockstep: whether it waits for a command that answers each state: its time then depends on nothing else.

    Attributes:
        address: host and port where it listens.
        report: what it saw.
        sensors: that read the plant.
    """

    held = "a socket"

    def __init__(
        self,
        plant: Plant,
        host: str = HOST,
        port: int = PORT,
        *,
        period: float = 1e-3,
        up: Line | None = None,
        down: Line | None = None,
        errors: SensorErrors | None = None,
        seed: int = 0,
        base: bool = False,
        lockstep: bool = False,
    ) -> None:
        for what, line in (("up", up), ("down", down)):
            if line is not None and not isinstance(line, Line):
                raise WbcError(f"{what} = {show(line)} must be a wbc.realtime.Line, or None")
        self._plant, self._period, self._lockstep = plant, period, lockstep
        self.sensors, self._drive = Sensors(plant, errors, seed, base), Drive(plant, period)
        self._up, self._down = up or Line(), down or Line()
        robot = load(plant.model, "numpy")
        kp, self._kd = holding_gains(robot)
        position = plant.true_state[0][motor_positions(plant.model)]
        self._command = Command.hold(position, kp, self._kd)
        self._fall = Fall(robot, plant.true_state[0])
        self._heading = Heading(0, 0, 0.0)
        self._number, self._delivered, self._echo, self._unanswered = 1, 0, 0, 0
        for _ in range(round(SETTLING / period)):
            self._drive.go_on(self._command)
            self._state = self.sensors.read()
        self._heard = np.nan
        self._client: tuple[str, int] | None = None
        self.report = SimReport()
        try:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.bind((host, port))
        except (OSError, OverflowError, TypeError) as error:
            raise WbcError(f"can't listen at host = {show(host)}, port = {show(port)}: {error}") from None
        self._socket.setblocking(False)
        self.address: tuple[str, int] = self._socket.getsockname()

    def run(self, duration: float = 1e9, wait: float = 1e9) -> SimReport:
        """Simulates, until the robot's time since the first command is over, or nobody comes.

        Args:
            duration: s of the robot's time, from the first command on.
            wait: s, of the clock on the wall, for the first command.
        """
        clock = MonotonicClock()
        duration, wait = number(duration, "duration, s,"), number(wait, "wait, s,")
        deadlines, ends, start = Deadlines(clock, self._period), clock.now() + wait, self._plant.time
        while self._unanswered <= UNANSWERED:
            if not self._lockstep:
                deadlines.wait()
            now = self._plant.time
            self._send_states(now)
            self._listen(now, clock)
            if np.isnan(self._heard):
                if clock.now() > ends:
                    break
                start = now
                if self._lockstep:  # its time begins with the first command
                    time.sleep(1e-3)
                    continue
            elif now - start >= duration - 1e-9:
                break
            self._take_commands(now)
            self._step()
            self.report.behind = deadlines.skipped
        return self.report

    def _step(self) -> None:
        """A period of the plant."""
        now, report = self._plant.time, self.report
        command = self._command
        if now - self._heard > SILENCE:
            report.silent += 1
            command = Command.damp(self._kd)
        self._drive.go_on(command)
        report.steps += 1
        self._number += 1
        self._state = self.sensors.read()
        self._down.send(pack_state(self._state, self._number, self._heading.number), self._plant.time)
        if report.fell is None and (self._plant.trouble or self._fall.has_fallen(self._plant.true_state[0])):
            report.fell = self._plant.time

    def _send_states(self, now: float) -> None:
        """Sends what has come to the end of the line."""
        packets = self._down.arrived(now)
        if self._client is None:
            return
        for packet in packets:
            self._send(packet)
            self._delivered = max(self._delivered, number_of(packet))

    def _send(self, packet: bytes) -> None:
        """Sends to the client; one that is gone is found out by its silence."""
        if self._client is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto(packet, self._client)

    def _listen(self, now: float, clock: MonotonicClock) -> None:
        """Takes what has come by UDP, and puts it on the line; in lockstep it waits for an answer to the last state."""
        until = clock.now() + PATIENCE
        for _ in range(BURST):
            waiting = self._lockstep and self._client is not None and self._echo < self._delivered
            self._socket.settimeout(max(until - clock.now(), 1e-3) if waiting else 0.0)
            try:
                packet, sender = self._socket.recvfrom(LARGEST)
            except (BlockingIOError, TimeoutError, ConnectionError):
                self._unanswered += waiting
                return
            try:
                heading, _ = unpack_command(packet, self._plant.model.na)
            except WbcError:
                self.report.refused += 1
                continue
            self._client, self._unanswered = sender, 0
            if heading.number == GONE:
                self._client, self._unanswered = None, UNANSWERED + 1 if self._lockstep else 0
                return
            if heading.number == ASKING:  # somebody new
                self._heading, self._echo = heading, self._delivered
                self._send(pack_state(self._state, self._number, 0))
                continue
            self._echo = max(self._echo, heading.echo)
            self._up.send(packet, now)
            if np.isnan(self._heard):
                self._heard = now

    def _take_commands(self, now: float) -> None:
        """Takes the newest command that has come to the end of the line."""
        for packet in self._up.arrived(now):
            heading, command = unpack_command(packet, self._plant.model.na)
            self.report.commands += 1
            if heading.number <= self._heading.number:
                self.report.overtaken += 1
                continue
            if not command.finite:
                self.report.refused += 1
                continue
            self._heading, self._command, self._heard = heading, command, now

    def close(self) -> None:
        """Gives the port back."""
        self._socket.close()
