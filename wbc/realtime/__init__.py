"""Robots in real time: their states and commands, a loop with deadlines, and its watchdog.

`run` joins a controller and a `RobotIO`. `PlantIO` is a simulated robot in this process, `UdpIO` one in another: a
`HardwareSim`, or anything that speaks its protocol. `wbc.realtime.franka` is for Franka's arms.
"""

from wbc.control.command import Command
from wbc.realtime.clock import Clock, MonotonicClock, SteppedClock
from wbc.realtime.hardware_sim import HardwareSim
from wbc.realtime.histogram import Histogram
from wbc.realtime.line import Line
from wbc.realtime.loop import run
from wbc.realtime.plant_io import PlantIO
from wbc.realtime.report import Report
from wbc.realtime.sensors import SensorErrors, Sensors
from wbc.realtime.state import Estimator, Imu, RobotIO, State
from wbc.realtime.udp import UdpIO
from wbc.realtime.watchdog import Fault, Reaction, Watchdog

__all__ = [
    "Clock",
    "Command",
    "Estimator",
    "Fault",
    "HardwareSim",
    "Histogram",
    "Imu",
    "Line",
    "MonotonicClock",
    "PlantIO",
    "Reaction",
    "Report",
    "RobotIO",
    "SensorErrors",
    "Sensors",
    "State",
    "SteppedClock",
    "UdpIO",
    "Watchdog",
    "run",
]
