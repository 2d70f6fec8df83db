"""`python -m wbc.sweeps.worker`: performs the cases that come in as lines, and answers each with a line.

It ends when whoever started it is gone, whatever it is doing.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from typing import Any

READY = "ready"
GRACE = 30.0
"""What a process that nobody watches any more may take beyond its time limit, s."""


def main() -> None:
    """Performs cases until its input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ended by whoever started it
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what a scene prints is no answer
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(waiting,), daemon=True).start()
    from wbc.sweeps.case import Case
    from wbc.sweeps.perform import DiskFullError, perform
    from wbc.sweeps.rows import line
    from wbc.sweeps.versions import source_of, versions

    print(json.dumps({READY: versions()}), file=answers, flush=True)
    while True:
        asked = waiting.get()
        # by a thread in C, so that it works even where a scene never comes back to Python
        faulthandler.dump_traceback_later(asked["limit"] + GRACE, exit=True)
        case = Case.of(asked["case"])
        try:
            if source_of(case.scene) != asked["source"]:
                answer = json.dumps(
                    {"changed": f"the file of the scene {case.scene} is not the one that the sweep began with"}
                )
            else:
                answer = line(perform(case, asked["logs"], asked["folder"]))
        except DiskFullError as error:
            answer = json.dumps({"full": str(error)})
        faulthandler.cancel_dump_traceback_later()
        print(answer, file=answers, flush=True)


def _listen(waiting: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Takes in cases; the end of the input is the end of the process."""
    for text in sys.stdin:
        waiting.put(json.loads(text))
    os._exit(0)


if __name__ == "__main__":
    main()
