"""A tick: the input of tasks besides the robot's state."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, Self

from wbc.arrays import Array
from wbc.dynamics.base import Dynamics
from wbc.tasking.layout import Layout

if TYPE_CHECKING:
    from wbc.contacts import Contact

_set = object.__setattr__


class Tick:
    """The layout of x, and the moment. It is immutable: `replace` makes another.

    Args:
        robot: whose v̇ and τ are in x.
        contacts: that exert forces now, in the order of f.
        time: s.
        period: between ticks, s.
        last_torque: of the tick before, shape (na,); None at the first.
        ceilings: the greatest normal force of each contact now, N; None: its maximum.
        anchors: where each contact was when it closed, a pose against what it touches; None: no place is held.
        external: the generalised force of known wrenches from outside, shape (nv,); None: there is none.

    Attributes:
        layout: of x.
        time, period, last_torque, ceilings, anchors, external: as given: see the arguments for shapes and units.
    """

    __slots__ = ("anchors", "ceilings", "external", "last_torque", "layout", "period", "time")

    layout: Layout
    time: float
    period: float
    last_torque: Array | None
    ceilings: list[float]
    anchors: list[Array | None]
    external: Array | None

    _kinematic = False

    def __init__(
        self,
        robot: Dynamics,
        contacts: Iterable[Contact] = (),
        *,
        time: float = 0.0,
        period: float = 1e-3,
        last_torque: Array | None = None,
        ceilings: list[float] | None = None,
        anchors: list[Array | None] | None = None,
        external: Array | None = None,
    ) -> None:
        layout = Layout(robot, contacts, self._kinematic)
        self._fill(layout, time, period, last_torque, ceilings, anchors, external)

    @classmethod
    def of(cls, layout: Layout, *rest: Any) -> Self:  # noqa: ANN401  as in `_fill`
        """A tick of a layout that is there already.

        Args:
            layout: of x.
            *rest: time, period, last torque, ceilings, anchors, external force.
        """
        made = cls.__new__(cls)
        made._fill(layout, *rest)
        return made

    def _fill(
        self,
        layout: Layout,
        time: float = 0.0,
        period: float = 1e-3,
        last_torque: Array | None = None,
        ceilings: list[float] | None = None,
        anchors: list[Array | None] | None = None,
        external: Array | None = None,
    ) -> None:
        if ceilings is None:
            ceilings = [contact.maximum for contact in layout.contacts]
        _set(self, "layout", layout)
        _set(self, "time", time)
        _set(self, "period", period)
        _set(self, "last_torque", last_torque)
        _set(self, "ceilings", ceilings)
        _set(self, "anchors", [None] * len(layout.contacts) if anchors is None else anchors)
        _set(self, "external", external)

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401  of the attributes' types
        """The same tick but for some attributes, by their names."""
        values = {name: getattr(self, name) for name in self._names()}
        unknown = sorted(set(changes) - set(values))
        if unknown:
            raise TypeError(f"a tick has no {', '.join(unknown)}; it has {', '.join(values)}")
        return type(self).of(*{**values, **changes}.values())

    @staticmethod
    def _names() -> tuple[str, ...]:
        return "layout", "time", "period", "last_torque", "ceilings", "anchors", "external"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a tick does not change; tick.replace({name}=...) makes another")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, tuple(getattr(self, name) for name in self._names())

    @property
    def nv(self) -> int:
        """Entries of v̇."""
        return self.layout.nv

    @property
    def nf(self) -> int:
        """Entries of f: forces of contacts, then those that hold closed loops."""
        return self.layout.nf

    @property
    def na(self) -> int:
        """Entries of τ."""
        return self.layout.na

    @property
    def n(self) -> int:
        """Entries of x."""
        return self.layout.n

    @property
    def acceleration(self) -> slice:
        """Where v̇ stands in x."""
        return self.layout.blocks.get("acceleration", slice(0, 0))

    @property
    def force(self) -> slice:
        """Where f stands in x."""
        return self.layout.blocks.get("force", slice(0, 0))

    @property
    def torque(self) -> slice:
        """Where τ stands in x."""
        return self.layout.blocks.get("torque", slice(0, 0))

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Those that exert forces now."""
        return self.layout.contacts

    def force_of(self, contact: str) -> slice | None:
        """Where the force of a contact stands in f; None while it is open."""
        return self.layout.force_of(contact)

    def loop_force_of(self, loop: str) -> slice:
        """Where the forces that hold a closed loop of the robot stand in f."""
        return self.layout.loop_force_of(loop)

    def contact(self, name: str) -> Contact:
        """The closed contact of that name."""
        return self.layout.contact(name)

    def contact_jacobian(self, robot: Dynamics) -> Array:
        """J with generalised force Jᵀ f of all closed contacts and of the robot's closed loops, shape (nf, nv)."""
        return self.layout.kinematics(robot).J_force

    def contact_motion(self, robot: Dynamics) -> tuple[Array, Array]:
        """The Jacobian of what the closed contacts hold still, shape (rows, nv), and its bias J̇v, shape (rows,)."""
        found = self.layout.kinematics(robot)
        return found.J, found.bias

    def contact_error(self, robot: Dynamics) -> Array:
        """How far, desired minus measured, the closed contacts are from where they closed, shape (rows,)."""
        return self.layout.contact_error(robot, self.anchors)

    def __repr__(self) -> str:
        time = f"{self.time:g} s" if math.isfinite(self.time) else "no time"
        names = ", ".join(contact.name for contact in self.contacts) or "none"
        return f"<Tick at {time}: {self.layout.nv} accelerations, contacts: {names}>"


Variables = Tick
"""The old name of `Tick`."""
