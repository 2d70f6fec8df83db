"""Writes plain data as TOML, as a person would. Python can read TOML but not write it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def table(name: str, entries: Mapping[str, Any], notes: Mapping[str, str]) -> str:
    """One of a list of tables.

    Args:
        name: of the list.
        entries: of this one.
        notes: what is written beside a key, such as a unit.
    """
    lines = [f"[[{name}]]"]
    for key, entry in entries.items():
        note = f"  # {notes[key]}" if key in notes else ""
        lines.append(f"{_key(key)} = {value(entry)}{note}")
    return "\n".join(lines)


def value(entry: Any) -> str:  # noqa: ANN401  plain data
    """A number, a word, a list or a table.

    Args:
        entry: plain data.
    """
    match entry:
        case bool():
            return "true" if entry else "false"
        case str():
            return json.dumps(entry, ensure_ascii=False).replace("\x7f", "\\u007f")
        case float():
            return repr(entry)
        case Mapping():
            inside = ", ".join(f"{_key(key)} = {value(part)}" for key, part in entry.items())
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(map(value, entry))}]"
    return str(entry)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else value(name)
