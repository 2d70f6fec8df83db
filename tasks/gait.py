"""The trot's former place: it is a gait of `tasks.locomotion`."""

from tasks.locomotion.trot import Trot

__all__ = ["Trot"]
