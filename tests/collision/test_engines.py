"""Distances of solids: our closed forms against coal, and both against MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import wbc
from wbc.collision import Solid
from wbc.collision.coal import CoalEngine
from wbc.collision.engine import make_engine
from wbc.collision.primitives import PrimitiveEngine

SOLIDS = [
    Solid("ball", "world", "sphere", (0.07,)),
    Solid("rod", "world", "capsule", (0.05, 0.3)),
    Solid("pin", "world", "capsule", (0.03, 0.2)),
    Solid("slab", "world", "box", (0.2, 0.3, 0.1)),
    Solid("beam", "world", "box", (0.15, 0.1, 0.4)),
    Solid("floor", "world", "plane"),
]
PAIRS = [(i, j) for i in range(6) for j in range(6) if i != j]
FIRST, SECOND = (np.array(side, dtype=np.intp) for side in zip(*PAIRS, strict=True))


def poses(rng: np.random.Generator, spread: float, count: int = len(SOLIDS)) -> np.ndarray:
    found = np.tile(np.eye(4), (count, 1, 1))
    found[:, :3, :3] = Rotation.random(count, random_state=rng).as_matrix()
    found[:, :3, 3] = rng.normal(size=(count, 3)) * spread
    return found


@pytest.mark.parametrize("spread", (0.5, 0.1))  # apart, and deep in each other
def test_closed_forms_are_what_coal_finds(spread: float) -> None:
    own, coal, rng = PrimitiveEngine(SOLIDS), CoalEngine(SOLIDS), np.random.default_rng(0)
    for _ in range(40):
        T = poses(rng, spread)
        mine, theirs = own.measure(T, FIRST, SECOND), coal.measure(T, FIRST, SECOND)
        for a, b in zip(mine, theirs, strict=True):
            assert np.abs(a - b).max() < 1e-8
        assert np.abs(mine.first + mine.distance[:, None] * mine.normal - mine.second).max() < 1e-12


def test_both_are_what_mujoco_finds() -> None:
    spec = mujoco.MjSpec()
    kinds = {"sphere": 2, "capsule": 3, "box": 6}
    for solid in SOLIDS[:5]:
        body = spec.worldbody.add_body(name=solid.name, mocap=True)
        size = [*solid.size, 0.0, 0.0][:3]
        size = [x / 2 for x in size] if solid.kind == "box" else [size[0], size[1] / 2, 0.0]
        body.add_geom(name=solid.name, type=mujoco.mjtGeom(kinds[solid.kind]), size=size)
    model = spec.compile()
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    engines = [PrimitiveEngine(SOLIDS[:5]), CoalEngine(SOLIDS[:5])]
    ends, compared = np.zeros(6), 0
    for _ in range(20):
        T = poses(rng, 0.4, 5)
        data.mocap_pos[:] = T[:, :3, 3]
        data.mocap_quat[:] = Rotation.from_matrix(T[:, :3, :3]).as_quat()[:, [3, 0, 1, 2]]
        mujoco.mj_forward(model, data)
        for i in range(5):
            for j in range(i):
                theirs = mujoco.mj_geomDistance(model, data, i, j, 10.0, ends)
                ours = [engine.measure(T, np.array([i]), np.array([j])).distance[0] for engine in engines]
                if theirs > 1e-3:  # overlaps are rough there
                    assert ours == pytest.approx([theirs, theirs], abs=2e-6)
                    compared += 1
    assert compared > 150


def test_parallel_shapes_have_witnesses_in_the_middle_of_what_is_side_by_side() -> None:
    T = np.tile(np.eye(4), (len(SOLIDS), 1, 1))
    T[1, :3, 3], T[2, :3, 3] = (0.0, 0.0, 0.0), (0.2, 0.0, 0.1)  # rods side by side from z = 0 to 0.15
    found = PrimitiveEngine(SOLIDS).measure(T, np.array([1]), np.array([2]))
    assert found.distance[0] == pytest.approx(0.12) and found.first[0] == pytest.approx([0.05, 0.0, 0.075])
    T[3, :3, 3] = (0.0, 0.0, -0.3)  # a rod on end over a slab
    found = PrimitiveEngine(SOLIDS).measure(T, np.array([1]), np.array([3]))
    assert found.distance[0] == pytest.approx(0.05) and found.normal[0] == pytest.approx([0.0, 0.0, -1.0])


def test_a_rod_that_pierces_a_slab_is_led_out_the_shortest_way() -> None:
    T = np.tile(np.eye(4), (len(SOLIDS), 1, 1))
    T[1, :3, 3] = (0.09, 0.0, 0.0)  # 1 cm of its axis is left to the face at x = 0.1
    for engine in (PrimitiveEngine(SOLIDS), CoalEngine(SOLIDS)):
        found = engine.measure(T, np.array([1]), np.array([3]))
        assert found.distance[0] == pytest.approx(-0.06, abs=1e-8)
        assert found.normal[0] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-6)


def test_covers_contain_what_they_cover() -> None:
    rng = np.random.default_rng(3)
    points = rng.normal(size=(40, 3)) * [0.1, 0.05, 0.2]
    solids = [
        Solid("can", "world", "cylinder", (0.05, 0.3)),
        Solid("coin", "world", "cylinder", (0.2, 0.02)),
        Solid("stone", "world", "convex", (), points=points),
        Solid("ball", "world", "sphere", (0.02,)),
    ]
    own, coal = PrimitiveEngine(solids), CoalEngine(solids)
    assert [cover.kind for cover in own.covers[:2]] == ["capsule", "box"]
    for _ in range(50):
        T = poses(rng, 0.3, 4)
        balls = np.full(3, 3, dtype=np.intp)
        near, exact = (engine.measure(T, np.arange(3), balls).distance for engine in (own, coal))
        assert (near <= exact + 1e-9).all() and (near >= exact - 0.4).all()


def test_balls_are_measured_as_spheres_are() -> None:
    rng = np.random.default_rng(4)
    for engine in (PrimitiveEngine(SOLIDS), CoalEngine(SOLIDS)):
        T = poses(rng, 0.2)
        others = np.arange(1, 6)
        center = np.tile(T[0, :3, 3], (5, 1))
        balls = engine.measure_balls(T, center, np.full(5, 0.07), others)
        spheres = engine.measure(T, np.zeros(5, dtype=np.intp), others)
        for a, b in zip(balls, spheres, strict=True):
            assert np.abs(a - b).max() < 1e-8


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Solid("a", "world", "cone", (1.0,)), "shape 'a'.*kind of shape 'cone'"),
        (lambda: Solid("a", "world", "box", (1.0, 1.0)), "size of a box is 3 positive numbers"),
        (lambda: Solid("a", "world", "sphere", (-1.0,)), "positive"),
        (lambda: Solid("a", "world", "convex", (), points=np.eye(3)), "four finite points"),
        (lambda: Solid("a", "world", "convex", (), points=np.eye(4)[:, :3] * [1, 1, 0]), "lie in a plane"),
        (lambda: make_engine("fcl", ()), "no collision engine 'fcl'"),
    ],
)
def test_mistakes_are_named(make: object, words: str) -> None:
    with pytest.raises(wbc.WbcError, match=words):
        make()
