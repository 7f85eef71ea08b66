"""`python -m tieproof`: the command line."""

from tieproof.cli import main

main()
