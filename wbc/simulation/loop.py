"""The control loop between a controller and a plant."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path

import numpy as np

from wbc.arrays import Array, finite, numbers
from wbc.control.protocol import Bounded, Clocked, TorqueController
from wbc.control.solution import Solution
from wbc.errors import WbcError, number, show
from wbc.model.names import actuator_names
from wbc.simulation.fall import Fall
from wbc.simulation.log import STATUSES, Log
from wbc.simulation.plant import Plant
from wbc.simulation.pressing import warn_of_sliding
from wbc.simulation.recorder import Recorder, cones_of
from wbc.simulation.signals import TerminatedError, terminable
from wbc.threads import single_threaded

WHOLE = 1.0
"""Share of a period that a tick may take, where nobody says otherwise."""


@dataclass(frozen=True)
class Push:
    """An external force over an interval of time.

    Attributes:
        frame: the body that is pushed.
        force: N, world axes; three numbers, or six with a torque.
        start: s.
        duration: s.
    """

    frame: str
    force: tuple[float, ...]
    start: float
    duration: float

    def __post_init__(self) -> None:
        force = numbers(self.force, f"the push on {self.frame!r}")
        if force.shape not in ((3,), (6,)) or not np.isfinite(force).all():
            raise WbcError(f"the push on {self.frame!r} must be three or six finite numbers, not {show(self.force)}")
        number(self.start, f"the start of the push on {self.frame!r}, s,", -1e9, 1e9)
        number(self.duration, f"the duration of the push on {self.frame!r}, s,")


def run(
    controller: TorqueController,
    plant: Plant,
    duration: float,
    period: float | None = None,
    *,
    deadline: float | None = None,
    targets: Callable[[float, TorqueController], None] | None = None,
    disturbances: Push | Iterable[Push] | Callable[[float], Iterable[Push]] = (),
    record: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
    until: Callable[[float, Solution], bool] | None = None,
    every: int = 1,
) -> Log:
    """Runs a controller on a plant. Ctrl-C, a fall, or an unstable plant end it; the log is kept.

    SIGTERM and SIGHUP end the process, unless you handle them; the log is closed first and gives the reason. A full
    disk is a warning: the run continues, and the returned log is complete.

    Forces are measured on the plant's feet and at the contacts of the controller's stack. If the plant has sensor
    errors, the log has the true state and the measured one, and a fall is judged by the true one.

    Args:
        controller: a torque controller; it keeps its memory: call `reset` between runs.
        plant: in the state to start from.
        duration: s.
        period: of the control, s: a multiple of the plant's timestep, and the controller's for this run; None: the
            controller's own, or, if it was made without one, the multiple nearest to that.
        deadline: time limit of a tick, s, for a controller without one. None: the period, as on a robot; math.inf: no
            limit, so that results do not depend on the load of the machine.
        targets: called before each tick with the time and the controller, to set targets, contacts, weights.
        disturbances: pushes; or a function of time that returns the pushes known by then.
        record: file to write the log to during the run.
        progress: called after each tick with the finished share, 0 to 1.
        until: called after each tick with the time and the solution; true ends the run.
        every: ticks between two records of the log. Ticks in between are not examined, which makes a run of a small
            robot nearly twice as fast; the motion is the same.

    Returns:
        The log; `ended` says how the run ended.
    """
    if not isinstance(controller, TorqueController) or controller.stack.kinematic:
        raise WbcError(f"wbc.run needs a controller of torques, such as a wbc.TorqueController, not {show(controller)}")
    if not isinstance(plant, Plant):
        raise WbcError(f"wbc.run needs a plant, such as a wbc.Simulator, not {show(plant)}")
    own = controller.period
    unbounded = controller if isinstance(controller, Bounded) and controller.deadline is None else None
    period, steps = control_period(controller, plant, period)
    bound = WHOLE * period if deadline is None else number(deadline, "the deadline, s,", above=True)
    for what, callback in (("targets", targets), ("progress", progress), ("until", until)):
        if callback is not None and not callable(callback):
            raise WbcError(f"{what} = {show(callback)} must be a function, or None")
    if record is not None and not isinstance(record, str | Path):
        raise WbcError(f"record = {show(record)} must be the path of a file, or None")
    number(duration, "duration, s,", high=1e9, above=True)
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise WbcError(f"every = {show(every)} must be a whole number of ticks, 1 or more")
    robot, pushing = controller.robot, _Pushing(plant, disturbances)
    if (plant.model.nq, plant.model.nv, plant.model.na) != (robot.nq, robot.nv, robot.na):
        theirs = (plant.model.nq, plant.model.nv, plant.model.na)
        raise WbcError(
            f"the controller's robot has (nq, nv, na) = {robot.nq, robot.nv, robot.na}, the plant's {theirs}"
        )
    contacts = tuple(contact.name for contact in controller.stack.contacts)
    sizes = (robot.nq, robot.nv, robot.na, len(controller.stack))
    plant.measure(contact.frame for contact in controller.stack.contacts if contact.frame in plant.frames)
    knows = type(plant).true_state is not Plant.true_state
    measured = plant.contact_forces
    actuators = tuple(actuator_names(robot.model))
    file = None if record is None else Path(record)
    cones = cones_of(controller.stack)
    recorder = Recorder(
        robot.model.name, contacts, tuple(measured), sizes, knows, actuators, file, examined=True, cones=cones
    )
    step = stepper(controller)
    ticks, started, ended = round(duration / period), plant.time, "finished"
    fall = Fall(robot._scratch(), plant.true_state[0])
    controller.period = period  # limits of joints and of torque rates act in discrete time
    if unbounded is not None:
        unbounded.deadline = bound
    if isinstance(controller, Clocked):
        controller.expect_new_clock()
    warn_of_sliding(robot, controller.stack, plant, duration)
    try:
        with single_threaded(), terminable():
            for tick in range(ticks):
                now = plant.time - started
                q, v = plant.state
                true = plant.true_state if knows else (q, v)
                ended = verdict(plant, (q, v), true, fall)
                if ended:
                    break
                ended = "finished"
                if targets is not None:
                    targets(now, controller)
                began = clock.perf_counter()
                solution = step(q, v, now, measured if tick else {})
                taken = clock.perf_counter() - began
                plant.apply(solution.torque)
                pushing.push(now)
                noted, delivered = tick % every == 0, np.full(robot.na, np.nan)
                if noted:
                    row = _row(now, q, v, solution, measured, contacts, taken)
                    row, errors = np.concatenate([row, *true]) if knows else row, controller.errors()
                    health = solution.health
                try:
                    measured, delivered = _advance(plant, steps)
                finally:
                    if noted:
                        recorder.add(np.concatenate([row, delivered]), now, errors, health)
                if progress is not None:
                    progress((tick + 1) / ticks)
                if until is not None and until(now, solution):
                    ended = "stopped"
                    break
    except KeyboardInterrupt:
        ended = "interrupted"
    except TerminatedError as end:
        recorder.close(f"ended by {end.signal}")
        raise
    except BaseException as error:  # of the controller, or of somebody's callback: what was recorded is kept
        recorder.close(f"{type(error).__name__}: {error}")
        raise
    finally:
        controller.period = own
        if unbounded is not None:
            unbounded.deadline = None
    return recorder.close(ended)


def stepper(controller: TorqueController) -> Callable[[Array, Array, float, dict[str, Array]], Solution]:
    """A step that tells a controller what was measured, where it wants to know: one of your own need not.

    Args:
        controller: its step may have no `measured`.

    Returns:
        Of q, v, the time, s, and forces on the robot by frame, world axes, N, shape (3,).
    """
    if "measured" not in signature(controller.step).parameters:
        return lambda q, v, t, measured: controller.step(q, v, t)
    # a contact between two parts of the robot is no contact of a plant
    sensed = [(contact.name, contact.frame) for contact in controller.stack.contacts if contact.on is None]

    def step(q: Array, v: Array, t: float, measured: dict[str, Array]) -> Solution:
        felt = {name: measured[frame] for name, frame in sensed if frame in measured}
        return controller.step(q, v, t, measured=felt or None)

    return step


def control_period(controller: TorqueController, plant: Plant, period: float | None = None) -> tuple[float, int]:
    """The period of the control on a plant, s, and the plant's steps in it.

    Args:
        controller: whose period it is, where none is given.
        plant: that it acts on.
        period: s; None: the controller's.
    """
    own = controller.period
    if period is None and getattr(controller, "chooses_period", False):
        period = plant.timestep * max(1, round(own / plant.timestep))
    period = number(own if period is None else period, "the control period, s,", high=1e3, above=True)
    steps = round(period / plant.timestep)
    if steps < 1 or abs(steps * plant.timestep - period) > 1e-9 * period:
        raise WbcError(
            f"the control period, {period:g} s, must be a multiple of the plant's timestep, {plant.timestep:g} s"
        )
    return period, steps


def push_all(plant: Plant, pushes: tuple[Push, ...], now: float) -> None:
    """Sets the sum of the pushes of this moment on each body that is ever pushed.

    Args:
        plant: that is pushed.
        pushes: of the whole run.
        now: s.
    """
    for frame in dict.fromkeys(push.frame for push in pushes):
        total = np.zeros(6)
        for push in pushes:
            if push.frame == frame and push.start <= now < push.start + push.duration:
                total[: len(push.force)] += push.force
        plant.push(frame, total)


class _Pushing:
    """Pushes a plant in every tick: by pushes that are known, or by those that a function gives."""

    def __init__(self, plant: Plant, given: Push | Iterable[Push] | Callable[[float], Iterable[Push]]) -> None:
        self._plant, self._function = plant, given if callable(given) else None
        known = () if callable(given) else given if isinstance(given, Iterable) else (given,)
        self._pushes = self._checked(known)

    @staticmethod
    def _checked(pushes: Iterable[Push]) -> tuple[Push, ...]:
        found = tuple(pushes)
        odd = [push for push in found if not isinstance(push, Push)]
        if odd:
            raise WbcError(f"disturbances must be wbc.Push objects, not {show(odd[0])}")
        return found

    def push(self, now: float) -> None:
        """See `push_all`; a body that is no longer among the pushes is let go."""
        if self._function is None:
            push_all(self._plant, self._pushes, now)
            return
        before, self._pushes = self._pushes, self._checked(self._function(now))
        named = {push.frame for push in self._pushes}
        for frame in {push.frame for push in before} - named:
            self._plant.push(frame, np.zeros(6))
        push_all(self._plant, self._pushes, now)


def verdict(plant: Plant, state: tuple[Array, Array], true: tuple[Array, Array], fall: Fall) -> str:
    """What ends a run here: an unstable plant, or a robot that fell; empty if nothing does.

    Args:
        plant: that is looked at.
        state: q and v, as measured.
        true: q and v, as they are.
        fall: what counts as a fall.
    """
    if plant.trouble:
        return plant.trouble
    if not all(finite(part) for part in (*state, *true)):
        return "the plant's state is not finite"
    return "fell" if fall.has_fallen(true[0]) else ""


def _advance(plant: Plant, steps: int) -> tuple[dict[str, Array], Array]:
    """Goes on by a period; contact forces and torques are their mean over it: their impulse over its time."""
    total: dict[str, Array] = {}
    torque = np.zeros(plant.model.na)
    for _ in range(steps):
        plant.step()
        torque += plant.torque / steps
        for frame, force in plant.contact_forces.items():
            total[frame] = total.get(frame, 0.0) + force / steps
    return total, torque


def _row(
    now: float,
    q: Array,
    v: Array,
    solution: Solution,
    measured: dict[str, Array],
    contacts: tuple[str, ...],
    taken: float,
) -> Array:
    """One record."""
    forces = solution.forces
    certificate = solution.certificate
    return np.concatenate(
        [
            [now],
            q,
            v,
            solution.torque,
            *[forces[name][:3] for name in contacts],
            *measured.values(),
            [level.cost for level in solution.levels],
            [certificate.cone_margin, certificate.torque_margin, STATUSES.index(solution.status), taken],
        ]
    )
