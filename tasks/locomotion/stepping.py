"""The stepping that `Walk` and `Gait` share: the clock of a schedule, and what happens at each tick."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tasks.frame import EndEffectorAcceleration
from tasks.locomotion.adaptation import StepAdaptation
from tasks.locomotion.balance import Balance
from tasks.locomotion.footsteps import Footstep, FootstepPlanner, ListedSteps, Moment, tilt, turn
from tasks.locomotion.pendulum import CenterPlanner, DivergentPlanner, Piece, Plan
from tasks.locomotion.pushes import PushEstimate
from tasks.locomotion.schedule import Interval, Schedule
from tasks.locomotion.soles import Soles
from tasks.locomotion.swing import FROZEN, Swing
from tasks.locomotion.tracking import Tracker, ZeroMomentTracker, hull, nearest
from wbc.arrays import Array, ArrayLike, numbers
from wbc.control.protocol import TorqueController
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, WbcWarning, number, show
from wbc.tasking.gains import Gains

DUE = 1e-9
"""Events within this many seconds are due, because times of ticks are sums of periods."""

REPLAN = 0.01
"""Time between two plans, s; plans are also made when a foot is lifted or lands."""

FASTER = 0.2
"""The smoothed command exceeds the robot's speed by no more than this, m/s: a robot that can't follow slows down."""

SMOOTH = 0.3
"""Time constant of the filter of that speed, s: the speed varies within every step."""

LEASH = 0.25
"""The place that the command leads to is never farther from the centre of mass than this, m."""

SPARE = 0.5
"""Share of the line between two feet that is counted on after a push, for the next swing."""

FROZEN_POINT = 0.05
"""As `FROZEN`, for feet that are points: nothing turns them, and they are light."""

HURRY = 0.02, 0.02
"""Where the divergent component is farther outside of all feet than the first, m, the next foot is lifted in as
much time as the second, s: standing on is of no use.
"""

SOONER = 0.04
"""A plan makes a step sooner or later than the one before by no more than this, s: legs must not jerk."""

TWIST = 0.3
"""A sole that lands is turned against the trunk no more than this, rad: a hip has no more room."""

CLOSING = 0.02
"""Time over which a foot that has landed takes its force, s."""

UNLOADING = 0.1
"""Time over which a foot that is lifted next gives its force up, at most, s."""

AXES = ("forward", "to the left", "about the vertical")


class Stepping:
    """Makes a robot on legs step by a schedule, planners and a tracker: the common part of `Walk` and `Gait`.

    Args:
        robot: of `wbc.load`.
        command: see the attribute.
        schedule: when which foot is in the air.
        soles: of the feet.
        planner: decides where feet land.
        center: decides how the centre of mass moves over the steps; None: a `DivergentPlanner`.
        tracker: makes the centre of mass follow its plan; None: a `ZeroMomentTracker`.
        adaptation: changes steps when the robot is pushed; None: a `StepAdaptation`.
        height: of the centre of mass over the ground, m.
        lift: height of a swing over the ground, m.
        friction: of the feet with the ground.
        settle: time to stand before the first step, s.
        begin: time from then until the first foot is lifted, s.
        greatest: acceleration with which a command is taken up, m/s², m/s² and rad/s².
        limits: greatest command that the legs can follow, m/s, m/s and rad/s.
        inside: share of a sole that the zero-moment point keeps to.
        touch: share of the robot's weight from which on a foot counts as on the ground.
        patience: how long a foot continues downward if the ground comes late, s.
        tilts: whether the trunk follows the slope that the feet feel.
        swing_gains: of the feet.
        trunk_gains: of the trunk's orientation.
        height_gains: of the height.
        heed: weight of the centre of mass relative to the trunk's orientation.

    Attributes:
        command: velocity forward and to the left, m/s, and yaw rate, rad/s, in the axes of the robot's heading; may be
            set at any time. Values beyond `limits` are clipped, with a warning.
        planner: may be replaced by your own, like `center`, `tracker` and `adaptation`.
        balance: the task that moves the centre of mass.
        trunk: the task that keeps the root upright and along the heading.
        swings: by foot, the tasks that move feet in the air, named "swing of ..."; each is off on the ground.
        push: the `PushEstimate` that steps heed; may be replaced by one with other values.
        trouble: why the robot has slowed down; empty while it follows its command.
    """

    def __init__(
        self,
        robot: Dynamics,
        command: ArrayLike,
        schedule: Schedule,
        soles: Soles,
        *,
        planner: FootstepPlanner,
        center: CenterPlanner | None = None,
        tracker: Tracker | None = None,
        adaptation: StepAdaptation | None = None,
        height: float,
        lift: float,
        friction: float,
        settle: float,
        begin: float,
        greatest: Sequence[float],
        limits: Sequence[float],
        inside: float,
        touch: float,
        patience: float,
        tilts: bool,
        swing_gains: Gains,
        trunk_gains: Gains,
        height_gains: Gains,
        heed: float,
    ) -> None:
        self.robot, self.schedule, self.soles, self.feet = robot, schedule, soles, soles.feet
        self.planner = planner
        self.center = DivergentPlanner() if center is None else center
        self.tracker = ZeroMomentTracker() if tracker is None else tracker
        self.adaptation = StepAdaptation() if adaptation is None else adaptation
        self.height, self.lift = number(height, "height, m,", above=True), number(lift, "lift, m,", above=True)
        self.friction, self.settle = number(friction, "friction"), number(settle, "settle, s,")
        self.begin, self.patience = number(begin, "begin, s,", above=True), number(patience, "patience, s,")
        self.inside, self.touch, self.tilts = number(inside, "inside", high=1.0), number(touch, "touch"), tilts
        gravity = float(np.linalg.norm(robot.model.gravity)) or 9.81
        self.omega = math.sqrt(gravity / self.height)
        self._felt_weight = self.touch * robot.mass * gravity
        self.push = PushEstimate() if soles.flat else PushEstimate(heedless=0.1)
        self.greatest, self.limits = np.array(greatest, dtype=float), np.array(limits, dtype=float)
        self._height_gains = height_gains
        self.balance = Balance(self, heed)
        self.swings = {
            foot: EndEffectorAcceleration(
                foot,
                partial(self._swing_target, foot),
                swing_gains,
                axes="pose" if foot in soles.flat else "position",
                offset=soles.offsets[foot] if foot in soles.flat else None,
                name=f"swing of {foot}",
            )
            for foot in self.feet
        }
        posed = robot.copy()
        posed.update(robot.model.nominal, np.zeros(robot.nv))
        self._upright = posed.pose(robot.model.root)[:3, :3].copy()
        self.trunk = EndEffectorAcceleration(
            robot.model.root, self._trunk_target, trunk_gains, axes=("rx", "ry"), name="trunk"
        )
        self.heading = EndEffectorAcceleration(
            robot.model.root, self._trunk_target, trunk_gains, axes=("rz",), name="heading"
        )
        self._command: Array = np.zeros(3)
        self.command = command
        self.reset()

    # --- what a user says and asks ------------------------------------------------------------------------------------

    @property
    def command(self) -> Array:
        """Velocity forward and to the left, m/s, and yaw rate, rad/s, in the axes of the robot's heading, shape
        (3,).
        """
        return self._command

    @command.setter
    def command(self, command: ArrayLike) -> None:
        given = numbers(command, "command")
        if given.shape != (3,) or not np.isfinite(given).all():
            raise WbcError(f"command must be three finite numbers: forward, left, yaw rate; not {show(command)}")
        for value, limit, way in zip(given, self.limits, AXES, strict=True):
            if abs(value) > limit:
                warnings.warn(
                    f"a command of {value:g} {way} is more than the legs of {self.robot.model.name!r} can reach in a "
                    f"cycle of {self.schedule.period:g} s: {math.copysign(limit, value):.3g} is taken",
                    WbcWarning,
                    stacklevel=2,
                )
        given.flags.writeable = False
        self._command = given

    @property
    def footsteps(self) -> tuple[Footstep, ...]:
        """The planned next footsteps. Set it to a list of steps to walk; the robot stops after them."""
        return tuple(self._steps)

    @footsteps.setter
    def footsteps(self, steps: Sequence[Footstep]) -> None:
        for step in steps:
            if isinstance(step, Footstep) and step.foot not in self.feet:
                raise WbcError(
                    f"{step.foot!r} is not a foot of this walk; its feet are {', '.join(map(repr, self.feet))}"
                )
        usual = self.planner.usual if isinstance(self.planner, ListedSteps) else self.planner
        self.planner, self._landed = ListedSteps(steps, usual), 0

    @property
    def feet_in_air(self) -> tuple[str, ...]:
        """The feet that swing now."""
        return tuple(self._swinging)

    @property
    def trouble(self) -> str:
        """Why the robot has slowed down; empty while it follows its command."""
        return str(getattr(self.planner, "trouble", ""))

    def reset(self) -> None:
        """Forgets the past: the next `update` finds the robot standing on its feet."""
        self._time = self._began = math.nan
        self._index, self._remaining, self._late = -1, 0.0, 0.0  # of the interval of the schedule; -1: it stands
        self._rate, self._heading, self._place, self._speed = np.zeros(3), 0.0, np.zeros(2), np.zeros(2)
        self._feet: dict[str, Footstep] = {}
        self._swinging: dict[str, Swing] = {}
        self._early: set[str] = set()  # feet that landed before their time
        self._landed, self._feels = 0, False
        self._plan: Plan | None = None
        self._steps: list[Footstep] = []
        self._shift = np.zeros(2)
        self._high = np.zeros(3)  # of the centre of mass: where it should be, its rate, and the rate of that
        self._normal = np.array([0.0, 0.0, 1.0])
        self._support = np.zeros((1, 2))
        self._asked = np.zeros(2)
        self.push.reset()

    @property
    def pushed(self) -> float:
        """How far something pushes, or has just pushed, the robot, 0 to 1."""
        return self.push.recent

    # --- what the tasks ask for ---------------------------------------------------------------------------------------

    def acceleration(self, robot: Dynamics, time: float) -> Array:
        """The demanded acceleration of the centre of mass, m/s², world axes, shape (3,)."""
        if self._plan is None:
            return np.zeros(3)
        com, velocity = robot.com, robot.com_velocity
        divergent, zmp = self._plan.at(time)
        self._asked = flat = self.tracker.acceleration(com, velocity, divergent, zmp, self._support, self.omega)
        z, rate, change = self._high
        gains = self._height_gains
        return np.append(flat, change + gains.kd * (rate - velocity[2]) + gains.kp * (z - com[2]))

    def off(self, robot: Dynamics, time: float) -> Array:
        """How far the divergent component and the height are from the plan, desired − measured, m, shape (3,)."""
        if self._plan is None:
            return np.zeros(3)
        measured = robot.com[:2] + robot.com_velocity[:2] / self.omega
        return np.append(self._plan.at(time)[0] - measured, self._high[0] - robot.com[2])

    def _trunk_target(self, time: float) -> tuple[Array, Array, Array]:
        pose = np.eye(4)
        slope = tilt(self._normal) if self.tilts else np.eye(3)
        pose[:3, :3] = slope @ turn(self._heading) @ self._upright
        return pose, np.array([0.0, 0.0, 0.0, 0.0, 0.0, self._rate[2]]), np.zeros(6)

    def _swing_target(self, foot: str, time: float) -> tuple[Array, Array, Array]:
        pose, rates = np.eye(4), np.zeros((2, 6))
        swing = self._swinging.get(foot)
        if swing is not None:
            pose[:3, :3], pose[:3, 3] = swing.rotation, swing.state[0, :3]
            rates[:, :3], rates[:, 5] = swing.state[1:, :3], swing.state[1:, 3]
        elif foot in self._feet:  # it is on the ground, and this task is off
            pose[:3, :3], pose[:3, 3] = self._feet[foot].rotation, self._feet[foot].position
        return (pose if foot in self.soles.flat else pose[:3, 3]), rates[0], rates[1]

    # --- a tick -------------------------------------------------------------------------------------------------------

    def __call__(self, t: float, controller: TorqueController) -> None:
        """As `update`: for `wbc.run(..., targets=walk)`."""
        self.update(t, controller)

    def update(self, t: float, controller: TorqueController) -> None:
        """Sets contacts, swings and plans for the tick at a time; the state is the one of the controller's last tick.

        Args:
            t: s.
            controller: its stack has `balance`, `trunk`, `swings` and the feet's contacts.
        """
        robot, stack = controller.robot, controller.stack
        if math.isnan(self._time) or t < self._time:  # the start of a run
            self.reset()
            self._began = self._time = t
            stack.close_contact(self.feet)
            for foot in self.feet:
                stack.switch_off(f"swing of {foot}")
            return
        dt, self._time = t - self._time, t
        if not self._feet:
            self._find(robot)
        self._follow(t, dt, robot)
        self.push.update(robot.com_velocity[:2], self._asked, self.omega, dt)
        changed = self._clock(t, dt, robot, stack)
        changed |= self._feel(getattr(controller, "measured", {}), robot, stack)
        if changed or self._plan is None or t - self._plan.time >= REPLAN - DUE:
            self._make_plan(t, robot)
        for foot, swing in self._swinging.items():
            goal = next((step for step in self._steps if step.foot == foot), None)
            if goal is not None:
                if foot in self.soles.flat:
                    goal = self._untwisted(goal, robot)
                swing.advance(goal, self._until(foot), dt)
        self._rise(robot, dt)
        standing = tuple(foot for foot in self.feet if foot not in self._swinging)
        self._support = (
            hull(self.soles.support(robot, standing, self.inside)[:, :2]) if standing else robot.com[None, :2]
        )

    def _find(self, robot: Dynamics) -> None:
        """Finds the robot standing."""
        self._feet = {foot: self.soles.step(robot, foot) for foot in self.feet}
        self._heading = self._yaw(robot)
        self._high, self._place = np.array([robot.com[2], 0.0, 0.0]), robot.com[:2].copy()
        self._normal = self.soles.normal(list(self._feet.values()))

    def _yaw(self, robot: Dynamics) -> float:
        """Of the trunk, rad."""
        R = robot.pose(self.robot.model.root)[:3, :3] @ self._upright.T
        return math.atan2(R[1, 0], R[0, 0])

    def _untwisted(self, step: Footstep, robot: Dynamics) -> Footstep:
        """A footstep that the hip has room for."""
        off = math.remainder(step.yaw - self._yaw(robot), 2 * math.pi)
        return replace(step, yaw=step.yaw + min(max(off, -TWIST), TWIST) - off)

    def _follow(self, t: float, dt: float, robot: Dynamics) -> None:
        """Smooths the command, and integrates the place that it leads to."""
        wanted = np.clip(self._command, -self.limits, self.limits)
        if t - self._began < self.settle - DUE or self.trouble or isinstance(self.planner, ListedSteps):
            wanted = np.zeros(3)
        has = turn(self._heading)[:2, :2].T @ robot.com_velocity[:2]
        self._speed = self._speed + min(dt / SMOOTH, 1.0) * (has - self._speed)
        slower = np.minimum(np.abs(wanted[:2]), np.maximum(np.sign(wanted[:2]) * self._speed, 0.0) + FASTER)
        wanted[:2] = np.sign(wanted[:2]) * slower
        self._rate = self._rate + np.clip(wanted - self._rate, -self.greatest * dt, self.greatest * dt)
        self._heading += float(self._rate[2]) * dt
        self._place = self._place + turn(self._heading)[:2, :2] @ self._rate[:2] * dt
        ahead = self._place - robot.com[:2]
        far = float(np.hypot(*ahead))
        if far > LEASH:
            self._place = robot.com[:2] + ahead * (LEASH / far)

    # --- the clock ----------------------------------------------------------------------------------------------------

    def _clock(self, t: float, dt: float, robot: Dynamics, stack: Stack) -> bool:
        """Advances the schedule; returns whether another interval began."""
        intervals = self.schedule.intervals
        if self._index < 0:
            if t - self._began < self.settle - DUE or self._may_stand():
                return False
            self._index, self._remaining, self._place = self._first(), self.begin, robot.com[:2].copy()
            return True
        self._remaining -= dt
        later = intervals[(self._index + 1) % len(intervals)]
        going = [foot for foot in later.air if foot not in self._swinging and foot not in self._early]
        ramp = min(intervals[self._index].duration, UNLOADING)
        if going and self._remaining <= ramp + DUE:
            stack.open_contact(going, max(self._remaining, 0.0))
        if self._remaining > DUE:
            return False
        hanging = [foot for foot in self._swinging if foot not in later.air]
        if hanging and self._feels and self._late < self.patience:  # the ground comes late
            self._remaining, self._late = 0.0, self._late + dt
            return False
        for foot in hanging:
            self._land(foot, robot, stack)
        if not later.air and self._may_stand() and self._is_square():
            self._index, self._early = -1, set()
            return True
        self._index = (self._index + 1) % len(intervals)
        self._remaining = max(later.duration - self._late, later.duration / 2) + min(self._remaining, 0.0)
        self._late, self._shift = 0.0, np.zeros(2)
        self._early &= set(later.air)
        for foot in later.air:
            if foot not in self._swinging and foot not in self._early:
                stack.open_contact(foot)
                stack.switch_on(f"swing of {foot}")
                pose = self.soles.pose(robot, foot)
                self._swinging[foot] = Swing(
                    self.soles.step(robot, foot),
                    pose[:3, :3],
                    self.lift,
                    usual=self.schedule.swing(foot),
                    frozen=self._frozen(foot),
                )
        return True

    def _first(self) -> int:
        """The interval to begin with: one with all feet on the ground, where there is one."""
        intervals = self.schedule.intervals
        wanted = self.planner.list[0].foot if isinstance(self.planner, ListedSteps) and self.planner.list else None
        for k, interval in enumerate(intervals):
            after = intervals[(k + 1) % len(intervals)].air
            if not interval.air and (wanted in after if wanted else self._begins_with(after)):
                return k
        return next((k for k, interval in enumerate(intervals) if not interval.air), len(intervals) - 1)

    def _begins_with(self, feet: tuple[str, ...]) -> bool:
        """Whether it may begin by lifting these feet."""
        return True

    def _may_stand(self) -> bool:
        """Whether nothing is left to do."""
        if isinstance(self.planner, ListedSteps):
            return self._landed >= len(self.planner.list)
        return not self._command.any() and not self._rate.any()

    def _is_square(self) -> bool:
        """Whether the feet are where the robot can stay: near enough to where they are planned."""
        if isinstance(self.planner, ListedSteps):
            return True
        return all(np.hypot(*(step.position[:2] - self._feet[step.foot].position[:2])) < 0.05 for step in self._steps)

    def _feel(self, measured: Mapping[str, Array], robot: Dynamics, stack: Stack) -> bool:
        """Lets feet land that feel the ground; whether one did."""
        self._feels = all(foot in measured for foot in self._swinging)
        found = [
            foot
            for foot, swing in self._swinging.items()
            if foot in measured and swing.elapsed > swing.left and float(measured[foot][2]) > self._felt_weight
        ]
        for foot in found:
            self._land(foot, robot, stack)
            self._early.add(foot)
        return bool(found)

    def _land(self, foot: str, robot: Dynamics, stack: Stack) -> None:
        stack.switch_off(f"swing of {foot}")
        stack.close_contact(foot, CLOSING)
        del self._swinging[foot]
        self._feet[foot] = self.soles.step(robot, foot)
        self._landed += 1

    def _frozen(self, foot: str) -> float:
        """See `FROZEN`."""
        return FROZEN if foot in self.soles.flat else FROZEN_POINT

    def _until(self, foot: str) -> float:
        """Time until a swinging foot is to land, s."""
        intervals, index = self.schedule.intervals, self._index
        found = max(self._remaining, 0.0)
        while foot in intervals[(index + 1) % len(intervals)].air and index < self._index + len(intervals):
            index += 1
            found += intervals[index % len(intervals)].duration
        return found

    # --- plans --------------------------------------------------------------------------------------------------------

    def _make_plan(self, t: float, robot: Dynamics) -> None:
        """Where feet land, and how the centre of mass goes over them."""
        if self._index < 0:
            middle = np.mean([step.position[:2] for step in self._feet.values()], axis=0)
            self._plan, self._steps = Plan(t, [Piece(middle, middle, 1.0)], self.omega), []
            return
        for name in self.feet:  # a foot that has landed settles on the ground
            if name not in self._swinging:
                self._feet[name] = self.soles.step(robot, name)
        ahead = self.schedule.ahead(self._index, max(self._remaining, 0.0), 5.0 / self.omega)
        air, normal = ahead[0].air, self.soles.normal(list(self._feet.values()))
        moment = Moment(
            t,
            self._rate,
            self._heading,
            self._place,
            robot.com.copy(),
            robot.com_velocity.copy(),
            self.omega,
            dict(self._feet),
            tuple(foot for foot in self.feet if foot not in air),
            ahead,
            self._landed,
            (float(normal[0]), float(normal[1]), float(normal[2])),
        )
        zmp = None if self._plan is None else self._plan.at(t)[1]
        nominal = list(self.planner.steps(moment))
        self._plan = plan = self.center.plan(moment, nominal, zmp)
        foot = next(iter(self._swinging), None)
        step = next((step for step in nominal if step.foot == foot), None)
        if foot is not None and step is not None and self._until(foot) > self._frozen(foot):
            left, room = self._until(foot), self.planner.room(moment, step)
            whole, swing = self.schedule.swing(foot), self._swinging[foot]
            pushed = np.append(self.omega * self.push.ahead(left, self.omega), 0.0)
            seen, later = replace(moment, com_velocity=moment.com_velocity + pushed), self._later(ahead, nominal)
            changed = self.adaptation.react(seen, plan, step, swing, left, whole, self._support, room, later)
            self._shift = np.zeros(2) if changed is None else changed.shift
            self._remaining += 0.0 if changed is None else min(max(changed.left - left, -SOONER), SOONER)
        elif foot is None and not air:
            outside = nearest(self._support, moment.divergent) - moment.divergent
            if np.hypot(*outside) > HURRY[0]:
                self._remaining = min(self._remaining, HURRY[1])
        self._steps = nominal
        if self._shift.any():
            self._steps = [step.shifted(self._shift) for step in nominal]
            self._plan = self.center.plan(moment, self._steps, zmp)

    def _later(self, ahead: Sequence[Interval], steps: Sequence[Footstep]) -> Array | None:
        """How far a zero-moment point can leave its plan in the next swing, where two points stand in it.

        Returns:
            Half of what of the line between them is counted on, m, world axes, shape (2, 1).
        """
        if self.soles.flat or not self.push.recent:
            return None
        since = 0.0
        for interval in ahead[1:]:
            since += interval.duration
            if interval.air and not set(interval.air) & set(ahead[0].air):
                break
        else:
            return None
        where = {**self._feet, **{step.foot: step for step in reversed(steps)}}
        stands = [where[foot].position[:2] for foot in self.feet if foot not in interval.air]
        if len(stands) != 2:
            return None
        share = self.push.recent * SPARE * (1 - math.exp(-self.omega * since))
        return np.asarray(share / 2 * (stands[0] - stands[1])[:, None])

    def _rise(self, robot: Dynamics, dt: float) -> None:
        """Updates the height of the centre of mass above the ground, and the slope that the feet feel."""
        z, rate, _ = self._high
        standing = [step for foot, step in self._feet.items() if foot not in self._swinging] or list(
            self._feet.values()
        )
        w = 2 * math.pi * 1.0
        normal = self.soles.normal(list(self._feet.values()))
        self._normal = self._normal + min(w * dt, 1.0) * (normal - self._normal)
        self._normal /= np.linalg.norm(self._normal)
        if self.tilts:
            ground = self.soles.height(list(self._feet.values()), robot.com[:2])
        else:
            # A leg that steps down must reach its place: the robot sinks before the foot lands.
            landing = [step for step in self._steps if step.foot in self._swinging]
            ground = min(float(step.position[2]) for step in (*standing, *landing))
        change = w * w * (ground + self.height - z) - 2 * w * rate
        rate += change * dt
        self._high = np.array([z + rate * dt, rate, change])
