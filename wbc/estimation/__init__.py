"""Estimation of the base's state, of contacts, and of external forces.

`BaseEstimator` makes q and v out of the states of `wbc.realtime`. It is made of an `InvariantFilter` and a
`ContactDetector`, and where a robot has no contact sensors of a `MomentumObserver`, which also tells external forces.
"""

from wbc.estimation.base_estimator import BaseEstimator, Feeling
from wbc.estimation.contacts import ContactDetector
from wbc.estimation.invariant_filter import FilterNoise, InvariantFilter
from wbc.estimation.momentum_observer import MomentumObserver

__all__ = ["BaseEstimator", "ContactDetector", "Feeling", "FilterNoise", "InvariantFilter", "MomentumObserver"]
