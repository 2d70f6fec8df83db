"""How a tick grows: chains of 7 to 112 joints in random states, a humanoid with 5 to 17 levels.

usage: python -m benchmarks.growth
"""

from __future__ import annotations

import numpy as np

import tasks
import wbc
from benchmarks.ticks import Measured, Ticks, timed
from wbc.application import bench
from wbc.application.bench import backends
from wbc.model import Model, read_urdf

JOINTS = (7, 14, 28, 56, 112)
LEVELS = (5, 9, 17)
FREQUENCIES = {"chain, few torques at limits": 0.5, "chain, many torques at limits": 1.0}
"""Of a chain's tasks, Hz."""
STATES = 200
"""Random states of a chain: each is far from the one before, as never in a control loop."""


def chain(joints: int) -> Model:
    """Links of 0.1 m and 1 kg one after the other, their joints about x, y and z by turns.

    A joint's motor holds twice the weight of all that hangs on it, stretched out, and its rotor has 0.1 kg m².

    Args:
        joints: how many.
    """
    inertia = '<inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><origin xyz="0 0 0.05"/><mass value="1"/>{inertia}</inertial>'
    text = ['<robot name="chain"><link name="link_0"/>']
    for k in range(joints):
        axis = ("0 0 1", "0 1 0", "1 0 0")[k % 3]
        effort = 2.0 * 9.81 * 0.1 * (joints - k) ** 2 / 2
        text.append(
            f'<link name="link_{k + 1}">{body}</link><joint name="joint_{k}" type="revolute">'
            f'<origin xyz="0 0 {0.1 if k else 0.0}"/><parent link="link_{k}"/><child link="link_{k + 1}"/>'
            f'<axis xyz="{axis}"/><limit lower="-2" upper="2" velocity="1" effort="{effort:.3f}"/></joint>'
        )
    rotors = "".join(f'<joint name="joint_{k}" armature="0.1"/>' for k in range(joints))
    return read_urdf("".join([*text, f"<wbc>{rotors}</wbc></robot>"]).encode())


def time_chain(joints: int, frequency: float) -> tuple[Ticks, float]:
    """Ticks of a chain in random states within its limits of position and speed; how many torques are at a limit.

    Args:
        joints: how many.
        frequency: of the tool and the posture, Hz: the higher, the more torques reach their limits.
    """
    robot, rng = wbc.load(chain(joints), backends()[0]), np.random.default_rng(0)  # type: ignore[arg-type]
    robot.update(np.full(joints, 0.3), np.zeros(joints))
    gains = wbc.Gains(frequency)
    tool = tasks.EndEffectorAcceleration(f"link_{joints}", robot.pose(f"link_{joints}").copy(), gains)
    posture = tasks.JointAcceleration(np.full(joints, 0.3), gains=gains)
    levels = tasks.EquationOfMotion() / tasks.TorqueLimits() / tool / posture / tasks.TorqueMinimization()
    controller = wbc.Controller(robot, wbc.Stack(levels))  # its states lie apart
    count = min(STATES, 3 * STATES * 14 // joints)
    states = [(rng.uniform(-2.0, 2.0, joints), rng.uniform(-1.0, 1.0, joints)) for _ in range(count)]
    held = []

    def step(tick: int) -> None:
        held.append(controller.step(*states[tick % count], 1e-3 * tick))

    times = timed(step, max(count, min(10 * STATES, 20 * STATES * 14 // joints**2 * 14)), 20)
    return Ticks.of(times), float(np.mean([len(solution.active) for solution in held[-count:]]))


def humanoid(levels: int) -> tuple[wbc.Controller, np.ndarray]:
    """The packaged humanoid on its feet, its work divided into so many levels; and its configuration.

    Args:
        levels: 5, 9 or 17.
    """
    robot = wbc.load("humanoid", backends()[0])  # type: ignore[arg-type]
    frame, gains = tasks.EndEffectorAcceleration, wbc.Gains(2.0)

    def hold(name: str, axes: str | tuple[str, ...]) -> wbc.Task:
        return frame(
            name, axes=axes, gains=gains, name=f"{' and '.join(axes) if isinstance(axes, tuple) else axes} of {name}"
        )

    def posture(*words: str) -> wbc.Task:
        joints = [joint for joint in robot.joint_names if any(word in joint for word in words)]
        return tasks.JointAcceleration(joints=joints, name=f"posture of {words[0]}")

    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    com, whole, effort = tasks.CenterOfMass(), tasks.JointAcceleration(), tasks.TorqueMinimization()
    trunk, hands = hold("base", "orientation"), [hold(hand, "position") for hand in robot.model.hands]
    work = {
        5: [com, whole, effort],
        9: [com, trunk, *hands, hold("head", ("ry", "rz")), whole, effort],
        17: [
            *(com, trunk, hold("torso", "orientation"), *hands),
            *(hold(hand, "orientation") for hand in robot.model.hands),
            *(hold("head", ("ry", "rz")), posture("waist"), posture("neck"), posture("left_shoulder", "left_elbow")),
            *(posture("right_shoulder", "right_elbow"), posture("wrist"), whole, effort),
        ],
    }[levels]
    soles = robot.model.soles
    contacts = [wbc.SurfaceContact(foot, 0.6, soles[foot]) for foot in robot.model.feet]
    stacked = tasks.EquationOfMotion() / limits
    for task in work:
        stacked /= task
    return wbc.Controller(robot, wbc.Stack(stacked, contacts=contacts)), np.array(robot.model.nominal)


def time_humanoid(levels: int) -> Ticks:
    """Ticks of the humanoid at 50 random velocities around its nominal pose.

    Args:
        levels: see `humanoid`.
    """
    controller, q = humanoid(levels)
    assert len(controller.stack) == levels
    return Ticks.of(bench.measure("humanoid", "", "", controller, q, 1500).times)


def measure() -> Measured:
    """Ticks by joints of a chain, and by levels of the humanoid."""
    found: Measured = {}
    for name, frequency in FREQUENCIES.items():
        found[name] = {str(joints): time_chain(joints, frequency)[0] for joints in JOINTS}
    return found | {"levels": {str(levels): time_humanoid(levels) for levels in LEVELS}}


if __name__ == "__main__":
    print(f"on {backends()[0]}; elastic-qp runs on {bench.runs_on()}")
    for name, frequency in FREQUENCIES.items():
        for joints in JOINTS:
            ticks, held = time_chain(joints, frequency)
            print(f"{name}: {joints:3} joints  {ticks}; {held:.1f} at a limit on average")
    for levels in LEVELS:
        print(f"humanoid, {levels:2} levels  {time_humanoid(levels)}")
