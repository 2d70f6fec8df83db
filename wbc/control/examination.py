"""Examines a solved tick: `wbc.control.health` lists what is looked for, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wbc.arrays import Array, MaskArray
from wbc.control.explanation import unit_of_load
from wbc.control.health import Finding, Health
from wbc.control.watch import LONG, Look, Past
from wbc.model.names import actuator_names
from wbc.singular_values import svd
from wbc.tasking.feedback import feedback
from wbc.tasking.gains import Gains
from wbc.tasking.law import approach

if TYPE_CHECKING:
    from wbc.control.program import Part
    from wbc.control.solution import Solution
    from wbc.dynamics.base import Dynamics
    from wbc.tasking.tick import Tick

BEYOND = 1e-6
"""An inequality is broken beyond this, in N and N m, or relative to the size of its value: as `Solution.violated`."""

MISSED = 1.0
"""An acceleration missed by more than this matters, m/s² or rad/s²: see `wbc.control.health.Kind`."""

LASTS, LEANS = 0.1, 0.1
"""A finding that persists this many seconds is reported. For a contact that bears less than this share of the robot's
weight the time is `LONG`."""

PHYSICS = 1e-8
"""The equation of motion holds to this share of its largest term: as `Certificate.holds`."""

NEAR = 0.999
"""Share of a limit from which on it counts as reached."""

FAR_METRES, FAR_RADIANS = 0.02, 0.05
"""Errors from this size on are large. The second number is for rows of unknown unit."""

SHRINKS = 0.9
"""An error does not shrink if more than this share of it is left after a second."""

SLOWED = 0.5
"""A task that misses more than this share of kd · speed moves at less than half of that speed: limits or other tasks
hold it back, not the speed of its gains."""

LOST = 1e-3
"""A pull is gone if less than this share of it is left."""

Told = Sequence[tuple["Part", Array, Array]]
"""Each task's part, its A x, and its residual."""


