"""A page in a browser, by viser: a stage, and panels beside it."""

from __future__ import annotations

import contextlib
import socket
import threading
import warnings
from collections.abc import Callable
from typing import Any

from wbc.errors import WbcError
from wbc.web.panels import RunPanel, TaskPanel, Timeline, WhyPanel
from wbc.web.picture import Picture, Scenery
from wbc.web.plots import Plots
from wbc.web.stage import Stage

try:
    import viser
except ImportError as error:
    raise WbcError(f"the page needs viser: pip install 'wbc[web]' ({error})") from None


def _look_for(host: str) -> None:
    """Raises an `OSError` where nothing can listen at an address; viser would wait for ever."""
    family, *_, where = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind(where)


class Page:
    """A page, until its process ends or `close` is called.

    Args:
        scenery: what is shown.
        send: gets what is asked there, and how many browsers look on; from any thread.
        host: address that it is bound to.
        port: of the page; the next free one is taken where it is in use.
        go: of a replay: called with the number of a tick.

    Attributes:
        address: for a browser.
        timeline: of a replay, or None.
    """

    def __init__(
        self,
        scenery: Scenery,
        send: Callable[[Any], None],
        host: str = "127.0.0.1",
        port: int = 8080,
        go: Callable[[int], None] = lambda tick: None,
    ) -> None:
        self._lock = threading.Lock()
        self._send = send
        try:
            _look_for(host)
            with contextlib.redirect_stdout(None):  # viser tells where it is; so do we
                self._server: Any = viser.ViserServer(host, port, label=f"wbc: {scenery.title}", verbose=False)
        except OSError as error:
            raise WbcError(f"no page on {host}, port {port}: {error.strerror or error}") from None
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
        shown = f"[{shown}]" if ":" in shown else shown
        self.address = f"http://{shown}:{self._server.get_port()}"
        gui = self._server.gui
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        gui.set_panel_label(f"wbc: {scenery.title}")
        self._stage = Stage(self._server, scenery, self.ask)
        self.timeline: Timeline | None = None
        self._shown: list[Any] = [self._stage]
        tabs = gui.add_tab_group()
        with tabs.add_tab("Run" if scenery.times is None else "Log"):
            if scenery.times is None:
                self._shown.append(RunPanel(gui, scenery, self._stage, self.ask))
            else:
                self.timeline = Timeline(gui, scenery.times, self._stage, go)
                self._shown.append(self.timeline)
        if scenery.lines:
            with tabs.add_tab("Tasks"):
                self._shown.append(TaskPanel(gui, scenery.lines, self.ask))
        with tabs.add_tab("Why" if scenery.times is None else "Health"):
            self._shown.append(WhyPanel(gui))
        with tabs.add_tab("Plots"):
            self.plots = Plots(gui, scenery)
        self._server.on_client_connect(self._come)
        self._server.on_client_disconnect(self._gone)

    def ask(self, message: Any) -> None:  # noqa: ANN401  a command, or a number of browsers
        """Hands on what is asked, one at a time; the run may be over.

        Args:
            message: a command, or how many look on.
        """
        with self._lock:
            try:
                self._send(message)
            except (OSError, ValueError):
                return

    def _come(self, client: Any) -> None:  # noqa: ANN401  of viser
        self._stage.look_at(client)
        self.ask(len(self._server.get_clients()))

    def _gone(self, client: Any) -> None:  # noqa: ANN401  of viser
        self.ask(len(self._server.get_clients()))

    def show(self, picture: Picture) -> None:
        """Shows a moment.

        Args:
            picture: of the robot that the scenery has.
        """
        with self._server.atomic():
            for part in self._shown:
                part.show(picture)
        self._stage.follow(self._server.get_clients().values())
        if self.timeline is None:
            self.plots.add(picture)

    def close(self) -> None:
        """Takes the page away."""
        with contextlib.redirect_stdout(None):
            self._server.stop()
