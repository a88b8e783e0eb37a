"""The rows of a table about pending pods: pods with the same reason share a row."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["MOST_KINDS", "pending_rows"]

MOST_KINDS: Final = 20
"""A table has so many rows about the pods that are pending after a step."""


def pending_rows(
    pods: Iterable[UnscheduledPod],
    workloads: Mapping[str, str],
    most: int | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield a pod and its message for each row.

    Args:
        pods: The pending pods.
        workloads: The key of a pod -> its workload.
        most: How many rows there may be. Pods of one workload with the same message
            then share a row, and those with the most pods come first. By default each
            pod has a row.
    """
    if most is None:
        yield from ((pod.pod, pod.message) for pod in pods)
        return
    kinds: dict[tuple[str, str], list[str]] = {}
    for pod in pods:
        kind = workloads.get(pod.pod, pod.pod), pod.message
        kinds.setdefault(kind, []).append(pod.pod)
    rows = sorted(kinds.items(), key=lambda kind: -len(kind[1]))
    for (_, message), keys in rows[:most]:
        more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
        yield f"{keys[0]}{more}", message
    rest = sum(len(keys) for _, keys in rows[most:])
    if rest:
        yield f"and {counted(rest, 'more pod')}", ""
