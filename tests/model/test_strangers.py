"""Files of strangers: whatever is in them, a model or a `WbcError` comes back, in bounded time and memory."""

import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import wbc
from tests.model.test_urdf_fuzz import ATTRIBUTE, MUTATIONS, declare, replace_value
from wbc.model import apart, bounds, mjcf_bounds, read_urdf

mujoco = pytest.importorskip("mujoco")

INFINITE = "damping is infinite" if mujoco.mj_version() >= 3_010_000 else "can't read"
"""MuJoCo before 3.10 refuses such a file itself."""

ONE = '<body name="a"><joint name="j"/><geom size="0.1"/></body>'
TWICE = '<replicate count="500">' * 2, "</replicate>" * 2
ARM = """<mujoco model="arm">
  <option timestep="0.002"/>
  <asset><hfield name="ground" nrow="4" ncol="5" size="1 1 1 0.1"/><texture name="t" type="2d" builtin="flat"
    width="8" height="8"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" damping="0.5" range="-1 1"/><geom type="capsule" size="0.05 0.2" mass="2"/>
      <body name="lower" pos="0 0 -0.4">
        <joint name="elbow" axis="0 1 0" armature="0.01"/><geom type="capsule" size="0.04 0.2" mass="1"/>
        <site name="tool" pos="0 0 -0.2"/>
      </body>
    </body>
    <replicate count="3" offset="0.1 0 0"><geom type="sphere" size="0.01" contype="0" conaffinity="0"/></replicate>
  </worldbody>
  <actuator><motor joint="shoulder" ctrlrange="-10 10"/><position joint="elbow" kp="20" ctrlrange="-2 2"/></actuator>
  <keyframe><key qpos="0.3 0.2"/></keyframe>
</mujoco>"""


def written(folder: Path, inside: str) -> Path:
    path = folder / "robot.xml"
    path.write_text(f"<mujoco>{inside}</mujoco>")
    return path


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (
            '<asset><hfield name="h" nrow="1000000000" ncol="1000000000" size="1 1 1 1"/></asset>',
            "hfield.*asks for 1e.18",
        ),
        (
            '<asset><texture name="t" width="1000000" height="1000000" type="2d" builtin="flat"/></asset>',
            "asks for 1e.12",
        ),
        ('<size nuser_body="1000000000"/>', "size.*asks for 1e.09"),
        ('<size nkey="1000000000"/>', "size.*asks for 1e.09"),
        ('<size memory="100G"/>', "asks for 1e.11"),
        (f'<worldbody><replicate count="100000000">{ONE}</replicate></worldbody>', "it expands to .* elements"),
        (
            f'<worldbody><replicate count="500"><replicate count="500">{ONE}</replicate></replicate></worldbody>',
            "expands to",
        ),
        ('<worldbody><flexcomp type="grid" count="1000 1000 1000"/></worldbody>', "it expands to 1e.09 elements"),
        (f'<worldbody><replicate count="1001">{ONE}</replicate></worldbody>', "1,001 velocities"),
        ('<worldbody><body><joint name="j" damping="inf"/><geom size="1"/></body></worldbody>', INFINITE),
        ('<worldbody><body><joint name="j" armature="inf"/><geom size="1"/></body></worldbody>', "infinite|can't read"),
        ("<x/>" * 100_001, "more than 100,000 elements"),
    ],
)
def test_a_file_that_asks_for_too_much_is_named(tmp_path: Path, inside: str, message: str) -> None:
    with pytest.raises(wbc.WbcError, match=message):
        wbc.load(written(tmp_path, inside), "numpy")


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text('<mujoco><include file="robot.xml"/></mujoco>')
    with pytest.raises(wbc.WbcError, match="include each other"):
        wbc.load(tmp_path / "robot.xml", "numpy")


def test_what_is_included_counts(tmp_path: Path) -> None:
    (tmp_path / "many.xml").write_text(f"<mujocoinclude>{'<x/>' * 60_000}</mujocoinclude>")
    path = written(tmp_path, '<worldbody/><include file="many.xml"/>' * 2)
    with pytest.raises(wbc.WbcError, match="it expands to 1.2e.05 elements"):
        mjcf_bounds.check_mjcf(path)


def test_large_files_and_long_chains_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    links = "".join(f'<link name="l{k}"/>' for k in range(1002))
    joint = '<joint name="j{0}" type="continuous"><parent link="l{0}"/><child link="l{1}"/></joint>'
    chain = f'<robot name="chain">{links}{"".join(joint.format(k, k + 1) for k in range(1001))}</robot>'
    with pytest.raises(wbc.WbcError, match="1,001 velocities; the limit is 1,000"):
        read_urdf(chain.encode())
    monkeypatch.setattr(bounds, "LARGEST_FILE", 1000)
    path = tmp_path / "robot.urdf"
    path.write_bytes(b" " * 1001)
    with pytest.raises(wbc.WbcError, match="is larger than"):
        wbc.load(path, "numpy")


