"""The controllers of devices: of their claims, and of taints that evict pods.

`Controllers` imports this module for the first claim or device: its imports take 2 ms
of a small simulation.
"""

from collections.abc import Callable
from typing import Any, Final

from quaymaster._api.objects import (
    ApiObject,
    DeviceTaintRule,
    Pod,
    PodGroup,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.device_claims import (
    DeviceClaimController,
)
from quaymaster._clusters.inmemory.controllers.device_evictions import (
    DeviceEvictionController,
)
from quaymaster._clusters.inmemory.controllers.repeated_evictions import (
    RepeatedEvictions,
)

__all__ = ["DeviceControllers"]


class DeviceControllers:
    """The controllers of the devices of one cluster.

    Args:
        cluster: The cluster.
        repeats: Counts the evictions by taints.
        mark: Marks an object: its controller is to sync it.

    Attributes:
        handlers: The function for each kind that handles a change of an object.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        repeats: RepeatedEvictions,
        mark: Callable[[type[ApiObject], str], None],
    ) -> None:
        self._claims = DeviceClaimController(cluster, mark)
        self._evictions = DeviceEvictionController(cluster, repeats)
        self.handlers: Final[dict[type[ApiObject], Callable[[Any, Any], None]]] = {
            ResourceClaim: self._claim_changed,
            ResourceSlice: self._evictions.slice_changed,
            DeviceTaintRule: self._evictions.rule_changed,
            ResourceClaimTemplate: self._claims.template_changed,
        }

    def keep(self, claim: ResourceClaim) -> None:
        """Keep the consumers of a claim that is about to be loaded."""
        self._claims.keep(claim)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created (no old), changed, or removed (no new)."""
        pod = old if new is None else new
        if pod is None:
            return
        # Asked before each call: of 50,000 pods without devices, none should cost more
        # than this.
        if self._claims.concerns(pod):
            self._claims.pod_changed(old, new)
        if self._evictions.concerns(pod):
            self._evictions.pod_changed(old, new)

    def sync_pod(self, pod: Pod) -> None:
        """Create the missing claims of a pod; reserve its claims if it has a node."""
        self._claims.sync_pod(pod)

    def group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """Handle a group that was created (no old), changed, or removed (no new)."""
        self._claims.group_changed(old, new)

    def sync_group(self, group: PodGroup) -> None:
        """Create the missing claims of a group."""
        self._claims.sync_group(group)

    def sync_claim(self, claim: ResourceClaim) -> None:
        """Remove gone consumers of a claim; free or remove the claim if none remain."""
        self._claims.sync_claim(claim)

    def _claim_changed(
        self, old: ResourceClaim | None, new: ResourceClaim | None
    ) -> None:
        self._claims.claim_changed(old, new)
        self._evictions.claim_changed(old, new)
