"""The Skips of plugins that look at the whole cluster, kept for the pods of a template.

Such a plugin is asked in each attempt, and mostly has nothing to do: nobody has terms
about other pods, no service leads to the pod. It says what this depends on, and is not
asked again before that changes. Without it, a decision of SchedulingBasic takes a tenth
longer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._core.contract.declarations import Revised
from quaymaster._core.contract.status import Status
from quaymaster._core.memo.recorded_answers import RecordedAnswers
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["KnownSkips"]

_NONE: Final[frozenset[str]] = frozenset()


class KnownSkips:
    """What is known of the pods of one template, until a revision changes.

    Args:
        ask: Plugin -> its ``skips_depend_on``.
        pod: One of the pods.

    Attributes:
        listened: The plugins whose Skip may be kept now.
        pre_filter: What is known of PreFilter, once it has been recorded.
        pre_score: The same of PreScore.
    """

    __slots__ = (
        "__weakref__",
        "_ask",
        "_is_stale",
        "_revisions",
        "_sources",
        "listened",
        "pre_filter",
        "pre_score",
    )

    def __init__(self, ask: Mapping[str, HookFunction], pod: Pod) -> None:
        self._ask = ask
        self.pre_filter: RecordedAnswers | None = None
        self.pre_score: RecordedAnswers | None = None
        self._revisions: list[int] = []
        self._begin(pod)

    def refresh(self, pod: Pod) -> None:
        """Forget what does not hold any more, before an attempt for one of the pods.

        Nothing is recorded in the attempt that finds a change: where something changes
        all the time, recording would cost more than it saves.
        """
        revisions = [source.revision for source in self._sources]
        if revisions != self._revisions:
            self._revisions = revisions
            self._is_stale = True
            self.listened = _NONE
            self.pre_filter = self.pre_score = None
        elif self._is_stale:
            self._begin(pod)

    def _begin(self, pod: Pod) -> None:
        sources: list[Revised] = []
        listened = []
        for plugin, ask in self._ask.items():
            said: Iterable[Revised] | Status | None = ask(pod)
            if said is not None and not isinstance(said, Status):
                listened.append(plugin)
                sources += said
        self.listened = frozenset(listened)
        self._is_stale = False
        self._sources: Sequence[Revised] = sources
        self._revisions = [source.revision for source in sources]
