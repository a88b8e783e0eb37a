"""Plans: what must be done for a pod's volumes on a node."""

from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster.objects import PersistentVolume, PersistentVolumeClaim

__all__ = ["NOTHING_TO_DO", "StaticBinding", "VolumePlan"]


@attrs.frozen(eq=False)
class StaticBinding:
    """A claim, and an existing volume for it.

    Attributes:
        claim: The claim.
        volume: The volume.
    """

    claim: PersistentVolumeClaim
    volume: PersistentVolume


@attrs.frozen(eq=False)
class VolumePlan:
    """The bindings and claims that a pod needs done before it can run on a node.

    Attributes:
        static: The claims that get volumes which exist.
        provision: The claims for which volumes must be made.
    """

    static: Sequence[StaticBinding] = ()
    provision: Sequence[PersistentVolumeClaim] = ()

    def __bool__(self) -> bool:
        return bool(self.static or self.provision)


NOTHING_TO_DO: Final = VolumePlan()
"""The plan for a pod whose claims are all bound."""
