"""Many robots at once: the same numbers as a loop, bit for bit."""

import copy
import multiprocessing
import pickle
import signal
from types import SimpleNamespace

import numpy as np
import pytest

import tasks
import wbc
from wbc.control import batch as module
from wbc.simulation import Plants

COUNT, TICKS = 5, 12


def controller():
    robot = wbc.load("quadruped", "numpy")
    robot.update(robot.model.nominal)
    limits = tasks.TorqueLimits() + tasks.FrictionCones()
    base = tasks.EndEffectorAcceleration("base", robot.pose("base"), wbc.Gains(3.0))
    levels = tasks.EquationOfMotion() / limits / tasks.ContactMotion() / base / tasks.JointAcceleration()
    return wbc.Controller(robot, wbc.Stack(levels, [wbc.PointContact(foot, 0.6) for foot in robot.model.feet]))


def states(robot):
    """Standing and moving about, some of them hard: shapes (ticks, count, ·)."""
    random = np.random.default_rng(0)
    q = np.tile(robot.model.nominal, (TICKS, COUNT, 1))
    q[..., 7:] += random.normal(scale=0.05, size=(TICKS, COUNT, robot.nv - 6))
    return q, random.normal(scale=0.3, size=(TICKS, COUNT, robot.nv))


@pytest.mark.parametrize("workers", ["threads", "processes"])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_same_as_a_loop_bit_for_bit(workers, jobs):
    if workers == "processes" and "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system can't fork")
    one = controller()
    alone = [controller() for _ in range(COUNT)]
    q, v = states(one.robot)
    with wbc.Batch(one, COUNT, jobs=jobs, workers=workers) as batch:
        for tick in range(TICKS):
            found = batch.step(q[tick], v[tick], 1e-3 * tick)
            wanted = [single.step(q[tick, k], v[tick, k], 1e-3 * tick) for k, single in enumerate(alone)]
            assert np.array_equal(found.torque, [solution.torque for solution in wanted])
            assert np.array_equal(found.acceleration, [solution.acceleration for solution in wanted])
            assert found.status == tuple(solution.status for solution in wanted)
    assert len(found) == len(batch) == COUNT and batch.jobs == jobs
    assert len(found.solutions) == (COUNT if workers == "threads" else 0)


def test_two_batches_of_processes_end_in_any_order():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system can't fork")
    first, second = (wbc.Batch(controller(), 2, jobs=2, workers="processes") for _ in range(2))
    q, v = states(controller().robot)
    found = [batch.step(q[0, :2], v[0, :2], 0.0).torque for batch in (first, second)]
    first.close()
    second.close()
    assert np.array_equal(*found)
    with pytest.raises(wbc.WbcError, match="the batch is closed"):
        first.step(q[0, :2], v[0, :2])


def test_processes_are_the_default_where_there_is_more_than_one_job():
    forks = "fork" in multiprocessing.get_all_start_methods()
    for count, jobs, workers in ((4, 2, "processes" if forks else "threads"), (4, 1, "threads"), (1, 2, "threads")):
        with wbc.Batch(controller(), count, jobs=jobs) as batch:
            assert batch.workers == workers


def test_a_wrong_state_of_one_robot_is_told_and_the_next_tick_is_right():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system can't fork")
    q, v = states(controller().robot)
    for wrong in range(3):
        with (
            wbc.Batch(controller(), 3, jobs=3, workers="processes") as batch,
            wbc.Batch(controller(), 3, jobs=3, workers="threads") as other,
        ):
            odd = q[0, :3].copy()
            odd[wrong, 3] = 2.0  # the quaternion
            for many in (batch, other):
                with pytest.raises(wbc.WbcError, match="is a quaternion"):
                    many.step(odd, v[0, :3])
            found = [many.step(q[0, :3], v[0, :3], 0.5).torque for many in (batch, other)]
            assert np.array_equal(*found), "each answer belongs to its own question"


def test_a_process_that_is_gone_is_told():
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system can't fork")
    batch = wbc.Batch(controller(), 3, jobs=3, workers="processes")
    q, v = states(controller().robot)
    batch.step(q[0, :3], v[0, :3], 0.0)
    process, _ = batch._children[0]
    process.kill()
    process.join()
    with pytest.raises(wbc.WbcError, match="process 1 of the batch ended; it is closed"):
        batch.step(q[1, :3], v[1, :3], 1e-3)
    with pytest.raises(wbc.WbcError, match="the batch is closed"):
        batch.step(q[1, :3], v[1, :3], 1e-3)
    assert not any(child.is_alive() for child, _ in batch._children)


def test_each_robot_may_have_its_own_target():
    with wbc.Batch(controller(), 2, workers="threads", jobs=2) as batch:
        robot = batch.controllers[1].robot
        robot.update(robot.model.nominal)
        higher = robot.pose("base").copy()
        higher[2, 3] += 0.05
        batch.controllers[1].stack["base"].target = higher
        q = np.tile(robot.model.nominal, (2, 1))
        found = batch.step(q, np.zeros((2, 18)), 0.0)
    assert abs(found.acceleration[0, 2]) < 1e-6 and found.acceleration[1, 2] > 1.0


