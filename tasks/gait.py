"""The old place of `Trot`, which is now in `tasks.locomotion`."""

from tasks.locomotion.trot import Trot

__all__ = ["Trot"]
