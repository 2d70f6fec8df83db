"""The folder of a sweep: rows that were written stay, whatever happens to the process that wrote them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wbc.errors import WbcError, show
from wbc.sweeps.case import Cases
from wbc.sweeps.perform import PART
from wbc.sweeps.versions import differences, source_of, versions

ROWS, ABOUT, LOGS, LOCK = "rows.jsonl", "sweep.json", "logs", "lock"


def read_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The rows of a sweep, as they came; a last line that breaks off is left out.

    Args:
        path: of the sweep's folder.
    """
    file = Path(path) / ROWS
    try:
        with file.open("rb") as stream:
            for number, text in enumerate(stream, 1):
                if not text.endswith(b"\n"):
                    return
                try:
                    row = json.loads(text)
                    row["case"], row["kind"], row["scene"], row["overrides"], row["seed"]
                except (ValueError, KeyError, TypeError):
                    raise WbcError(f"line {number} of {file} is not a row of a sweep: {show(text[:60])}") from None
                yield row
    except OSError as error:
        raise WbcError(f"can't read {file}: {error.strerror}") from None


class Writing:
    """Takes the rows of a sweep, while nobody else does. To be used in a `with`.

    Args:
        path: of the folder; it is made where it is missing.
        cases: of the sweep. A folder may grow: more seeds, a finer grid. It can't take another scene, a scene whose
            file has changed, or rows of other versions.

    Attributes:
        path: of the folder.
        source: the hash of the scene's file.
        done: hashes of the cases that had a row when it was opened.
        kinds: how many rows of each kind it had then.
    """

    def __init__(self, path: str | Path, cases: Cases) -> None:
        self.path, self.source = Path(path), source_of(cases.scene)
        self.done: set[str] = set()
        self.kinds: dict[str, int] = {}
        self._size = 0
        try:
            (self.path / LOGS).mkdir(parents=True, exist_ok=True)
            self._lock()
            self._check(cases)
            self._mend()
            for row in read_rows(self.path):
                self.done.add(row["case"])
                self.kinds[row["kind"]] = self.kinds.get(row["kind"], 0) + 1
        except OSError as error:
            self.close()
            raise WbcError(f"can't write into {show(str(self.path))}: {error.strerror}") from None
        except WbcError:
            self.close()
            raise

    def __enter__(self) -> Writing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets others write."""
        for name in ("_file", "_held"):
            stream = getattr(self, name, None)
            if stream is not None:
                stream.close()

    def add(self, row: str) -> None:
        """Writes a row, whole or not at all.

        Args:
            row: a line of JSON, without its end.
        """
        data, size = row.encode() + b"\n", self._size
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            with contextlib.suppress(OSError):  # what is left of it is cut off when the sweep goes on
                self._file.truncate(size)
            raise WbcError(
                f"{self.path / ROWS} can't be written: {error.strerror}. All rows so far are there; the same "
                "command on the same folder continues"
            ) from None
        self._size = size + len(row.encode()) + 1

    def _lock(self) -> None:
        """Holds the folder for this process; the system lets go of it when the process ends, however that comes."""
        self._held = (self.path / LOCK).open("ab")
        try:
            import fcntl
        except ImportError:  # on Windows: nobody is kept out
            return
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WbcError(f"another sweep is writing into {show(str(self.path))}") from None

    def _check(self, cases: Cases) -> None:
        """Compares with what the folder is of, or notes that where it is new."""
        about = {"scene": cases.scene, "source": self.source, "versions": versions()}
        file = self.path / ABOUT
        if file.exists():
            try:
                found = json.loads(file.read_text(encoding="utf-8"))
                scene, source, had = found["scene"], found["source"], dict(found["versions"])
            except (ValueError, KeyError, TypeError) as error:
                raise WbcError(f"{file} is damaged: {error}") from None
            if scene != cases.scene:
                raise WbcError(f"{self.path} has a sweep of {scene}, not of {cases.scene}: give another folder")
            if source != self.source:
                raise WbcError(f"the file of {scene} has changed since {self.path} was begun: give another folder")
            differ = differences(about["versions"], had)  # type: ignore[arg-type]  # they are texts
            if differ:
                raise WbcError(f"{self.path} was begun with other versions: {differ}: give another folder")
            return
        begun = file.with_suffix(".new")
        begun.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        os.replace(begun, file)  # noqa: PTH105  in one piece

    def _mend(self) -> None:
        """Cuts off a last line that breaks off, and removes logs that were never finished."""
        self._file = (self.path / ROWS).open("ab", buffering=0)
        with (self.path / ROWS).open("rb") as stream:
            self._size = sum(len(text) for text in stream if text.endswith(b"\n"))
        self._file.truncate(self._size)
        for left in (self.path / LOGS).glob(f"*{PART}"):
            left.unlink()
