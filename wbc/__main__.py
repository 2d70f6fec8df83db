"""`python -m wbc`: the command line."""

from wbc.cli import main

main()
