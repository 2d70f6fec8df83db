"""Tasks that track a reference motion, with its torques and forces as feed-forward."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wbc.arrays import Array
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, show, unknown_name
from wbc.tasking.gains import Gains
from wbc.tasking.reference import Reference
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class OnReference(Task):
    """A task that follows a reference."""

    def __init__(self, reference: Reference, start: float, name: str, weight: float) -> None:
        super().__init__(name, weight)
        if not isinstance(reference, Reference):
            raise WbcError(f"{name}: give a wbc.Reference, not {show(reference)}")
        self.reference, self.start = reference, start

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        if robot.nq != self.reference.q.shape[1] or robot.nv != self.reference.v.shape[1]:
            raise WbcError(
                f"{self.name}: the reference is for {self.reference.model.name!r}, with {self.reference.q.shape[1]} "
                f"coordinates; {robot.model.name!r} has {robot.nq}"
            )


class ReferenceMotion(OnReference):
    """Makes the whole robot follow a reference: v̇ = v̇* + kd (v* − v) + kp (q* ⊖ q), one row per velocity.

    Args:
        reference: q, v and v̇ over time.
        gains: in 1/s² and 1/s; None: 2 Hz, critically damped.
        start: time of the controller at which the reference begins, s.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        reference: Reference,
        gains: Gains | None = None,
        start: float = 0.0,
        *,
        name: str = "reference",
        weight: float = 1.0,
    ) -> None:
        super().__init__(reference, start, name, weight)
        self.gains = Gains.of(gains, Gains(2.0), name)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`."""
        q, v, vdot = self.reference.at(tick.time - self.start)
        error = robot.difference(robot.q, q)
        b = vdot + self.gains.kd * (v - robot.v) + self.gains.kp * error
        return Rows.equal(b, acceleration=np.arange(robot.nv))

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`."""
        return robot.difference(robot.q, self.reference.at(tick.time - self.start)[0])

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        from wbc.model.names import velocity_names

        return velocity_names(robot.model)


class ReferenceTorque(OnReference):
    """Sets the torques to those of a reference, as far as higher levels allow: one row per actuator.

    Args:
        reference: with torques.
        start: time of the controller at which the reference begins, s.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self, reference: Reference, start: float = 0.0, *, name: str = "reference torque", weight: float = 1.0
    ) -> None:
        super().__init__(reference, start, name, weight)
        if reference.torque is None:
            raise WbcError(f"{name}: the reference has no torques")

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`."""
        wanted = self.reference.torque_at(tick.time - self.start)
        assert wanted is not None
        return Rows.equal(wanted, torque=np.arange(robot.na))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        from wbc.model.names import actuator_names

        return actuator_names(robot.model)


class ReferenceForces(OnReference):
    """Sets the forces of closed contacts to those of a reference, as far as higher levels allow.

    Args:
        reference: with forces of contacts by their names.
        start: time of the controller at which the reference begins, s.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self, reference: Reference, start: float = 0.0, *, name: str = "reference forces", weight: float = 1.0
    ) -> None:
        super().__init__(reference, start, name, weight)
        if not reference.forces:
            raise WbcError(f"{name}: the reference has no forces")

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        super().check(robot, contacts)
        for contact, forces in self.reference.forces.items():
            if contact not in contacts:
                raise WbcError(f"{self.name}: {unknown_name('contact', contact, contacts)}")
            if contacts[contact].size != forces.shape[1]:
                raise WbcError(
                    f"{self.name}: contact {contact!r} has {contacts[contact].size} force variables, the reference "
                    f"{forces.shape[1]}"
                )

    def _closed(self, tick: Tick) -> list[str]:
        return [contact for contact in self.reference.forces if tick.force_of(contact) is not None]

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; those of the contacts that are closed."""
        closed = self._closed(tick)
        places = [np.arange(where.start, where.stop) for name in closed if (where := tick.force_of(name)) is not None]
        wanted = [self.reference.force_at(contact, tick.time - self.start) for contact in closed]
        if not closed:
            return Rows.equal(np.zeros(0), force=np.zeros((0, tick.nf)))
        return Rows.equal(np.concatenate(wanted), force=np.concatenate(places))

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [name for contact in self._closed(tick) for name in tick.contact(contact).force_names()]
