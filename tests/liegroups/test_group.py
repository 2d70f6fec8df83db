"""Groups: what the paper prints, matrices as derivatives and brackets, and what is not a group."""

from __future__ import annotations

import numpy as np
import pytest

from tests.equations import equation
from wbc import WbcError
from wbc.geometry import pose, so3, twist
from wbc.liegroups import GROUPS, Group

from .printed import NAMES, VELOCITIES, ad, hat, tilde_ad

SCREW = Group("screw", [[0.0], [0.0], [0.2], [0.0], [0.0], [1.0]])
TILTED = Group("a tilted plane", twist.transform(pose.homogeneous(so3.exp([0.4, -0.3, 0.9]), [1, 2, 3]))[:, [0, 1, 5]])
ALL = [*map(Group.named, NAMES), SCREW, TILTED]
each = pytest.mark.parametrize("group", ALL, ids=lambda group: group.name)


def some(group, seed=0, size=1.0):
    return np.random.default_rng(seed).normal(scale=size, size=group.dimension)


def derivative(f, x, h=1e-5):
    """∂f/∂x_k as the last index."""
    columns = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)


def test_the_names_are_those_of_table_1():
    assert tuple(GROUPS) == NAMES


@equation("From 62", "selection matrix of SO(3)", Group.named)
def test_selection_matrix_of_so3():
    printed = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(Group.named("SO(3)").selection, printed)


@equation("From 77", "selection matrix of SE(2)", Group.named)
def test_selection_matrix_of_se2():
    printed = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]).T
    np.testing.assert_array_equal(Group.named("SE(2)").selection, printed)


@equation("From 88", "selection matrix of Schönflies's group", Group.named)
def test_selection_matrix_of_the_schoenflies_group():
    printed = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]]).T
    np.testing.assert_array_equal(Group.named("X(z)").selection, printed)


@equation("From table 1", "algebra, adjoint, Coriolis matrix of each", Group.hat, Group.cross, Group.momentum_cross)
@equation("From 58", "twist from the group's velocities", Group.twist)
@pytest.mark.parametrize("name", NAMES)
def test_the_matrices_are_those_printed(name):
    group, v = Group.named(name), some(Group.named(name))
    given = dict(zip(VELOCITIES[name], v, strict=True))
    np.testing.assert_array_equal(group.twist(v), [given.get(letter, 0.0) for letter in "uvwpqr"])
    np.testing.assert_array_equal(group.hat(v), hat(**given))
    np.testing.assert_allclose(group.cross(v), ad(name, v), atol=1e-15)
    np.testing.assert_allclose(group.momentum_cross(v), tilde_ad(name, v), atol=1e-15)


@equation("From 78", "adjoint and algebra of SE(2)", Group.cross, Group.hat)
def test_adjoint_of_se2():
    u, v, r = given = some(Group.named("SE(2)"))
    np.testing.assert_allclose(Group.named("SE(2)").cross(given), [[0, -r, v], [r, 0, -u], [0, 0, 0]], atol=1e-15)
    plane = Group.named("SE(2)").hat(given)[np.ix_([0, 1, 3], [0, 1, 3])]
    np.testing.assert_array_equal(plane, [[0, -r, u], [r, 0, v], [0, 0, 0]])


