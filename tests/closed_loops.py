"""Small robots with closed loops, as MJCF and URDF texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

BAR = '<geom type="capsule" fromto="0 0 0 {length} 0 0" size=".02" mass="{mass}" contype="0" conaffinity="0"/>'


def bar(length: float, mass: float = 1.0) -> str:
    return BAR.format(length=length, mass=mass)


def mjcf(bodies: str, rest: str = "") -> str:
    return f'<mujoco><option timestep=".001"/><worldbody>{bodies}</worldbody>{rest}</mujoco>'


def four_bar(closure: str) -> str:
    """A crank, a coupler and a rocker in the plane of x and z, cut open between the coupler and the rocker."""
    crank = f"""
    <body name="crank"><joint name="crank" axis="0 1 0"/>{bar(0.2)}
      <body name="coupler" pos=".2 0 0"><joint name="coupler" axis="0 1 0"/>{bar(0.5)}
        <site name="end" pos=".5 0 0"/></body></body>
    <body name="rocker" pos=".5 0 0"><joint name="rocker" axis="0 1 0"/>{bar(0.3)}
      <site name="tip" pos=".3 0 0"/></body>"""
    motor = '<actuator><motor joint="crank" ctrlrange="-50 50"/></actuator>'
    key = '<keyframe><key qpos="-1.57 1.3 -1.2"/></keyframe>'
    return mjcf(crank, f"<equality>{closure}</equality>{motor}{key}")


FOUR_BAR = four_bar('<connect name="loop" site1="end" site2="tip"/>')

WELDED = mjcf(
    f"""
    <body name="crank"><joint name="crank" axis="0 1 0"/>{bar(0.2)}
      <body name="coupler" pos=".2 0 0"><joint name="coupler" axis="0 1 0"/>{bar(0.5)}</body></body>
    <body name="rocker" pos=".5 0 0"><joint name="rocker" axis="0 1 0"/>{bar(0.3)}
      <body name="pin" pos=".3 0 0"><joint name="pin" axis="0 1 0"/>{bar(0.05, 0.2)}</body></body>""",
    """<equality><weld name="loop" body1="coupler" body2="pin" relpose=".5 0 0 1 0 0 0" anchor="0 0 0"/></equality>
    <actuator><motor joint="crank"/></actuator><keyframe><key qpos="-1.57 1.3 -1.2 1"/></keyframe>""",
)

GEARED = mjcf(
    f"""
    <body name="one"><joint name="one" axis="0 1 0" ref=".2"/>{bar(0.4)}</body>
    <body name="two" pos="1 0 0"><joint name="two" axis="0 1 0" ref="-.1"/>{bar(0.3)}</body>
    <body name="three" pos="2 0 0"><joint name="three" type="slide" axis="1 0 1"/>{bar(0.3)}</body>
    <body name="four" pos="3 0 0"><joint name="four" axis="0 1 0"/>{bar(0.3)}</body>""",
    """<tendon><fixed name="left"><joint joint="three" coef="2"/><joint joint="four" coef="1"/></fixed>
    <fixed name="right"><joint joint="two" coef="1.5"/></fixed></tendon>
    <equality><joint joint1="one" joint2="two" polycoef=".1 -2 .5 .2 -.1"/>
    <tendon tendon1="left" tendon2="right" polycoef="0 1 .3 0 0"/></equality>
    <actuator><motor joint="one"/></actuator>""",
)

SPATIAL = mjcf(
    f"""
    <body name="base" pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .1" mass="5"/>
      <body name="crank"><joint name="crank" axis="0 1 0"/>{bar(0.2)}
        <body name="rod" pos=".2 0 0"><joint name="rod" type="ball"/>{bar(0.5)}</body></body>
      <body name="rocker" pos=".5 .1 0"><joint name="rocker" axis="0 1 .3"/>{bar(0.3)}</body></body>""",
    """<equality><connect name="loop" body1="rod" body2="rocker" anchor=".5 0 0"/></equality>
    <actuator><motor joint="crank"/></actuator>""",
)

ROBOTS = {"four-bar": FOUR_BAR, "weld": WELDED, "gears": GEARED, "spatial": SPATIAL}


def mimicking(mimic: str = '<mimic joint="finger" multiplier="-1" offset="0.1"/>') -> bytes:
    """A gripper whose thumb does what its finger does."""
    inertia = '<inertia ixx="0.01" iyy="0.02" izz="0.015"/><origin xyz="0.1 0 0"/>'
    inertial = f'<inertial><mass value="0.5"/>{inertia}</inertial>'
    limit = '<limit lower="-2" upper="2" effort="20" velocity="5"/><axis xyz="0 0 1"/>'
    return f"""<robot name="gripper"><link name="palm">{inertial}</link>
    <link name="finger_link">{inertial}</link><link name="thumb_link">{inertial}</link>
    <joint name="finger" type="revolute"><parent link="palm"/><child link="finger_link"/>
      <origin xyz="0 0.1 0" rpy="1.57 0 0"/>{limit}</joint>
    <joint name="thumb" type="revolute"><parent link="palm"/><child link="thumb_link"/>
      <origin xyz="0 -0.1 0" rpy="1.57 0 0"/>{limit}{mimic}</joint></robot>""".encode()


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def closed_state(robot: Any, seed: int, shift: float = 0.1, speed: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A random state near the nominal configuration in which the loops are closed, and stay so."""
    rng = np.random.default_rng(seed)
    q = robot.close_loops(robot.integrate(robot.model.nominal, shift * rng.normal(size=robot.nv)))
    return q, robot.project_velocity(q, speed * rng.normal(size=robot.nv))


