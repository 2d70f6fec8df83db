"""Near a singularity a level asks less of what it is about to lose: the same in the kernel and in the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, controller
from wbc.arrays import Array
from wbc.compiled import kernel
from wbc.solvers import HierarchicalQP, Solver, WeightedQP
from wbc.solvers.hierarchical import soften as module

compiled = pytest.mark.skipif(kernel is None, reason="the kernel is not built")
pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")

STRAIGHT = ("knee", "hip_pitch", "ankle_pitch", "HFE", "KFE")
"""What joints are called that are zero where a leg is straight."""


class Levels(HierarchicalQP):
    """The same solver, but one that must be handed levels."""

    def plan_levels(self, count: int) -> None:
        return None


def scene(name: str, solver: Solver | str, limits: float = 1.0, target: object = None) -> wbc.Controller:
    """Legs that carry a base, or an arm that holds a tool; a posture, and least torque.

    Torques may jump: how far they do is looked at, and states lie apart.
    """
    robot = wbc.load(name, "pinocchio")
    bounds = tasks.TorqueLimits(scale=limits)
    posture = tasks.JointAcceleration(gains=wbc.Gains(1.5)) / tasks.TorqueMinimization()
    if name == "arm":
        axes = "pose" if target is None else "position"
        goal = tasks.EndEffectorAcceleration("tool", target, axes=axes, gains=wbc.Gains(2.0))  # type: ignore[arg-type]
        return controller(robot, wbc.Stack(tasks.EquationOfMotion() / bounds / goal / posture), solver, rise=None)
    goal = tasks.EndEffectorAcceleration("base", target, gains=wbc.Gains(3.0))  # type: ignore[arg-type]
    above = tasks.EquationOfMotion() / (bounds + tasks.FrictionCones()) / tasks.ContactMotion()
    return controller(robot, wbc.Stack(above / goal / posture, contacts=contacts(robot)), solver, rise=None)


def bent(robot: wbc.Dynamics, share: float) -> Array:
    """The nominal pose with its legs, or the arm, bent by a share of what they are."""
    q = np.array(robot.model.nominal)
    legs = [robot.model.q_index[joint] for joint in robot.joint_names if any(word in joint for word in STRAIGHT)]
    q[legs if legs else slice(None)] *= share
    return q


def sweep(ours: wbc.Controller, shares: Array, speed: float = 0.0) -> list[wbc.Solution]:
    v = speed * np.random.default_rng(0).normal(size=ours.robot.nv)
    return [ours.step(bent(ours.robot, share), v, 1e-3 * k) for k, share in enumerate(shares)]


def jump(name: str, torques: list[Array]) -> float:
    """The largest change of torque from tick to tick, as a share of the range."""
    change = np.diff(torques, axis=0)
    return float(np.abs(change / wbc.load(name, "pinocchio").limits.effort).max())


@compiled
@pytest.mark.parametrize("speed", [0.0, 0.1])
@pytest.mark.parametrize(
    ("name", "limits"),
    [("quadruped", 1.0), ("quadruped", 0.07), ("humanoid", 1.0), ("humanoid", 0.07), ("arm", 1.0), ("arm", 0.3)],
)
def test_the_reference_yields_as_the_kernel_does(name: str, limits: float, speed: float) -> None:
    """Both from a guess in each tick: with limits that bind, where a search ends may depend on where it began."""
    shares = np.concatenate([np.linspace(0.5, 1e-3, 40), np.geomspace(1e-3, 1e-7, 8), -np.geomspace(1e-7, 1e-3, 8)])
    solvers = [HierarchicalQP(warm_start=False), HierarchicalQP(warm_start=False, compiled=False)]
    solvers.append(Levels(warm_start=False))
    first, *others = [sweep(scene(name, solver, limits), shares, speed) for solver in solvers]
    assert sum(bool(tick.yielding) for tick in first) > 15
    for other in others:
        for share, one, two in zip(shares, first, other, strict=True):
            for a, b in ((one.torque, two.torque), (one.acceleration, two.acceleration)):
                assert np.abs(a - b).max() <= 1e-7 * (1.0 + np.abs(a).max()), share
            assert len(one.yielding) == len(two.yielding)
            left = [[sigma for _, _, sigma in tick.yielding] for tick in (one, two)]
            assert np.allclose(*left, rtol=1e-6, atol=1e-12)


@compiled
@pytest.mark.parametrize(("name", "limits"), [("arm", 1.0), ("arm", 0.3), ("humanoid", 1.0)])
def test_the_reference_yields_as_early_as_the_kernel_does_where_much_is_asked(name: str, limits: float) -> None:
    target = np.array([1.6, 0.1, 0.3])
    if name == "humanoid":
        target = np.eye(4)
        target[2, 3] = 1.2
    solvers = [HierarchicalQP(warm_start=False), HierarchicalQP(warm_start=False, compiled=False)]
    solvers.append(Levels(warm_start=False))
    shares = np.linspace(1.0, 1e-3, 30)
    first, *others = [sweep(scene(name, solver, limits, target), shares, 0.1) for solver in solvers]
    assert sum(any(sigma > 0.025 for *_, sigma in tick.yielding) for tick in first) > 4, "earlier than without a demand"
    for other in others:
        for share, one, two in zip(shares, first, other, strict=True):
            assert np.abs(one.torque - two.torque).max() <= 1e-7 * (1.0 + np.abs(one.torque).max()), share
            assert np.allclose(*([s for *_, s in tick.yielding] for tick in (one, two)), rtol=1e-6, atol=1e-12)


@compiled
@pytest.mark.parametrize(("name", "fast"), [("arm", 3.0), ("quadruped", 0.5)])
def test_the_reference_yields_as_early_as_the_kernel_does_where_joints_are_fast(
    name: str, fast: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what is asked makes them faster still, directions yield that are held at rest."""
    target = np.array([1.6, 0.1, 0.3]) if name == "arm" else None
    solvers = [HierarchicalQP(warm_start=False), HierarchicalQP(warm_start=False, compiled=False)]
    solvers.append(Levels(warm_start=False))
    shares, speeds = np.linspace(0.5, 0.05, 40), np.random.default_rng(1).standard_normal((40, 60))

    def run(solver: Solver) -> list[wbc.Solution]:
        ours = scene(name, solver, target=target)
        return [
            ours.step(bent(ours.robot, share), fast * speed[: ours.robot.nv])
            for share, speed in zip(shares, speeds, strict=True)
        ]

    runs = [run(solver) for solver in solvers]
    monkeypatch.setattr(module, "_AHEAD", 0.0)
    without = run(HierarchicalQP(warm_start=False, compiled=False))
    apart = [np.abs(one.torque - two.torque).max() for one, two in zip(without, runs[1], strict=True)]
    assert sum(far > 0.1 for far in apart) > 3
    for other in runs[1:]:
        for share, one, two in zip(shares, runs[0], other, strict=True):
            assert np.abs(one.torque - two.torque).max() <= 1e-7 * (1.0 + np.abs(one.torque).max()), share
            assert np.allclose(*([s for *_, s in tick.yielding] for tick in (one, two)), rtol=1e-6, atol=1e-12)


