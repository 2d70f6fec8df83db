"""Scenes as environments of gymnasium: a policy acts beside, below or instead of a controller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from wbc.arrays import Array
from wbc.control.protocol import TorqueController
from wbc.errors import WbcError, number, show, unknown_name
from wbc.simulation import Scene
from wbc.simulation.fall import Fall
from wbc.simulation.loop import control_period, push_all, verdict
from wbc.sweeps.overrides import check_overrides, load_case
from wbc.sweeps.values import Drawn, choices
from wbc.tasking.target import Targeted

try:
    import gymnasium
except ImportError as error:
    raise WbcError(f"environments need gymnasium: pip install 'wbc[gym]' ({error})") from None

Action = Literal["targets", "torques", "residual"]
ACTIONS = ("targets", "torques", "residual")
LARGEST_SEED = 2**31

Reward = Callable[[Scene, Array, Array], float]
"""What a second is worth: of the scene, the torques of the last tick, and the action."""


class SceneEnvironment(gymnasium.Env):  # type: ignore[misc]  # gymnasium is not looked at
    """A scene as an environment of gymnasium. See `make`.

    The observation is q and v as the plant measures them, shape (nq + nv,). The action is in [−1, 1]. An episode ends
    where the robot falls or the plant becomes unstable, and is truncated after the scene's duration. `info` has the
    time, s, under "time", and how an episode ended under "ended".
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  gymnasium has it so

    def __init__(
        self,
        scene: str,
        action: Action,
        task: str,
        scale: float,
        every: int,
        spread: float,
        reward: Reward | None,
        parameters: Mapping[str, object],
    ) -> None:
        if action not in ACTIONS:
            raise unknown_name("kind of action", action, ACTIONS)
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:
            raise WbcError(f"every = {show(every)} must be a whole number of ticks, 1 or more")
        self._name, self._action, self._task, self._every = scene, action, task, every
        self._scale, self._spread = number(scale, "scale", above=True), number(spread, "spread")
        self._reward = _standing if reward is None else reward
        self._choices = {name: choices(name, given) for name, given in parameters.items()}
        chosen = self._chosen(np.random.default_rng(0))
        check_overrides(scene, chosen)
        self._begin(chosen, 0)
        q, v = self.scene.plant.state
        size = len(q) + len(v)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (self._size,), np.float32)

    def _chosen(self, random: np.random.Generator) -> dict[str, Any]:
        """The values of the parameters for an episode."""
        seed = int(random.integers(LARGEST_SEED))
        return {
            name: values.value(name, seed) if isinstance(values, Drawn) else values[int(random.integers(len(values)))]
            for name, values in self._choices.items()
        }

    def _begin(self, overrides: Mapping[str, Any], seed: int) -> None:
        """Makes the scene anew: nothing of the last episode is left in it."""
        found = load_case(self._name, overrides, seed)
        if not isinstance(found, Scene):
            raise WbcError("an environment needs a scene with a plant: this one moves a robot by velocities")
        self.scene: Scene = found
        self.scene.controller.period, self._steps = control_period(self.scene.controller, self.scene.plant)
        self._limits = self.scene.plant.model.limits.effort
        if self._action != "targets" and not np.isfinite(self._limits).all():
            raise WbcError("an actuator of this robot has no torque limit, so actions can't be scaled")
        self._offset = _Offset(self.scene.controller, self._task) if self._action == "targets" else None
        self._size = len(self._limits) if self._offset is None else self._offset.size

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """See `gymnasium.Env`: the scene from its start, with values and a state drawn by the seed."""
        super().reset(seed=seed, options=options)
        random = self.np_random
        self._begin(self._chosen(random), int(random.integers(LARGEST_SEED)))
        plant, robot = self.scene.plant, self.scene.robot
        q, v = plant.true_state
        if self._spread:
            moved = self._spread * random.normal(size=(2, robot.nv))
            q, v = robot.integrate(q, moved[0], 1.0), v + moved[1]
            plant.reset(q, v)
        self._fall = Fall(robot.copy(), q)
        self._started = plant.time
        return self._observed(), {"time": 0.0, "ended": ""}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """See `gymnasium.Env`: `every` ticks of the controller."""
        given = np.clip(np.asarray(action, float), -1.0, 1.0)
        scene, plant = self.scene, self.scene.plant
        ended, torque = "", np.zeros(len(self._limits))
        for _ in range(self._every):
            now = plant.time - self._started
            torque = self._torque(given, now)
            plant.apply(torque)
            push_all(plant, tuple(scene.disturbances), now)
            for _ in range(self._steps):
                plant.step()
            ended = verdict(plant, plant.state, plant.true_state, self._fall)
            if ended:
                break
        time = plant.time - self._started
        late = time >= scene.duration - 1e-9
        reward = 0.0 if ended else self._every * scene.period * float(self._reward(scene, torque, given))
        return self._observed(), reward, bool(ended), bool(late and not ended), {"time": time, "ended": ended}

    def _torque(self, action: Array, now: float) -> Array:
        """What the actuators are told."""
        if self._action == "torques":
            return self._scale * action * self._limits
        scene = self.scene
        if scene.targets is not None:
            scene.targets(now, scene.controller)
        if self._offset is not None:
            self._offset.set(self._scale * action)
        torque = scene.controller.step(*scene.plant.state, now).torque
        if self._action == "residual":
            torque = np.clip(torque + self._scale * action * self._limits, -self._limits, self._limits)
        return torque

    def _observed(self) -> Array:
        """Q and v; what is not finite any more is zero."""
        found: Array = np.nan_to_num(np.concatenate(self.scene.plant.state), nan=0.0, posinf=0.0, neginf=0.0)
        return found


