"""Memos that several signatures share, because some of their fragments are equal.

A plugin's answer about a node depends on the fragment that this plugin signed. If it
does not depend on the pods on the node, it stays valid for long. Without sharing,
computing such answers for 5,000 nodes is a seventh of a signature's first decision.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias
from weakref import WeakValueDictionary

from quaymaster._core.cycle.filter_call import FilterCall
from quaymaster._core.cycle.score_call import ScoreCall
from quaymaster._core.memo.filter_memo import FilterMemo
from quaymaster._core.memo.static_scores import StaticScores

__all__ = ["Fragments", "SharedMemos"]

Fragments: TypeAlias = Mapping[str, Hashable]
"""Plugin -> the fragment that it signed."""

_Key: TypeAlias = tuple[tuple[str, Hashable], ...]


class SharedMemos:
    """Verdicts and scores of plugins that look at nodes only, for one profile.

    A memo is kept as long as some signature uses it.
    """

    def __init__(self) -> None:
        self._filters: WeakValueDictionary[_Key, FilterMemo] = WeakValueDictionary()
        self._scores: WeakValueDictionary[_Key, StaticScores] = WeakValueDictionary()

    def filter_memo(
        self, fragments: Fragments, calls: Sequence[FilterCall]
    ) -> FilterMemo:
        """Return the memo of some filters; a new one if they look at pods on nodes.

        Args:
            fragments: The fragments of the signature.
            calls: The filters; either all look at the pods on a node, or none does.
        """
        memo = FilterMemo(calls)
        if not memo.is_static:
            return memo
        return self._filters.setdefault(_key(fragments, calls), memo)

    def static_scores(
        self,
        fragments: Fragments,
        calls: Sequence[ScoreCall],
        filters: Sequence[FilterMemo],
    ) -> StaticScores:
        """Return the scores of some plugins.

        Args:
            fragments: The fragments of the signature.
            calls: The plugins; none looks at the pods on a node.
            filters: The filters of the signature; only the static ones are used.
        """
        static = [memo for memo in filters if memo.is_static]
        judges = [call for memo in static for call in memo.calls]
        key = _key(fragments, [*judges, *calls])
        return self._scores.setdefault(key, StaticScores(calls, static))


def _key(fragments: Fragments, calls: Sequence[FilterCall | ScoreCall]) -> _Key:
    return tuple((call.plugin, fragments[call.plugin]) for call in calls)
