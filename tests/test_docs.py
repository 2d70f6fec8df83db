"""The blocks of the documentation run, in the order of their page."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import tasks
from scripts.site_hooks import on_page_markdown

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


def test_every_page_has_its_place_in_the_site() -> None:
    named = re.findall(r"(?<=[ ])[\w/]+\.md", (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(named) == sorted(pages)


def test_links_out_of_the_docs_are_words_in_the_site() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="course/01.md"))
    kept = "[page](../health.md#x), ![picture](../../p.png), [site](https://a.org)"
    assert on_page_markdown(f"[code](../../wbc/a.py#L3), {kept}, [`b[0]`](../../t.py)", page) == f"code, {kept}, `b[0]`"


def test_every_task_is_on_a_page() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert [name for name in tasks.__all__ if f"::: tasks.{name}\n" not in pages] == []
