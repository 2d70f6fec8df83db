"""What From prints for each group (tables 1 and 2, (62), (77), (88)), entry by entry, and bodies to try it with."""

from __future__ import annotations

import numpy as np

import wbc

NAMES = ("SE(3)", "X(z)", "R3", "SE(2)", "SO(3)", "R2", "SO(2)", "R")
VELOCITIES = {
    "SE(3)": "uvwpqr", "X(z)": "uvwr", "R3": "uvw", "SE(2)": "uvr", "SO(3)": "pqr", "R2": "uv", "SO(2)": "r", "R": "u",
}  # fmt: skip


def hat(u=0.0, v=0.0, w=0.0, p=0.0, q=0.0, r=0.0):
    """V^ as a 4×4 matrix; the table's smaller ones are its rows and columns that are not zero.

    For R3 the table prints that of X(z), with an r that R3 does not have.
    """
    return np.array([[0, -r, q, u], [r, 0, -p, v], [-q, p, 0, w], [0, 0, 0, 0]])


def ad(name, v):
    """ad_V of table 1."""
    if name == "SE(3)":
        u, v, w, p, q, r = v
        return np.array(
            [
                [0, -r, q, 0, -w, v],
                [r, 0, -p, w, 0, -u],
                [-q, p, 0, -v, u, 0],
                [0, 0, 0, 0, -r, q],
                [0, 0, 0, r, 0, -p],
                [0, 0, 0, -q, p, 0],
            ]
        )
    if name == "X(z)":
        u, v, _, r = v
        return np.array([[0, -r, 0, v], [r, 0, 0, -u], [0, 0, 0, 0], [0, 0, 0, 0]])
    if name == "SE(2)":
        u, v, r = v
        return np.array([[0, -r, v], [r, 0, -u], [0, 0, 0]])
    if name == "SO(3)":
        p, q, r = v
        return np.array([[0, -r, q], [r, 0, -p], [-q, p, 0]])
    return np.zeros((len(v), len(v)))


def tilde_ad(name, p):
    """ad~_p of table 1, and of (68) for SO(3), where the table has the other sign."""
    if name == "SE(3)":
        p1, p2, p3, p4, p5, p6 = p
        return np.array(
            [
                [0, 0, 0, 0, p3, -p2],
                [0, 0, 0, -p3, 0, p1],
                [0, 0, 0, p2, -p1, 0],
                [0, p3, -p2, 0, p6, -p5],
                [-p3, 0, p1, -p6, 0, p4],
                [p2, -p1, 0, p5, -p4, 0],
            ]
        )
    if name == "X(z)":
        p1, p2, _, _ = p
        return np.array([[0, 0, 0, -p2], [0, 0, 0, p1], [0, 0, 0, 0], [p2, -p1, 0, 0]])
    if name == "SE(2)":
        p1, p2, _ = p
        return np.array([[0, 0, -p2], [0, 0, p1], [p2, -p1, 0]])
    if name == "SO(3)":
        p1, p2, p3 = p
        return -np.array([[0, -p3, p2], [p3, 0, -p1], [-p2, p1, 0]])
    return np.zeros((len(p), len(p)))


def brick(com=(0.0, 0.0, 0.0), turned=False):
    """A brick of 2 kg with three different moments of inertia; about its own axes, or turned in its frame."""
    central = np.diag([0.05, 0.11, 0.14])
    if turned:
        R = wbc.geometry.exp([0.4, -0.7, 0.3])
        central = R @ central @ R.T
    return wbc.Body("brick", 2.0, np.array(com), central)


LOPSIDED = brick((0.05, -0.1, 0.2), turned=True)
