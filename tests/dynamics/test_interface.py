"""What every backend owes its user: clear errors, nothing shared, the same answer twice."""

from __future__ import annotations

import copy
import sys
import threading

import numpy as np
import pytest

import wbc
from tests.robots import BACKENDS
from wbc import WbcError


@pytest.fixture(params=BACKENDS)
def robot(request) -> wbc.Dynamics:
    return wbc.load("quadruped", request.param)


def test_sizes_and_names(robot) -> None:
    assert (robot.nq, robot.nv, robot.na) == (19, 18, 12)
    assert list(robot.actuated) == list(range(6, 18))
    assert len(robot.joint_names) == 12
    assert robot.joint_names[:3] == ("LF_HAA", "LF_HFE", "LF_KFE")
    assert robot.limits.effort.shape == (12,)
    assert robot.limits.lower.shape == robot.limits.upper.shape == robot.limits.velocity.shape == (18,)
    assert robot.model.feet == ("LF_foot", "RF_foot", "LH_foot", "RH_foot")


@pytest.mark.parametrize(
    ("q_change", "message"),
    [
        (lambda q: q[:-1], r"q has shape \(18,\); 'quadruped' needs \(19,\)"),
        (lambda q: np.r_[q[:10], np.nan, q[11:]], r"q is not finite at \[10\]"),
        (lambda q: np.r_[q[:10], np.inf, q[11:]], r"q is not finite at \[10\]"),
        (lambda q: np.r_[q[:3], 1.1 * q[3:7], q[7:]], r"q\[3:7\].*norm 1\.1.*within 0\.001"),
        (lambda q: np.r_[q[:3], 0, 0, 0, 0, q[7:]], r"norm 0"),
        (lambda q: "home", r"q = 'home' is not an array of numbers"),
        (lambda q: None, r"q"),
    ],
)
def test_a_wrong_configuration_is_refused_by_name(robot, q_change, message) -> None:
    with pytest.raises(WbcError, match=message):
        robot.update(q_change(robot.model.nominal), np.zeros(18))


def test_a_wrong_velocity_is_refused_by_name(robot) -> None:
    q = robot.model.nominal
    with pytest.raises(WbcError, match=r"v has shape \(19,\); 'quadruped' needs \(18,\)"):
        robot.update(q, np.zeros(19))
    with pytest.raises(WbcError, match="v is not finite at"):
        robot.update(q, np.full(18, np.nan))
    with pytest.raises(WbcError, match="vdot has shape"):
        robot.inverse_dynamics(q, np.zeros(18), np.zeros(3))
    with pytest.raises(WbcError, match="tau must be 12 finite numbers"):
        robot.forward_dynamics(q, np.zeros(18), np.zeros(18))


def test_a_failed_update_leaves_the_last_state(robot) -> None:
    robot.update(robot.model.nominal)
    before = robot.com
    with pytest.raises(WbcError):
        robot.update(np.full(19, np.nan))
    assert np.array_equal(before, robot.com)


def test_a_quaternion_almost_of_unit_length_is_normalised(robot) -> None:
    q = np.array(robot.model.nominal)
    robot.update(q)
    expected = robot.mass_matrix
    q[3:7] *= 1.0005
    robot.update(q)
    assert np.allclose(robot.mass_matrix, expected, atol=1e-12)
    assert np.isclose(np.linalg.norm(robot.q[3:7]), 1.0, atol=1e-15)
    assert np.isclose(np.linalg.norm(q[3:7]), 1.0005)  # what the user handed over is as it was