def rising(name: str, knee: float, speed: float, asked: float, solver: HierarchicalQP) -> float:
    """The upward acceleration of a base that rises on still feet, m/s².

    Args:
        name: of the robot.
        knee: how far they are bent, rad.
        speed: m/s.
        asked: of its acceleration, m/s².
        solver: whose it is.
    """
    robot = wbc.load(name, "pinocchio")
    knees = [robot.model.q_index[joint] for joint in robot.joint_names if "knee" in joint or "KFE" in joint]
    q = bent(robot, knee / float(np.abs(np.array(robot.model.nominal)[knees]).min()))
    robot.update(q, np.zeros(robot.nv))
    held = np.vstack([robot.jacobian(foot)[: 6 if name == "humanoid" else 3] for foot in robot.model.feet])
    rows, target = np.vstack([held, robot.jacobian("base")]), np.array(robot.pose("base"))
    wanted = np.concatenate([np.zeros(len(held)), [0.0, 0.0, speed], np.zeros(3)])
    rate = 2.0 * np.pi * 3.0  # of the base's gains
    target[2, 3] += (asked + 2.0 * rate * speed) / rate**2
    tick = scene(name, solver, target=target).step(q, np.linalg.lstsq(rows, wanted, rcond=1e-9)[0])
    return float(tick.acceleration[2])


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
@pytest.mark.parametrize(("name", "speed"), [("humanoid", 0.05), ("quadruped", 0.02)])
def test_a_base_that_rises_to_straight_legs_is_held_until_it_is_too_fast(name: str, speed: float, which: bool) -> None:
    """At knees of 0.35 rad it keeps what it asks. Where that leads it to straight knees at once it is given less, but
    not where it brakes.
    """

    def apart(speed: float, asked: float) -> float:
        ours, strict = (rising(name, 0.35, speed, asked, HierarchicalQP(compiled=which, soften=e)) for e in (0.02, 0.0))
        return abs(ours - strict)

    for slow in (speed, 2.0 * speed):
        assert apart(slow, 1.0) < 1e-6 and apart(slow, 3.0) < 1e-6
    assert apart(10.0 * speed, 1.0) > 0.5
    assert apart(5.0 * speed, -10.0) < 1e-6


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_searches_end_where_limits_and_soft_rows_meet(name: str, which: bool) -> None:
    for limits in (1.0, 0.07):
        ticks = sweep(scene(name, HierarchicalQP(compiled=which), limits), np.linspace(0.5, 1e-3, 60), 0.1)
        assert not any(tick.interrupted for tick in ticks)


