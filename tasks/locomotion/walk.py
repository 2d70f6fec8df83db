"""A walk on two legs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks import stacks
from tasks.balance import CentroidalMomentum
from tasks.contacts import ContactMotion, FrictionCones
from tasks.joints import JointAcceleration, TorqueMinimization
from tasks.limits import TorqueLimits
from tasks.locomotion.adaptation import StepAdaptation
from tasks.locomotion.footsteps import CommandedSteps, FootstepPlanner
from tasks.locomotion.keeping import kept_joints_and_legs
from tasks.locomotion.pendulum import CenterPlanner
from tasks.locomotion.reach import horizontal_reach
from tasks.locomotion.schedule import Schedule
from tasks.locomotion.soles import Soles
from tasks.locomotion.stepping import Stepping
from tasks.locomotion.tracking import Tracker
from wbc.arrays import ArrayLike
from wbc.contacts import SurfaceContact
from wbc.control.equation_of_motion import EquationOfMotion
from wbc.control.stack import Stack
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, number, show
from wbc.simulation.terrain import Terrain
from wbc.tasking.gains import Gains

BESIDE = 0.03
"""Room between two soles side by side, m."""


class Walk(Stepping):
    """Makes a robot on two legs walk by a velocity command or a list of footsteps.

    The centre of mass follows a divergent component of motion that is planned over the footsteps, with a while on both
    feet between them; an error of it moves the zero-moment point inside the soles, and where that is not enough the
    next step is put elsewhere, and sooner. Feet land with no speed against the ground; where it comes early or late the
    measured forces tell, which `wbc.run` hands to the controller.

        walk = tasks.locomotion.Walk(robot, (0.4, 0.0, 0.2))
        controller = wbc.Controller(robot, walk.stack())
        log = wbc.run(controller, plant, duration=30, targets=walk)

    Args:
        robot: of `wbc.load`, with two feet that have soles; it stands in its nominal configuration.
        command: velocity forward and to the left, m/s, and yaw rate, rad/s.
        single: time on one foot in a step, s.
        double: time on both feet in a step, s.
        lift: height of a swing over the ground, m.
        lower: by how much the centre of mass is lower than in the nominal configuration, m: knees that are almost
            straight can't make steps.
        terrain: the known terrain; None: only what the feet feel is known.
        friction: of the soles with the ground.
        planner: of footsteps; None: a `CommandedSteps`.
        center: see `Stepping`.
        tracker: see `Stepping`.
        adaptation: see `Stepping`.
        settle: time to stand before the first step, s.
        begin: time over which the weight goes to one foot before the first step, s.
        greatest: acceleration with which a command is taken up, m/s², m/s² and rad/s².
        limits: greatest command, m/s, m/s, rad/s; None: from how far the legs reach.
        inside: share of a sole that the zero-moment point keeps to.
        touch: share of the robot's weight from which on a foot counts as on the ground.
        patience: how long a foot continues downward if the ground comes late, s.
        swing_gains: of the feet.
        trunk_gains: of the trunk's orientation.
        height_gains: of the height.
        heed: weight of the centre of mass relative to the trunk's orientation.
    """

    def __init__(
        self,
        robot: Dynamics,
        command: ArrayLike = (0.0, 0.0, 0.0),
        *,
        single: float = 0.35,
        double: float = 0.1,
        lift: float = 0.05,
        lower: float = 0.03,
        terrain: Terrain | None = None,
        friction: float = 0.45,
        planner: FootstepPlanner | None = None,
        center: CenterPlanner | None = None,
        tracker: Tracker | None = None,
        adaptation: StepAdaptation | None = None,
        settle: float = 0.3,
        begin: float = 0.6,
        greatest: Sequence[float] = (0.4, 0.4, 1.0),
        limits: Sequence[float] | None = None,
        inside: float = 0.85,
        touch: float = 0.05,
        patience: float = 0.15,
        swing_gains: Gains | None = None,
        trunk_gains: Gains | None = None,
        height_gains: Gains | None = None,
        heed: float = 1.0,
    ) -> None:
        if not isinstance(robot, Dynamics):
            raise WbcError(f"a walk needs a robot of wbc.load, not {show(robot)}")
        feet = tuple(foot for foot in robot.model.feet if foot in robot.model.soles)
        if len(feet) != 2:
            raise WbcError(
                f"a walk needs two feet with soles; {robot.model.name!r} has {len(feet)}: name them, "
                "wbc.load(..., feet={frame: corners}), or take tasks.locomotion.Gait for feet that are points"
            )
        soles = Soles(robot, feet)
        middle = np.mean(list(soles.nominal.values()), axis=0)
        places = {foot: place[:2] - middle[:2] for foot, place in soles.nominal.items()}
        left, right = sorted(feet, key=lambda foot: -places[foot][1])
        schedule = Schedule.in_turn([(left,), (right,)], number(single, "single, s,", above=True), double)
        sizes = {foot: np.ptp(corners[:, :2], axis=0) for foot, corners in soles.corners.items()}
        posed = robot.copy()
        posed.update(robot.model.nominal, np.zeros(robot.nv))
        height = float(posed.com[2] - middle[2]) - number(lower, "lower, m,", -1.0)
        reach = min(horizontal_reach(posed, foot, soles.nominal[foot], lower) for foot in feet)
        apart = max(float(size[1]) for size in sizes.values()) + BESIDE
        usual = CommandedSteps(schedule, places, apart, (reach, reach), terrain, sizes)
        if limits is None:
            step = schedule.period / 2
            limits = reach / step, max(2 * abs(places[left][1]) + 0.5 * reach - apart, 0.1) / (2 * step), 0.5 / step
        super().__init__(
            robot,
            command,
            schedule,
            soles,
            usual=usual,
            planner=planner,
            center=center,
            tracker=tracker,
            adaptation=adaptation,
            height=height,
            lift=lift,
            friction=friction,
            settle=settle,
            begin=begin,
            greatest=greatest,
            limits=limits,
            inside=inside,
            touch=touch,
            patience=patience,
            tilts=False,
            swing_gains=Gains(6.0) if swing_gains is None else swing_gains,
            trunk_gains=Gains(2.0) if trunk_gains is None else trunk_gains,
            height_gains=Gains(2.0) if height_gains is None else height_gains,
            heed=heed,
        )

    def _begins_with(self, feet: tuple[str, ...]) -> bool:
        """The foot on the side that it goes to is lifted first: it must not step over the other one."""
        side = 1.0 if self._command[1] + 0.1 * self._command[2] >= 0 else -1.0
        mean = np.mean([place[1] for place in self.soles.nominal.values()])
        return any((self.soles.nominal[foot][1] - mean) * side > 0 for foot in feet)

    def stack(self) -> Stack:
        """A stack to walk with: physics, limits, contacts, quiet arms, feet in the air, balance, least torque.

        Joints keep within their ranges and legs off each other whatever contacts ask: a sole that has to give way then
        tilts. Quiet arms are above feet in the air and balance: otherwise, when legs and soles can't do what is asked,
        the arms become reaction wheels.
        """
        robot = self.robot
        levels = EquationOfMotion() / (TorqueLimits() + FrictionCones())
        kept = kept_joints_and_legs(robot, self.feet)
        if kept is not None:
            levels = levels / kept
        axes = stacks._held_axes(robot)
        levels = levels / ContactMotion(
            Gains(kp=10.0, kd=20.0), axes=axes if any(len(a) < 6 for a in axes.values()) else None
        )
        quiet = stacks._quiet_joints(robot, None)
        if quiet:
            posture = JointAcceleration(stacks._posture(robot, quiet), quiet, Gains(2.0), name="arms")
            levels = levels / posture
        first, second = self.swings.values()
        levels = levels / (first + second)
        levels = levels / (self.balance + self.trunk) / self.heading
        levels = levels / CentroidalMomentum(gain=2.0) / TorqueMinimization()
        found = Stack(levels, contacts=[SurfaceContact(foot, self.friction) for foot in self.feet])
        for foot in self.feet:
            found.switch_off(f"swing of {foot}")
        return found
