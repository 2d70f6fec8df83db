"""Damaged logs: whatever is done to one, a log or a `WbcError` comes back, and nothing that a terminal would obey."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import wbc
from tests.control.scenes import standing
from wbc.simulation import Scene, make_plant, read_log

PIECES = (b"", b"[", b"[" * 100_000, b"-1", b"1e400", b"null", b"9" * 30, b"\x1b[31m", b"{}", b"0", b'""', b"true")
ENDS = (b"", b"[[[", b"\x1b]0;title\x07", b"[1, 2]", b'[["a", "b", 1e400, 0.0, "c"]]')


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("logs") / "run.log"
    controller, _ = standing("quadruped")
    Scene(controller, make_plant(controller.robot, "builtin"), 0.02).run(record=path)
    return path.read_bytes()


def damaged(whole: bytes, seed: int) -> bytes:
    rng, data = random.Random(seed), bytearray(whole)
    header = whole.find(b"\n", whole.find(b"\n") + 1)
    match seed % 6:
        case 0:
            for _ in range(rng.randint(1, 10)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case 1:
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(header)] = rng.randrange(256)
        case 2:
            del data[rng.randrange(len(data)) :]
        case 3:
            at = rng.randrange(header)
            data[at : at + rng.randrange(20)] = rng.choice(PIECES)
        case 4:
            at = rng.randrange(len(data))
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(50)))
        case _:
            data[data.rfind(b"ended") - 10 + rng.randrange(30) :] = rng.choice(ENDS)
    return bytes(data)


def examine(whole: bytes, seed: int, path: Path) -> str:
    path.write_bytes(damaged(whole, seed))
    try:
        log = read_log(path)
        told = log.summary() + repr(log)
    except wbc.WbcError as error:
        told, outcome = str(error), "error"
    else:
        outcome = "log"
    assert all(letter.isprintable() or letter == "\n" for letter in told), (seed, told)
    return outcome


def test_a_damaged_log_gives_a_log_or_an_error(whole: bytes, tmp_path: Path) -> None:
    outcomes = [examine(whole, seed, tmp_path / "damaged.log") for seed in range(1200)]
    assert min(outcomes.count("log"), outcomes.count("error")) > 100


@pytest.mark.soak
def test_many_damaged_logs_give_a_log_or_an_error(whole: bytes, tmp_path: Path) -> None:
    for seed in range(2000, 42_000):
        examine(whole, seed, tmp_path / "damaged.log")
