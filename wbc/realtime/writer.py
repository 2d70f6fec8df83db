"""The process that writes a log down. It is run as a file, and imports nothing of wbc: it starts at once."""

from __future__ import annotations

import mmap
import os
import sys
import time

HEADER = 64
"""Bytes before the rows."""

WRITTEN, TAKEN, CLOSED = 0, 1, 2
"""Words of the header: rows that were written and taken, and whether no more will come."""

PAUSE = 0.02
"""s between two looks."""


def write(memory: int, path: str, row: int, parent: int) -> None:
    """Writes rows to a file as they come, until there are no more, or the process that makes them is gone.

    Args:
        memory: descriptor of the memory that is shared.
        path: of the file, which is there and has its header.
        row: bytes of one.
        parent: number of the process that makes them.
    """
    shared = mmap.mmap(memory, 0)
    words = memoryview(shared)[:HEADER].cast("q")
    capacity = (len(shared) - HEADER) // row
    taken = 0
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123  it starts faster without pathlib
        while True:
            last = bool(words[CLOSED]) or os.getppid() != parent
            written = words[WRITTEN]
            while taken < written:
                first = taken % capacity
                count = min(written - taken, capacity - first)
                data = memoryview(shared)[HEADER + first * row : HEADER + (first + count) * row]
                while data:
                    data = data[file.write(data) :]
                taken += count
                words[TAKEN] = taken
            if last:
                return
            time.sleep(PAUSE)


if __name__ == "__main__":
    write(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
