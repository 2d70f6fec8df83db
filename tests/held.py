"""One of each public class: what a user may hold, copy, pickle and hand to another process."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

import tasks
import wbc
from tests.control.scenes import standing
from wbc import classical, collision, estimation, kinematics, liegroups, model, realtime, simulation, solvers, sweeps
from wbc.control.batch import Batch

locomotion = tasks.locomotion


def packages() -> Iterator[ModuleType]:
    """`wbc`, `tasks`, and the packages in them: those that have public names."""
    for top in (wbc, tasks):
        yield top
        for found in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
            if found.ispkg:
                yield importlib.import_module(found.name)


def public_classes() -> set[type]:
    """What `__all__` of any package names and can be made: no abstract class, no protocol, no exception."""
    named = [getattr(package, name) for package in packages() for name in getattr(package, "__all__", ())]
    return {
        one
        for one in named
        if inspect.isclass(one)
        and not inspect.isabstract(one)
        and not getattr(one, "_is_protocol", False)
        and not issubclass(one, Exception | Warning)
    }


def _height(robot: wbc.Dynamics, tick: wbc.Tick) -> tuple[float, np.ndarray, float]:
    """For a barrier: the base stays above the ground."""
    return robot.pose("base")[2, 3], robot.jacobian("base")[2], robot.jacobian_bias("base")[2]


def _path(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For an impedance along a path: up and down."""
    wave, zero = np.zeros(3), np.zeros(6)
    wave[2] = 0.5 + 0.02 * np.sin(time)
    return wave, zero, zero


def task_examples(robot: wbc.Dynamics) -> Iterator[object]:
    """Tasks of accelerations, for a quadruped on its feet."""
    foot, pose = robot.model.feet[0], np.eye(4)
    pose[:3, 3] = 0.1, 0.2, 0.6
    times = np.linspace(0.0, 1.0, 4)
    reference = wbc.Reference(
        robot, times, np.array([robot.model.nominal] * 4), torque=np.ones((4, 12)), forces={foot: np.ones((4, 3))}
    )
    yield tasks.EquationOfMotion({"base": [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]})
    yield tasks.TorqueLimits(rate=400.0)
    yield tasks.FrictionCones()
    yield tasks.ContactMotion()
    yield tasks.EndEffectorAcceleration("base", target=pose)
    yield tasks.CartesianImpedance("base", stiffness=300.0, damping=20.0, target=pose)
    yield tasks.CenterOfMass([0.0, 0.1, 0.5])
    yield tasks.CentroidalMomentum(np.ones(6))
    yield tasks.JointAcceleration(np.full(12, 0.1))
    yield tasks.JointImpedance(np.full(12, 0.1), gains=wbc.Gains(kp=30.0, kd=1.0))
    yield tasks.ContactForce(foot, [0.0, 0.0, 80.0])
    yield tasks.BaseVelocity("base", [0.3, 0.0, 0.1], axes=["x", "y", "rz"])
    yield tasks.TorqueMinimization()
    yield tasks.ForceMinimization()
    yield tasks.AccelerationMinimization()
    yield tasks.JointLimits()
    yield tasks.Rows(wbc.Rows.equal(np.ones(2), torque=np.arange(2)), "own rows")
    yield tasks.Barrier(_height, names=["height"])
    yield tasks.CollisionAvoidance(wbc.CollisionGeometry(robot, engine="own"))
    yield tasks.AxialMomentum((0.0, 0.0, 1.0))
    yield tasks.CenterOfPressure("sole", [0.01, 0.02])
    yield tasks.ZeroMomentPoint([0.02, 0.01])
    yield tasks.DivergentComponent([0.02, 0.01])
    yield tasks.PressureBounds([[0.3, 0.3], [-0.3, 0.3], [-0.3, -0.3], [0.3, -0.3]])
    yield tasks.FrameSpeedLimit("base", 0.4)
    yield tasks.Gaze("base", [2.0, 0.1, 0.4])
    yield tasks.InView("base", [2.0, 0.1, 0.4], 0.5)
    yield tasks.KeepIn("base", [-1.0, -1.0, 0.2], [1.0, 1.0, 1.0])
    yield tasks.KeepOut("base", "sphere", [0.3], [1.0, 0.0, 0.5])
    yield tasks.Manipulability(foot, "position")
    yield tasks.ManipulabilityFloor(foot, 1e-3, "position")
    yield tasks.OverSupport()
    yield tasks.PowerLimit(80.0)
    yield tasks.RelativePose("base", foot)
    yield tasks.PassiveImpedance("base", 300.0, 20.0, _path, axes="position")
    yield tasks.ReferenceMotion(reference)
    yield tasks.ReferenceTorque(reference)
    yield tasks.ReferenceForces(reference)
    yield reference
    yield tasks.Admittance(tasks.EndEffectorAcceleration("base", target=pose), stiffness=10.0)


