"""The blocks of the documentation run, in the order of their page."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tasks
import wbc
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


def test_every_task_has_a_page_with_a_picture_and_its_parameters() -> None:
    for name in tasks.__all__:
        page = (DOCS / "tasks" / f"{name}.md").read_text(encoding="utf-8")
        assert f"](../pictures/task_{name}.png)" in page, name
        assert page.endswith(f"\n::: tasks.{name}\n"), name


def test_messages_on_the_page_of_questions_are_those_of_the_code() -> None:
    source = ""
    for package in ("wbc", "tasks"):
        for path in sorted((DOCS.parent / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                source += node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "\0"
    page = (DOCS / "questions.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `([^`]*)` \|", page, re.MULTILINE)
    assert len(told) > 15
    for message in told:
        for words in re.split(r"…|'[^']*'", message):
            if len(words.split()) > 2:
                assert words.strip(" .,;:()?") in source.replace("\0", ""), words


def test_what_strict_priority_costs_is_what_the_page_says(capsys) -> None:
    names: dict[str, Any] = {}
    exec(PAGES["choosing.md"][0], names)
    strict, weighted = names["worst"]("hierarchical-qp"), names["worst"](wbc.solvers.WeightedQP(ratio=100.0))
    assert 0.0 < weighted[0] - strict[0] < 1e-3 * strict[0], "the tool gains next to nothing"
    assert strict[1] > 2.0 * weighted[1], "and the posture pays"
    page = (DOCS / "choosing.md").read_text(encoding="utf-8")
    found = re.search(
        r"about ([\d.]+) m/s².* better by ([\d.]+) m/s².* misses (\d+) rad/s² instead of\s(\d+)", page, re.DOTALL
    )
    assert found is not None
    told = weighted[0], weighted[0] - strict[0], strict[1], weighted[1]
    assert [float(number) for number in found.groups()] == pytest.approx(told, rel=0.15)
