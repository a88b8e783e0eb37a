"""Runtime classes.

Mirrors k8s.io/api v0.36, ``node/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.affinity import Toleration
from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.quantity import Quantity

__all__ = ["RuntimeClass", "RuntimeClassOverhead", "RuntimeClassScheduling"]


class RuntimeClassOverhead(ApiValue, frozen=True, kw_only=True):
    """The resources that the class adds to each pod (upstream: ``Overhead``)."""

    pod_fixed: dict[str, Quantity] = {}


class RuntimeClassScheduling(ApiValue, frozen=True, kw_only=True):
    """The nodes that support the class (upstream: ``Scheduling``)."""

    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(ApiObject, frozen=True, kw_only=True):
    """A way to run containers, such as in virtual machines.

    Attributes:
        handler: Its name in the configuration of nodes.
    """

    api_version: ClassVar[str] = "node.k8s.io/v1"
    kind: ClassVar[str] = "RuntimeClass"
    namespaced: ClassVar[bool] = False

    handler: str = ""
    overhead: RuntimeClassOverhead | None = None
    scheduling: RuntimeClassScheduling | None = None
