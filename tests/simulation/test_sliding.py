"""From which speed on MuJoCo lets go of what slides under a force."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import tasks
import wbc
from tests.closed_loops import mjcf
from wbc.simulation import MujocoSimulator, sliding_speed_limit

MASS = 3.0


def pressed(force: float, friction: float, speed: float, solref: str = ".02 1", looks: bool = False) -> np.ndarray:
    """The normal force on a ball that is pressed on a table and pushed along it, N, shape (ticks,)."""
    table = f'<geom type="box" size="2 2 .1" pos="0 0 -.1" friction="{friction}" solref="{solref}"/>'
    ball = f"""<body name="ball" pos="0 0 .0201"><joint name="along" type="slide" axis="1 0 0"/>
      <joint name="across" type="slide" axis="0 0 1"/>
      <geom size=".02" mass="{MASS}" friction="{friction}" solref="{solref}"/></body>"""
    motors = '<motor joint="along"/><motor joint="across"/>'
    text = mjcf(table + ball, f"<actuator>{motors}</actuator>").replace(
        'timestep=".001"', 'timestep=".001" gravity="0 0 0" cone="elliptic"'
    )
    plant = MujocoSimulator(mujoco.MjModel.from_xml_string(text))
    plant.measure(["ball"])
    found = []
    for _ in range(1500):
        v = plant.state[1]
        plant.apply([friction * force + 500.0 * (speed - v[0]), -force - 20.0 * MASS * v[1]])
        plant.step()
        if looks:
            found.append(plant.contact_forces["ball"][2])
        else:
            found.append(float(plant.mj_data.efc_force[0]) if plant.mj_data.ncon else 0.0)
    return np.array(found)


@pytest.mark.parametrize(
    ("force", "friction", "solref"),
    [(10.0, 0.3, ".02 1"), (10.0, 1.0, ".02 1"), (40.0, 0.3, ".02 1"), (10.0, 0.3, ".05 1")],
)
def test_what_slides_faster_is_let_go_and_what_slides_slower_is_not(force: float, friction: float, solref: str) -> None:
    limit = sliding_speed_limit(force, MASS, friction, [float(x) for x in solref.split()])
    slow, fast = (pressed(force, friction, share * limit, solref)[-500:] for share in (0.8, 1.3))
    assert slow.min() > 0.0 and abs(slow.mean() - force) < 0.02 * force
    assert (fast == 0.0).mean() > 0.01 and abs(fast.mean() - force) < 0.1 * force


def test_a_measured_contact_that_chatters_is_warned_of_once() -> None:
    with pytest.warns(wbc.WbcWarning, match="MuJoCo lifts 'ball', which slides with 0") as caught:
        force = pressed(10.0, 0.3, 0.1, looks=True)
    assert len(caught) == 1
    mean = np.convolve(force, np.ones(10) / 10, "valid")[-500:]
    assert np.sqrt(np.mean((mean - 10.0) ** 2)) < 2.0, "as measured over 10 ms"
    pressed(10.0, 0.3, 0.005, looks=True)


def test_bad_values_are_named() -> None:
    for bad in ((0.0, 1.0, 0.3), (10.0, -1.0, 0.3), (10.0, 1.0, 0.0)):
        with pytest.raises(wbc.WbcError, match="force|mass|friction"):
            sliding_speed_limit(*bad)
    with pytest.raises(wbc.WbcError, match="solref must be a time constant"):
        sliding_speed_limit(10.0, 1.0, 0.3, solref=(-1000.0, -100.0))
    with pytest.raises(wbc.WbcError, match="solimp must begin with"):
        sliding_speed_limit(10.0, 1.0, 0.3, solimp=(0.9, 1.5))


def wiper(solref: str, speed: float) -> tuple[wbc.Controller, MujocoSimulator]:
    """A ball on a portal that presses with 10 N on a table, and is to slide along it."""
    table = f'<geom type="box" size="2 2 .1" pos="0 0 -.1" friction=".3" solref="{solref}"/>'
    ball = f"""<body name="ball" pos="0 0 .02"><joint name="along" type="slide" axis="1 0 0"/>
      <joint name="across" type="slide" axis="0 0 1"/>
      <geom size=".02" mass="{MASS}" friction=".3" solref="{solref}"/><site name="tip" pos="0 0 -.02"/></body>"""
    motors = '<actuator><motor joint="along"/><motor joint="across"/></actuator>'
    robot = wbc.load(mujoco.MjModel.from_xml_string(mjcf(table + ball, motors)))
    place = lambda t: (np.array([speed * t, 0, 0]), np.array([speed, 0, 0]), np.zeros(3))  # noqa: E731
    along = tasks.EndEffectorAcceleration("tip", place, axes="x")
    cones = tasks.FrictionCones(sliding={"tip": lambda t: np.array([speed, 0.0, 0.0])})
    press = tasks.ContactForce("tip", (0.0, 0.0, 10.0), axes="z")
    rest = tasks.ContactMotion(wbc.Gains(kp=0.0, kd=100.0), axes="z")
    levels = tasks.EquationOfMotion() / (cones + rest) / (press + along)
    stack = wbc.Stack(levels, wbc.PointContact("tip", friction=0.3))
    return wbc.Controller(robot, stack, period=1e-3), MujocoSimulator(robot)


def test_what_is_to_slide_too_fast_is_warned_of_before_the_run() -> None:
    with pytest.warns(wbc.WbcWarning, match=r"faster than 0.01\d* m/s under 10 N, and 'tip' is to slide"):
        wbc.run(*wiper(".02 1", 0.1), 0.002)
    wbc.run(*wiper(".02 1", 0.01), 0.002)
    wbc.run(*wiper(".3 1", 0.1), 0.002)
