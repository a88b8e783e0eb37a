"""Repeats experiments of the study: ``python run.py --help``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "src"))  # it need not be installed

from quaymaster_openb.command import main

if __name__ == "__main__":
    sys.exit(main())
