"""What it takes to start: `import wbc`, `import wbc, tasks` beside numpy and scipy, and `wbc --help`.

usage: python -m benchmarks.cold_start

Each line is the median of processes that are started in turn, in seconds of CPU time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

WORDS = {
    "import numpy, scipy.linalg": "import numpy, scipy.linalg",
    "import wbc": "import wbc",
    "import wbc, tasks": "import wbc, tasks",
    "wbc --help": "import sys; sys.argv = ['wbc', '--help']; from wbc.__main__ import main; main()",
}
"""What stands in a line, and the statement that it takes."""
TURNS = 11


def seconds(statement: str) -> float:
    """CPU time that a fresh interpreter takes for a statement, with its own start, s."""
    code = (
        f"import atexit, sys, time\natexit.register(lambda: print(time.process_time(), file=sys.stderr))\n{statement}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return float(done.stderr.split()[-1])


def main() -> None:
    """Prints the table."""
    bare = [seconds("pass") for _ in range(TURNS)]
    taken = [{word: seconds(statement) for word, statement in WORDS.items()} for _ in range(TURNS)]
    first = next(iter(WORDS))
    print(f"an interpreter that does nothing: {statistics.median(bare):.3f} s")
    for word in WORDS:
        ratio = statistics.median(turn[word] / turn[first] for turn in taken)
        print(f"{word:<28}{statistics.median(turn[word] for turn in taken):.3f} s   {ratio:.2f} x the first line")


if __name__ == "__main__":
    main()
