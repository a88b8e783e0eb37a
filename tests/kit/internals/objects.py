"""What tests see of ``quaymaster._api.objects``."""

from quaymaster._api.objects import wire
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.kinds import GROUP_KINDS
from quaymaster._api.objects.volumes import UNREAD_SOURCES

__all__ = ["GROUP_KINDS", "UNREAD_SOURCES", "KindSet", "wire"]
