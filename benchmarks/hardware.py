"""A robot in another process, in real time: deadlines that are missed, beside what the system itself makes late.

The quadruped of `wbc hardware-sim` stands and trots, with noise, by estimated states. Another process does nothing but
wait for deadlines of its own: what it misses, no program could have kept.

usage: python -m benchmarks.hardware [SECONDS [BACKEND [DELAY JITTER LOSS REORDER [FRICTION]]]]
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.trotting import Judged, Trotting
from wbc.realtime import Histogram, MonotonicClock, UdpIO, Watchdog, run
from wbc.realtime.clock import Deadlines
from wbc.realtime.privileges import privileged

PORT = 9877
PERIOD = 1e-3


def wait_only(seconds: float) -> None:
    """Waits for deadlines and does nothing, at a higher priority than everything else; prints how late it was."""
    clock, late = MonotonicClock(spin=0.0), Histogram("the system wakes up late by")
    with privileged(95) as words:
        deadlines = Deadlines(clock, PERIOD)
        for _ in range(round(seconds / PERIOD)):
            late.add(deadlines.wait())
    over = f"{late.over(1e-4)} of {late.count} over 0.1 ms, {late.over(1e-3)} over 1 ms"
    print(f"{late}; {over}, {deadlines.skipped} were left out; {words[-1]}")


def stolen() -> float:
    """Seconds of processors that the host of a virtual machine gave to others, of all of them together."""
    return int(Path("/proc/stat").read_text().split("\n")[0].split()[8]) / 100


def main(seconds: float, backend: str, line: list[str]) -> None:
    """Prints how it went."""
    kinds = ("--delay", "--jitter", "--loss", "--reorder", "--friction")
    options = [word for pair in zip(kinds, line, strict=False) for word in pair]
    command = [sys.executable, "-m", "wbc", "hardware-sim", "quadruped", "--port", str(PORT), "--noise", "--base"]
    command += ["--wait", "60", "--duration", str(seconds + 10), "--priority", "70", *options]
    robot = subprocess.Popen(command)
    made = Trotting(backend)
    io = UdpIO.of(made.controller.robot.model, port=PORT)
    judged = Judged(made.controller.robot, round((seconds + 10.0) / PERIOD), level=5e-3)
    probe = subprocess.Popen([sys.executable, "-m", "benchmarks.hardware", "--wait-only", str(seconds)])
    before, load = stolen(), Path("/proc/loadavg").read_text().split()[0]
    time.sleep(1.0)
    try:
        report = run(
            made.controller,
            io,
            seconds,
            estimator=judged,
            kp=20.0,
            kd=1.0,  # motors that hold on by themselves where the host stops one of the processors
            targets=made.steer,
            rehearsal=3.0,
            watchdog=Watchdog(late=None, torque_rate=None, stale=(0.3, "damp")),
            patience=60.0,
        )
        print(f"\non {backend}, line {' '.join(options) or 'as it is'}\n{report.summary()}")
        well = report.faults[0].time if report.faults else seconds
        own = report.latency.over(PERIOD)
        print(f"{own} ticks took longer than a period from state to command; the other missed ones began late")
        print(f"estimate, of {well:.1f} s: {judged.verdict(well)}")
        print(f"states: {io.received} came, {io.lost} did not, {io.overtaken} came after newer ones")
        print(f"load: {load} at the start; the host took {stolen() - before:.1f} s", flush=True)
        probe.wait(60)
    finally:
        io.close()
        robot.send_signal(2)
        robot.wait(60)
        probe.kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--wait-only"]:
        wait_only(float(sys.argv[2]))
    else:
        words = sys.argv[1:]
        main(float(words[0]) if words else 20.0, words[1] if words[1:] else "numpy", words[2:])
