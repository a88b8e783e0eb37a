"""Keep a pod off volumes that it must not share with other pods."""

from quaymaster_volume_restrictions.volume_restrictions import VolumeRestrictions

__all__ = ["VolumeRestrictions"]
