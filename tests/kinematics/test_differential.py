"""Stacks of velocities: the loop closed by itself, limits, contacts, evidence, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tasks
import wbc
from tests.closed_loops import ROBOTS
from tests.robots import BACKENDS
from wbc.geometry import pose, so3
from wbc.kinematics import DifferentialKinematics

FEET = ["LF_foot", "RF_foot", "LH_foot", "RH_foot"]


def arm(*levels, backend="numpy", **options) -> DifferentialKinematics:
    return DifferentialKinematics(wbc.load("arm", backend), wbc.Stack([[task] for task in levels]), **options)


def reachable(seed: int) -> np.ndarray:
    robot = wbc.load("arm", "numpy")
    robot.update(robot.random(np.random.default_rng(seed)))
    return robot.pose("tool").copy()


def near(robot, frame, seed, far=0.1) -> np.ndarray:
    """A pose near the nominal one."""
    rng = np.random.default_rng(seed)
    robot.update(robot.model.nominal)
    now = robot.pose(frame)
    turn, way = far * rng.normal(size=3), far * rng.normal(size=3)
    return pose.homogeneous(so3.exp(turn) @ now[:3, :3], now[:3, 3] + way)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_error_falls_as_told(backend) -> None:
    robot = wbc.load("arm", backend)
    target = near(robot, "tool", 0, 0.2)
    task, k = tasks.EndEffectorVelocity("tool", target, 4.0), 4.0
    dk = DifferentialKinematics(robot, wbc.Stack(task), period=1e-3)
    log = dk.run(robot.model.nominal, 0.5)
    errors = []
    for q in log.q[[0, 100, 400]]:
        robot.update(q)
        errors.append(task.error(robot, wbc.kinematics.VelocityVariables(robot)))
    for t, error in zip((0.1, 0.4), errors[1:], strict=True):
        assert np.allclose(error, errors[0] * (1 - k * 1e-3) ** (1e3 * t), rtol=5e-3, atol=1e-4)


def test_a_rotation_goes_the_shortest_way() -> None:
    """(2.255): all the way about one axis, from a half turn but a little."""
    robot = wbc.load("humanoid", "numpy")
    robot.update(robot.model.nominal)
    R0, axis = robot.pose("base")[:3, :3], np.array([0.6, -0.64, 0.48])
    goal = so3.exp(3.0 * axis) @ R0
    dk = DifferentialKinematics(robot, wbc.Stack(tasks.EndEffectorVelocity("base", goal, axes="orientation")))
    for q in dk.run(robot.model.nominal, 0.5).q[1:]:
        robot.update(q)
        turned = so3.boxminus(robot.pose("base")[:3, :3], R0)
        assert np.allclose(np.cross(turned, axis), 0, atol=1e-9)


def test_a_moving_target_is_followed_without_lag() -> None:
    robot = wbc.load("arm", "numpy")
    start = near(robot, "tool", 1, 0.0)

    def circle(t):
        T, w = start.copy(), np.zeros(6)
        T[:3, 3] += [0.1 * np.cos(3 * t) - 0.1, 0.1 * np.sin(3 * t), 0]
        w[:2] = [-0.3 * np.sin(3 * t), 0.3 * np.cos(3 * t)]
        return T, w, np.zeros(6)

    dk = DifferentialKinematics(robot, wbc.Stack(tasks.EndEffectorVelocity("tool", circle, 10.0)), period=2e-3)
    log = dk.run(robot.model.nominal, 1.0)
    off = []
    for t, q in zip(log.time, log.q, strict=True):
        robot.update(q)
        off.append(np.abs(robot.pose("tool") - circle(t)[0]).max())
    assert max(off) < 2e-4  # of the steps' finite length; a lag would be 0.3 / 10 m


@pytest.mark.parametrize("acceleration", [None, 8.0])
def test_limits_hold_on_the_way_to_a_place_out_of_reach(acceleration) -> None:
    limits = tasks.VelocityLimits(margin=0.01, speed_scale=0.5, share=1.0, acceleration=acceleration)
    dk = arm(limits, tasks.EndEffectorVelocity("tool", [0.0, -3.0, -2.0], 20.0, axes="position"), period=5e-3)
    robot = dk.robot
    log = dk.run(robot.model.nominal, 3.0)
    bounds = robot.limits
    assert (log.q <= bounds.upper - 0.01 + 1e-9).all()
    assert (log.q >= bounds.lower + 0.01 - 1e-9).all()
    assert (np.abs(log.v) <= 0.5 * bounds.velocity + 1e-9).all()
    at_limit = np.minimum(bounds.upper - log.q[-1], log.q[-1] - bounds.lower) < 0.02
    assert at_limit.any()  # else the test shows nothing
    if acceleration is not None:
        assert (np.abs(np.diff(log.v, axis=0)) <= acceleration * 5e-3 + 1e-9).all()
    assert set(log.status) == {"optimal"}
    solution = dk.step(log.q[-1], log.v[-1])
    assert solution.certificate.holds
    assert solution.certificate.position_margin < 0.02


def test_a_joint_beyond_its_limit_is_led_back() -> None:
    dk = arm(tasks.VelocityLimits(), tasks.JointVelocity(gain=0.0), period=1e-2)
    q = np.array(dk.robot.model.nominal)
    q[1] = dk.robot.limits.upper[1] + 0.3
    assert not dk.step(q).certificate.holds
    log = dk.run(q, 1.0)
    assert log.q[-1, 1] <= dk.robot.limits.upper[1] + 1e-9
    assert (np.abs(log.v) <= dk.robot.limits.velocity + 1e-12).all()


def test_bounds_are_never_empty() -> None:
    robot, rng = wbc.load("arm", "numpy"), np.random.default_rng(0)
    tick = wbc.kinematics.VelocityVariables(robot)
    middle = (robot.limits.lower + robot.limits.upper) / 2
    narrow = (robot.limits.upper - robot.limits.lower) / 2 - 1e-3
    for _ in range(300):
        task = tasks.VelocityLimits(rng.choice([0.0, narrow.min()]), acceleration=rng.choice([0.1, 50.0]))
        robot.update(middle + 4 * rng.normal(size=7), 3 * rng.normal(size=7))
        _, lower, upper = task.matrices(robot, tick)
        assert (lower <= upper).all()
        assert np.isfinite(lower).all()
        assert np.isfinite(upper).all()


@pytest.mark.parametrize("axes", ["xyz", "zx"])
def test_the_center_of_mass_follows(axes) -> None:
    robot = wbc.load("humanoid", "numpy")
    robot.update(robot.model.nominal)
    target, velocity = robot.com + np.array([0.1, -0.2, 0.05]), np.array([0.3, 0.1, -0.2])
    task = tasks.CenterOfMassVelocity(target, 2.0, axes=axes, velocity=velocity)
    v = DifferentialKinematics(robot, wbc.Stack(task)).step(robot.model.nominal).velocity
    at = ["xyz".index(axis) for axis in axes]
    assert np.allclose((robot.com_jacobian @ v)[at], (velocity + 2.0 * (target - robot.com))[at], atol=1e-9)


def test_a_limit_that_is_in_the_way_is_named() -> None:
    dk = arm(tasks.VelocityLimits(), tasks.EndEffectorVelocity("tool", velocity=[5.0, 0, 0, 0, 0, 0]))
    solution = dk.step(dk.robot.model.nominal)
    assert solution.status == "optimal"
    assert {active.row for active in solution.active} >= {"joint_2", "joint_4"}
    assert not solution.violated
    text = solution.explain()
    assert "tool: missed: x of tool" in text
    assert "held back by velocity limits (joint_" in text
    assert solution.levels[1].residual["tool"].shape == (6,)
    assert solution.levels[1].cost == pytest.approx(np.linalg.norm(solution.levels[1].residual["tool"]))
    assert "1  tool" in str(dk)


@pytest.mark.parametrize("speed", [5.0, -5.0])
def test_limits_below_a_task_give_way_and_are_reported(speed) -> None:
    dk = arm(tasks.EndEffectorVelocity("tool", velocity=[speed, 0, 0, 0, 0, 0]), tasks.VelocityLimits())
    solution = dk.step(dk.robot.model.nominal)
    assert solution.status == "relaxed"
    assert solution.violated
    beyond = np.abs(solution.velocity) - dk.robot.limits.velocity
    assert solution.certificate.speed_margin == pytest.approx(-beyond.max())
    assert beyond.max() > 0
    assert "does not hold: velocity limits" in solution.explain()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_quadruped_leans_on_its_feet(backend) -> None:
    robot = wbc.load("quadruped", backend)
    target = near(robot, "base", 3, 0.05)
    levels = (
        tasks.VelocityLimits()
        / tasks.ContactVelocity()
        / tasks.EndEffectorVelocity("base", target)
        / (tasks.JointVelocity())
    )
    stack = wbc.Stack(levels, contacts=[wbc.PointContact(foot) for foot in FEET])
    dk = DifferentialKinematics(robot, stack)
    log = dk.run(robot.model.nominal, 3.0)
    robot.update(robot.model.nominal)
    places = [robot.pose(foot)[:3, 3].copy() for foot in FEET]
    robot.update(log.q[-1])
    assert np.allclose(robot.pose("base"), target, atol=1e-5)
    for foot, place in zip(FEET, places, strict=True):
        assert np.allclose(robot.pose(foot)[:3, 3], place, atol=1e-6)
    assert dk.step(log.q[-1]).certificate.contact_speed < 1e-5
    assert log.contacts == tuple(FEET)


def test_a_foot_that_slips_is_no_certificate() -> None:
    robot = wbc.load("quadruped", "numpy")
    base, feet = tasks.EndEffectorVelocity("base", velocity=[0.3, 0, 0, 0, 0, 0]), tasks.ContactVelocity()
    with pytest.warns(wbc.WbcWarning, match="is below 'base'"):
        stack = wbc.Stack(base / tasks.JointVelocity() / feet, contacts=[wbc.PointContact(foot) for foot in FEET])
    certificate = DifferentialKinematics(robot, stack).step(robot.model.nominal).certificate
    assert certificate.contact_speed == pytest.approx(0.3)
    assert certificate.speed_margin > 0
    assert certificate.position_margin > 0
    assert not certificate.holds


def test_a_foot_steps_while_three_stand() -> None:
    robot = wbc.load("quadruped", "numpy")
    robot.update(robot.model.nominal)
    place, com = robot.pose("LF_foot")[:3, 3] + [0.1, 0, 0.08], robot.com.copy()
    swing = tasks.EndEffectorVelocity("LF_foot", place, axes="position", name="swing")
    levels = tasks.ContactVelocity() / (tasks.CenterOfMassVelocity(com) + swing) / tasks.JointVelocity()
    dk = DifferentialKinematics(robot, wbc.Stack(levels, contacts=[wbc.PointContact(foot) for foot in FEET]))
    dk.stack.open_contact("LF_foot")
    log = dk.run(robot.model.nominal, 2.0)
    robot.update(log.q[-1])
    assert np.allclose(robot.pose("LF_foot")[:3, 3], place, atol=1e-4)
    assert np.allclose(robot.com, com, atol=1e-4)
    dk.stack.close_contact("LF_foot")
    assert not dk.step(log.q[-1], t=2.0).levels[1].residual["center of mass"].max() > 1e-3
    assert abs(dk.step(log.q[-1], t=2.0).levels[1].residual["swing"]).max() < 1e-3


@pytest.mark.parametrize("solver", ["sequential-qp", "weighted-qp", "nullspace"])
def test_every_solver_takes_velocities(solver) -> None:
    hand = tasks.EndEffectorVelocity("tool", reachable(5))
    stack = wbc.Stack(hand / tasks.JointVelocity())
    robot = wbc.load("arm", "numpy")
    q = robot.random(np.random.default_rng(0))
    exact = DifferentialKinematics(robot, stack).step(q).velocity
    close = 1e-2 if solver == "weighted-qp" else 1e-6
    assert np.allclose(DifferentialKinematics(robot, stack, solver).step(q).velocity, exact, atol=close)


class Corridor(wbc.Task):
    """It does not say that it has inequalities."""

    kinematic = True

    def rows(self, robot, tick) -> wbc.Rows:
        return wbc.Rows.between([-0.1], [0.1], velocity=np.array([2]))


def test_limits_that_no_task_declared_are_told_of_at_the_first_tick() -> None:
    dk = arm(Corridor("corridor"), tasks.JointVelocity(), solver="nullspace")
    with pytest.warns(wbc.WbcWarning, match=r"NullSpace ignores inequalities.*: corridor;") as told:
        dk.step(dk.robot.model.nominal)
    assert len(told) == 1 and told[0].filename == __file__
    dk.step(dk.robot.model.nominal)  # said once: a second warning is an error
    arm(Corridor("corridor"), tasks.JointVelocity()).step(dk.robot.model.nominal)


def test_a_solver_that_ignores_limits_says_so() -> None:
    with pytest.warns(wbc.WbcWarning, match="ignores inequalities.*velocity limits"):
        dk = arm(
            tasks.VelocityLimits(), tasks.EndEffectorVelocity("tool", velocity=[9.0, 0, 0, 0, 0, 0]), solver="nullspace"
        )
    solution = dk.step(dk.robot.model.nominal)
    assert solution.status == "relaxed"
    assert not solution.certificate.holds


def test_step_is_idempotent_and_keeps_its_hands_off() -> None:
    dk = arm(tasks.VelocityLimits(), tasks.EndEffectorVelocity("tool", reachable(6)), tasks.JointVelocity())
    q = np.array(dk.robot.model.nominal)
    kept = q.copy()
    first, second = dk.step(q, t=1.0), dk.step(q, t=1.0)
    assert np.allclose(first.velocity, second.velocity, rtol=0, atol=1e-12)  # a warm start may round otherwise
    assert (q == kept).all()
    with pytest.raises(ValueError, match="read-only"):
        first.velocity[0] = 1.0
    assert first.time.total > 0
    dk.reset()
    assert np.allclose(dk.step(q, t=1.0).velocity, first.velocity, atol=1e-12)


def test_tasks_can_be_switched_weighted_and_changed() -> None:
    hand, posture = tasks.EndEffectorVelocity("tool", reachable(7)), tasks.JointVelocity()
    dk = DifferentialKinematics(wbc.load("arm", "numpy"), wbc.Stack(hand / posture))
    q = np.array(dk.robot.model.nominal)
    assert np.abs(dk.step(q).velocity).max() > 0.1
    dk.stack.switch_off("tool")
    assert np.abs(dk.step(q, t=0.1).velocity).max() < 1e-12
    dk.stack.switch_on("tool")
    dk.stack["tool"].target = None
    assert np.abs(dk.step(q, t=0.2).velocity).max() < 1e-12
    dk.stack["posture"].target = q + 0.1
    assert np.abs(dk.step(q, t=0.3).levels[0].residual["tool"]).max() < 1e-9
    assert np.abs(dk.step(q, t=0.3).velocity).max() > 1e-3


def test_a_frame_seen_from_another_and_an_offset() -> None:
    """The left hand keeps its pose against the right one, a tool at 10 cm from it, while the right one moves."""
    robot = wbc.load("humanoid", "numpy")
    relative = tasks.EndEffectorVelocity("left_hand", relative_to="right_hand", offset=[0, 0, 0.1], gain=5.0)
    right = tasks.EndEffectorVelocity("right_hand", velocity=[0.3, 0.1, 0.2, 0.4, -0.3, 0.5], gain=0.0)
    base = tasks.EndEffectorVelocity("base")
    dk = DifferentialKinematics(robot, wbc.Stack(base / relative / right), period=2e-3)
    log = dk.run(robot.model.nominal, 0.3)

    def seen(q):
        robot.update(q)
        tool = robot.pose("left_hand") @ pose.homogeneous(np.eye(3), [0, 0, 0.1])
        return np.linalg.solve(robot.pose("right_hand"), tool), robot.pose("right_hand")[:3, 3].copy()

    first, last = seen(log.q[0]), seen(log.q[-1])
    assert np.allclose(first[0], last[0], atol=1e-4)
    assert np.linalg.norm(first[1] - last[1]) > 0.05


def test_rows_and_tasks_of_ones_own() -> None:
    class Height(wbc.Task):
        """A frame keeps its height."""

        kinematic = True

        def rows(self, robot, tick):
            return wbc.Rows.equal(0.4 - robot.pose("tool")[2, 3], velocity=robot.jacobian("tool")[2:3])

    robot = wbc.load("arm", "numpy")
    own = tasks.Rows(wbc.Rows.equal([0.2], velocity=np.array([0])), "first")
    function = tasks.Rows(
        lambda robot, tick: wbc.Rows.between([-0.1], [0.1], velocity=np.array([1])), "second", kinematic=True
    )
    dk = DifferentialKinematics(robot, wbc.Stack([[Height("height")], [own, function]]))
    solution = dk.step(robot.model.nominal)
    assert solution.velocity[0] == pytest.approx(0.2)
    assert abs(solution.velocity[1]) <= 0.1 + 1e-9
    assert np.abs(solution.levels[0].residual["height"]).max() < 1e-9


def test_what_does_not_go_together_is_refused() -> None:
    robot = wbc.load("arm", "numpy")
    hand = tasks.EndEffectorVelocity("tool")
    with pytest.raises(wbc.WbcError, match="'tool' asks for a velocity and 'equation of motion' for accelerations"):
        wbc.Stack(tasks.EquationOfMotion() / hand)
    with pytest.raises(wbc.WbcError, match="asks for velocities: give it to wbc.kinematics.DifferentialKinematics"):
        wbc.Controller(robot, wbc.Stack(hand))
    with pytest.raises(wbc.WbcError, match="it is one for a wbc.Controller"):
        DifferentialKinematics(robot, wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueMinimization()))
    with pytest.raises(wbc.WbcError, match="is for torques"):
        DifferentialKinematics(robot, wbc.Stack(hand), "operational-space")
    with pytest.raises(wbc.WbcError, match="did you mean 'tool'"):
        DifferentialKinematics(robot, wbc.Stack(tasks.EndEffectorVelocity("tol")))
    with pytest.raises(
        wbc.WbcError, match="rows on acceleration, which is not among what is solved for here .velocity."
    ):
        wrong = tasks.Rows(wbc.Rows.equal([0.0], acceleration=np.array([0])), "wrong", kinematic=True)
        DifferentialKinematics(robot, wbc.Stack(wrong)).step(robot.model.nominal)
    with pytest.raises(wbc.WbcError, match="rows on velocity, which is not among"):
        wrong = tasks.Rows(lambda r, v: wbc.Rows.equal([0.0], velocity=np.array([0])), "wrong")
        wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / wrong)).step(robot.model.nominal, np.zeros(7))
    with pytest.raises(wbc.WbcError, match="t = nan"):
        DifferentialKinematics(robot, wbc.Stack(hand)).step(robot.model.nominal, t=np.nan)
    with pytest.raises(wbc.WbcError, match="q = 'home' is not an array of numbers"):
        DifferentialKinematics(robot, wbc.Stack(hand)).run("home", 1.0)  # type: ignore[arg-type]
    for share in (0.0, 1.1, -0.5):
        with pytest.raises(wbc.WbcError, match=f"share = {share}"):
            tasks.VelocityLimits(share=share)
    with pytest.raises(wbc.WbcError, match="no joint .joint_9."):
        DifferentialKinematics(robot, wbc.Stack(tasks.JointVelocity(joints=["joint_9"])))


def test_contacts_that_nothing_holds_are_noticed() -> None:
    with pytest.warns(wbc.WbcWarning, match=r"add tasks.ContactVelocity\(\)"):
        wbc.Stack(tasks.EndEffectorVelocity("base"), contacts=[wbc.PointContact("LF_foot")])


def test_a_hard_state_ends_in_zero_not_in_an_exception() -> None:
    class Broken(wbc.solvers.Solver):
        def solve(self, levels, *, validate=True, seconds=np.inf):
            raise np.linalg.LinAlgError("no")

    dk = arm(tasks.EndEffectorVelocity("tool", reachable(8)), solver=Broken())
    solution = dk.step(dk.robot.model.nominal)
    assert solution.status == "failed"
    assert not solution.velocity.any()
    assert "velocity is zero" in solution.explain()


SCENE = """
import tasks, wbc
from wbc.kinematics import DifferentialKinematics, KinematicScene