def wheel_examples() -> Iterator[object]:
    """What goes on wheels."""
    car = wbc.load("diffdrive", "numpy")
    wheels = [wbc.RollingContact(name) for name in car.model.wheels]
    yield from (tasks.WheelSpin(wheels), car.model)


def velocity_tasks(robot: wbc.Dynamics) -> Iterator[wbc.Task]:
    """Tasks of velocities."""
    yield tasks.EndEffectorVelocity("base", target=[0.0, 0.1, 0.5], axes="position")
    yield tasks.CenterOfMassVelocity([0.0, 0.1, 0.5])
    yield tasks.JointVelocity(np.full(12, 0.1))
    yield tasks.ContactVelocity()
    yield tasks.VelocityMinimization()
    yield tasks.VelocityLimits()


def model_examples() -> Iterator[object]:
    """What robots are made of."""
    pose = np.eye(4)
    pose[:3, 3] = 0.1, 0.2, 0.3
    body = wbc.Body("rod", 2.0, np.array([0.1, 0.0, 0.0]), np.diag([0.1, 0.2, 0.25]))
    yield from (body, wbc.Frame("tip", "rod", pose), wbc.Joint("hinge", "revolute", "world", "rod", pose))
    yield from (wbc.Shape("rod", "box", (0.1, 0.2, 0.3), pose), model.Mesh("rod", np.eye(3)), wbc.Wheel(0.2))
    yield from (
        wbc.LoopClosure("a", "b"),
        wbc.JointCoupling({"a": 1.0}, {"b": 2.0}),
        wbc.Actuator("motor", 30.0, joints={"a": 1.0}),
    )
    arm = wbc.load("arm", "numpy")
    yield from (arm.limits, arm.model, model.ConfigurationSpace(arm.model), model.Tree(arm.model))
    yield from (liegroups.Group.named("SE(2)"), liegroups.RigidBody(body))
    yield liegroups.Motion(np.zeros(2), np.array([pose, pose]), np.zeros((2, 6)))


def law_examples(arm: wbc.Dynamics) -> Iterator[object]:
    """The lecture notes' laws, and what they tell."""
    tool, free = tasks.EndEffectorAcceleration("tool"), classical.selection_matrices((1, 1, 0))
    spring = classical.VirtualSpring("tool", 1e3, 1e2)
    law = classical.ComputedTorque(arm)
    yield from (law, law.step(arm.model.nominal, np.full(7, 0.1), 0.0), classical.JointPD(arm), free, spring)
    yield from (classical.ConstantForce("tool", np.ones(6)), classical.VirtualModelControl(arm, spring))
    yield classical.TaskSpaceControl(arm, tool, classical.ComputedTorque(arm))
    yield classical.HybridControl(arm, "tool", tool, [0, 0, 9.0, 0, 0, 0], free)
    yield classical.InverseDynamics(arm, tool / tasks.JointAcceleration())
    yield classical.TaskSpace(arm, arm.jacobian("tool"), arm.jacobian_bias("tool"))
    yield classical.Impact(np.ones(3), np.ones(2), 0.5)


