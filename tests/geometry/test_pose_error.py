"""How far poses are from poses: by the kernel, in Python, and in any layout of memory."""

import numpy as np
import pytest

from wbc.geometry import pose, pose_error, so3

from .support import close


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_a_pose_error_is_the_difference_and_the_logarithm(seed, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(pose_error, "kernel", None)
    rng = np.random.default_rng(seed)
    desired, measured = (pose.homogeneous(so3.exp(rng.normal(size=3)), rng.normal(size=3)) for _ in range(2))
    expected = [*(desired - measured)[:3, 3], *so3.log(desired[:3, :3] @ measured[:3, :3].T)]
    close(pose_error.pose_error(desired, measured), expected, 1e-14)
    close(pose_error.pose_error(np.asfortranarray(desired), measured), expected, 1e-14)
    several = pose_error.pose_errors(np.array([desired, measured]), np.array([measured, measured]))
    close(several, [*expected, *np.zeros(6)], 1e-14)
