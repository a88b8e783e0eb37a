"""Keep a pod in the zones of its volumes."""

from quaymaster_volume_zone.volume_zone import VolumeZone

__all__ = ["VolumeZone"]
