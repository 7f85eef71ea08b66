"""A judgment in a separate process, whose system waits at its third batch until a file exists."""

import sys
from pathlib import Path

from tieproof.trials.judge import judge

WAITING = """
import time
folder = sys.argv[2]
open(os.path.join(folder, f"asked-{os.getpid()}"), "w").close()
while len(os.listdir(folder)) == 3 and not os.path.exists(os.path.join(folder, "go")):
    time.sleep(0.01)
"""


def main() -> None:
    """Judge without a seal, so that the system can be watched by its folder."""
    competition, system, out = sys.argv[1:]
    judge(competition, system, name="ours", out=Path(out), seal="none")


if __name__ == "__main__":
    main()