def test_a_copy_of_a_controller_is_a_controller():
    one = controller()
    q, v = states(one.robot)
    one.step(q[0, 0], v[0, 0], 0.0)
    other = copy.deepcopy(one)
    for tick in range(1, TICKS):
        a, b = (each.step(q[tick, 0], v[tick, 0], 1e-3 * tick) for each in (one, other))
        # the copy has no active set to begin from, so it may be another by rounding
        assert np.allclose(a.torque, b.torque, atol=1e-6)
    assert other.stack.names == one.stack.names and list(other.errors()) == list(one.errors())
    assert other.stack["base"] is not one.stack["base"]
    other.step(q[0, 0], v[0, 0], 1.0).explain()


def test_plants_go_on_as_in_a_loop():
    robot = wbc.load("quadruped", "numpy")
    many = [wbc.Simulator(robot, 1e-3) for _ in range(3)]
    alone = [wbc.Simulator(robot, 1e-3) for _ in range(3)]
    torques = np.random.default_rng(1).normal(scale=5.0, size=(3, 12))
    plants = Plants(many, jobs=2)
    for _ in range(3):
        plants.step(torques, steps=2)
        for plant, torque in zip(alone, torques, strict=True):
            plant.apply(torque)
            plant.step()
            plant.step()
    plants.close()
    q, v = plants.state
    assert np.array_equal(q, [plant.state[0] for plant in alone])
    assert np.array_equal(v, [plant.state[1] for plant in alone])
    assert len({tuple(row) for row in q}) == 3 and many[0].time == pytest.approx(6e-3)
    with pytest.raises(wbc.WbcError, match=r"torque has the shape \(12,\), not \(3, 12\)"):
        plants.step(torques[0])
    with pytest.raises(wbc.WbcError, match="needs plants"):
        Plants([robot])


def test_what_can_not_be_is_told():
    one = controller()
    for arguments, words in (
        ((one, 0), "count = 0"),
        ((one, 2.5), "count = 2.5"),
        ((one.robot, 2), "a torque controller"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            wbc.Batch(*arguments)
    with pytest.raises(wbc.WbcError, match="jobs = 0"):
        wbc.Batch(one, 2, jobs=0)
    with pytest.raises(wbc.WbcError, match="no kind of workers 'thread'; did you mean 'threads'"):
        wbc.Batch(one, 2, workers="thread")
    for workers in ("threads", "processes"):
        with wbc.Batch(one, 2, workers=workers) as batch:
            with pytest.raises(wbc.WbcError, match=r"q has the shape \(19,\), not \(2, 19\)"):
                batch.step(one.robot.model.nominal, np.zeros((2, 18)))
            with pytest.raises(wbc.WbcError, match="finite|numbers"):
                batch.step(np.full((2, 19), np.nan), np.zeros((2, 18)))


def test_copies_begin_anew():
    """What the controller has been through is nothing to them."""
    one, fresh = controller(), controller()
    q, v = states(one.robot)
    for tick in range(3):
        one.step(q[tick, 0], v[tick, 0], 5.0 + 1e-3 * tick)
    with wbc.Batch(one, 2, jobs=1) as batch:
        found = batch.step(q[5, :2], v[5, :2], 0.0)
    assert np.array_equal(found.torque[0], fresh.step(q[5, 0], v[5, 0], 0.0).torque)


def test_a_process_answers_until_it_is_told_to_end(monkeypatch):
    """It leaves Ctrl-C to its parent, and errors are raised there, whatever they hold."""

    class Pipe:
        asked, answers = [pickle.dumps(t) for t in (0.5, 1.0, 1.5)] + [module.END], []

        def recv_bytes(self):
            return self.asked.pop(0)

        def send_bytes(self, answer):
            self.answers.append(answer)

    class Board:
        def step(self, controllers, part, t):
            assert (controllers, part) == ("ours", slice(2, 4))
            if t == 1.0:
                raise ValueError("it is one")
            if t == 1.5:
                raise ValueError("with a lambda", lambda: 0)

    signals, threads = [], []
    monkeypatch.setattr("signal.signal", lambda *given: signals.append(given))
    monkeypatch.setattr("threading.Thread", lambda **given: threads.append(given) or SimpleNamespace(start=lambda: 0))
    pipe = Pipe()
    module._serve("ours", slice(2, 4), Board(), pipe, 77)
    assert signals == [(signal.SIGINT, signal.SIG_IGN)]
    assert threads == [{"target": module._watch, "args": (77,), "daemon": True}]
    plain, odd = (pickle.loads(answer) for answer in pipe.answers[1:])
    assert pipe.answers[0] == b"" and isinstance(plain, ValueError) and str(plain) == "it is one"
    assert isinstance(odd, wbc.WbcError) and str(odd).startswith("ValueError: ('with a lambda', ")


def test_a_process_ends_with_its_parent(monkeypatch):
    parents, slept = [7, 7, 1], []
    monkeypatch.setattr("os.getppid", lambda: parents.pop(0))
    monkeypatch.setattr("time.sleep", slept.append)

    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr("os._exit", leave)
    with pytest.raises(SystemExit) as left:
        module._watch(7)
    assert left.value.code == 0 and slept == [1.0, 1.0]


def test_a_job_a_core_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 3, 5} if pid == 0 else set(), raising=False)
    assert module._cores() == 3
    monkeypatch.delattr("os.sched_getaffinity")
    for told, cores in ((4, 4), (None, 1)):
        monkeypatch.setattr("os.cpu_count", lambda told=told: told)
        assert module._cores() == cores
