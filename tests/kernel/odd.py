"""Arrays and numbers that the kernel must bear, or refuse by an exception."""

import array
import sys

import numpy as np

REFUSALS = (TypeError, ValueError, IndexError, OverflowError, BufferError, RuntimeError)
"""What the kernel may raise; a fault, or anything else, fails a test."""

TINY, HUGE = 5e-324, 1.7e308


def numbers(rng, shape, share=0.2):
    """Normal numbers; with a share of them anything that a double can be."""
    found = rng.standard_normal(shape)
    odd = rng.choice([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, TINY, 1e-310, 1e-160, 1e150, -1e154, HUGE], size=shape)
    return np.where(rng.random(shape) < share, odd, found)


def unaligned(given):
    """The same numbers, one byte beside where numbers stand."""
    given = np.ascontiguousarray(given)
    found = np.frombuffer(bytearray(given.nbytes + 9), dtype=np.uint8)[1 : 1 + given.nbytes]
    found = found.view(given.dtype).reshape(given.shape) if given.size else given
    found[...] = given
    return found


def read_only(given):
    found = given.copy()
    found.setflags(write=False)
    return found


def other_layouts(given):
    """The same numbers as arrays that lie otherwise in memory."""
    yield np.asfortranarray(given)
    yield np.repeat(given, 2, axis=0)[::2]
    yield given[::-1].copy()[::-1]
    if given.ndim == 2:
        yield np.repeat(given, 3, axis=1)[:, ::3]
        yield given[:, ::-1].copy()[:, ::-1]
        yield np.broadcast_to(given[:1], given.shape)
    yield unaligned(given)
    yield read_only(given)
    yield memoryview(given)


def others(given):
    """What is no such array."""
    yield from (None, "x", b"12345678", 3, 1.5, [1.0, 2.0], (), object(), np.float64(2.0))
    for dtype in (
        np.float32,
        np.int32,
        np.int64,
        np.uint64,
        complex,
        bool,
        object,
        ">f8",
        np.longdouble,
        "S8",
        "M8[s]",
    ):
        yield np.zeros(given.shape, dtype=dtype)
    yield np.zeros(given.shape, dtype=[("a", float)])
    yield array.array("d", [0.0] * given.size)
    for shape in ((), (0,), (0, 0), (given.size + 1,), (given.size, 1), (1, given.size), (1,) * 5):
        yield np.zeros(shape)
    yield given[:-1]
    yield np.lib.stride_tricks.as_strided(given.reshape(-1), (2,), (4,)) if given.size > 1 else given


def any_of(rng, given):
    """One of all these, at random."""
    choices = (
        [*other_layouts(given), *others(given)] if isinstance(given, np.ndarray) else [*others(np.zeros(3)), -1, 10**30]
    )
    return choices[rng.integers(len(choices))]


def holders(given):
    """How many hold each array of a call."""
    return [sys.getrefcount(one) for one in given if isinstance(one, np.ndarray)]
