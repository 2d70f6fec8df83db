"""A page in a browser: a run to look at and to touch, and a log to go through (extra `web`).

`Live` is a run that does what it is asked while it runs, `Link` a page on it in a process of its own, `Replay` a page
on a log. What can be asked of a run stands in `wbc.web.commands`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wbc.lazy import lazy

if TYPE_CHECKING:
    from wbc.web.link import Link
    from wbc.web.live import Live
    from wbc.web.replay import Replay

__all__ = ["Link", "Live", "Replay"]

_LATER = {"Link": "wbc.web.link", "Live": "wbc.web.live", "Replay": "wbc.web.replay"}
"""Names that are imported on first use, and their modules."""

__getattr__ = lazy(__name__, _LATER, modules=("commands",))
