"""Reads a robot's model, and completes what the file does not say: base, feet, hands, posture."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wbc.dynamics.adapt import names, with_locked, with_nominal, with_passive
from wbc.dynamics.descriptions import PACKAGE, description_names, description_path, looks_like_description
from wbc.dynamics.ends import Ends, declared_soles, named_parts, propose, stands_on_legs
from wbc.dynamics.limbs import Limbs
from wbc.dynamics.stance import Stance, legs_of, put_down, within_limits
from wbc.errors import WbcError, show, unknown_name
from wbc.model import Model, markup, packaged_path, packaged_robots
from wbc.model.bounds import read_bounded
from wbc.model.findings import Findings
from wbc.model.loops import Loop, LoopClosure

RAISED = 0.01
"""Feet farther from the ground than this, in m, are put on it, where the file has no keyframe."""


@dataclass(frozen=True)
class Options:
    """The options of `wbc.load` for a robot."""

    floating: bool | None = None
    feet: Any = None
    hands: Any = None
    locked: tuple[str, ...] = ()
    passive: tuple[str, ...] = ()
    nominal: Any = None
    strict: bool = True
    ignore: tuple[str, ...] = ()
    loops: tuple[Loop, ...] = ()
    trusted: bool = True


def read_model(what: Any, options: Options | None = None) -> Model:  # noqa: ANN401
    """The model of a robot: see `wbc.load`.

    Args:
        what: a name, a path, or a model of one of three kinds.
        options: what is said beside it.
    """
    options = options or Options()
    file = _file(what) if isinstance(what, str | Path) else None
    if file is None:
        model = _foreign(what, options)
    elif _is_mjcf(file):
        from wbc.model.apart import compile_apart
        from wbc.model.mjcf import read_mjcf
        from wbc.model.mujoco import from_mujoco

        _refuse(file, options)
        compiled = read_mjcf if options.trusted else compile_apart
        m = compiled(file, options.locked, options.passive, options.nominal, options.ignore)
        model = from_mujoco(m, options.ignore)
    else:
        from wbc.model.urdf import read_urdf

        model = read_urdf(file, floating=options.floating, passive=options.passive, strict=options.strict)
        if not (model.feet or model.hands or model.wheels):
            model = _urdf_on_its_legs(model, file, options)
    has_geometry = file is not None or (model.simulated is not None and not isinstance(what, Model))
    open_ends = has_geometry and not (model.feet or model.hands or model.wheels)  # else what there is was said
    if open_ends or options.feet is not None or options.hands is not None:
        return _completed(model, file, options)
    return _adapted(model, options)


def _adapted(model: Model, options: Options) -> Model:
    """The model with a posture, and with joints locked and without motors, as far as its reader has not done it."""
    nominal = options.nominal
    gone = [name for name in options.locked if name not in model.joints] if model.simulated is not None else []
    if nominal is not None:
        if isinstance(nominal, Mapping):
            nominal = {name: position for name, position in nominal.items() if name not in gone}
        model = with_nominal(model, nominal)
    locked = [name for name in options.locked if name not in gone]
    if locked:
        model = with_locked(model, locked)
    if not options.passive:
        return model
    model = with_passive(model, options.passive)
    if model.simulated is not None:
        from wbc.model.mjcf import without_motors

        model = model.replace(simulated=without_motors(model.simulated, options.passive))
    return model


def _completed(model: Model, file: Path | None, options: Options) -> Model:
    """The adapted model with feet, soles, hands and wheels, and with a posture to stand in."""
    model = _adapted(model, options)
    limbs = Limbs(_with_legs_near_zero(model) if options.nominal is None else model)
    limbs.put(within_limits(limbs.model))
    ends = _ends(limbs, options)
    found = Findings(str(file or f"MuJoCo model {model.name!r}"))
    q = model.nominal
    if model.floating and ends.feet and options.nominal is None and all(legs_of(limbs, ends).values()):
        q = np.array(_standing(limbs, ends, options.loops, found))
        legs = {joint.name for leg in legs_of(limbs, ends).values() for joint in leg}
        for name in set(model.q_index) - legs if limbs.model is not model else ():
            if model.joints[name].nq == 1:
                q[model.q_index[name]] = model.nominal[model.q_index[name]]
    elif model.floating and ends.wheels and options.nominal is None:
        q = _on_the_ground(model, put_down(limbs), found)
    if ends.shapes and model.simulated is not None:
        for body in dict.fromkeys(shape.body for shape in ends.shapes):
            found.warn(
                "feet or wheels without a geom that touches the ground (contype, conaffinity) sink into it in MuJoCo",
                body,
            )
    complete = model.replace(
        nominal=q,
        frames=[*model.frames.values(), *ends.frames],
        shapes=[*model.shapes, *ends.shapes],
        feet=ends.feet,
        soles=ends.soles,
        hands=ends.hands,
        notes=_notes(ends, options),
        warnings=[*model.warnings, *found.warnings],
    )
    found.emit()
    return complete


def _with_legs_near_zero(model: Model) -> Model:
    """The model of a URDF with joints at zero that rest amid limits which exclude it: legs would be folded there."""
    q = np.array(model.nominal)
    for joint in model.joints.values():
        if joint.nq == 1 and not joint.lower <= 0.0 <= joint.upper:
            at = model.q_index[joint.name]
            q[at] = 0.0 if q[at] == 0.5 * (joint.lower + joint.upper) else q[at]
    found = model.simulated is None and not np.array_equal(q, model.nominal)
    return model.with_nominal(q) if found else model


def _ends(limbs: Limbs, options: Options) -> Ends:
    """What the user names, and proposals for the rest."""
    model = limbs.model
    if isinstance(options.feet, Mapping):
        parts = named_parts(limbs, options.feet, "feet")
        ends = propose(limbs, parts)
        ends.feet, ends.soles, ends.frames, ends.shapes = list(options.feet), declared_soles(options.feet), [], []
        ends.legs = dict(zip(ends.feet, parts, strict=True))
    elif options.feet is not None:
        ends = propose(limbs, named_parts(limbs, names(options.feet, "feet", "frames"), "feet"))
    elif model.feet:
        ends = Ends(list(model.feet), dict(model.soles), list(model.hands))
        ends.legs = {foot: limbs.node_of[foot] for foot in model.feet}
    else:
        ends = propose(limbs)
    if options.hands is not None:
        ends.hands = list(names(options.hands, "hands", "frames"))
        named_parts(limbs, ends.hands, "hands")
    elif model.hands:
        ends.hands = list(model.hands)
    return ends


def _standing(limbs: Limbs, ends: Ends, declared: Iterable[Loop], found: Findings) -> Any:  # noqa: ANN401
    """The file's posture where a robot can stand in it; else one that is found, and a warning."""
    model = limbs.model
    q, stance = model.nominal, Stance(limbs, ends)
    tied = any(isinstance(loop, LoopClosure) for loop in (*model.loops, *declared))  # they would come apart
    outside = not np.allclose(within_limits(model), q)
    why = ""
    if outside:
        why = "outside of the limits of joints"
    elif stance.straight(q):
        why = "with straight legs"
    elif not stance.balanced(q):
        why = "with its weight on toes or heels"
    if why and not tied:
        q = stance.bent()
        what = f"the file's posture is one {why}; legs are bent (nominal= gives another) to stand at a height of"
        found.warn(what, f"{q[2]:.3g} m")
    else:
        q = _on_the_ground(model, stance.grounded(q), found)
    return q