def test_frames_are_asked_for_by_name(robot) -> None:
    robot.update(robot.model.nominal)
    with pytest.raises(WbcError, match="no frame 'LF_fot'; did you mean 'LF_foot'?"):
        robot.jacobian("LF_fot")
    with pytest.raises(WbcError, match="no frame 'zzz'.*'base'"):
        robot.pose("zzz")
    with pytest.raises(WbcError, match="frame must be one name .*, not 3"):
        robot.twist(3)
    with pytest.raises(WbcError, match=r"frame must be one name .*, not \['LF_foot'\]"):
        robot.pose(["LF_foot"])
    with pytest.raises(WbcError, match="no representation 'lft'; did you mean 'left'"):
        robot.jacobian("base", "lft")


def test_asking_before_the_first_update_says_so(robot) -> None:
    with pytest.raises(WbcError, match="call update"):
        _ = robot.mass_matrix
    with pytest.raises(WbcError, match="call update"):
        robot.pose("base")


def test_frames_can_be_added(robot) -> None:
    rng = np.random.default_rng(2)
    offset = np.eye(4)
    offset[:3, 3] = 0.1, -0.2, 0.3
    robot.add_frame("tool", "LF_foot", offset)
    robot.add_frame("tip", "tool", (0.0, 0.0, 0.5))
    q, v = robot.random(rng), rng.normal(size=18)
    robot.update(q, v)
    expected = robot.pose("LF_foot") @ [0.1, -0.2, 0.8, 1.0]
    assert np.allclose(robot.pose("tip")[:, 3], expected)
    omega, arm = robot.twist("LF_foot")[3:], expected[:3] - robot.pose("LF_foot")[:3, 3]
    assert np.allclose(robot.twist("tip")[:3], robot.twist("LF_foot")[:3] + np.cross(omega, arm))
    assert "tip" in robot.frames
    assert "tip" not in robot.model.frame_names
    twin = robot.copy()
    twin.add_frame("only here", "base", np.eye(4))
    assert "only here" not in robot.frames
    assert np.allclose(twin.pose("tip"), robot.pose("tip"))
    robot.forward_dynamics(q, v, np.zeros(12), {"tip": [0, 0, 1.0]})
    for name, parent, pose, message in [
        ("tip", "base", np.eye(4), "a frame 'tip' exists already"),
        ("base", "base", np.eye(4), "a frame 'base' exists already"),
        ("x", "bse", np.eye(4), "no frame 'bse'; did you mean 'base'"),
        ("x", "base", np.zeros((4, 4)), "not a homogeneous transform"),
        ("x", "base", np.diag([1, 1, -1, 1]), "not a homogeneous transform"),
        ("x", "base", [1, 2], r"shape \(4, 4\) or \(3,\)"),
        ("", "base", np.eye(4), "non-empty text"),
    ]:
        with pytest.raises(WbcError, match=message):
            robot.add_frame(name, parent, pose)


def test_twice_the_same_input_gives_the_same_output(robot) -> None:
    rng = np.random.default_rng(3)
    q, v = robot.random(rng), rng.normal(size=18)
    robot.update(q, v)
    first = (
        robot.mass_matrix,
        robot.bias,
        robot.jacobian("LF_foot"),
        robot.momentum_bias,
        robot.jacobian_bias("LF_foot"),
    )
    robot.update(robot.random(rng), v)
    robot.inverse_dynamics(q, v, v)
    robot.forward_dynamics(q, v, np.zeros(12))
    robot.update(q, v)
    second = (
        robot.mass_matrix,
        robot.bias,
        robot.jacobian("LF_foot"),
        robot.momentum_bias,
        robot.jacobian_bias("LF_foot"),
    )
    for a, b in zip(first, second, strict=True):
        assert np.array_equal(a, b)


def test_dynamics_functions_do_not_touch_the_state(robot) -> None:
    rng = np.random.default_rng(4)
    q, v = robot.random(rng), rng.normal(size=18)
    robot.update(q, v)
    robot.inverse_dynamics(robot.random(rng), v, v)
    robot.forward_dynamics(robot.random(rng), v, np.zeros(12), {"LF_foot": [1, 2, 3]})
    fresh = robot.copy()
    for name in ("mass_matrix", "bias", "com", "momentum_bias"):
        assert np.array_equal(getattr(robot, name), getattr(fresh, name)), name