@compiled
def test_the_reference_names_the_same_rows() -> None:
    shares = np.linspace(0.4, 0.01, 40)
    one, two = (sweep(scene("humanoid", HierarchicalQP(compiled=which)), shares) for which in (True, False))
    for a, b in zip(one, two, strict=True):
        assert [line[:2] for line in a.yielding] == [line[:2] for line in b.yielding]


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_torques_do_not_jump_where_legs_pass_through_straight(name: str, which: bool) -> None:
    shares = np.concatenate([np.linspace(0.3, 1e-3, 300), np.geomspace(1e-3, 1e-7, 30), -np.geomspace(1e-7, 1e-3, 30)])
    softened = sweep(scene(name, HierarchicalQP(compiled=which)), shares)
    strict = sweep(scene(name, HierarchicalQP(compiled=which, soften=0.0)), shares)
    assert jump(name, [tick.torque for tick in softened]) < 1e-3
    assert jump(name, [tick.torque for tick in strict]) > 0.01


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_away_from_singularities_levels_are_held_exactly(name: str, which: bool) -> None:
    nominal = wbc.load(name, "pinocchio")
    knees = [nominal.model.q_index[joint] for joint in nominal.joint_names if "knee" in joint or "KFE" in joint]
    least = 0.35 / np.abs(nominal.model.nominal[knees]).min()
    shares = np.linspace(1.3, least, 12)
    for speed in (0.0, 0.1):
        soft = sweep(scene(name, HierarchicalQP(compiled=which)), shares, speed)
        strict = sweep(scene(name, HierarchicalQP(compiled=which, soften=0.0)), shares, speed)
        for one, two in zip(soft, strict, strict=True):
            assert not one.yielding
            assert np.allclose(one.torque, two.torque, rtol=1e-9, atol=1e-9 * np.abs(two.torque).max())


