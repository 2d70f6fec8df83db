"""The stepping that `Walk` and `Gait` share: the clock of a schedule, and what happens at each tick."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tasks.frame import EndEffectorAcceleration
from tasks.locomotion.adaptation import StepAdaptation
from tasks.locomotion.balance import Balance
from tasks.locomotion.clock import Clock
from tasks.locomotion.following import Following, beyond_limits
from tasks.locomotion.footsteps import CommandedSteps, Footstep, FootstepPlanner, ListedSteps, Moment, tilt, turn
from tasks.locomotion.legs import Legs
from tasks.locomotion.pendulum import CenterPlanner, DivergentPlanner
from tasks.locomotion.planning import Parts, Planning, Swinging
from tasks.locomotion.pushes import PushEstimate
from tasks.locomotion.rise import Rise
from tasks.locomotion.schedule import Schedule
from tasks.locomotion.soles import Soles
from tasks.locomotion.tracking import Tracker, ZeroMomentTracker, hull
from wbc.arrays import Array, ArrayLike, numbers
from wbc.control.protocol import TorqueController
from wbc.control.stack import Stack
from wbc.copies import Independent
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, WbcWarning, number, show
from wbc.tasking.gains import Gains

DUE = 1e-9
"""Events within this many seconds are due, because times of ticks are sums of periods."""

REPLAN = 0.01
"""Time between two plans, s; plans are also made when a foot is lifted or lands."""

TWIST = 0.3
"""A sole that lands is turned against the trunk no more than this, rad: a hip has no more room."""

UNLOADING = 0.1
"""Time over which a foot that is lifted next gives its force up, at most, s."""


class Stepping(Independent):
    """Makes a robot on legs step by a schedule, planners and a tracker: the common part of `Walk` and `Gait`.

    Args:
        robot: of `wbc.load`.
        command: see the attribute.
        schedule: when which foot is in the air.
        soles: of the feet.
        usual: where feet land as the command says.
        planner: decides where feet land; None: `usual`.
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
        usual: CommandedSteps,
        planner: FootstepPlanner | None = None,
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
        self._usual = usual
        self.planner: FootstepPlanner = usual if planner is None else planner
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
        self.push = PushEstimate() if soles.flat else PushEstimate(heedless=0.08, constant=2.0)
        self.greatest, self.limits = np.array(greatest, dtype=float), np.array(limits, dtype=float)
        self._height_gains = Gains.of(height_gains, Gains(2.0), "height_gains")
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
        self.trunk, self.heading = (
            EndEffectorAcceleration(robot.model.root, self._trunk_target, trunk_gains, axes=axes, name=name)
            for axes, name in ((("rx", "ry"), "trunk"), (("rz",), "heading"))
        )
        self._command, self._beyond = np.zeros(3), ""
        self.command = command
        self.reset()

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
        beyond = beyond_limits(given, self.limits, f"{self.robot.model.name!r}", self.schedule.period)
        for text in beyond:
            warnings.warn(text, WbcWarning, stacklevel=2)
        self._beyond = "; ".join(beyond)
        given.flags.writeable = False
        self._command = given

    @property
    def footsteps(self) -> tuple[Footstep, ...]:
        """The planned next footsteps. Set it to a list of steps to walk; the robot stops after them."""
        return tuple(self._planning.steps)

    @footsteps.setter
    def footsteps(self, steps: Sequence[Footstep]) -> None:
        for step in steps:
            if isinstance(step, Footstep) and step.foot not in self.feet:
                raise WbcError(
                    f"{step.foot!r} is not a foot of this walk; its feet are {', '.join(map(repr, self.feet))}"
                )
        usual = self.planner.usual if isinstance(self.planner, ListedSteps) else self.planner
        self.planner, self._legs.landed = ListedSteps(steps, usual), 0

    @property
    def feet_in_air(self) -> tuple[str, ...]:
        """The feet that swing now."""
        return tuple(self._legs.swings)

    @property
    def trouble(self) -> str:
        """Why the robot has slowed down; empty while it follows its command."""
        return self._stuck or self._beyond

    @property
    def _stuck(self) -> str:
        """Why there are no steps to make."""
        return str(getattr(self.planner, "trouble", "")) or self._planning.trouble

    def reset(self) -> None:
        """Forgets the past: the next `update` finds the robot standing on its feet."""
        self._time = self._began = math.nan
        self._clock = Clock(self.schedule)
        self._following = Following(along=not self.soles.flat)
        self._legs = Legs(self.soles)
        self._planning, self._rise = Planning(), Rise(self.soles, self.height, self.tilts)
        self._support = np.zeros((1, 2))
        self._asked = np.zeros(2)
        self.push.reset()

    @property
    def lever(self) -> float:
        """See `Balance`, 1 / (kg m)."""
        return 1 / (self.robot.mass * self.height)

    @property
    def pushed(self) -> float:
        """How far something pushes, or has just pushed, the robot, 0 to 1."""
        return self.push.recent

    def acceleration(self, robot: Dynamics, time: float) -> Array:
        """The demanded acceleration of the centre of mass, m/s², world axes, shape (3,)."""
        if self._planning.plan is None:
            return np.zeros(3)
        com, velocity = self._center(robot), self._velocity(robot)
        divergent, zmp = self._planning.plan.at(time)
        flat = self.tracker.acceleration(com, velocity, divergent, zmp, self._support, self.omega)
        self._asked = flat = flat - self.push.steady
        z, rate, change = self._rise.high
        gains = self._height_gains
        return np.append(flat, change + gains.kd * (rate - velocity[2]) + gains.kp * (z - com[2]))

    def _velocity(self, robot: Dynamics) -> Array:
        """Of the centre of mass without what legs that swing add to it, m/s, world axes, shape (3,).

        With angular momentum L, c̈ = ω² (c − p) + (−L̇_y, L̇_x) / (m h): a leg that swings forward takes the body along,
        and gives back what it took when it lands. ċ + (L_y, −L_x) / (m h) does not know of that.
        """
        x, y, _ = robot.momentum[3:].tolist()
        return np.asarray(robot.com_velocity + self.lever * np.array([y, -x, 0.0]))

    def _center(self, robot: Dynamics) -> Array:
        """The centre of mass without how far it leans against what pushes all the time, m, world, shape (3,).

        With c̈ = ω² (c − p) + a the pendulum is that without a, about p − a / ω².
        """
        return np.asarray(robot.com + np.append(self.push.steady / self.omega**2, 0.0))

    def off(self, robot: Dynamics, time: float) -> Array:
        """How far the divergent component and the height are from the plan, desired − measured, m, shape (3,)."""
        if self._planning.plan is None:
            return np.zeros(3)
        measured = self._center(robot)[:2] + self._velocity(robot)[:2] / self.omega
        return np.append(self._planning.plan.at(time)[0] - measured, self._rise.high[0] - robot.com[2])

    def _trunk_target(self, time: float) -> tuple[Array, Array, Array]:
        pose = np.eye(4)
        slope = tilt(self._rise.normal) if self.tilts else np.eye(3)
        pose[:3, :3] = slope @ turn(self._following.heading) @ self._upright
        return pose, np.array([0.0, 0.0, 0.0, 0.0, 0.0, self._following.rate[2]]), np.zeros(6)

    def _swing_target(self, foot: str, time: float) -> tuple[Array, Array, Array]:
        return self._legs.target(foot)

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
        if math.isnan(self._time) or t < self._time:  # a run starts
            self.reset()
            self._began = self._time = t
            stack.close_contact(self.feet)
            for foot in self.feet:
                stack.switch_off(f"swing of {foot}")
            return
        dt, self._time = t - self._time, t
        if not self._legs.on:
            self._legs.find(robot)
            self._following.begin(robot.com[:2], self._yaw(robot))
            self._rise.begin(float(robot.com[2]), list(self._legs.on.values()))
        wanted = np.clip(self._command, -self.limits, self.limits)
        if t - self._began < self.settle - DUE or self._stuck or isinstance(self.planner, ListedSteps):
            wanted = np.zeros(3)
        self._following.follow(wanted, robot.com[:2], robot.com_velocity[:2], self.greatest, dt)
        felt = (
            self._velocity(robot) if self.soles.flat else robot.com_velocity
        )  # on points legs that swing push as well
        self.push.update(felt[:2], self._asked, self.omega, dt)
        changed = self._tick(t, dt, robot, stack)
        changed |= self._legs.feel_ground(getattr(controller, "measured", {}), self._felt_weight, robot, stack)
        if changed or self._planning.plan is None or t - self._planning.plan.time >= REPLAN - DUE:
            self._make_plan(t, robot)
        for foot, swing in self._legs.swings.items():
            goal = next((step for step in self._planning.steps if step.foot == foot), None)
            if goal is not None:
                swing.advance(self._untwisted(goal, robot), self._clock.until(foot), dt)
        on, standing = self._legs.on, self._legs.standing
        lands = [step for step in self._planning.steps if step.foot in self._legs.swings]
        self._rise.update(robot.com[:2], list(on.values()), [on[foot] for foot in standing], lands, dt)
        corners = self.soles.support(robot, standing, self.inside) if standing else robot.com[None]
        self._support = hull(corners[:, :2])

    def _yaw(self, robot: Dynamics) -> float:
        """Of the trunk, rad."""
        R = robot.pose(self.robot.model.root)[:3, :3] @ self._upright.T
        return math.atan2(R[1, 0], R[0, 0])

    def _untwisted(self, step: Footstep, robot: Dynamics) -> Footstep:
        """A footstep that the hip has room for."""
        if step.foot not in self.soles.flat:
            return step
        off = math.remainder(step.yaw - self._yaw(robot), 2 * math.pi)
        return replace(step, yaw=step.yaw + min(max(off, -TWIST), TWIST) - off)

    def _tick(self, t: float, dt: float, robot: Dynamics, stack: Stack) -> bool:
        """Advances the schedule; returns whether another interval began."""
        clock, legs = self._clock, self._legs
        if clock.stands:
            if t - self._began < self.settle - DUE or self._may_stand():
                return False
            first = self.planner.list[0].foot if isinstance(self.planner, ListedSteps) else None
            clock.start(self.begin, first, self._begins_with)
            self._following.place = robot.com[:2].copy()
            return True
        clock.remaining -= dt
        later = clock.later
        going = [foot for foot in later.air if legs.rests(foot)]
        if going and clock.remaining <= min(clock.now.duration, UNLOADING) + DUE:
            stack.open_contact(going, max(clock.remaining, 0.0))
        if clock.remaining > DUE:
            return False
        hanging = [foot for foot in legs.swings if foot not in later.air]
        if hanging and legs.sensed and clock.late < self.patience:  # the ground comes late
            clock.remaining, clock.late = 0.0, clock.late + dt
            return False
        for foot in hanging:
            legs.land(foot, robot, stack)
        if not later.air and self._may_stand() and self._is_square():
            clock.stop()
            legs.early = set()
            return True
        clock.advance()
        self._planning.shift = np.zeros(2)
        legs.early &= set(later.air)
        for foot in later.air:
            if legs.rests(foot):
                legs.lift(foot, self.lift, self.schedule.swing(foot), robot, stack)
        return True

    def _begins_with(self, feet: tuple[str, ...]) -> bool:
        """Whether it may begin by lifting these feet."""
        return True

    def _may_stand(self) -> bool:
        """Whether nothing is left to do."""
        if isinstance(self.planner, ListedSteps):
            return self._legs.landed >= len(self.planner.list)
        return not self._command.any() and not self._following.rate.any()

    def _is_square(self) -> bool:
        """Whether the feet are where the robot can stay: near enough to where they are planned."""
        if isinstance(self.planner, ListedSteps):
            return True
        return self._legs.near(self._planning.steps)

    def _make_plan(self, t: float, robot: Dynamics) -> None:
        """Where feet land, and how the centre of mass goes over them."""
        if self._clock.stands:
            self._planning.stand(t, self._legs.on, self.omega)
            return
        self._legs.find(robot)  # a foot that has landed settles on the ground
        ahead = self._clock.ahead(5.0 / self.omega)
        air, normal = ahead[0].air, self.soles.normal(list(self._legs.on.values()))
        moment = Moment(
            t,
            self._following.rate,
            self._following.heading,
            self._following.place,
            self._center(robot),
            self._velocity(robot),
            self.omega,
            dict(self._legs.on),
            tuple(foot for foot in self.feet if foot not in air),
            ahead,
            self._legs.landed,
            (float(normal[0]), float(normal[1]), float(normal[2])),
        )
        fit = partial(self._untwisted, robot=robot)
        parts = Parts(self.planner, self._usual, self.center, self.adaptation, self.push, not self.soles.flat, fit)
        swings = {
            foot: Swinging(swing, self._clock.until(foot), self.schedule.swing(foot), self._legs.frozen(foot))
            for foot, swing in self._legs.swings.items()
        }
        self._clock.remaining = self._planning.step(parts, moment, self._support, swings, self._clock.remaining)
