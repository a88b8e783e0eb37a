"""A gate with one answer for all pods of a group is called for one of them."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod
from quaymaster.scheduler import QueueName
from tests.kit.group_rig import QUORUM, GroupRig
from tests.kit.internals.queue import queued_groups
from tests.kit.queue_rig import CountingGate

NAMES = tuple("abcdef")
ACTIONS = ("add", "delete", "relabel", "block", "wait", "quorum", "attempt", "activate")

steps = st.lists(
    st.tuples(st.sampled_from(ACTIONS), st.sampled_from(NAMES), st.integers(1, 6)),
    max_size=25,
)


class History:
    """A queue with a gang, and the steps that change it.

    Args:
        declared: Whether the quorum declares that it has one answer for all pods.
        trees: Whether the gang is in a tree with another group.
    """

    def __init__(self, *, declared: bool, trees: bool) -> None:
        self.gate = CountingGate()
        gates = {"Gates": self.gate}
        self.rig = GroupRig(gates=gates, trees=trees, declared=declared)
        self.parent = "root" if trees else None
        if trees:
            self.rig.add_composite("root")
            self.rig.add_group("other", parent="root")
        self.rig.add_group(min_count=4, parent=self.parent)

    def take(self, action: str, name: str, number: int) -> None:
        """Take one step."""
        rig = self.rig
        exists = f"Pod/default/{name}" in rig.stored
        if action == "add" and not exists:
            is_other = self.parent is not None and number == 1
            rig.add(name, group="other" if is_other else "gang", priority=number % 2)
        elif action == "block":
            self.gate.blocked ^= {name}
        elif action == "wait":
            rig.wait(number * 100.0)
        elif action == "quorum":
            rig.add_group(min_count=number, parent=self.parent)
        elif action == "attempt":
            rig.popped()
        elif exists and action == "delete":
            rig.delete(name)
        elif exists and action == "relabel":
            rig.relabel(name)
        elif exists and action == "activate":
            pod = rig.stored[f"Pod/default/{name}"]
            assert isinstance(pod, Pod)
            rig.queue.activate([pod])

    def view(self) -> object:
        """Return all that the queue has noted of its pods and groups."""
        pods = {
            queued.key: (
                queued.queue,
                queued.gating_plugin,
                queued.rejectors,
                queued.was_flushed,
            )
            for queued in self.rig.queue
        }
        groups = [
            (group.key, group.queue, group.gating_plugin, group.attempts)
            for group in queued_groups(self.rig.queue)
        ]
        return pods, groups, self.rig.queue.incoming


@pytest.mark.long
@given(steps=steps, trees=st.booleans())
def test_the_queue_is_the_same_as_with_a_call_for_each_pod(
    steps: Sequence[tuple[str, str, int]], trees: bool
) -> None:
    short = History(declared=True, trees=trees)
    full = History(declared=False, trees=trees)
    for step in steps:
        short.take(*step)
        full.take(*step)
        assert short.view() == full.view()


def test_calls_for_a_gang_grow_with_its_pods() -> None:
    rig = GroupRig()
    rig.add_group(min_count=41)
    rig.add(*(f"p{number}" for number in range(40)))
    assert rig.group().gating_plugin == QUORUM
    assert len(rig.quorum.calls) < 3 * 40


def test_pod_that_another_plugin_gates_ends_the_short_way() -> None:
    gate = CountingGate()
    rig = GroupRig(gates={"Gates": gate})
    rig.add_group(min_count=4)
    rig.add("a", "b")
    gate.blocked = {"c"}
    rig.add("c", "d")
    queued = rig.queue.get("default/c")
    assert queued is not None
    assert queued.gating_plugin == "Gates"
    assert rig.group().gating_plugin == "Gates"


def test_gate_that_lets_a_pod_pass_is_not_called_for_its_siblings() -> None:
    gate = CountingGate()
    rig = GroupRig(gates={"Gates": gate})
    rig.add_group(min_count=1)
    rig.add("a", "b", "c")
    rig.quorum.calls.clear()
    gate.calls.clear()
    rig.add("d")
    assert rig.where("d") is QueueName.ACTIVE
    assert rig.quorum.calls == ["a"]
    assert gate.calls == ["a", "b", "c", "d"]
