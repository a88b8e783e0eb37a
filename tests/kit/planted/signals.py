"""A plugin that reports data of nodes and waits for a while, and mistakes in it."""

from collections.abc import Sequence

from quaymaster import Handle, NodeInfo, PermitWait, Pod, Scope, hookimpl
from quaymaster.objects import Namespace
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "SIGNAL_MISTAKES", "Signals"]

SECONDS = "example.com/seconds"
MOST_SECONDS = 900


class Signals(Plugin):
    """Correct: it reports names of nodes, and cuts waits at the limit."""

    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.level = 0

    @hookimpl
    def start(self) -> None:
        self.handle.clock.call_later(30, self.learn, background=True)

    def learn(self) -> None:
        """Learn a level, and report it."""
        self.level = 1 - self.level
        self.start()
        self.handle.changed(nodes=self.names())

    def names(self) -> Sequence[str]:
        """Return the names of what has changed."""
        return [info.name for info in self.handle.snapshot]

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return self.level + (node.name == "n0")

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        seconds = self.seconds(pod)
        return PermitWait(timeout_seconds=seconds) if seconds else None

    def seconds(self, pod: Pod) -> float:
        """Return how long a pod waits."""
        text = pod.annotations.get(SECONDS, "") or pod.labels.get(SECONDS, "")
        is_number = text.isascii() and text.isdecimal() and len(text) < len("10000000")
        return self.cut(int(text)) if is_number else 0

    def cut(self, seconds: float) -> float:
        """Return the seconds, or the limit."""
        return min(seconds, MOST_SECONDS)


class ReportsZones(Signals):
    def names(self) -> Sequence[str]:
        return ["zone-a", "zone-b"]


class ReportsPods(Signals):
    def names(self) -> Sequence[str]:
        return [pod.key for pod in self.handle.informers.list(Pod)]


class ReportsNamespaces(Signals):
    def names(self) -> Sequence[str]:
        return [each.name for each in self.handle.informers.list(Namespace)] or ["none"]


class WaitsForAsLongAsAsked(Signals):
    def cut(self, seconds: float) -> float:
        return seconds


class WaitsALittleLonger(Signals):
    def cut(self, seconds: float) -> float:
        return min(seconds, MOST_SECONDS) + 10


class WaitsForHours(Signals):
    def cut(self, seconds: float) -> float:
        return min(seconds, 3600)


OWN = clusters(pods=pods({"labels": {SECONDS: "20"}}, {"annotations": {SECONDS: "60"}}))
SIGNAL_MISTAKES: Sequence[Mistake] = tuple(
    Mistake(plugin, ["effects"], OWN)
    for plugin in (
        ReportsZones,
        ReportsPods,
        ReportsNamespaces,
        WaitsForAsLongAsAsked,
        WaitsALittleLonger,
        WaitsForHours,
    )
)
