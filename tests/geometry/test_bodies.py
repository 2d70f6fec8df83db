"""Twists, wrenches, accelerations and inertias along smooth motions: power, derivatives, change of frame."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.equations import equation
from wbc.geometry import acceleration, inertia, pose, rotation_vector, so3, twist, wrench

from .support import close, derivative, few, long_rotation_vectors, moderate_vectors, numbers, sixes, vectors

pytestmark = pytest.mark.filterwarnings("error")
poses = st.builds(lambda phi, p: pose.homogeneous(so3.exp(phi), p), long_rotation_vectors, vectors)


class Motion:
    """A frame b that moves in a frame a: position and rotation vector are quadratic in time."""

    def __init__(self, p, phi):
        self.p = [np.polynomial.Polynomial(row) for row in np.transpose(p)]
        self.phi = [np.polynomial.Polynomial(row) for row in np.transpose(phi)]

    def pose(self, t=0.0):
        """T_a_b."""
        return pose.homogeneous(so3.exp([c(t) for c in self.phi]), [c(t) for c in self.p])

    def left(self, t=0.0):
        """(Rᵀ ṗ, ω in the body's axes) (18), (19), without differences."""
        E = rotation_vector.rates_to_angular_velocity([c(t) for c in self.phi], "body")
        v = self.pose(t)[:3, :3].T @ [c.deriv()(t) for c in self.p]
        return np.array([*v, *(E @ [c.deriv()(t) for c in self.phi])])


motions = st.builds(
    lambda p, v, a, phi, w, b: Motion([p, v, a], [phi, w, b]),
    vectors,
    vectors,
    vectors,
    moderate_vectors,
    vectors,
    vectors,
)


@equation("TS 17", "pose's rate from the left", twist.hat)
@equation("TS 18", "left linear velocity", twist.vee)
@equation("TS 19", "left angular velocity", so3.unskew)
@equation("TS 21", "left twist", twist.vee)
@equation("TS 22", "pose's rate from the right", twist.left_to_right)
@equation("TS 23", "right linear velocity", twist.left_to_right)
@equation("TS 24", "right angular velocity", twist.left_to_right)
@equation("TS 26", "right twist", twist.left_to_right)
@equation("TS 28", "right twist from the left", twist.left_to_right)
@equation("TS 35", "mixed twist", twist.left_to_mixed)
@equation("TS 36", "a pose follows its twist", pose.integrate)
@equation("TS 89", "velocity of a frame, Siciliano's", twist.left_to_mixed)
@equation("TS 91", "velocity of a frame, Spong's", twist.left_to_mixed)
@equation("TS 93", "Murray's spatial velocity", twist.left_to_right)
@equation("TS 94", "Murray's body velocity", twist.right_to_left)
@given(motions)
@few
def test_twists_by_their_definitions(motion):
    T, V = motion.pose(), motion.left()
    R, p, rate = T[:3, :3], T[:3, 3], derivative(motion.pose)
    close(twist.hat(V), pose.inverse(T) @ rate)  # (17)
    close(twist.vee(pose.inverse(T) @ rate), V)  # (21)
    close(twist.vee(pose.inverse(T) @ rate)[:3], R.T @ rate[:3, 3])  # (18)
    close(so3.unskew(R.T @ rate[:3, :3]), V[3:])  # (19)
    right = twist.left_to_right(T) @ V  # (28)
    close(twist.hat(right), rate @ pose.inverse(T), 1e-8)  # (22), (26)
    close(right[:3], rate[:3, 3] - rate[:3, :3] @ R.T @ p, 1e-8)  # (23)
    close(so3.skew(right[3:]), rate[:3, :3] @ R.T)  # (24)
    close(twist.hat(twist.right_to_left(T) @ right), pose.inverse(T) @ rate)  # (94)
    mixed = twist.left_to_mixed(T) @ V
    close(mixed[:3], rate[:3, 3])  # (35), (89), (91)
    close(so3.skew(mixed[3:]), rate[:3, :3] @ R.T)
    close(derivative(lambda t: pose.integrate(T, V, t)), T @ twist.hat(V))  # (36)


@equation("TS 3", "poses as matrices", pose.homogeneous)
@equation("TS 4", "twists as matrices", twist.hat)
@equation("TS 5", "hat of a vector", so3.skew)
@equation("TS 6", "vee of a skew matrix", so3.unskew)
@equation("TS 7", "hat of a twist", twist.hat)
@equation("TS 8", "vee of a twist", twist.vee)
@equation("TS 10", "coordinates of a point", pose.transform_point)
@equation("TS 12", "homogeneous transform", pose.homogeneous)
@equation("TS 13", "point in another frame", pose.transform_point)
@equation("TS 88", "homogeneous transform, Siciliano's", pose.homogeneous)
@equation("TS 90", "homogeneous transform, Spong's", pose.homogeneous)
@equation("TS 92", "homogeneous transform, Murray's", pose.homogeneous)
def test_hats_and_poses_as_printed():
    x, y, z = w = [0.3, -0.5, 0.7]
    S = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    close(so3.skew(w), S, 0)  # (5)
    close(so3.unskew(S), w, 0)  # (6)
    V_hat = np.block([[np.array(S), np.array([[1.0], [2], [3]])], [np.zeros((1, 4))]])
    close(twist.hat([1, 2, 3, *w]), V_hat, 0)  # (4), (7)
    close(twist.vee(V_hat), [1, 2, 3, *w], 0)  # (8)
    R = so3.exp(w)
    T = np.block([[R, np.array([[1.0], [2], [3]])], [np.zeros((1, 3)), np.ones((1, 1))]])
    close(pose.homogeneous(R, [1, 2, 3]), T, 0)  # (3), (12), (88), (90), (92): the same by four names
    close(T @ [4, 5, 6, 1], [*pose.transform_point(T, [4, 5, 6]), 1], 1e-15)  # (13)
    arm = np.array([4, 5, 6]) - T[:3, 3]
    close(pose.transform_point(pose.inverse(T), [4, 5, 6]), [arm @ axis for axis in R.T], 1e-14)  # (10)


@equation("TS 27", "transform of twists", twist.transform)
@equation("TS 59", "transform of wrenches", wrench.transform)
def test_transforms_as_printed():
    R, p, Z = so3.exp([0.3, -0.5, 0.7]), np.array([1.0, 2, 3]), np.zeros((3, 3))
    T = pose.homogeneous(R, p)
    close(twist.transform(T), np.block([[R, so3.skew(p) @ R], [Z, R]]), 1e-15)  # (27)
    o = pose.inverse(T)[:3, 3]
    close(wrench.transform(T), np.block([[R, Z], [-R @ so3.skew(o), R]]), 1e-14)  # (59)
    close(wrench.transform(T), np.block([[R, Z], [so3.skew(p) @ R, R]]), 1e-15)


@equation("TS 33", "twist in any frame", twist.transform)
@equation("TS 34", "angular velocity in any frame", twist.transform)
@given(poses, poses, sixes)
@few
def test_a_twist_in_any_frame(T_a_b, T_c_a, V):
    """(33), (34): over a or straight from b."""
    in_a, in_c = twist.transform(T_a_b) @ V, twist.transform(T_c_a @ T_a_b) @ V
    close(in_c, twist.transform(T_c_a) @ in_a, 1e-11)
    close(in_c[3:], T_c_a[:3, :3] @ in_a[3:], 1e-13)
    close(in_c[3:], T_c_a[:3, :3] @ T_a_b[:3, :3] @ V[3:], 1e-13)


@equation("TS 29", "adjoint action of a pose", twist.transform)
@equation("TS 30", "adjoint action on a twist", twist.transform)
@equation("TS 31", "right twist by the adjoint action", twist.transform)
@equation("TS 58", "wrench in another frame", wrench.transform)
@equation("TS 60", "power is the same everywhere", wrench.power)
@equation("TS 64", "wrench transform as dual adjoint", wrench.transform)
@given(poses, poses, sixes, sixes)
@few
def test_transforms(A, B, V, W):
    X, F = twist.transform(A), wrench.transform(A)
    close(X @ twist.transform(B), twist.transform(A @ B), 1e-12)
    close(F @ wrench.transform(B), wrench.transform(A @ B), 1e-12)
    close(X @ twist.transform(pose.inverse(A)), np.eye(6), 1e-13)
    close(F, twist.transform(pose.inverse(A)).T, 1e-13)  # (59)
    close(wrench.power(F @ W, X @ V), W @ V, 1e-11)  # (60)
    close(twist.hat(X @ V), A @ twist.hat(V) @ pose.inverse(A), 1e-12)  # (30)
    close(twist.vee(twist.hat(V)), V, 0)


@pytest.mark.parametrize("space", [twist, wrench])
@given(T=poses)
@few
def test_left_right_and_mixed(space, T):
    for one, other in (("left", "right"), ("left", "mixed"), ("mixed", "right")):
        forth, back = getattr(space, f"{one}_to_{other}")(T), getattr(space, f"{other}_to_{one}")(T)
        close(forth @ back, np.eye(6), 1e-13)
        twin = getattr(twist if space is wrench else wrench, f"{one}_to_{other}")(T)
        close(forth.T @ twin, np.eye(6), 1e-13)
    close(space.mixed_to_right(T) @ space.left_to_mixed(T), space.left_to_right(T), 1e-13)


@equation("TS 39", "cross product of twists anticommutes", twist.cross)
@equation("TS 40", "a twist crossed with itself", twist.cross)
@equation("TS 41", "cross product in another frame", twist.cross)
@equation("TS 43", "Ad and ad change places", twist.cross)
@equation("TS 63", "dual cross product, other frame", wrench.cross)
@equation("TS 65", "dual cross product as ad*", wrench.cross)
@given(poses, sixes, sixes, sixes)
@few
def test_cross_products(T, U, V, F):
    X = twist.transform(T)
    close(twist.cross(U) @ V, -twist.cross(V) @ U, 1e-13)  # (39)
    close(twist.cross(V) @ V, 0, 1e-14)  # (40)
    close(X @ twist.cross(V), twist.cross(X @ V) @ X, 1e-11)  # (41)
    close(twist.hat(twist.cross(U) @ V), twist.hat(U) @ twist.hat(V) - twist.hat(V) @ twist.hat(U), 1e-13)
    dual = wrench.transform(T)
    close(dual @ wrench.cross(V), wrench.cross(X @ V) @ dual, 1e-11)  # (63)
    close(wrench.power(wrench.cross(U) @ F, V), -wrench.power(F, twist.cross(U) @ V), 1e-12)
    bracket = twist.cross(twist.cross(U) @ V)
    close(bracket, twist.cross(U) @ twist.cross(V) - twist.cross(V) @ twist.cross(U), 1e-12)  # Jacobi


@equation("TS 38", "cross product matrix of twists", twist.cross)
@equation("TS 62", "cross product matrix of wrenches", wrench.cross)
def test_cross_products_as_printed():
    """(38) and (62)."""
    V, Z = np.array([1.0, 2, 3, 4, 5, 6]), np.zeros((3, 3))
    v, w = so3.skew(V[:3]), so3.skew(V[3:])
    close(twist.cross(V), np.block([[w, v], [Z, w]]), 0)
    close(wrench.cross(V), np.block([[w, Z], [v, w]]), 0)


@equation("TS 37", "rate of the twist transform", twist.cross)
@equation("TS 42", "rate of Ad by ad", twist.cross)
@equation("TS 61", "rate of the wrench transform", wrench.cross)
@equation("TS 66", "rate of Ad* by ad*", wrench.cross)
@given(motions)
@few
def test_derivatives_of_the_transforms(motion):
    T, V = motion.pose(), motion.left()
    X_rate = derivative(lambda t: twist.transform(motion.pose(t)))
    close(X_rate, twist.transform(T) @ twist.cross(V), 1e-8)  # (37)
    F_rate = derivative(lambda t: wrench.transform(motion.pose(t)))
    close(F_rate, wrench.transform(T) @ wrench.cross(V), 1e-8)  # (61)


slow_motions = st.builds(
    lambda p, v, a, phi, w, b: Motion([p, v / 3, a / 3], [phi, w / 3, b / 3]),
    vectors,
    vectors,
    vectors,
    moderate_vectors,
    vectors,
    vectors,
)


@equation("TS 44", "apparent acceleration", acceleration.left_to_apparent)
@equation("TS 45", "apparent acceleration from left", acceleration.left_to_apparent)
@equation("TS 47", "intrinsic acceleration", acceleration.left_to_intrinsic)
@equation("TS 49", "intrinsic from apparent acceleration", acceleration.apparent_to_intrinsic)
@equation("TS 50", "intrinsic acceleration, linear part", acceleration.apparent_to_intrinsic)
@equation("TS 51", "intrinsic acceleration, angular part", acceleration.apparent_to_intrinsic)
@equation("TS 56", "apparent acceleration by Ad, ad", acceleration.left_to_apparent)
@equation("TS 85", "Featherstone's acceleration", acceleration.left_to_intrinsic)
@given(slow_motions, slow_motions)
@few
def test_accelerations_in_a_moving_frame(body, frame):
    """The body and the frame c both move in the world."""
    T_c_b = lambda t: pose.inverse(frame.pose(t)) @ body.pose(t)  # noqa: E731
    V_left, A_left = body.left(), derivative(body.left)
    V_c = lambda t: twist.transform(T_c_b(t)) @ body.left(t)  # noqa: E731
    apparent = derivative(V_c)  # (44)
    V_c_b_left = V_left - twist.transform(pose.inverse(T_c_b(0))) @ frame.left()
    close(acceleration.left_to_apparent(T_c_b(0), A_left, V_left, V_c_b_left), apparent)  # (45)
    intrinsic = acceleration.left_to_intrinsic(T_c_b(0), A_left)  # (47)
    close(acceleration.apparent_to_intrinsic(apparent, frame.left(), V_c(0)), intrinsic)  # (49)
    close(acceleration.intrinsic_to_apparent(intrinsic, frame.left(), V_c(0)), apparent)
    v, w = frame.left()[:3], frame.left()[3:]
    linear = apparent[:3] + np.cross(w, V_c(0)[:3]) + np.cross(v, V_c(0)[3:])
    close(intrinsic, [*linear, *(apparent[3:] + np.cross(w, V_c(0)[3:]))])  # (50), (51)


@equation("TS 46", "right acceleration from left", acceleration.left_to_intrinsic)
@equation("TS 52", "classical acceleration", acceleration.left_to_classical)
@equation("TS 53", "classical from intrinsic acceleration", acceleration.intrinsic_to_classical)
@equation("TS 54", "classical acceleration, linear part", acceleration.intrinsic_to_classical)
@equation("TS 55", "classical acceleration, angular part", acceleration.intrinsic_to_classical)
@equation("TS 86", "left acceleration from right", acceleration.left_to_intrinsic)
@equation("TS 87", "body acceleration, Featherstone's", acceleration.left_to_intrinsic)
@given(slow_motions)
@few
def test_accelerations_left_right_and_classical(body):
    T, V_left, A_left = body.pose(), body.left(), derivative(body.left)
    right = derivative(lambda t: twist.left_to_right(body.pose(t)) @ body.left(t))
    close(acceleration.left_to_intrinsic(T, A_left), right)  # (46)
    close(acceleration.left_to_intrinsic(pose.inverse(T), right), A_left)  # (86), (87)
    V_mixed = twist.left_to_mixed(T) @ V_left
    classical = derivative(lambda t: twist.left_to_mixed(body.pose(t)) @ body.left(t))
    close(classical[:3], [2 * c.coef[2] if len(c.coef) > 2 else 0 for c in body.p])  # p̈ (52)
    mixed = acceleration.left_to_intrinsic(pose.homogeneous(T[:3, :3], np.zeros(3)), A_left)
    close(acceleration.intrinsic_to_classical(mixed, V_mixed), classical)  # (53)–(55)
    close(acceleration.classical_to_intrinsic(classical, V_mixed), mixed)
    close(acceleration.left_to_classical(T, A_left, V_left), classical)
    close(acceleration.classical_to_left(T, classical, V_mixed), A_left)


masses = numbers(0.1, 20)
# Of points on three orthogonal axes: every physical inertia is one of these.
tensors = st.builds(
    lambda phi, d: so3.exp(phi) @ np.diag([d[1] + d[2], d[0] + d[2], d[0] + d[1]]) @ so3.exp(phi).T,
    long_rotation_vectors,
    st.tuples(*[numbers(0.01, 2)] * 3),
)


@equation("TS 67", "inertia at the mass centre", inertia.spatial)
@equation("TS 68", "inertia in another frame", inertia.spatial, inertia.change_frame)
@equation("TS 69", "parallel-axis theorem", inertia.spatial)
@given(masses, vectors, tensors)
@few
def test_spatial_inertia(mass, com, central):
    M = inertia.spatial(mass, com, central)
    Z = np.zeros((3, 3))
    at_com = np.block([[mass * np.eye(3), Z], [Z, central]])
    close(inertia.spatial(mass, np.zeros(3), central), at_com, 0)  # (67)
    T_c_b = pose.homogeneous(np.eye(3), -com)
    close(M, twist.transform(T_c_b).T @ at_com @ twist.transform(T_c_b), 1e-12)  # (68)
    close(inertia.change_frame(at_com, pose.inverse(T_c_b)), M, 1e-12)
    c = so3.skew(com)
    close(M, np.block([[mass * np.eye(3), -mass * c], [mass * c, central - mass * c @ c]]), 0)  # (68), (69)
    assert np.all(np.linalg.eigvalsh(M) > 0)
    m, back, tensor = inertia.decompose(M)
    close(m, mass, 0)
    close(back, com, 1e-15)
    close(tensor, central, 1e-12)


@given(masses, vectors, tensors, poses, sixes)
@few
def test_inertia_in_another_frame(mass, com, central, T, V):
    M = inertia.spatial(mass, com, central)
    other = inertia.change_frame(M, T)
    R = T[:3, :3]
    close(other, inertia.spatial(mass, pose.transform_point(T, com), R @ central @ R.T), 1e-10)
    X = twist.transform(T)
    close((X @ V) @ other @ (X @ V), V @ M @ V, 1e-9)  # energy
    close(other @ X @ V, wrench.transform(T) @ (M @ V), 1e-9)  # momentum
    close(inertia.change_frame(other, pose.inverse(T)), M, 1e-9)


def test_a_body_of_points():
    """Kinetic energy and momentum, from the velocities of the points."""
    rng = np.random.default_rng(7)
    points, weights = rng.normal(size=(9, 3)), rng.uniform(0.1, 1, 9)
    com = weights @ points / weights.sum()
    central = sum(w * ((r @ r) * np.eye(3) - np.outer(r, r)) for w, r in zip(weights, points - com, strict=True))
    M = inertia.spatial(weights.sum(), com, central)
    V = rng.normal(size=6)
    velocities = V[:3] + np.cross(V[3:], points)
    close(V @ M @ V / 2, weights @ np.sum(velocities**2, axis=1) / 2, 1e-13)
    linear = weights[:, None] * velocities
    close(M @ V, [*linear.sum(axis=0), *np.cross(points, linear).sum(axis=0)], 1e-13)


def test_no_mass():
    mass, com, tensor = inertia.decompose(np.zeros((6, 6)))
    close(mass, 0, 0)
    close(com, 0, 0)
    close(tensor, 0, 0)
