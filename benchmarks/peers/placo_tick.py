"""Time PlaCo's dynamics tick: state in, joint torques out. One JSON object on standard output.

Run with the interpreter of the environment that setup.sh made for it, OMP_NUM_THREADS=1.
The scene is `anymal` of tsid_tick.py: four hard point contacts, centre of mass and posture as weighted tasks of one QP,
friction pyramids and torque limits. A tick is update_kinematics + solve, at the same 50 velocities.
"""

import importlib.metadata
import importlib.util
import json
import pathlib
import re
import resource
import tempfile
import time

import numpy as np
import placo

PREFIX = pathlib.Path(importlib.util.find_spec("cmeel").origin).parents[1] / "cmeel.prefix"
URDF = PREFIX / "share/example-robot-data/robots/anymal_c_simple_description/urdf/anymal.urdf"
FEET = ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]


def stance(joint):
    leg, kind = joint[1], joint[-3:]
    return {"HAA": 0.0, "HFE": 0.4, "KFE": -0.8}[kind] * (1.0 if leg == "F" else -1.0)


def build():
    shapeless = re.sub(r"<(visual|collision)\b.*?</\1>", "", URDF.read_text(), flags=re.DOTALL)  # meshes are not there
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "anymal.urdf"
        path.write_text(shapeless)
        robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
    joints = list(robot.joint_names())
    for joint in joints:
        robot.set_joint(joint, stance(joint))
    robot.state.q[2] = 0.5
    robot.update_kinematics()
    solver = placo.DynamicsSolver(robot)
    solver.dt = 1e-3
    for foot in FEET:
        still = solver.add_position_task(foot, robot.get_T_world_frame(foot)[:3, 3])
        still.configure(foot, "hard", 1.0)
        still.kp = 100.0
        solver.add_point_contact(still).mu = 0.6
    com = solver.add_com_task(robot.com_world())
    com.configure("com", "soft", 1.0)
    posture = solver.add_joints_task()
    posture.set_joints({joint: robot.get_joint(joint) for joint in joints})
    posture.configure("posture", "soft", 1e-3)
    com.kp = posture.kp = 100.0
    solver.enable_torque_limits(True)
    return robot, solver


def interruptions():
    """How often another program has taken the processor: such ticks are left out."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def measure(ticks=3000):
    robot, solver = build()
    rng = np.random.default_rng(0)
    velocities = [0.1 * rng.normal(size=robot.model.nv) for _ in range(50)]
    times, quiet, failed = [], [], 0
    for k in range(ticks):
        robot.state.qd[:] = velocities[k % 50]
        before = interruptions()
        start = time.perf_counter()
        robot.update_kinematics()
        found = solver.solve()
        times.append(time.perf_counter() - start)
        quiet.append(interruptions() == before)
        failed += not found.success
    us = 1e6 * np.array(times)[quiet][100:]
    return {
        "peer": f"placo {importlib.metadata.version('placo')}",
        "scene": "anymal",
        "failed": int(failed),
        "median_us": round(float(np.median(us)), 1),
        "p99_us": round(float(np.percentile(us, 99)), 1),
    }


if __name__ == "__main__":
    print(json.dumps(measure()))
