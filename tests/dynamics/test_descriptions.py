"""Robots by their names in the package robot_descriptions."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

import wbc
from wbc.dynamics import descriptions
from wbc.model import packaged_path


@pytest.fixture
def package(monkeypatch):
    fake = ModuleType("robot_descriptions")
    fake.DESCRIPTIONS = {"mini_description": None, "broken_description": None}  # type: ignore[attr-defined]
    fake.__path__ = []  # type: ignore[attr-defined]
    mini = ModuleType("robot_descriptions.mini_description")
    mini.URDF_PATH = str(packaged_path("arm"))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "robot_descriptions", fake)
    monkeypatch.setitem(sys.modules, "robot_descriptions.mini_description", mini)
    monkeypatch.setattr(descriptions, "_installed", lambda: True)


def test_a_name_is_loaded(package) -> None:
    assert wbc.load("mini_description", "numpy").nv == 7


def test_close_names_are_proposed(package) -> None:
    with pytest.raises(
        wbc.WbcError, match="no packaged robot or file 'mini_descripton'; did you mean 'mini_description'"
    ):
        wbc.load("mini_descripton")


def test_a_download_that_fails_says_why(package) -> None:
    with pytest.raises(wbc.WbcError, match="the files of 'broken_description' can't be fetched: ModuleNotFoundError"):
        wbc.load("broken_description")


def test_without_the_package(monkeypatch) -> None:
    monkeypatch.setattr(descriptions, "_installed", lambda: False)
    with pytest.raises(wbc.WbcError, match=r"need the package robot_descriptions: pip install 'wbc\[robots\]'"):
        wbc.load("go2_description")
