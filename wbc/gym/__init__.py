"""Scenes as environments of gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.gym.environment import SceneEnvironment, make, make_vec

__all__ = ["SceneEnvironment", "make", "make_vec"]

_LATER = dict.fromkeys(__all__, "wbc.gym.environment")
"""What is imported when it is asked for: it needs gymnasium."""

__getattr__ = lazy(__name__, _LATER)
