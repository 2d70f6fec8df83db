"""An arm learns what its controller does not know: torques of its own on top of the controller's.

The arm is heavier than the controller believes, so it sags. What is learnt is added to the controller's torques
(`wbc.gym`, action "residual"): a linear function of the state, found by the cross-entropy method in less than a minute
on one core.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import tasks
import wbc
from wbc.simulation import Realism, Scene, make_plant

GENERATIONS, PEOPLE, ELITE = 12, 16, 4  # of the search: how often, how many policies, how many of them are taken over
HEAVIER = 1.6  # the arm's mass against what the controller believes


def scene(backend: str = "auto", solver: str = "elastic-qp", simulator: str = "mujoco", mass: float = HEAVIER) -> Scene:
    """The planar arm holds its place."""
    robot = wbc.load("planar_arm", backend)
    hold = tasks.JointAcceleration(robot.model.nominal, gains=wbc.Gains(1.5))
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / hold)
    plant = make_plant(robot, simulator, realism=Realism(mass=mass))
    return Scene(wbc.Controller(robot, stack, solver), plant, 0.6)


def off(scene):
    """How far the joints are from their place, rad."""
    return float(np.linalg.norm(scene.plant.true_state[0] - scene.robot.model.nominal))


def play(environment, policy, seed):
    """The return of an episode: minus the distance, summed over time, rad s.

    The action is linear in what is observed, with a constant: `policy` has the shape (joints, observations + 1).
    """
    observed, _ = environment.reset(seed=seed)
    total, done = 0.0, False
    nominal = np.append(environment.scene.robot.model.nominal, np.zeros(3))
    while not done:
        action = policy @ np.append(observed - nominal, 1.0)
        observed, reward, ended, truncated, _ = environment.step(action)
        total, done = total + reward, ended or truncated
    return total


def learn(environment, generations):
    """The mean policy at the end, and its return after each generation."""
    random, mean, spread = np.random.default_rng(0), np.zeros((3, 7)), np.full((3, 7), 0.5)
    returns = [play(environment, mean, 0)]
    for generation in range(1, generations + 1):
        tried = mean + spread * random.normal(size=(PEOPLE, 3, 7))
        best = sorted(tried, key=lambda policy: play(environment, policy, generation))[-ELITE:]
        mean, spread = np.mean(best, axis=0), np.std(best, axis=0) + 0.02
        returns.append(play(environment, mean, 0))
    return mean, returns


def main(duration=None, out="out"):
    """Learns, and draws how the return rises."""
    environment = wbc.gym.make(
        __file__, "residual", scale=0.3, every=20, spread=0.02, reward=lambda scene, torque, action: -off(scene)
    )
    policy, returns = learn(environment, GENERATIONS if duration is None else 1)
    play(environment, policy, 0)
    figures = {"before": returns[0], "after": returns[-1], "off": off(environment.scene)}
    print(f"return {returns[0]:.4f} before, {returns[-1]:.4f} after; {1e3 * figures['off']:.1f} mrad off at the end")
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(returns, "o-")
    axes.set(
        xlabel="generation", ylabel="return, rad s", title=f"an arm that is {HEAVIER} times as heavy as it believes"
    )
    axes.grid(alpha=0.3)
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / "16_learning.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
