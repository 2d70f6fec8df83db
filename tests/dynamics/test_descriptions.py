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
    with pytest.raises(
        wbc.WbcError, match="of 'broken_description' can't be fetched: ModuleNotFoundError.*give the path"
    ):
        wbc.load("broken_description")


def test_a_cache_is_read_and_what_a_download_prints_is_no_output(package, monkeypatch, tmp_path, capsys) -> None:
    """As the package does it: a module that clones, or finds a clone, while it is imported."""
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "arm.urdf").write_bytes(packaged_path("arm").read_bytes())
    (tmp_path / "cached_description.py").write_text(
        "import os\nprint('Cloning')\n"
        "URDF_PATH = os.path.join(os.environ['ROBOT_DESCRIPTIONS_CACHE'], 'clone', 'arm.urdf')\n"
    )
    robots = sys.modules["robot_descriptions"]
    monkeypatch.setattr(robots, "__path__", [str(tmp_path)])
    monkeypatch.setitem(robots.DESCRIPTIONS, "cached_description", None)
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path))
    monkeypatch.delitem(sys.modules, "robot_descriptions.cached_description", raising=False)
    assert wbc.load("cached_description", "numpy").nv == 7
    assert capsys.readouterr().out == ""
    sys.modules.pop("robot_descriptions.cached_description", None)


def test_without_the_package(monkeypatch) -> None:
    monkeypatch.setattr(descriptions, "_installed", lambda: False)
    with pytest.raises(wbc.WbcError, match=r"need the package robot_descriptions: pip install 'wbc\[robots\]'"):
        wbc.load("go2_description")
