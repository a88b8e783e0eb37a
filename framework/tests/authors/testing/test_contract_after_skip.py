"""The contract suite does not call Filter after a Skip, as the engine does not."""

import pytest

from quaymaster import CycleState, Handle, NodeInfo, Pod, StateKey, Status, hookimpl
from quaymaster.testing import check_plugin
from tests.kit.internals.testing import CHECKS

LIMIT = StateKey[int]("LimitsPods/limit")
# They run attempts up to Reserve.
CHECKED = ("unreserve", "restarts", "pod endings", "assumed pods")


class LimitsPods:
    """Lets only so many pods onto a node as a pod wants, if it says how many."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.reserved: set[str] = set()

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        limit = pod.labels.get("limit", "")
        if not limit.isdecimal():
            return Status.skip()
        state[LIMIT] = int(limit)
        return None

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        full = len(node.pods) >= state[LIMIT]
        return Status.unschedulable("too many pods") if full else None

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        self.reserved.add(pod.uid)
        return None

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.reserved.discard(pod.uid)

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.reserved.discard(pod.uid)


@pytest.mark.long
def test_filter_may_read_what_pre_filter_writes_unless_it_skips() -> None:
    others = {name: "not asked here" for name in CHECKS if name not in CHECKED}
    check_plugin(LimitsPods, opt_outs=others)
