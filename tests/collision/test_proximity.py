"""How distances change: rates, Jacobians and drifts against finite differences of the distances alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import wbc
from tests.tasks.motions import Moving
from wbc.collision import CollisionGeometry, Horizon, Proximity, corners, features, proximity
from wbc.collision.features import PER_PAIR

PLACE = np.eye(4)
PLACE[:3, 3] = 0.5, 0.1, 0.4
TWIST = np.array([0.3, 0.2, -0.1, 1.0, 2.0, -1.0])


def furnished(robot: wbc.Dynamics, engine: str) -> CollisionGeometry:
    geometry = CollisionGeometry(robot, engine)
    geometry.add_box("crate", (0.3, 0.2, 0.4))
    geometry.add_sphere("ball", 0.1, (0.2, 0.4, 0.5))
    geometry.add_plane("slope", (0.0, 0.0, -1.0), (0.1, 0.0, 1.0))
    geometry.move("crate", PLACE, TWIST)
    return geometry


@pytest.mark.parametrize("engine", ("coal", "own"))
@pytest.mark.parametrize("name", ("arm", "humanoid"))
def test_rates_and_accelerations_are_those_of_the_distances(name: str, engine: str) -> None:
    rates, accelerations, share = [], [], []
    for seed in range(5):
        moving = Moving(name, seed, "pinocchio")
        robot = moving.robot
        geometry = furnished(robot, engine)

        def distances(t: float, moving: Moving = moving, geometry: CollisionGeometry = geometry) -> np.ndarray:
            moving.at(t)
            at = PLACE.copy()
            at[:3, :3], at[:3, 3] = Rotation.from_rotvec(TWIST[3:] * t).as_matrix(), PLACE[:3, 3] + TWIST[:3] * t
            geometry.move("crate", at, TWIST)
            return geometry.witnesses(moving.robot).distance

        h = 2e-4
        far, near, now = [distances(t) for t in (-2 * h, 2 * h)], [distances(t) for t in (-h, h)], distances(0.0)
        found = Proximity(geometry).look(robot, Horizon(10.0), step=1e-5)
        main = found.key % PER_PAIR == 0
        pair = found.key[main] // PER_PAIR
        assert np.array_equal(pair, np.arange(len(geometry.pairs)))
        assert np.abs(found.distance[main] - now).max() < 1e-9
        second, coarse = (near[0] + near[1] - 2 * now) / h**2, (far[0] + far[1] - 2 * now) / (4 * h * h)
        smooth = np.abs(second - coarse) < 1e-3 * (1 + np.abs(second))  # no face or edge changed its role
        share.append(smooth.mean())
        rate = (8 * (near[1] - near[0]) - (far[1] - far[0])) / (12 * h)
        rates.append((found.rate[main] - rate)[smooth])
        acceleration = found.jacobian[main] @ moving.vdot + found.drift[main]
        error = (acceleration - (4 * second - coarse) / 3) / (1 + np.abs(acceleration))
        accelerations.append(error[smooth])
    assert np.mean(share) > 0.9
    assert np.abs(np.concatenate(rates)).max() < 1e-4
    worst = np.sort(np.abs(np.concatenate(accelerations)))
    assert worst[int(0.98 * len(worst))] < 5e-3  # coal's normals of round shapes are good to the root of its tolerance
    assert np.median(worst) < 3e-4


def cornered(robot: wbc.Dynamics, engine: str, rng: np.random.Generator) -> CollisionGeometry:
    """Shapes of every kind, here and there and on the robot's bodies."""
    geometry = furnished(robot, engine)
    carrier = next(solid.body for solid in geometry.solids.values() if solid.body != "world")
    for number in range(2):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3) * 0.4
        body = "world" if number else carrier
        geometry.add_cylinder(f"drum {number}", 0.1, 0.3, T, body=body)
        geometry.add_capsule(f"rod {number}", 0.05, 0.4, T @ T, body=body)
        geometry.add_box(f"brick {number}", (0.1, 0.2, 0.05), T @ T @ T, body=body)
        if engine == "coal":
            geometry.add_mesh(f"rock {number}", rng.normal(size=(30, 3)) * 0.1, T, body=body)
    return geometry


