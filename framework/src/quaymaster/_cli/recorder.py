"""What records the output of a context.

What prints asks here whether its output is recorded. The types of recorded output stay
in `recorded_output`, which takes longer to import: ``--help`` does without.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from quaymaster._cli.recorded_output import RecordedOutput

__all__ = ["RECORDER", "recorder"]

# A context variable, because the functions that print have no argument for it: each
# thread and each task records its own output.
RECORDER: Final[ContextVar["RecordedOutput | None"]] = ContextVar(
    "recorder", default=None
)


def recorder() -> "RecordedOutput | None":
    """Return what records the output of this context; None if it is printed."""
    return RECORDER.get()