@equation("From 89", "adjoint of Schönflies's group", Group.cross)
def test_adjoint_of_the_schoenflies_group():
    u, v, _, r = given = some(Group.named("X(z)"))
    printed = [[0, -r, 0, v], [r, 0, 0, -u], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(Group.named("X(z)").cross(given), printed, atol=1e-15)


@equation("From 6", "the matrix of a cross product", so3.skew)
@equation("From 8", "adjoint of a twist in blocks", Group.cross)
def test_the_adjoint_of_se3_is_made_of_cross_products():
    V = some(Group.named("SE(3)"))
    p, q, r = V[3:]
    turning = np.array([[0, -r, q], [r, 0, -p], [-q, p, 0]])
    np.testing.assert_array_equal(so3.skew(V[3:]), turning)
    printed = np.block([[turning, so3.skew(V[:3])], [np.zeros((3, 3)), turning]])
    np.testing.assert_allclose(Group.named("SE(3)").cross(V), printed, atol=1e-15)


@equation("From 102", "the Lie bracket as a matrix product", Group.cross)
@each
def test_the_adjoint_is_the_bracket(group):
    x, y = some(group, 1), some(group, 2)
    bracket = group.hat(x) @ group.hat(y) - group.hat(y) @ group.hat(x)
    np.testing.assert_allclose(group.hat(group.cross(x) @ y), bracket, atol=1e-12)


@equation("From 103", "first row of the bracket", Group.cross)
def test_the_first_row_of_the_bracket():
    """Printed as -X₃Y₂ + Y₃X₂ - X₆Y₃ + Y₆X₅, with indices that are not those of (8)."""
    X, Y = [0.0, *some(Group.named("SE(3)"), 1)], [0.0, *some(Group.named("SE(3)"), 2)]
    row = -X[6] * Y[2] + Y[6] * X[2] - X[3] * Y[5] + Y[3] * X[5]
    assert (Group.named("SE(3)").cross(X[1:]) @ Y[1:])[0] == pytest.approx(row)


@equation("From 98", "swapping vector and matrix", Group.momentum_cross)
@equation("From 111", "adᵀ p as a matrix times v", Group.momentum_cross)
@each
def test_swapping_the_order(group):
    """(98) searches the rows of adᵀ for v_j; the sign makes it a force on the left of the equation of motion."""
    v, p = some(group, 1), some(group, 2)
    parts = derivative(lambda x: group.cross(x).T, np.zeros(group.dimension), 1.0)  # ∂(adᵀ)_ik/∂v_j
    swapped = np.einsum("ikj,k->ij", parts, p)
    np.testing.assert_allclose(group.momentum_cross(p), -swapped, atol=1e-13)
    np.testing.assert_allclose(swapped @ v, group.cross(v).T @ p, atol=1e-12)


@equation("From 110", "ad p as a matrix times v", Group.cross)
@each
def test_swapping_the_order_of_a_bracket(group):
    """For the bracket itself the swap only changes the sign: [v, p] = -[p, v]."""
    v, p = some(group, 1), some(group, 2)
    parts = derivative(group.cross, np.zeros(group.dimension), 1.0)
    np.testing.assert_allclose(np.einsum("ikj,k->ij", parts, p), -group.cross(p), atol=1e-13)
    np.testing.assert_allclose(-group.cross(p) @ v, group.cross(v) @ p, atol=1e-12)


@equation("From 59", "poses near a pose", Group.exp)
@each
def test_exp_and_log(group):
    phi = some(group, 3, 0.7)
    T = group.exp(phi)
    np.testing.assert_allclose(T, np.linalg.multi_dot([group.exp(phi / 3)] * 3), atol=1e-14)
    np.testing.assert_allclose(group.log(T), phi, atol=1e-12)
    np.testing.assert_allclose(
        derivative(lambda x: group.exp(x[0] * phi), np.zeros(1))[..., 0], group.hat(phi), atol=1e-9
    )
    # poses near any pose: T₀ e^φ^, by the exponential's series
    T0 = pose.homogeneous(so3.exp([0.3, -1.0, 2.0]), [1, 2, 3])
    power, series = np.eye(4), np.eye(4)
    for k in range(1, 30):
        power = power @ group.hat(phi) / k
        series += power
    np.testing.assert_allclose(T0 @ group.exp(phi), T0 @ series, atol=1e-13)
    np.testing.assert_allclose(group.log(pose.inverse(T0) @ (T0 @ group.exp(phi))), phi, atol=1e-11)


@equation("From 28", "velocity from the rates of φ", Group.velocity_transform)
@each
def test_velocity_transform_is_the_derivative_of_exp(group):
    phi, rate = some(group, 3), some(group, 4)
    T0 = pose.homogeneous(so3.exp([0.3, -1.0, 2.0]), [1, 2, 3])
    turned = derivative(lambda t: T0 @ group.exp(phi + t[0] * rate), np.zeros(1))[..., 0]
    velocity = np.linalg.inv(T0 @ group.exp(phi)) @ turned  # T⁻¹ Ṫ = v^
    np.testing.assert_allclose(velocity, group.hat(group.velocity_transform(phi) @ rate), atol=1e-8)


@equation("From 29", "velocity transform as a series", Group.velocity_transform)
@equation("From 72", "velocity transform of SE(3)", Group.velocity_transform)
@equation("From table 2", "velocity transform of each group", Group.velocity_transform)
@each
def test_velocity_transform_is_the_series(group):
    phi = some(group, 5, 1e-2)
    A = group.cross(phi)
    terms = np.eye(group.dimension) - A / 2 + A @ A / 6
    np.testing.assert_allclose(group.velocity_transform(phi), terms, atol=1e-6)  # the next term is -ad³/24
    if not np.abs(group.structure).max():
        np.testing.assert_array_equal(group.velocity_transform(100 * phi), np.eye(group.dimension))  # as table 2 has it


@equation("From 64", "velocity transform of SO(3)", Group.velocity_transform)
def test_velocity_transform_of_so3():
    phi = some(Group.named("SO(3)"), 5)
    np.testing.assert_allclose(Group.named("SO(3)").velocity_transform(phi), so3.exp_jacobian(-phi), atol=1e-14)


@equation("From 112", "derivative of the transform at zero", Group.velocity_transform_derivative)
@each
def test_derivative_of_the_velocity_transform(group):
    phi = some(group, 6)
    expected = derivative(group.velocity_transform, phi)
    np.testing.assert_allclose(group.velocity_transform_derivative(phi), expected, atol=1e-8)
    reduced = derivative(lambda x: -group.cross(x) / 2, phi, 1.0)
    np.testing.assert_allclose(group.velocity_transform_derivative(0 * phi), reduced, atol=1e-13)


REDUCED = {
    "SO(3)": lambda a, b, c: -0.5 * np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]]),
    "SE(2)": lambda a, b, c: -0.5 * np.array([[0, -c, b], [c, 0, -a], [0, 0, 0]]),
    "X(z)": lambda a, b, c, d: -0.5 * np.array([[0, -d, 0, b], [d, 0, 0, -a], [0, 0, 0, 0], [0, 0, 0, 0]]),
}
what = "reduced velocity transform of"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("SO(3)", marks=equation("From 65", f"{what} SO(3)", Group.velocity_transform_derivative)),
        pytest.param("SE(2)", marks=equation("From 79", f"{what} SE(2)", Group.velocity_transform_derivative)),
        pytest.param("X(z)", marks=equation("From 90", f"{what} X(z)", Group.velocity_transform_derivative)),
    ],
)
def test_reduced_velocity_transform(name):
    """(79) and (90) lack the minus sign that (65), (112) and what follows from them have."""
    group = Group.named(name)
    phi = some(group)
    found = np.tensordot(group.velocity_transform_derivative(0 * phi), phi, 1)
    np.testing.assert_allclose(found, REDUCED[name](*phi), atol=1e-14)


