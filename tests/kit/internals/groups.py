"""What tests see of groups, and the feature gates that users cannot switch on yet."""

from collections.abc import Iterator

from quaymaster._base.versions.kubernetes import RELEASES, Kubernetes
from quaymaster._clusters.inmemory.admission.field_errors import object_name
from quaymaster._clusters.inmemory.controllers.group_protection import (
    is_held,
    users_of,
    without_protection,
)
from quaymaster._core.groups.validation import GroupRules

__all__ = [
    "GroupRules",
    "is_held",
    "kubernetes_with_groups",
    "long_name_problems",
    "users_of",
    "without_protection",
]


class _WithGroups(Kubernetes):
    """A Kubernetes whose gates are not checked, but for their names."""

    def __attrs_post_init__(self) -> None:
        unknown = self.feature_gates.keys() - RELEASES[self.version].feature_gates
        assert not unknown, f"no such feature gates: {sorted(unknown)}"


def kubernetes_with_groups(**gates: bool) -> Kubernetes:
    """Return Kubernetes 1.37 with GenericWorkload, and more gates.

    Args:
        gates: More gates, such as ``TopologyAwareWorkloadScheduling=True``.
    """
    return _WithGroups("1.37", {"GenericWorkload": True, **gates})


def long_name_problems(name: str) -> Iterator[str]:
    """Yield what an API server says about the name of an object."""
    return object_name(name)
