"""What tests see of ``quaymaster._manifests``."""

from quaymaster._manifests.texts import object_texts

__all__ = ["object_texts"]
