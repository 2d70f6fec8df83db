"""What holds for all tests."""

import math
import os

import hypothesis
import pytest

from wbc.simulation import loop

# `make test` draws the same examples each time; `make soak` draws others.
hypothesis.settings.register_profile("test", derandomize=True, database=None)
hypothesis.settings.load_profile(os.environ.get("EXAMPLES", "test"))


@pytest.fixture(autouse=True)
def _ticks_take_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine changes nothing: ticks of `wbc.run` have no deadline, except where a test gives one."""
    monkeypatch.setattr(loop, "WHOLE", math.inf)


@pytest.fixture(autouse=True)
def _output_goes_to_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line wraps its lines to the width of a terminal, where it is told one."""
    monkeypatch.delenv("COLUMNS", raising=False)
