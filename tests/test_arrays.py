"""What is handed over becomes an array of numbers in one place, with one message."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from wbc import WbcError
from wbc.arrays import as_slice, cross, numbers

ROOT = Path(__file__).parents[1]


def test_numbers_are_copied_and_what_is_none_is_named() -> None:
    given = np.arange(3.0)
    found = numbers(given, "it")
    assert found is not given and np.array_equal(found, given)
    assert numbers(given, "it", copy=False) is given
    assert numbers([[1, 2], [3, 4]], "it").dtype == float and numbers(True, "it") == 1.0
    for bad in ("one", {}, [[1, 2], [3]], ["1", "2"], [None], 10**400, object()):
        with pytest.raises(WbcError, match="^it = .* is not an array of numbers$"):
            numbers(bad, "it")


def test_what_would_lose_something_as_an_array_of_numbers_is_refused() -> None:
    for bad, told in (
        (np.array([1.0 + 2.0j]), "is complex"),
        ([1j], "is complex"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "is a masked array"),
        (np.ma.array([1.0, 2.0]), "is a masked array"),
        (np.array([1.0, None]), "its entries are objects"),
    ):
        for copy in (True, False):
            with pytest.raises(WbcError, match=f"(?s)it = .*{told}"):
                numbers(bad, "it", copy=copy)


def test_memory_of_others_is_copied_too() -> None:
    class Foreign:
        def __init__(self) -> None:
            self.memory = np.arange(3.0)

        def __array__(self, dtype=None, copy=None):
            return self.memory

    given = Foreign()
    assert not np.shares_memory(numbers(given, "it"), given.memory)


def test_there_is_one_place_where_arrays_are_made_of_what_may_be_none() -> None:
    found = []
    for path in (*(ROOT / "wbc").rglob("*.py"), *(ROOT / "tasks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Try) and "TypeError" in "".join(ast.unparse(one) for one in node.handlers):
                calls = {
                    ast.unparse(call.func)
                    for line in node.body
                    for call in ast.walk(line)
                    if isinstance(call, ast.Call)
                }
                if calls & {"np.array", "np.asarray"}:
                    found.append(path.relative_to(ROOT).as_posix())
    assert found == ["wbc/arrays.py"]


def test_the_product_of_two_vectors() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 3))
    assert np.allclose(cross(a, b), np.cross(a, b))


def test_indices_that_follow_each_other_are_a_slice() -> None:
    assert as_slice(np.array([3, 4, 5])) == slice(3, 6) and as_slice(np.array([], dtype=np.intp)) == slice(0, 0)
    assert as_slice(np.array([7])) == slice(7, 8)
    for odd in ([3, 5], [4, 3], [3, 3]):
        assert np.array_equal(as_slice(np.array(odd)), odd)
