"""Forces at contacts: given ones, and the least."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tasks.axes import AXES, picked
from wbc.arrays import ArrayLike
from wbc.contacts import Contact
from wbc.dynamics import Dynamics
from wbc.errors import WbcError, unknown_name, word
from wbc.tasking.rows import Rows
from wbc.tasking.target import Aimed, Moving, Target
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class ContactForce(Aimed):
    """Makes a contact push with a given force (ETH 3.112).

    Args:
        contact: its name.
        target: force, shape (3,), or wrench at the frame's origin, shape (6,), on the robot, world axes, N and N m; may
            be a function of time.
        axes: those that are controlled, of "x", "y", "z", "rx", "ry", "rz"; None: all that the target has.
        name: see `Task`.
        weight: see `Task`.
        tolerance: see `Task`.
    """

    def __init__(
        self,
        contact: str,
        target: ArrayLike | Moving,
        axes: str | Iterable[str] | None = None,
        name: str | None = None,
        weight: float = 1.0,
        tolerance: ArrayLike | None = None,
    ) -> None:
        super().__init__(f"force of {contact}" if name is None else name, weight, tolerance)
        self.contact = word(contact, f"{self.name}: contact")
        if target is None:
            raise WbcError(f"{self.name}: a force has no target to hold; give one, shape (3,) or (6,)")
        self._target = Target(target, ((3,), (6,)), 3, whose=self.name)
        self._axes = None if axes is None else [AXES.index(axis) for axis in picked(axes, self.name)]

    @property
    def purpose(self) -> str:
        """See `Task`."""
        axes = "" if self._axes is None else f" in {', '.join(AXES[axis] for axis in self._axes)}"
        return f"{self.contact} pushes with the given force{axes}"

    def check(self, robot: Dynamics, contacts: Mapping[str, Contact]) -> None:
        """See `Task`."""
        if self.contact not in contacts:
            raise WbcError(f"{self.name}: {unknown_name('contact', self.contact, contacts)}")
        if isinstance(self.target, np.ndarray):
            self._pick(len(self.target), contacts[self.contact])

    def _pick(self, size: int, contact: Contact) -> list[int]:
        """The entries of force or wrench that are controlled, for a target of some size."""
        picked = list(range(size)) if self._axes is None else self._axes
        if picked and max(picked) >= min(size, contact.wrench_size):
            wanted = ", ".join(AXES[axis] for axis in picked)
            raise WbcError(
                f"{self.name}: axes = {wanted} and a target of size {size} don't fit its {contact.wrench_size} axes"
            )
        return picked

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; none while the contact is open."""
        where = tick.force_of(self.contact)
        if where is None:
            return Rows.equal(np.zeros(0), force=np.zeros((0, tick.nf)))
        contact = tick.contact(self.contact)
        wanted, _, _ = self._target.at(tick.time, np.zeros(3))
        picked = self._pick(len(wanted), contact)
        if not contact.posed:
            return Rows.equal(wanted[picked], force=np.arange(where.start, where.stop)[picked])
        A = np.zeros((len(picked), tick.nf))  # forces at corners, or in a wheel's own axes: the wrench is a sum of them
        A[:, where] = np.column_stack([contact.wrench(robot, unit) for unit in np.eye(contact.size)])[picked]
        return Rows.equal(wanted[picked], force=A)

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        count = len(self.rows(robot, tick))
        picked = self._axes if self._axes is not None else list(range(count))
        return [f"{AXES[axis]} of {self.contact}" for axis in picked][:count]


class ForceMinimization(Task):
    """Picks the smallest contact forces among those that higher levels leave free: min |f|²."""

    def __init__(self, name: str | None = None, weight: float = 1.0) -> None:
        super().__init__("least force" if name is None else name, weight)
        self._rows = Rows.equal(np.zeros(0))

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row an entry of f that is a contact's."""
        count = tick.layout.nc
        if len(self._rows.lower) != count or self._rows.force is None:
            self._rows = Rows.equal(np.zeros(count), force=np.arange(count))
        return self._rows

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [name for contact in tick.contacts for name in contact.force_names()]
