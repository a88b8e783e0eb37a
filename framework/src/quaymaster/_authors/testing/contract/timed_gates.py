"""A check: a gate that opens with the time wakes the pods that it holds back."""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check
from quaymaster._authors.testing.contract.days import TimeRule, ask_days
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["TIMED_GATES"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    ask_days(subject, cluster, _RULE)


def _attempt(bench: Bench, pod: Pod) -> Mapping[str, str]:
    """Return that the gate is closed to a pod, if it is."""
    is_closed = bench.ask("pre_enqueue", pod) is not None
    return {"": "pre_enqueue"} if is_closed else {}


_RULE: Final = TimeRule(
    attempt=_attempt,
    backoff_seconds=0.0,
    advice=(
        "without an event, its gate is asked again by the flush after five minutes, "
        "and with opens_gates_itself or Kubernetes 1.36 never: for each pod that it "
        "holds back, set a timer that calls Handle.changed or Handle.activate when its "
        "gate opens"
    ),
)

TIMED_GATES: Final = Check(
    name="timed gates",
    promise="a gate that opens with the time wakes the pods that it holds back",
    ask=_ask,
    hooks=frozenset({"pre_enqueue"}),
    # only_for=opens_gates_itself,
)
