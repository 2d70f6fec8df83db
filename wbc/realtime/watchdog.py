"""The watchdog: its rules, and the reaction to each."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from wbc.arrays import Array
from wbc.control.solution import Solution
from wbc.errors import WbcError, number, show
from wbc.model.model import Model
from wbc.model.names import actuator_names, velocity_names
from wbc.model.space import ConfigurationSpace

Reaction: TypeAlias = Literal["hold", "damp", "stop"]
"""Reactions, the mildest first. A reaction lasts until the end of the run, or until a stronger one.

- "hold": the joints stay where they were before the fault, with the gains that the run was given for that and the last
  torque.
- "damp": the joints are braked, and give way.
- "stop": the motors are told to give no torque, and the run ends.
"""

REACTIONS: tuple[Reaction, ...] = get_args(Reaction)

Rule: TypeAlias = tuple[float, Reaction] | None
"""A limit and the reaction beyond it; None: not checked."""


class Fault(NamedTuple):
    """A fault that the watchdog found.

    Attributes:
        time: s, since the start of the run.
        kind: the rule, as `Watchdog` names it.
        text: what was found, against which limit.
        reaction: what was done.
    """

    time: float
    kind: str
    text: str
    reaction: Reaction

    def __str__(self) -> str:
        return f"{self.time:.3f} s, {self.kind}: {self.text}: {self.reaction}"


@dataclass(frozen=True)
class Watchdog:
    """The rules of a run: each a limit and a reaction, or None.

    Attributes:
        stale: s without a new state whose numbers are finite.
        late: ticks in a row that were over after their period.
        failed: ticks in a row without an answer of the solver.
        torque_rate: change of a feed-forward torque between two ticks, as a share of all that its actuator gives; a
            torque may fall to zero at once.
        velocity: speed of a joint, as a share of its limit.
        position: of a joint beyond its limits, rad or m.
        tilt: of the base's vertical axis from the world's, rad.
        torque: measured, as a share of all that an actuator gives.
    """

    stale: Rule = (0.02, "damp")
    late: Rule = (20, "hold")
    failed: Rule = (5, "hold")
    torque_rate: Rule = (0.5, "damp")
    velocity: Rule = (1.2, "damp")
    position: Rule = (0.1, "hold")
    tilt: Rule = (1.0, "damp")
    torque: Rule = (1.5, "damp")

    def __post_init__(self) -> None:
        for field in fields(self):
            rule = getattr(self, field.name)
            if rule is None:
                continue
            if not isinstance(rule, tuple) or len(rule) != 2 or rule[1] not in REACTIONS:
                raise WbcError(
                    f"watchdog: {field.name} = {show(rule)} must be None or a pair of a limit and one of "
                    f"{', '.join(map(repr, REACTIONS))}"
                )
            number(rule[0], f"watchdog: the limit of {field.name}")


class Watch:
    """A watchdog over a run: it remembers what was found.

    Args:
        rules: what is looked for.
        model: the robot, for its limits and names.

    Attributes:
        faults: in the order in which they were found; the first of each kind.
        reaction: the hardest so far; None: all is well.
    """

    def __init__(self, rules: Watchdog, model: Model) -> None:
        self.faults: list[Fault] = []
        self.reaction: Reaction | None = None
        self._rules, self._model = rules, model
        self._base_v, self._base_q = (6, 7) if model.floating else (0, 0)
        self._names = velocity_names(model)[self._base_v :]
        self._actuators = actuator_names(model)
        limits = model.limits
        self._most = np.minimum(np.abs(limits.effort), 1e300)
        self._speed = limits.velocity[self._base_v :]
        places = ConfigurationSpace(model).position_of_velocity
        self._limited = np.flatnonzero((np.isfinite(limits.lower) | np.isfinite(limits.upper)) & (places >= 0))
        self._places, self._joints = places[self._limited], [velocity_names(model)[v] for v in self._limited]
        self._lower, self._upper = limits.lower[self._limited], limits.upper[self._limited]
        self._torque: Array | None = None
        self._late = self._failed = 0
        self._returning = False

    def _find(self, time: float, kind: str, rule: Rule, value: float, text: str) -> None:
        """Notes a value that is beyond its limit, once for each kind."""
        if rule is None or value <= rule[0] or any(fault.kind == kind for fault in self.faults):
            return
        reaction = rule[1]
        self.faults.append(Fault(time, kind, text, reaction))
        if self.reaction is None or REACTIONS.index(reaction) > REACTIONS.index(self.reaction):
            self.reaction = reaction

    def look_at_age(self, time: float, age: float, refused: str = "") -> None:
        """How long ago the last new state came.

        Args:
            time: s.
            age: s.
            refused: why the one that came last is none; empty: none came.
        """
        if self._rules.stale is not None and age > self._rules.stale[0]:
            text = f"no new state for {1e3 * age:.1f} ms; {1e3 * self._rules.stale[0]:g} are allowed"
            text += f"; the last one has {refused}" if refused else ""
            self._find(time, "stale", self._rules.stale, age, text)

    def look_at_state(self, time: float, q: Array, v: Array, torque: Array) -> None:
        """Where the robot is.

        Args:
            time: s.
            q: shape (nq,).
            v: shape (nv,).
            torque: measured, shape (na,).
        """
        rules = self._rules
        if rules.velocity is not None and not _all_within(v[self._base_v :] / self._speed, rules.velocity[0]):
            share = np.abs(v[self._base_v :]) / self._speed
            worst = int(share.argmax())
            if share[worst] > rules.velocity[0]:
                speed = v[self._base_v + worst]
                text = f"{self._names[worst]} moves at {speed:.3g}, its limit is {self._speed[worst]:.3g}"
                self._find(time, "velocity", rules.velocity, float(share[worst]), text)
        if rules.position is not None and len(self._places):
            joints = q[self._places]
            beyond = np.maximum(joints - self._upper, self._lower - joints)
            worst = int(beyond.argmax())
            if beyond[worst] > rules.position[0]:
                ends = f"{self._lower[worst]:.3g} and {self._upper[worst]:.3g}"
                text = f"{self._joints[worst]} is at {joints[worst]:.3g}, its limits are {ends}"
                self._find(time, "position", rules.position, float(beyond[worst]), text)
        if rules.tilt is not None and self._base_q:
            tilt = math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * float(q[4] ** 2 + q[5] ** 2))))
            if tilt > rules.tilt[0]:
                text = f"the base leans by {tilt:.2f} rad; {rules.tilt[0]:g} are allowed"
                self._find(time, "tilt", rules.tilt, tilt, text)
        if rules.torque is not None and not _all_within(torque / self._most, rules.torque[0]):
            share = np.nan_to_num(np.abs(torque)) / self._most
            worst = int(share.argmax())
            if share[worst] > rules.torque[0]:
                text = f"{self._actuators[worst]} gives {torque[worst]:.3g}, it has {self._most[worst]:.3g}"
                self._find(time, "torque", rules.torque, float(share[worst]), text)

    def look_at_solution(self, time: float, solution: Solution, ramped: float = 1.0) -> float:
        """What a tick came to.

        A tick that was cut short at its deadline, and whose torques would jump, is not commanded, and counts as one
        that failed: the last command is better for a tick. The controller goes on from the torques that it found, so
        that the way back to them takes as many ticks as the limit of `torque_rate` asks for.

        Args:
            time: s.
            solution: of the tick.
            ramped: the share of its torques that is commanded while the controller takes over, 0 to 1.

        Returns:
            The share of it that may be commanded; the rest is the last command.
        """
        torque = solution.torque if ramped == 1.0 else ramped * solution.torque
        rules, share = self._rules, 1.0
        change = self._jump(torque)
        cut = solution.interrupted and change is not None
        self._failed = self._failed + 1 if solution.status == "failed" or cut else 0
        if rules.failed is not None and self._failed > rules.failed[0]:
            why = "its deadline" if cut else repr(solution.reason)
            text = f"{self._failed} ticks in a row failed, the last one with {why}"
            self._find(time, "failed", rules.failed, self._failed, text)
        if cut:
            self._returning = True
            return 0.0
        if change is None:
            self._returning = False
        elif rules.torque_rate is not None and self._torque is not None:
            worst = int(change.argmax())
            if self._returning:
                share = rules.torque_rate[0] / float(change[worst])
            else:
                step = f"{self._torque[worst]:.3g} to {torque[worst]:.3g}"
                text = f"{self._actuators[worst]} goes from {step} in a tick, it has {self._most[worst]:.3g}"
                self._find(time, "torque rate", rules.torque_rate, float(change[worst]), text)
        if share == 1.0 or self._torque is None:
            self._torque = torque
        else:
            self._torque = self._torque + share * (torque - self._torque)
        return share

    def _jump(self, torque: Array) -> Array | None:
        """The change of each torque since the last tick, as a share, where one is more than it may be. A torque that
        only lets go, as a leg may that leaves the ground, has none.
        """
        last, rule = self._torque, self._rules.torque_rate
        if last is None or rule is None or _all_within((torque - last) / self._most, rule[0]):
            return None
        lets_go = (torque * last >= 0.0) & (np.abs(torque) <= np.abs(last))
        change = np.where(lets_go, 0.0, np.abs(torque - last) / self._most)
        return change if change.max() > rule[0] else None

    def look_at_clock(self, time: float, late: bool) -> None:
        """Whether a tick was over in time.

        Args:
            time: s.
            late: whether it was not.
        """
        self._late = self._late + 1 if late else 0
        if self._rules.late is not None and self._late > self._rules.late[0]:
            text = f"{self._late} ticks in a row were late; {self._rules.late[0]:g} are allowed"
            self._find(time, "late", self._rules.late, self._late, text)


def _all_within(shares: Array, most: float) -> bool:
    """Whether all together are within what each may be, as they are most often: then nobody looks at each. What is not
    a number is not within it.
    """
    return bool(shares.dot(shares) <= most * most)
