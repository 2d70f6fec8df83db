"""Prints the lowest version of each dependency that pyproject.toml allows, as constraints for pip.

usage: python scripts/oldest.py [EXTRA]...   (`make test-oldest`)

What has no lower bound there is as pip chooses.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
OURS = "wbc"


def oldest(requirements: Iterable[str]) -> Iterator[str]:
    """A constraint for each requirement with a lower bound.

    Args:
        requirements: such as "numpy>=1.26" or "mkdocstrings[python]>=0.26".
    """
    for text in requirements:
        found = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?\s*>=\s*([\w.]+)", text)
        if found and found[1] != OURS:
            yield f"{found[1]}=={found[2]}"


def main(*extras: str) -> None:
    """Prints those of the package itself and of some of its extras."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    unknown = [extra for extra in extras if extra not in optional]
    if unknown:
        raise SystemExit(f"no extra {unknown[0]!r} (there are: {', '.join(optional)})")
    requirements = [*project["dependencies"], *(one for extra in extras for one in optional[extra])]
    print("\n".join(dict.fromkeys(oldest(requirements))))


if __name__ == "__main__":
    main(*sys.argv[1:])
