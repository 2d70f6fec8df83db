"""One thread for the small matrices of a control loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def single_threaded() -> Iterator[None]:
    """Holds numpy's and scipy's linear algebra to one thread while it lasts.

    A controller's matrices are small: a second thread only waits for the first, and where another program wants the
    processor a tick of a quarter of a millisecond takes seven. `wbc.run` does this by itself; in a loop of one's own:

        with wbc.single_threaded():
            ...

    Setting OMP_NUM_THREADS=1 before Python starts does the same.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield
