"""The command line: ``emit`` prints our answers, ``check`` what differs."""

import sys

from tests.conformance.front import run
from tests.world.conformance import WORLD

if __name__ == "__main__":
    sys.exit(run(WORLD))
