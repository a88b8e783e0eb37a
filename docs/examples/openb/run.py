"""Repeats experiments of the study: ``python run.py --help``."""

import gc
import sys
from pathlib import Path

# Python looks for cyclic garbage after 700 new objects, which is a tenth of a run. Set
# before the imports, of which nothing is garbage.
gc.set_threshold(10_000, 10, 10)
sys.path.insert(0, str(Path(__file__).parent / "src"))  # it need not be installed

from quaymaster_openb.command import main  # noqa: E402 - it was not on the path before

if __name__ == "__main__":
    code = main()
    gc.freeze()  # avoids a last collection at exit
    sys.exit(code)
