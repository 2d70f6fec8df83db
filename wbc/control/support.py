"""Which contacts are closed, and how much force each may bear while it is being closed or opened."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wbc.arrays import Array
from wbc.contacts import Contact, as_contacts
from wbc.control.ramps import Ramp, Ramps
from wbc.dynamics.base import Dynamics
from wbc.errors import WbcError, number, unknown_name


@dataclass(slots=True)
class _State:
    """One contact: how far it is closed, what it may bear, where it was when it closed; and where its ramp began."""

    activation: float = 1.0
    ceiling: float = math.inf
    anchor: Array | None = None
    start: tuple[float, float] = (1.0, math.inf)


class Support:
    """The contacts of a stack and their activations in [0, 1].

    At 1 a contact bears any force; at 0 it is open: no force, and its motion is free. In between it is closed, with a
    ceiling on its normal force. The ceiling goes from the last force to zero while the contact opens, and from zero to
    the robot's weight while it closes. So the force is zero before a contact opens, and rises from zero after it has
    closed; a ramp that turns back continues from its present value.

    Args:
        contacts: closed at the start; one, or several.

    Attributes:
        contacts: all, closed or open.
    """

    def __init__(self, contacts: Contact | Iterable[Contact] = ()) -> None:
        self.contacts = as_contacts(contacts)
        self._states: dict[str, _State] = {}
        for contact in self.contacts:
            if contact.name in self._states:
                raise WbcError(f"two contacts are called {contact.name!r}; give one of them another name=")
            self._states[contact.name] = _State()
        self._ramps: Ramps[str] = Ramps()
        self._closed = self.contacts
        self._sets = {tuple(self._states): self.contacts}  # by the names of those that are closed
        self._anchors: list[Array | None] = []
        self._ceilings: list[float] = []
        self._changed = True
        self._settled = False  # nothing is under way: there is nothing for a tick to do

    def __repr__(self) -> str:
        states = ", ".join(f"{contact.name} {self.activation(contact.name):.0%}" for contact in self.contacts)
        return f"<Support: {states or 'no contacts'}>"

    def _named(self, contacts: str | Iterable[str]) -> list[str]:
        names = list(contacts) if isinstance(contacts, Iterable) and not isinstance(contacts, str) else [contacts]
        for name in names:
            if not isinstance(name, str) or name not in self._states:
                raise unknown_name("contact", name, self._states)
        return names

    def activation(self, contact: str) -> float:
        """The activation of a contact: 1 closed, 0 open."""
        return self._states[self._named(contact)[0]].activation

    def activate(self, contact: str, activation: float) -> None:
        """Sets an activation in [0, 1] at once, for callers with their own ramp.

        Args:
            contact: its name.
            activation: 1 bears what it must, 0 is open, between is a ceiling of that share of the robot's weight.
        """
        activation = number(activation, f"the activation of {contact!r}", high=1.0)
        for name in self._named(contact):
            state = self._states[name]
            self._ramps.end(name)
            self._set(state, activation, math.nan)  # the ceiling needs the robot's weight: `advance` has it
            self._settled = False

    def close(self, contacts: str | Iterable[str], duration: float = 0.0) -> None:
        """Closes contacts from the next tick on.

        Args:
            contacts: names, or one.
            duration: over which their forces may rise, s; 0 is at once.
        """
        self._lead(contacts, 1.0, duration)

    def open(self, contacts: str | Iterable[str], duration: float = 0.0) -> None:
        """Opens contacts: their forces go to zero from the next tick on, then they open.

        Args:
            contacts: names, or one.
            duration: of the ramp, s; 0 is at once.
        """
        self._lead(contacts, 0.0, duration)

    def _lead(self, contacts: str | Iterable[str], target: float, duration: float) -> None:
        duration = number(duration, "the duration, s,", high=1e9)
        for name in self._named(contacts):
            state = self._states[name]
            running = self._ramps.under_way(name)
            if (state.activation if running is None else running.target) == target:
                continue  # there, or under way already
            self._ramps.begin(name, target, duration)
            self._settled = False

    def _set(self, state: _State, activation: float, ceiling: float) -> None:
        if (activation > 0.0) != (state.activation > 0.0):
            self._changed = True
            state.anchor = None
        state.activation = activation
        state.ceiling = math.inf if activation == 1.0 else ceiling

    def advance(
        self, time: float, robot: Dynamics, borne: Callable[[], dict[str, float]], whose: object = None
    ) -> bool:
        """Carries ramps on to a time; the same time twice gives the same.

        Args:
            time: s.
            robot: updated; where a contact closes is where it will be held.
            borne: gives the normal force of each contact at the tick before, N.
            whose: see `Ramps.advance`.

        Returns:
            Whether other contacts are closed than at the last call.
        """
        if self._settled:
            return False
        weight = robot.mass * (math.hypot(*robot.model.gravity.tolist()) or 9.81)
        for name, ramp in self._ramps.advance(time, whose):
            self._follow(name, ramp, weight, borne)
        for state in self._states.values():
            if math.isnan(state.ceiling):
                state.ceiling = state.activation * weight
        changed, self._changed = self._changed, False
        if changed:
            closed = tuple(contact for contact in self.contacts if self._states[contact.name].activation > 0.0)
            # the same contacts are the same tuple: who laid something out for it finds that again
            self._closed = self._sets.setdefault(tuple(contact.name for contact in closed), closed)
            self._anchors = []
        if not self._anchors:
            for contact in self._closed:
                state = self._states[contact.name]
                if state.anchor is None:
                    state.anchor = contact.place(robot)
            self._anchors = [self._states[contact.name].anchor for contact in self._closed]
        self._ceilings = [min(contact.maximum, self._states[contact.name].ceiling) for contact in self._closed]
        self._settled = not self._ramps
        return changed

    def shift(self, by: float) -> None:
        """See `Ramps.shift`."""
        self._ramps.shift(by)

    def _follow(self, name: str, ramp: Ramp, weight: float, borne: Callable[[], dict[str, float]]) -> None:
        """Sets a contact to where its ramp is."""
        state = self._states[name]
        if ramp.share == 1.0:
            self._set(state, ramp.target, 0.0)
            return
        if ramp.share == 0.0:  # it has just begun
            ceiling = state.activation * weight if math.isnan(state.ceiling) else state.ceiling
            if ramp.target == 0.0:
                ceiling = min(ceiling, max(borne().get(name, weight), 0.0))
            state.start = state.activation, ceiling
        # while it is under way, a contact is neither quite open nor quite closed
        activation = min(max(ramp.between(state.start[0], ramp.target), 1e-9), 1.0 - 1e-9)
        self._set(state, activation, ramp.between(state.start[1], ramp.target * weight))

    @property
    def moving(self) -> bool:
        """Whether a contact is being closed or opened."""
        return bool(self._ramps)

    @property
    def closed(self) -> tuple[Contact, ...]:
        """The contacts that are closed, as of the last `advance`."""
        return self._closed

    @property
    def ceilings(self) -> list[float]:
        """The greatest normal force of each closed contact, as of the last `advance`, N."""
        return self._ceilings

    @property
    def anchors(self) -> list[Array | None]:
        """Where each closed contact was when it closed: a pose in the frame of what it touches, m, shape (4, 4)."""
        return self._anchors

    def reset(self) -> None:
        """Lets every contact be held where it is at the next tick, and ends ramps where they lead to."""
        for name, ramp in self._ramps.advance(math.inf):
            self._set(self._states[name], ramp.target, 0.0)
        for state in self._states.values():
            state.anchor = None
        self._anchors = []
        self._changed, self._settled = True, False