@each
def test_transform_is_that_of_twists(group):
    T = group.exp(some(group, 7))
    v = some(group, 8)
    np.testing.assert_allclose(group.twist(group.transform(T) @ v), twist.transform(T) @ group.twist(v), atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_velocity_map_turns_what_is_linear(name):
    group = Group.named(name)
    T, v = group.exp(some(group, 7)), some(group, 8)
    V, mapped = group.twist(v), group.twist(group.velocity_map(T) @ v)
    np.testing.assert_allclose(mapped, [*(T[:3, :3] @ V[:3]), *V[3:]], atol=1e-14)
    np.testing.assert_allclose(group.velocity_map(pose.inverse(T)) @ group.velocity_map(T), np.eye(len(v)), atol=1e-14)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_a_group_that_is_not_there():
    with pytest.raises(WbcError, match=r"no group 'SO\(4\)'; did you mean 'SO\(3\)'\? .*'X\(z\)'"):
        Group.named("SO(4)")


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (np.eye(6)[:, [3, 4]], r"'mine' is not a group: columns 0 and 1 .* bracket \[0.0, 0.0, 0.0, 0.0, 0.0, 1.0\]"),
        (np.eye(6)[:, [0, 0]], "columns of its selection matrix are not independent"),
        (np.eye(6)[0], r"has shape \(6,\); expected \(6, m\)"),
        (np.eye(5), r"has shape \(5, 5\); expected \(6, m\)"),
        (np.zeros((6, 0)), r"has shape \(6, 0\)"),
        ("twist", "'twist' is not an array of numbers"),
        (np.full((6, 1), np.nan), "must be finite numbers"),
    ],
)
def test_what_is_no_group(selection, message):
    with pytest.raises(WbcError, match=message):
        Group("mine", selection)


def test_wrong_arguments_are_named():
    group = Group.named("SE(2)")
    for function, what in ((group.cross, "v"), (group.momentum_cross, "p"), (group.exp, "phi")):
        with pytest.raises(WbcError, match=rf"{what} on SE\(2\) must be finite numbers of shape \(3,\)"):
            function([1.0, 2.0])
    out = Group.named("SE(3)").exp([0, 0, 0.1, 0.2, 0, 0])
    with pytest.raises(WbcError, match=r"T is not a motion of SE\(2\)"):
        group.log(out)
    for function in (group.transform, group.velocity_map):
        with pytest.raises(WbcError, match=r"T does not belong to SE\(2\)"):
            function(out)
    with pytest.raises(WbcError, match=r"T must be finite numbers of shape \(4, 4\)"):
        group.transform(np.eye(3))


def test_what_describes_a_group_cannot_be_changed():
    for array in (SCREW.selection, SCREW.structure):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    assert repr(SCREW) == "Group('screw', dimension 1)"
