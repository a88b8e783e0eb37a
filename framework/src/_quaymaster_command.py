"""Where the ``quaymaster`` command begins, before anything of the package is imported.

That takes a moment, in which Ctrl-C must not end in a traceback either, or in worse:
not every library bears it that an exception comes up while it is set up.
"""

import gc
import os
import signal

__all__ = ["main"]

INTERRUPTED = 130  # 128 and SIGINT, as shells have it


def main() -> None:
    """Import the command, and run it."""
    # What a script puts into the background does not hear Ctrl-C, and is left alone.
    hears = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if hears:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    # Scheduling multiplies no matrices, and to start numpy's threads for that takes a
    # tenth of a small simulation. A value that is set already stays.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is imported stays: to look at it for garbage takes an eighth of the time.
    gc.disable()
    from quaymaster._cli import run_process  # noqa: PLC0415

    # Otherwise, the first allocation after this would start the collector.
    gc.freeze()
    gc.enable()
    if hears:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_process()
