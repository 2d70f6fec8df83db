"""A robot as its links (Liu–Jain sections 5.2 and 6), and inverse dynamics from link to link (section 7)."""

from __future__ import annotations

import numpy as np
import pytest

import wbc
from tests.dynamics.test_joint_kinds import some_tree
from tests.equations import equation
from tests.robots import PACKAGED
from wbc.dynamics import Dynamics
from wbc.dynamics.formulations.links import Links
from wbc.dynamics.formulations.projected import com_jacobian
from wbc.dynamics.formulations.recursive import recursive_newton_euler
from wbc.geometry import euler, pose, so3
from wbc.model import Body, Joint, Model, Tree


def near(found, expected, tolerance: float = 1e-10) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    error = np.abs(found - expected).max(initial=0.0)
    assert error <= tolerance * max(1.0, np.abs(expected).max(initial=0.0)), f"off by {error:.1e}"


def figure_1() -> Dynamics:
    """The document's figure 1: joints of 2, 3, 1 and 1 turns, the last two on the second link; turns about x, y, z."""
    rng = np.random.default_rng(1)
    bodies, joints = [], []
    for link, parent, axes in ((1, "world", "xz"), (2, "link 1", "xyz"), (3, "link 2", "y"), (4, "link 2", "z")):
        for number, axis in enumerate(axes):
            last = number == len(axes) - 1
            name = f"link {link}" if last else f"link {link}{axis}"
            central = np.diag([0.02, 0.03, 0.04])
            bodies.append(
                Body(name, 1.0 + link, rng.normal(scale=0.1, size=3), central) if last else Body(name, virtual=True)
            )
            offset = pose.homogeneous(np.eye(3), np.zeros(3) if number else rng.normal(scale=0.3, size=3))
            joints.append(
                Joint(f"{link}{axis}", "revolute", parent, name, offset, np.eye(3)["xyz".index(axis)], actuated=True)
            )
            parent = name
    return wbc.load(Model("figure 1", bodies, joints), "numpy")


def moving(robot: Dynamics, seed: int = 0):
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    robot.update(q, v)
    return q, v, rng


def robots():
    for name in [robot.name for robot in PACKAGED]:
        yield pytest.param(lambda name=name: wbc.load(name, "numpy"), id=name)
    yield pytest.param(figure_1, id="figure 1")
    for seed in range(3):
        yield pytest.param(lambda seed=seed: wbc.load(some_tree(seed), "numpy"), id=f"some tree {seed}")


all_robots = pytest.mark.parametrize("make", list(robots()))


@equation("Liu-Jain 49", "angular velocity from link to link", Links.relative_angular_velocity)
@equation("Liu-Jain 50", "angular velocity by local Jacobians", Links.relative_jacobian)
@equation("Liu-Jain 51", "angular Jacobian of a link", Links.relative_jacobian)
@equation("Liu-Jain 52", "a joint of three Euler turns", Links.relative_jacobian, euler.rates_to_angular_velocity)
@equation("Liu-Jain 64", "connectivity of links", Links)
def test_figure_1() -> None:
    robot = figure_1()
    q, v, _ = moving(robot)
    links = Links(robot)
    assert links.names == ("link 1", "link 2", "link 3", "link 4")
    assert links.parents.tolist() == [-1, 0, 1, 1]
    near(links.connectivity, [[1, 0, 0, 0], [-1, 1, 0, 0], [0, -1, 1, 0], [0, -1, 0, 1]], 0)  # (64)
    J_1, J_2, J_3, J_4 = links.relative_jacobian
    R_1, R_2 = (robot.pose(name)[:3, :3] for name in ("link 1", "link 2"))
    x, y = so3.elementary_x(q[2]), so3.elementary_y(q[3])
    near(J_2[:, 2:5], np.column_stack([[1, 0, 0], x @ [0, 1, 0], x @ y @ [0, 0, 1]]))  # (52)
    near(J_2[:, 2:5], euler.rates_to_angular_velocity(q[2:5], "xyz"))
    near(J_1[:, :2], np.column_stack([[1, 0, 0], so3.elementary_x(q[0]) @ [0, 0, 1]]))
    for J, own in ((J_1, [0, 1]), (J_2, [2, 3, 4]), (J_3, [5]), (J_4, [6])):
        near(np.delete(J, own, axis=1), np.zeros((3, 7 - len(own))), 1e-12)
    angular = np.zeros((3, 7))
    angular[:, :2], angular[:, 2:5], angular[:, 6] = J_1[:, :2], R_1 @ J_2[:, 2:5], R_2 @ J_4[:, 6]  # (51)
    near(robot.jacobian("link 4")[3:], angular)
    near(robot.twist("link 4")[3:], J_1 @ v + R_1 @ J_2 @ v + R_2 @ J_4 @ v)  # (50)
    w_1, w_2, w_3, w_4 = (robot.twist(name)[3:] for name in links.names)
    expected = [w_1, R_1.T @ (w_2 - w_1), R_2.T @ (w_3 - w_2), R_2.T @ (w_4 - w_2)]  # (49)
    near(links.relative_angular_velocity(links.velocity[:, 3:]), expected)


