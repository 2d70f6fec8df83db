"""Environments of gymnasium: its own checks pass, seeds repeat, and actions do what they say."""

import importlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import wbc

pytest.importorskip("gymnasium")

ARM = """
import tasks, wbc
from wbc.simulation import Scene, make_plant

def scene(backend="numpy", solver="hierarchical-qp", simulator="builtin", mass=1.0, still=False):
    robot = wbc.load("planar_arm", "numpy")
    goal = None if still else robot.model.nominal + 0.1
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.JointAcceleration(goal, gains=wbc.Gains(2.0)))
    return Scene(wbc.Controller(robot, stack), make_plant(robot, "builtin"), 0.5)
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "arm.py"
    path.write_text(ARM)
    return str(path)


@pytest.mark.parametrize("action", ["targets", "torques", "residual"])
def test_gymnasiums_own_check_passes(scene, action):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(minimum|maximum) value is.*infinity.*")  # states have no bounds
        warnings.filterwarnings("ignore", message=".*not within the observation space.*|.*render.*|.*spec.*")
        env_checker = importlib.import_module("gymnasium.utils.env_checker")
        env_checker.check_env(wbc.gym.make(scene, action, spread=0.1), skip_render_check=True)


def episode(environment, seed, steps=8):
    observed, _ = environment.reset(seed=seed)
    actions = np.random.default_rng(seed).uniform(-1, 1, (steps, *environment.action_space.shape))
    return np.array([observed, *(environment.step(action)[0] for action in actions)])


def test_a_seed_repeats_and_another_does_not(scene):
    one, other = (wbc.gym.make(scene, "residual", spread=0.05) for _ in range(2))
    first = episode(one, 3)
    assert np.array_equal(first, episode(other, 3)) and np.array_equal(first, episode(one, 3))
    assert not np.array_equal(first[0], episode(one, 4)[0])


def test_targets_are_moved_and_the_controller_goes_there(scene):
    environment = wbc.gym.make(scene, "targets", scale=0.2, every=100)
    environment.reset(seed=0)
    nominal = environment.scene.robot.model.nominal
    for _ in range(5):
        observed, reward, ended, truncated, info = environment.step(np.array([1.0, -1.0, 0.0]))
        assert reward == pytest.approx(0.1)
    assert truncated and not ended and info["time"] == pytest.approx(0.5)
    assert np.allclose(observed[:3] - nominal, [0.3, -0.1, 0.1], atol=0.02)


def test_a_residual_of_none_is_the_controller_alone(scene):
    environment = wbc.gym.make(scene, "residual", every=500)
    environment.reset(seed=0)
    observed = environment.step(np.zeros(3))[0]
    made = wbc.sweeps.overrides.load_case(scene, {}, 0)
    made.run()
    assert np.array_equal(observed, np.concatenate(made.plant.state))


def test_torques_are_shares_of_the_limits(scene):
    environment = wbc.gym.make(
        scene, "torques", scale=0.5, reward=lambda scene, torque, action: float(torque[0]), every=1
    )
    environment.reset(seed=0)
    limit = environment.scene.robot.model.limits.effort[0]
    assert environment.step(np.array([1.0, 0.0, 0.0]))[1] == pytest.approx(1e-3 * 0.5 * limit)
    assert environment.step(np.array([9.0, 0.0, 0.0]))[1] == pytest.approx(1e-3 * 0.5 * limit), "clipped"


def test_a_fall_ends_an_episode():
    environment = wbc.gym.make("11", "torques", simulator="builtin", backend="numpy", every=50)
    environment.reset(seed=0)
    for _ in range(40):
        observed, reward, ended, truncated, info = environment.step(np.zeros(12))
        if ended:
            break
    assert ended and not truncated and info["ended"] == "fell" and reward == 0.0 and np.isfinite(observed).all()


def test_many_as_one(scene):
    many = wbc.gym.make_vec(scene, 3, "residual", spread=0.1)
    observed, _ = many.reset(seed=5)
    assert observed.shape == (3, 6) and len({tuple(row) for row in observed}) == 3
    alone = wbc.gym.make(scene, "residual", spread=0.1)
    assert np.array_equal(observed[1], alone.reset(seed=6)[0]), "environment k has the seed 5 + k"
    assert np.array_equal(many.step(np.zeros((3, 3)))[0][1], alone.step(np.zeros(3))[0])
    many.close()


def test_what_can_not_be_is_told(scene):
    for options, words in (
        ({"action": "target"}, "no kind of action 'target'; did you mean 'targets'"),
        ({"every": 0}, "every = 0"),
        ({"scale": 0}, "scale"),
        ({"task": "tool"}, "no task 'tool'"),
        ({"still": True}, "no task of this scene has a target"),
        ({"still": True, "task": "posture"}, "holds its initial value"),
        ({"colour": 1}, "no parameter of"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            wbc.gym.make(scene, **options)


def test_without_gymnasium_it_is_told_what_to_install():
    attempt = "try: wbc.gym.make\nexcept wbc.WbcError as error: print(error)"
    code = f"import sys, wbc\nsys.modules['gymnasium'] = None\n{attempt}"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'wbc[gym]'" in told
