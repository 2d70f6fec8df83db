"""One thread while it lasts, and what there was before afterwards."""

from __future__ import annotations

from threadpoolctl import threadpool_info

import wbc


def threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_linear_algebra_is_held_to_one_thread() -> None:
    before = threads()
    assert before
    with wbc.single_threaded():
        assert set(threads()) == {1}
    assert threads() == before
