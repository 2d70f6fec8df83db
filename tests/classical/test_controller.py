"""What the classical controllers share: the interface of a controller, honest words, hard states and mistakes."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import tasks
import wbc
from tests.control.scenes import contacts, standing
from wbc import classical
from wbc.control.protocol import TorqueController


def laws() -> dict[str, classical.ClassicalController]:
    arm, quadruped = wbc.load("arm", "numpy"), wbc.load("quadruped", "numpy")
    tool = tasks.EndEffectorAcceleration("tool")
    free = classical.selection_matrices((1, 1, 0))
    feet = contacts(quadruped)
    motions = tasks.EndEffectorAcceleration("base") / tasks.JointAcceleration()
    spring = classical.VirtualSpring("base", 1e3, 1e2)
    return {
        "pd": classical.JointPD(arm),
        "pd of a quadruped": classical.JointPD(quadruped, contacts=feet),
        "computed torque": classical.ComputedTorque(arm),
        "task space": classical.TaskSpaceControl(arm, tool, classical.ComputedTorque(arm)),
        "hybrid": classical.HybridControl(arm, "tool", tool, [0, 0, 9.0, 0, 0, 0], free),
        "inverse dynamics": classical.InverseDynamics(quadruped, motions, feet),
        "virtual model": classical.VirtualModelControl(quadruped, spring, feet),
        "virtual model, cones": classical.VirtualModelControl(
            quadruped, classical.VirtualSpring("base", 1e3, 1e2), feet, distribution="hierarchical-qp"
        ),
    }


@pytest.mark.parametrize("name", laws())
def test_every_law_has_the_interface_of_a_controller(name: str) -> None:
    law = laws()[name]
    robot, rng = law.robot, np.random.default_rng(1)
    q = robot.integrate(robot.model.nominal, rng.normal(scale=0.03, size=robot.nv))
    v = rng.normal(scale=0.05, size=robot.nv)
    solution = law.step(q, v, 0.0)
    again = law.step(q, v, 0.0)
    assert np.array_equal(solution.torque, again.torque)
    assert isinstance(law, TorqueController) and isinstance(solution, wbc.Solution)
    assert solution.status in ("optimal", "relaxed")
    assert solution.certificate.equation_of_motion < 1e-8
    assert (solution.status == "optimal") == solution.certificate.holds
    assert set(solution.forces) == {contact.name for contact in law.stack.contacts}
    assert 0.0 < solution.time.solver <= solution.time.total
    assert solution.levels == () and solution.violated == ()
    assert solution.explain().startswith(solution.status)
    assert robot.model.name in repr(law) and type(law).__name__ in str(law)
    with pytest.raises(ValueError, match="read-only"):
        solution.torque[0] = 1.0
    law.reset()
    assert np.array_equal(law.step(q, v, 0.0).torque, again.torque)
    with pytest.raises(wbc.WbcError, match="q "):
        law.step([1.0], v)
    with pytest.raises(wbc.WbcError, match="t = nan"):
        law.step(q, v, np.nan)


@pytest.mark.parametrize("name", laws())
def test_a_law_is_about_the_state_it_is_given_and_reset_forgets_what_was_held(name: str) -> None:
    law, rng = laws()[name], np.random.default_rng(2)
    robot = law.robot
    steps = rng.normal(scale=0.1, size=(2, 2, robot.nv))
    states = [(robot.integrate(robot.model.nominal, step), v) for step, v in steps]
    law.step(*states[0])
    held = law.step(*states[1])  # what was found first is the target
    law.reset()
    found = law.step(*states[1])
    fresh = laws()[name].step(*states[1])
    assert np.array_equal(found.torque, fresh.torque)
    assert np.array_equal(found.acceleration, fresh.acceleration)
    assert np.abs(held.torque - found.torque).max() > 1e-3
    assert held.certificate.equation_of_motion < 1e-8


def test_what_can_not_be_is_said() -> None:
    robot = wbc.load("arm", "numpy")
    q = np.array(robot.model.nominal)
    solution = classical.JointPD(robot, q + 1.0, wbc.Gains(kp=1e4)).step(q, np.zeros(7))
    assert solution.status == "relaxed" and solution.certificate.torque_margin < -100.0
    assert "exceeds its limit" in solution.explain() and solution.certificate.worst_joint in solution.explain()
    quadruped = wbc.load("quadruped", "numpy")
    pull = classical.ConstantForce("base", [0, 0, 900.0, 0, 0, 0])  # three times its weight, up
    flying = classical.VirtualModelControl(quadruped, pull, contacts(quadruped))
    down = classical.VirtualModelControl(
        quadruped, classical.ConstantForce("base", [0, 0, -400.0, 0, 0, 0]), contacts(quadruped)
    )
    nominal, rest = np.array(quadruped.model.nominal), np.zeros(18)
    assert flying.step(nominal, rest).status == "optimal"  # the feet push harder
    said = down.step(nominal, rest)
    assert said.status == "relaxed" and "outside its cone" in said.explain()  # they would have to pull


def test_a_law_that_gives_no_numbers_ends_in_a_safe_torque() -> None:
    class Broken(classical.ClassicalController):
        """Divides by nothing."""

        def law(self, robot, tick):
            return np.full(robot.na, np.nan)

    class Wrong(classical.ClassicalController):
        """Has too few torques."""

        def law(self, robot, tick):
            return np.zeros(2)

    robot = wbc.load("arm", "numpy")
    solution = Broken(robot).step(robot.model.nominal, np.zeros(7))
    robot.update(robot.model.nominal)
    assert solution.status == "failed" and np.allclose(solution.torque, robot.gravity_force)
    assert "failed" in solution.explain()
    with pytest.raises(wbc.WbcError, match=r"Wrong.law must give 7 torques"):
        Wrong(robot).step(robot.model.nominal, np.zeros(7))


def test_a_stack_judges_a_law_and_changes_nothing_of_it() -> None:
    main, q = standing("quadruped", "numpy")
    v = np.zeros(18)
    v[1] = 0.3
    robot = main.robot
    alone = classical.VirtualModelControl(robot, classical.VirtualSpring("base", 2e3, 3e2), contacts(robot))
    judged = classical.VirtualModelControl(robot, classical.VirtualSpring("base", 2e3, 3e2), judged_by=main.stack)
    one, other, reference = alone.step(q, v), judged.step(q, v), main.step(q, v)
    assert np.allclose(one.torque, other.torque, atol=1e-9)
    assert len(other.levels) == len(reference.levels)
    names = [list(level.residual) for level in other.levels]
    assert names == [list(level.residual) for level in reference.levels]
    assert other.levels[2].cost > 0.1 > reference.levels[0].cost
    broken = {active.task for active in other.violated}
    assert (other.status == "relaxed") == bool(broken & {"friction cones", "torque limits"})
    assert "base: off by" in other.explain()
    assert other.time.tasks == 0.0


def test_the_time_that_judging_takes_is_not_the_laws() -> None:
    def dawdle(robot, tick):
        time.sleep(0.05)
        return wbc.Rows.equal(np.zeros(7), torque=np.arange(7))

    robot = wbc.load("arm", "numpy")
    stack = wbc.Stack(tasks.EquationOfMotion() / tasks.Rows(dawdle))
    solution = classical.JointPD(robot, judged_by=stack).step(robot.model.nominal, np.zeros(7))
    assert solution.time.total < 0.04
    assert np.allclose(solution.levels[1].residual["rows"], solution.torque)


def test_singular_and_hard_states_give_numbers() -> None:
    arm = wbc.load("planar_arm", "numpy")
    tool = tasks.EndEffectorAcceleration("end_effector", np.eye(4), wbc.Gains(5.0))
    solution = classical.TaskSpaceControl(arm, tool).step(np.zeros(3), np.ones(3))
    assert np.isfinite(solution.torque).all() and np.isfinite(solution.acceleration).all()
    humanoid = wbc.load("humanoid", "numpy")
    feet = contacts(humanoid)
    doubled = [*feet, *(wbc.PointContact(foot.frame, name=f"{foot.name} again") for foot in feet)]
    motions = tasks.CenterOfMass() / tasks.JointAcceleration()
    one = classical.InverseDynamics(humanoid, motions, feet).step(humanoid.model.nominal, np.zeros(humanoid.nv))
    two = classical.InverseDynamics(humanoid, motions, doubled).step(humanoid.model.nominal, np.zeros(humanoid.nv))
    assert np.allclose(one.torque, two.torque, atol=1e-6 * np.abs(one.torque).max())
    assert two.certificate.equation_of_motion < 1e-8


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda arm, dog: classical.ComputedTorque(dog), "an actuator for each of the 18 velocities"),
        (lambda arm, dog: classical.TaskSpaceControl(dog, tasks.EndEffectorAcceleration("base")), "InverseDynamics"),
        (lambda arm, dog: classical.JointPD(arm, [1.0, 2.0]), r"target must be finite numbers of shape \(7,\)"),
        (lambda arm, dog: classical.JointPD(arm, gains=3.0), "must be wbc.Gains"),
        (lambda arm, dog: classical.JointPD(arm, gains=wbc.Gains([1.0, 2.0])), "kp has 2 values"),
        (lambda arm, dog: classical.TaskSpaceControl(arm, "tool"), "tasks.EndEffectorAcceleration"),
        (lambda arm, dog: classical.TaskSpaceControl(arm, tasks.EndEffectorAcceleration("tol")), "did you mean 'tool'"),
        (
            lambda arm, dog: classical.TaskSpaceControl(arm, tasks.EndEffectorAcceleration("tool"), wbc.Gains(1.0)),
            "another classical controller",
        ),
        (lambda arm, dog: classical.InverseDynamics(dog, []), "needs a motion"),
        (lambda arm, dog: classical.InverseDynamics(dog, 3), "tasks joined by"),
        (lambda arm, dog: classical.InverseDynamics(dog, [["base"]]), "must be tasks on accelerations, not 'base'"),
        (lambda arm, dog: classical.VirtualModelControl(dog, "base"), "VirtualSpring or ConstantForce"),
        (lambda arm, dog: classical.VirtualModelControl(dog, 3), "VirtualSpring or ConstantForce objects, not 3"),
        (lambda arm, dog: classical.JointPD(dog, contacts=3), "SurfaceContact or RollingContact objects, not 3"),
        (
            lambda arm, dog: classical.HybridControl(
                arm, "tool", tasks.EndEffectorAcceleration("tool"), np.zeros(6), np.eye(6)
            ),
            "selection_matrices, not array",
        ),
        (lambda arm, dog: classical.VirtualModelControl(dog, classical.VirtualSpring("bas", 1, 1)), "mean 'base'"),
        (lambda arm, dog: classical.VirtualSpring("base", -1.0, 1.0), "stiffness must be a number or six"),
        (lambda arm, dog: classical.VirtualSpring("base", 1.0, [1.0, 2.0]), "damping must be a number or six"),
        (lambda arm, dog: classical.ConstantForce("base", None), "needs six numbers"),
        (lambda arm, dog: classical.VirtualModelControl(dog, (), distribution="least"), "no solver 'least'"),
        (
            lambda arm, dog: classical.JointPD(
                dog, contacts=[wbc.PointContact("LF_foot")], judged_by=standing("quadruped")[0].stack
            ),
            "give contacts= or judged_by=, not both",
        ),
        (lambda arm, dog: classical.JointPD(dog, contacts=[wbc.PointContact("LF_fot")]), "did you mean 'LF_foot'"),
        (
            lambda arm, dog: classical.HybridControl(
                arm, "tol", tasks.EndEffectorAcceleration("tool"), np.zeros(6), classical.selection_matrices()
            ),
            "no frame 'tol'",
        ),
    ],
)
def test_mistakes_are_named(make, words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        arm, dog = wbc.load("arm", "numpy"), wbc.load("quadruped", "numpy")
        with pytest.raises(wbc.WbcError, match=words):
            make(arm, dog)


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        (tasks.TorqueMinimization(), "a motion has rows on accelerations only"),
        (tasks.JointLimits(), "inequalities"),
        (tasks.EndEffectorAcceleration("tool", tolerance=0.1), "tolerance"),
    ],
)
def test_tasks_that_are_no_motions_are_named(motion: wbc.Task, words: str) -> None:
    robot = wbc.load("arm", "numpy")
    with pytest.raises(wbc.WbcError, match=words):
        classical.TaskSpaceControl(robot, motion).step(robot.model.nominal, np.zeros(7))
    turned = tasks.EndEffectorAcceleration("tool", axes="position")
    hybrid = classical.HybridControl(robot, "tool", turned, np.zeros(6), classical.selection_matrices())
    with pytest.raises(wbc.WbcError, match="six rows of 'tool'"):
        hybrid.step(robot.model.nominal, np.zeros(7))
