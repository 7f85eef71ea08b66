"""`python -m tieproof.integrations.ir_measures`: the command line of ir_measures, which then knows the provider."""

import sys
from typing import NoReturn

from ir_measures.__main__ import main_cli

from tieproof.errors import TieproofError
from tieproof.integrations.ir_measures.bounded import MEASURES
from tieproof.views.printable import in_one_line


def main() -> None:
    """Run it; what is wrong is one line on standard error, and the status 2."""
    try:
        main_cli()
    except (TieproofError, OSError) as error:
        fail(error)
    except ValueError as error:  # of ir_measures, most often where a line of a file has other columns
        fail(
            f"ir_measures stopped: {error}. It reads lines 'query 0 document grade' of judgments, and lines 'query "
            "Q0 document rank score name' of a run."
        )
    except (AssertionError, KeyError) as error:  # of ir_measures, where a measure has no such parameter
        fail(f"ir_measures does not take this measure: {error}. A bound is a parameter of {', '.join(MEASURES)}.")


def fail(message: object) -> NoReturn:
    """Say what is wrong, and stop."""
    print(f"Error: {in_one_line(message)}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
