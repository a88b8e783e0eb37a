"""Cached Skips of plugins that look at the whole cluster, for the pods of a template.

Mostly such a plugin has nothing to do: no pod has terms about other pods, no service
selects the pod. Its hook `skips_depend_on` names the data that this depends on. The
plugin is not called again until a revision of that data changes. Without this cache, a
decision of SchedulingBasic takes a tenth longer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._core.contract.declarations import Revised
from quaymaster._core.contract.status import Status
from quaymaster._core.memo.recorded_answers import RecordedAnswers
from quaymaster._core.runtime.profile import HookFunction

__all__ = ["CachedSkips"]

_NONE: Final[frozenset[str]] = frozenset()


class CachedSkips:
    """The cached Skips for the pods of one template, until a revision changes.

    Args:
        hooks: Plugin -> its ``skips_depend_on``.
        pod: A pod of the template.

    Attributes:
        cacheable: The plugins whose Skip may be cached now.
        sources: The data on which these depend.
        pre_filter: The recorded answers of PreFilter; None before they are recorded.
        pre_score: The recorded answers of PreScore; None before they are recorded.
    """

    __slots__ = (
        "__weakref__",
        "_hooks",
        "_is_stale",
        "_revisions",
        "cacheable",
        "pre_filter",
        "pre_score",
        "sources",
    )

    def __init__(self, hooks: Mapping[str, HookFunction], pod: Pod) -> None:
        self._hooks = hooks
        self.pre_filter: RecordedAnswers | None = None
        self.pre_score: RecordedAnswers | None = None
        self._revisions: list[int] = []
        self._begin(pod)

    def refresh(self, pod: Pod) -> None:
        """Drop the answers if a revision has changed, before an attempt for a pod.

        The attempt that notices a change records nothing: where data change all the
        time, recording would cost more than it saves.
        """
        revisions = [source.revision for source in self.sources]
        if revisions != self._revisions:
            self._revisions = revisions
            self._is_stale = True
            self.cacheable = _NONE
            self.pre_filter = self.pre_score = None
        elif self._is_stale:
            self._begin(pod)

    def _begin(self, pod: Pod) -> None:
        sources: list[Revised] = []
        cacheable = []
        for plugin, hook in self._hooks.items():
            data: Iterable[Revised] | Status | None = hook(pod)
            if data is not None and not isinstance(data, Status):
                cacheable.append(plugin)
                sources += data
        self.cacheable = frozenset(cacheable)
        self._is_stale = False
        self.sources: Sequence[Revised] = sources
        self._revisions = [source.revision for source in sources]
