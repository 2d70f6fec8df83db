"""For mkdocs: links out of docs/, to code and tests, which the site does not have, become plain words.

The pages are read in the repository as well, where those links lead somewhere.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401  mkdocs hands over its own objects
    """Called by mkdocs for each page.

    Args:
        markdown: of the page.
        page: that it is.
        **_: what else mkdocs hands over.
    """
    folder = posixpath.dirname(page.file.src_uri)

    def inside(link: re.Match[str]) -> str:
        target = link[2].partition("#")[0]
        outside = posixpath.normpath(posixpath.join(folder, target)).startswith("..")
        return link[1] if outside and "://" not in target else link[0]

    return LINK.sub(inside, markdown)
