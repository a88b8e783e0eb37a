"""Runs pods through whole attempts: each is bound, waits on Permit, or is rejected."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, is_open
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.pre_binding import pre_bind
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PermitWait
from quaymaster._core.contract.status import Status

__all__ = ["copies_of", "place", "waits_until_deadline"]

_MARGIN_SECONDS: Final = 0.5
"""How long before its deadline a pod has to be released."""


def place(bench: Bench, pod: Pod) -> object:
    """Run an attempt; the pod is bound, or waits in the room of the bench.

    Args:
        bench: The plugin and its cluster, which has the pod.
        pod: The pod.

    Returns:
        The answer of the last of Reserve and Permit; a rejection without a node.

    Raises:
        HookFailedError: A hook failed.
    """
    attempt = answers(bench, pod)
    gate = attempt.pre_enqueue
    if isinstance(gate, Status) or not is_open(attempt.pre_filter):
        return _NO_NODE
    names = (info.name for info in bench.snapshot if info.name not in attempt.rejected)
    node_name = next(names, "")
    return _Placing(bench, pod, node_name).run() if node_name else _NO_NODE


def waits_until_deadline(bench: Bench, pod: Pod) -> bool:
    """Let time pass until shortly before the deadline of a pod on Permit.

    Args:
        bench: The plugin and its cluster.
        pod: The pod.

    Returns:
        Whether it waits then; False if it has been released or rejected before.
    """
    entry = bench.room.pods.get(pod.uid)
    if entry is None:
        return False
    deadline = min(timer.due for timer in entry.timers.values())
    bench.advance(max(0.0, deadline - bench.services.clock.now() - _MARGIN_SECONDS))
    return bench.room.pods.get(pod.uid) is not None


class _Placing:
    """An attempt from Reserve on.

    Args:
        bench: The plugin and its cluster.
        pod: The pod, which is not assumed yet.
        node_name: The chosen node.
    """

    def __init__(self, bench: Bench, pod: Pod, node_name: str) -> None:
        self._bench = bench
        self._state = CycleState()
        bench.filter_on(self._state, pod, node_name)
        self._pod = replace(pod, node_name=node_name)

    def run(self) -> object:
        """Run Reserve and Permit, and what follows; return the last answer."""
        bench = self._bench
        bench.snapshot.add_pod(self._pod)
        answer = self._ask("reserve")
        if answer is None:
            self._pod = bench.annotate(self._pod, self._state)
            answer = self._ask("permit")
        if isinstance(answer, Status):
            self._end(answer)
        else:
            timeouts = dict(bench.room.other_waits)
            if isinstance(answer, PermitWait):
                timeouts[bench.subject.name] = answer.timeout_seconds
            if timeouts:
                bench.room.pods.add(self._pod, timeouts, self._end)
            else:
                assert answer is None
                self._end(None)
        bench.room.settle()
        return answer

    def _ask(self, hook: str) -> object:
        bench = self._bench
        if not bench.subject.has(hook):
            return None
        return bench.ask(hook, self._state, self._pod, self._pod.node_name)

    def _end(self, status: Status | None) -> None:
        """Bind the pod, or undo the attempt."""
        bench = self._bench
        if status is None:
            status = pre_bind(bench, self._state, self._pod, self._pod.node_name)
        if status is None:
            bench.snapshot.remove_pod(self._pod)
            bench.add(self._pod)
            self._state.end_annotations()
            self._ask("post_bind")
        else:
            self._ask("unreserve")
            bench.snapshot.remove_pod(self._pod)


def copies_of(pod: Pod, count: int, namespace: str = "") -> Sequence[Pod]:
    """Return pods that differ in their names only, and have no gates.

    Args:
        pod: The pod.
        count: How many.
        namespace: Their namespace; by default that of the pod.
    """
    namespace = namespace or pod.namespace
    spec = replace(pod.spec, scheduling_gates=())
    copies = []
    for number in range(count):
        name = f"{pod.name}-copy-{number}"
        uid = make_uid(Pod, name, namespace)
        metadata = replace(pod.metadata, name=name, namespace=namespace, uid=uid)
        copies.append(replace(pod, metadata=metadata, spec=spec))
    return copies


_NO_NODE = Status.unschedulable("no node passes")
