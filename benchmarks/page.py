"""What a page in a browser costs a run: times of ticks with no page, and with all that a browser may do.

    python benchmarks/page.py [seconds] [rounds]

A quadruped stands at 1 kHz, at the clock's pace, in rounds over all cases, so that what else the machine does goes to
all of them. `controller.step` is what the log has; "loop" is the time from the end of one tick's waiting to the
beginning of the next one's: controller, evidence, simulation, and what the page asks of the run's thread. It needs what
`make web` needs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import tasks
import wbc
from tests.web.browser import Browser
from wbc.simulation import Scene, make_plant
from wbc.web.link import Link
from wbc.web.live import Live

CASES = (
    "no page",
    "nobody looks on",
    "a browser",
    "a stopped browser",
    "a closed browser",
    "a stopped page",
    "a killed page",
)

REALTIME = 10
"""Priority of the threads of the run, where the system allows: then only what they wait for counts, and not what else
the machine does."""


class Timed(Live):
    """A live run that notes how long its thread was at work in each tick, s, without what it waits for the clock."""

    def take(self, scene: Scene) -> None:
        """See `Live`."""
        super().take(scene)
        self.spent: list[float] = []
        self._resumed = 0.0

    def _between(self, now: float) -> None:
        if self._resumed:
            self.spent.append(time.perf_counter() - self._resumed)
        super()._between(now)
        self._resumed = time.perf_counter()


def scene(seconds: float) -> Scene:
    """A quadruped that stands."""
    robot = wbc.load("quadruped")
    return Scene(wbc.Controller(robot, tasks.stacks.standing(robot)), make_plant(robot), seconds)


@contextlib.contextmanager
def beside(live: Live, case: str, port: int) -> Iterator[None]:
    """The page of a case, while the run goes on."""
    if case == "no page":
        yield
        return
    with Link(live, port=port) as link, contextlib.ExitStack() as held:
        stopped: list[int] = []
        for thread in link._threads:
            before_all(thread.native_id or 0)
        if case == "nobody looks on":
            yield
            return
        browser = held.enter_context(Browser(link.address, 900, 640))
        browser.wait(lambda: link.watchers == 1)
        if case == "a closed browser":
            browser.driver.close()
        elif case == "a stopped browser":
            stopped = children(browser.driver.service.process.pid)
        elif case == "a stopped page":
            stopped = [link.process]
        elif case == "a killed page":
            os.kill(link.process, signal.SIGKILL)
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                os.kill(process, signal.SIGCONT)


def before_all(thread: int) -> bool:
    """Gives a thread real-time priority, so that it holds what the run's thread waits for no longer than it must."""
    try:
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(REALTIME))
    except (OSError, AttributeError):
        return False
    return True


def as_before(thread: int) -> None:
    """Takes it back."""
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))


def children(of: int) -> list[int]:
    """All processes below one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == of:
                    found += [int(entry.name), *children(int(entry.name))]
    return found


def main(seconds: float, rounds: int) -> None:
    """Prints a table."""
    found: dict[str, tuple[list[float], list[float]]] = {case: ([], []) for case in CASES}
    for number in range(rounds):
        for place, case in enumerate(CASES):
            live = Timed(scene(seconds))
            with beside(live, case, 8500 + 20 * (number * len(CASES) + place)):
                alone = before_all(0)
                try:
                    log = live.run()
                finally:
                    as_before(0)
            assert log.ended == "finished", log.ended
            skipped = len(log) // 5  # of the first ticks, what is laid out once
            found[case][0].extend(1e3 * log.tick_time[skipped:])
            found[case][1].extend(1e3 * np.array(live.spent[skipped:]))
    print(f"real-time priority: {alone}")
    print("| beside the run | step: median, ms | 99 % | 99.9 % | loop: median, ms | 99 % | 99.9 % |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case, parts in found.items():
        numbers = [f"{np.percentile(part, share):.3f}" for part in parts for share in (50, 99, 99.9)]
        print(f"| {case} | {' | '.join(numbers)} |")


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:]]
    main(given[0] if given else 5.0, int(given[1]) if len(given) > 1 else 3)
