"""Contacts: where a robot touches something, and the forces that can be exerted there.

`contact` says what every contact does; `point` and `surface` are the two kinds; `cone` has the friction cones that both
use, `heading` says what they are aligned with on the ground.
"""

from wbc.contacts.contact import Contact, as_contacts
from wbc.contacts.point import PointContact
from wbc.contacts.surface import SurfaceContact

__all__ = ["Contact", "PointContact", "SurfaceContact", "as_contacts"]
