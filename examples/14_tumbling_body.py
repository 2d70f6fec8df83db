"""A T-shaped handle spins about its stem in free space, and turns over again and again: a rigid body on a Lie group.

The stem is the axis of the middle moment of inertia, so its spin is not stable. Each time it turns over it passes the
vertical, which is where Euler angles z, y, x end. On the group there are no angles and nothing ends: energy and
momentum are kept to rounding. In Euler angles, with the same step, it comes out of the first passage somewhere else.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import wbc
from wbc.application.drawing import draw
from wbc.geometry import convert, euler, inertia, pose, so3
from wbc.liegroups import METHODS, RigidBody, simulate

STEP = 0.02  # s
SPIN = np.array([8.0, 0.04, 0.02])  # rad/s in the body: about the stem, and a little about the others
BAR, STEM = (0.2, 0.3), (0.09, 0.15)  # length, m, and mass, kg, of the two rods, 12 mm thick
AXES = (
    (np.pi / 2, 0, 0),
    (0, np.pi / 2, 0),
)  # of the rods, as rotation vectors from z: the bar along y, the stem along x
COLORS = (0.2, 0.5, 0.55, 1), (0.85, 0.5, 0.2, 1)


def handle():
    """The handle as a body with its origin at the centre of mass, and a robot of one floating joint to draw it."""
    places = np.array([[0.0, 0.0, 0.0], [STEM[0] / 2, 0.0, 0.0]])
    places -= np.average(places, axis=0, weights=[BAR[1], STEM[1]])
    total, shapes = np.zeros((6, 6)), []
    for (length, mass), place, axis, color in zip((BAR, STEM), places, AXES, COLORS, strict=True):
        T = pose.homogeneous(so3.exp(axis), place)
        across, along = mass * (3 * 0.006**2 + length**2) / 12, mass * 0.006**2 / 2
        total += inertia.change_frame(inertia.spatial(mass, np.zeros(3), np.diag([across, across, along])), T)
        shapes.append(wbc.Shape("handle", "cylinder", (0.006, length), T, color))
    body = wbc.Body("handle", *inertia.decompose(total))
    model = wbc.Model("handle", [body], [wbc.Joint("free", "floating", "world", "handle")], shapes=shapes)
    return body, wbc.load(model, "numpy")


def by_euler_angles(body, angles, omega, steps):
    """Rotations (n, 3, 3) by Runge and Kutta's method for angles z, y, x and the angular velocity in the body."""

    def rates(x):
        back = euler.angular_velocity_to_rates(x[:3], "zyx", frame="body")
        return np.concatenate([back @ x[3:], body.forward_dynamics(np.eye(4), x[3:])])

    path = [np.concatenate([angles, omega])]
    for _ in range(steps):
        x = path[-1]
        a = rates(x)
        b = rates(x + STEP / 2 * a)
        c = rates(x + STEP / 2 * b)
        path.append(x + STEP / 6 * (a + 2 * b + 2 * c + rates(x + STEP * c)))
    return convert(np.array(path)[:, :3], "euler-zyx", "matrix"), np.array(path)[:, 3:]


def main(duration=None, out="out"):
    """Turns it in four ways, and looks at what should stay as it was."""
    part, robot = handle()
    body = RigidBody(part, "SO(3)", gravity=np.zeros(3))
    stem = simulate(body, np.eye(4), SPIN, 1.5, STEP / 10).pose[:, :3, 0]  # in the world; its spin is about x
    across = stem[np.flatnonzero(stem[:, 0] < 0)[0]]
    angles = np.array([0.0, 0.0, np.pi / 2 - np.arctan2(across[2], across[1])])  # turns all that follows about x
    T = pose.homogeneous(euler.to_matrix(angles, "zyx"), np.zeros(3))
    ways = {}
    for method in METHODS:
        motion = simulate(body, T, SPIN, 20.0 if duration is None else duration, STEP, method=method)
        ways[f"on the group, {method}"] = motion.pose[:, :3, :3], motion.velocity
    time = motion.time
    ways["Euler angles, runge-kutta"] = by_euler_angles(body, angles, SPIN, len(time) - 1)

    figure = plt.figure(figsize=(14, 7.5))
    turning = figure.add_axes((0.58, 0.72, 0.4, 0.23))
    upper = figure.add_axes((0.58, 0.4, 0.4, 0.23), yscale="log", sharex=turning)
    lower = figure.add_axes((0.58, 0.08, 0.4, 0.23), yscale="log", sharex=turning, xlabel="time, s")
    turning.set_title("direction of the stem: its component along the momentum")
    upper.set_title("energy: relative change")
    lower.set_title("momentum seen from the world: relative change")
    figures = {}
    for name, (R, omega) in ways.items():
        energy = np.array([body.kinetic_energy(w) for w in omega])
        momentum = (R @ (omega @ body.mass_matrix)[..., None])[..., 0]
        off = abs(energy / energy[0] - 1), np.linalg.norm(momentum - momentum[0], axis=1) / np.linalg.norm(momentum[0])
        figures[name] = tuple(float(change.max()) for change in off)
        print(f"{name}: energy off by {figures[name][0]:.1e}, momentum off by {figures[name][1]:.1e}, at most")
        for axes, change in zip((upper, lower), off, strict=True):
            axes.plot(time, np.maximum(change, 1e-17), linewidth=1)
        style = "--" if name.startswith("Euler") else "-"
        turning.plot(time, R[:, :, 0] @ momentum[0] / np.linalg.norm(momentum[0]), style, label=name, linewidth=1)
    turning.legend(fontsize=8, loc="upper right", ncols=2)
    turning.set_ylim(-1.1, 2.0)

    R, omega = ways["on the group, energy-momentum"]
    over = np.flatnonzero(np.diff(np.sign(omega[:, 0])))
    print(f"it turned over {len(over)} times in {time[-1]:g} s")
    moments = np.linspace(over[0] - 30, over[0] + 30, 6) if len(over) else np.linspace(0, len(time) - 1, 6)
    for number, k in enumerate(moments.clip(0, len(time) - 1).astype(int)):
        place = (0.17 * (number % 3), 0.5 - 0.45 * (number // 3), 0.18, 0.4)
        axes = figure.add_axes(place, projection="3d", title=f"t = {time[k]:.2f} s")
        draw(axes, robot, [0, 0, 0, *convert(R[k], "matrix", "quaternion")], ground=False)
        axes.set(xlim=(-0.09, 0.09), ylim=(-0.09, 0.09), zlim=(-0.09, 0.09))
        axes.view_init(elev=15, azim=-60)
    Path(out).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(out) / f"{Path(__file__).stem}.png", dpi=80)
    return figures


if __name__ == "__main__":
    main()