def four_legs(size: float) -> str:
    """An MJCF quadruped with knees bent by 0.4 rad; all of its lengths times a size, all masses times its cube."""
    legs = "".join(
        f"""<body name="thigh_{i}" pos="{0.3 * x * size} {0.15 * y * size} 0">
          <joint name="roll_{i}" axis="1 0 0"/><joint name="pitch_{i}" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 {-0.3 * size}" size="{0.02 * size}"/>
          <body name="shank_{i}" pos="0 0 {-0.3 * size}"><joint name="knee_{i}" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 0 0 {-0.3 * size}" size="{0.02 * size}"/>
            <body name="foot_{i}" pos="0 0 {-0.3 * size}"/></body></body>"""
        for i, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1)))
    )
    motors = "".join(
        f'<motor joint="{joint}_{i}" ctrlrange="{-100 * size**4} {100 * size**4}" ctrllimited="true"/>'
        for i in range(4)
        for joint in ("roll", "pitch", "knee")
    )
    height = 0.6 * size * np.cos(0.2)
    return f"""<mujoco><worldbody><body name="base" pos="0 0 {height}"><freejoint/>
      <geom type="box" size="{0.3 * size} {0.15 * size} {0.05 * size}"/>{legs}</body></worldbody>
      <actuator>{motors}</actuator><keyframe>
      <key qpos="0 0 {height} 1 0 0 0 {"0 -0.2 0.4 " * 4}"/></keyframe></mujoco>"""


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_small_robots_are_as_near_to_singular_as_large_ones(which: bool, share: float) -> None:
    """In rad/s² beside m/s² the small one, as large as a hand, counted as singular wherever it stood."""
    mujoco = pytest.importorskip("mujoco")
    left = []
    for size in (1.0, 0.1):
        model = mujoco.MjModel.from_xml_string(four_legs(size))
        robot = wbc.load(model, "mujoco", feet=[f"foot_{i}" for i in range(4)])
        q = np.array(model.key_qpos[0])
        q[7:] *= share
        bounds = tasks.TorqueLimits() + tasks.FrictionCones()
        goal = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(3.0))
        levels = tasks.EquationOfMotion() / bounds / tasks.ContactMotion() / goal / tasks.JointAcceleration()
        feet = [wbc.PointContact(foot) for foot in robot.model.feet]
        ours = wbc.Controller(robot, wbc.Stack(levels, contacts=feet), HierarchicalQP(compiled=which))
        left.append([sigma for _, _, sigma in ours.step(q, np.zeros(robot.nv), 0.0).yielding])
    assert np.allclose(*left, rtol=1e-6)
    assert bool(left[0]) == (share < 1.0)


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
def test_what_yields_is_named(which: bool) -> None:
    near = sweep(scene("humanoid", HierarchicalQP(compiled=which)), np.array([0.5, 0.1]))[-1]
    assert [(task, row) for task, row, _ in near.yielding] == [("base", "z of base")]
    left = near.yielding[0][2]
    assert 0.0 < left < 0.02
    assert f"near a singularity: base demands less of z of base, of which {left:.1%} is left" in near.explain()
    for solver in (HierarchicalQP(compiled=which, soften=0.0), WeightedQP(compiled=which)):
        strict = sweep(scene("humanoid", solver), np.array([0.5, 0.1]))[-1]
        assert not strict.yielding and "singularity" not in strict.explain()


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
def test_levels_that_are_handed_over_are_held_exactly(which: bool) -> None:
    weak = np.array([[1.0, 1e-3, 0.0]]), np.ones(1), np.ones(1)
    fixed = np.array([[1.0, 0.0, 0.0]]), np.zeros(1), np.zeros(1)
    answer = HierarchicalQP(compiled=which).solve([fixed, weak])
    assert np.allclose(answer.x, [0.0, 1e3, 0.0]) and not answer.yielding
    hierarchy = wbc.solvers.Hierarchy.of([fixed, weak])
    hierarchy.yields_from = 1
    answer = HierarchicalQP(compiled=which).solve(hierarchy)
    assert 0.0 < answer.x[1] < 100.0 and answer.yielding == [(1, 1, pytest.approx(1e-3, rel=1e-3))]
    assert answer.residual[1] == pytest.approx(1e-3 * answer.x[1] - 1.0)
    assert np.allclose(HierarchicalQP(compiled=which, soften=0.0).solve(hierarchy).x, [0.0, 1e3, 0.0])


