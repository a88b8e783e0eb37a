"""Repeats experiments of RLScheduler's study: ``python run.py --help``."""

import gc
import sys
from pathlib import Path

# Python looks for cyclic garbage after 700 new objects, which takes a part of each run.
# Set before the imports, of which nothing is garbage.
gc.set_threshold(10_000, 10, 10)
sys.path.insert(0, str(Path(__file__).parent / "src"))  # it need not be installed

from quaymaster_order.rlscheduler.command import main  # noqa: E402 - as above

if __name__ == "__main__":
    sys.exit(main())
