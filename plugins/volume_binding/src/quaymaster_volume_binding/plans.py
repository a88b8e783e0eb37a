"""Plans: the bindings and provisioned volumes that a pod needs on a node."""

from collections.abc import Sequence
from typing import Final

import msgspec

from quaymaster.objects import PersistentVolume, PersistentVolumeClaim

__all__ = ["NOTHING_TO_DO", "StaticBinding", "VolumePlan"]


class StaticBinding(msgspec.Struct, frozen=True, eq=False):
    """A claim, and an existing volume for it.

    Attributes:
        claim: The claim.
        volume: The volume.
    """

    claim: PersistentVolumeClaim
    volume: PersistentVolume


class VolumePlan(msgspec.Struct, frozen=True, eq=False):
    """The bindings and claims that must be written before a pod can run on a node.

    Attributes:
        static: The claims that get existing volumes.
        provision: The claims whose volumes must be provisioned.
    """

    static: Sequence[StaticBinding] = ()
    provision: Sequence[PersistentVolumeClaim] = ()

    def __bool__(self) -> bool:
        return bool(self.static or self.provision)


NOTHING_TO_DO: Final = VolumePlan()
"""The plan for a pod whose claims are all bound."""
