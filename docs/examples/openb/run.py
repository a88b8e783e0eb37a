"""Repeats experiments of the study: ``python run.py --help``."""

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "src"))  # it need not be installed

from quaymaster_openb.command import main

if __name__ == "__main__":
    # Python looks for cyclic garbage after 700 new objects, which is a tenth of a run;
    # and at the end once more, which nobody needs.
    gc.set_threshold(10_000, 10, 10)
    code = main()
    gc.freeze()
    sys.exit(code)
