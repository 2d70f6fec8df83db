"""A robot of your own: from a URDF file, which is put into a simulator, and from an MJCF file, which is one.

Give a file of yours: `python examples/10_own_robot.py my_robot.urdf`. Without one, two small ones are written first: an
arm on a slide, as a URDF, and a three-legged stool that moves its seat, as an MJCF.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tasks
import wbc
from wbc.application.drawing import draw
from wbc.simulation import MujocoSimulator, Scene, make_plant

LINK = """<link name="{name}"><inertial><origin xyz="{x} 0 {z}"/><mass value="2"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="{x} 0 {z}"/><geometry><box size="{size}"/></geometry>
  <material name="{name}"><color rgba="{color} 1"/></material></visual></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{at}" rpy="0 {tilt} 0"/><axis xyz="0 1 0"/>
  <limit lower="-1.5" upper="1.5" effort="80" velocity="5"/><dynamics damping="0.2"/></joint>"""
URDF = "\n".join(
    [
        '<robot name="slider">',
        LINK.format(name="rail", x=0, z=0.25, size="0.12 0.9 0.5", color="0.3 0.3 0.35"),
        LINK.format(name="carriage", x=0, z=0.05, size="0.2 0.2 0.1", color="0.9 0.6 0.2"),
        LINK.format(name="upper", x=0.2, z=0, size="0.4 0.08 0.08", color="0.9 0.9 0.88"),
        LINK.format(name="fore", x=0.15, z=0, size="0.3 0.06 0.06", color="0.3 0.6 0.8"),
        '<link name="hand"/>',
        JOINT.format(name="slide", kind="prismatic", parent="rail", child="carriage", at="0 0 0.5", tilt=0),
        JOINT.format(name="shoulder", kind="revolute", parent="carriage", child="upper", at="0 0 0.1", tilt=-0.7),
        JOINT.format(name="elbow", kind="revolute", parent="upper", child="fore", at="0.4 0 0", tilt=1.2),
        JOINT.format(name="end", kind="fixed", parent="fore", child="hand", at="0.3 0 0", tilt=0),
        "</robot>",
    ]
)
LEG = """<body name="leg{n}" euler="0 0 {turn}"><body name="thigh{n}" pos="0.15 0 0">
  <joint name="spread{n}" axis="1 0 0"/><joint name="swing{n}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0.12 0 -0.15" size="0.025" mass="0.6" rgba="0.9 0.9 0.88 1" conaffinity="0"/>
  <body name="shin{n}" pos="0.12 0 -0.15"><joint name="knee{n}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 -0.06 0 -0.23" size="0.02" mass="0.3" rgba="0.3 0.6 0.8 1" conaffinity="0"/>
  <geom type="sphere" pos="-0.06 0 -0.25" size="0.02" mass="0.05" rgba="0.1 0.1 0.1 1"/>
  <site name="foot{n}" pos="-0.06 0 -0.27"/></body></body></body>"""
JOINTS = [f"{joint}{n}" for n in range(3) for joint in ("spread", "swing", "knee")]
MOTORS = "".join(f'<motor joint="{joint}" gear="20" ctrlrange="-2 2"/>' for joint in JOINTS)
MJCF = f"""<mujoco model="stool"><option timestep="0.001" cone="elliptic" impratio="100"/>
<compiler angle="degree" autolimits="true"/>
<worldbody><geom type="plane" size="5 5 0.1"/><body name="seat" pos="0 0 0.42"><freejoint/>
  <geom type="cylinder" size="0.18 0.03" mass="6" rgba="0.9 0.6 0.2 1" conaffinity="0"/>
  {"".join(LEG.format(n=n, turn=120 * n) for n in range(3))}</body></worldbody><actuator>{MOTORS}</actuator></mujoco>"""
FILES = {"slider.urdf": URDF, "stool.xml": MJCF}


def scene(backend="auto", solver="elastic-qp", simulator="mujoco", path="slider.urdf"):
    """Any robot holds its posture; one with sites called foot stands on them; the last body or site draws a circle."""
    with tempfile.TemporaryDirectory() as folder:
        if path in FILES:
            text, path = FILES[path], Path(folder) / path
            path.write_text(text)
        robot = wbc.load(path, backend)
        # An MJCF file has floor, motors and all, and is for MuJoCo; a URDF has none of it, and is for any simulator.
        plant = make_plant(robot, simulator) if Path(path).suffix == ".urdf" else MujocoSimulator(path)
    robot.update(plant.state[0])
    feet = [wbc.PointContact(frame, 0.5) for frame in robot.frames if frame.startswith("foot")]
    moved = robot.model.root if robot.model.floating else robot.frames[-1]
    home = robot.pose(moved)[:3, 3].copy()

    def circle(t):  # sideways and up, from rest; with velocity and acceleration, so that nothing lags behind
        r = min(t, 1.0)
        angle, rate, change = 2.0 * (t - r + r**2 / 2), 2.0 * r, 2.0 * (t < 1)
        around, along = np.array([0.0, -np.sin(angle), -np.cos(angle)]), np.array([0.0, np.cos(angle), -np.sin(angle)])
        acceleration = np.append(0.06 * (change * along + rate**2 * around), np.zeros(3))
        return (
            home + np.array([0.0, 0.0, -0.06]) - 0.06 * around,
            np.append(0.06 * rate * along, np.zeros(3)),
            acceleration,
        )

    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion(wbc.Gains(kp=0.0, kd=20.0))
    move = tasks.EndEffectorAcceleration(moved, circle, wbc.Gains(4.0), axes="position", name="circle")
    if robot.model.floating:
        move = move + tasks.EndEffectorAcceleration(moved, axes="orientation", name="upright")
    stack = tasks.EquationOfMotion() / limits / move / tasks.JointAcceleration()
    return Scene(wbc.Controller(robot, wbc.Stack(stack, feet), solver), plant, 7.0)


def main(duration=None, out="out", paths=FILES):
    """Runs the two robots, or those of the files that are given."""
    scenes = [scene(path=path) for path in paths]
    figure, figures = plt.figure(figsize=(13, 4 * len(scenes))), {}
    for row, run in enumerate(scenes):
        log, robot, bottom = run.run(duration), run.controller.robot, 1 - (row + 1) / len(scenes)
        task, height = run.controller.stack["circle"], 1 / len(scenes)
        place = np.array([robot.update(q) or robot.pose(task.frame)[:3, 3] for q in log.q])
        off = 1e3 * (place - [task.target(t)[0] for t in log.time])
        figures[robot.model.name] = float(np.linalg.norm(off, axis=1).max())
        print(f"{robot!r}: {task.frame} off its circle by {figures[robot.model.name]:.2f} mm at most; {log.ended}")
        axes = figure.add_axes((0.0, bottom, 0.35, 0.9 * height), projection="3d", title=robot.model.name)
        draw(axes, robot, log.q[-1])
        axes.plot(*np.transpose(place), "C3", zorder=10)
        left, right = (figure.add_axes((x, bottom + 0.12 * height, 0.26, 0.74 * height)) for x in (0.40, 0.72))
        left.plot(log.time, off, label=["x", "y", "z"])
        left.set(title=f"{task.frame} off its circle, mm", xlabel="time, s")
        left.legend()
        right.plot(log.time, 100 * np.max(np.abs(log.torque) / robot.limits.effort, axis=1))
        right.set(title="used of the motors' limits, %", xlabel="time, s")
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main(paths=sys.argv[1:] or FILES)
