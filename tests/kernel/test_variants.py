"""The solver for any processor and the one for AVX2 agree."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.solvers.families import hard
from wbc import compiled
from wbc.solvers import HierarchicalQP

pytestmark = pytest.mark.skipif(compiled.kernel is None, reason="the kernel is not built, or off")
SEEDS = range(0, 600, 3)


def answers():
    """Status, costs and x of some hierarchies, by the variant that is chosen."""
    found = []
    for seed in SEEDS:
        _, levels = hard(seed)
        answer = HierarchicalQP(compiled=True).solve(levels)
        found.append((answer.status, [level.cost for level in answer.levels], answer.x))
    return found


def by_plain(path):
    """The same in a process of its own, as the choice is for a process."""
    program = "import pickle, sys; from tests.kernel.test_variants import answers; "
    program += f"pickle.dump(answers(), open({str(path)!r}, 'wb'))"
    environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "WBC_SANITIZED")}
    subprocess.run([sys.executable, "-c", program], env=environment | {"WBC_KERNEL": "plain"}, check=True)
    return np.load(path, allow_pickle=True)


def test_plain_and_wide_agree(tmp_path):
    alike = 0
    for seed, wide, plain in zip(SEEDS, answers(), by_plain(tmp_path / "plain.pkl"), strict=True):
        (status, costs, x), (other_status, other_costs, other_x) = wide, plain
        if not {status, other_status} <= {"optimal", "relaxed"}:
            continue
        assert status == other_status
        length = 1.0 + np.linalg.norm(x)
        for one, other, (A, _, _) in zip(costs, other_costs, hard(seed)[1], strict=True):
            assert abs(one - other) <= 1e-6 * (1.0 + other) + 1e-9 * np.linalg.norm(A) * length, seed
        alike += np.linalg.norm(x - other_x) <= 1e-6 * length
    assert alike >= 0.95 * len(SEEDS)


@pytest.mark.parametrize(("wanted", "calls"), [("plain", 1), ("Plain", 1), ("wide", 0), ("", 0)])
def test_the_environment_chooses_the_variant(wanted, calls, monkeypatch):
    class Module:
        chosen = 0

        def choose_plain(self):
            self.chosen += 1

    module = Module()
    monkeypatch.setenv("WBC_KERNEL", wanted)
    monkeypatch.setitem(sys.modules, "wbc._kernel", module)
    assert compiled._find() is module
    assert module.chosen == calls
