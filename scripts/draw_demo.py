"""Runs the demonstration and puts its video into docs/pictures.

usage: python scripts/draw_demo.py
"""

from __future__ import annotations

from pathlib import Path

from wbc.application import demo
from wbc.application.video import write_video

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "demo.gif"


def main() -> None:
    """Runs it at full length."""
    scene = demo()
    write_video(scene, scene.run(), PICTURE)
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
