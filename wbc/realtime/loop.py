"""The loop for hardware: it turns states into commands, on time."""

from __future__ import annotations

import contextlib
import math
import time as system
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wbc.arrays import Array, ArrayLike, finite
from wbc.control.command import Command, Motors, gains_of
from wbc.control.protocol import Bounded, Clocked, TorqueController
from wbc.control.solution import Solution
from wbc.errors import WbcError, number, show
from wbc.model.names import actuator_names
from wbc.realtime.clock import Clock, Deadlines, MonotonicClock
from wbc.realtime.holding import holding_gains
from wbc.realtime.phase import Phase
from wbc.realtime.privileges import check_privileges, page_faults, privileged
from wbc.realtime.recorder import RingLog
from wbc.realtime.report import Report
from wbc.realtime.state import Bunching, Estimator, RobotIO, State
from wbc.realtime.watchdog import REACTIONS, Reaction, Watch, Watchdog
from wbc.simulation.log import STATUSES
from wbc.simulation.loop import stepper
from wbc.simulation.recorder import Recorder, cones_of

PATIENT = 3.0
"""Periods after which a solver is stopped, where the controller has no deadline: a tick that comes late does less harm
than one that was cut short, whose torques may jump."""

BACKLOG = 20
"""Times that are looked for newer states before the first tick."""

ENDS = ("finished", "stopped", "interrupted")
"""The word for a run without problems."""

REHEARSALS = 20
"""Ticks before the first one, so that everything is laid out."""


def run(
    controller: TorqueController,
    io: RobotIO,
    duration: float,
    period: float | None = None,
    *,
    estimator: Estimator | None = None,
    kp: ArrayLike = 0.0,
    kd: ArrayLike = 0.0,
    ramp: float = 1.0,
    hold: tuple[ArrayLike, ArrayLike] | None = None,
    watchdog: Watchdog | None = None,
    leave: Reaction = "damp",
    targets: Callable[[float, TorqueController], None] | None = None,
    until: Callable[[float, Solution | None], bool] | None = None,
    record: str | Path | None = None,
    clock: Clock | None = None,
    priority: int | None = 80,
    cpu: int | None = None,
    rehearsal: float = 0.0,
    patience: float = 2.0,
) -> Report:
    """Runs a controller on a robot in real time.

    Deadlines are absolute. The first commands hold the robot in its present posture; the controller takes over during
    `ramp`. A watchdog examines every tick. Whatever happens, even an error in your own function, the last command is
    that of `leave`, or of a stronger reaction of the watchdog.

    Args:
        controller: it is reset.
        io: the robot.
        duration: s.
        period: s, and the controller's for this run; None: the controller's own.
        estimator: of the base, for a robot with a floating base whose state does not tell it.
        kp: gains of the motors' own controllers: N m/rad or N/m, a number or shape (na,). See `Solution.command`.
        kd: N m s/rad or N s/m, a number or shape (na,).
        ramp: time over which the controller takes over, s; 0: at once.
        hold: kp and kd that hold a posture, before control and as a reaction of the watchdog. None: from the torque
            limits, which are reached at 0.3 rad or m.
        watchdog: its rules; None: those of `Watchdog()`.
        leave: how the robot is left: "hold", "damp" or "stop".
        targets: called before each tick with the time and the controller, to set targets, contacts, weights. The time
            is the robot's, as its states tell it, from the first tick on; a tick without a new state sends the last
            command again.
        until: called after each tick with the time and the last solution (None where the watchdog has the robot); true
            ends the run.
        record: file of the log; a process of its own writes it.
        clock: None: that of the system. With a `SteppedClock` the loop runs as fast as it can, and the same each time.
        priority: of SCHED_FIFO, 1 to 99, where the system allows it; None: the usual one.
        cpu: number of the processor to stay on; None: any.
        rehearsal: duration of a rehearsal on the standing robot before the first tick, s. Nothing is sent to the robot:
            `targets` is called with times from 0 on, and later again from 0. It prepares the layouts for feet that will
            be lifted and tasks that will be switched on, which takes the time of several ticks.
        patience: s to wait for the first state.

    Returns:
        Ticks, times and faults.
    """
    loop = _Loop(controller, io, duration, period, estimator, watchdog, clock, (kp, kd), hold, ramp)
    for what, callback in (("targets", targets), ("until", until)):
        if callback is not None and not callable(callback):
            raise WbcError(f"{what} = {show(callback)} must be a function, or None")
    if leave not in REACTIONS:
        raise WbcError(f"leave = {show(leave)} must be one of {', '.join(map(repr, REACTIONS))}")
    if record is not None and not isinstance(record, str | Path):
        raise WbcError(f"record = {show(record)} must be the path of a file, or None")
    check_privileges(priority, cpu)
    report = loop.report
    loop.begin(number(patience, "patience, s,"))
    log = None if record is None else loop.log(Path(record))
    own, unbounded = controller.period, isinstance(controller, Bounded) and controller.deadline is None
    real = isinstance(loop.clock, MonotonicClock)
    with privileged(priority if real else None, cpu if real else None, real) as report.system:
        controller.period = loop.period
        if unbounded and real:
            controller.deadline = PATIENT * loop.period  # type: ignore[attr-defined]
        try:
            loop.rehearse(number(rehearsal, "rehearsal, s,", high=1e3), targets)
            report.ended = loop.go(targets, until, log)
        except KeyboardInterrupt:
            report.ended = "interrupted"
        except BaseException as error:
            report.ended = f"{type(error).__name__}: {error}"
            raise
        finally:
            loop.leave(leave)
            controller.period = own
            if unbounded:
                controller.deadline = None  # type: ignore[attr-defined]
            if log is not None:
                report.log, report.dropped = log.path, log.dropped
                report.log_trouble = log.close(b"\nended: " + report.ended.encode())
    return report


