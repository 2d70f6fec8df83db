"""The spin of wheels in the air."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from wbc.arrays import Array
from wbc.contacts import Contact, RollingContact, as_contacts
from wbc.dynamics import Dynamics
from wbc.errors import WbcError
from wbc.tasking.gains import rate_gain
from wbc.tasking.rows import Rows
from wbc.tasking.task import Task
from wbc.tasking.tick import Tick


class WheelSpin(Task):
    """Spins wheels in the air as if they rolled, so that they touch down without slip.

    J v̇ = −J̇v − k J v, with J v the velocity of the material at the lowest point of the wheel, along its way. For a
    wheel on the ground `ContactMotion` asks for the same, on a higher level.

    Args:
        wheels: contacts that have a tyre; one, or several.
        gain: k, 1/s.
        name: see `Task`.
        weight: see `Task`.
    """

    def __init__(
        self,
        wheels: Contact | Iterable[Contact],
        gain: float = 20.0,
        name: str | None = None,
        weight: float = 1.0,
    ) -> None:
        super().__init__("wheel spin" if name is None else name, weight)
        self.wheels = as_contacts(wheels)
        for contact in self.wheels:
            if not isinstance(contact, RollingContact):
                raise WbcError(f"{self.name}: contact {contact.name!r} must be a wbc.RollingContact")
        self.gain = rate_gain(gain, self.name, 1)

    def rows(self, robot: Dynamics, tick: Tick) -> Rows:
        """See `Task`; a row a wheel."""
        J, b = np.empty((len(self.wheels), robot.nv)), np.empty(len(self.wheels))
        for row, contact in enumerate(self.wheels):
            contact.fit(robot)
            motion, bias = contact.motion(robot)
            J[row], b[row] = motion[0], -bias[0]
        b -= self.gain * J @ robot.v
        return Rows.equal(b, acceleration=J)

    def error(self, robot: Dynamics, tick: Tick) -> Array:
        """See `Task`; m/s."""
        return -np.array([contact.motion(robot)[0][0] @ robot.v for contact in self.wheels])

    def row_names(self, robot: Dynamics, tick: Tick) -> list[str]:
        """See `Task`."""
        return [f"spin of {contact.name}" for contact in self.wheels]
