"""A page in a real browser: what is seen there, and what is done there reaches the controller. `make web`."""

from __future__ import annotations

import math
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import tasks
import wbc
from tests.web.browser import Browser, missing
from wbc.kinematics import DifferentialKinematics, KinematicScene
from wbc.simulation import Scene, make_plant
from wbc.web.commands import Go
from wbc.web.knobs import FREQUENCY
from wbc.web.link import Link
from wbc.web.live import Live

pytestmark = [pytest.mark.web, pytest.mark.skipif(bool(missing()), reason=f"there is no {missing()}")]

PORT = 8301


def scene(duration: float = 1e4) -> Scene:
    robot = wbc.load("quadruped")
    controller = wbc.Controller(robot, tasks.stacks.standing(robot))
    return Scene(controller, make_plant(robot, "builtin"), duration)


@contextmanager
def running(live: Live):
    """It runs on a thread of its own, until the end."""
    logs: list = []
    thread = threading.Thread(target=lambda: logs.append(live.run()))
    thread.start()
    try:
        yield logs
    finally:
        live.ask(Go("end"))
        thread.join(60.0)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def page():
    """A run, its page, and a browser that looks at it."""
    live = Live(scene())
    with Link(live, port=PORT) as link, running(live), Browser(link.address, 900, 640) as browser:
        browser.wait(lambda: "ms a tick" in browser.text(), 90.0)
        yield live, link, browser
        assert link.fault is None
        assert browser.complaints() == []