@pytest.mark.parametrize("which", [pytest.param(True, marks=compiled), False])
def test_what_takes_more_than_can_be_given_yields_earlier(which: bool) -> None:
    """A tenth of a row's size is left of it: more than `soften`. A load that is 1 at x = 10 allows 40 there."""
    limits = np.eye(3), -np.full(3, 1e4), np.full(3, 1e4)
    fixed = np.array([[1.0, 0.0, 0.0]]), np.zeros(1), np.zeros(1)
    found = {}
    for asked in (3.9, 4.1, 100.0, -100.0):
        weak = np.array([[math.sqrt(0.99), 0.1, 0.0]]), np.array([asked]), np.array([asked])
        hierarchy = wbc.solvers.Hierarchy.of([fixed, limits, weak])
        hierarchy.yields_from, hierarchy.loads = 1, np.array([[0.0, 0.1, 0.0], [0.0, 0.0, 5.0]])
        answer = HierarchicalQP(compiled=which).solve(hierarchy)
        found[asked] = answer.x[1]
        assert bool(answer.yielding) == (abs(asked) > 4.0)
        hierarchy.loads = None
        assert HierarchicalQP(compiled=which).solve(hierarchy).x[1] == pytest.approx(10.0 * asked)
    assert found[3.9] == pytest.approx(39.0) and found[4.1] == pytest.approx(41.0, rel=0.05), "continuous"
    assert found[100.0] == pytest.approx(100.0 * 0.1 / (0.01 + (0.2 * (1.0 - 1.0 / 4.0)) ** 2), rel=1e-6)
    assert found[-100.0] == pytest.approx(-found[100.0])


def test_an_arm_that_is_told_to_reach_too_far_comes_to_rest_and_comes_back() -> None:
    pytest.importorskip("mujoco")
    robot = wbc.load("arm", "pinocchio")
    robot.update(np.array(robot.model.nominal))
    start = np.array(robot.pose("tool"))[:3, 3]
    out = np.array([start[0], start[1], 0.0]) / np.linalg.norm(start[:2])

    def target(t: float) -> Array:
        """Half a metre too far, and back."""
        way = min(t / 1.8, 1.0) if t < 3.0 else max(1.0 - (t - 3.0) / 1.8, 0.0)
        return start + out * 0.5 * (1.0 - math.cos(math.pi * way))

    hold = tasks.EndEffectorAcceleration("tool", target, axes="position", gains=wbc.Gains(2.0))
    limits = tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.JointLimits()
    levels = limits / hold / tasks.JointAcceleration(gains=wbc.Gains(1.0)) / tasks.TorqueMinimization()
    ours, plant = controller(robot, wbc.Stack(levels), "hierarchical-qp"), wbc.MujocoSimulator(robot)
    given, speeds = [], []
    for k in range(5500):
        q, v = plant.state
        given.append(ours.step(q, v, 1e-3 * k).torque)
        speeds.append(np.abs(v).max())
        plant.apply(given[-1])
        plant.step()
    torques = np.array(given) / robot.limits.effort
    jumps = np.abs(np.diff(torques, axis=0)).max(axis=1)
    assert (jumps > 0.01).sum() < 120
    assert max(speeds[2700:3000]) < 0.5 and max(speeds[5300:]) < 0.05
    assert np.linalg.norm(ours.errors()["tool"]) < 1e-3


