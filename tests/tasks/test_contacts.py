"""Contacts: that they stay, what they push with, and how that enters the equation of motion."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import tasks
import wbc
from tests.equations import equation
from tests.tasks.motions import CLOSE, Moving, residual, rotvec

pytestmark = pytest.mark.filterwarnings("ignore:no task bounds the forces")

SQUARE = [[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]]
CONTACTS = {
    "points": ("quadruped", lambda: (wbc.PointContact("LF_foot"), wbc.PointContact("RH_foot"))),
    "sole": ("humanoid", lambda: (wbc.SurfaceContact("left_foot", corners=SQUARE),)),
    "corner forces": ("humanoid", lambda: (wbc.SurfaceContact("left_foot", corners=SQUARE, forces="corners"),)),
    "point on body": ("quadruped", lambda: (wbc.PointContact("LF_foot", on="RF_thigh"),)),
    "sole on body": ("humanoid", lambda: (wbc.SurfaceContact("left_foot", corners=SQUARE, on="right_shank"),)),
    "mixed": (
        "humanoid",
        lambda: (
            wbc.PointContact("right_hand", normal=(0, 1, 0)),
            wbc.SurfaceContact("left_foot", corners=SQUARE, forces="corners"),
            wbc.PointContact("left_hand", on="right_thigh"),
            wbc.SurfaceContact("right_foot", corners=SQUARE),
        ),
    ),
    "on the arm": (
        "arm",
        lambda: (wbc.SurfaceContact("tool", corners=SQUARE, on="link_1"), wbc.PointContact("link_5")),
    ),
}


@pytest.mark.parametrize("kind", CONTACTS)
def test_contact_motion_is_the_acceleration_of_the_contact_against_what_it_touches(kind: str) -> None:
    name, make = CONTACTS[kind]
    moving, contacts = Moving(name, 31), make()
    robot = moving.robot
    expected = []
    for contact in contacts:
        turn = np.eye(3) if contact.on is None else robot.pose(contact.on)[:3, :3].copy()
        rate, second = moving.frame_rates(contact.frame, None, contact.on)
        world = np.r_[turn @ second[:3] + 20.0 * turn @ rate[:3], turn @ second[3:] + 20.0 * turn @ rate[3:]]
        expected.append(world[: contact.rows])
    assert np.allclose(residual(tasks.ContactMotion(), moving, contacts), np.concatenate(expected), **CLOSE)


def own_axes(robot: wbc.Dynamics, contact: wbc.Contact) -> np.ndarray:
    """Tangents and normal in rows, world axes: any two tangents of a normal that is fixed to what carries it."""
    if isinstance(contact, wbc.SurfaceContact):
        return robot.pose(contact.frame)[:3, :3].T  # its normal is z
    turn = np.eye(3) if contact.on is None else robot.pose(contact.on)[:3, :3]
    x, y = {(0, 0, 1): [(1, 0, 0), (0, 1, 0)], (0, 1, 0): [(1, 0, 0), (0, 0, -1)]}[tuple(map(int, contact.normal))]
    return np.array([x, y, contact.normal]) @ turn.T


@pytest.mark.parametrize("kind", CONTACTS)
@pytest.mark.parametrize("way", ["normal", "named"])
def test_contacts_that_slide_are_held_in_the_axes_that_were_chosen(kind: str, way: str) -> None:
    name, make = CONTACTS[kind]
    moving, contacts = Moving(name, 35), make()
    robot, last = moving.robot, contacts[-1]
    chosen = ("z", "x") if last.rows == 3 else ("z", "rx", "ry")
    axes = "z" if way == "normal" else {last.name: chosen}
    free, held = (tasks.ContactMotion(wbc.Gains(kp=7.0, kd=20.0), axes=given) for given in (None, axes))
    everything, expected, names, start = residual(free, moving, contacts), [], [], 0
    for contact in contacts:
        rows = everything[start : start + contact.rows].reshape(-1, 3)
        kept = ("z",) if way == "normal" else chosen if contact is last else ("x", "y", "z", "rx", "ry", "rz")
        kept = kept[: contact.rows]
        if len(kept) < contact.rows:
            rows = rows @ own_axes(robot, contact).T
        expected += [rows.ravel()[("x", "y", "z", "rx", "ry", "rz").index(axis)] for axis in kept]
        names += [f"{axis} of {contact.name}" for axis in kept]
        start += contact.rows
    assert np.allclose(residual(held, moving, contacts), expected, atol=1e-9 * np.abs(everything).max())
    assert held.row_names(robot, wbc.Tick(robot, contacts)) == names


@pytest.mark.parametrize("kind", ["points", "point on body", "on the arm"])
def test_the_normal_that_is_held_is_that_of_the_contact(kind: str) -> None:
    """Against finite differences of the distance along the normal alone."""
    name, make = CONTACTS[kind]
    moving = Moving(name, 36)
    contacts = tuple(contact for contact in make() if isinstance(contact, wbc.PointContact))
    expected = []
    for contact in contacts:
        start = moving.pose(contact.frame, None, contact.on)[:3, 3].copy()

        def way(contact: wbc.Contact = contact, start: np.ndarray = start) -> np.ndarray:
            return contact.normal @ (moving.pose(contact.frame, None, contact.on)[:3, 3] - start)

        rate, second = moving.rates(way)
        expected.append(second + 20.0 * rate)
    task = tasks.ContactMotion(wbc.Gains(kp=0.0, kd=20.0), axes="z")
    assert np.allclose(residual(task, moving, contacts), expected, **CLOSE)


@pytest.mark.parametrize("on", [None, "RF_thigh"])
def test_a_contact_that_slides_has_kinetic_friction(on: str | None) -> None:
    moving = Moving("quadruped", 37)
    robot = moving.robot
    normal = np.array([0.0, 0.6, 0.8])
    sliding = wbc.PointContact("LF_foot", 0.4, normal=normal, on=on)
    contacts = (wbc.PointContact("RH_foot", 0.7), sliding)
    tick = wbc.Tick(robot, contacts)
    task = tasks.FrictionCones(sliding="LF_foot", slow=0.02)
    A, lower, upper = task.matrices(robot, tick)
    names = task.row_names(robot, tick)
    mine = [row for row, name in enumerate(names) if name == "kinetic friction of LF_foot"]
    assert len(mine) == 2 and not lower[mine].any() and not upper[mine].any()
    assert names.count("friction of RH_foot") == 4 and np.isinf(lower[:4]).all()

    turn = np.eye(3) if on is None else robot.pose(on)[:3, :3]
    velocity = turn @ moving.frame_rates("LF_foot", None, on)[0][:3]
    n = turn @ normal
    along = velocity - n * (n @ velocity)
    x = np.zeros(tick.n)
    force = 50.0 * n - 0.4 * 50.0 * along / np.hypot(np.linalg.norm(along), 0.02)
    x[tick.force][3:] = force
    assert np.allclose((A @ x)[mine], 0.0, atol=1e-4)
    assert 0.0 < sliding.margin(robot, force, 4) < 0.01, "it is inside the cone, at its edge"
    x[tick.force][3:] = 50.0 * n
    assert np.linalg.norm((A @ x)[mine]) == pytest.approx(20.0, rel=1e-3)
    planned = tasks.FrictionCones(sliding={"LF_foot": lambda t: t * velocity})
    tick = tick.replace(time=3.0)
    x[tick.force][3:] = 50.0 * n - 20.0 * along / np.linalg.norm(along)
    assert np.allclose((planned.matrices(robot, tick)[0] @ x)[mine], 0.0, atol=1e-4)
    wrong = tasks.FrictionCones(sliding={"LF_foot": lambda t: (t, 0.0)})
    with pytest.raises(wbc.WbcError, match="velocity of 'LF_foot'"):
        wrong.matrices(robot, tick)
    robot.update(moving.q, np.zeros(robot.nv))
    x[tick.force][3:] = 50.0 * n
    assert np.allclose(task.matrices(robot, tick)[0][mine] @ x, 0.0), "at rest, nothing rubs"


@pytest.mark.parametrize("kind", CONTACTS)
@equation("ETH 3.59", "contacts stay where they are", tasks.ContactMotion)
def test_contacts_are_pulled_back_to_where_they_closed(kind: str) -> None:
    name, make = CONTACTS[kind]
    moving, contacts = Moving(name, 32), make()
    robot = moving.robot
    free = residual(tasks.ContactMotion(wbc.Gains(kp=0.0, kd=3.0)), moving, contacts)
    anchors = [contact.place(robot) for contact in contacts]
    robot.update(robot.integrate(moving.q, moving.rng.normal(size=robot.nv), 0.1), moving.v)
    moving.q = robot.q
    free = residual(tasks.ContactMotion(wbc.Gains(kp=0.0, kd=3.0)), moving, contacts)
    tick = wbc.Tick(robot, contacts, anchors=anchors)
    A, b = tasks.ContactMotion(wbc.Gains(kp=50.0, kd=3.0)).matrices(robot, tick)
    pull = A[:, : robot.nv] @ moving.vdot - b - free
    expected = []
    for contact, anchor in zip(contacts, anchors, strict=True):
        base = np.eye(4) if contact.on is None else robot.pose(contact.on)
        desired, pose = base @ anchor, robot.pose(contact.frame)
        error = np.r_[desired[:3, 3] - pose[:3, 3], rotvec(desired[:3, :3] @ pose[:3, :3].T)]
        expected.append(-50.0 * error[: contact.rows])
    assert np.allclose(pull, np.concatenate(expected), atol=1e-9)
    assert len(tasks.ContactMotion().row_names(robot, tick)) == len(b)


@pytest.mark.parametrize("kind", CONTACTS)
def test_equation_of_motion_is_inverse_dynamics_with_forces(kind: str) -> None:
    """M v̇ + h = Sᵀτ + Jᵀf: f pushes on the contact, and as much back on the body that it touches."""
    name, make = CONTACTS[kind]
    moving, contacts = Moving(name, 33), make()
    robot = moving.robot
    tick = wbc.Tick(robot, contacts)
    x = moving.rng.normal(size=tick.n) * 10
    A, b = tasks.EquationOfMotion().matrices(robot, tick)
    vdot, f, tau = x[tick.acceleration], x[tick.force], x[tick.torque]
    needed = robot.inverse_dynamics(moving.q, moving.v, vdot)
    given = np.zeros(robot.nv)
    given[robot.actuated] = tau
    for contact in contacts:
        force = f[tick.force_of(contact.name)]
        place = robot.pose(contact.frame)
        pushes = [(place[:3, 3], force[:3], force[3:] if len(force) == 6 else np.zeros(3))]
        if contact.size > 6:  # at corners
            pushes = [
                (place[:3, :3] @ corner + place[:3, 3], force[3 * k : 3 * k + 3], np.zeros(3))
                for k, corner in enumerate(contact.corners)
            ]
        for point, push, torque in pushes:
            for frame, sign in ((contact.frame, 1.0), (contact.on, -1.0)):
                if frame is None:
                    continue
                J, arm = robot.jacobian(frame), point - robot.pose(frame)[:3, 3]
                given += sign * (J[:3].T @ push + J[3:].T @ (np.cross(arm, push) + torque))
    assert np.allclose(A @ x - b, needed - given, atol=1e-8 * np.abs(needed).max())


@pytest.mark.parametrize("forces", ("wrench", "corners"))
def test_contact_force_is_the_force_or_wrench_that_was_asked_for(forces: str) -> None:
    moving = Moving("humanoid", 34)
    robot = moving.robot
    sole = wbc.SurfaceContact("left_foot", corners=SQUARE, forces=forces)
    hand = wbc.PointContact("right_hand", name="hand")
    tick = wbc.Tick(robot, (hand, sole))
    wanted = moving.rng.normal(size=6) * 100
    x = moving.rng.normal(size=tick.n) * 10
    f = x[tick.force]
    wrench = f[3:9]
    if forces == "corners":
        arms = sole.corners @ robot.pose("left_foot")[:3, :3].T
        parts = f[3:].reshape(-1, 3)
        wrench = np.r_[parts.sum(axis=0), np.cross(arms, parts).sum(axis=0)]
    for contact, target, axes, expected in (
        ("left_foot", wanted, None, wrench - wanted),
        ("left_foot", wanted[:3], None, wrench[:3] - wanted[:3]),
        ("left_foot", lambda t: wanted, ("z", "rx"), (wrench - wanted)[[2, 3]]),
        ("left_foot", wanted[:3], "zx", (wrench - wanted)[[2, 0]]),
        ("hand", lambda t: (1.0, 2.0, 3.0), None, f[:3] - [1.0, 2.0, 3.0]),
        ("hand", wanted[:3], "y", f[[1]] - wanted[[1]]),
    ):
        task = tasks.ContactForce(contact, target, axes)
        A, b = task.matrices(robot, tick)
        assert np.allclose(A @ x - b, expected, atol=1e-9)
        assert len(task.row_names(robot, tick)) == len(b)
        assert contact in repr(task)
    task = tasks.ContactForce("hand", wanted[:3])
    task.target = np.zeros(3)
    assert not task.matrices(robot, tick)[1].any()
    open_hand = wbc.Tick(robot, (sole,))
    A, b = task.matrices(robot, open_hand)
    assert A.shape == (0, open_hand.n) and b.shape == (0,)
    for bad in (tasks.ContactForce("hand", wanted), tasks.ContactForce("left_foot", wanted[:3], ("rx",))):
        with pytest.raises(wbc.WbcError, match="force of .*axes"):
            bad.matrices(robot, tick)
        with pytest.raises(wbc.WbcError, match="force of .*axes"):  # and before it comes to that
            wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / tasks.ContactMotion() / bad, (hand, sole)))


def test_mistakes_are_named() -> None:
    robot = wbc.load("quadruped", "numpy")
    foot = wbc.PointContact("LF_foot")
    with pytest.raises(wbc.WbcError, match="force of LF_fot: no contact .*did you mean 'LF_foot'"):
        wbc.Controller(
            robot,
            wbc.Stack(
                tasks.EquationOfMotion() / tasks.ContactMotion() / tasks.ContactForce("LF_fot", (0, 0, 1)), [foot]
            ),
        )
    with pytest.raises(wbc.WbcError, match="axis"):
        tasks.ContactForce("LF_foot", (0, 0, 1), ("z", "q"))
    with pytest.raises(wbc.WbcError, match="target"):
        tasks.ContactForce("LF_foot", (0, 1))
    with pytest.raises(wbc.WbcError, match="no target to hold"):
        tasks.ContactForce("LF_foot", None)
    with pytest.raises(wbc.WbcError, match="name each axis once"):
        tasks.ContactForce("LF_foot", (0, 0, 1), "zz")
    with pytest.raises(wbc.WbcError, match="kp and kd must be numbers"):
        tasks.ContactMotion(wbc.Gains(kp=np.ones(3)))
    with pytest.raises(wbc.WbcError, match="axis"):
        tasks.ContactMotion(axes={"LF_foot": "zq"})
    with pytest.raises(wbc.WbcError, match="slow"):
        tasks.FrictionCones(slow=0.0)
    sole = wbc.SurfaceContact("RF_foot", corners=SQUARE)
    for wrong, words in (
        (tasks.ContactMotion(axes={"LF_fot": "z"}), "did you mean 'LF_foot'"),
        (tasks.ContactMotion(axes=("z", "rx")), "'LF_foot' has the axes x, y, z, not"),
        (tasks.FrictionCones(sliding="LF_fot"), "did you mean 'LF_foot'"),
        (tasks.FrictionCones(sliding=["LF_foot", "RF_foot"]), "'RF_foot' is not a point contact"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / (wrong + tasks.ContactMotion()), [foot, sole]))
    for options, words in (
        ({"friction": -0.1}, "friction"),
        ({"friction": np.inf}, "friction"),
        ({"minimum": 5.0, "maximum": 1.0}, "maximum = 1.0 must be a number, 5 or more"),
        ({"normal": (0, 0, 0)}, "direction"),
        ({"normal": (0, 1)}, "direction"),
        ({"normal": "up"}, "normal = 'up' is not an array"),
        ({"minimum": np.inf}, "minimum = inf must be a number"),
        ({"on": "LF_foot"}, "can't touch itself"),
    ):
        with pytest.raises(wbc.WbcError, match=f"LF_foot.*{words}"):
            wbc.PointContact("LF_foot", **options)
    for corners, words in (
        (((0, 0), (1, 0)), "three or more"),
        (((0, 0), (1, 0), (2, 0)), "on a line"),
        ((), "corners"),
        (((0, 0), (1,)), "not an array"),
    ):
        with pytest.raises(wbc.WbcError, match=words):
            wbc.SurfaceContact("LF_foot", corners=corners)
    with pytest.raises(wbc.WbcError, match="'wrench' or 'corners'"):
        wbc.SurfaceContact("LF_foot", corners=SQUARE, forces="point")


def test_what_contacts_are_made_of_is_copied() -> None:
    normal, corners = np.array([0.0, 0.0, 2.0]), np.array(SQUARE)
    point, sole = wbc.PointContact("a", normal=normal), wbc.SurfaceContact("b", corners=corners)
    normal[:], corners[:] = 1.0, 7.0
    assert np.array_equal(point.normal, (0, 0, 1)) and np.array_equal(sole.corners[:, :2], SQUARE)


def test_soles_of_legs_with_five_joints_leave_their_roll_to_the_base() -> None:
    """Else two soles hold the base too: as soon as hips yaw it can't be moved forward any more."""
    locked = ("left_ankle_roll", "right_ankle_roll")
    robot = wbc.load("humanoid", locked=locked)
    feet = [wbc.SurfaceContact(foot) for foot in robot.model.feet]
    base = tasks.EndEffectorAcceleration("base")

    def rows(contact: wbc.Task, robot: wbc.Dynamics = robot) -> wbc.Rows:
        controller = wbc.Controller(robot, wbc.Stack(tasks.EquationOfMotion() / contact / base, contacts=feet))
        yawed = np.array(robot.model.nominal)
        for side, yaw in (("left", -0.1), ("right", 0.1)):
            yawed[robot.model.q_index[f"{side}_hip_yaw"]] += yaw
        solution = controller.step(yawed, np.zeros(robot.nv))
        return contact.rows(controller.robot, solution._tick)

    def left_to_the_base(contact: wbc.Task) -> int:
        held = rows(contact).acceleration
        free = scipy.linalg.null_space(held)
        return int(np.linalg.matrix_rank(free[:6], tol=1e-2))

    assert len(rows(tasks.ContactMotion()).lower) == 10
    assert left_to_the_base(tasks.ContactMotion()) == 6
    named = tasks.ContactMotion(axes=("x", "y", "z", "rx", "ry", "rz"))
    assert len(rows(named).lower) == 12
    assert left_to_the_base(named) < 6
    assert len(rows(tasks.ContactMotion(), wbc.load("humanoid")).lower) == 12
