"""`docs/equations.md` is what the markers say, and what is wrong with the markers is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import wbc
from tests.equations import public_name

SCRIPT = Path(__file__).parents[1] / "scripts" / "make_equation_table.py"
sys.path.insert(0, str(SCRIPT.parent))

from make_equation_table import Row, problems  # noqa: E402


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Code in a process of its own, where the script can be imported."""
    begin = f"import sys\nfrom pathlib import Path\nsys.path.insert(0, {str(SCRIPT.parent)!r})\n"
    begin += "import make_equation_table as table\n"
    return subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True)


def test_the_table_is_up_to_date_and_one_that_is_not_is_found(tmp_path: Path) -> None:
    text, page = (SCRIPT.parents[1] / "docs" / "equations.md").read_text(encoding="utf-8"), tmp_path / "equations.md"
    check = """
rows, sys.argv = table.collect(), ["table", "--check"]
table.collect = lambda: rows  # it takes seconds
for page in PAGES:
    table.TABLE = Path(page)
    try:
        table.main()
        print("up to date")
    except SystemExit as error:
        print(error)
"""
    page.write_text(text, encoding="utf-8")
    (tmp_path / "altered.md").write_text(text.replace("| 3.90 |", "| 3.91 |"), encoding="utf-8")
    pages = [str(tmp_path / name) for name in ("equations.md", "altered.md", "missing.md")]
    done = run(f"PAGES = {pages!r}\n{check}")
    said = done.stdout.splitlines()
    assert said, done.stderr[-2000:]
    assert said[0] == "up to date" and len(said) == 3, said
    assert all("is out of date" in line for line in said[1:]), said


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("so3.exp", None),
        ("so3.vanished", "no attribute 'vanished'"),
        ("so3._polynomial", "is not public"),
        ("so3.np.cross", "is not of wbc or tasks"),
    ],
)
def test_a_function_that_vanished_is_found(function: str, words: str | None, tmp_path: Path) -> None:
    marked = "from tests.equations import equation\nfrom wbc.geometry import so3\n\n\n"
    marked += f'@equation("ETH 2.25", "active rotation", {function})\ndef test_it() -> None:\n    pass\n'
    (tmp_path / "test_marked.py").write_text(marked, encoding="utf-8")
    found = run(f"print(table.collect(Path({str(tmp_path)!r})))")
    if words is None:
        assert "functions=('wbc.geometry.so3.exp',)" in found.stdout
    else:
        assert found.returncode == 1
        assert words in found.stderr and "is a marked function gone?" in found.stderr


def test_a_test_that_vanished_is_found() -> None:
    found = problems([], {})
    assert any(line.startswith("From: neither marked nor explained: 1, 2, ") for line in found)


def test_an_equation_marked_twice_or_unknown_is_found() -> None:
    one, other = (Row("ETH 3.90", "a torque", ("wbc.load",), f"tests/test_x.py::test_{n}") for n in (1, 2))
    found = problems([one, other, Row("ETH 3.500", "none", ("wbc.load",), "tests/y.py::test")], {"ETH 3.90": "no"})
    assert any("ETH 3.90 is marked twice" in line and "test_1" in line and "test_2" in line for line in found)
    assert any("ETH 3.90 is marked in" in line and "too" in line for line in found)
    assert any(line.startswith("ETH: neither marked nor explained: 2.1, ") for line in found)
    assert any("ETH 3.500" in line and "no such equation" in line for line in found)


def test_functions_have_public_names() -> None:
    assert public_name(wbc.load) == "wbc.dynamics.load.load"
    assert public_name(wbc.Gains) == "wbc.tasking.gains.Gains"
    with pytest.raises(AssertionError, match="not of wbc"):
        public_name(subprocess.run)
