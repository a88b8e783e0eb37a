"""The arguments of NodeAffinity.

Mirrors ``NodeAffinityArgs`` (kube-scheduler 1.36.2, ``pkg/scheduler/apis/config``:
types and validation).
"""

from collections.abc import Iterable, Iterator

import attrs

from quaymaster import objects
from quaymaster.config import ArgsError
from quaymaster.errors import SelectorError
from quaymaster.objects import compile_node_selector, compile_preferred_terms

__all__ = ["NodeAffinityArgs"]


@attrs.frozen(kw_only=True)
class NodeAffinityArgs:
    """The arguments of NodeAffinity.

    Attributes:
        added_affinity: A node affinity that applies to every pod of the profile, in
            addition to the pod's own.
    """

    added_affinity: objects.NodeAffinity | None = None

    def validate(self) -> Iterator[ArgsError]:
        """Yield the errors of terms that cannot be evaluated."""
        added = self.added_affinity
        if added is None:
            return
        required = added.required_during_scheduling_ignored_during_execution
        if required is not None:
            path = "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            yield from _errors(compile_node_selector(required, path=path).problems)
        preferred = added.preferred_during_scheduling_ignored_during_execution
        path = "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
        try:
            compile_preferred_terms(preferred, path=path)
        except SelectorError as error:
            yield from _errors(error.problems)


def _errors(problems: Iterable[str]) -> Iterator[ArgsError]:
    for problem in problems:
        path, _, message = problem.partition(": ")
        yield ArgsError(path, message)
