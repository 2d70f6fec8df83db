"""Logs for other programs: the same numbers come back."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tasks
import wbc
from wbc.simulation.exports import columns, save, save_mcap, save_npz, to_pandas


@pytest.fixture(scope="module")
def log() -> wbc.Log:
    robot = wbc.load("quadruped", "numpy")
    controller = wbc.Controller(robot, tasks.stacks.standing(robot))
    return wbc.run(controller, wbc.Simulator(robot), 0.02)


def test_columns_are_all_of_a_log(log) -> None:
    found = columns(log)
    assert {len(block) for block in found.values()} == {20}
    np.testing.assert_array_equal(found["forces.RF_foot"], log.forces[:, log.contacts.index("RF_foot")])
    np.testing.assert_array_equal(found["measured.RF_foot"], log.measured[:, log.feet.index("RF_foot")])
    assert {name for name in found if name.startswith("errors.")} == {f"errors.{name}" for name in log.errors}
    assert not found["status"].any()


def test_npz(log, tmp_path) -> None:
    path = tmp_path / "x.npz"
    save_npz(log, path)
    with np.load(path) as found:
        names = json.loads(str(found["names"]))
        for name, block in columns(log).items():
            np.testing.assert_array_equal(found[name], block)
    assert (names["robot"], names["ended"]) == ("quadruped", "finished")
    assert tuple(names["actuators"]) == log.actuators


def test_pandas(log, tmp_path) -> None:
    import pandas

    table = to_pandas(log)
    np.testing.assert_array_equal(table.index, log.time)
    np.testing.assert_array_equal(table["torque.LF_KFE"], log.torque[:, log.actuators.index("LF_KFE")])
    np.testing.assert_array_equal(table["forces.LH_foot.z"], log.forces[:, log.contacts.index("LH_foot"), 2])
    assert list(table["status"]) == log.status
    assert table.attrs["robot"] == "quadruped"
    save(log, tmp_path / "x.csv")
    again = pandas.read_csv(tmp_path / "x.csv", index_col="time")
    np.testing.assert_allclose(again["q.2"], log.q[:, 2], rtol=1e-14)


def test_mcap(log, tmp_path) -> None:
    from mcap import reader

    path = tmp_path / "x.mcap"
    save_mcap(log, path)
    with path.open("rb") as file:
        found: dict[str, list] = {}
        for _, channel, message in reader.make_reader(file).iter_messages():
            data = json.loads(message.data)
            assert message.log_time == round(data["time"] * 1e9)
            found.setdefault(channel.topic, []).append(data["values"])
    blocks = columns(log)
    assert set(found) == {f"/{name}" for name in blocks if name != "time"}
    for name, block in blocks.items():
        if name != "time":
            np.testing.assert_array_equal(np.array(found[f"/{name}"], dtype=float), block.reshape(20, -1))


@pytest.mark.parametrize(("name", "words"), [("x.bag", "not as '.bag'"), ("no/x.npz", "can't write")])
def test_what_cannot_be_written_is_told(log, tmp_path, name, words) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        save(log, tmp_path / name)


def test_what_is_no_log_is_named(log, tmp_path) -> None:
    for write in (
        to_pandas,
        lambda it: save_npz(it, tmp_path / "x.npz"),
        lambda it: save_mcap(it, tmp_path / "x.mcap"),
    ):
        with pytest.raises(wbc.WbcError, match="log = 3 must be a log"):
            write(3)
    with pytest.raises(wbc.WbcError, match="path = 3 must be that of a file"):
        save(log, 3)