def kinematic_examples(arm: wbc.Dynamics) -> Iterator[object]:
    """Controllers of velocities, inverse kinematics, trajectories."""
    stack = wbc.Stack(tasks.EndEffectorVelocity("tool", axes="position") / tasks.JointVelocity())
    follow = kinematics.DifferentialKinematics(arm, stack)
    found = follow.step(arm.model.nominal, t=0.0)
    yield from (follow, found, found.certificate, kinematics.KinematicScene(follow, 0.1))
    inverse = kinematics.InverseKinematics(arm, "tool")
    yield from (inverse, inverse.solve(arm.pose("tool"), arm.model.nominal), kinematics.SupportRanks(1, 2, 3))
    yield kinematics.MinimumJerk([0.0], [1.0], 2.0)
    yield kinematics.Spline([0.0, 1.0, 2.0], [[0.0], [1.0], [0.5]])
    yield kinematics.VelocityVariables(arm)


def walking_examples() -> Iterator[object]:
    """Gaits, and what they are made of."""
    dog, human = wbc.load("quadruped", "numpy"), wbc.load("humanoid", "numpy")
    trot = locomotion.Schedule.in_turn([("a",), ("b",)], 0.3, 0.1)
    places = {"a": np.array([0.0, 0.1]), "b": np.array([0.0, -0.1])}
    steps = locomotion.CommandedSteps(trot, places)
    feet = {foot: locomotion.Footstep(foot, np.r_[place, 0.0]) for foot, place in places.items()}
    piece = locomotion.Piece(np.zeros(2), np.ones(2), 0.4)
    ahead = trot.ahead(0, 0.3, 1.5)
    center = np.array([0.0, 0.0, 0.8])
    yield locomotion.Moment(0.0, np.zeros(3), 0.0, np.zeros(2), center, np.zeros(3), 3.5, feet, ("b",), ahead)
    yield from (trot, trot.intervals[0], steps, feet["a"], piece, locomotion.Plan(0.0, [piece], 3.5))
    yield from (locomotion.ListedSteps(list(feet.values()), steps), locomotion.DivergentPlanner())
    yield from (locomotion.ZeroMomentTracker(), locomotion.StepAdaptation(), tasks.Trot(dog), locomotion.PushEstimate())
    yield from (locomotion.Gait(dog, "trot", (0.3, 0.0, 0.0)), locomotion.Walk(human, (0.2, 0.0, 0.0)))


def plant_examples(dog: wbc.Dynamics) -> Iterator[object]:
    """Simulators, scenes, logs."""
    one, _ = standing("quadruped", "numpy")
    terrain = simulation.stairs(start=0.6, rise=0.08, run=0.35, count=3)
    noise = simulation.Noise(position=1e-3)
    push = wbc.Push("base", (0.0, 50.0, 0.0), 0.01, 0.02)
    yield from (
        wbc.Simulator(dog, terrain=terrain),
        terrain,
        terrain.patches[0],
        noise,
        push,
        simulation.Realism(delay=0.01),
    )
    yield from (simulation.Realistic(wbc.Simulator(dog), 0.005, 0.01, noise), wbc.MujocoSimulator(dog))
    yield from (simulation.Plants([wbc.Simulator(dog)], 2), simulation.Worry("feet", "LF_foot", 3, 0.1, "it slips"))
    scene = simulation.Scene(one, wbc.Simulator(dog), 0.02, disturbances=[push])
    yield from (scene, scene.run(0.01))
    from wbc.application import Comparison

    yield Comparison("standing", scene)
    yield simulation.Cone("LF_foot", 0.6, (0.0, 0.0, 1.0))


def solver_examples() -> Iterator[object]:
    """Solvers, levels, answers."""
    levels = [
        wbc.Level(np.eye(3)[:2], np.zeros(2), np.ones(2), name="box"),
        wbc.Level(np.ones((1, 3)), np.full(1, 4.0), np.full(1, 4.0)),
    ]
    answer = solvers.HierarchicalQP().solve(levels)
    yield from (*levels, solvers.Hierarchy.of(levels), answer, answer.levels[1])
    yield from (solvers.ElasticQP(), solvers.HierarchicalQP(), solvers.NullSpace(), solvers.WeightedQP())
    yield from (solvers.SequentialQP(), solvers.OperationalSpace())


