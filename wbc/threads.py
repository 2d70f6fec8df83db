"""One thread for the small matrices of a control loop, and one thread at a time in a controller."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wbc.errors import WbcError


class Turn:
    """A lock of an object that only one thread may use at a time. A second thread gets an error and does not wait.

    A control loop takes its turn in every tick: `take` and `give` are the lock's own methods, with no call around them.

    Attributes:
        take: takes the turn; false where somebody has it.
        give: gives it back.
    """

    __slots__ = ("give", "take")

    def __init__(self) -> None:
        lock = threading.Lock()
        self.take, self.give = functools.partial(lock.acquire, False), lock.release

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return type(self), ()  # a copy is nobody's


@contextmanager
def taking(turn: Turn, whose: object) -> Iterator[None]:
    """Has the turn while it lasts; a control loop, which has no time for this, takes and gives it by itself.

    Args:
        turn: of an object.
        whose: that object.

    Raises:
        WbcError: somebody else has it.
    """
    if not turn.take():
        raise busy(whose)
    try:
        yield
    finally:
        turn.give()


def busy(whose: object) -> WbcError:
    """The error for a thread that comes while another one uses the object.

    Args:
        whose: the object that both want.
    """
    return WbcError(
        f"{whose!r} is in the middle of a tick: two threads may not use it at once, nor may its tasks call it; give "
        "each thread one of its own: copy.deepcopy(controller)"
    )


@contextmanager
def single_threaded() -> Iterator[None]:
    """Holds numpy's and scipy's linear algebra to one thread while it lasts.

    A controller's matrices are small: a second thread only waits for the first, and where another program wants the
    processor a tick of a quarter of a millisecond takes seven. `wbc.run` does this by itself; in a loop of one's own:

        with wbc.single_threaded():
            ...

    Setting OMP_NUM_THREADS=1 before Python starts does the same, and is all there is where somebody has taken
    threadpoolctl out of an installation.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(limits=1):
        yield
