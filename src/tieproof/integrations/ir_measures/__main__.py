"""`python -m tieproof.integrations.ir_measures`: the command line of ir_measures with the provider of tieproof."""

import sys
from typing import NoReturn

from ir_measures.__main__ import main_cli

from tieproof.errors import TieproofError
from tieproof.integrations.ir_measures.bounded import ALL
from tieproof.kit import in_one_line


def main() -> None:
    """Run the command line; an error is one line on standard error with exit status 2."""
    try:
        main_cli()
    except (TieproofError, OSError) as error:
        fail(error)
    except ValueError as error:  # from ir_measures, most often because a line of a file has other columns
        fail(
            f"ir_measures stopped: {error}. It reads judgments as lines 'query 0 document grade', and a run as lines "
            "'query Q0 document rank score name'."
        )
    except (AssertionError, KeyError) as error:  # from ir_measures, if a measure has no such parameter
        fail(f"ir_measures does not accept this measure: {error}. These have the bound: {', '.join(ALL)}.")


def fail(message: object) -> NoReturn:
    """Print the error and exit."""
    print(f"Error: {in_one_line(message)}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
