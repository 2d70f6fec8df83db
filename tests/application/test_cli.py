"""The command line, as a user or a script meets it: what is printed where, and the exit code."""

import contextlib
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wbc
from wbc import compiled
from wbc.application.cli import main
from wbc.model import packaged_path
from wbc.scenes import finding as scenes

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
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
        main(list(arguments))
    return out.getvalue(), err.getvalue(), left.value.code or 0


def run_process(*arguments, **environment):
    """The same in a process of its own, its output in pipes."""
    plain = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
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
    assert row(out, "planar_arm")[1:] == ["fixed", "3", "3", "3", "-", "end_effector"]
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
    wet = write(tmp_path, MJCF.replace("<worldbody>", '<option density="1"/><worldbody>'), "w.xml")
    assert "forces that only the backend mujoco computes: fluid" in run("robots", wet)[0]
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
        (["demo", "--duration", "long"], ["--duration", "valid"]),
        (["demo", "--duration", "-1"], ["duration, s, = -1", "more than 0"]),
        (["demo", "--duration", "inf"], ["duration, s, = inf", "more than 0, 1e+09 at the most"]),
        (["demo", "--period", "0.0015"], ["0.0015 s", "multiple of the plant's timestep, 0.001 s"]),
        (["demo", "--period", "-1"], ["the control period, s, = -1.0", "more than 0"]),
        (["demo", "--period", "nan"], ["the control period, s, = nan", "more than 0"]),
        (["demo", "--period", "inf"], ["the control period, s, = inf", "1000 at the most"]),
        (["demo", "--solver", "hqp"], ["no solver 'hqp'", "'hierarchical-qp', "]),
        (["demo", "--backend", "nump"], ["no backend 'nump'; did you mean 'numpy'?"]),
        (["demo", "--simulator", "gazebo"], ["no simulator 'gazebo'", "'mujoco', 'builtin'"]),
        (["run", "nothing"], ["no example or file 'nothing'", "'demo'", "'06_quadruped_trot'"]),
        (["compare", "nothing"], ["no example or file 'nothing'"]),
        (["compare", "--duration", "0"], ["duration, s, = 0"]),
        (["bench", "quadrupd"], ["no packaged robot", "'quadruped'"]),
        (["bench", "--solver", "hqp"], ["no solver 'hqp'"]),
        (["bench", "--backend", "nump"], ["no backend 'nump'"]),
        (["bench", "arm", "--ticks", "0"], ["ticks = 0"]),
        (["show"], ["Missing argument"]),
    ],
)
def test_wrong_usage_is_one_line_with_what_is_right(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2)
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_version():
    solver = "the compiled kernel" if compiled.kernel is not None else "numpy"
    assert run("--version") == (f"wbc {wbc.__version__}, on {solver}\n", "", 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["wbc robots", "joint torques", "Exit codes: 0 ", "130"]),
        (["robots", "-h"], ["my_robot.urdf", "Exit code", "--no-strict"]),
        (["demo", "-h"], ["wbc demo --view", "Exit code: 0 ", "130", "--realtime", "--no-video", "hierarchical-qp"]),
        (["run", "-h"], ["wbc run 6 --video", "a function", "Exit code: 0 ", "130"]),
        (["show", "-h"], ["wbc show out/demo.log", "Exit code"]),
        (["compare", "-h"], ["wbc compare 3", "Exit code"]),
        (["bench", "-h"], ["wbc bench quadruped", "Exit code"]),
    ],
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


# --- runs

FALLS = """
import wbc, tasks
from wbc.simulation import Scene, make_plant
def scene(simulator):
    robot = wbc.load("quadruped", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueMinimization())
    return Scene(wbc.Controller(robot, stack), make_plant(robot, simulator), 2.0)
"""

REACHES = """
import wbc, tasks
from wbc.simulation import Scene, make_plant
def scene(backend, solver, simulator):
    robot = wbc.load("arm", backend)
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.TorqueLimits() / tasks.JointAcceleration())
    plant = make_plant(robot, simulator)
    return Scene(wbc.Controller(robot, stack, solver), plant, 0.1, figures=lambda log: {"joints": f"{log.q.shape[1]}"})
"""


