"""The result of loading: objects, their sources, and notices."""

import re
from collections import Counter, defaultdict
from typing import Final, NamedTuple, TypeVar

import attrs

from quaymaster._api.objects import ApiObject
from quaymaster._base.errors import one_line
from quaymaster._base.notices import Notice
from quaymaster._base.versions.kubernetes import KIND_GATES

__all__ = ["Loaded", "Source", "skipped_text"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_IDLE: Final = re.compile(
    r"(CompositePodGroup|PodGroup|Workload) \(scheduling\.k8s\.io/"
)
"""The kinds of upstream's group scheduling, which are skipped while it is off."""


class Source(NamedTuple):
    """The place that an object was read from.

    Attributes:
        path: The file, as the caller named it; ``-`` is standard input.
        document: Its number in the file, from 1; 0 if the file has only one.
        item: Its index in a list; -1 if it is not in a list.
    """

    path: str
    document: int = 0
    item: int = -1

    def __str__(self) -> str:
        place = []
        if self.document:
            place.append(f"document {self.document}")
        if self.item >= 0:
            place.append(f"items[{self.item}]")
        return f"{self.path}: {', '.join(place)}" if place else self.path


@attrs.frozen(kw_only=True)
class Loaded:
    """The objects of manifests, and their sources.

    Attributes:
        objects: In the order of the files, and of the documents in them.
        sources: The source of each object, in the same order.
        skipped: The number of objects of each kind that scheduling does not use, such
            as ``Prometheus (monitoring.coreos.com/v1)``.
        notices: Further warnings for the user.
    """

    objects: tuple[ApiObject, ...]
    sources: tuple[Source, ...] = attrs.field(repr=False)
    skipped: Counter[str]
    notices: tuple[Notice, ...] = ()

    def of(self, kind: type[ObjT]) -> list[ObjT]:
        """Return the objects of one kind."""
        return [obj for obj in self.objects if isinstance(obj, kind)]


def skipped_text(loaded: Loaded) -> str:
    """Describe the skipped objects in a sentence; empty if there are none."""
    idle = Counter({k: n for k, n in loaded.skipped.items() if _IDLE.match(k)})
    parts = []
    if unknown := loaded.skipped - idle:
        parts.append(_counted(unknown, "that scheduling does not know"))
    by_gate: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for kind, count in idle.items():
        by_gate[KIND_GATES[kind.partition(" ")[0]]][kind] = count
    for gate, kinds in sorted(by_gate.items(), reverse=True):
        text = f"without effect while the feature gate {gate} is off"
        parts.append(_counted(kinds, text))
    return f"skipped {'; '.join(parts)}" if parts else ""


def _counted(kinds: Counter[str], which: str) -> str:
    total = sum(kinds.values())
    what = "object" if total == 1 else "objects"
    counts = ", ".join(
        one_line(kind) + (f" x{count}" if count > 1 else "")
        for kind, count in sorted(kinds.items())
    )
    return f"{total} {what} {which}: {counts}"
