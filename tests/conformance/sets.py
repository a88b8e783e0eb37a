"""All recorded sets."""

from collections.abc import Mapping
from typing import Any, Final

from tests.admission.conformance import ADMISSION
from tests.autoscale.conformance import AUTOSCALE
from tests.conformance.recorded_set import RecordedSet
from tests.groups.conformance import GROUPS
from tests.parity.conformance import DECISIONS, DEVICES
from tests.queue.conformance import QUEUE
from tests.upstream.conformance import UPSTREAM
from tests.world.conformance import WORLD

__all__ = ["NOT_PLAYED", "SETS"]

SETS: Final[Mapping[str, RecordedSet[Any]]] = {
    recorded.name: recorded
    for recorded in (
        DECISIONS,
        DEVICES,
        QUEUE,
        ADMISSION,
        WORLD,
        UPSTREAM,
        GROUPS,
        AUTOSCALE,
    )
}
"""Name -> the set."""

NOT_PLAYED: Final[Mapping[str, str]] = {
    "karpenter": "issue 37",
}
"""Name of a set that is recorded, and not played yet -> where it is planned."""
