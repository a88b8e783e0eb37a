"""What was computed of the rejections of an attempt, for attempts that end the same.

Pods that wait for a node are tried again and again. Mostly no verdict has changed, and
pods of equal size share their verdicts. To compute message, plugins and rows again took
a fifth of an attempt that failed as one before.
"""

from typing import TYPE_CHECKING

import msgspec

from quaymaster._core.state.arrays import RowArray

if TYPE_CHECKING:
    from quaymaster._core.cycle.diagnosis import Rejections

__all__ = ["Summary"]


class Summary(msgspec.Struct, eq=False):
    """What was computed of some rejections; the last of them keeps it.

    Attributes:
        before: The other rejections. The last one would be part of a cycle.
        size: The number of nodes of the attempt.
        text: The message without that of PostFilter, and its reasons; None before.
        plugins: Codes of a status -> the plugins that rejected nodes with one of them.
        rows: Codes of a status -> the rows with one of them; never written.
    """

    before: list["Rejections"]
    size: int
    text: tuple[str, tuple[str, ...]] | None = None
    plugins: dict[tuple[int, ...], frozenset[str]] = {}
    rows: dict[tuple[int, ...], RowArray] = {}

    @classmethod
    def of(cls, batches: list["Rejections"], size: int) -> "Summary":
        """Return the summary of rejections: the same one if they are the same objects.

        Args:
            batches: The rejections of an attempt; at least one.
            size: The number of nodes of the attempt.
        """
        before, summary = batches[:-1], batches[-1].summary
        # Rejections are compared by identity: caches of verdicts return the same object
        # until a verdict changes.
        if summary is None or summary.size != size or summary.before != before:
            summary = batches[-1].summary = cls(before, size)
        return summary
