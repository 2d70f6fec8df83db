"""Logs are read back as they were, also when the process that wrote them died."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import standing
from wbc import WbcError, kinematics, load
from wbc.simulation import Log, MujocoSimulator, Noise, Push, Realism, Scene, Simulator, make_plant, read_log, run

ARRAYS = (
    *(
        "time",
        "q",
        "v",
        "true_q",
        "true_v",
        "torque",
        "delivered",
        "forces",
        "measured",
        "cost",
        "cone_margin",
        "torque_margin",
    ),
    "tick_time",
)


def make(path: Path | None, duration: float = 0.05, simulator: str = "mujoco", realism: Realism | None = None) -> Log:
    controller, _ = standing("quadruped")
    return Scene(controller, make_plant(controller.robot, simulator, realism=realism), duration).run(record=path)


def same(one: Log, other: Log, ticks: int | None = None) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name)[:ticks], getattr(other, name)[:ticks]), name
    assert one.status[:ticks] == other.status[:ticks]
    assert (one.robot, one.contacts, one.feet) == (other.robot, other.contacts, other.feet)
    assert list(one.errors) == list(other.errors)
    assert all(np.array_equal(one.errors[task][:ticks], other.errors[task][:ticks]) for task in one.errors)


def test_reading_back_gives_the_same_numbers(tmp_path: Path) -> None:
    log = make(tmp_path / "run.log")
    assert len(log) == 50
    assert log.forces.shape == (50, 4, 3)
    back = read_log(tmp_path / "run.log")
    same(log, back)
    assert back.ended == "finished"
    assert "50 optimal" in back.summary()


def test_errors_of_tasks_are_told_by_name(tmp_path: Path) -> None:
    controller, _ = standing("quadruped")
    robot = controller.robot
    goal = robot.model.nominal[:3] + np.array([0.02, 0.0, -0.01])

    def target(t: float) -> np.ndarray:
        pose = np.eye(4)
        pose[:3, 3] = goal + np.array([0.0, t, 0.0])
        return pose

    controller.stack["base"].target = target
    log = Scene(controller, make_plant(robot, "builtin"), 0.03).run(record=tmp_path / "run.log")
    assert list(log.errors) == ["base", "posture"]
    assert np.allclose(log.errors["base"][:, 1], goal[1] + log.time - log.q[:, 1], atol=1e-15)
    assert np.allclose(log.errors["base"][:, [0, 2]], (goal - log.q[:, :3])[:, [0, 2]], atol=1e-15)
    assert np.allclose(log.errors["posture"], log.q[0, 7:] - log.q[:, 7:], atol=1e-15)  # held as it was
    same(log, read_log(tmp_path / "run.log"))


@pytest.mark.parametrize("simulator", ["mujoco", "builtin"])
def test_the_true_state_stands_beside_the_measured_one(tmp_path: Path, simulator: str) -> None:
    noise = Noise(1e-3, 1e-2, base_position=1e-3)
    log = make(tmp_path / "run.log", simulator=simulator, realism=Realism(noise=noise, delay=1e-3, seed=2))
    same(log, read_log(tmp_path / "run.log"))
    assert np.std(log.q[:, 7:] - log.true_q[:, 7:]) == pytest.approx(1e-3, rel=0.1)
    assert np.std(log.v[:, 6:] - log.true_v[:, 6:]) == pytest.approx(1e-2, rel=0.1)
    assert np.abs(np.diff(log.true_q, axis=0)).max() < 2e-4, "the true one does not jump"
    whole = (tmp_path / "run.log").read_bytes()
    (tmp_path / "part.log").write_bytes(whole[: len(whole) // 2])
    part = read_log(tmp_path / "part.log")
    assert 20 < len(part) < 50
    same(part, log, len(part))
    plain = make(tmp_path / "plain.log", simulator=simulator)
    assert np.array_equal(plain.q, plain.true_q) and np.array_equal(plain.v, plain.true_v)
    assert (tmp_path / "plain.log").stat().st_size < len(whole), "what is the same is written once"


@pytest.mark.parametrize("simulator", ["mujoco", "builtin"])
@pytest.mark.parametrize("realism", [None, Realism(noise=Noise(1e-3, 1e-2), lag=2e-3, seed=5)])
def test_the_same_run_twice_gives_the_same_numbers(simulator: str, realism: Realism | None) -> None:
    one, other = (make(None, simulator=simulator, realism=realism) for _ in range(2))
    for name in ARRAYS[:-1]:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_every_so_many_ticks_are_recorded_and_the_robot_does_the_same(tmp_path: Path) -> None:
    def scene(every: int) -> Scene:
        controller, _ = standing("quadruped")
        plant = make_plant(controller.robot, "mujoco", realism=Realism(noise=Noise(1e-3, 0.01), seed=1))
        push = Push("base", (0.0, 100.0, 0.0), 0.01, 0.02)
        return Scene(controller, plant, 0.05, None, [push], every=every)

    whole, some = scene(1), scene(20)
    one, other = whole.run(), some.run(record=tmp_path / "run.log")
    assert np.allclose(other.time, [0.0, 0.02, 0.04])
    for name in set(ARRAYS) - {"tick_time"}:
        assert np.array_equal(getattr(one, name)[::20], getattr(other, name)), name
    assert all(np.array_equal(error[::20], other.errors[name]) for name, error in one.errors.items())
    ends = (np.concatenate(made.plant.true_state) for made in (whole, some))
    assert np.array_equal(*ends), "the same way to its end"
    same(read_log(tmp_path / "run.log"), other)
    with pytest.raises(WbcError, match="every = 0 must be a whole number of ticks"):
        scene(0).run()


def test_a_log_of_version_1_is_read() -> None:
    """One that was written before there was a true state, as bytes."""
    header = b'wbc log 1\n{"robot": "r", "sizes": [1, 1, 1, 1], "contacts": ["c"], "feet": []}\n'
    row = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 1e-3])
    with tempfile.NamedTemporaryFile(suffix=".log") as file:
        file.write(header + row.tobytes() + row.tobytes() + b"\nended: finished")
        file.flush()
        log = read_log(file.name)
    assert len(log) == 2 and log.ended == "finished" and log.status == ["relaxed"] * 2
    assert log.forces[1].tolist() == [[4.0, 5.0, 6.0]] and log.cost[1].tolist() == [7.0]
    assert log.q[0] == log.true_q[0] == 1.0 and log.v[0] == log.true_v[0] == 2.0
    assert np.isnan(log.delivered).all() and log.delivered.shape == (2, 1) and log.actuators == ()


def test_an_error_on_the_way_keeps_what_was_recorded(tmp_path: Path) -> None:
    controller, _ = standing("quadruped")

    def targets(now: float, _: object) -> None:
        if now > 0.02:
            raise ValueError("somebody's mistake")

    with pytest.raises(ValueError, match="somebody's mistake"):
        run(controller, Simulator(controller.robot), 1.0, targets=targets, record=tmp_path / "run.log")
    log = read_log(tmp_path / "run.log")
    assert 20 <= len(log) <= 22
    assert log.ended == "ValueError: somebody's mistake"


def test_a_log_that_breaks_off_gives_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    log = make(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    back = read_log(path)
    assert 20 < len(back) < 50
    assert back.ended == ""
    same(back, log, len(back))
    assert "incomplete" in back.summary()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a log of wbc"),
        (b"PK\x03\x04 something else", "is not a log of wbc"),
        (b"wbc log 1\n", "header can't be read"),
        (b"wbc log 1\n{}\n", "header can't be read"),
        (b"wbc log 4\n{}\n", "is a log of version '4'"),
        (b'wbc log 1\n{"sizes": [1, "x", 2, 3], "contacts": [], "feet": []}\n', "header can't be read"),
        (b'wbc log 1\n{"robot": "r", "sizes": [1, 1, 1, 1], "contacts": [], "feet": []}\n' + b"\xff" * 72, "damaged"),
    ],
)
def test_foreign_and_damaged_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "odd.log"
    path.write_bytes(content)
    with pytest.raises(WbcError, match=message):
        read_log(path)
    with pytest.raises(WbcError, match="can't read"):
        read_log(tmp_path / "nowhere.log")


def test_a_killed_process_leaves_all_but_the_last_second(tmp_path: Path) -> None:
    path = tmp_path / "killed.log"
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.simulation.test_log import make\n"
        "from pathlib import Path\n"
        f"make(Path({str(path)!r}), 1000.0)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not path.exists() or path.stat().st_size < 1_500_000):
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    log = read_log(path)
    assert len(log) > 1000
    assert np.allclose(np.diff(log.time), 1e-3)
    assert log.ended == ""


def test_a_log_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(WbcError, match="can't write the log"):
        make(tmp_path / "no such folder" / "run.log")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"controller": 3}, "needs a controller of torques.*not 3"),
        ({"controller": "velocities"}, "needs a controller of torques.*DifferentialKinematics"),
        ({"plant": 3}, "needs a plant"),
        ({"period": np.nan}, "the control period, s, = nan"),
        ({"period": "1 ms"}, "the control period, s, = '1 ms'"),
        ({"period": 1.5e-3}, "multiple of the plant's timestep"),
        ({"disturbances": 3}, "wbc.Push objects, not 3"),
        ({"disturbances": ["base"]}, "wbc.Push objects, not 'base'"),
    ],
)
def test_what_can_not_be_run_is_named(change: dict, words: str) -> None:
    controller, _ = standing("quadruped")
    given = {"controller": controller, "plant": Simulator(controller.robot), "duration": 0.01, **change}
    if given["controller"] == "velocities":
        given["controller"] = kinematics.DifferentialKinematics(load("arm"), wbc.Stack(tasks.JointVelocity()))
    with pytest.raises(WbcError, match=words):
        run(**given)


class Wandering(tasks.JointAcceleration):
    """Its error is none."""

    def error(self, robot, tick):
        return 1.0


def test_an_error_that_can_not_be_logged_is_named() -> None:
    arm = load("arm")
    controller = wbc.Controller(arm, wbc.Stack(tasks.EquationOfMotion() / Wandering(name="mine")))
    with pytest.raises(WbcError, match=r"mine: error\(\) must give an array of one dimension"):
        run(controller, Simulator(arm), 0.01)


def test_one_push_need_not_be_in_a_list() -> None:
    controller, _ = standing("quadruped")
    one, listed = (
        run(standing("quadruped")[0], Simulator(controller.robot), 0.02, disturbances=pushes)
        for pushes in (Push("base", (0.0, 50.0, 0.0), 0.0, 1.0), [Push("base", (0.0, 50.0, 0.0), 0.0, 1.0)])
    )
    assert (one.q == listed.q).all() and one.v[-1, 1] > 1e-3


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (((1.0, 2.0), 0.0, 1.0), "push on 'base' must be three or six"),
        ((3.0, 0.0, 1.0), "push on 'base' must be three or six"),
        (((1.0, np.nan, 0.0), 0.0, 1.0), "push on 'base' must be three or six"),
        (("hard", 0.0, 1.0), "push on 'base' = 'hard'"),
        (((1.0, 2.0, 3.0), np.nan, 1.0), "the start of the push on 'base', s, = nan"),
        (((1.0, 2.0, 3.0), 0.0, -1.0), "the duration of the push on 'base', s, = -1.0"),
    ],
)
def test_a_push_that_makes_no_sense_is_named(values: tuple, words: str) -> None:
    with pytest.raises(WbcError, match=words):
        Push("base", *values)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda arm: Simulator(arm, "x"), "timestep, s, = 'x'"),
        (lambda arm: Simulator(arm, stiffness="x"), "stiffness, N/m, = 'x'"),
        (lambda arm: Simulator(arm, corrections="x"), "corrections = 'x'"),
        (lambda arm: Simulator(arm, corrections=-1), "corrections = -1"),
        (lambda arm: Simulator(arm, height="x"), "height, m, = 'x'"),
        (lambda arm: Simulator(arm, height=np.nan), "height, m, = nan"),
        (lambda arm: Simulator(arm, contacts=3), "contacts must be frames.*not 3"),
        (lambda arm: MujocoSimulator(arm, "x"), "timestep, s, = 'x'"),
        (lambda arm: MujocoSimulator(arm, 1e-3, -1.0), "friction = -1.0"),
        (lambda arm: make_plant(arm, friction=np.inf), "friction = inf .* at the most"),
    ],
)
def test_a_plant_that_can_not_be_made_is_named(make, words: str) -> None:
    with pytest.raises(WbcError, match=words):
        make(load("arm"))


def test_only_what_has_contacts_tells_of_cones() -> None:
    assert "N in cones" in make(None, 0.01).summary()
    arm = load("arm")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration())
    summary = run(wbc.Controller(arm, stack), Simulator(arm), 0.01).summary()
    assert "inf" not in summary and "N m of torque" in summary


def test_a_measured_force_is_the_mean_over_the_period() -> None:
    """The robot lands: what its feet feel changes from step to step."""
    controller, q = standing("quadruped")
    plant = Simulator(controller.robot, timestep=5e-4)
    q[2] += 2e-3
    plant.reset(q)
    log = run(controller, plant, 0.04, period=2e-3)
    plant.reset(q)
    for tick in range(len(log) - 1):
        plant.apply(log.torque[tick])
        forces = []
        for _ in range(4):
            plant.step()
            forces.append(list(plant.contact_forces.values()))
        assert np.allclose(log.measured[tick + 1], np.mean(forces, axis=0), atol=1e-9)
    assert np.abs(log.measured).max() > 100.0


@pytest.mark.filterwarnings("ignore:no task bounds the forces")
def test_limits_go_by_the_period_of_the_run() -> None:
    """Torques that may change by so much a second change by so much a tick."""
    controller, _ = standing("quadruped")
    rate = 500.0
    stack = wbc.Stack(
        tasks.EquationOfMotion() / (tasks.TorqueLimits(rate=rate) + tasks.ContactMotion()) / tasks.JointAcceleration(),
        contacts=controller.stack.contacts,
    )
    limited = wbc.Controller(controller.robot, stack)
    plant = Simulator(controller.robot)
    log = run(limited, plant, 0.03, period=5e-3, disturbances=[Push("base", (400.0, 0.0, 0.0), 0.005, 0.02)])
    assert np.isclose(np.abs(np.diff(log.torque, axis=0)).max(), 5e-3 * rate)
    assert limited.period == 1e-3
    with pytest.raises(WbcError, match="the control period, s, = 'soon' must be a number"):
        run(limited, plant, 0.03, period="soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cone", [3, ["LF_foot", 0.6, [0, 0, 1]], ["LF_foot", -1.0, [0, 0, 1], ""], ["LF_foot", 0.6, [0, 0], ""]]
)
def test_cones_of_a_damaged_header_are_named(tmp_path, cone) -> None:
    robot = wbc.load("quadruped", "numpy")
    path = tmp_path / "a.log"
    wbc.run(wbc.Controller(robot, tasks.stacks.standing(robot)), wbc.Simulator(robot), 0.003, record=path)
    magic, header, rest = path.read_bytes().split(b"\n", 2)
    told = json.loads(header)
    assert set(told["cones"]) == set(robot.model.feet)
    told["cones"]["LF_foot"] = cone
    path.write_bytes(b"\n".join((magic, json.dumps(told).encode(), rest)))
    with pytest.raises(wbc.WbcError, match="is damaged: its header can't be read"):
        wbc.read_log(path)
