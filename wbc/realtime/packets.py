"""States and commands as packets: little-endian, of a fixed size for a robot, with a checksum.

A packet is a header, then numbers of 8 bytes, then the CRC-32 of all before it:

| bytes | what |
| --- | --- |
| 4 | "wbS1" for a state, "wbC1" for a command |
| 2 × 4 | positions, velocities, motors, contact sensors: how many of each |
| 4 | which parts a state has: 1 inertial sensor, 2 base |
| 8 | number of the packet, from 1 on |
| 8 | number of the last packet that the sender had from the other side; 0: none |
| 8 | time, s: of the robot in a state, of that state in a command |

A state goes on with position, velocity, torque, then rate (3) and force (3) of the inertial sensor where it has one,
the contact sensors, and q (7) and v (6) of the base where it has one; a command with position, velocity, torque, kp and
kd of the motors. A command with the number 0 asks for states, one with 2⁶⁴ − 1 is the last; neither moves anything.
"""

from __future__ import annotations

import struct
import zlib
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from wbc.arrays import Array
from wbc.control.command import Command
from wbc.errors import WbcError
from wbc.realtime.state import Imu, State

_HEADER = struct.Struct("<4s4HIQQd")
_CHECK = struct.Struct("<I")
_STATE, _COMMAND = b"wbS1", b"wbC1"

ASKING, GONE = 0, 2**64 - 1
"""Numbers of commands that move nothing: somebody asks for states; nobody will come any more."""

LARGEST = 8192
"""Bytes of a packet, at most: a robot has no more than 200 joints."""


class Heading(NamedTuple):
    """What a packet says of itself.

    Attributes:
        number: of the packet.
        echo: number of the last one that its sender had had.
        time: s.
    """

    number: int
    echo: int
    time: float


def pack_state(state: State, number: int, echo: int) -> bytes:
    """A state as a packet.

    Args:
        state: to send.
        number: of the packet.
        echo: number of the last command.
    """
    parts = [state.position, state.velocity, state.torque]
    flags = 0
    if state.imu is not None:
        flags |= 1
        parts += [state.imu.rate, state.imu.force]
    parts.append(np.array(list(state.contacts.values()), dtype=float))
    if state.base is not None:
        flags |= 2
        parts += state.base
    sizes = len(state.position), len(state.velocity), len(state.torque), len(state.contacts)
    return _seal(_HEADER.pack(_STATE, *sizes, flags, number, echo, state.time), parts)


def unpack_state(packet: bytes, sensors: tuple[str, ...]) -> tuple[Heading, State]:
    """A state out of a packet.

    Args:
        packet: its bytes.
        sensors: names of the contact sensors.

    Raises:
        WbcError: it is no state, or damaged, or of another robot.
    """
    sizes, flags, heading, body = _open(packet, _STATE, "state")
    nq, nv, na, felt = sizes
    if felt != len(sensors):
        raise WbcError(
            f"the state has {felt} contact sensors; {len(sensors)} are known: {', '.join(sensors) or 'none'}"
        )
    lengths = [nq, nv, na, *([3, 3] if flags & 1 else []), felt, *([7, 6] if flags & 2 else [])]
    if len(body) != sum(lengths):
        raise WbcError(f"the state has {len(body)} numbers; its header says {sum(lengths)}")
    ends = list(accumulate(lengths))
    parts = [body[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    position, velocity, torque, *rest = parts
    imu = Imu(rest.pop(0), rest.pop(0)) if flags & 1 else None
    contacts = dict(zip(sensors, rest.pop(0).tolist(), strict=True))
    base = (rest[0], rest[1]) if flags & 2 else None
    return heading, State(heading.time, position, velocity, torque, imu, contacts, base)


def pack_command(command: Command | None, motors: int, number: int, echo: int, time: float) -> bytes:
    """A command as a packet.

    Args:
        command: to send; None: none, states are asked for.
        motors: how many.
        number: of the packet.
        echo: number of the last state.
        time: of that state, s.
    """
    off = np.zeros(motors)
    c = Command(off, off, off, off, off) if command is None else command
    header = _HEADER.pack(_COMMAND, 0, 0, motors, 0, 0, number, echo, time)
    return _seal(header, [c.position, c.velocity, c.torque, c.kp, c.kd])


def unpack_command(packet: bytes, motors: int) -> tuple[Heading, Command]:
    """A command out of a packet.

    Args:
        packet: its bytes.
        motors: how many there are.

    Raises:
        WbcError: it is no command, or damaged, or of another robot.
    """
    sizes, _, heading, body = _open(packet, _COMMAND, "command")
    if sizes[2] != motors or len(body) != 5 * motors:
        raise WbcError(f"the command is for {sizes[2]} motors and has {len(body)} numbers; there are {motors} motors")
    return heading, Command(*body.reshape(5, motors))


def number_of(packet: bytes) -> int:
    """The number of a packet that was packed here.

    Args:
        packet: its bytes.
    """
    return int(_HEADER.unpack_from(packet)[6])


def _seal(header: bytes, parts: list[Array]) -> bytes:
    packet = header + np.concatenate(parts).astype("<f8").tobytes()
    if len(packet) + _CHECK.size > LARGEST:
        raise WbcError(f"a packet of {len(packet)} bytes is longer than {LARGEST}")
    return packet + _CHECK.pack(zlib.crc32(packet))


def _open(packet: bytes, kind: bytes, what: str) -> tuple[tuple[int, ...], int, Heading, Array]:
    """Sizes, flags, heading and numbers of a packet."""
    if not _HEADER.size + _CHECK.size <= len(packet) <= LARGEST or (len(packet) - _HEADER.size - _CHECK.size) % 8:
        raise WbcError(f"a packet of {len(packet)} bytes is not a {what}")
    if not packet.startswith(kind):
        raise WbcError(f"a packet that begins with {packet[:4]!r} is not a {what}")
    body = packet[: -_CHECK.size]
    if _CHECK.unpack(packet[-_CHECK.size :])[0] != zlib.crc32(body):
        raise WbcError(f"the {what} is damaged: its checksum is wrong")
    _, *sizes, flags, number, echo, time = _HEADER.unpack(body[: _HEADER.size])
    numbers = np.frombuffer(body, dtype="<f8", offset=_HEADER.size).astype(float)
    return tuple(sizes), flags, Heading(number, echo, time), numbers
