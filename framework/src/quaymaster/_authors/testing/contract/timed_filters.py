"""A check: a filter whose verdict changes with the time wakes the pods it rejects."""

from collections.abc import Collection, Mapping
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import verdicts_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check
from quaymaster._authors.testing.contract.days import TimeRule, ask_days
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PreFilterResult
from quaymaster._core.contract.status import Status

__all__ = ["TIMED_FILTERS"]

_BACKOFF_SECONDS: Final = 10.0
"""The longest backoff of an attempt."""

_ADVICE: Final = (
    "a rejected pod is tried again after an event, and without one only by the flush "
    "after five minutes: for each rejection that the time ends, also of a pod that "
    "comes later, set a timer: handle.clock.call_at(end, handle.changed)"
)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for hook in ("filter", "filter_nodes"):
        rule = TimeRule(
            attempt=_Attempt(hook), backoff_seconds=_BACKOFF_SECONDS, advice=_ADVICE
        )
        ask_days(subject, cluster, rule)
        if not subject.has("filter_nodes"):
            return


@attrs.frozen
class _Attempt:
    """An attempt up to Filter.

    Attributes:
        hook: The hook that filters: the twin, or the scalar one.
    """

    hook: str

    def __call__(self, bench: Bench, pod: Pod) -> Mapping[str, str]:
        """Return the nodes that are closed to a pod -> the hook that closes them."""
        names = [info.name for info in bench.snapshot]
        if (
            bench.subject.has("pre_enqueue")
            and bench.ask("pre_enqueue", pod) is not None
        ):
            return dict.fromkeys(names, "pre_enqueue")
        state = CycleState()
        prepared = bench.pre_filter(state, pod)
        if isinstance(prepared, Status):
            # A pod is tried again after an error.
            is_closed = prepared.is_rejected
            return dict.fromkeys(names, "pre_filter") if is_closed else {}
        closed = {}
        if isinstance(prepared, PreFilterResult):
            # The other nodes are not filtered.
            left = prepared.node_names
            closed = {name: "pre_filter" for name in names if name not in left}
            names = [name for name in names if name in left]
        rejected = self._rejected(bench, state, pod, names)
        return {**closed, **dict.fromkeys(rejected, self.hook)}

    def _rejected(
        self, bench: Bench, state: CycleState, pod: Pod, names: list[str]
    ) -> Collection[str]:
        """Return the nodes that the hook rejects."""
        if not names or not bench.subject.has(self.hook):
            return ()
        if self.hook == "filter":
            return {
                name
                for name in names
                if _is_rejected(
                    bench.ask("filter", state, pod, bench.snapshot.get(name))
                )
            }
        nodes, rows = bench.snapshot.nodes, bench.rows_of(names)
        answer = bench.ask("filter_nodes", state, pod, nodes, rows)
        verdicts = verdicts_of(answer, nodes.names_at(rows))
        return [name for name, status in verdicts.items() if _is_rejected(status)]


def _has_no_post_filter(plugin: type) -> bool:
    # It may set the timers of its filter.
    return not hasattr(plugin, "post_filter")


def _is_rejected(answer: object) -> bool:
    return isinstance(answer, Status) and answer.is_rejected


TIMED_FILTERS: Final = Check(
    name="timed filters",
    promise="a filter whose verdict ends with the time wakes the pods that it rejects",
    ask=_ask,
    hooks=frozenset({"pre_filter", "filter"}),
    only_for=_has_no_post_filter,
)
