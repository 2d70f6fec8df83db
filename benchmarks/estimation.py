"""How good estimates of the base are: against a simulator's truth, and whether they are as good as they say.

A trot in closed loop by estimated states, with noise, bias and a slippery floor, beside the same by true states; then
the normalised squared errors of many runs of the filter over one motion, each with errors of its own.

usage: python -m benchmarks.estimation [SECONDS [RUNS]]
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from scipy.stats import chi2

import wbc
from benchmarks.trotting import SETTLE, Judged, Trotting
from wbc.estimation import FilterNoise
from wbc.estimation.invariant_filter import R, V
from wbc.geometry import quaternion, so3
from wbc.realtime import Imu, PlantIO, Report, SensorErrors, State, SteppedClock, run

FLOORS = {"firm": 1.0, "slippery": 0.35}
"""Friction of the floor; the controller counts on 0.5."""

FILTERED = 3.0
"""Of each run for the normalised errors, s."""


class Kept(PlantIO):
    """A plant whose true states are kept."""

    def __init__(self, *given: object, **options: object) -> None:
        super().__init__(*given, **options)  # type: ignore[arg-type]
        self.states: list[State] = []
        self.slid = 0.0
        self._robot = wbc.load("quadruped", "numpy")

    def read(self) -> State:
        """See `RobotIO`."""
        state = super().read()
        self.states.append(state)
        return state

    def measure_slip(self) -> None:
        """Adds the way that feet slid on the ground since the last call, m."""
        self._robot.update(*self.plant.true_state)
        for foot, force in self.plant.contact_forces.items():
            if force[2] > 30.0:
                rolled = np.cross(self._robot.twist(foot)[3:], [0.0, 0.0, 0.025])[:2]
                slid = np.linalg.norm(self._robot.twist(foot)[:2] - rolled)
                self.slid += 1e-3 * float(slid)


ESTIMATED: tuple[tuple[str, dict[str, object]], ...] = (
    ("firm", {"contacts": "sensors"}),
    ("slippery", {"contacts": "sensors", "level": 5e-3}),
    ("slippery", {"contacts": "torques", "level": 5e-3}),
)
"""The floor, and how the estimator is made."""


def trot(seconds: float, friction: float, options: dict[str, object] | None) -> tuple[Report, Kept, Judged | None]:
    """A trot in closed loop by true states, or by estimated ones with usual errors of the sensors."""
    made = Trotting("numpy")
    plant = wbc.MujocoSimulator(made.controller.robot, friction=friction)
    io = Kept(plant, errors=None if options is None else SensorErrors.usual(), seed=1)
    judged = None if options is None else Judged(made.controller.robot, **options)

    def steer(t: float, controller: wbc.Controller) -> None:
        io.measure_slip()
        made.steer(t, controller)

    report = run(made.controller, io, seconds, estimator=judged, clock=SteppedClock(), targets=steer)  # type: ignore[arg-type]
    return report, io, judged


def closed_loop(io: Kept) -> str:
    """What the robot truly did: how it kept to its command and its height."""
    base = np.array([np.concatenate(state.base) for state in io.states if state.base is not None])
    moving = base[round(1e3 * (SETTLE + 2.0)) :]
    turn = quaternion.to_matrix(moving[:, 3:7])
    forward = np.einsum("nij,ni->nj", turn, moving[:, 7:10])[:, 0]
    height, lean = moving[:, 2], np.degrees(np.arccos(turn[:, 2, 2]))
    return (
        f"forward {forward.mean():.3f} m/s (0.4 wanted), height {height.mean():.4f} m ± {1e3 * height.std():.1f} mm, "
        f"lean {lean.mean():.2f} deg; feet slid {io.slid:.2f} m in all"
    )


def with_errors(states: list[State], e: SensorErrors, seed: int, dt: float = 1e-3) -> list[State]:
    """True states as sensors with errors of their own would tell them."""
    random = np.random.default_rng(seed)
    normal, found = random.normal, []
    bias = np.repeat([e.gyro_bias, e.accelerometer_bias], 3) * normal(size=6)
    for state in states:
        bias = bias + np.repeat([e.gyro_walk, e.accelerometer_walk], 3) * np.sqrt(dt) * normal(size=6)
        off = bias + np.repeat([e.gyro, e.accelerometer], 3) / np.sqrt(dt) * normal(size=6)
        assert state.imu is not None
        found.append(
            replace(
                state,
                imu=Imu(state.imu.rate + off[:3], state.imu.force + off[3:]),
                position=state.position + e.position * normal(size=12),
                contacts={name: force + e.force * float(normal()) for name, force in state.contacts.items()},
            )
        )
    return found


def consistency(states: list[State], runs: int) -> np.ndarray:
    """Normalised squared errors of tilt and velocity, five numbers, at the end of each run."""
    errors = replace(SensorErrors.usual(), gyro_walk=2e-5, accelerometer_walk=2e-4, position=1e-3)
    noise = FilterNoise(
        gyro=errors.gyro, accelerometer=errors.accelerometer, gyro_bias=5e-3, accelerometer_bias=5e-2, tilt=0.01
    )
    chosen = [*range(R.start, R.start + 2), *range(V.start, V.stop)]
    found = []
    for seed in range(runs):
        judged = Judged(wbc.load("quadruped", "numpy"), noise=noise)
        for state in with_errors(states, errors, seed):
            judged.estimate(state)
        true_q, true_v = states[-1].base or (np.zeros(7), np.zeros(6))
        true = quaternion.to_matrix(true_q[3:7])
        turn = judged.filter.rotation @ true.T
        # the heading is nobody's: it is taken out of the error, and of the velocity
        heading = so3.exp([0.0, 0.0, -np.arctan2(turn[1, 0], turn[0, 0])])
        phi = so3.log(heading @ turn)
        velocity = heading @ judged.filter.velocity - so3.exp(phi) @ true_v[:3]
        xi = np.concatenate([phi[:2], velocity])
        spread = judged.filter.covariance[np.ix_(chosen, chosen)]
        found.append(float(xi @ np.linalg.solve(spread, xi)))
    return np.array(found)


def main(seconds: float = 60.0, runs: int = 100) -> None:
    """Prints it all."""
    report, io, _ = trot(seconds, FLOORS["firm"], None)
    print(f"true states, firm floor: {report.ended}; {closed_loop(io)}", flush=True)
    states = io.states[round(1e3 * (SETTLE - 0.5)) :][: round(1e3 * FILTERED)]
    for name, options in ESTIMATED:
        report, io, judged = trot(seconds, FLOORS[name], options)
        faults = "".join(f"; {fault}" for fault in report.faults)
        print(f"estimated states, {name} floor ({FLOORS[name]:g}), {options}: {report.ended}{faults}")
        print(f"  robot: {closed_loop(io)}")
        assert judged is not None
        print(f"  estimate: {judged.verdict()}", flush=True)
    with wbc.single_threaded():
        found = consistency(states, runs)
    low, high = chi2.ppf([0.025, 0.975], 5 * runs) / runs
    inside = float(np.mean(found < chi2.ppf(0.95, 5)))
    print(
        f"NEES of tilt and velocity over {runs} runs of {FILTERED:g} s: {found.mean():.2f} (5 is consistent, 95 % of "
        f"means between {low:.2f} and {high:.2f}); {100 * inside:.0f} % of the runs within 95 %"
    )


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((float, int), sys.argv[1:], strict=False)))
