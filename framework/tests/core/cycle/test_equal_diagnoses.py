"""Diagnoses that share rejections answer as those with rejections of their own."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Code, NodeVerdicts, Snapshot, Status
from quaymaster.testing import make_node
from tests.kit.internals.cycle import Diagnosis, PluginRejections

NODES = 6
STATUSES = {
    1: Status.unschedulable("too small"),
    2: Status.unresolvable("not for you"),
    3: Status.pending("soon"),
    4: Status.unschedulable("too small", "too slow"),
}
CODES = st.lists(st.integers(0, 4), min_size=NODES, max_size=NODES)
EXTRAS = st.sets(
    st.sampled_from(("explicit", "placement", "pre_filter", "post_filter", "absent"))
)


def batch_of(number: int, codes: Sequence[int]) -> PluginRejections:
    array = np.array(codes, dtype=np.int64)
    rejected = int(np.count_nonzero(array))
    verdicts = NodeVerdicts(array, STATUSES.__getitem__)
    return PluginRejections(f"P{number}", slice(0, NODES), verdicts, rejected)


def diagnosis_of(
    snapshot: Snapshot, batches: Sequence[PluginRejections], extras: set[str]
) -> Diagnosis:
    placement = np.array([0, 1, 2]) if "placement" in extras else None
    diagnosis = Diagnosis(snapshot.nodes, placement)
    if "absent" in extras:
        diagnosis.absent = Status.unresolvable("left out")
    for batch in batches:
        diagnosis.reject_batch(batch)
    if "explicit" in extras:
        diagnosis.reject("n5", Status.unschedulable("alone").with_plugin("Other"))
    if "pre_filter" in extras:
        diagnosis.reject_all(Status.unschedulable("never").with_plugin("First"))
    if "post_filter" in extras:
        diagnosis.post_filter_message = "no victims"
    return diagnosis


def said_by(diagnosis: Diagnosis) -> list[object]:
    several = (Code.UNSCHEDULABLE, Code.PENDING)
    return [
        diagnosis.message_and_reasons(),
        diagnosis.unschedulable_plugins,
        diagnosis.pending_plugins,
        diagnosis.rows_with(Code.UNSCHEDULABLE).tolist(),
        diagnosis.rows_with(*several).tolist(),
        diagnosis.nodes_with(Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
    ]


@given(
    kinds=st.lists(CODES, min_size=1, max_size=3),
    attempts=st.lists(
        st.tuples(st.lists(st.integers(0, 2), max_size=2, unique=True), EXTRAS)
    ),
)
def test_shared_rejections_give_the_same_answers(
    kinds: list[list[int]], attempts: list[tuple[list[int], set[str]]]
) -> None:
    snapshot = Snapshot()
    for number in range(NODES):
        snapshot.add_node(make_node(name=f"n{number}"))
    shared = [batch_of(number, codes) for number, codes in enumerate(kinds)]
    for at, (numbers, extras) in enumerate(attempts):
        if at % 2:  # the cluster grows between attempts
            snapshot.add_node(make_node(name=f"later-{at}"))
        chosen = [number for number in numbers if number < len(kinds)]
        again = diagnosis_of(snapshot, [shared[number] for number in chosen], extras)
        own = [batch_of(number, kinds[number]) for number in chosen]
        assert said_by(again) == said_by(diagnosis_of(snapshot, own, extras))


def test_rows_may_be_written_by_a_plugin() -> None:
    snapshot = Snapshot()
    for number in range(NODES):
        snapshot.add_node(make_node(name=f"n{number}"))
    batch = batch_of(0, [1] * NODES)
    rows = diagnosis_of(snapshot, [batch], set()).rows_with(Code.UNSCHEDULABLE)
    rows[:] = 0
    later = diagnosis_of(snapshot, [batch], set()).rows_with(Code.UNSCHEDULABLE)
    assert later.tolist() == list(range(NODES))
