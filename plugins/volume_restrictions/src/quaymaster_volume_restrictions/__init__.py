"""Keep a pod away from volumes that others must not share."""

from quaymaster_volume_restrictions.volume_restrictions import VolumeRestrictions

__all__ = ["VolumeRestrictions"]
