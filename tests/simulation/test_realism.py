"""Late and slow torques, noisy sensors, wrong models."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.control.scenes import standing
from wbc.simulation import run
from wbc.simulation.builtin import Simulator
from wbc.simulation.realism import Noise, Realism, Realistic, with_mass_error
from wbc.simulation.scene import make_plant


def test_a_delay_is_that_many_steps():
    plain, late = Simulator(wbc.load("arm")), Realistic(Simulator(wbc.load("arm")), delay=5e-3)
    torque = np.arange(1.0, 8.0)
    given = []
    for _ in range(12):
        late.apply(torque)
        late.step()
        given.append(late.torque)
    assert not np.any(given[:5])
    np.testing.assert_array_equal(given[5:], np.tile(torque, (7, 1)))
    for number in range(12):  # the same as a plain plant that got them later
        plain.apply(torque if number >= 5 else np.zeros(7))
        plain.step()
    np.testing.assert_array_equal(late.state[1], plain.state[1])
    late.reset()
    late.step()
    assert not late.torque.any(), "a reset empties the line"


def test_a_lag_is_of_first_order():
    plant = Realistic(Simulator(wbc.load("arm")), lag=10e-3)
    plant.apply(np.full(7, 2.0))
    for _ in range(10):
        plant.step()
    np.testing.assert_allclose(plant.torque, 2.0 * (1 - np.exp(-1)), rtol=1e-12)


def test_noise_is_what_was_asked_for_and_comes_from_its_seed():
    noise = Noise(0.01, 0.02, base_position=0.003, base_orientation=0.004, base_velocity=0.05, base_rate=0.06)
    robot = wbc.load("quadruped")
    errors = []
    plant = Realistic(Simulator(robot, ground="none"), noise=noise, seed=3)
    for _ in range(1500):
        plant.step()
        q, v = plant.state
        true_q, true_v = plant.true_state
        errors.append(np.concatenate([robot.difference(true_q, q), v - true_v]))
    spread = np.std(errors, axis=0)
    wanted = np.repeat([0.003, 0.004, 0.01, 0.05, 0.06, 0.02], [3, 3, 12, 3, 3, 12])
    np.testing.assert_allclose(spread, wanted, rtol=0.1)
    assert np.abs(np.mean(errors, axis=0) / wanted).max() < 0.15
    np.testing.assert_array_equal(plant.state[0], plant.state[0])
    readings = []
    for seed in (3, 3, 4):
        again = Realistic(Simulator(robot), noise=noise, seed=seed)
        again.step()
        readings.append(again.state[0])
    np.testing.assert_array_equal(readings[0], readings[1])
    assert (readings[0] != readings[2]).any()
    plant.reset()
    plant.step()
    np.testing.assert_allclose(plant.state[1] - plant.true_state[1], again_of(robot, noise), atol=1e-15)


def again_of(robot: wbc.Dynamics, noise: Noise) -> np.ndarray:
    """The first error of the velocity with seed 3."""
    plant = Realistic(Simulator(robot, ground="none"), noise=noise, seed=3)
    plant.step()
    return plant.state[1] - plant.true_state[1]


def test_a_mass_error_scales_masses_and_inertias_only():
    robot = wbc.load("quadruped")
    heavy = wbc.load(with_mass_error(robot.model, 1.1))
    q, v = np.array(robot.model.nominal), np.linspace(-1, 1, 18)
    robot.update(q, v)
    heavy.update(q, v)
    armature = np.diag(robot.model.armature)
    np.testing.assert_allclose(heavy.mass_matrix - armature, 1.1 * (robot.mass_matrix - armature), atol=1e-12)
    np.testing.assert_allclose(heavy.com, robot.com, atol=1e-14)
    assert heavy.model.feet == robot.model.feet
    loaded = with_mass_error(robot.model, 1.5, ["base"])
    assert loaded.mass - robot.mass == pytest.approx(0.5 * robot.model.bodies["base"].mass)


@pytest.mark.parametrize("simulator", ["builtin", "mujoco"])
def test_the_quadruped_stands_although_all_is_wrong(simulator):
    if simulator == "mujoco":
        pytest.importorskip("mujoco")
    controller, q = standing("quadruped")
    noise = Noise(1e-4, 5e-3, base_position=1e-4, base_orientation=1e-4, base_velocity=2e-3, base_rate=2e-3)
    wrong = Realism(mass=1.1, friction=0.7, delay=2e-3, lag=2e-3, noise=noise, seed=1)
    late = make_plant(controller.robot, simulator, realism=wrong)
    assert late.model.mass == pytest.approx(1.1 * controller.robot.mass)
    log = run(controller, late, 1.0)
    assert log.ended == "finished"
    assert 5e-5 < np.std(log.q[:, 7:] - log.true_q[:, 7:]) < 2e-4, "the log has what was measured, and what was true"
    true = late.true_state[0]
    assert np.abs(true[:2] - q[:2]).max() < 1e-2
    sag = 0.1 * 9.81 / (2 * np.pi * 3.0) ** 2 / 1.1  # a tenth of the weight on the base's spring: 3 Hz
    assert q[2] - true[2] == pytest.approx(sag, abs=1e-3), "it sags under a load that it does not know"


def test_wrong_options_are_named():
    plant = Simulator(wbc.load("arm"))
    with pytest.raises(wbc.WbcError, match="multiple of the plant's timestep"):
        Realistic(plant, delay=1.5e-3)
    with pytest.raises(wbc.WbcError, match=r"lag, s, = -1\.0 must be a number, 0 or more"):
        Realistic(plant, lag=-1.0)
    with pytest.raises(wbc.WbcError, match="delay, s, = 'x'"):
        Realistic(plant, delay="x")
    for bad in (-1.0, np.inf, "x", [0.1] * 7):
        with pytest.raises(wbc.WbcError, match="noise: position, a standard deviation, = "):
            Noise(position=bad)
    with pytest.raises(wbc.WbcError, match="must be a Plant"):
        Realistic("plant")
    with pytest.raises(wbc.WbcError, match="no body 'bse'"):
        with_mass_error(plant.model, 1.1, ["bse"])
    for bad in (0.0, np.inf, "x"):
        with pytest.raises(wbc.WbcError, match="factor"):
            with_mass_error(plant.model, bad)
    with pytest.raises(wbc.WbcError, match=r"such as robot\.model"):
        with_mass_error(wbc.load("arm"), 1.1)
    with pytest.raises(wbc.WbcError, match="no simulator"):
        make_plant(plant.model, "gazebo")
    with pytest.raises(wbc.WbcError, match="realism = 3"):
        make_plant(plant.model, "builtin", realism=3)
    negative = {"mass": 0.0, "friction": -1.0, "delay": np.nan, "lag": -1.0, "noise": 0.1, "bodies": "base", "seed": -1}
    absurd = {"mass": np.inf, "friction": np.inf, "delay": 1e9, "lag": np.inf, "noise": [1], "bodies": 3, "seed": "x"}
    for name, bad in [*negative.items(), *absurd.items()]:
        with pytest.raises(wbc.WbcError, match=f"realism: {name}"):
            Realism(**{name: bad})
    with pytest.raises(wbc.WbcError, match="torque"):
        Realistic(plant).apply([1.0])