def _on_the_ground(model: Model, grounded: Any, found: Findings) -> Any:  # noqa: ANN401
    """The nominal configuration, or, where no keyframe gives that and it is off the ground, one that is on it."""
    m, height = model.simulated, float(grounded[2])
    if (m is not None and m.nkey) or abs(height - model.nominal[2]) <= RAISED:
        return model.nominal
    what = "the file's posture is not on the ground (nominal= gives another); the base is put at"
    found.warn(what, f"{height:.3g} m")
    return grounded


def _notes(ends: Ends, options: Options) -> list[str]:
    """What was found, in words."""
    found = []
    if options.feet is None and ends.frames:
        for foot in ends.feet:
            sole = ends.soles.get(foot)
            size = "a point" if sole is None else "a sole of {:.3g} × {:.3g} m".format(*np.ptp(sole, axis=0))
            found.append(f"foot {foot}: {size}")
    if ends.wheels:
        found.append(f"wheels: {', '.join(ends.wheels)}")
    if options.hands is None and ends.hands:
        found.append(f"hands: {', '.join(ends.hands)}")
    return found


def _urdf_on_its_legs(model: Model, file: Path, options: Options) -> Model:
    """The model of a URDF with the points of its meshes; floating, where it stands on legs and nothing else is said."""
    from wbc.model.mesh_files import collision_meshes
    from wbc.model.urdf import read_urdf

    limbs = Limbs(model)
    if options.floating is False or len(limbs.ends()) < 2:
        return model
    meshes, missing = collision_meshes(file)
    model = model.replace(meshes=meshes)
    missing = list(dict.fromkeys(missing))
    if missing:
        model = model.replace(warnings=[*model.warnings, f"collision meshes not read: {', '.join(missing[:8])}"])
    if model.floating or options.floating is not None or _says_base(file):
        return model
    limbs = Limbs(_with_legs_near_zero(model))
    limbs.put(within_limits(limbs.model))
    legs = stands_on_legs(limbs)
    if not legs:
        return model
    found = Findings(str(file))
    found.warn("it stands on legs, so its base floats (floating=False holds it): on", _and(limbs, legs))
    found.emit()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they came with the first reading
        again = read_urdf(file, floating=True, passive=options.passive, strict=options.strict)
    return again.replace(meshes=meshes, warnings=[*model.warnings, *found.warnings])


