"""The parts of a pod's request for one resource, by container.

The sum of the parts is the request. Mirrors ``PodRequests`` (Kubernetes v1.37,
``component-helpers/resource/helpers.go``).
"""

from collections.abc import Sequence
from typing import TypeAlias

from quaymaster import Pod
from quaymaster.objects import PodSpec, Quantity

__all__ = ["Part", "request_parts"]

Part: TypeAlias = tuple[str, Quantity]
"""The name of what requests a part, such as ``sidecar proxy``, and the amount."""

_ZERO = Quantity(0)


def request_parts(pod: Pod, resource: str) -> Sequence[Part]:
    """Return the parts of a pod's request; parts of 0 are left out.

    Containers and sidecars run side by side. If an init container, with the sidecars
    that started before it, needs more than they do, the parts are those of that moment.

    Args:
        pod: The pod, before it has a node.
        resource: The name of the resource.
    """
    spec = pod.spec
    parts = _of_whole_pod(spec, resource) or _of_containers(spec, resource)
    overhead = ("overhead", spec.overhead.get(resource, _ZERO))
    return [(name, amount) for name, amount in (*parts, overhead) if amount]


def _of_whole_pod(spec: PodSpec, resource: str) -> Sequence[Part]:
    """Return the request of the pod as a whole, which replaces its containers'."""
    is_allowed = resource in ("cpu", "memory") or resource.startswith("hugepages-")
    if spec.resources is None or not is_allowed:
        return ()
    amount = spec.resources.requests.get(resource)
    return () if amount is None else [("pod level", amount)]


def _of_containers(spec: PodSpec, resource: str) -> Sequence[Part]:
    beginning: Sequence[Part] = ()
    sidecars: list[Part] = []
    for container in spec.init_containers:
        amount = container.resources.requests.get(resource, _ZERO)
        if container.is_sidecar:
            sidecars.append((f"sidecar {container.name}", amount))
            moment = sidecars
        else:
            moment = [(f"init container {container.name}", amount), *sidecars]
        if _total(moment) > _total(beginning):
            beginning = list(moment)
    running = [
        (container.name, container.resources.requests.get(resource, _ZERO))
        for container in spec.containers
    ]
    running += sidecars
    return beginning if _total(beginning) > _total(running) else running


def _total(parts: Sequence[Part]) -> Quantity:
    return sum((amount for _, amount in parts), start=_ZERO)
