"""Contacts: where a robot touches something, and the forces that can be exerted there.

`contact` is the base class; `point`, `surface` and `rolling` are the three kinds; `cone` has their friction cones,
`heading` the direction that these are aligned with on the ground.
"""

from wbc.contacts.contact import Contact, as_contacts
from wbc.contacts.point import PointContact
from wbc.contacts.rolling import RollingContact
from wbc.contacts.surface import SurfaceContact

__all__ = ["Contact", "PointContact", "RollingContact", "SurfaceContact", "as_contacts"]