@dataclass(frozen=True, eq=False)
class Examination:
    """A solved tick and what is known about it.

    Attributes:
        solution: what came of it.
        robot: for its model and limits; its state may have moved on.
        tick: the moment.
        told: of the solution.
        past: what its controller remembers.
        clipped: whether torques were clipped to the actuators' limits.
        names: gives the names of a part's rows.
        free: gives T, orthonormal, with x = x₀ + T z for all x that physics allows, shape (n, free).
    """

    solution: Solution
    robot: Dynamics
    tick: Tick
    told: Told
    past: Past
    clipped: bool
    names: Callable[[Part], Sequence[str]]
    free: Callable[[], Array]

    def health(self) -> Health:
        """All findings."""
        solution = self.solution
        if solution.status == "failed":
            why = "" if solution.reason is None else f": {solution.reason}"
            return Health([Finding("failed", "solver", 1.0, "", f"failed, the torque is a fallback{why}")])
        return Health(
            [
                *self._stopped(),
                *self._broken(),
                *self._against_nature(),
                *self._moving_contacts(),
                *self._empty_contacts(),
                *self._ends_of_joints(),
                *self._spent_actuators(),
                *self._out_of_reach(),
                *self._yielding(),
                *self._slowed(),
            ]
        )

    def _stopped(self) -> list[Finding]:
        """Whether the solver was stopped, late, or its answer clipped."""
        solution, found = self.solution, []
        if solution.interrupted:
            text = f"the solver was stopped after {solution.iterations} steps"
            found.append(Finding("cut short", "solver", float(solution.iterations), "steps", text))
        if solution.late:
            ms = 1e3 * solution.time.total
            text = f"the tick took {ms:.3g} ms, longer than its deadline"
            found.append(Finding("late", "controller", ms, "ms", text))
        if self.clipped:
            text = "the solver asked for more torque than the actuators give: it was clipped"
            found.append(Finding("clipped", "actuators", 1.0, "", text))
        return found

    def _yielding(self) -> list[Finding]:
        """Tasks that pull as hard as they may, if that persists and matters."""
        found = []
        for task, row, missed in self.solution.yielding:
            index = next(index for index, (part, _, _) in enumerate(self.told) if part.entry.name == task)
            part = self.told[index][0]
            since = self.past.yielding.get(part.entry.rank, self.tick.time)
            at = list(self.names(part)).index(row)
            if self.tick.time - since < LASTS or part.acceleration is None or not abs(missed) > MISSED:
                continue
            if self._yields_to_others(index, at):
                continue
            text = f"{task} pulls as hard as it may and misses {row} by {abs(missed):.3g} {self._rate(row)}"
            found.append(Finding("yielding", task, abs(missed), self._rate(row), text.strip()))
        return found

    def _rate(self, row: str) -> str:
        """The unit of a row on accelerations."""
        joint = {"m": "m/s²", "rad": "rad/s²"}.get(self._joint_unit(row), "")
        return _unit(row, "m/s²", "rad/s²") or joint

    def _yields_to_others(self, index: int, row: int) -> bool:
        """Whether a row yields because tasks of a higher priority take what it needs."""
        part, known = self.told[index][0], self.past.looks[-1].meant if self.past.looks else {}
        key = part.entry.name, row
        if key not in known:
            known[key] = self._meant(index, np.arange(len(part.lower)) == row)
        return known[key]

    def _broken(self) -> list[Finding]:
        """Inequalities that do not hold: the worst row of each task."""
        if self.solution.status == "optimal":
            return []
        found = []
        for part, value, residual in self.told:
            if part.equation:
                continue
            beyond = np.abs(residual)
            row = int(beyond.argmax())
            if beyond[row] > max(BEYOND * (1.0 + abs(value[row])), part.entry.slack):
                name, most = self.names(part)[row], float(beyond[row])
                unit = unit_of_load(part.entry.task, name, self.robot.model.joints)
                text = f"{part.entry.name} does not hold: {name} by {most:.3g} {unit}"
                found.append(Finding("relaxed", part.entry.name, most, unit, text.strip()))
        return found

    def _against_nature(self) -> list[Finding]:
        """The equation of motion, and forces that no task bounds."""
        found, certificate = [], self.solution.certificate
        off = certificate.equation_of_motion
        if not off < PHYSICS:
            text = f"the equation of motion is off by {off:.1e} of its largest term"
            found.append(Finding("physics", "equation of motion", off, "", text))
        outside = -certificate.cone_margin
        if outside > certificate.cone_tolerance and not any(
            part.entry.task.bounds_contacts for part, _, _ in self.told
        ):
            where = certificate.worst_contact
            text = f"the force at {where} is {outside:.3g} N outside its cone"
            found.append(Finding("cone", where, outside, "N", text))
        return found

    def _moving_contacts(self) -> list[Finding]:
        """Contacts that are not held still: the worst row of each."""
        worst: dict[str, Finding] = {}
        for part, _, residual in self.told:
            missed = np.flatnonzero(np.abs(residual) > MISSED).tolist() if part.entry.task.holds_contacts else []
            names = self.names(part) if missed else []
            for row in missed:
                by, unit = float(abs(residual[row])), _unit(names[row], "m/s²", "rad/s²")
                contact = names[row].partition(" of ")[2] or names[row]
                if contact not in worst or worst[contact].value < by:
                    text = f"{part.entry.name}: {names[row]} missed by {by:.3g} {unit}".strip()
                    worst[contact] = Finding("contact motion", contact, by, unit, text)
        return list(worst.values())

    def _empty_contacts(self) -> list[Finding]:
        """Contacts that carry nothing although a force is commanded."""
        found = []
        for name, empty in self.past.empty.items():
            lasted = self.tick.time - empty.since
            if lasted >= (LASTS if empty.share >= LEANS else LONG):
                text = f"{name} carries {max(empty.measured, 0.0):.3g} N of {empty.commanded:.3g} N for {lasted:.2g} s"
                found.append(Finding("empty contact", name, empty.commanded, "N", text))
        return found

    def _ends_of_joints(self) -> list[Finding]:
        """Joints that press on the ends of their ranges, of which no task knows."""
        ends = self.past.looks[-1].ends if self.past.looks else {}
        if not ends:
            return []
        kept = {name for part, _, _ in self.told if part.entry.task.bounds_joints for name in self.names(part)}
        found = []
        for joint, by in ends.items():
            if joint not in kept:
                unit = self._joint_unit(joint)
                text = f"{joint} is {by:.3g} {unit} beyond the end of its range, from which no task keeps it"
                found.append(Finding("joint end", joint, by, unit, text))
        return found

    def _spent_actuators(self) -> list[Finding]:
        """Actuators at their limits, or at the share of the limits that a task allows."""
        tasks = [part.entry.task for part, _, _ in self.told]
        share = min([1.0, *(float(getattr(task, "scale", 1.0)) for task in tasks if task.bounds_torques)])
        limit, torque = share * self.robot.limits.effort, np.abs(self.solution.torque)
        spent = np.flatnonzero((torque >= NEAR * limit) & (limit > 0.0) & np.isfinite(limit)).tolist()
        if not spent:
            return []
        joints, names = self.robot.model.joints, actuator_names(self.robot.model)
        units = ["N" if name in joints and joints[name].kind == "prismatic" else "N m" for name in names]
        return [
            Finding(
                "torque limit",
                names[joint],
                float(torque[joint]),
                units[joint],
                f"{names[joint]} is at its limit of {limit[joint]:.3g} {units[joint]}",
            )
            for joint in spent
        ]

    def _out_of_reach(self) -> list[Finding]:
        """Tasks whose errors persist; computed once per look."""
        looks = self.past.looks
        if not looks:
            return []
        newest = looks[-1]
        if newest.stays is None:
            since = self._last_second()
            newest.stays = self._staying(since) if since else []
        present = {part.entry.name for part, _, _ in self.told}
        return [finding for finding in newest.stays if finding.name in present]

    def _last_second(self) -> list[Look]:
        """The looks of the last second, the oldest first; none if the oldest is younger."""
        looks = self.past.looks
        first = next((look for look in reversed(looks) if look.time <= looks[-1].time - LONG), None)
        return [] if first is None else [look for look in looks if look.time >= first.time]

    @staticmethod
    def _errors(part: Part, since: list[Look]) -> Array:
        """The errors of a task at some looks, shape (looks, rows); fewer looks if it had none at some."""
        seen = [look.errors.get(part.entry.name) for look in since]
        return np.array([error for error in seen if error is not None and error.shape == part.lower.shape])

    def _staying(self, since: list[Look]) -> list[Finding]:
        """The worst row of each task whose error stays large over some looks."""
        found = []
        for index, (part, _, _) in enumerate(self.told):
            name = part.entry.name
            errors = self._errors(part, since)
            if len(errors) < len(since) or np.abs(errors[-1]).max(initial=0.0) < FAR_METRES:
                continue
            names = self.names(part)
            units = [_unit(row, "m", "rad") or self._joint_unit(row) for row in names]
            far = np.array([FAR_METRES if unit == "m" else FAR_RADIANS for unit in units])
            stays = (np.sign(errors) == np.sign(errors[-1])).all(axis=0) & (np.abs(errors).min(axis=0) >= far)
            stays &= np.abs(errors[-1]) >= SHRINKS * np.abs(errors[0])
            gains, lasted = feedback(part.entry.task), since[-1].time - since[0].time
            if isinstance(gains, Gains) and gains.speed is not None:  # as near as its gains let it come
                stays &= np.abs(errors[0]) - np.abs(errors[-1]) < SLOWED * gains.speed * lasted
            if not stays.any() or self._meant(index, stays):
                continue
            row = int(np.where(stays, np.abs(errors[-1]) / far, 0.0).argmax())
            off = float(abs(errors[-1, row]))
            text = f"{name}: {names[row]} is {off:.3g} {units[row]} off its target and came no nearer in {lasted:.1f} s"
            found.append(Finding("out of reach", name, off, units[row], text))
        return found

    def _slowed(self) -> list[Finding]:
        """Tasks that their gains' speed slowed for a second; computed once per look."""
        looks = self.past.looks
        if not looks:
            return []
        newest = looks[-1]
        if newest.slowed is None:
            newest.slowed = list(self._slowing(self._last_second()))
        present = {part.entry.name for part, _, _ in self.told}
        return [finding for finding in newest.slowed if finding.name in present]

    def _slowing(self, since: list[Look]) -> Iterator[Finding]:
        """The worst row of each task whose demand was bounded at all of some looks, and is met now."""
        for part, _, residual in self.told:
            name, task = part.entry.name, part.entry.task
            gains = feedback(task) if since and task.bounds_approach else None
            if not isinstance(gains, Gains) or gains.speed is None:
                continue
            errors = self._errors(part, since)
            if len(errors) < len(since):
                continue
            kp, kd, speed = gains.kp, gains.kd, gains.speed
            factors = [approach(np.asarray(kp * error), kd, speed, task.approach_groups) for error in errors]
            held_back = approach(residual, kd, SLOWED * speed, task.approach_groups) < 1.0
            rows = (np.asarray(factors).max(axis=0) < 1.0) & ~held_back
            if not rows.any():
                continue
            row = int(np.where(rows, np.abs(kp * errors[-1]), 0.0).argmax())
            axis, off = self.names(part)[row], float(abs(errors[-1, row]))
            unit = _unit(axis, "m", "rad") or self._joint_unit(axis) or "rad"  # the last is a gaze
            text = f"{name}: {axis} is {off:.3g} {unit} off its target; its gains approach it at {speed:g} {unit}/s"
            yield Finding("slowed", name, off, unit, text)

    def _joint_unit(self, row: str) -> str:
        joint = self.robot.model.joints.get(row)
        return "" if joint is None else "m" if joint.kind == "prismatic" else "rad"

    def _meant(self, index: int, rows: MaskArray) -> bool:
        """Whether tasks of higher priority, or of the same priority and more weight, oppose a task.

        Its pull, Aᵀ W r in what physics and the contacts leave free, is then for the most part theirs. A direction
        that physics and contacts leave nothing of is out of reach, whatever the other tasks want.

        Args:
            index: of the task.
            rows: of it, that are far from the target, shape (rows,).
        """
        part, _, residual = self.told[index]
        missed = np.where(rows, residual, 0.0)
        if np.abs(missed).max() <= LOST * np.abs(part.lower[rows]).max():
            return False  # it is to come about, and does not: something is in the way that the controller does not know
        free = self.free()
        mine = part.matrix(self.tick.layout) @ free
        weighted = missed * (1.0 if part.weights is None else part.weights)
        pull, gross = mine.T @ weighted, np.linalg.norm(mine, axis=1) @ np.abs(weighted)
        contacts, rivals = [np.zeros((0, len(pull)))], []
        for other, _, _ in self.told:
            equal = other.lower == other.upper
            if other is part or not equal.any():
                continue
            above = other.entry.level < part.entry.level
            beside = other.entry.level == part.entry.level and other.weight > part.weight
            if other.entry.task.holds_contacts:
                contacts.append(other.matrix(self.tick.layout)[equal] @ free)
            elif above or beside:
                rivals.append(other.matrix(self.tick.layout)[equal] @ free)
        left = _without(pull, contacts)
        if np.linalg.norm(left) <= LOST * gross:
            return False
        return bool(np.linalg.norm(_without(pull, contacts + rivals)) < 0.5 * np.linalg.norm(left))


def _unit(row: str, linear: str, angular: str) -> str:
    """Of a row that is called "z of base", "rx of base"; empty where it has another name."""
    axis = row.partition(" of ")[0]
    return linear if axis in ("x", "y", "z") else angular if axis in ("rx", "ry", "rz") else ""


def _without(pull: Array, rows: list[Array]) -> Array:
    """What of a direction is at right angles to rows."""
    _, size, V = svd(np.vstack(rows))
    V = V[size > 1e-9 * size.max(initial=0.0)]
    rest: Array = pull - V.T @ (V @ pull)
    return rest