def hardware_examples(dog: wbc.Dynamics) -> Iterator[object]:
    """Real-time pieces and estimators."""
    io = realtime.PlantIO(wbc.Simulator(dog), errors=realtime.SensorErrors.usual())
    state, zero = io.read(), np.zeros(12)
    histogram = realtime.Histogram("wake-up")
    fault = realtime.Fault(0.1, "late", "too late", "hold")
    yield from (io, state, state.imu, histogram, fault, realtime.Report(1e-3, histogram, faults=[fault]))
    yield from (realtime.Sensors(wbc.Simulator(dog)), realtime.SensorErrors.usual(), realtime.Line(0.002, 0.001))
    yield from (realtime.Watchdog(), realtime.SteppedClock(0.5), realtime.MonotonicClock())
    yield realtime.Command(zero, zero, zero, zero, zero)
    estimator, noise = estimation.BaseEstimator(dog), estimation.FilterNoise()
    yield from (estimator, noise, estimation.ContactDetector(4, 30.0, 10.0), estimation.MomentumObserver(dog))
    yield estimation.InvariantFilter(4, noise, np.array([0.0, 0.0, -9.81]))


def sweep_examples() -> Iterator[object]:
    """Cases and tables."""
    from wbc import gym

    cases = wbc.cases("tests/sweeps/stub_scene.py", x=[0.0, 1.0])
    with tempfile.TemporaryDirectory() as folder:
        yield wbc.sweep(cases, Path(folder) / "runs", jobs=1)
    yield from (cases, next(iter(cases)), sweeps.Share(1, 2, 0.1, 0.9), sweeps.Progress(3))
    yield sweeps.Comparison(1.0, 0.5, 8, 8, 8)
    yield sweeps.Best("demo", {"x": 1.0}, 0.5, None, 3, 0, None, np.mean, {})
    world = gym.make("demo")
    world.reset(seed=1)
    yield world


def shape_examples(arm: wbc.Dynamics) -> Iterator[object]:
    """Collision geometry and what it tells."""
    geometry = wbc.CollisionGeometry(arm, engine="own")
    geometry.add_sphere("ball", 0.1, (0.6, 0.0, 0.6))
    nearness, near = collision.Proximity(geometry), collision.Horizon(0.5, 0.2, 3.0)
    rates = nearness.look(arm, near)
    yield from (geometry, nearness, near, rates, rates.witnesses, geometry.solids["ball"])


def examples() -> Iterator[object]:
    """One of each, more of some."""
    robot, arm = wbc.load("quadruped", "numpy"), wbc.load("arm", "numpy")
    for one in (robot, arm):
        one.update(one.model.nominal, np.full(one.nv, 0.1))
    controller, q = standing("quadruped", "numpy")
    yield from (controller, controller.stack, controller.step(q, np.full(18, 0.1), 0.0), wbc.Gains(3.0))
    yield from (wbc.Tick(robot), tasks.TorqueLimits() / tasks.TorqueMinimization(), wbc.Rows.equal(np.ones(1)))
    yield from (wbc.PointContact("LF_foot"), wbc.SurfaceContact("LF_foot", corners=[[1, 1], [-1, 1], [0, -1]]))
    yield from (wbc.RollingContact("LF_foot", wheel=wbc.Wheel(0.1)), Batch(controller, 2, jobs=1))
    for part in (task_examples(robot), velocity_tasks(robot), model_examples(), law_examples(arm)):
        yield from part
    for part in (kinematic_examples(arm), walking_examples(), plant_examples(robot), solver_examples()):
        yield from part
    yield from wheel_examples()
    yield from hardware_examples(robot)
    yield from sweep_examples()
    yield from shape_examples(arm)
