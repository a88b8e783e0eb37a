"""The command line: ``emit`` prints our answers, ``check`` what differs."""

import sys

from tests.conformance.front import run
from tests.groups.conformance import GROUPS

if __name__ == "__main__":
    sys.exit(run(GROUPS))
