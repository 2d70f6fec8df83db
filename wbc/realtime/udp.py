"""A robot behind UDP: the newest state counts; overtaken states are dropped."""

from __future__ import annotations

import math
import socket
import time
from collections import deque
from collections.abc import Sequence

from wbc.control.command import Command
from wbc.copies import Unique
from wbc.errors import WbcError, number, show, words
from wbc.model.model import Model
from wbc.realtime.packets import ASKING, GONE, LARGEST, pack_command, unpack_state
from wbc.realtime.state import State

PORT = 9870
"""Where `wbc hardware-sim` listens, if it is not told."""

HOST = "127.0.0.1"
"""This computer, and no other."""

BURST = 256
"""Packets that are read at once, at most: somebody who sends more does not keep the loop."""


ASK_AGAIN = 0.02
"""s after which states are asked for again, while there is none."""

EARLIER = 8
"""States that are kept for whoever wants to see each of them, at most."""

SILENT = 10
"""Waits in a row, in lockstep, after which nobody is there any more."""


class UdpIO(Unique):
    """A robot that sends its states to the sender of commands, as `wbc hardware-sim` does.

    Args:
        motors: how many it has.
        sensors: names of its contact sensors, in its order.
        host: where it is.
        port: where it listens.
        lockstep: whether each `read` waits for the next state, and the robot for the command that answers it: for a
            simulated one, which then goes on no faster than it is controlled. It is then `paced`.
        patience: s that such a `read` waits.

    Attributes:
        paced: see `RobotIO`.
        earlier: states that came since the last `read`, but for the newest.
        received, lost, overtaken, refused: packets that came; that were missing in their numbers; that came after newer
            ones; and that were no states.
    """

    held = "a socket"

    def __init__(
        self,
        motors: int,
        sensors: Sequence[str] = (),
        host: str = HOST,
        port: int = PORT,
        *,
        lockstep: bool = False,
        patience: float = 0.5,
    ) -> None:
        if not isinstance(motors, int) or isinstance(motors, bool) or motors < 1:
            raise WbcError(f"motors = {show(motors)} must be a whole number, 1 or more")
        self.paced = lockstep
        self._motors, self._sensors = motors, words(sensors, "sensors")
        self._patience = number(patience, "patience, s,", high=60.0, above=True)
        self._state: State | None = None
        self._echo = self._number = self._silent = 0
        self._asked, self._fresh, self._why = -math.inf, False, ""
        self.earlier: deque[State] = deque(maxlen=EARLIER)
        self.received = self.lost = self.overtaken = self.refused = 0
        try:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.connect((host, port))  # others are not heard
        except (OSError, OverflowError, TypeError) as error:
            raise WbcError(f"can't connect to a robot at host = {show(host)}, port = {show(port)}: {error}") from None
        self._socket.setblocking(False)

    @classmethod
    def of(cls, model: Model, host: str = HOST, port: int = PORT, *, lockstep: bool = False) -> UdpIO:
        """The way to a `HardwareSim` of a robot: its contact sensors are the model's feet and wheels.

        Args:
            model: of the robot.
            host: where it is.
            port: where it listens.
            lockstep: see `UdpIO`.
        """
        if not isinstance(model, Model):
            raise WbcError(f"model = {show(model)} must be that of a robot, such as wbc.load(...).model")
        return cls(model.na, (*model.feet, *model.wheels), host, port, lockstep=lockstep)

    def read(self) -> State | None:
        """See `RobotIO`. Before the first state it asks for states."""
        if self._socket.fileno() < 0:
            raise WbcError("this way to a robot was closed: make another one")
        self.earlier.clear()
        self._fresh = False
        if self._state is None and time.perf_counter() > self._asked + ASK_AGAIN:
            self._asked = time.perf_counter()
            self._send(pack_command(None, self._motors, ASKING, 0, 0.0))
        if self.paced:
            while not self._wait():
                pass
            return self._state
        for _ in range(BURST):
            packet = self._receive()
            if packet is None:
                break
            self._take(packet)
        return self._state

    def _wait(self) -> bool:
        """Waits for the next packet; whether it was a new state, or nothing came.

        Each new state is read by itself, and what was overtaken is no state: so there is one command for each.
        """
        known = self._echo
        self._socket.settimeout(self._patience if self._state is not None else 0.05)
        packet = self._receive()
        self._socket.setblocking(False)
        self._silent = 0 if packet is not None or self._state is None else self._silent + 1
        if self._silent > SILENT:
            raise WbcError(f"the robot fell silent: {self._silent} waits of {self._patience:g} s for a state")
        self._take(packet)
        return packet is None or self._echo > known

    def _receive(self) -> bytes | None:
        try:
            return self._socket.recv(LARGEST)
        except (BlockingIOError, TimeoutError):
            return None
        except ConnectionError:  # nobody is there yet, or any more
            return None

    def _take(self, packet: bytes | None) -> None:
        """Keeps a state, where it is newer than the last one."""
        if packet is None:
            return
        try:
            heading, state = unpack_state(packet, self._sensors)
        except WbcError as error:
            self.refused, self._why = self.refused + 1, str(error)
            return
        self.received += 1
        if heading.number <= self._echo:
            self.overtaken += 1
            self.lost -= 1  # it was counted as missing
            return
        if self._echo:
            self.lost += heading.number - self._echo - 1
        if self._state is not None and self._fresh:
            self.earlier.append(self._state)
        self._echo, self._state, self._fresh = heading.number, state, True

    def write(self, command: Command) -> None:
        """See `RobotIO`."""
        self._number += 1
        of = 0.0 if self._state is None else self._state.time
        self._send(pack_command(command, self._motors, self._number, self._echo, of))

    def _send(self, packet: bytes) -> None:
        """Sends, where there is somebody: a robot that is gone is found out by its silence."""
        try:
            self._socket.send(packet)
        except (ConnectionError, BlockingIOError):
            return

    def close(self) -> None:
        """See `RobotIO`; the robot is told that nobody will come any more."""
        if self._socket.fileno() >= 0:
            self._send(pack_command(None, self._motors, GONE, self._echo, 0.0))
        self._socket.close()

    def __repr__(self) -> str:
        refused = f", {self.refused} packets were refused: {self._why}" if self.refused else ""
        return f"<UdpIO, {self._motors} motors, {self.received} states came{refused}>"
