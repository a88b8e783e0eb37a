"""The command line: ``emit`` prints our answers, ``check`` what differs."""

import sys

from tests.conformance.front import run
from tests.upstream.conformance import UPSTREAM

if __name__ == "__main__":
    sys.exit(run(UPSTREAM))
