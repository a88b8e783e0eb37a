"""Makers of classes: of priorities, runtimes and devices."""

from collections.abc import Mapping

from quaymaster._api.objects import (
    PriorityClass,
    RuntimeClass,
    RuntimeClassOverhead,
    RuntimeClassScheduling,
    Toleration,
)
from quaymaster._authors.testing.makers.metadata import make_metadata
from quaymaster._authors.testing.shorthand import (
    Amounts,
    parse_toleration,
    to_resource_list,
)

__all__ = ["make_priority_class", "make_runtime_class"]


def make_priority_class(
    *,
    name: str = "priority",
    value: int = 0,
    global_default: bool = False,
    preemption_policy: str | None = "PreemptLowerPriority",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> PriorityClass:
    """Make a priority class, for the argument ``priority_class`` of `make_pod`.

    Args:
        name: Its name.
        value: The priority of its pods.
        global_default: Whether pods without a class get it.
        preemption_policy: ``PreemptLowerPriority``, or ``Never``: its pods evict no
            others.
        labels: Its labels.
        annotations: Its annotations.
    """
    return PriorityClass(
        metadata=make_metadata(
            PriorityClass, name=name, labels=labels, annotations=annotations
        ),
        value=value,
        global_default=global_default,
        preemption_policy=preemption_policy,
    )


def make_runtime_class(
    *,
    name: str = "runtime",
    handler: str = "runc",
    overhead: Amounts | None = None,
    node_selector: Mapping[str, str] | None = None,
    tolerations: tuple[str | Toleration, ...] = (),
) -> RuntimeClass:
    """Make a runtime class.

    Args:
        name: Its name.
        handler: The runtime of the containers of its pods.
        overhead: The resources of each of its pods, in addition to the containers.
        node_selector: The labels of the nodes that have it.
        tolerations: The tolerations of its pods, as in `make_pod`.
    """
    return RuntimeClass(
        metadata=make_metadata(RuntimeClass, name=name),
        handler=handler,
        overhead=(
            None
            if overhead is None
            else RuntimeClassOverhead(pod_fixed=to_resource_list(overhead))
        ),
        scheduling=RuntimeClassScheduling(
            node_selector=dict(node_selector or {}),
            tolerations=tuple(map(parse_toleration, tolerations)),
        ),
    )
