"""What tests see of ``quaymaster._api.objects``."""

from quaymaster._api.objects import wire
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import GROUP_KINDS
from quaymaster._api.objects.pod_limits import pod_limit_list
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.resource_sums import is_pod_level_resource
from quaymaster._api.objects.volumes import UNREAD_SOURCES

__all__ = [
    "GROUP_KINDS",
    "UNREAD_SOURCES",
    "KindSet",
    "is_pod_level_resource",
    "pod_limit_list",
    "pod_request_list",
    "wire",
]
