"""Robots as others write them: without a word on feet, hands or a posture."""

from __future__ import annotations

LINK = """<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>
<inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="{at}"/><geometry><box size="{size}"/></geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/>
<axis xyz="{axis}"/><limit lower="{lower}" upper="{upper}" effort="200" velocity="20"/></joint>"""
AXES = {"roll": "1 0 0", "pitch": "0 1 0", "yaw": "0 0 1"}


def biped(ankle_roll: bool = True) -> str:
    """A URDF: a trunk on two straight legs with feet that are boxes, and two arms of four joints."""
    parts = [LINK.format(name="trunk", at="0 0 0.25", mass=20, size="0.2 0.3 0.5")]
    for side, y in (("left", 0.1), ("right", -0.1)):
        ankle = [("ankle_pitch", "pitch", "0 0 -0.4", -1, 1)] + [("ankle_roll", "roll", "0 0 0", -1, 1)] * ankle_roll
        chain = [
            ("hip_yaw", "yaw", f"0 {y} 0", -1, 1),
            ("hip_roll", "roll", "0 0 0", -1, 1),
            ("hip_pitch", "pitch", "0 0 0", -2, 2),
            ("knee", "pitch", "0 0 -0.4", 0, 2.5),
            *ankle,
        ]
        _limb(parts, side, chain, {"hip_pitch": "0 0 -0.2", "knee": "0 0 -0.2"}, chain[-1][0], "0.04 0 -0.04")
        arm = [
            ("shoulder_pitch", "pitch", f"0 {2 * y} 0.45", -2, 2),
            ("shoulder_roll", "roll", "0 0 0", -2, 2),
            ("shoulder_yaw", "yaw", "0 0 0", -2, 2),
            ("elbow", "pitch", "0 0 -0.25", -2, 0),
        ]
        _limb(parts, side, arm, {"shoulder_yaw": "0 0 -0.12"}, "elbow", "0 0 -0.1", "0.05 0.05 0.2")
    return f'<robot name="walker">{"".join(parts)}</robot>'


def _limb(parts, side, chain, middles, last, end, size="0.22 0.1 0.04"):
    parent = "trunk"
    for name, axis, at, lower, upper in chain:
        child = f"{side}_{name}_link"
        middle = middles.get(name, end if name == last else "0 0 0")
        box = size if name == last else "0.06 0.06 0.2" if name in middles else "0.04 0.04 0.04"
        parts.append(LINK.format(name=child, at=middle, mass=2 if name in middles else 0.8, size=box))
        names = {"name": f"{side}_{name}", "parent": parent, "child": child}
        parts.append(JOINT.format(**names, at=at, axis=AXES[axis], lower=lower, upper=upper))
        parent = child


def dog(foot: str = '<geom type="sphere" pos="0 0 -0.25" size="0.02" mass="0.05"/>', keyframe: str = "") -> str:
    """An MJCF file: a trunk on four straight legs whose feet are balls, or what is given; without a floor."""
    legs, motors = [], []
    for name, x, y in (("FL", 0.2, 0.1), ("FR", 0.2, -0.1), ("HL", -0.2, 0.1), ("HR", -0.2, -0.1)):
        legs.append(
            f'<body name="{name}_hip" pos="{x} {y} 0"><joint name="{name}_roll" axis="1 0 0" range="-1 1"/>'
            '<geom type="sphere" size="0.03" mass="0.5"/>'
            f'<body name="{name}_thigh"><joint name="{name}_pitch" axis="0 1 0" range="-2 2"/>'
            '<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.7"/>'
            f'<body name="{name}_shank" pos="0 0 -0.25"><joint name="{name}_knee" axis="0 1 0" range="-2.5 2.5"/>'
            f'<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.015" mass="0.2"/>{foot}</body></body></body>'
        )
        motors += [f'<motor joint="{name}_{joint}" ctrlrange="-40 40"/>' for joint in ("roll", "pitch", "knee")]
    return (
        '<mujoco model="dog"><compiler angle="radian" autolimits="true"/><option timestep="0.002"/><worldbody>'
        '<body name="trunk" pos="0 0 0.6"><freejoint/><geom type="box" size="0.25 0.04 0.05" mass="8"/>'
        f"{''.join(legs)}</body></worldbody><actuator>{''.join(motors)}</actuator>{keyframe}</mujoco>"
    )


def biped_of_mjcf(foot: str, more: str = "") -> str:
    """An MJCF file: a trunk on two legs of six joints, with knees that are bent a little, on a floor.

    Args:
        foot: geom of the foot, whose ankle is at (0, 0, -0.21); "{side}" in it becomes "left" or "right".
        more: elements beside the worldbody.
    """
    legs, motors = [], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        joint = lambda name, axis, side=side: f'<joint name="{side}_{name}" axis="{axis}" range="-2 2"/>'  # noqa: E731
        hips = joint("hip_yaw", "0 0 1") + joint("hip_roll", "1 0 0") + joint("hip_pitch", "0 1 0")
        ankles = joint("ankle_pitch", "0 1 0") + joint("ankle_roll", "1 0 0")
        small = '<inertial pos="0 0 -.02" mass=".3" diaginertia=".002 .002 .002"/>'
        legs.append(
            f'<body name="{side}_thigh" pos="0 {y} 0">{hips}<geom type="capsule" fromto="0 0 0 0 0 -.35" size=".04" '
            f'mass="2"/><body name="{side}_shank" pos="0 0 -.4">{joint("knee", "0 1 0")}<geom type="capsule" '
            f'fromto="0 0 0 0 0 -.15" size=".03" mass="1"/><body name="{side}_foot" pos="0 0 -.21">{small}{ankles}'
            f"{foot.format(side=side)}</body></body></body>"
        )
        names = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
        motors += [f'<motor joint="{side}_{name}" ctrlrange="-100 100"/>' for name in names]
    return (
        f'<mujoco model="walker"><compiler angle="radian" autolimits="true"/>{more}<worldbody><geom name="floor" '
        'type="plane" size="0 0 1"/><body name="trunk" pos="0 0 0.9"><freejoint/><geom type="box" size=".1 .15 .2" '
        f'pos="0 0 .2" mass="15"/>{"".join(legs)}</body></worldbody><actuator>{"".join(motors)}</actuator></mujoco>'
    )
