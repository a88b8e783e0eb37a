"""The command line: ``emit`` prints our answers, ``check`` what differs."""

import sys

from tests.admission.conformance import ADMISSION
from tests.conformance.front import run

if __name__ == "__main__":
    sys.exit(run(ADMISSION))
