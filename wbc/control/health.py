"""Health: what a person should worry about even if every inequality holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "failed",
    "cut short",
    "relaxed",
    "physics",
    "cone",
    "clipped",
    "contact motion",
    "empty contact",
    "joint end",
    "torque limit",
    "out of reach",
    "yielding",
    "slowed",
    "late",
]
"""The kinds of findings, the worst first.

- "failed": the solver had no answer; the torque is a fallback.
- "cut short": the solver was stopped at its bound on steps or time.
- "relaxed": a task's inequality could not hold.
- "physics": the equation of motion does not hold to 1e-8.
- "cone": a force is outside its cone of friction by more than 1e-6 N, and no task bounds it.
- "clipped": the solver, which ignores inequalities, asked for more torque than the actuators give; or it was stopped.
- "contact motion": a closed contact is accelerated by more than 1 m/s² or 1 rad/s² against what holds it still. That
  is a tenth of free fall: rounding and the trades of a weighted solver are below it, and a foot that keeps it up is
  5 mm off in a tenth of a second.
- "empty contact": less than a tenth of the commanded normal force was measured: for 0.1 s, longer than a foot bounces
  or is late, where it is a tenth of the robot's weight or more; for 1 s, in which a tool may approach, where it is 2 %.
- "joint end": a joint was 5 mrad or 5 mm beyond the end of its range when it was looked at, which is done four times a
  second, and no task such as `JointLimits` keeps it from there: a robot has a stop there, whose force the controller
  does not know.
- "torque limit": an actuator gives 99.9 % of what it, or `TorqueLimits`, has.
- "out of reach": for a second a task was 20 mm or 0.05 rad or more from its target and came no nearer (by a tenth), and
  no task of higher priority is the reason. Typical errors of models and sensors are smaller.
- "yielding": for 0.1 s a task pulls as hard as it may (`ElasticQP`), near a singularity say, and misses a row by more
  than 1 m/s² or 1 rad/s², and no task of higher priority is the reason.
- "slowed": for a second the speed of a task's gains bounded the demand of its error (`Gains`), and its target is still
  away. What misses more than half of that demand is not counted: limits or other tasks hold it back.
- "late": the tick took longer than its deadline.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds, the worst first."""

SHOWN = 3
"""Number of findings that a line names; the rest are counted."""


class Finding(NamedTuple):
    """One thing to worry about.

    Attributes:
        kind: see `Kind`.
        name: of the task, the contact or the actuator.
        value: how much: positive, in `unit`.
        unit: of the value; empty for numbers without one, and for rows of which none is known.
        text: all of it in a line.
    """

    kind: Kind
    name: str
    value: float
    unit: str
    text: str

    def __str__(self) -> str:
        return self.text


class Health:
    """Findings about a tick, the worst kind first; true if there are none. Immutable.

    Args:
        findings: in any order.
    """

    __slots__ = ("_findings",)

    def __init__(self, findings: Sequence[Finding] = ()) -> None:
        self._findings = tuple(sorted(findings, key=lambda finding: KINDS.index(finding.kind)))

    @property
    def good(self) -> bool:
        """Whether there is nothing to worry about."""
        return not self._findings

    def __bool__(self) -> bool:
        return self.good

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def of(self, kind: Kind) -> tuple[Finding, ...]:
        """The findings of a kind."""
        return tuple(finding for finding in self._findings if finding.kind == kind)

    def __str__(self) -> str:
        if self.good:
            return "health: good"
        rest = len(self._findings) - SHOWN
        more = f"; and {rest} more" if rest > 0 else ""
        return f"health: {'; '.join(finding.text for finding in self._findings[:SHOWN])}{more}"

    def __repr__(self) -> str:
        return f"<Health: {', '.join(f'{it.kind} ({it.name})' for it in self._findings) or 'good'}>"
