"""What tests see of ``quaymaster._manifests``."""

from quaymaster._manifests.texts import object_texts

__all__ = ["LARGE", "object_texts"]

LARGE = "quaymaster._manifests.texts._LARGE"
"""From how many bytes on a file is cut into objects first."""
