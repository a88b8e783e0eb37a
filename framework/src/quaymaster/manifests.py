"""Manifests: files of objects, as people and servers write them."""

from quaymaster._errors import ManifestErrors
from quaymaster._manifests.custom_kinds import shipped_mappings
from quaymaster._manifests.load import load
from quaymaster._manifests.loaded import Loaded, Source
from quaymaster._manifests.validation import Validation
from quaymaster._notices import Notice, NoticeReason, has_missing_pods

__all__ = [
    "Loaded",
    "ManifestErrors",
    "Notice",
    "NoticeReason",
    "Source",
    "Validation",
    "has_missing_pods",
    "load",
    "shipped_mappings",
]
