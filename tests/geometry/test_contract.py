"""What holds of every public function: batches, shapes, no aliasing, no mutation, no import of scipy.spatial."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

from wbc import geometry
from wbc.errors import WbcError
from wbc.geometry import (
    acceleration,
    angle_axis,
    convert,
    euler,
    inertia,
    pose,
    position,
    quaternion,
    rotation_vector,
    so3,
    twist,
    wrench,
)
from wbc.geometry.convert import PARAMETERISATIONS

from .support import HALF_TURN, PI, TINY, unit

pytestmark = pytest.mark.filterwarnings("error")
MODULES = (so3, quaternion, angle_axis, rotation_vector, euler, position, pose, twist, wrench, acceleration, inertia)
RNG = np.random.default_rng(3)


def _phis():
    axes = [unit(v) for v in ([1, 0, 0], [0, -1, 0], [1, -1, 0], [-1, 2, 2], [0.3, -0.2, 0.9])]
    sizes = TINY + HALF_TURN + [0.4999, 0.5, 1.0, 2.0, 2 * PI, 4.0]
    return np.array([t * n for t in sizes for n in axes])


PHI = _phis()
BATCH = len(PHI)
SAMPLES = {
    "phi": PHI,
    "R": so3.exp(PHI),
    "q": np.concatenate([quaternion.from_rotation_vector(PHI[::2]), quaternion.from_rotation_vector(-PHI[1::2])]),
    "aa": np.column_stack([np.linalg.norm(PHI, axis=-1), [unit([0.3, -0.2, k]) for k in range(BATCH)]]),
    "euler": np.array([[0.1 * k, [0, PI / 2, -PI / 2, PI, 1][k % 5] + 1e-16 * k, -0.2] for k in range(BATCH)]),
    "v": RNG.normal(size=(BATCH, 3)) * (RNG.uniform(size=(BATCH, 3)) > 0.3),
    "V": RNG.normal(size=(BATCH, 6)),
    "t": RNG.uniform(size=BATCH),
    "M": RNG.normal(size=(BATCH, 6, 6)),
    "A": RNG.normal(size=(BATCH, 4, 4)),
}
SAMPLES["T"] = pose.homogeneous(SAMPLES["R"], SAMPLES["v"])
RANK = {"t": 0, "R": 2, "T": 2, "M": 2, "A": 2}
KINDS = {
    so3: {
        "skew": "v", "unskew": "R", "exp": "phi", "log": "R", "compose": "RR", "inverse": "R", "boxplus": "R phi",
        "boxminus": "RR", "interpolate": "RRt", "integrate": "R v t", "exp_jacobian": "phi",
        "exp_jacobian_derivative": "phi v", "exp_jacobian_inverse": "phi", "elementary_x": "t", "elementary_y": "t",
        "elementary_z": "t",
    },
    quaternion: {
        "to_matrix": "q", "from_matrix": "R", "from_rotation_vector": "phi", "to_rotation_vector": "q",
        "multiply": "qq", "inverse": "q", "normalize": "q", "rotate": "q v", "left_matrix": "q", "right_matrix": "q",
        "rate_matrix": "q", "rates_to_angular_velocity": "q", "angular_velocity_to_rates": "q", "integrate": "q v t",
        "difference": "qq", "interpolate": "qqt",
    },
    angle_axis: {
        "to_quaternion": "aa", "from_quaternion": "q", "to_matrix": "aa", "from_matrix": "R",
        "rates_to_angular_velocity": "aa", "angular_velocity_to_rates": "aa",
    },
    rotation_vector: {
        "to_matrix": "phi", "from_matrix": "R", "to_quaternion": "phi", "from_quaternion": "q",
        "rates_to_angular_velocity": "phi", "rates_to_angular_velocity_derivative": "phi v",
        "angular_velocity_to_rates": "phi",
    },
    euler: {
        "to_matrix": "euler", "from_matrix": "R", "rates_to_angular_velocity": "euler",
        "rates_to_angular_velocity_derivative": "euler v", "angular_velocity_to_rates": "euler",
    },
    position: {
        "cylindrical_to_cartesian": "v", "cartesian_to_cylindrical": "v", "spherical_to_cartesian": "v",
        "cartesian_to_spherical": "v", "cylindrical_rates_to_velocity": "v", "velocity_to_cylindrical_rates": "v",
        "spherical_rates_to_velocity": "v", "velocity_to_spherical_rates": "v",
    },
    pose: {
        "homogeneous": "R v", "rotation": "T", "translation": "T", "inverse": "T", "compose": "TT",
        "transform_point": "T v", "exp6": "V", "log6": "T", "integrate": "T V t", "interpolate": "TTt",
    },
    twist: {
        "transform": "T", "cross": "V", "hat": "V", "vee": "A", "left_to_right": "T", "right_to_left": "T",
        "left_to_mixed": "T", "mixed_to_left": "T", "mixed_to_right": "T", "right_to_mixed": "T",
    },
    wrench: {
        "transform": "T", "cross": "V", "power": "V V", "left_to_right": "T", "right_to_left": "T",
        "left_to_mixed": "T", "mixed_to_left": "T", "mixed_to_right": "T", "right_to_mixed": "T",
    },
    acceleration: {
        "left_to_apparent": "T V V V", "left_to_intrinsic": "T V", "apparent_to_intrinsic": "V V V",
        "intrinsic_to_apparent": "V V V", "intrinsic_to_classical": "V V", "classical_to_intrinsic": "V V",
        "left_to_classical": "T V V", "classical_to_left": "T V V",
    },
    inertia: {"spatial": "t v R", "decompose": "M", "change_frame": "M T"},
}  # fmt: skip
OPTIONS = {
    "sequence": [{"sequence": name} for name in euler.SEQUENCES],
    "frame": [{"frame": f} for f in ("world", "body")],
}


def _cases():
    for module, functions in KINDS.items():
        for name, kinds in functions.items():
            f = getattr(module, name)
            options = [{}]
            for parameter in inspect.signature(f).parameters:
                options = [{**a, **b} for a in options for b in OPTIONS.get(parameter, [{}])]
            kinds = kinds.split() if " " in kinds or kinds in SAMPLES else list(kinds)
            for option in options:
                label = "-".join([module.__name__.rpartition(".")[2], name, *option.values()])
                yield pytest.param(f, kinds, option, id=label)


CASES = list(_cases())


def _arguments(kinds):
    return [np.roll(SAMPLES[kind], 7 * n, axis=0) for n, kind in enumerate(kinds)]


def _outputs(result):
    return result if isinstance(result, tuple) else (result,)


def test_no_public_function_is_forgotten():
    for module in MODULES:
        public = {
            name
            for name, f in inspect.getmembers(module, inspect.isfunction)
            if f.__module__ == module.__name__ and not name.startswith("_")
        }
        assert public - {"elementary", "is_rotation"} == set(KINDS[module])


@pytest.mark.parametrize(("f", "kinds", "options"), CASES)
def test_a_batch_is_its_members_one_by_one(f, kinds, options):
    arguments = _arguments(kinds)
    before = [a.copy() for a in arguments]
    batch = _outputs(f(*arguments, **options))
    for k in range(BATCH):
        for whole, single in zip(batch, _outputs(f(*[a[k] for a in arguments], **options)), strict=True):
            assert single.dtype == np.float64
            # Libm and numpy differ in the last digit, and where an inverse map has entries of 1e15 so do these.
            np.testing.assert_allclose(whole[k], single, rtol=2e-15, atol=4e-15 * max(1.0, np.abs(single).max()))
    grid = _outputs(f(*[a[: BATCH // 2 * 2].reshape(2, -1, *a.shape[1:]) for a in arguments], **options))
    for whole, shaped in zip(batch, grid, strict=True):
        np.testing.assert_array_equal(shaped.reshape(-1, *whole.shape[1:]), whole[: BATCH // 2 * 2])
        assert np.all(np.isfinite(whole))
    for argument, copy in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(argument, copy)
    for a in (arguments, [a[3] for a in arguments]):
        assert not any(np.shares_memory(x, y) for x in _outputs(f(*a, **options)) for y in a)


@pytest.mark.parametrize(("f", "kinds", "options"), [case for case in CASES if len(case.values[1]) > 1])
def test_arguments_are_broadcast(f, kinds, options):
    """One of the arguments single, the others a batch."""
    arguments = _arguments(kinds)
    for n in range(len(arguments)):
        mixed = [a[2] if m == n else a for m, a in enumerate(arguments)]
        full = [np.broadcast_to(a[2], a.shape) if m == n else a for m, a in enumerate(arguments)]
        for one, other in zip(_outputs(f(*mixed, **options)), _outputs(f(*full, **options)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(("f", "kinds", "options"), CASES)
def test_lists_and_integers_are_taken_and_a_wrong_shape_is_named(f, kinds, options):
    arguments = [a[2] for a in _arguments(kinds)]
    parameters = list(inspect.signature(f).parameters.values())
    for one, other in zip(
        _outputs(f(*arguments, **options)), _outputs(f(*[a.tolist() for a in arguments], **options)), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for n, (kind, argument) in enumerate(zip(kinds, arguments, strict=True)):
        name = parameters[min(n, len(parameters) - 1)]
        if name.kind is inspect.Parameter.VAR_POSITIONAL or kind == "t":
            continue
        wrong = [*arguments[:n], argument[..., :2], *arguments[n + 1 :]]
        with pytest.raises(WbcError) as error:
            f(*wrong, **options)
        message = str(error.value)
        assert message.startswith(f"{name.name} has shape {argument[..., :2].shape}; expected")
        assert str(argument.shape) in message
        with pytest.raises(WbcError, match=f"{name.name} = .* is not an array of numbers"):
            f(*[*arguments[:n], "three", *arguments[n + 1 :]], **options)


@pytest.mark.parametrize("name", PARAMETERISATIONS)
def test_convert_takes_batches_and_returns_new_arrays(name):
    values = convert(SAMPLES["R"], "matrix", name)
    for target in PARAMETERISATIONS:
        result = convert(values, name, target)
        assert not np.shares_memory(result, values)
        np.testing.assert_allclose(convert(result, target, "matrix"), SAMPLES["R"], rtol=0, atol=1e-14)


@pytest.mark.parametrize("axis", ["x", 3, -1, None, [0]])
def test_elementary_refuses_an_axis_that_is_none(axis):
    with pytest.raises(WbcError, match=r"axis is .*; expected 0, 1 or 2 for x, y or z"):
        so3.elementary(axis, 0.1)


def test_elementary_takes_an_integer():
    np.testing.assert_array_equal(so3.elementary_x(1), so3.elementary_x(1.0))
    assert so3.elementary(2, np.zeros((2, 0))).shape == (2, 0, 3, 3)


def test_empty_batches():
    assert so3.log(np.zeros((0, 3, 3))).shape == (0, 3)
    assert euler.from_matrix(np.zeros((0, 3, 3)), "zyx").shape == (0, 3)
    assert pose.exp6(np.zeros((0, 6))).shape == (0, 4, 4)


def test_not_a_number_stays_one():
    for bad in (np.nan, np.inf):
        assert np.isnan(so3.exp([bad, 0, 0])).any()
    assert np.isnan(so3.log(np.full((3, 3), np.nan))).all()


def test_every_public_function_is_documented():
    for module in MODULES:
        for name in KINDS[module]:
            assert getattr(module, name).__doc__


def test_exports():
    assert geometry.exp is so3.exp
    assert geometry.log is so3.log
    assert geometry.skew is so3.skew
    assert all(hasattr(geometry, name) for name in geometry.__all__)


def test_import_is_light():
    """Only numpy and the standard library: scipy.spatial alone would cost more than all of this."""
    for file in Path(geometry.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                for name in names:
                    top = name.partition(".")[0]
                    ours = name in ("wbc", "wbc.arrays", "wbc.compiled", "wbc.errors", "wbc.lazy") or name.startswith(
                        "wbc.geometry"
                    )
                    assert top in {"__future__", "collections", "functools", "math", "numpy", "typing"} or ours, file
