"""Checks that the timeouts of Permit are not longer than the framework's limit."""

from collections.abc import Iterator
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import place
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.near_numbers import number_of
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS
from quaymaster._core.contract.results import PermitWait

__all__ = ["ask_long"]

_LATER_SECONDS: Final = 61

_NEAR_LIMIT: Final = (901, 7200)

_CUT: Final = (
    "labels or annotations may ask permit for a PermitWait of more than 900 s (15 "
    "minutes), but the framework rejects a waiting pod after 15 "
    "minutes: write the limit where users set the number, and use min(seconds, 900)"
)


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


def long_waits(subject: Subject, cluster: SmallCluster) -> Iterator[str]:
    """Describe waits longer than the limit for which a label or annotation asks."""
    for pod in cluster.pending:
        for number in _NEAR_LIMIT:
            changed = _with_number(pod, number)
            if changed == pod:
                break
            bench = Bench(subject, attrs.evolve(cluster, pending=(changed,)))
            try:
                seconds = _seconds(place(bench, changed))
            except HookFailedError:
                continue  # another check reports failures
            if seconds > MAX_PERMIT_TIMEOUT_SECONDS:
                yield _CUT
                return


def _with_number(pod: Pod, number: int) -> Pod:
    """Return a pod whose labels and annotations have a number in place of theirs."""
    labels, annotations = (
        {
            key: str(number) if number_of(text) is not None else text
            for key, text in texts.items()
        }
        for texts in (pod.labels, pod.annotations)
    )
    metadata = replace(pod.metadata, labels=labels, annotations=annotations)
    return replace(pod, metadata=metadata)


def _seconds(answer: object) -> float:
    return answer.timeout_seconds if isinstance(answer, PermitWait) else 0.0
