"""What tests see of ``quaymaster._clusters.manifests``."""

from quaymaster._clusters.manifests.texts import object_texts

__all__ = ["LARGE", "object_texts"]

LARGE = "quaymaster._clusters.manifests.texts._LARGE"
"""The size in bytes from which a file is first cut into objects."""
