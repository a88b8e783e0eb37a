"""What a deployment is to be like: what the options say, and what follows."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

import attrs

from quaymaster._core.config.model import SchedulerConfig
from quaymaster._surfaces.deploy.rights import Need

__all__ = ["PORT", "Plan"]

PORT: Final = 10259
"""Where health and metrics are served, as kube-scheduler has it."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@attrs.frozen(kw_only=True)
class Plan:
    """A deployment.

    Attributes:
        name: The name of its objects.
        namespace: Where they are.
        image: The image of its containers.
        replicas: How many there are; one works, the others stand by.
        priority_class: The PriorityClass of its pods; empty for none.
        cpu: The CPU that a replica asks for.
        memory: The memory that a replica asks for.
        api_ports: The ports of the API server, as its endpoints have them.
        version: The version of the distribution.
        config: The configuration, complete.
        document: The same as a file has it.
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
        """What its pods are known by; never changes."""
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
        parts = [urlsplit(one.url_prefix) for one in self.config.extenders]
        return [one.port or _DEFAULT_PORTS[one.scheme] for one in parts]
