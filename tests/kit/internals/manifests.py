"""What tests see of ``quaymaster._clusters.manifests``."""

from quaymaster._clusters.manifests.loaded import skipped_text
from quaymaster._clusters.manifests.texts import object_texts

__all__ = ["LARGE", "object_texts", "skipped_text"]

LARGE = "quaymaster._clusters.manifests.texts._LARGE"
"""The size in bytes from which a file is first cut into objects."""
