"""Compares two instances of a plugin: their verdicts, scores and sort keys."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, difference
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod

__all__ = ["Difference", "differences"]

Difference: TypeAlias = tuple[str, str]
"""A hook, and how its answer differs."""


def differences(
    bench: Bench, renewed: Bench, pods: Sequence[Pod]
) -> Mapping[str, Difference]:
    """Return the pods for which an instance differs from another, and how.

    Args:
        bench: The instance.
        renewed: The other instance.
        pods: The pods that wait.
    """
    found: dict[str, Difference] = {}
    for pod in pods:
        changed = difference(answers(bench, pod), answers(renewed, pod))
        if changed is not None:
            found[pod.key] = (changed.hook, str(changed))
        elif bench.subject.has("queue_sort"):
            queued = make_queued_pod(pod)
            # Any: every comparable object can be a key.
            key, expected = (
                cast(Any, each.ask("queue_sort", queued)) for each in (bench, renewed)
            )
            if not _is_same(key, expected):
                found[pod.key] = ("queue_sort", f"{key!r}, expected {expected!r}")
    return found


def _is_same(key: Any, expected: Any) -> bool:  # noqa: ANN401 - as any key
    """Return whether keys are equal, but for the rounding of sums."""
    if isinstance(key, tuple) and isinstance(expected, tuple):
        pairs = zip(key, expected, strict=False)
        return len(key) == len(expected) and all(_is_same(*pair) for pair in pairs)
    if isinstance(key, float) and isinstance(expected, float):
        return math.isclose(key, expected, rel_tol=1e-6, abs_tol=1e-6)
    # Parts of tuples that are equal, such as None, need no order.
    return bool(key == expected) or not (key < expected or expected < key)