def test_many_velocities_are_not_for_pinocchio_by_itself() -> None:
    pytest.importorskip("pinocchio")
    solid = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{k}">{solid}</link>' for k in range(202))
    joint = '<joint name="j{0}" type="continuous"><parent link="l{0}"/><child link="l{1}"/></joint>'
    for count, backend in ((200, "pinocchio"), (201, "numpy")):
        joints = "".join(joint.format(k, k + 1) for k in range(count))
        held = '<joint name="last" type="fixed"><parent link="l200"/><child link="l201"/></joint>' * (count == 200)
        assert wbc.load(read_urdf(f'<robot name="c">{links}{joints}{held}</robot>'.encode())).name == backend


# --- a compiler in a process of its own -------------------------------------------------------------------------------


def test_an_untrusted_file_gives_the_same_model(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    for options in ({}, {"locked": ["elbow"], "nominal": {"elbow": 0.4}}, {"passive": ["elbow"]}):
        ours, apart_ = (wbc.load(path, "numpy", trusted=trusted, **options) for trusted in (True, False))
        v = np.linspace(-1.0, 1.0, ours.nv)
        for robot in (ours, apart_):
            robot.update(robot.model.nominal, v)
        assert (ours.nv, ours.na) == (apart_.nv, apart_.na)
        np.testing.assert_array_equal(ours.mass_matrix, apart_.mass_matrix)
        np.testing.assert_array_equal(ours.bias, apart_.bias)
        np.testing.assert_array_equal(ours.limits.effort, apart_.limits.effort)


def test_a_compiler_that_hangs_or_crashes_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = '<asset><texture name="t" type="2d" builtin="flat" width="4000" height="4000"/></asset>'
    path = written(tmp_path, f"{large}<worldbody>{ONE}</worldbody>")
    monkeypatch.setattr(apart, "SECONDS", 0.01)
    with pytest.raises(wbc.WbcError, match="did not compile it within"):
        wbc.load(path, "numpy", trusted=False)
    monkeypatch.setattr(apart, "SECONDS", 10.0)
    monkeypatch.setattr(apart, "MEGABYTES", 20)  # less than the texture has
    with pytest.raises(wbc.WbcError, match="crashed on it|needs more than"):
        wbc.load(path, "numpy", trusted=False)


def test_what_is_wrong_in_an_untrusted_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(wbc.WbcError, match="robot.xml: MuJoCo can't read it: .*nonsense"):
        wbc.load(written(tmp_path, "<nonsense/>"), "numpy", trusted=False)
    with pytest.raises(wbc.WbcError, match="locked: no joint 'hip'"):
        wbc.load(written(tmp_path, f"<worldbody>{ONE}</worldbody>"), "numpy", trusted=False, locked=["hip"])


def test_the_command_line_takes_untrusted_files(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    done = subprocess.run(
        [sys.executable, "-m", "wbc", "robots", str(path), "--untrusted"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "shoulder" in done.stdout


# --- damaged files ----------------------------------------------------------------------------------------------------

VALUES = (
    "nan",
    "inf",
    "-1",
    "0",
    "1e400",
    "1e300",
    "-1e12",
    "",
    "a",
    "0 0 0",
    "1000000000",
    "100000",
    "2147483648",
    "7",
)


def damaged(seed: int) -> bytes:
    """An MJCF file with something wrong."""
    rng = random.Random(seed)
    text = ARM.encode()
    for _ in range(rng.choice((1, 1, 2, 4))):
        if rng.random() < 0.5:
            found = rng.choice(list(ATTRIBUTE.finditer(text)) or [None])
            if found is not None:
                text = text[: found.start(2)] + rng.choice(VALUES).encode() + text[found.end(2) :]
        else:
            mutation = rng.choice([one for one in MUTATIONS if one not in (declare, replace_value)])
            text = mutation(rng, text) or b" "
    return text


def load_damaged(seeds: range, folder: Path) -> str:
    """Loads damaged files, and says after each what came of it; for a process that may not survive it."""
    outcomes = ""
    for seed in seeds:
        path = folder / f"{seed}.xml"
        path.write_bytes(damaged(seed))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                robot = wbc.load(path, "numpy")
            robot.update(robot.model.nominal, np.ones(robot.nv))
            assert np.isfinite(robot.mass_matrix).all() and np.isfinite(robot.bias).all(), seed
            outcomes += "m"
        except wbc.WbcError:
            outcomes += "e"
        path.unlink()
    return outcomes


def test_a_damaged_mjcf_gives_a_model_or_a_wbc_error(tmp_path: Path) -> None:
    outcomes = load_damaged(range(300), tmp_path)
    assert min(outcomes.count("m"), outcomes.count("e")) > 30


@pytest.mark.soak
@pytest.mark.parametrize("block", range(30))
def test_many_damaged_mjcf_give_models_or_errors(block: int, tmp_path: Path) -> None:
    """Where MuJoCo's compiler does not survive a file, or hangs, that is an error by name if it is not trusted."""
    seed, end = 1000 * (block + 1), 1000 * (block + 2)
    while seed < end:
        code = f"load_damaged(range({seed}, {end}), Path({str(tmp_path)!r}))"
        code = f"from pathlib import Path; from tests.model.test_strangers import load_damaged; {code}"
        try:
            subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], timeout=300.0, check=True)
            return
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            fatal = next(tmp_path.glob("*.xml"))
        with pytest.raises(wbc.WbcError):
            wbc.load(fatal, "numpy", trusted=False)
        seed = int(fatal.stem) + 1
        fatal.unlink()
