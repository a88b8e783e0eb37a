"""What tests see of ``quaymaster._objects``."""

from quaymaster._objects.kind_set import KindSet
from quaymaster._objects.volumes import UNREAD_SOURCES

__all__ = ["UNREAD_SOURCES", "KindSet"]
