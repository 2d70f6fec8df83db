"""`python -m wbc`: the command line."""

from wbc.application.cli import main

main()