def _and(limbs: Limbs, parts: Iterable[int]) -> str:
    return ", ".join(limbs.bodies[number][0] for number in parts)


def _says_base(file: Path) -> bool:
    """Whether a URDF says itself how its base moves."""
    extension = markup.parse(read_bounded(file)).first("wbc")
    return extension is not None and extension.get("base") is not None


# --- what is given ----------------------------------------------------------------------------------------------------


def _file(what: str | Path) -> Path:
    """The file of a name or a path."""
    if str(what) in packaged_robots():
        return packaged_path(str(what))
    if str(what).lstrip().startswith("<"):
        raise WbcError("load takes the path of a file, not its text; wbc.model.read_urdf takes the bytes of a URDF")
    path = Path(what)
    if _is_file(path):
        return path
    if path.suffix.lower() in (".urdf", ".xml", ".mjcf"):
        raise WbcError(f"there is no file {show(str(path))}")
    if str(what) and len(str(what)) < 1000 and path.is_dir():
        files = sorted(file.name for file in path.glob("*.*") if file.suffix.lower() in (".urdf", ".xml", ".mjcf"))
        there = f" (there are: {', '.join(show(file) for file in files[:8])})" if files else ""
        raise WbcError(f"{show(str(path))} is a folder; give the URDF or MJCF file in it{there}")
    described = description_names()
    if str(what) in described:
        return description_path(str(what))
    if not described and looks_like_description(str(what)):
        raise WbcError(
            f"{show(str(what))} is neither a packaged robot nor a file; names like this one need the package "
            f"{PACKAGE}: pip install 'wbc[robots]'"
        )
    raise unknown_name("packaged robot or file", str(what), [*packaged_robots(), *described])


def _foreign(what: Any, options: Options) -> Model:  # noqa: ANN401
    """The model of an object that is not a file."""
    if isinstance(what, Model):
        _refuse(what, options)
        return what
    # A foreign model can only be here if its package is imported already.
    mujoco, pinocchio = sys.modules.get("mujoco"), sys.modules.get("pinocchio")
    if mujoco is not None and isinstance(what, mujoco.MjModel):
        from wbc.model.mujoco import from_mujoco
        from wbc.model.objects import OBJECTS, free_objects, refuse_in_front
        from wbc.model.overlaps import OVERLAPS

        _refuse(what, options)
        for word in (OVERLAPS, OBJECTS):
            if word in options.ignore:
                raise WbcError(f'ignore=["{word}"] is for MJCF files; a compiled MjModel is taken as it is')
        refuse_in_front(what, free_objects(what))
        return from_mujoco(what, options.ignore)
    if pinocchio is not None and isinstance(what, pinocchio.Model):
        from wbc.model.pinocchio import from_pinocchio

        _refuse(what, options)
        return from_pinocchio(what)
    raise WbcError(
        f"can't load {show(what)}: name a packaged robot ({', '.join(packaged_robots())}), the path of a URDF "
        "or MJCF file, a wbc.Model, a mujoco.MjModel or a pinocchio.Model"
    )


def _refuse(what: object, options: Options) -> None:
    """An option that only means something for a URDF is not silently dropped."""
    if options.floating is not None:
        kind = "an MJCF file" if isinstance(what, Path) else f"a {type(what).__name__}"
        kind = kind.replace("a MjModel", "an MjModel")
        raise WbcError(f"floating= is for URDF files; {kind} says itself how its base and joints move")


def _is_file(path: Path) -> bool:
    """Whether a path is that of a file; what can't be a path at all is not."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a zero in it
        return False


def _is_mjcf(path: Path) -> bool:
    """Whether a file's first element is <mujoco>."""
    try:
        with path.open("rb") as file:
            return markup.root_tag(file.read(100_000)) == "mujoco"
    except OSError as error:
        raise WbcError(f"can't read {show(str(path))}: {error.strerror}") from None
