"""Small robots whose actuators are not the motors of single joints, as MJCF texts."""

from __future__ import annotations

from tests.closed_loops import bar, mjcf

QUADROTOR = mjcf(
    '<body name="body" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .02" mass=".8"/>'
    + "".join(
        f'<site name="rotor{n}" pos="{x} {y} .02" euler="{4 * y} {-4 * x} 0"/>'
        for n, (x, y) in enumerate([(0.15, 0.15), (0.15, -0.15), (-0.15, -0.15), (-0.15, 0.15)])
    )
    + "</body>",
    "<actuator>"
    + "".join(
        f'<motor name="thrust{n}" site="rotor{n}" gear="0 0 1 0 0 {spin}" ctrlrange="0 6"/>'
        for n, spin in enumerate((0.02, -0.02, 0.02, -0.02))
    )
    + "</actuator>",
)

DIFFERENTIAL = mjcf(
    f"""
    <body name="wrist"><joint name="pitch" axis="0 1 0" damping=".1"/>{bar(0.1)}
      <body name="hand" pos=".1 0 0"><joint name="roll" axis="1 0 0"/>
        <geom type="box" size=".05 .02 .03" pos=".05 .01 0" mass=".7"/>
        <body name="finger" pos=".1 0 0"><joint name="finger" axis="0 1 0" range="-60 60"/>{bar(0.06, 0.1)}</body>
      </body></body>""",
    """<tendon><fixed name="a"><joint joint="pitch" coef="2"/><joint joint="roll" coef="1.5"/></fixed>
    <fixed name="b"><joint joint="pitch" coef="2"/><joint joint="roll" coef="-1.5"/></fixed></tendon>
    <actuator><motor name="one" tendon="a" gear="3" ctrlrange="-2 2"/>
    <position name="two" tendon="b" kp="40" kv="2" forcerange="-9 9"/><motor joint="finger" gear="5"/></actuator>""",
)

PUSHED = mjcf(
    f"""
    <body name="base" pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .1" mass="5"/>
      <body name="arm"><joint name="arm" axis="0 1 0"/>{bar(0.3)}
        <site name="elbow" pos=".3 0 0" euler="20 30 0"/>
        <body name="ball" pos=".3 0 0"><joint name="ball" type="ball"/>{bar(0.3)}
          <site name="tip" pos=".3 0 0" euler="10 40 60"/></body></body></body>""",
    """<actuator><motor name="piston" site="tip" refsite="elbow" gear="1 2 0 .3 0 .1"/>
    <motor name="jet" site="tip" gear="0 1 0 0 .2 0" ctrlrange="0 4"/>
    <motor name="spin" joint="ball" gear="1 .5 0"/></actuator>""",
)

ROBOTS = {"quadrotor": QUADROTOR, "differential": DIFFERENTIAL, "pushed": PUSHED}
