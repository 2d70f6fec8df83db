"""A tick and its layout: what tasks are told does not change under them."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import wbc
from tests.control.scenes import contacts, moving_state
from wbc.tasking.layout import Layout


def quadruped() -> tuple[wbc.Dynamics, list[wbc.Contact]]:
    robot = wbc.load("quadruped", "numpy")
    robot.update(*moving_state(robot, np.random.default_rng(0), 0.2, 0.5))
    return robot, contacts(robot)


def test_x_is_laid_out_as_accelerations_forces_torques() -> None:
    robot, feet = quadruped()
    tick = wbc.Tick(robot, feet, time=2.0, period=5e-3)
    assert (tick.nv, tick.nf, tick.na, tick.n) == (18, 12, 12, 42)
    assert (tick.acceleration, tick.force, tick.torque) == (slice(0, 18), slice(18, 30), slice(30, 42))
    assert [tick.force_of(foot.name) for foot in feet] == [slice(3 * k, 3 * k + 3) for k in range(4)]
    assert tick.force_of("LF_fot") is None and tick.contact("RF_foot") is feet[1]
    with pytest.raises(wbc.WbcError, match="no closed contact 'LF_fot'; did you mean 'LF_foot'"):
        tick.contact("LF_fot")
    assert tick.ceilings == [np.inf] * 4 and tick.anchors == [None] * 4
    assert (tick.time, tick.period, tick.last_torque, tick.external) == (2.0, 5e-3, None, None)
    assert repr(tick) == "<Tick at 2 s: 18 accelerations, contacts: LF_foot, RF_foot, LH_foot, RH_foot>"


def test_velocities_have_a_layout_of_their_own() -> None:
    robot, feet = quadruped()
    layout = Layout(robot, feet, kinematic=True)
    assert (layout.n, layout.nf, layout.blocks) == (18, 0, {"velocity": slice(0, 18)})


def test_a_tick_does_not_change() -> None:
    robot, feet = quadruped()
    tick = wbc.Tick(robot, feet)
    for name in ("time", "layout", "period", "last_torque", "ceilings", "anchors", "external", "anything"):
        with pytest.raises(AttributeError, match=rf"a tick does not change; tick\.replace\({name}=...\)"):
            setattr(tick, name, 1.0)
    assert wbc.Variables is wbc.Tick


def test_replace_makes_another_and_keeps_the_rest() -> None:
    robot, feet = quadruped()
    tick = wbc.Tick(robot, feet, time=1.0, last_torque=np.ones(12), external=np.zeros(18))
    later = tick.replace(time=2.0, ceilings=[1.0, 2.0, 3.0, 4.0])
    assert (tick.time, later.time) == (1.0, 2.0) and tick.ceilings == [np.inf] * 4
    assert later.layout is tick.layout and later.last_torque is tick.last_torque and later.external is tick.external
    assert later.ceilings == [1.0, 2.0, 3.0, 4.0] and later.anchors is tick.anchors and later.period == tick.period
    with pytest.raises(TypeError, match="a tick has no tim; it has layout, time, period"):
        tick.replace(tim=1.0)


def test_a_tick_may_be_pickled() -> None:
    robot, feet = quadruped()
    tick = wbc.Tick(robot, feet, time=0.5, period=2e-3, last_torque=np.arange(12.0), ceilings=[9.0] * 4)
    again = pickle.loads(pickle.dumps(tick))
    assert type(again) is wbc.Tick and (again.time, again.period, again.ceilings) == (0.5, 2e-3, [9.0] * 4)
    assert np.array_equal(again.last_torque, tick.last_torque)
    assert (again.n, [contact.name for contact in again.contacts]) == (42, [foot.name for foot in feet])
    assert np.array_equal(again.contact_jacobian(robot), tick.contact_jacobian(robot))


def test_contacts_are_computed_once_a_state_and_anew_in_the_next() -> None:
    robot, feet = quadruped()
    tick = wbc.Tick(robot, feet)
    first = tick.contact_jacobian(robot)
    assert tick.contact_jacobian(robot) is first
    robot.update(*moving_state(robot, np.random.default_rng(1), 0.2, 0.5))
    assert not np.allclose(tick.contact_jacobian(robot), first)


def test_the_error_of_contacts_is_the_way_back_to_where_they_closed() -> None:
    robot, feet = quadruped()
    anchors = [foot.place(robot) for foot in feet]
    tick = wbc.Tick(robot, feet, anchors=anchors)
    assert not tick.contact_error(robot).any()
    q = np.array(robot.q)
    q[:3] += [0.1, -0.2, 0.3]
    robot.update(q)
    assert np.allclose(tick.contact_error(robot), np.tile([-0.1, 0.2, -0.3], 4))
    some = tick.replace(anchors=[None, *anchors[1:]])
    assert np.allclose(some.contact_error(robot), np.r_[np.zeros(3), np.tile([-0.1, 0.2, -0.3], 3)])
    assert not wbc.Tick(robot, feet).contact_error(robot).any(), "without a place nothing is led back"


@pytest.mark.parametrize("kind", ["points", "soles", "corners", "mixed"])
def test_what_is_computed_at_once_is_what_each_contact_says(kind: str) -> None:
    robot = wbc.load("quadruped" if kind == "points" else "humanoid", "numpy")
    feet = contacts(robot)
    if kind == "corners":
        feet = [wbc.SurfaceContact(foot.frame, 0.6, foot.corners, forces="corners") for foot in feet]
    if kind == "mixed":
        feet = [*feet[:1], wbc.PointContact(robot.model.hands[0]), *feet[1:]]
    robot.update(*moving_state(robot, np.random.default_rng(2), 0.3, 0.5))
    tick = wbc.Tick(robot, feet)
    J, bias = tick.contact_motion(robot)
    parts = [foot.motion(robot) for foot in feet]
    assert np.allclose(J, np.vstack([part for part, _ in parts]), atol=1e-12)
    assert np.allclose(bias, np.concatenate([part for _, part in parts]), atol=1e-10)
    spread = [foot.spread(robot, part) for foot, (part, _) in zip(feet, parts, strict=True)]
    assert np.allclose(tick.contact_jacobian(robot), np.vstack(spread), atol=1e-12)


def test_two_threads_read_ticks_of_their_own_robots() -> None:
    """They share a layout: what one has computed is never mistaken for the other's."""
    robot, feet = quadruped()
    layout = wbc.Tick(robot, feet).layout
    rng = np.random.default_rng(4)
    states = [moving_state(robot, rng, 0.3, 0.5) for _ in range(2)]
    expected = []
    for q, v in states:
        twin = robot.copy()
        twin.update(q, v)
        expected.append(wbc.Tick(twin, feet).contact_jacobian(twin))

    def read(which: int) -> bool:
        twin, tick = robot.copy(), wbc.Tick.of(layout)
        good = True
        for _ in range(200):
            twin.update(*states[which])
            good &= np.allclose(tick.contact_jacobian(twin), expected[which], atol=1e-12)
        return good

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(read, (0, 1)))