@equation("Liu-Jain 57", "linear Jacobian at the mass centre", com_jacobian)
@equation("Liu-Jain 58", "Jacobian of a link", com_jacobian)
@equation("Liu-Jain 60", "velocities of all links", Links.velocity)
@equation("Liu-Jain 61", "generalised velocity by pseudo-inverse", Links.generalized_velocity)
@equation("Liu-Jain 62", "angular velocity against the parent", Links.relative_angular_velocity)
@equation("Liu-Jain 63", "relative angular velocity of all links", Links.relative_jacobian)
@equation("Liu-Jain 65", "local angular velocities and Jacobians", Links.relative_jacobian)
@equation("Liu-Jain 66", "generalised velocity joint by joint", Links.joint_velocity)
@all_robots
def test_velocities(make) -> None:
    robot = make()
    q, v, rng = moving(robot)
    links = Links(robot)
    step, ends = 1e-6, []
    for t in (step, -step):
        robot.update(robot.integrate(q, v, t))
        ends.append([robot.pose(name) @ [*robot.model.bodies[name].com, 1] for name in links.names])
    robot.update(q, v)
    near(links.velocity[:, :3], (np.array(ends[0]) - ends[1])[:, :3] / (2 * step), 1e-8)  # (57)
    near(links.velocity[:, 3:], [robot.twist(name)[3:] for name in links.names])
    local = links.relative_jacobian
    near(local @ v, links.relative_angular_velocity(links.velocity[:, 3:]))  # (65)
    world = [robot.pose(name)[:3, :3] for name in links.names] + [np.eye(3)]
    big_D = np.kron(links.connectivity, np.eye(3))
    big_R = np.zeros_like(big_D)
    for k, parent in enumerate(links.parents):
        big_R[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = world[parent]
    J_omega = links.jacobian[:, 3:].reshape(-1, robot.nv)
    near(big_D @ J_omega, big_R @ local.reshape(-1, robot.nv))  # (63)

    near(links.generalized_velocity(links.velocity), v, 1e-8)
    near(links.joint_velocity(links.velocity), v, 1e-8)
    torn = links.velocity + rng.normal(size=links.velocity.shape)  # no motion of the robot: the nearest one
    best = links.generalized_velocity(torn)
    rest = links.jacobian.reshape(-1, robot.nv).T @ (links.jacobian @ best - torn).ravel()
    near(rest, np.zeros(robot.nv), 1e-8)


@equation("Liu-Jain 67", "generalised force of body forces", Links.generalized_force, Dynamics.generalized_force)
@equation("Liu-Jain 68", "torques on bodies from joints", Links.body_torques)
@equation("Liu-Jain 69", "generalised force of joint torques", Links.generalized_force, Links.body_torques)
@equation("Liu-Jain 70", "body forces by pseudo-inverse", Links.wrenches)
@equation("Liu-Jain 71", "joint torques of a generalised force", Links.joint_torques)
@all_robots
def test_forces(make) -> None:
    robot = make()
    _, v, rng = moving(robot, 1)
    links = Links(robot)
    count = len(links.names)
    forces, torques, joint_torques = rng.normal(size=(3, count, 3))
    places = rng.normal(scale=0.2, size=(count, 3))
    Q = links.generalized_force(np.hstack([forces, torques]), places)
    power = 0.0
    for k, name in enumerate(links.names):  # the power of each force at its point is that of Q
        arm = robot.pose(name)[:3, :3] @ places[k]
        twist = robot.twist(name)
        power += forces[k] @ (twist[:3] + np.cross(twist[3:], arm)) + torques[k] @ twist[3:]
    near(Q @ v, power)
    moved = torques.copy()  # the note below (67): torques about the mass centres
    for k, name in enumerate(links.names):
        moved[k] += np.cross(robot.pose(name)[:3, :3] @ (places[k] - robot.model.bodies[name].com), forces[k])
    near(links.generalized_force(np.hstack([forces, moved])), Q)

    body = links.body_torques(joint_torques)
    world = [robot.pose(name)[:3, :3] for name in links.names] + [np.eye(3)]
    expected = [
        world[links.parents[k]] @ joint_torques[k]
        - sum((world[k] @ joint_torques[c] for c in np.flatnonzero(links.parents == k)), np.zeros(3))
        for k in range(count)
    ]
    near(body, expected)  # (68)
    of_forces = links.generalized_force(np.hstack([forces, np.zeros((count, 3))]), places)
    of_torques = np.tensordot(joint_torques, links.relative_jacobian, 2)
    near(links.generalized_force(np.hstack([forces, body]), places), of_forces + of_torques)  # (69)

    Q = rng.normal(size=robot.nv)
    wrenches = links.wrenches(Q)
    near(links.generalized_force(wrenches), Q, 1e-8)  # (70)
    near(wrenches.ravel(), np.linalg.pinv(links.jacobian.reshape(-1, robot.nv).T) @ Q, 1e-8)
    back = links.generalized_force(np.hstack([np.zeros((count, 3)), links.body_torques(links.joint_torques(Q))]))
    turning = np.abs(links.relative_jacobian).max(axis=(0, 1)) > 1e-9
    near(back[turning], Q[turning], 1e-8)  # (71)
    near(back[~turning], np.zeros(np.sum(~turning)), 1e-8)


def test_where_nothing_moves() -> None:
    robot = wbc.load(Model("bolted", [Body("block", 1.0)], [Joint("bolt", "fixed", "world", "block")]), "numpy")
    robot.update([])
    links = Links(robot)
    assert links.names == ("block",) and links.jacobian.shape == (1, 6, 0)
    near(links.velocity, np.zeros((1, 6)), 0)
    assert links.generalized_velocity(np.ones((1, 6))).shape == links.joint_velocity(np.ones((1, 6))).shape == (0,)
    near(links.wrenches([]), np.zeros((1, 6)), 0)
    near(links.joint_torques([]), np.zeros((1, 3)), 0)


def test_wrong_shapes_are_named() -> None:
    robot = wbc.load("planar_arm")
    moving(robot)
    links = Links(robot)
    count = len(links.names)
    with pytest.raises(wbc.WbcError, match=rf"velocity must be finite numbers of shape \({count}, 6\)"):
        links.generalized_velocity(np.zeros(6))
    with pytest.raises(wbc.WbcError, match=r"force must be finite numbers of shape \(3,\)"):
        links.joint_torques([1.0, 2.0, np.nan])
    with pytest.raises(wbc.WbcError, match="joint_torques = 'all' is not an array of numbers"):
        links.body_torques("all")


# --- from link to link (section 7) -------------------------------------------------------------------------------


def some_chain(seed: int) -> Dynamics:
    """Links one on another and branching, on turning and sliding joints."""
    rng = np.random.default_rng(seed)
    bodies, joints, names = [], [], ["world"]
    for number in range(7):
        spread = rng.normal(size=(3, 3))
        central = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        bodies.append(Body(f"link {number}", rng.uniform(0.5, 2), rng.normal(scale=0.2, size=3), 0.01 * central))
        kind = "prismatic" if number in (2, 5) else "revolute"
        axis = rng.normal(size=3)
        place = pose.homogeneous(so3.exp(rng.normal(size=3)), rng.normal(scale=0.3, size=3))
        parent = str(rng.choice(names[1:])) if number else "world"
        joints.append(Joint(f"j{number}", kind, parent, bodies[-1].name, place, axis / np.linalg.norm(axis)))
        names.append(bodies[-1].name)
    return wbc.load(Model("some chain", bodies, joints), "numpy")


def transform_and_rate(robot: Dynamics, q: np.ndarray, v: np.ndarray, body: str, h: float = 1e-6):
    """W and Ẇ of a body's frame in the world."""
    if body == "world":
        return np.eye(4), np.zeros((4, 4))

    def at(t: float) -> np.ndarray:
        robot.update(robot.integrate(q, v * t))
        return robot.pose(body).copy()

    return at(0.0), (at(h) - at(-h)) / (2 * h)


@equation("Liu-Jain 72", "Newton's equation of a link", recursive_newton_euler)
@equation("Liu-Jain 73", "Euler's equation of a link", recursive_newton_euler)
@equation("Liu-Jain 74", "linear velocity by transforms' rates", Dynamics.pose)
@equation("Liu-Jain 75", "linear velocity, link to link", Dynamics.twist)
@equation("Liu-Jain 76", "linear velocity in local axes", recursive_newton_euler)
@equation("Liu-Jain 77", "angular velocity, link to link", Dynamics.twist)
@equation("Liu-Jain 78", "angular velocity in local axes", recursive_newton_euler)
@equation("Liu-Jain 79", "linear acceleration, link to link", recursive_newton_euler)
@equation("Liu-Jain 80", "angular acceleration, link to link", recursive_newton_euler)
@equation("Liu-Jain 81", "velocities of the first link", recursive_newton_euler)
@equation("Liu-Jain 82", "velocity behind a sliding joint", Dynamics.twist)
@equation("Liu-Jain 83", "velocity behind a slide, local axes", recursive_newton_euler)
@equation("Liu-Jain 84", "accelerations behind a sliding joint", recursive_newton_euler)
@equation("Liu-Jain 85", "gravity as acceleration of the root", recursive_newton_euler)
@pytest.mark.parametrize("seed", range(4))
def test_recursive_inverse_dynamics(seed: int) -> None:
    """The document's two passes as they stand there, at the mass centres; ours are at the joints.

    In (79) the last but one term is ω × (ω × c), where ω̇ × (ω × c) is printed; (84) is of the components' rates.
    """
    robot = some_chain(seed)
    q, v, rng = moving(robot, seed)
    vdot, model, cross = rng.normal(size=robot.nv), robot.model, np.cross
    joints = list(model.joints.values())
    index = {joint.child: k for k, joint in enumerate(joints)}
    parents = [index.get(joint.parent, -1) for joint in joints]
    count, none = len(joints), np.zeros(3)
    R, d, at = [np.eye(3)] * count, [none] * count, [np.eye(3)] * count  # in the parent; d its joint; at in the world
    v_l, w_l, a_l, alpha_l = np.zeros((4, count, 3))
    centres = [model.bodies[joint.child].com for joint in joints]
    for k, joint in enumerate(joints):
        p, P, axis, c = parents[k], joint.pose[:3, :3], joint.axis, centres[k]
        sliding = joint.kind == "prismatic"
        R[k] = P if sliding else P @ so3.exp(axis * q[k])
        d[k] = joint.pose[:3, 3] + (P @ axis * q[k] if sliding else none)
        at[k] = (at[p] if p >= 0 else np.eye(3)) @ R[k]
        slide, turn, slide_rate, turn_rate = none, none, none, none
        if sliding:
            slide, slide_rate = P @ axis * v[k], P @ axis * vdot[k]
        else:
            turn, turn_rate = P @ axis * v[k], P @ axis * vdot[k]  # ω̂ in the parent's axes
        if p >= 0:
            v_p, w_p, a_p, alpha_p, c_p = v_l[p], w_l[p], a_l[p], alpha_l[p], centres[p]
        else:  # (81), (85): the world stands still, and falls upwards
            v_p, w_p, a_p, alpha_p, c_p = none, none, -model.gravity, none, none
        w_l[k] = R[k].T @ (w_p + turn)  # (78)
        alpha_l[k] = R[k].T @ (alpha_p + turn_rate + cross(w_p, turn))  # (80)
        if sliding:  # (83), (84), with R_k constant instead of 1
            reach = R[k] @ c + d[k] - c_p
            v_l[k] = R[k].T @ (v_p + cross(w_p, reach) + slide)
            component_rate = a_p - cross(w_p, v_p)  # of v_p, from the true acceleration
            component_rate = component_rate + cross(alpha_p, reach) + cross(w_p, slide) + slide_rate
            a_l[k] = R[k].T @ component_rate + cross(w_l[k], v_l[k])
        else:
            reach = d[k] - c_p
            v_l[k] = R[k].T @ (v_p + cross(w_p, reach)) + cross(w_l[k], c)  # (76)
            a_l[k] = R[k].T @ (a_p + cross(alpha_p, reach) + cross(w_p, cross(w_p, reach)))  # (79)
            a_l[k] += cross(w_l[k], cross(w_l[k], c)) + cross(alpha_l[k], c)
        J = com_jacobian(robot, joint.child)
        v_world, w_world = np.split(J @ v, 2)
        near(at[k] @ v_l[k], v_world)
        near(at[k] @ w_l[k], w_world)
        carrier = robot.twist(joint.parent)[3:] if p >= 0 else none
        R_p = at[p] if p >= 0 else np.eye(3)
        near(w_world, carrier + R_p @ turn)  # (77)
        v_carrier = com_jacobian(robot, joint.parent)[:3] @ v if p >= 0 else none
        arm = R_p @ (R[k] @ c + d[k] - c_p)
        near(v_world, v_carrier + cross(carrier, arm) + R_p @ (cross(turn, R[k] @ c) + slide))  # (75), (82)
        W, W_p = (transform_and_rate(robot, q, v, name) for name in (joint.child, joint.parent))
        inside = pose.inverse(W_p[0]) @ W[0]
        inside_rate = pose.inverse(W_p[0]) @ (W[1] - W_p[1] @ inside)
        lifted = inside @ np.r_[c, 1.0] - np.r_[c_p, 1.0]  # (74), in homogeneous coordinates
        by_rates = np.r_[v_carrier, 0.0] + W_p[1] @ lifted + W_p[0] @ inside_rate @ np.r_[c, 1.0]
        near(by_rates, np.r_[v_world, 0.0], 1e-6)
        robot.update(q, v)
    forces, torques = np.zeros((2, count, 3))
    tau = np.zeros(robot.nv)
    for k in reversed(range(count)):
        body, children = model.bodies[joints[k].child], [i for i in range(count) if parents[i] == k]
        c = body.com
        forces[k] = body.mass * a_l[k] + sum((R[i] @ forces[i] for i in children), none)  # (72)
        torques[k] = body.inertia @ alpha_l[k] + cross(w_l[k], body.inertia @ w_l[k]) + cross(c, forces[k])  # (73)
        torques[k] += sum((R[i] @ torques[i] + cross(d[i] - c, R[i] @ forces[i]) for i in children), none)
        tau[k] = joints[k].axis @ (forces[k] if joints[k].kind == "prismatic" else torques[k])
    near(recursive_newton_euler(Tree(model), q, v, vdot), tau)
    near(robot.inverse_dynamics(q, v, vdot), tau)
