"""A page in another process, whatever it does, does not hold up the run."""

from __future__ import annotations

import math
import time

import pytest

import wbc
from tests.web import stub_page
from tests.web.test_live import scene
from wbc.web import link as link_module
from wbc.web.link import Link
from wbc.web.live import Live


@pytest.fixture(autouse=True)
def stub(monkeypatch) -> None:
    monkeypatch.setattr(link_module, "PAGE", "tests.web.stub_page")
    monkeypatch.setattr(link_module, "IDLE", 0.01)


def run_beside(page: int, duration: float, speed: float = 1.0) -> tuple[Live, Link, wbc.Log]:
    """A run with a page that behaves so."""
    live = Live(scene(duration=duration), speed)
    with Link(live, port=page) as link:
        while link.watchers != 1:
            time.sleep(0.01)
        log = live.run()
        end = time.monotonic() + 10.0
        while page == stub_page.GOES and not link.gone and time.monotonic() < end:
            time.sleep(0.01)
    assert link.fault is None
    return live, link, log


def test_pictures_go_there_and_commands_come_back() -> None:
    live, link, log = run_beside(stub_page.READS, 0.4)
    assert log.ended == "finished"
    assert link.sent >= 3
    assert link.address == "http://127.0.0.1:1"
    assert live.notice == ""
    assert abs(log.v[:, 1]).max() > 1e-4  # it was pushed


def test_a_page_that_never_reads_holds_up_nobody(monkeypatch) -> None:
    monkeypatch.setattr(link_module.Taker, "take", lambda self, anyway=False: bytes(10_000_000))  # no buffer has room
    live, link, log = run_beside(stub_page.STOPS, 0.3, math.inf)
    assert (log.ended, len(log), live.slot.put_so_far) == ("finished", 300, 300)
    assert link.sent == 0


def test_a_page_that_goes_away_is_told() -> None:
    _, link, log = run_beside(stub_page.GOES, 0.3)
    assert log.ended == "finished"
    assert link.gone


def test_a_page_that_cannot_be_is_an_error(monkeypatch) -> None:
    live = Live(scene())
    with pytest.raises(wbc.WbcError, match="there is no viser here"):
        Link(live, port=stub_page.REFUSES)
    monkeypatch.setattr(link_module, "PAGE", "tests.web.no_such_page")
    with pytest.raises(wbc.WbcError, match="could not be started"):
        Link(live)
