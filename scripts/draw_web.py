"""Takes the pictures of docs/web.md: a run and a log on a page, in Debian's chromium. It needs what `make web` needs.

python scripts/draw_web.py [folder]
"""

from __future__ import annotations

import io
import sys
import threading
import time
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import wbc  # noqa: E402
from tests.web.browser import Browser  # noqa: E402
from wbc.scenes import load_scene  # noqa: E402
from wbc.simulation import Scene  # noqa: E402
from wbc.web.commands import Go  # noqa: E402
from wbc.web.link import Link  # noqa: E402
from wbc.web.live import Live  # noqa: E402
from wbc.web.replay import Replay  # noqa: E402

SIZE = (1180, 760)
PUSHED = 3.5
"""A moment of the demonstration at which it is pushed, s."""
PASSES = 2.6
"""A moment at which the arm among obstacles passes a pillar, s."""


def main(folder: Path) -> None:
    """Takes them all."""
    _live(folder, "demo", PUSHED, {"web_run": ("Tasks", "4 stand"), "web_why": ("Why",)})
    _live(folder, "18", PASSES, {"web_near": ()})
    _log(folder)


def _live(folder: Path, name: str, moment: float, pictures: dict[str, tuple[str, ...]]) -> None:
    """Runs a scene up to a moment, and takes pictures of the page.

    Args:
        folder: for the pictures.
        name: of the scene.
        moment: at which it is paused, s.
        pictures: by name, what is clicked before each.
    """
    scene = load_scene(name)
    assert isinstance(scene, Scene)
    live = Live(scene, speed=1.0)

    def until(now: float, _: object) -> bool:
        if abs(now - moment) < 5e-4:
            live.ask(Go("pause"))
        return False

    with Link(live, port=8411) as link:
        thread = threading.Thread(target=lambda: live.run(until=until))
        with Browser(link.address, *SIZE) as browser:
            browser.wait(lambda: link.watchers == 1)
            thread.start()
            _dismiss(browser)
            browser.wait(lambda: live.mode == "paused" and "paused" in browser.text())
            for picture, clicks in pictures.items():
                for words in clicks:
                    browser.click(words)
                time.sleep(2.0)
                _take(browser, folder / f"{picture}.png")
            assert not browser.complaints(), browser.complaints()
        live.ask(Go("end"))
        thread.join()


def _log(folder: Path) -> None:
    """The log of the demonstration on a timeline, with plots."""
    log = load_scene("demo").run(6.5)
    shown, over = Replay(log, wbc.load("quadruped"), port=8421), threading.Event()
    thread = threading.Thread(target=lambda: shown.run(over.is_set))
    thread.start()
    try:
        with Browser(shown.address, *SIZE) as browser:
            browser.wait(lambda: "0.000 s" in browser.text())
            _dismiss(browser)
            browser.write("time, s", "6.25")
            browser.wait(lambda: "6.250 s" in browser.text())
            browser.click("Plots")
            time.sleep(2.0)
            _take(browser, folder / "web_log.png")
            assert not browser.complaints(), browser.complaints()
    finally:
        over.set()
        thread.join()
        shown.close()


def _dismiss(browser: Browser) -> None:
    """A browser without a graphics card says so; that is not what the pictures are about."""
    time.sleep(1.0)
    for button in browser.driver.find_elements("css selector", "button.mantine-Notification-closeButton"):
        button.click()
    time.sleep(1.0)


def _take(browser: Browser, path: Path) -> None:
    picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    assert np.asarray(picture).std() > 5.0, "nothing is seen"
    picture.save(path, optimize=True)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
