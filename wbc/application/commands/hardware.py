"""The command `wbc hardware-sim`: a stand-in for a robot, in a process of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from wbc.application.terminal import tell, tell_problem
from wbc.errors import WbcError, number


def hardware_sim(
    robot: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A packaged robot, or a URDF or MJCF file.")],
    port: Annotated[int, typer.Option(help="UDP port to listen on; 0: any free port.")] = 9870,
    host: Annotated[str, typer.Option(help="Address to listen on. Default: this computer only.")] = "127.0.0.1",
    simulator: Annotated[str, typer.Option(help="mujoco or builtin.")] = "mujoco",
    period: Annotated[float, typer.Option(help="Time between two states, s.")] = 1e-3,
    delay: Annotated[float, typer.Option(help="Delay of every packet, each way, s.")] = 0.0,
    jitter: Annotated[float, typer.Option(help="Mean of a random delay that is added, s.")] = 0.0,
    loss: Annotated[float, typer.Option(help="Share of the packets to drop.")] = 0.0,
    reorder: Annotated[float, typer.Option(help="Share of the packets that arrive 3 ms late, out of order.")] = 0.0,
    noise: Annotated[bool, typer.Option("--noise", help="Add typical noise and bias to the sensors.")] = False,
    friction: Annotated[float, typer.Option(help="Friction coefficient of the ground.")] = 1.0,
    locked: Annotated[list[str] | None, typer.Option(help="A joint that is held fixed; may be repeated.")] = None,
    base: Annotated[bool, typer.Option("--base", help="Include the true pose of the base in each state.")] = False,
    lockstep: Annotated[bool, typer.Option("--lockstep", help="Wait for a command after each state.")] = False,
    duration: Annotated[float, typer.Option(help="Time to run after the first command, s of the robot's time.")] = 1e9,
    wait: Annotated[float, typer.Option(help="How long to wait for the first command, s.")] = 1e9,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    priority: Annotated[
        int, typer.Option(help="Real-time priority, 1 to 99, where the system allows it; 0: none.")
    ] = 0,
    cpu: Annotated[int | None, typer.Option(help="Processor to run on. Default: any.", show_default=False)] = None,
) -> None:
    """Stand in for a robot: a simulation in real time that takes commands and sends states by UDP.

    It holds its posture until commands arrive (wbc.realtime.UdpIO), and yields
    when they stop. It listens on this computer only, unless --host is given.

    Exit code: 0 it stood, 1 it fell, 2 wrong usage, 130 Ctrl-C.

    Try:

      wbc hardware-sim quadruped

      wbc hardware-sim quadruped --delay 0.002 --jitter 0.001 --loss 0.01 --noise
    """
    import wbc
    from wbc.realtime import HardwareSim, Line, SensorErrors
    from wbc.realtime.privileges import check_privileges, privileged
    from wbc.simulation import make_plant

    try:
        check_privileges(priority or None, cpu)
        for what, given in (("seed", seed), ("duration, s,", duration), ("wait, s,", wait)):
            number(given, what)
        plant = make_plant(wbc.load(robot, locked=locked or ()), simulator, friction=friction)
        lines = [Line(delay, jitter, loss, reorder, seed=2 * seed + way) for way in range(2)]
        sim = HardwareSim(
            plant,
            host,
            port,
            period=period,
            up=lines[0],
            down=lines[1],
            errors=SensorErrors.usual() if noise else None,
            seed=seed,
            base=base,
            lockstep=lockstep,
        )
    except WbcError as error:
        tell_problem(error)
        raise typer.Exit(2) from None
    where = "{}:{}".format(*sim.address)
    tell(f"{plant.model.name} listens at {where}, a state every {1e3 * period:g} ms; Ctrl-C ends it")
    ended = 0
    try:
        with privileged(priority or None, cpu, lock=priority > 0) as words:
            if priority:
                tell("; ".join(words))
            sim.run(duration, wait)
    except KeyboardInterrupt:
        ended = 130
    finally:
        sim.close()
    tell(str(sim.report))
    raise typer.Exit(ended or int(sim.report.fell is not None))
