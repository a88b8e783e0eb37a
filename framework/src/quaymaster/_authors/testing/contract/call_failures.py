"""How the calls of a plugin fail in checks, and how long they wait for it to go on."""

from collections.abc import Mapping
from typing import Final

from quaymaster._authors.testing.faults import Fault

__all__ = ["FAILURES", "PAUSES"]

PAUSES: Final = (0, 61, 3601)
"""In seconds, before each of the next steps: a plugin may wait before it tries again.
"""

FAILURES: Final[Mapping[Fault, str]] = {
    Fault.ERROR: "has failed",
    Fault.CONFLICT: (
        "was rejected with a conflict, as if another client had changed the object "
        "just before (read it again before the next call)"
    ),
    Fault.LOST_ANSWER: "took effect, but its answer was lost",
}
"""Each failure, as the end of a sentence about a call."""