def test_what_is_handed_out_can_not_be_changed_and_does_not_change(robot) -> None:
    q = np.array(robot.model.nominal)
    robot.update(q)
    M, J, kept = robot.mass_matrix, robot.jacobian("base"), robot.mass_matrix.copy()
    for array in (M, J, robot.q, robot.com, robot.pose("base"), robot.momentum_matrix, robot.model.nominal):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 7.0
    q[7:] += 0.3  # the user's own array stays the user's
    assert np.array_equal(robot.q, robot.model.nominal)
    robot.update(q)
    assert np.array_equal(M, kept)


@pytest.mark.parametrize("duplicate", [lambda robot: robot.copy(), copy.copy, copy.deepcopy])
def test_two_copies_in_two_threads(robot, duplicate) -> None:
    rng = np.random.default_rng(5)
    robot.update(robot.model.nominal)
    states = [(robot.random(rng), rng.normal(size=18)) for _ in range(200)]
    robots = [robot, duplicate(robot)]
    assert robots[1].model is copy.deepcopy(robot.model) is copy.copy(robot.model) is robot.model
    found: list[list[np.ndarray]] = [[], []]

    def work(which: int) -> None:
        for q, v in states[which::2]:
            robots[which].update(q, v)
            found[which].append(
                robots[which].bias + robots[which].mass_matrix @ v + robots[which].jacobian_bias("LF_foot")[0]
            )

    threads = [threading.Thread(target=work, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = wbc.load("quadruped", robot.name)
    for number, (q, v) in enumerate(states):
        alone.update(q, v)
        expected = alone.bias + alone.mass_matrix @ v + alone.jacobian_bias("LF_foot")[0]
        assert np.array_equal(found[number % 2][number // 2], expected)


def test_generalized_force_of_a_force_at_a_point(robot) -> None:
    rng = np.random.default_rng(6)
    q, v = robot.random(rng), rng.normal(size=18)
    robot.add_frame("point", "LF_shank", (0.1, 0.2, 0.3))
    robot.update(q, v)
    force = rng.normal(size=3)
    found = robot.generalized_force("LF_shank", force, point=(0.1, 0.2, 0.3))
    assert np.allclose(found, robot.jacobian("point")[:3].T @ force)
    assert np.isclose(found @ v, force @ robot.twist("point")[:3])  # power
    with pytest.raises(WbcError, match="force on 'base' must be 3 or 6 finite numbers"):
        robot.generalized_force("base", [1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda robot, q, v: robot.generalized_force("base", [[1.0], [1.0, 2.0]]), "force on 'base' = .* not an array"),
        (lambda robot, q, v: robot.generalized_force("base", [0, 0, np.nan]), "force on 'base' = .* is not finite"),
        (
            lambda robot, q, v: robot.forward_dynamics(q, v, np.zeros(12), [("base", [0, 0, 1])]),
            "must be a dict from frame names to forces",
        ),
        (lambda robot, q, v: robot.integrate(q, v, "1 s"), "dt = '1 s' is not a number of seconds"),
        (lambda robot, q, v: robot.integrate(q, v, [1, 2]), r"dt = \[1, 2\] is not a number of seconds"),
        (lambda robot, q, v: robot.integrate(q, v, np.inf), "dt = inf is not a finite time"),
        (lambda robot, q, v: robot.random(7), "rng is a generator such as .* not 7"),
        (lambda robot, q, v: wbc.load("arm", "numpy", floating="no"), "floating is 'no'; expected True, False or None"),
        (lambda robot, q, v: wbc.load("arm", "numpy", passive=3), "passive must be names of joints, not 3"),
        (lambda robot, q, v: wbc.load("arm", "numpy", passive=[[]]), r"passive must be names of joints, not \[\[\]\]"),
    ],
)
def test_arguments_of_the_wrong_kind_are_named(robot, call, message) -> None:
    q = robot.model.nominal
    robot.update(q)
    with pytest.raises(WbcError, match=message):
        call(robot, q, np.ones(18))


def test_passive_forces() -> None:
    robot = wbc.load("quadruped", "numpy")
    v = np.r_[np.zeros(6), np.linspace(-2, 2, 12)]
    robot.update(robot.model.nominal, v)
    damping = np.array([0.0] * 6 + [robot.model.joints[name].damping for name in robot.joint_names])
    assert damping.max() > 0
    assert np.allclose(robot.passive_force, -damping * v)
    assert np.allclose(robot.inverse_dynamics(robot.q, v, np.zeros(18)), robot.bias)


def test_an_unknown_backend_or_robot_is_named() -> None:
    with pytest.raises(WbcError, match="no backend 'pinochio'; did you mean 'pinocchio'"):
        wbc.load("arm", "pinochio")
    with pytest.raises(WbcError, match="'quadrupd'; did you mean 'quadruped'"):
        wbc.load("quadrupd")
    with pytest.raises(WbcError, match="there is no file 'nowhere.urdf'"):
        wbc.load("nowhere.urdf")
    with pytest.raises(WbcError, match="can't load 7"):
        wbc.load(7)
    with pytest.raises(WbcError, match="floating= is for URDF"):
        wbc.load(wbc.load("arm").model, floating=True)


@pytest.mark.parametrize(("backend", "package"), [("pinocchio", "pinocchio"), ("mujoco", "mujoco")])
def test_a_missing_package_says_what_to_install(monkeypatch, backend, package) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # what an import of a missing package meets
    monkeypatch.delitem(sys.modules, f"wbc.dynamics.{backend}", raising=False)
    with pytest.raises(WbcError, match=rf"pip install 'wbc\[{backend}\]'"):
        wbc.load("arm", backend)


def test_a_mujoco_that_is_too_old_is_refused(monkeypatch) -> None:
    import mujoco

    monkeypatch.setattr(mujoco, "__version__", "3.3.0")
    monkeypatch.delitem(sys.modules, "wbc.dynamics.mujoco", raising=False)
    with pytest.raises(WbcError, match=r"needs MuJoCo 3\.3\.1 or newer, not 3\.3\.0"):
        wbc.load("arm", "mujoco")


def test_auto_is_pinocchio_where_it_is_installed_else_numpy(monkeypatch) -> None:
    assert wbc.load("arm").name == "pinocchio"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert wbc.load("arm").name == "numpy"


def test_a_floating_robot_can_be_bolted_down_and_a_fixed_one_set_free() -> None:
    assert wbc.load("quadruped", "numpy", floating=False).nv == 12
    assert wbc.load("arm", "numpy", floating=True).nv == 13
    passive = wbc.load("arm", "numpy", passive=["joint_3"])
    assert passive.na == 6
    assert 2 not in passive.actuated
    with pytest.raises(WbcError, match="no joint 'joint_9'"):
        wbc.load("arm", "numpy", passive=["joint_9"])


def test_several_points_at_once_are_as_one_by_one(robot) -> None:
    rng = np.random.default_rng(8)
    robot.add_frame("tip", "LF_shank", (0.1, 0.2, -0.3))
    q, v = robot.random(rng), rng.normal(size=18)
    robot.update(q, v)
    frames = ("LF_foot", "tip", "base", "world")
    positions, J, bias = robot.points(frames)
    for number, frame in enumerate(frames):
        rows = slice(3 * number, 3 * number + 3)
        assert np.allclose(positions[rows], robot.pose(frame)[:3, 3], atol=1e-12)
        assert np.allclose(J[rows], robot.jacobian(frame)[:3], atol=1e-12)
        assert np.allclose(bias[rows], robot.jacobian_bias(frame)[:3], atol=1e-10)
