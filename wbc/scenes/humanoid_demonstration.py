"""The humanoid's demonstration: it walks, goes round two bends, is pushed, and climbs three steps."""

from __future__ import annotations

import wbc
from tasks.locomotion import Walk
from wbc.control.controller import Controller
from wbc.control.protocol import TorqueController
from wbc.scenes.commands import command_at, settled_speeds, speeds
from wbc.simulation.log import Log
from wbc.simulation.loop import Push
from wbc.simulation.realism import Realism
from wbc.simulation.scene import Scene, make_plant
from wbc.simulation.terrain import stairs

COMMANDS = (
    (0.0, (0.3, 0.0, 0.0), "walks"),
    (3.5, (0.25, 0.0, 0.3), "turns left"),
    (5.5, (0.25, 0.0, -0.3), "turns right"),
    (7.5, (0.25, 0.0, 0.0), "walks on"),
    (17.0, (0.0, 0.0, 0.0), "stops"),
)
"""From when in s, which velocity: forward and to the left in m/s, yaw rate in rad/s; and words for it."""

CLIMBS = 12.0
"""When it has come to the steps, s."""

PUSH, PUSHING, IMPULSE = 8.5, 0.2, 12.0
"""When it is pushed, backwards: start and duration, s, and the impulse, N s."""

FIRST, RUN, RISE, COUNT = 2.9, 0.35, 0.08, 3
"""The steps: where the first one begins, how far it is from one to the next, and how high each is, m; their number."""

WALKING = 2.0
"""When it has come to the height at which it walks, s."""

DURATION = 18.5
"""Of all that, s."""


def demo_humanoid(
    backend: str = "auto",
    solver: str = "elastic-qp",
    simulator: str = "mujoco",
    impulse: float = IMPULSE,
    realism: Realism | None = None,
) -> Scene:
    """The humanoid walks, goes round two bends, is pushed backwards, and climbs three steps.

    Args:
        backend: see `wbc.load`.
        solver: see `wbc.Controller`.
        simulator: "mujoco" or "builtin".
        impulse: of the push, N s.
        realism: what the plant is that the controller does not know; None: nothing.
    """
    robot = wbc.load("humanoid", backend)  # type: ignore[arg-type]  # a wrong name is told
    ground = stairs(FIRST, RISE, RUN, COUNT, width=10.0, top=10.0, down=False)
    walk = Walk(robot, terrain=ground)
    force = impulse / PUSHING
    return Scene(
        Controller(robot, walk.stack(), solver),
        make_plant(robot, simulator, realism=realism, terrain=ground),
        DURATION,
        Commanded(walk),
        [Push("torso", (-force, 0.0, 0.0), PUSH, PUSHING)],
        phases=sorted(
            [
                *((start, words) for start, _, words in COMMANDS),
                (PUSH, f"pushed, {force:.0f} N"),
                (PUSH + 3 * PUSHING, "recovers"),
                (CLIMBS, "climbs"),
            ]
        ),
        figures=figures,
    )


class Commanded:
    """Tells a walk the commands of the demonstration. It is a class so that a scene can be pickled.

    Args:
        walk: of the humanoid.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    def __call__(self, t: float, controller: TorqueController) -> None:
        """Sets the command for the tick at a time, s."""
        self._walk.command = command_at(COMMANDS, t)
        self._walk.update(t, controller)


def figures(log: Log) -> dict[str, str]:
    """How fast it walked, how the push moved it, and how high it climbed; of what the log reaches.

    Args:
        log: of the demonstration.
    """
    found = {}
    for words, command, (forward, _, turning) in settled_speeds(log, COMMANDS, PUSH):
        found[words] = (
            f"{forward:.2f} m/s forward ({command[0]:g} wanted), turning {turning:.2f} rad/s ({command[2]:g})"
        )
    if log.time[-1] > PUSH + 1.0:
        after = (log.time >= PUSH) & (log.time < PUSH + 1.0)
        found["pushed backwards"] = f"slowest at {speeds(log)[after, 0].min():.2f} m/s forward"
    if log.time[-1] > COMMANDS[-1][0]:
        walking = log.true_q[log.time >= WALKING][0, 2]  # lower than it stands at first
        found["climbed"] = f"{log.true_q[-1, 2] - walking:.2f} m ({COUNT * RISE:g} wanted)"
    return found
