"""A plugin whose pods wait on Permit for an earlier stage, and mistakes in it."""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    PermitWait,
    Pod,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "RELAY_MISTAKES", "Relays"]

STAGE = "example.com/stage"


class Relays(Plugin):
    """Correct: a pod of stage 2 waits until all of stage 1 have a node."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.first = handle.informers.index(Pod, by=self.stage)
        handle.informers.on_change(Pod, self.follow)

    def stage(self, pod: Pod) -> tuple[str, str]:
        """Return the namespace and the stage of a pod."""
        return pod.namespace, pod.labels.get(STAGE, "")

    def waits(self, pod: Pod) -> bool:
        """Return whether a pod has to wait."""
        namespace, stage = self.stage(pod)
        first = self.first.get((namespace, "1")) if stage == "2" else ()
        return any(not other.node_name for other in first)

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Read a change of a pod."""
        for waiting in self.handle.waiting_pods():
            is_ours = self.handle.plugin_name in waiting.pending_plugins
            if is_ours and not self.waits(waiting.pod):
                waiting.allow(self.handle.plugin_name)

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        return PermitWait(60) if self.waits(pod) else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.ALL)]


class LooksAtNewPodsOnly(Relays):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None:
            super().follow(old, new)


class LooksAtDeletedPodsOnly(Relays):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            super().follow(old, new)


class CountsTheWaitFromCreation(Relays):
    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        answer, now = super().permit(pod), self.handle.clock.now()
        created = pod.metadata.creation_timestamp
        if not isinstance(answer, PermitWait) or created is None:
            return answer
        return PermitWait(created + answer.timeout_seconds - now)


class WaitsForAnUnknownStage(Relays):
    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        if self.waits(pod):
            return Status.unschedulable("the stage before it has not begun")
        return PermitWait(60) if self.stage(pod)[1] == "3" else None


OWN = clusters(pods=pods({"labels": {STAGE: "1"}}, {"labels": {STAGE: "2"}}))
RELAY_MISTAKES: Sequence[Mistake] = (
    Mistake(LooksAtNewPodsOnly, ["releases"], OWN),
    Mistake(LooksAtDeletedPodsOnly, ["releases"], OWN),
    Mistake(CountsTheWaitFromCreation, ["releases"], OWN),
    Mistake(WaitsForAnUnknownStage, ["effects"], OWN),
)
