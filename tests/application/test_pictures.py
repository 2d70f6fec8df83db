"""What is seen of a run: videos, the viewer; and what is said where nothing can be shown."""

import sys

import numpy as np
import pytest

import wbc
from tests.application.test_cli import run
from wbc.application import demo

mujoco = pytest.importorskip("mujoco")
Image = pytest.importorskip("PIL.Image")

from wbc.application.rendering import FORCE_COLOR, PUSH_COLOR, Renderer  # noqa: E402
from wbc.application.video import PAUSE, SIZE, mujoco_model, write_video  # noqa: E402
from wbc.simulation import MujocoSimulator, Push  # noqa: E402


@pytest.fixture(scope="module")
def can_render():
    try:
        with Renderer(MujocoSimulator(wbc.load("arm")).mj_model, 64, 48):
            pass
    except wbc.WbcError as error:
        pytest.skip(f"{error}")


def pictures(path):
    with Image.open(path) as gif:
        found = []
        for number in range(gif.n_frames):
            gif.seek(number)
            assert gif.info["duration"] == round(1000 * PAUSE)
            found.append(np.asarray(gif.convert("RGB")).astype(int))
    return found


def test_a_video_shows_the_robot_move_and_be_pushed(can_render, tmp_path, monkeypatch):
    scene = demo()
    scene.disturbances = [Push("base", (0.0, 88.0, 0.0), 0.3, 0.1)]
    log, arrows, shares = scene.run(0.45), [], []
    draw = Renderer.draw
    monkeypatch.setattr(Renderer, "draw", lambda self, given: arrows.append(given) or draw(self, given))
    write_video(scene, log, tmp_path / "run.gif", shares.append)
    found = pictures(tmp_path / "run.gif")
    assert len(found) == len(arrows) == len(shares) == 6 and shares[-1] == 1.0
    assert all(picture.shape == (SIZE[1], SIZE[0], 3) for picture in found)
    # the robot is dark, in the middle, and stands on a floor that fills what is below it
    dark = np.argwhere(found[0].sum(axis=2) < 200)
    dark = dark[dark[:, 0] > 30]  # without the caption
    assert abs(dark.mean(axis=0) - np.array(SIZE[::-1]) / 2).max() < 40
    assert dark.min() > 30 and (dark.max(axis=0) < np.array(SIZE[::-1]) - 20).all()
    for number, given in enumerate(arrows):
        pushes = [arrow for arrow in given if arrow[3] == PUSH_COLOR]
        assert len(given) - len(pushes) == 4  # forces on the feet
        assert len(pushes) == (number == 4)  # at 0.32 s
    (begin, end, _, _) = next(arrow for arrow in arrows[4] if arrow[3] == PUSH_COLOR)
    assert begin[1] < end[1] - 0.3 and -0.3 < end[1] < -0.05  # it ends on the robot's right side
    up = [end - begin for begin, end, _, _ in arrows[1]]
    assert all(way[2] > 0.15 and np.abs(way[:2]).max() < 0.15 for way in up)


def test_other_plants_are_seen_by_a_model_of_their_robot(can_render, tmp_path):
    scene = demo(simulator="builtin", backend="numpy")
    assert mujoco_model(scene.plant).nq == 19
    write_video(scene, scene.run(0.05), tmp_path / "run.gif", size=(160, 120))
    assert pictures(tmp_path / "run.gif")[0].std() > 10


def test_the_renderer_leaves_the_model_alone(can_render):
    model = MujocoSimulator(wbc.load("quadruped")).mj_model
    width = model.vis.global_.offwidth
    with Renderer(model, 1200, 700) as renderer:
        renderer.pose(wbc.load("quadruped").model.nominal)
        plain = renderer.draw()
        p = np.array([0.0, -0.5, 0.3])
        arrow = renderer.draw([(p, p + 0.3, 0.03, FORCE_COLOR)])
        side = renderer.surface(np.array([0.0, 0.0, 0.45]), np.array([0.0, 1.0, 0.0]))
    assert plain.shape == (700, 1200, 3) and (plain != arrow).any()
    assert -0.3 < side[1] < -0.03  # on the robot's right
    assert model.vis.global_.offwidth == width


def test_where_nothing_can_be_rendered_the_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "off")
    out, err, code = run("demo", "--duration", "0.05", "--out", str(tmp_path))
    assert code == 0 and "50 optimal" in out and not (tmp_path / "demo.gif").exists()
    assert err == "no video: rendering is switched off: MUJOCO_GL=off\n"
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    if sys.platform == "linux":
        with pytest.raises(wbc.WbcError, match=r"no OpenGL to render with \(glfw: no display\)"):
            Renderer(MujocoSimulator(wbc.load("arm")).mj_model, 64, 48)


@pytest.mark.skipif(sys.platform != "linux", reason="there is always a display")
def test_without_a_display_the_run_goes_on_without_a_viewer(tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    out, err, code = run("demo", "--duration", "0.05", "--out", str(tmp_path), "--view", "--no-video")
    assert (err, code) == ("no viewer: there is no display here\n", 0)
    assert "50 optimal" in out and "on numpy" not in out.replace("on numpy ", "", 1)


class Window:
    """Stands for MuJoCo's window; it is closed after so many pictures."""

    def __init__(self, model, data, **_):
        self.model, self.data, self.seen = model, data, []
        self.cam = mujoco.MjvCamera()
        Window.last = self

    def sync(self):
        self.seen.append(self.data.qpos.copy())

    def is_running(self):
        return len(self.seen) < 4

    def close(self):
        self.seen.append(None)


@pytest.mark.parametrize("simulator", ["mujoco", "builtin"])
def test_the_viewer_shows_the_run_until_it_is_closed(simulator, tmp_path, monkeypatch):
    import mujoco.viewer

    import wbc.application.viewer

    monkeypatch.setattr(wbc.application.viewer, "_check_display", lambda: None)
    monkeypatch.setattr(mujoco.viewer, "launch_passive", Window)
    out, err, code = run(
        "demo", "--view", "--no-video", "--duration", "2", "--simulator", simulator, "--out", str(tmp_path)
    )
    assert (err, code) == ("", 0) and "; stopped" in out and "real time: " in out
    log, seen = wbc.read_log(tmp_path / "demo.log"), Window.last.seen
    assert log.time[-1] < 1.0 and len(seen) == 5 and seen[-1] is None
    assert all(np.abs(log.q - q).max(axis=1).min() < 1e-3 for q in seen[:-1])
    assert Window.last.model.nq == 19 and Window.last.cam.type == mujoco.mjtCamera.mjCAMERA_TRACKING