def leg(side: str, y: float) -> str:
    """A leg whose knee is moved by a crank at the hip through a rod, as a parallelogram."""
    return f"""
    <body name="{side}_hip" pos="0 {y} 0"><joint name="{side}_roll" axis="1 0 0"/>
      <geom size=".04" mass=".5" contype="0" conaffinity="0"/>
      <body name="{side}_thigh" euler="0 65 0"><joint name="{side}_pitch" axis="0 1 0"/>{bar(0.3, 1.5)}
        <body name="{side}_shin" pos=".3 0 0" euler="0 55 0"><joint name="{side}_knee" axis="0 1 0"/>{bar(0.3, 1.0)}
          <body name="{side}_ankle" pos=".3 0 0" euler="0 -120 0"><joint name="{side}_ankle" axis="0 1 0"/>
            <geom size=".02" mass=".2" contype="0" conaffinity="0"/>
            <body name="{side}_foot"><joint name="{side}_tilt" axis="1 0 0"/>
              <geom type="box" pos="0 0 -.03" size=".1 .05 .01" mass=".5" friction="1"/>
              <site name="{side}_sole" pos="0 0 -.04"/></body></body></body></body>
      <body name="{side}_crank" euler="0 120 0"><joint name="{side}_crank" axis="0 1 0"/>{bar(0.1, 0.3)}
        <body name="{side}_rod" pos=".1 0 0" euler="0 -55 0"><joint name="{side}_rod" axis="0 1 0"/>{bar(0.3, 0.2)}
        </body></body></body>"""


def biped() -> str:
    """A robot on two soles, without motors at its knees: rods move them."""
    base = f"""<geom name="floor" type="plane" size="5 5 .1"/><body name="base" pos="0 0 .5717"><freejoint/>
      <geom type="box" size=".1 .15 .1" pos="0 0 .15" mass="8"/>{leg("left", 0.1)}{leg("right", -0.1)}</body>"""
    driven = ("roll", "pitch", "ankle", "tilt", "crank")
    stiff = 'solref=".002 1" solimp=".99 .999"'
    loops = "".join(
        f'<connect name="{side}" body1="{side}_rod" body2="{side}_shin" anchor=".3 0 0" {stiff}/>'
        for side in ("left", "right")
    )
    motors = "".join(
        f'<motor joint="{side}_{joint}" ctrlrange="-150 150"/>' for side in ("left", "right") for joint in driven
    )
    return mjcf(base, f"<equality>{loops}</equality><actuator>{motors}</actuator>")
