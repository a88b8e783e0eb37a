"""Manifests: files with Kubernetes objects."""

from quaymaster._base.errors import ManifestErrors
from quaymaster._base.notices import Notice, NoticeReason, has_missing_pods
from quaymaster._clusters.manifests.load import load
from quaymaster._clusters.manifests.loaded import Loaded, Source
from quaymaster._clusters.manifests.shipped_mappings import shipped_mappings
from quaymaster._clusters.manifests.validation import Validation

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
