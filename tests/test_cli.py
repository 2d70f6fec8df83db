"""The command line, as a user or a script meets it: what is printed where, and the exit code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import wbc
from wbc.application import load_scene
from wbc.cli import app
from wbc.model import packaged_path

ESCAPE = "\x1b"

DAMAGED = """<robot name="r">
<link name="base"/>
<link name="[bold]arm[/bold]"><inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="hinge"><parent link="base"/><child link="[bold]arm[/bold]"/></joint>
<joint name="k" type="revolute"><parent link="base"/><child link="base"/><limit lower="-1" upper="1"/></joint>
</robot>"""

ODD = """<robot name="odd [red]one[/red]">
<link name="base"/>
<link name="[bold]Arm Grüße 关节"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="{izz}"/></inertial></link>
<joint name="[j]" type="prismatic"><parent link="base"/><child link="[bold]Arm Grüße 关节"/>
<axis xyz="0 -1 0"/><limit lower="-1" upper="2" velocity="3"/><dynamics damping="0.5" friction="0.25"/></joint>
<wbc><joint name="[j]" armature="0.125" actuated="false"/></wbc>
</robot>"""

MJCF = """<mujoco model="m"><worldbody><body name="b"><freejoint/><geom size="0.1"/><body name="c"><joint name="j1"/>
<joint name="j2" type="slide"/><geom size="0.1"/></body></body></worldbody></mujoco>"""


def run(*arguments):
    """Standard output, standard error and exit code, in this process."""
    result = CliRunner().invoke(app, arguments, prog_name="wbc")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.stdout, result.stderr, result.exit_code


def run_process(*arguments, **environment):
    """The same in a process of its own, its output in pipes."""
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "wbc", *arguments], capture_output=True, env={**plain, **environment}, timeout=60
    )
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def write(folder, text, name="my robot.urdf"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def row(output, name):
    """The words of the line that has the name."""
    (line,) = [line for line in output.splitlines() if re.search(rf"\b{name}\b", line)]
    return line.split()


def test_lists_the_packaged_robots():
    out, err, code = run("robots")
    assert (err, code) == ("", 0)
    assert row(out, "quadruped")[1:5] == ["floating", "12", "18", "30"]
    assert row(out, "humanoid")[-2:] == ["left_hand,", "right_hand"]
    assert row(out, "planar_arm")[1:] == ["fixed", "3", "3", "3", "-", "-"]
    assert row(out, "arm")[1:4] == ["fixed", "7", "7"]


def test_shows_a_robot():
    out, err, code = run("robots", "arm")
    assert (err, code) == ("", 0)
    assert (
        "arm: fixed base, 7 joints that move, 15.8 kg; nq = 7 coordinates, nv = 7 velocities, na = 7 actuators" in out
    )
    lines = out.splitlines()
    (link,) = [line for line in lines if "link_4  joint_4" in line]
    assert link.endswith("link_4  joint_4: revolute about y  2.4 kg")
    (tool,) = [line for line in lines if "tool_fixed" in line]
    assert tool.index("tool") > link.index("link_4")  # deeper in the tree
    (joint,) = [line for line in lines if line.strip().startswith("3 ")]
    assert joint.split() == ["3", "joint_4", "revolute", "-2.1", "2.1", "rad", "2.4", "60", "0.3", "-", "0.1", "yes"]
    assert "frames (11): world, base, link_1," in out and "hands (1): tool" in out and "unusual" not in out


def test_shows_a_file_with_names_of_any_text(tmp_path):
    path = write(tmp_path, ODD.format(izz=1))
    out, err, code = run("robots", path, "--floating")
    assert (err, code) == ("", 0)
    assert "odd [red]one[/red]: floating base, 1 joint that moves, 2 kg" in out and "nv = 7" in out
    assert "[bold]Arm Grüße 关节  [j]: prismatic along -y  2 kg" in out
    (joint,) = [line for line in out.splitlines() if line.strip().startswith("6 ")]
    assert joint.split() == ["6", "[j]", "prismatic", "-1", "2", "m", "3", "-", "0.5", "0.25", "0.125", "no"]
    assert "unusual in the file:\n  joints with no effort limit (none or 0 given, taken as unlimited): '[j]'" in out
    assert "Warning" not in out and path not in out


def test_base_floats_or_not_as_asked():
    assert "fixed base" in run("robots", "quadruped", "--fixed")[0]
    assert "floating base" in run("robots", "arm", "--floating")[0]
    assert "floating base" in run("robots", "quadruped")[0]


def test_a_file_that_cannot_be_used_is_told_line_by_line(tmp_path):
    path = write(tmp_path, DAMAGED)
    out, err, code = run("robots", path)
    assert (out, code) == ("", 1)
    lines = err.splitlines()
    assert len(lines) == 4 and all(line.startswith(f"{path}: ") for line in lines)
    assert "error: <link name='[bold]arm[/bold]'> (line 3): its mass is -1 kg" in lines[0]
    assert "error: <joint name='j'> (line 4): no joint type 'hinge'" in lines[1]
    assert all("warning: joints with no" in line and line.endswith("'k'") for line in lines[2:])


def test_no_strict_accepts_an_unphysical_inertia(tmp_path):
    path = write(tmp_path, ODD.format(izz=5))
    out, err, code = run("robots", path)
    assert (out, code) == ("", 1) and "triangle inequality" in err and "--no-strict accepts it" in err
    out, err, code = run("robots", path, "--no-strict")
    assert (err, code) == ("", 0) and "accepted an inertia that no body can have" in out


def test_a_robot_without_joints(tmp_path):
    out, err, code = run("robots", write(tmp_path, '<robot name="stone"><link name="base"/></robot>'))
    assert (err, code) == ("", 0) and "stone: fixed base, 0 joints that move, 0 kg" in out and "armature" not in out


def test_shows_an_mjcf_file(tmp_path):
    pytest.importorskip("mujoco")
    path = write(tmp_path, MJCF, "m.xml")
    out, err, code = run("robots", path)
    assert (err, code) == ("", 0)
    assert "(between two joints)  j1: continuous about z" in out and "c  j2: prismatic along z" in out
    assert "0-5" in out and "there are no actuators" in out
    _, err, code = run("robots", path, "--floating")
    assert code == 2 and "URDF" in err
    broken = write(tmp_path, MJCF.replace("slide", "slope"), "n.xml")
    out, err, code = run("robots", broken)
    assert (out, code) == ("", 1) and err.count("\n") == 1 and err.count(broken) == 1 and "slope" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["robots", "quadrupd"], ["NAME|FILE", "no packaged robot", "'quadruped'"]),
        (["robots", "nowhere.urdf"], ["no file", "nowhere.urdf"]),
        (["robots", "/"], ["folder"]),
        (["robots", "arm", "--fast"], ["No such option", "--fast"]),
        (["robots", "--floating"], ["wbc robots", "NAME"]),
        (["robot"], ["No such command", "robots"]),
    ],
)
def test_wrong_usage(arguments, words):
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2)
    for word in words:
        assert word in err


def test_version():
    assert run("--version") == (f"wbc {wbc.__version__}\n", "", 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--help"], ["wbc robots", "joint torques"]), (["robots", "-h"], ["my_robot.urdf", "Exit code", "--no-strict"])],
)
def test_help_teaches(arguments, words):
    out, _, code = run(*arguments)
    assert code == 0
    for word in words:
        assert word in out


# --- as a process


def test_a_pipe_gets_plain_lines_of_their_own_width(tmp_path):
    for arguments in (["robots"], ["robots", "humanoid"]):
        out, err, code = run_process(*arguments)
        assert (err, code) == ("", 0) and ESCAPE not in out
    (frames,) = [line for line in out.splitlines() if line.startswith("frames (")]
    assert len(frames) > 200
    assert max(map(len, out.splitlines())) < 1000
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    _, err, code = run_process("robots", write(folder, DAMAGED))
    assert code == 1 and len(err.splitlines()) == 4 and ESCAPE not in err


def test_colour_is_for_terminals_that_want_it():
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9]")
    assert colour.search(run_process("robots", "arm", FORCE_COLOR="1", TERM="xterm-256color")[0])
    assert not colour.search(run_process("robots", "arm", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")[0])


def test_a_narrow_terminal_is_respected():
    out, _, code = run_process("robots", "arm", COLUMNS="60")
    assert code == 0 and max(map(len, out.splitlines())) <= 60


def test_an_output_that_knows_no_unicode(tmp_path):
    out, err, code = run_process("robots", write(tmp_path, ODD.format(izz=1)), PYTHONIOENCODING="ascii")
    assert (err, code) == ("", 0) and "Arm Gr\\xfc\\xdfe" in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_an_output_that_is_full():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "wbc", "robots"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"wbc: No space left on device\n")


def test_importing_the_library_does_not_import_the_command_line():
    code = (
        "import sys, wbc; sys.exit(any(name.partition('.')[0] in ('typer', 'rich', 'click') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_packaged_files_are_files_like_any_other():
    out, err, code = run("robots", str(packaged_path("quadruped")))
    assert (err, code) == ("", 0) and out == run("robots", "quadruped")[0]


def test_demo_stands_and_leaves_a_log_and_a_picture(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wbc", "demo", "--duration", "0.3", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "quadruped: 0.30 s, 300 ticks; finished" in done.stdout
    assert "300 optimal" in done.stdout
    assert (tmp_path / "demo.log").stat().st_size > 100_000
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    assert "\x1b" not in done.stdout + done.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "wbc", "show", str(tmp_path / "demo.log")], capture_output=True, text=True, check=True
    )
    assert "300 optimal" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["run", "nothing"], 2, "no example or file 'nothing'"),
        (["demo", "--solver", "hqp"], 2, "no solver 'hqp'"),
        (["demo", "--backend", "nump"], 2, "did you mean 'numpy'"),
        (["demo", "--simulator", "gazebo"], 2, "no simulator 'gazebo'"),
        (["show", "nothing.log"], 1, "can't read 'nothing.log'"),
    ],
)
def test_wrong_values_are_one_line_with_the_right_ones(arguments: list[str], code: int, told: str) -> None:
    done = subprocess.run([sys.executable, "-m", "wbc", *arguments], capture_output=True, text=True)
    assert done.returncode == code
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_file_of_ones_own_runs(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import tasks, wbc\n"
        "from wbc.simulation import Scene, make_plant\n"
        "def scene(backend='auto', solver='hierarchical-qp', simulator='mujoco'):\n"
        "    robot = wbc.load('arm', backend)\n"
        "    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.JointAcceleration())\n"
        "    return Scene(wbc.Controller(robot, stack, solver), make_plant(robot, simulator), 0.1)\n"
    )
    command = [sys.executable, "-m", "wbc", "run", str(path), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "arm: 0.10 s, 100 ticks; finished" in done.stdout
    path.write_text("x = 1\n")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "has no function scene" in done.stderr


def test_an_example_without_a_robot_is_told_from_a_mistake() -> None:
    with pytest.raises(wbc.WbcError, match=r"has no function scene.*; it runs by itself: python .*14_tumbling_body.py"):
        load_scene("14", "numpy", "hierarchical-qp", "builtin")


def test_compare_runs_every_solver_on_the_same_states() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wbc", "compare", "--duration", "0.05"],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
    )
    for solver in ("hierarchical-qp", "sequential-qp", "weighted-qp", "nullspace", "operational-space"):
        assert solver in done.stdout
