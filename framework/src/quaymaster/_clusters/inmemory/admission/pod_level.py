"""Resources of a pod as a whole: defaults from the resources of its containers.

Mirrors ``DefaultPodLevelResources`` (``pkg/api/pod/util.go``, Kubernetes v1.37), and
``defaultPodRequests`` and ``defaultHugePagePodLimits``
(``pkg/apis/core/v1/defaults.go``), which apply while the feature gate
``PodLevelResourcesFixDefaulting`` is off.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Container, Pod, PodSpec, ResourceRequirements
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_names import is_overcommit_allowed
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["PodLevelDefaults", "container_limits"]

_HUGE_PAGES: Final = "hugepages-"


class PodLevelDefaults:
    """Completes the resources of whole pods at the step that the version uses.

    Args:
        kubernetes: The Kubernetes version whose API server is simulated.
    """

    def __init__(self, kubernetes: Kubernetes) -> None:
        # From the version with ``PodLevelResourcesFixDefaulting`` on: defaults wait
        # until LimitRanges and webhooks have filled in the containers they are summed
        # from.
        self._come_last = kubernetes.has("pod-level-defaults")

    def before_admission(self, spec: PodSpec) -> PodSpec:
        """Return the spec before LimitRanges and runtime classes have changed it."""
        own = spec.resources
        if own is None or self._come_last:
            return spec
        own = _with_huge_page_limits(own, spec)
        # The older rule derives requests only beside limits: ``defaultPodRequests``
        # returns at once otherwise.
        if own.limits:
            own = _with_requests(own, spec)
        return replace(spec, resources=own)

    def after_admission(self, spec: PodSpec) -> PodSpec:
        """Return the spec after LimitRanges and runtime classes have changed it."""
        own = spec.resources
        if own is None or not (own.limits or own.requests) or not self._come_last:
            return spec
        own = _with_requests(_with_huge_page_limits(own, spec), spec)
        return replace(spec, resources=_with_limits(own, spec))

    def changed(self, spec: PodSpec, old: PodSpec) -> PodSpec:
        """Return the spec of an updated pod; resources that it dropped are kept."""
        if not self._come_last:
            return self.before_admission(spec)
        # An older client that does not know the field must not delete it by an update.
        if spec.resources is None and old.resources is not None:
            spec = replace(spec, resources=old.resources)
        return self.after_admission(spec)


def container_limits(spec: PodSpec) -> ResourceList:
    """Return the sum of the containers' limits, by the same rule as their requests."""

    def limiting(container: Container) -> Container:
        limits = ResourceRequirements(requests=container.resources.limits)
        return replace(container, resources=limits)

    limited = PodSpec(
        containers=tuple(map(limiting, spec.containers)),
        init_containers=tuple(map(limiting, spec.init_containers)),
    )
    return pod_request_list(Pod(spec=limited), pod_level=False, overhead=False)


def _with_huge_page_limits(
    own: ResourceRequirements, spec: PodSpec
) -> ResourceRequirements:
    if not (own.limits or own.requests):
        return own
    limits = {
        name: amount
        for name, amount in container_limits(spec).items()
        # A request for a huge page already decides its limit, since both must be equal.
        if name.startswith(_HUGE_PAGES) and name not in own.requests
    }
    return replace(own, limits={**limits, **own.limits})


def _with_requests(own: ResourceRequirements, spec: PodSpec) -> ResourceRequirements:
    """Return the resources with requests, from the containers or else the limits."""
    total = pod_request_list(Pod(spec=spec), pod_level=False, overhead=False)
    usual = {k: v for k, v in total.items() if is_overcommit_allowed(k)}
    # The later part wins: an own request, then the sum of the containers, then the
    # limit.
    requests = {**_supported(own.limits), **_supported(usual), **own.requests}
    return replace(own, requests=requests)


def _with_limits(own: ResourceRequirements, spec: PodSpec) -> ResourceRequirements:
    """Return the resources with limits for what every container limits.

    A limit is raised to the request, if that is more.
    """
    containers = (*spec.containers, *spec.init_containers)
    totals = container_limits(spec)
    limits = {
        name: max(request, totals[name])
        for name, request in _supported(own.requests).items()
        if name in totals
        and all(name in container.resources.limits for container in containers)
    }
    return replace(own, limits={**limits, **own.limits})


def _supported(amounts: Mapping[str, Quantity]) -> ResourceList:
    """Return the amounts that a pod as a whole may request."""
    return {
        name: amount
        for name, amount in amounts.items()
        if name in ("cpu", "memory") or name.startswith(_HUGE_PAGES)
    }
