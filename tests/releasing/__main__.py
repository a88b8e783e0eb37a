"""``python -m tests.releasing TAG`` prints the problems that prevent a release."""

import sys
from pathlib import Path

from tests.releasing.checks import problems

if __name__ == "__main__":
    _, tag = sys.argv
    lines = list(problems(Path(__file__).parents[2], tag))
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.exit(bool(lines))
