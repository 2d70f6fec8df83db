"""The parts of a `mujoco.MjModel` beyond rigid bodies in a tree with springs and dampers in their joints."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from wbc.model.findings import Findings
from wbc.model.mujoco_actuators import HINGE, ON_JOINTS, SLIDE, disabled
from wbc.model.mujoco_loops import PLAY, coupling_tendons

FLUID, SPRINGS, TENDONS, FLEXIBLE, PLUGINS = "fluid", "springs", "tendons", "flexible bodies", "plugins"


def forces_left_out(m: Any, ignore: Collection[str]) -> list[str]:  # noqa: ANN401  mujoco has no types
    """The kinds of forces that belong to M and h, and that a tree of rigid bodies leaves out.

    Args:
        m: the model.
        ignore: those that nobody wants to know of.
    """
    there = {
        FLUID: bool(m.opt.density or m.opt.viscosity),
        SPRINGS: _odd_springs(m),
        TENDONS: any(np.any(getattr(m, f"tendon_{what}", 0.0)) for what in _OF_TENDONS) or _rotors_behind_tendons(m),
        FLEXIBLE: bool(m.nflex),
        PLUGINS: bool(m.nplugin) and bool((m.body_plugin >= 0).any()),
    }
    return [what for what, is_there in there.items() if is_there and what not in ignore]


_OF_TENDONS = "stiffness", "stiffnesspoly", "damping", "dampingpoly", "armature", "frictionloss"


def _rotors_behind_tendons(m: Any) -> bool:  # noqa: ANN401
    """Whether an actuator that is not on a joint has an inertia or a damper: through its gears they couple joints."""
    apart = ~np.isin(m.actuator_trntype, ON_JOINTS)
    return any(
        np.any(np.asarray(getattr(m, f"actuator_{what}", apart * 0.0))[apart]) for what in ("armature", "damping")
    )


def _odd_springs(m: Any) -> bool:  # noqa: ANN401
    """Whether a spring or a damper is not linear, or a spring is in a joint with several coordinates."""
    several = ~np.isin(m.jnt_type, (HINGE, SLIDE))
    bent = m.jnt_stiffness[several].any() or any(np.any(getattr(m, f"jnt_{what}", 0.0)) for what in _OF_SPRINGS)
    damped = any(np.any(getattr(m, f"{whose}_dampingpoly", 0.0)) for whose in ("dof", "actuator"))
    return bool(bent and not disabled(m, "SPRING")) or (damped and not disabled(m, "DAMPER"))


_OF_SPRINGS = "stiffnesspoly", "springyield"


def note_the_rest(m: Any, found: Findings, ignore: Collection[str] = ()) -> None:  # noqa: ANN401
    """Warns of what constrains the bodies, and is left out.

    Args:
        m: the model.
        found: where to note it.
        ignore: see `wbc.load`.
    """
    coupling = list(coupling_tendons(m))
    limited = int(np.count_nonzero(m.tendon_limited)) - len(coupling)
    if limited:
        found.warn("left out of the rigid-body model", f"limits of {limited} tendons")
    what = "limits of tendons that leave joints but little play"
    what += " are couplings" if PLAY in ignore else f' are left out (ignore=["{PLAY}"] makes them couplings)'
    for tendon in coupling:
        found.warn(what, m.tendon(tendon).name or f"tendon_{tendon}")
    if m.nmocap:
        found.warn("bodies moved from outside (mocap), taken as fixed", f"{m.nmocap} bodies")
