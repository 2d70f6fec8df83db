"""`wbc` and `python -m wbc`: the command line, quiet from its first moment when Ctrl-C ends it."""

import sys


def main() -> None:
    """The entry point. It imports late, so that Ctrl-C during imports ends quietly."""
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