@pytest.mark.skipif(proximity.kernel is None, reason="the kernel was not built")
@pytest.mark.parametrize("engine", ("coal", "own"))
@pytest.mark.parametrize("name", ("arm", "humanoid"))
def test_the_kernel_agrees_with_numpy(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs with all their corners and crossings, among shapes of every kind; and only what may be near soon."""
    robot, crossed = wbc.load(name, "pinocchio"), 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        geometry = cornered(robot, engine, rng)
        q = robot.integrate(robot.model.nominal, rng.normal(size=robot.nv) * 0.5)
        robot.update(q, rng.normal(size=robot.nv))
        for horizon in (Horizon(10.0), Horizon(0.05, 0.1, 5.0, 0.03)):
            found = Proximity(geometry).look(robot, horizon)
            with monkeypatch.context() as context:
                for module in (proximity, features, corners):
                    context.setattr(module, "kernel", None)
                expected = Proximity(geometry).look(robot, horizon)
            assert np.array_equal(found.key, expected.key)
            crossed += int((found.key % PER_PAIR > 2 * corners.MOST).sum())
            for part in ("distance", "jacobian", "rate", "inside"):
                np.testing.assert_allclose(getattr(found, part), getattr(expected, part), rtol=0, atol=1e-12)
            for one, other in zip(found.witnesses, expected.witnesses, strict=True):
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
            # coal's search for nearest points ends at its tolerance, and the drift is a difference over 0.2 ms
            np.testing.assert_allclose(found.drift, expected.drift, rtol=1e-6, atol=5e-3 if engine == "coal" else 1e-6)
    assert crossed > 20


def flat_on_each_other(turn: tuple[float, float, float], spread: float) -> tuple[wbc.Dynamics, CollisionGeometry]:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    geometry = CollisionGeometry(robot, shapes=False)
    geometry.add_box("palm", (0.1, 0.06, 0.02), body="tool")
    T = robot.pose("tool").copy()
    T[:3, 3] += T[:3, :3] @ [spread, 0.0, 0.01 + 0.05 + 0.03]
    T[:3, :3] = T[:3, :3] @ Rotation.from_rotvec(turn).as_matrix()
    geometry.add_box("block", (0.2, 0.02, 0.1), T)
    return robot, geometry


def test_flat_faces_are_told_by_their_corners_and_crossing_edges() -> None:
    """A palm over a narrow block: the edges of one pass those of the other at four places, and no corner is there."""
    robot, geometry = flat_on_each_other((0.0, 0.0, 0.0), 0.0)
    found = Proximity(geometry).look(robot, Horizon(0.2))
    at_distance = np.flatnonzero(np.abs(found.distance - 0.03) < 1e-9)
    points = found.witnesses.first[at_distance]
    edges = points[found.key[at_distance] % PER_PAIR > 20]
    assert len(edges) == 4 and len(np.unique(edges.round(6), axis=0)) == 4


def test_rows_of_corners_change_smoothly_where_nearest_points_jump() -> None:
    """The palm tilts by ±1e-6 rad: the nearest points go from one of its ends to the other; what has rows does not."""
    found = []
    for tilt in (-1e-6, 1e-6):
        robot, geometry = flat_on_each_other((0.0, tilt, 0.0), 0.0)
        look = Proximity(geometry).look(robot, Horizon(0.2))
        order = np.argsort(look.key)
        found.append([look.key[order], look.jacobian[order], look.distance[order]])
    assert np.array_equal(found[0][0], found[1][0])
    change = np.abs(found[0][1] - found[1][1]).max(axis=1)
    main = found[0][0] % PER_PAIR == 0
    assert change[main].max() > 1e-2 and change[~main].max() < 1e-4


def test_corners_of_a_fine_mesh_that_take_turns_are_no_acceleration() -> None:
    robot = wbc.load("arm")
    robot.update(robot.model.nominal)
    tool = robot.pose("tool")
    geometry = CollisionGeometry(robot, "coal", shapes=False)
    angle = np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)
    ring = 0.1 * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(90)])
    geometry.add_mesh("drum", np.vstack([ring, ring + np.array([0.0, 0.0, 0.1])]), body="tool")
    geometry.add_plane("wall", tool[:3, 3] - 0.13 * tool[:3, 0], tool[:3, 0])
    spin = np.zeros(7)
    spin[-1] = 3.0  # rad/s, about the drum's own axis
    look, lowest = Proximity(geometry), []
    for t in np.linspace(0.0, 0.2, 1001):
        robot.update(robot.integrate(robot.model.nominal, spin, t), spin)
        found = look.look(robot, Horizon(0.1, braking=5.0))
        lowest.append(found.drift[found.key % PER_PAIR == 0].min())
    # seen from the plane a corner is accelerated by ω² r; where the next one takes over, its rate has a step
    assert min(lowest) > -5.0


def test_only_what_may_be_near_soon_is_looked_at() -> None:
    robot = wbc.load("humanoid", "numpy")
    geometry, v = CollisionGeometry(robot), np.zeros(robot.nv)
    robot.update(robot.model.nominal, v)
    proximity, horizon = Proximity(geometry), Horizon(0.05, 0.1, 5.0)
    assert not len(proximity.look(robot, horizon).key)
    v[robot.model.v_index["left_hip_roll"]] = -2.0  # a leg swings to the other one
    robot.update(robot.model.nominal, v)
    near = proximity.look(robot, horizon)
    names = proximity.names(near.key)
    assert any("shank" in name or "foot" in name for name in names) and not any("head" in name for name in names)
    assert (near.distance < horizon.reach(-near.rate)).all()
