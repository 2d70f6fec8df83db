"""The blocks of the documentation run, in the order of their page."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): blocks
    for path in sorted(DOCS.rglob("*.md"))
    if (blocks := re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))
}


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(PAGES[page], 1):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            exec(compile(block, f"{page}, block {number}", "exec"), names)
        assert capsys.readouterr().out, f"block {number} of {page} shows nothing"


def test_links_and_pictures_are_there() -> None:
    for path in (*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} points to {target}"
