"""The arguments of NodeResourcesBalancedAllocation.

Mirrors ``NodeResourcesBalancedAllocationArgs`` (kube-scheduler 1.36.2,
``pkg/scheduler/apis/config``: types, defaults and validation).
"""

from collections.abc import Iterator
from typing import Final

import attrs

from quaymaster.config import ZERO_MEANS_DEFAULT, ArgsError, integer

__all__ = ["NodeResourcesBalancedAllocationArgs", "ResourceSpec"]


@attrs.frozen(kw_only=True)
class ResourceSpec:
    """A resource to balance.

    Attributes:
        name: The name in a pod's requests.
        weight: Always 1, because all resources count equally.
    """

    name: str
    weight: int = attrs.field(
        default=1, validator=integer(1, 1), metadata=ZERO_MEANS_DEFAULT
    )


DEFAULT_RESOURCES: Final = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


@attrs.frozen(kw_only=True)
class NodeResourcesBalancedAllocationArgs:
    """The arguments of NodeResourcesBalancedAllocation.

    Attributes:
        resources: The resources to balance.
    """

    resources: tuple[ResourceSpec, ...] = attrs.field(
        default=DEFAULT_RESOURCES, metadata=ZERO_MEANS_DEFAULT
    )

    def validate(self) -> Iterator[ArgsError]:
        """Yield the errors of resources that are listed twice."""
        seen = set()
        for index, resource in enumerate(self.resources):
            if resource.name in seen:
                path = f"resources[{index}].name"
                yield ArgsError(path, f"{resource.name!r} is listed already")
            seen.add(resource.name)
