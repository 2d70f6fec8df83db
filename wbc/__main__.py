"""`wbc` and `python -m wbc`: the command line, quiet from its first moment when Ctrl-C ends it."""

import sys


def main() -> None:
    """The entry point: what it takes is imported late, so that Ctrl-C finds nothing that would complain."""
    try:
        from wbc.application.cli import main as run
        from wbc.application.commands.options import INTERRUPTED
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
