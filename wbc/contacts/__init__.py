"""Contacts: where a robot touches something, and the forces that can be exerted there.

`contact` says what every contact does; `point`, `surface` and `rolling` are the three kinds; `cone` has the friction
cones that they use, `heading` says what they are aligned with on the ground.
"""

from wbc.contacts.contact import Contact, as_contacts
from wbc.contacts.point import PointContact
from wbc.contacts.rolling import RollingContact
from wbc.contacts.surface import SurfaceContact

__all__ = ["Contact", "PointContact", "RollingContact", "SurfaceContact", "as_contacts"]
