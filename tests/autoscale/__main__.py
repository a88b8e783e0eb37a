"""The command line: ``emit`` prints our answers, ``check`` what differs."""

import sys

from tests.autoscale.conformance import AUTOSCALE
from tests.conformance.front import run

if __name__ == "__main__":
    sys.exit(run(AUTOSCALE))