@dataclass
class _Known:
    """The robot as it was last seen.

    Attributes:
        state: of its sensors.
        q: shape (nq,).
        v: shape (nv,).
        at: when it was new, by the loop's clock, s.
    """

    state: State
    q: Array
    v: Array
    at: float


class _Loop:
    """A run; see `run` for its arguments."""

    def __init__(
        self,
        controller: TorqueController,
        io: RobotIO,
        duration: float,
        period: float | None,
        estimator: Estimator | None,
        watchdog: Watchdog | None,
        clock: Clock | None,
        gains: tuple[ArrayLike, ArrayLike],
        hold: tuple[ArrayLike, ArrayLike] | None,
        ramp: float,
    ) -> None:
        if not isinstance(controller, TorqueController) or controller.stack.kinematic:
            raise WbcError(f"a robot needs a controller of torques, such as a wbc.Controller, not {show(controller)}")
        if not isinstance(io, RobotIO):
            raise WbcError(f"io = {show(io)} must have paced, read, write and close: see wbc.realtime.RobotIO")
        if estimator is not None and not isinstance(estimator, Estimator):
            raise WbcError(f"estimator = {show(estimator)} has no estimate(state)")
        if clock is not None and not isinstance(clock, Clock):
            raise WbcError(f"clock = {show(clock)} must be a clock, such as a wbc.realtime.SteppedClock, or None")
        if watchdog is not None and not isinstance(watchdog, Watchdog):
            raise WbcError(f"watchdog = {show(watchdog)} must be a wbc.realtime.Watchdog, or None for its defaults")
        self.controller, self.io, self.estimator, self.robot = controller, io, estimator, controller.robot
        self.clock: Clock = MonotonicClock() if clock is None else clock
        self.duration = number(duration, "duration, s,", high=1e9, above=True)
        self.period = number(controller.period if period is None else period, "the period, s,", high=1.0, above=True)
        self.report = Report(self.period)
        model, na = self.robot.model, self.robot.na
        self._motors = Motors(model, *gains)
        held = holding_gains(self.robot) if hold is None else hold
        if not isinstance(held, tuple) or len(held) != 2:
            raise WbcError(f"hold = {show(hold)} must be a pair of gains, kp and kd")
        self._hold_kp, self._hold_kd = gains_of(held[0], na, "hold: kp"), gains_of(held[1], na, "hold: kd")
        self._ramp = number(ramp, "ramp, s,")
        self._watch = Watch(Watchdog() if watchdog is None else watchdog, model)
        self._known: _Known
        self._sound: Array  # q before the watchdog found a fault, which may be one of the encoders
        self._start: Command
        self._command: Command
        self._reaction: Reaction | None = None
        self._pending: Array | None = None
        self._step = stepper(controller)
        self._weight = 9.81 * controller.robot.mass
        self._refused = ""  # why the state that came last is not used
        self._bunching, self._phase = io if isinstance(io, Bunching) else None, Phase(self.period)

    # --- before ------------------------------------------------------------------------------------------------------

    def begin(self, patience: float) -> None:
        """Waits for the first state; the robot is told nothing yet."""
        ends = system.perf_counter() + patience
        while True:
            state = self._read()
            if state is not None and state.finite:
                break
            if system.perf_counter() > ends:
                problem = "came" if state is None else f"with finite numbers came ({state.trouble})"
                raise WbcError(f"no state {problem} from {repr(self.io)[:300]} in {patience:g} s")
            if not self.io.paced:
                system.sleep(1e-4)
        self._check(state)
        q = self.robot.model.nominal.copy()
        q[len(q) - len(state.position) :] = state.position
        self._known = _Known(state, q, np.zeros(self.robot.nv), self.clock.now())

    def _ready(self) -> None:
        """Looks where the robot is now, after the rehearsal: that is where it will be held."""
        state = self._known.state
        if not self.io.paced:  # first what was sent meanwhile, then the next one
            since = state.time
            for _ in range(BACKLOG):
                newest = self._read() or state
                if newest.time == since:
                    system.sleep(0.1 * self.period)
                since = newest.time
                state = newest if newest.finite else state
        q, v = self._where(state)
        self._known, self._sound = _Known(state, q, v, self.clock.now()), q
        self._command = self._start = Command.hold(q[self._motors.places], self._hold_kp, self._hold_kd)

    def rehearse(self, seconds: float, targets: Callable[[float, TorqueController], None] | None) -> None:
        """Ticks in the robot's posture, so that what is laid out once is laid out; nothing of them is left."""
        self.controller.reset()
        for _ in range(REHEARSALS):
            self._motors.command(self.controller.step(self._known.q, self._known.v, 0.0), self.period)
        for tick in range(round(seconds / self.period)):
            if targets is not None:
                targets(tick * self.period, self.controller)
            self.controller.step(self._known.q, self._known.v, tick * self.period)
        self.controller.reset()
        if isinstance(self.controller, Clocked):
            self.controller.expect_new_clock()

    def log(self, path: Path) -> RingLog:
        """The log of this run, with its header."""
        robot, stack = self.robot, self.controller.stack
        contacts, feet = tuple(contact.name for contact in stack.contacts), tuple(self._known.state.contacts)
        self._felt = feet
        sizes = robot.nq, robot.nv, robot.na, len(stack)
        self._unknown = np.full(len(stack) + 2, np.nan)  # costs and margins take longer than a loop has
        names = tuple(actuator_names(robot.model))
        header = Recorder(robot.model.name, contacts, feet, sizes, actuators=names, cones=cones_of(stack)).header({})
        width = 1 + robot.nq + robot.nv + 2 * robot.na + 3 * (len(contacts) + len(feet)) + len(stack) + 4
        return RingLog(path, header, width, self.period)

    # --- ticks -------------------------------------------------------------------------------------------------------

    def go(
        self,
        targets: Callable[[float, TorqueController], None] | None,
        until: Callable[[float, Solution | None], bool] | None,
        log: RingLog | None,
    ) -> str:
        """All ticks; how they ended."""
        report, clock, io, watch, period = self.report, self.clock, self.io, self._watch, self.period
        self._ready()
        deadlines, solution, new, share, pages = Deadlines(clock, period), None, True, 1.0, page_faults()
        began, first, read = deadlines.due, self._known.state.time, clock.now()
        while True:
            t = self._known.state.time - first  # the robot's time: where it stands still, targets wait
            now = t if io.paced else deadlines.due - began
            if now >= self.duration - 0.5 * period:
                return "finished"
            report.stale += not new
            watch.look_at_age(now, read - self._known.at, self._refused)
            if new:
                watch.look_at_state(now, self._known.q, self._known.v, self._known.state.torque)
            if watch.reaction is None:
                self._sound = self._known.q
            taken = 0.0
            if watch.reaction is None and new:
                if targets is not None:
                    targets(t, self.controller)
                started = clock.now()
                solution = self._step(self._known.q, self._known.v, t, self._felt_by(self._known.state))
                taken = clock.now() - started
                report.tick.add(taken)
                share = watch.look_at_solution(now, solution, self._ramped(now))
                report.cut += share == 0.0
            if watch.reaction is not None:
                solution = None
            command = self._choose(solution if new and share else None, now, share)
            io.write(command)
            written = clock.now()
            report.ticks += 1
            late = written > deadlines.due + period
            report.missed += late
            report.latency.add(written - read)
            pages, before = page_faults(), pages
            report.paged += pages > before
            watch.look_at_clock(now, late)
            report.faults, report.reaction, report.skipped = watch.faults, watch.reaction, deadlines.skipped
            if log is not None:
                self._note(log, self._row(now, solution, command, taken))
            if watch.reaction == "stop":
                return str(next(fault for fault in watch.faults if fault.reaction == "stop"))
            if until is not None and until(now, solution):
                return "stopped"
            if not io.paced:
                report.wake.add(deadlines.wait())
            state, read = self._read(), clock.now()
            if io.paced:
                deadlines.follow()
            new = self._take(state, read)
            if self._bunching is not None and not io.paced:
                deadlines.shift(self._phase.look(new, len(self._bunching.earlier) > 0))

    def _read(self) -> State | None:
        """What the robot says."""
        state = self.io.read()
        if state is not None and not isinstance(state, State):
            raise WbcError(f"{show(self.io)}.read() gave {show(state)}: it must be a wbc.realtime.State, or None")
        return state

    def _take(self, state: State | None, read: float) -> bool:
        """Takes a state, where it is a new one; whether it is."""
        known = self._known
        if state is None or state.time == known.state.time:
            return False
        if state.time < known.state.time or not state.finite:
            old = f"time = {state.time:g} s, before the {known.state.time:g} s of the one in use"
            self._refused = state.trouble or old
            return False
        self._refused = ""
        known.state, known.at = state, read
        known.q, known.v = self._where(state)
        return True

    def _felt_by(self, state: State) -> dict[str, Array]:
        """Forces that contact sensors tell, by frame; a switch that is closed tells the robot's weight."""
        found = np.zeros((len(state.contacts), 3))
        found[:, 2] = [force if force < math.inf else self._weight for force in state.contacts.values()]
        return dict(zip(state.contacts, found, strict=True))

    def _check(self, state: State) -> None:
        """Whether it is a state of this robot."""
        robot = self.robot
        floating = 7 if robot.model.floating else 0
        sizes = robot.nq - floating, robot.nv - min(floating, 6), robot.na
        told = len(state.position), len(state.velocity), len(state.torque)
        if told != sizes:
            raise WbcError(
                f"the robot tells {told[0]} positions and {told[1]} velocities of joints, and {told[2]} torques of "
                f"motors; {robot.model.name!r} has {sizes[0]}, {sizes[1]} and {sizes[2]}"
            )

    def _where(self, state: State) -> tuple[Array, Array]:
        """Q and v."""
        self._check(state)
        if self.estimator is not None:
            for earlier in self._bunching.earlier if self._bunching is not None else ():
                if earlier.finite:
                    self.estimator.estimate(earlier)
            return self._estimated(*self.estimator.estimate(state))
        robot = self.robot
        if not robot.model.floating:
            return state.position, state.velocity
        if state.base is None:
            raise WbcError(
                f"{robot.model.name!r} has a floating base, and its state does not tell where that is: give an "
                "estimator, such as wbc.estimation.BaseEstimator"
            )
        return np.concatenate([state.base[0], state.position]), np.concatenate([state.base[1], state.velocity])

    def _estimated(self, q: Array, v: Array) -> tuple[Array, Array]:
        """What an estimator says, where a robot may be led by it."""
        if np.shape(q) != (self.robot.nq,) or np.shape(v) != (self.robot.nv,) or not (finite(q) and finite(v)):
            told = " and ".join(f"{name} = {show(np.asarray(given).tolist())}" for name, given in (("q", q), ("v", v)))
            wanted = f"{self.robot.nq} and {self.robot.nv} finite numbers"
            raise WbcError(f"the estimator says {told}: they must be {wanted}")
        return q, v

    def _ramped(self, now: float) -> float:
        """The controller's share of what is commanded, 0 to 1."""
        return now / self._ramp if now < self._ramp else 1.0

    def _choose(self, solution: Solution | None, now: float, share: float) -> Command:
        """What is commanded: the controller's, on the ramp a share of it, or the watchdog's."""
        reaction = self._watch.reaction
        if reaction is None and solution is not None:
            command = self._motors.command(solution, self.period)
            if now < self._ramp:
                command = self._start.blended(command, self._ramped(now))
            self._command = command if share == 1.0 else self._command.blended(command, share)
        elif reaction is not None and reaction != self._reaction:
            self._command = self._react(reaction)
            self._reaction = reaction
        return self._command

    def _react(self, reaction: Reaction) -> Command:
        """The command of a reaction, here and now."""
        if reaction == "stop":
            return Command.off(self.robot.na)
        if reaction == "damp":
            return Command.damp(self._hold_kd)
        return Command.hold(self._sound[self._motors.places], self._hold_kp, self._hold_kd, self._command.torque)

    def leave(self, how: Reaction) -> None:
        """The last command, where there was one before it."""
        if not self.report.ticks:
            return
        reaction = self._watch.reaction
        last = how if reaction is None or REACTIONS.index(how) > REACTIONS.index(reaction) else reaction
        if last != self._reaction:
            self._command = self._react(last)
        with contextlib.suppress(
            *() if self.report.ended in ENDS else (Exception,)
        ):  # the first error is the one to tell
            self.io.write(self._command)

    def _row(self, now: float, solution: Solution | None, command: Command, taken: float) -> Array:
        """One record, as `wbc.simulation.log` has them."""
        known, contacts = self._known, self.controller.stack.contacts
        forces = [np.zeros(3) if solution is None else solution.forces[contact.name][:3] for contact in contacts]
        felt = np.zeros((len(self._felt), 3))
        felt[:, 2] = [known.state.contacts.get(foot, np.nan) for foot in self._felt]
        status = STATUSES.index("failed" if solution is None else solution.status)
        torque = command.effort(known.q[self._motors.places], known.v[self._motors.velocities])
        rest = [self._unknown, [status, taken]]
        return np.concatenate([[now], known.q, known.v, torque, *forces, felt.ravel(), *rest])

    def _note(self, log: RingLog, row: Array) -> None:
        """Records the row before, with the torques that were measured since."""
        if self._pending is not None:
            log.add(np.concatenate([self._pending, self._known.state.torque]))
        self._pending = row