class _Offset:
    """Moves the target of a task by an action."""

    def __init__(self, controller: TorqueController, name: str) -> None:
        task = controller.stack[name] if name else next(iter(_movable(controller)), None)
        if task is None:
            raise WbcError("no task of this scene has a target to act on")
        if not isinstance(task, Targeted) or task.target is None:
            raise WbcError(
                f"{name!r} has no target and holds its initial value; give it one in the scene, or choose another task="
            )
        self._task = task
        self._base: Any = task.target
        value = self._parts(0.0)[0]
        if value.shape == (3, 3):
            raise WbcError("the target is an orientation, which actions can't move; choose another task=")
        self.size = 3 if value.ndim == 2 else len(value)

    def _parts(self, t: float) -> list[Array]:
        """The value that the scene wants, and its rates where it gives them."""
        found = self._base(t) if callable(self._base) else self._base
        whole = isinstance(found, tuple) and len(found) == 3 and np.ndim(found[0]) > 0
        return [np.array(part, float) for part in (found if whole else (found,))]

    def set(self, offset: Array) -> None:
        """Puts the target beside the one that the scene has."""

        def moved(t: float) -> Any:  # noqa: ANN401  as the scene's own target
            value, *rates = self._parts(t)
            if value.ndim == 2:
                value[:3, 3] += offset
            else:
                value = value + offset
            return (value, *rates) if rates else value

        self._task.target = moved


def _movable(controller: TorqueController) -> Iterator[Any]:
    """Tasks with a target of their own, highest priority first."""
    return (task for task in controller.stack if isinstance(task, Targeted) and task.target is not None)


def make(
    scene: str,
    action: Action = "targets",
    *,
    task: str = "",
    scale: float = 0.1,
    every: int = 10,
    spread: float = 0.0,
    reward: Reward | None = None,
    **parameters: object,
) -> SceneEnvironment:
    """An environment of gymnasium out of a scene.

    Args:
        scene: see `wbc.cases`.
        action: "targets" moves the target of a task, the controller does the rest; "torques" are those of the
            actuators, without the controller; "residual" is added to the controller's torques.
        task: whose target is moved, by name; empty: the first that has one.
        scale: what an action of 1 is: of a target, m or rad; of torques, the share of the actuators' limits.
        every: ticks of the controller in a step.
        spread: standard deviation of the first q and v about the scene's own, m, rad, m/s, rad/s.
        reward: what a second is worth, of the scene, the torques and the action, after each step; None: 1.
        parameters: as for `wbc.cases`: lists and what is drawn are chosen anew for each episode.
    """
    return SceneEnvironment(scene, action, task, scale, every, spread, reward, parameters)


def make_vec(scene: str, count: int, *arguments: Any, processes: bool = False, **options: Any) -> Any:  # noqa: ANN401
    """Many environments as one, of gymnasium's: each with its own state.

    Args:
        scene: see `make`, as all that follows.
        count: of the environments.
        arguments: see `make`.
        processes: whether each is in a process of its own.
        options: see `make`.
    """
    kind: Any = gymnasium.vector.AsyncVectorEnv if processes else gymnasium.vector.SyncVectorEnv
    return kind([lambda: make(scene, *arguments, **options) for _ in range(count)])


def _standing(scene: Scene, torque: Array, action: Array) -> float:
    """As long as an episode lasts, a second is worth one."""
    return 1.0
