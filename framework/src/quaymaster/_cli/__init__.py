"""The ``quaymaster`` command."""

import sys

from quaymaster._cli.app import app
from quaymaster.errors import QuaymasterError

__all__ = ["main"]

BAD_INPUT = 2


def main() -> None:
    """Run the command; mistakes in the user's input end it with exit code 2."""
    try:
        app(prog_name="quaymaster")
    except QuaymasterError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(BAD_INPUT)
