"""The memo: what plugins said of earlier pods of the same signature.

Nothing in here is a rule. `remember` puts it around the stations of an `Algorithm`,
which finds the same nodes without it, only more slowly.
"""

from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.memo.filters import RememberedFilters
from quaymaster._core.memo.recheck import Recheck
from quaymaster._core.memo.scores import RememberedScores
from quaymaster._core.memo.signatures import Signatures

__all__ = ["Recheck", "Signatures", "remember"]


def remember(plain: Algorithm, signatures: Signatures) -> Algorithm:
    """Return the same algorithm, which asks plugins only what the memo does not have.

    Args:
        plain: The algorithm; it goes on as it is.
        signatures: Takes what is remembered; of the same profile and nodes.
    """
    filters = RememberedFilters(plain.filter, plain.nominated, signatures)
    return plain.with_stations(filters, RememberedScores(plain.score, signatures))
