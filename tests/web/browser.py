"""A real browser without a window: Debian's chromium, driven by selenium."""

from __future__ import annotations

import io
import shutil
import time

import numpy as np

FLAGS = (
    "--headless=new --no-sandbox --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --mute-audio "
    "--use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
)
"""WebGL is computed on the processor, and nothing is asked of the network."""


def missing() -> str:
    """What is not there of what it needs; empty where all is."""
    lacks = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    try:
        import selenium  # noqa: F401
    except ImportError:
        lacks.append("selenium")
    return ", ".join(lacks)


class Browser:
    """A page in a browser; close it, or use it in a `with`."""

    def __init__(self, address: str, width: int = 1280, height: int = 800) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        for flag in FLAGS.split():
            options.add_argument(flag)
        options.add_argument(f"--window-size={width},{height}")
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(60)
        self.driver.get(address)
        self.log: list[dict] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.driver.quit()

    def wait(self, what, seconds: float = 90.0, words: str = "what was waited for"):
        """Asks again and again until it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := what():
                return found
            time.sleep(0.1)
        raise AssertionError(f"{words}: not within {seconds} s; the page says {self.text()[:600]!r}")

    def text(self) -> str:
        return self.driver.execute_script("return document.body.innerText")

    def find(self, path: str):
        """What is displayed of that kind; nothing while the page is being drawn anew."""
        from selenium.common.exceptions import StaleElementReferenceException

        try:
            return [element for element in self.driver.find_elements("xpath", path) if element.is_displayed()]
        except StaleElementReferenceException:
            return []

    def click(self, words: str) -> None:
        """Clicks a button, or the head of a tab or a folder, that is called so."""
        path = f"//*[(self::button or @role='tab' or ./*[name()='svg']) and normalize-space(.)='{words}']"
        found = self.wait(lambda: self.find(path), words=repr(words))
        found[-1].click()

    def field(self, label: str):
        """The number field of a slider."""
        path = f"//label[normalize-space(.)='{label}']"
        of = self.wait(lambda: self.find(path), words=f"label {label!r}")[0]
        fields = of.find_elements("xpath", "./following::input")
        return next(field for field in fields if field.is_displayed())

    def write(self, label: str, value: str) -> None:
        """Types a number into the field of a slider."""
        from selenium.webdriver.common.keys import Keys

        field = self.field(label)
        field.click()
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(value, Keys.ENTER)

    def picture(self) -> np.ndarray:
        """What is seen, shape (height, width, 3)."""
        from PIL import Image

        return np.array(Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB"))

    def complaints(self) -> list[str]:
        """Errors in the browser's console so far."""
        self.log += self.driver.get_log("browser")
        return [entry["message"] for entry in self.log if entry["level"] == "SEVERE"]