def robot_pixels(picture: np.ndarray) -> np.ndarray:
    """Where the dark and the orange parts of the robot are seen, left of the panels."""
    left = picture[:, : picture.shape[1] // 2].astype(int)
    dark = left.max(axis=2) < 70
    orange = (left[:, :, 0] > 180) & (left[:, :, 1] < 140) & (left[:, :, 2] < 90)
    dark[: picture.shape[0] // 4] = orange[: picture.shape[0] // 4] = False  # a notice of the browser
    return dark | orange


def seen_robot(browser: Browser) -> np.ndarray:
    """Rows and columns of the robot's pixels, shape (n, 2), once there are enough."""
    found: list[np.ndarray] = []

    def look() -> bool:
        found[:] = [np.argwhere(robot_pixels(browser.picture()))]
        return len(found[0]) > 300

    browser.wait(look, words="the robot on the canvas")
    return found[0]


def test_the_robot_is_on_the_canvas(page) -> None:
    live, _, browser = page
    live.ask(Go("pause"))
    browser.wait(lambda: "paused" in browser.text())
    assert np.ptp(seen_robot(browser), axis=0).min() > 60
    live.ask(Go("on"))


def test_a_slider_changes_a_gain_in_the_controller(page) -> None:
    live, _, browser = page
    before = live.stack["base"].gains.kp
    browser.click("Tasks")
    level = next(k for k, members in enumerate(live.stack.levels) if live.stack["base"] in members)
    browser.click(f"{level} base")
    browser.write(FREQUENCY, "1.5")
    wanted = wbc.Gains(1.5).kp
    assert wanted != pytest.approx(before)
    browser.wait(lambda: math.isclose(live.stack["base"].gains.kp, wanted, rel_tol=1e-6))


def test_a_button_pushes(page) -> None:
    live, _, browser = page
    browser.click("Run")
    place = live.scene.plant.state[0][1]
    browser.click("Push")
    browser.wait(lambda: abs(live.scene.plant.state[0][1] - place) > 1e-3, words="a robot that moves")


def test_pause_step_and_reset(page) -> None:
    live, link, browser = page
    browser.click("Run")
    browser.click("Pause")
    browser.wait(lambda: live.mode == "paused")
    ticks = live.slot.put_so_far
    browser.click("Step")
    browser.wait(lambda: live.slot.put_so_far == ticks + 1)
    browser.click("Go on")
    browser.wait(lambda: live.mode == "running")
    assert link.watchers == 1


def test_what_the_controller_says_and_the_plots_are_there(page) -> None:
    _, _, browser = page
    browser.click("Why")
    browser.wait(lambda: "equation of motion: holds" in browser.text())
    assert "health" in browser.text()
    browser.click("Plots")
    browser.wait(lambda: len(browser.find("//*[contains(@class, 'uplot')]//canvas")) >= 2, words="plots")
    browser.wait(lambda: browser.picture()[:, 640:].reshape(-1, 3).std(axis=1).max() > 20, words="lines in colours")


def test_a_click_on_the_robot_pushes_it_where_one_looks(page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    live, _, browser = page
    browser.click("Run")
    live.ask(Go("pause"))
    browser.wait(lambda: live.mode == "paused" and "paused" in browser.text())
    seen = seen_robot(browser)
    scale = browser.driver.execute_script("return window.devicePixelRatio")
    nearest = np.argsort(np.linalg.norm(seen - np.median(seen, axis=0), axis=1))
    live._pushes.clear()
    for row, column in seen[nearest[:40:8]]:
        actions = ActionChains(browser.driver)
        actions.w3c_actions.pointer_action.move_to_location(int(column / scale), int(row / scale))
        actions.w3c_actions.pointer_action.click()
        actions.perform()
        time.sleep(1.0)
        if live._pushes:
            break
    assert live._pushes, live.notice
    force = np.array(live._pushes[0].force)
    assert np.linalg.norm(force) == pytest.approx(0.3 * 9.81 * live.scene.robot.mass, rel=0.02)
    assert force[0] < 0 < force[1]  # the camera is in front of it, to its right
    assert force[2] < 0
    live.ask(Go("on"))


def test_a_target_is_dragged_and_a_page_that_is_left_on_the_way_holds_up_nobody() -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    robot = wbc.load("arm", "numpy")
    live = Live(Scene(wbc.Controller(robot, tasks.stacks.standing(robot)), make_plant(robot, "builtin"), 1e4))
    with Link(live, port=PORT + 30) as link, running(live), Browser(link.address, 900, 640) as browser:
        browser.wait(lambda: "ms a tick" in browser.text(), 90.0)

        def handle() -> np.ndarray:
            """The red parts of the handle, rows and columns."""
            red, green, blue = np.moveaxis(browser.picture()[:, :450].astype(int), 2, 0)
            seen = np.argwhere((red > 220) & (green < 120) & (blue > 60) & (blue < 170))
            return seen if len(seen) > 20 else seen[:0]

        browser.wait(lambda: len(handle()), words="a handle")
        seen, scale = handle(), browser.driver.execute_script("return window.devicePixelRatio")
        for row, column in seen[:: max(len(seen) // 8, 1)]:
            pull = ActionChains(browser.driver, duration=50)
            pointer = pull.w3c_actions.pointer_action
            pointer.move_to_location(int(column / scale), int(row / scale)).pause(0.3).pointer_down().pause(0.3)
            for step in range(1, 6):
                pointer.move_to_location(int(column / scale) + 6 * step, int(row / scale) - 4 * step).pause(0.1)
            pull.perform()
            time.sleep(1.0)
            if live._aims:
                break
            pull = ActionChains(browser.driver)
            pull.w3c_actions.pointer_action.pointer_up()
            pull.perform()
        robot.update(robot.model.nominal)
        assert not np.allclose(live._aims["tool"], robot.pose("tool"), atol=1e-3), live.notice
        assert browser.complaints() == []
        now = live._now
        browser.driver.get("about:blank")  # with the button down
        browser.wait(lambda: live._now > now + 0.5)
        assert link.fault is None and live.mode == "running"


def test_a_kinematic_scene_has_a_page_with_distances() -> None:
    robot = wbc.load("arm", "numpy")
    reach = tasks.EndEffectorVelocity("tool", axes="position", name="reach")
    stack = wbc.Stack(tasks.VelocityLimits() / reach / tasks.JointVelocity())
    live = Live(KinematicScene(DifferentialKinematics(robot, stack), 1e4))
    with Link(live, port=PORT + 10) as link, running(live), Browser(link.address, 900, 640) as browser:
        browser.wait(lambda: "ms a tick" in browser.text(), 90.0)
        browser.wait(lambda: "nearest: " in browser.text(), 60.0)
        assert link.fault is None and browser.complaints() == []


def test_an_address_where_no_page_can_be_is_told() -> None:
    for host in ("nowhere.invalid", "192.0.2.1", ""):
        with pytest.raises(wbc.WbcError, match=f"no page on {host}, port {PORT}"):
            Link(Live(scene()), host, PORT)


def test_a_log_is_gone_through() -> None:
    from wbc.web.replay import Replay

    made = scene(0.3)
    made.disturbances = [wbc.Push("base", (0.0, 150.0, 0.0), 0.1, 0.1)]
    log = made.run()
    shown, over = Replay(log, wbc.load("quadruped"), port=PORT + 20), threading.Event()
    thread = threading.Thread(target=lambda: shown.run(over.is_set))
    thread.start()
    try:
        with Browser(shown.address, 900, 640) as browser:
            browser.wait(lambda: "0.000 s" in browser.text(), 90.0)
            browser.write("time, s", "0.25")
            browser.wait(lambda: shown.tick == 250 and "0.250 s" in browser.text())
            seen_robot(browser)
            browser.click("Play")
            browser.wait(lambda: shown.tick == len(log) - 1)
            browser.click("Health")
            browser.wait(lambda: "errors of tasks" in browser.text())
            assert browser.complaints() == []
    finally:
        over.set()
        thread.join(20.0)
        shown.close()