def test_demo_leaves_a_summary_a_log_and_a_picture(tmp_path):
    out, err, code = run("demo", "--duration", "0.3", "--out", str(tmp_path), "--no-video")
    assert (err, code) == ("", 0) and ESCAPE not in out
    assert "quadruped: 0.30 s, 300 ticks; finished" in out and "300 optimal" in out
    assert re.search(r"least margins +\d+\.?\d* N in the friction cones, \d+\.?\d* N m of torque", out)
    assert "over 1 ms" in out
    backends = [line.split()[1] for line in out.splitlines() if line.startswith("on ")]
    if importlib.util.find_spec("pinocchio"):
        assert backends == ["pinocchio", "numpy"]
        assert float(row(out, "on numpy")[-3]) < 1e-9  # N m: both backends find the same torques
    assert (tmp_path / "demo.log").stat().st_size > 100_000
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    assert not (tmp_path / "demo.gif").exists()
    shown, err, code = run("show", str(tmp_path / "demo.log"), "--out", str(tmp_path / "again.svg"))
    assert (err, code) == ("", 0)
    assert "300 optimal" in shown and "controller.step" in shown and (tmp_path / "again.svg").exists()


def test_demo_without_mujoco_and_pinocchio(tmp_path):
    code = (
        "import sys; sys.modules['mujoco'] = sys.modules['pinocchio'] = None; from wbc.application.cli import main; "
        f"main(['demo', '--duration', '0.1', '--out', {str(tmp_path)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "100 optimal" in done.stdout and "on numpy" in done.stdout
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("no video: ") and "wbc[mujoco]" in done.stderr
    assert (tmp_path / "demo.log").exists() and (tmp_path / "demo.png").exists()


def test_a_file_of_ones_own_runs(tmp_path):
    path = write(tmp_path, REACHES, "mine.py")
    out, err, code = run("run", path, "--out", str(tmp_path / "new" / "folder"), "--period", "0.002")
    assert (err, code) == ("", 0)
    assert "arm: 0.10 s, 50 ticks; finished" in out and row(out, "joints") == ["joints", "7"] and "over 2 ms" in out
    assert (tmp_path / "new" / "folder" / "mine.log").exists()
    out, err, code = run("run", write(tmp_path, "x = 1", "empty.py"), "--out", str(tmp_path))
    assert (out, code) == ("", 2) and "has no function scene" in err
    out, err, code = run("run", write(tmp_path, "import nowhere", "broken.py"), "--out", str(tmp_path))
    assert (out, code) == ("", 2) and "can't be imported: ModuleNotFoundError" in err
    out, err, code = run("run", path, "--out", f"{path}/folder")
    assert (out, code) == ("", 2) and "can't make the folder" in err and err.count("\n") == 1


def test_an_example_without_a_robot_is_told_from_a_mistake():
    with pytest.raises(wbc.WbcError, match=r"has no function scene.*; it runs by itself: python .*14_tumbling_body.py"):
        scenes.load_scene("14", "numpy", "hierarchical-qp", "builtin")


def test_what_a_solver_ignores_is_told(tmp_path):
    _, err, code = run("run", write(tmp_path, REACHES, "mine.py"), "--out", str(tmp_path), "--solver", "nullspace")
    assert code == 0 and err.count("\n") == 1 and "TorqueLimits" in err.replace(" ", "").replace("torquel", "TorqueL")


def test_a_fall_is_exit_code_1_and_keeps_the_log(tmp_path):
    out, _, code = run("run", write(tmp_path, FALLS, "falls.py"), "--out", str(tmp_path), "--simulator", "builtin")
    assert code == 1 and "; fell" in out
    assert wbc.read_log(tmp_path / "falls.log").ended == "fell"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_ctrl_c_is_exit_code_130_and_keeps_the_log(tmp_path):
    command = [sys.executable, "-m", "wbc", "demo", "--realtime", "--no-video", "--out", str(tmp_path)]
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # inherited; in the background a shell has it ignored
    try:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    log = tmp_path / "demo.log"
    for _ in range(600):
        if log.exists() and log.stat().st_size:
            break
        time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130 and "; interrupted" in out and "Traceback" not in err
    found = wbc.read_log(log)
    assert found.ended == "interrupted" and f"{len(found)} ticks" in out


def test_a_log_that_breaks_off_is_shown(tmp_path):
    assert run("run", write(tmp_path, REACHES, "mine.py"), "--out", str(tmp_path))[2] == 0
    data = (tmp_path / "mine.log").read_bytes()
    (tmp_path / "cut.log").write_bytes(data[: len(data) // 2])
    (tmp_path / "cut.png").write_text("of the run")
    out, err, code = run("show", str(tmp_path / "cut.log"))
    assert (tmp_path / "cut.png").read_text() == "of the run"
    assert (err, code) == ("", 0) and "the file is incomplete" in out and (tmp_path / "cut_plots.png").exists()
    _, err, code = run("show", str(tmp_path / "cut.log"), "--out", str(tmp_path / "cut.xyz"))
    assert code == 1 and "can't write the picture" in err and "png" in err
    _, err, code = run("show", "nothing.log")
    assert code == 1 and "can't read 'nothing.log'" in err and err.count("\n") == 1


def test_real_time_is_no_faster_than_the_clock(tmp_path):
    path = write(tmp_path, REACHES, "mine.py")
    started = time.perf_counter()
    out, _, code = run("run", path, "--out", str(tmp_path), "--realtime", "--duration", "0.6")
    assert code == 0 and time.perf_counter() - started > 0.59
    simulated, taken = re.search(r"real time: (\S+) s took (\S+) s", out).groups()
    assert float(simulated) == 0.6 and float(taken) > 0.59


def test_examples_come_with_the_repository(tmp_path, monkeypatch):
    path = scenes.scene_file("06_quadruped_trot")
    assert scenes.scene_file("6") == scenes.scene_file("06") == path
    monkeypatch.setattr(scenes, "CHECKOUT", tmp_path)  # an installed package
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "6_not_ours.py").touch()
    out, err, code = run("run", "6")
    assert (out, code) == ("", 2)
    assert "no example '6': the examples come with the repository" in err and "wbc run examples/6_....py" in err
    assert scenes.scene_file(str(path)) == path


def test_bench_has_a_row_for_each_solver_and_backend():
    out, err, code = run("bench", "arm", "--ticks", "5")
    assert (err, code) == ("", 0)
    told = "the compiled kernel" if compiled.kernel is not None else "numpy (no compiled kernel)"
    assert out.splitlines()[0] == f"elastic-qp, hierarchical-qp, weighted-qp and the backend numpy run on {told}"
    rows = [line.split() for line in out.splitlines() if line.startswith("arm ")]
    solvers = {"elastic-qp", "hierarchical-qp", "sequential-qp", "weighted-qp", "nullspace", "operational-space"}
    assert {cells[1] for cells in rows} == solvers
    backends = {cells[2] for cells in rows}
    assert "numpy" in backends and len(rows) == 6 * len(backends)
    assert rows[0][7] == "1.00"
    medians = [float(cells[3]) for cells in rows]
    for cells, median in zip(rows, medians, strict=True):
        assert float(cells[7]) == pytest.approx(median / medians[0], abs=0.01, rel=0.02)  # of printed, rounded times
    out, _, _ = run("bench", "planar_arm", "--ticks", "5", "--solver", "weighted-qp", "--backend", "numpy")
    assert sum(line.startswith("planar_arm ") for line in out.splitlines()) == 1


def test_compare_runs_every_solver_on_the_same_states():
    out, err, code = run("compare", "--duration", "0.05")
    assert (err, code) == ("", 0)
    for solver in ("elastic-qp", "hierarchical-qp", "sequential-qp", "weighted-qp", "nullspace", "operational-space"):
        assert out.count(f"\n{solver} ") == 1
    assert "50 ticks, run by elastic-qp" in out
