"""Checks that the timeouts of Permit are not longer than the framework's limit."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import place
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS
from quaymaster._core.contract.results import PermitWait

__all__ = ["ask_long"]

_LATER_SECONDS: Final = 61


def ask_long(subject: Subject, cluster: SmallCluster, pod: Pod, answer: object) -> None:
    """Check the answer of Permit for a pod.

    A wait until a fixed time may be too long at first. Its timeout is shorter later.

    Raises:
        Finding: The timeout is constant, and longer than the limit.
    """
    seconds = _seconds(answer)
    if seconds <= MAX_PERMIT_TIMEOUT_SECONDS:
        return
    bench = Bench(subject, cluster)
    bench.advance(_LATER_SECONDS)
    if _seconds(place(bench, pod)) != seconds:
        return
    text = (
        f"returned a PermitWait of {seconds:,g} s, but the framework rejects a pod "
        f"after at most {MAX_PERMIT_TIMEOUT_SECONDS:g} s (15 minutes): "
        "timeout_seconds is in seconds, and a pod that waits longer has to try again"
    )
    fail("permit", text, pod)


def _seconds(answer: object) -> float:
    return answer.timeout_seconds if isinstance(answer, PermitWait) else 0.0
