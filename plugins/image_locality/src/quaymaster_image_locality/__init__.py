"""Prefer nodes that already hold the pod's images."""

from quaymaster_image_locality.image_locality import ImageLocality

__all__ = ["ImageLocality"]