def test_a_humanoid_goes_to_straight_knees_and_back() -> None:
    pytest.importorskip("mujoco")
    robot = wbc.load("humanoid", "pinocchio")
    robot.update(np.array(robot.model.nominal))
    ground, q = robot.pose("left_foot")[2, 3], bent(robot, 0.5)
    robot.update(q)
    q[2] += ground - robot.pose("left_foot")[2, 3]
    robot.update(q)
    pose = np.array(robot.pose("base"))

    def target(t: float) -> Array:
        """Beyond straight knees, and back."""
        moved = pose.copy()
        moved[2, 3] += 0.04 * 0.5 * (1.0 - math.cos(2.0 * math.pi * min(t / 2.9, 1.0)))
        return moved

    ours, plant = scene("humanoid", "hierarchical-qp", target=target), wbc.MujocoSimulator(robot)
    plant.reset(q)
    yielded, height, torques = 0, [], []  # a solution holds its robot's state: thousands of them are gigabytes
    for k in range(3000):
        q, v = plant.state
        solution = ours.step(q, v, 1e-3 * k)
        yielded += bool(solution.yielding)
        height.append(q[2])
        torques.append(solution.torque)
        plant.apply(solution.torque)
        plant.step()
    assert yielded > 1000
    assert min(height) > 0.9 * height[0] and max(height) > height[0] + 0.005 and abs(height[-1] - height[0]) < 1e-3
    assert jump("humanoid", torques) < 0.02


@pytest.mark.parametrize(("name", "up", "most"), [("humanoid", 0.15, 0.007), ("quadruped", 0.25, 0.007)])
def test_torques_fall_slowly_where_legs_become_straight_fast(name: str, up: float, most: float) -> None:
    """They fell twice as fast: knees at 2 rad/s were held until it was late, and then given up within 10 ms."""
    pytest.importorskip("mujoco")
    robot = wbc.load(name)
    robot.update(np.array(robot.model.nominal))
    pose = np.array(robot.pose("base"))

    def target(t: float) -> Array:
        moved = pose.copy()
        moved[2, 3] += up * 0.5 * (1.0 - math.cos(math.pi * min(max(t - 0.2, 0.0) / 1.0, 1.0)))
        return moved

    ours, plant, torques = scene(name, "hierarchical-qp", target=target), wbc.MujocoSimulator(robot), []
    for k in range(1200):
        q, v = plant.state
        torques.append(ours.step(q, v, 1e-3 * k).torque)
        plant.apply(torques[-1])
        plant.step()
    assert q[2] > robot.model.nominal[2] + 0.01
    assert jump(name, torques) < most


@pytest.mark.parametrize(
    "solver", [HierarchicalQP(), Levels(), Levels(compiled=False)], ids=["tick", "kernel", "numpy"]
)
def test_where_limits_beside_soft_rows_end_no_search_levels_are_held_strictly(solver: HierarchicalQP) -> None:
    """A hip that runs into its stop: searches were given up after some hundred steps, with cones that did not hold."""
    if kernel is None and solver.compiled is None:
        pytest.skip("the kernel is not built")
    robot = wbc.load("humanoid")
    top = tasks.TorqueLimits() + tasks.JointLimits() + tasks.FrictionCones()
    levels = tasks.EquationOfMotion() / top / tasks.ContactMotion() / tasks.JointAcceleration()
    stack = wbc.Stack(levels / tasks.TorqueMinimization(), contacts=contacts(robot))
    for speed in (3.0, 4.0, 5.5):
        q, v = np.array(robot.model.nominal), np.zeros(robot.nv)
        q[robot.nq - robot.na + 1], v[7] = robot.limits.upper[7] - 0.01, speed
        found = controller(robot, stack, solver).step(q, v)
        assert found.status == "optimal" and found.certificate.holds, (speed, found.status)
        assert found.certificate.cone_margin > -1e-9, speed


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_torques_do_not_jump_next_to_the_tolerance_of_ranks(name: str) -> None:
    """A point that is less accurate than it should be was replaced by that of strict levels there."""
    near = np.geomspace(1e-8, 3e-10, 40)
    found = sweep(scene(name, HierarchicalQP()), np.concatenate([[0.3], near, -near[::-1]]))
    assert jump(name, [solution.torque for solution in found[1:]]) < 3e-3