def scene(backend="auto", solver="hierarchical-qp"):
    robot = wbc.load("arm", backend)
    stack = wbc.Stack(tasks.VelocityLimits() / tasks.EndEffectorVelocity("tool", velocity=[0.1, 0, 0, 0, 0, 0]))
    return KinematicScene(DifferentialKinematics(robot, stack, solver), 0.5)
"""


def test_a_file_with_velocities_is_run_as_any(tmp_path) -> None:
    from typer.testing import CliRunner

    from wbc.application import load_scene
    from wbc.application.cli import app

    (tmp_path / "lift.py").write_text(SCENE)
    scene = load_scene(str(tmp_path / "lift.py"), "numpy", "sequential-qp", "builtin")
    shares = []
    log = scene.run(0.2, period=0.02, progress=shares.append)
    assert len(log) == 10
    assert shares[-1] == pytest.approx(1.0)
    assert scene.robot.name == "numpy"
    done = CliRunner().invoke(app, ["run", str(tmp_path / "lift.py"), "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "50 ticks" in done.output
    refused = CliRunner().invoke(app, ["compare", str(tmp_path / "lift.py")])
    assert refused.exit_code == 2
    assert "no torques to compare" in " ".join(refused.output.replace("│", "").split())


def test_a_run_can_be_stopped_recorded_and_read(tmp_path) -> None:
    dk = arm(tasks.VelocityLimits(), tasks.EndEffectorVelocity("tool", reachable(9)))
    log = dk.run(dk.robot.model.nominal, 5.0, until=lambda t, _: t > 0.1, record=tmp_path / "log")
    assert log.ended == "stopped"
    assert 0.1 < log.time[-1] < 0.13
    assert np.array_equal(wbc.read_log(tmp_path / "log").q, log.q)


def test_a_run_that_goes_wrong_leaves_what_was_recorded(tmp_path) -> None:
    robot, path = wbc.load("arm", "numpy"), tmp_path / "run.log"
    kinematics = DifferentialKinematics(robot, wbc.Stack(tasks.EndEffectorVelocity("tool")))

    def targets(t: float, _: object) -> None:
        if t > 0.045:
            raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        kinematics.run(robot.model.nominal, 1.0, targets=targets, record=path)
    log = wbc.read_log(path)
    assert (len(log), log.ended) == (5, "RuntimeError: lost")
    assert "margin" not in log.summary()  # there are no torques and no forces


VELOCITY_TASKS = {
    "frame": (lambda **given: tasks.EndEffectorVelocity("tool", axes="position", **given), 3),
    "center of mass": (lambda **given: tasks.CenterOfMassVelocity(**given), 3),
    "posture": (lambda **given: tasks.JointVelocity(**given), 7),
    "contacts": (lambda **given: tasks.ContactVelocity(**given), 1),
}


@pytest.mark.parametrize("which", VELOCITY_TASKS)
def test_every_velocity_task_has_its_gain_by_the_same_name(which: str) -> None:
    make, size = VELOCITY_TASKS[which]
    assert make(gain=3).gain == 3.0
    each = np.linspace(1.0, 2.0, size)
    task = make(gain=each)
    each[:] = 9.0
    assert np.array_equal(task.gain, np.linspace(1.0, 2.0, size))
    with pytest.raises(ValueError, match="read-only"):
        task.gain[0] = 9.0
    for bad in (-1.0, np.inf, "fast", np.ones((2, 2))):
        with pytest.raises(wbc.WbcError, match="gain = "):
            make(gain=bad)
    with pytest.raises(wbc.WbcError, match=f"gain has 5 values; it needs one, or {size}"):
        make(gain=np.ones(5)).check(wbc.load("arm", "numpy"), {})


@pytest.mark.parametrize("which", ["frame", "center of mass", "posture"])
def test_a_gain_may_be_set_while_it_runs(which: str) -> None:
    make, _ = VELOCITY_TASKS[which]
    robot = wbc.load("arm", "numpy")
    robot.update(robot.model.nominal)
    tick, found = wbc.kinematics.VelocityVariables(robot), []
    task = make(gain=1.0)
    task.matrices(robot, tick)
    robot.update(np.array(robot.model.nominal) + 0.1)  # away from the place that it holds
    for task.gain in (1.0, 2.5):
        found.append(task.matrices(robot, tick)[1])
    assert np.abs(found[0]).max() > 1e-3 and np.allclose(found[1], 2.5 * found[0])


@pytest.mark.parametrize("solver", ["hierarchical-qp", "nullspace"])
def test_closed_loops_stay_closed(solver):
    mujoco = pytest.importorskip("mujoco")
    robot = wbc.load(mujoco.MjModel.from_xml_string(ROBOTS["weld"]), "numpy")
    crank = tasks.JointVelocity([0.0], joints=["crank"], gain=0.0, velocity=[0.5])
    one = DifferentialKinematics(robot, wbc.Stack(crank / tasks.VelocityMinimization()), solver, period=1e-2)
    q = robot.close_loops(robot.model.nominal) + np.array([0.01, 0.0, 0.0, 0.0])
    for _ in range(50):
        solution = one.step(q)
        assert solution.status == "optimal"
        q = robot.integrate(q, solution.velocity, 1e-2)
    robot.update(q, solution.velocity)
    assert solution.velocity[robot.model.v_index["crank"]] == pytest.approx(0.5)
    assert np.abs(robot.loop_motion.gap).max() < 1e-4 and np.abs(robot.loop_motion.J @ solution.velocity).max() < 1e-2
    assert np.abs(solution.velocity[1:]).max() > 0.1
