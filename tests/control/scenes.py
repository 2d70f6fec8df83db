"""Stacks that the tests of the controller share."""

from __future__ import annotations

import warnings

import numpy as np

import tasks
import wbc

SOLVERS = ("elastic-qp", "hierarchical-qp", "sequential-qp", "weighted-qp", "nullspace", "operational-space")


def contacts(robot: wbc.Dynamics, friction: float = 0.6) -> list[wbc.Contact]:
    """A contact at each foot: soles where there are any, points elsewhere."""
    soles = robot.model.soles
    return [
        wbc.SurfaceContact(foot, friction, soles[foot]) if foot in soles else wbc.PointContact(foot, friction)
        for foot in robot.model.feet
    ]


def standing(
    name: str, backend: str = "auto", solver: str = "hierarchical-qp", friction: float = 0.6, **options: object
) -> tuple[wbc.Controller, np.ndarray]:
    """The stack of the README on a packaged robot, and the configuration to stand in."""
    robot = wbc.load(name, backend)  # type: ignore[arg-type]
    limits = tasks.TorqueLimits() + tasks.FrictionCones() + tasks.ContactMotion()
    balance = tasks.EndEffectorAcceleration("base", gains=wbc.Gains(3.0))
    posture = tasks.JointAcceleration(gains=wbc.Gains(1.5))
    levels = tasks.EquationOfMotion() / limits / balance / posture / tasks.TorqueMinimization()
    stack = wbc.Stack(levels, contacts=contacts(robot, friction))
    return controller(robot, stack, solver, **options), np.array(robot.model.nominal)


def controller(robot: wbc.Dynamics, stack: wbc.Stack, solver: object, **options: object) -> wbc.Controller:
    """A controller, without the warning that some solvers ignore inequalities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wbc.WbcWarning)
        return wbc.Controller(robot, stack, solver, **options)  # type: ignore[arg-type]


def moving_state(robot: wbc.Dynamics, rng: np.random.Generator, spread: float = 0.1, speed: float = 0.1):
    """A state near the nominal one, in motion."""
    q = robot.integrate(robot.model.nominal, rng.normal(scale=spread, size=robot.nv))
    return q, rng.normal(scale=speed, size=robot.nv)
