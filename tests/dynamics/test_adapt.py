"""Locked joints, joints without a motor: for every kind of file."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wbc
from tests.foreign import biped, dog

CHAIN = """<mujoco><compiler angle="degree"/><worldbody><body name="a" pos="0 0 1" euler="0 20 0">
<joint name="ja" axis="1 0 0"/><geom type="box" size=".1 .2 .3" pos=".1 0 0" mass="1"/>
<body name="b" pos=".3 0 0" euler="10 0 40"><joint name="jb1" axis="0 1 0" pos="0 .05 0"/>
<joint name="jb2" axis="0 0 1" pos=".1 0 0"/><geom type="box" size=".1 .05 .2" pos=".2 .1 0" mass="2"/>
<body name="c" pos=".4 0 .1"><joint name="jc" type="slide" axis="1 0 0"/><geom size=".1" pos=".1 .1 .1" mass="1"/>
</body></body></body></worldbody>
<actuator><motor joint="ja"/><motor joint="jb1"/><motor joint="jb2"/><motor joint="jc"/></actuator></mujoco>"""


def quiet(what, backend="numpy", **options) -> wbc.Dynamics:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        return wbc.load(what, backend, **options)


@pytest.mark.parametrize("backend", ["numpy", "mujoco"])
@pytest.mark.parametrize("locked", [["jb1"], ["jb2"], ["jb1", "jb2"], ["jc"], ["ja", "jb2"]])
def test_locked_joints_of_an_mjcf_are_as_if_they_were_held(tmp_path, backend, locked) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "chain.xml"
    path.write_text(CHAIN)
    angles = {"ja": 0.3, "jb1": -0.5, "jb2": 0.8, "jc": 0.1}
    whole, part = quiet(path), quiet(path, backend, locked=locked, nominal=angles)
    left = [name for name in angles if name not in locked]
    assert part.joint_names == tuple(left)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=len(left)), rng.normal(size=len(left))
    at = [whole.model.v_index[name] for name in left]
    full, speed = np.array(list(angles.values())), np.zeros(4)
    full[at], speed[at] = q, v
    whole.update(full, speed)
    part.update(q, v)
    np.testing.assert_allclose(part.mass_matrix, whole.mass_matrix[np.ix_(at, at)], atol=1e-9)
    np.testing.assert_allclose(part.bias, whole.bias[at], atol=1e-9)
    np.testing.assert_allclose(part.pose("c"), whole.pose("c"), atol=1e-9)
    assert part.mass == pytest.approx(whole.mass) or "ja" in locked


def test_locked_joints_of_a_urdf(tmp_path) -> None:
    path = tmp_path / "walker.urdf"
    path.write_text(biped())
    arms = [f"{side}_{name}" for side in ("left", "right") for name in ("shoulder_roll", "elbow")]
    whole = quiet(path)
    part = quiet(path, locked=arms, nominal={"left_elbow": -0.5})
    assert part.nv == whole.nv - 4 and part.mass == pytest.approx(whole.mass)
    q = np.array(whole.model.nominal)
    q[whole.model.q_index["left_elbow"]] = -0.5
    whole.update(q)
    keep = [k for k in range(whole.nv) if k not in {whole.model.v_index[name] for name in arms}]
    part.update(np.delete(q, [whole.model.q_index[name] for name in arms]))
    np.testing.assert_allclose(part.mass_matrix, whole.mass_matrix[np.ix_(keep, keep)], atol=1e-9)
    with pytest.raises(wbc.WbcError, match="locked: no joint 'left_elbw'; did you mean 'left_elbow'"):
        quiet(path, locked="left_elbw")


def test_a_locked_joint_that_another_is_coupled_to(tmp_path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "chain.xml"
    path.write_text(CHAIN.replace("<actuator>", '<equality><joint joint1="ja" joint2="jc"/></equality><actuator>'))
    with pytest.raises(wbc.WbcError, match="joint 'jc' is coupled to one that is locked; lock it as well"):
        quiet(path, locked=["ja"])
    assert quiet(path, locked=["ja", "jc"]).nv == 2


def test_passive_joints_have_no_motor(tmp_path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "chain.xml"
    path.write_text(CHAIN)
    robot = quiet(path, passive=["jb1", "jc"])
    assert robot.na == 2 and robot.nv == 4
    plant = wbc.MujocoSimulator(robot)
    assert plant.mj_model.nu == 2
    model = wbc.load("arm").model
    first = model.joint_names[0]
    assert quiet(model, passive=first).na == 6
    with pytest.raises(wbc.WbcError, match="passive: no joint 'jb3'"):
        quiet(path, passive=["jb3"])


def test_a_robot_of_an_mjcf_file_is_simulated_in_its_own_model_on_a_floor(tmp_path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "dog.xml"
    path.write_text(dog())
    robot = quiet(path)
    plant = wbc.MujocoSimulator(robot)
    assert plant.timestep == 0.002 and plant.mj_model.geom("floor").id >= 0
    np.testing.assert_array_equal(plant.state[0], robot.model.nominal)
    assert set(robot.model.feet) <= set(plant.contact_forces)
    faster = wbc.MujocoSimulator(robot, timestep=1e-3)
    assert (faster.timestep, plant.timestep, robot.model.simulated.opt.timestep) == (0.001, 0.002, 0.002)
