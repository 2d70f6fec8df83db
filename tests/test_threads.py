"""One thread for linear algebra while it lasts, and one thread at a time in a controller."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import tasks
import wbc
from tests.control.scenes import SOLVERS, standing
from wbc import classical, kinematics
from wbc.triangular import triangular_inverse


def threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_linear_algebra_is_held_to_one_thread() -> None:
    before = threads()
    assert before
    with wbc.single_threaded():
        assert set(threads()) == {1}
    assert threads() == before


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_tick_wakes_no_other_thread(solver: str) -> None:
    """OpenBLAS spreads triangular systems over its threads: on a busy processor a tick waited for milliseconds."""
    ours, q = standing("humanoid", "numpy", solver)
    states = np.random.default_rng(0).normal(scale=0.2, size=(60, ours.robot.nv))
    with threadpool_limits(limits=2):
        assert set(threads()) == {2}
        for k, v in enumerate(states):
            if k == 10:  # what is laid out at first may be large; threads that were woken spin for a while
                assert waited(1e-3, lambda: elsewhere(0.05) < 1e-4)
                before = elsewhere()
            ours.step(ours.robot.integrate(q, v, 1.0), v, 1e-3 * k)
        spent = elsewhere() - before
    assert spent < 5e-3, "s of other threads"


def elsewhere(seconds: float | None = None) -> float:
    """Processor time of other threads, s: since the process began, or while this one sleeps for so long."""
    spent = time.process_time() - time.thread_time()
    if seconds is None:
        return spent
    time.sleep(seconds)
    return time.process_time() - time.thread_time() - spent


def waited(pause: float, quiet: Callable[[], bool]) -> bool:
    """Whether it gets quiet within some seconds."""
    for _ in range(100):
        if quiet():
            return True
        time.sleep(pause)
    return False


def test_a_triangle_is_inverted_whatever_stands_in_the_other_half() -> None:
    full = np.random.default_rng(1).normal(size=(9, 9)) + 5.0 * np.eye(9)
    for lower, half in ((True, np.tril(full)), (False, np.triu(full))):
        assert np.allclose(triangular_inverse(full, lower) @ half, np.eye(9), rtol=0.0, atol=1e-13)


class Waiting(tasks.JointAcceleration):
    """A task that stays in a tick until it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.go_on = threading.Event(), threading.Event()

    def rows(self, robot, tick):
        self.inside.set()
        self.go_on.wait(10.0)
        return super().rows(robot, tick)


class WaitingLaw(classical.ClassicalController):
    """A law that stays in a tick until it is told."""

    inside, go_on = threading.Event(), threading.Event()

    def law(self, robot, tick):
        self.inside.set()
        self.go_on.wait(10.0)
        return np.zeros(robot.na)


class WaitingVelocity(tasks.JointVelocity):
    """As `Waiting`, for velocities."""

    inside, go_on = threading.Event(), threading.Event()

    def rows(self, robot, tick):
        self.inside.set()
        self.go_on.wait(10.0)
        return super().rows(robot, tick)


def waiting(kind: str):
    """A controller that waits in the middle of a tick, and what it waits for."""
    robot = wbc.load("arm")
    if kind == "classical":
        return WaitingLaw(robot), WaitingLaw
    if kind == "kinematic":
        task = WaitingVelocity()
        return kinematics.DifferentialKinematics(robot, wbc.Stack(task)), task
    task = Waiting()
    return wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / task)), task


@pytest.mark.parametrize("kind", ["of tasks", "classical", "kinematic"])
def test_a_second_thread_in_a_controller_is_told(kind: str) -> None:
    one, held = waiting(kind)
    q, v = np.array(one.robot.model.nominal), np.zeros(one.robot.nv)
    first = threading.Thread(target=one.step, args=(q, v, 0.0))
    first.start()
    try:
        assert held.inside.wait(10.0)
        began = time.perf_counter()
        with pytest.raises(wbc.WbcError, match=r"in the middle of a tick: two threads .*copy\.deepcopy"):
            one.step(q, v, 0.0)
        with pytest.raises(wbc.WbcError, match="in the middle of a tick"):
            one.reset()
        assert time.perf_counter() - began < 5.0  # it did not wait for the first
    finally:
        held.go_on.set()
        first.join()
    one.step(q, v, 0.0)  # the turn was given back
    one.reset()


def test_a_tick_that_ends_in_an_error_gives_its_turn_back() -> None:
    one, q = standing("quadruped")
    for _ in range(2):
        with pytest.raises(wbc.WbcError, match="q has shape"):
            one.step(q[1:], np.zeros(18))
    one.step(q, np.zeros(18))


def test_threads_with_copies_of_their_own_agree_with_one_that_is_alone() -> None:
    one, q = standing("quadruped")
    made = [copy.deepcopy(one) for _ in range(3)]
    found: dict[int, bytes] = {}

    def work(number: int) -> None:
        for tick in range(50):
            solution = made[number].step(q, np.full(18, 0.01 * tick), 1e-3 * tick)
        found[number] = solution.torque.tobytes()

    running = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for tick in range(50):
        alone = one.step(q, np.full(18, 0.01 * tick), 1e-3 * tick)
    assert set(found.values()) == {alone.torque.tobytes()} and len(found) == 3
