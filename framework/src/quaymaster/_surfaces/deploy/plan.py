"""The plan of a deployment: its options, and values derived from them."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

import attrs

from quaymaster._core.config.model import SchedulerConfig
from quaymaster._surfaces.deploy.rights import Need

__all__ = ["PORT", "Plan"]

PORT: Final = 10259
"""The port of health and metrics, as for kube-scheduler."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@attrs.frozen(kw_only=True)
class Plan:
    """A deployment.

    Attributes:
        name: The name of its objects.
        namespace: Their namespace.
        image: The image of its containers.
        replicas: The number of replicas; one schedules, the others stand by.
        priority_class: The PriorityClass of its pods; empty for none.
        cpu: The CPU request of a replica.
        memory: The memory request of a replica.
        api_ports: The ports of the API server's endpoints.
        version: The version of the distribution.
        config: The complete configuration.
        document: The configuration as the content of a file.
        needs: The rights that it needs.
    """

    name: str
    namespace: str
    image: str
    replicas: int
    priority_class: str
    cpu: str
    memory: str
    api_ports: Sequence[int]
    version: str
    config: SchedulerConfig
    document: Mapping[str, object]
    needs: Sequence[Need]

    @property
    def labels(self) -> dict[str, str]:
        """The labels that select its pods, which never change."""
        return {
            "app.kubernetes.io/name": "quaymaster",
            "app.kubernetes.io/instance": self.name,
        }

    @property
    def pod_labels(self) -> dict[str, str]:
        """The labels of its pods, which another version alone does not replace."""
        return {**self.labels, "app.kubernetes.io/component": "scheduler"}

    @property
    def all_labels(self) -> dict[str, str]:
        """The labels of its objects."""
        return {
            **self.pod_labels,
            "app.kubernetes.io/version": self.version.replace("+", "_"),
        }

    @property
    def extender_ports(self) -> Sequence[int]:
        """The ports of extenders."""
        parts = [urlsplit(extender.url_prefix) for extender in self.config.extenders]
        return [url.port or _DEFAULT_PORTS[url.scheme] for url in parts]
