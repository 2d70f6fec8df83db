"""Runs the examples and puts their pictures into docs/pictures: all, or those whose numbers are given.

usage: python scripts/draw_examples.py [NUMBER ...]
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(numbers: list[str]) -> None:
    """Runs each example at full length; what it prints is printed."""
    found = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
    wanted = {int(number) for number in numbers}
    for path in found:
        if not wanted or int(path.name[:2]) in wanted:
            print(f"--- {path.name}", flush=True)
            runpy.run_path(str(path))["main"](out=str(ROOT / "docs" / "pictures"))


if __name__ == "__main__":
    main(sys.argv[1:])
