"""The memo: cached answers of plugins, shared by pods with the same signature.

This package contains no scheduling rules. `remember` wraps the stations of an
`Algorithm`, which finds the same nodes without the memo, only more slowly.
"""

from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.memo.filters import RememberedFilters
from quaymaster._core.memo.recheck import Recheck
from quaymaster._core.memo.scores import RememberedScores
from quaymaster._core.memo.signatures import Signatures

__all__ = ["Recheck", "Signatures", "remember"]


def remember(plain: Algorithm, signatures: Signatures) -> Algorithm:
    """Return the same algorithm, which calls plugins only for answers not cached.

    Args:
        plain: The algorithm; it is not changed.
        signatures: Stores the memos; it must be of the same profile and nodes.
    """
    filters = RememberedFilters(plain.filter, plain.nominated, signatures)
    return plain.with_stations(filters, RememberedScores(plain.score, signatures))
