"""The first volume that a node reaches, for all nodes at once and for one."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Snapshot
from quaymaster.objects import LabelSelector, compile_label_selector
from quaymaster.testing import make_node
from quaymaster.volumes import FirstReached, VolumeTopology

Step: TypeAlias = tuple[str, Mapping[str, str], int]

NODES: Final = [
    make_node(name=f"n{at}", labels=labels)
    for at, labels in enumerate(
        ({"zone": "a", "host": "0"}, {"zone": "a", "host": "1"}, {"zone": "b"}, {})
    )
]
TOPOLOGIES: Final[st.SearchStrategy[Mapping[str, str]]] = st.sampled_from(
    [{"zone": "a"}, {"zone": "b"}, {"host": "1"}, {"zone": "a", "host": "0"}, {}]
)


def steps_of(
    topologies: st.SearchStrategy[Mapping[str, str]],
) -> st.SearchStrategy[list[Step]]:
    return st.lists(
        st.tuples(st.sampled_from("abcd"), topologies, st.integers(0, 1 << 63))
    )


# One label, or any labels.
STEPS = steps_of(st.sampled_from([{"zone": "a"}, {"zone": "b"}])) | steps_of(TOPOLOGIES)


def first_of(
    things: Mapping[str, tuple[VolumeTopology, int]], labels: Mapping[str, str]
) -> int | None:
    """Return the number of the first by name, by checking each."""
    for key in sorted(things):
        topology, number = things[key]
        if topology.includes(labels):
            return number
    return None


@given(steps=STEPS)
def test_first_by_key_is_right_while_volumes_come_and_go(
    steps: Sequence[Step],
) -> None:
    snapshot = Snapshot()
    for node in NODES:
        snapshot.add_node(node)
    nodes = snapshot.nodes
    found = FirstReached[str]()
    things: dict[str, tuple[VolumeTopology, int]] = {}
    for key, labels, number in steps:
        if key in things:
            found.drop(key, things.pop(key)[0])
        else:
            selector = compile_label_selector(LabelSelector(match_labels=dict(labels)))
            things[key] = VolumeTopology(selector), number
            found.put(key, *things[key])
        expected = [first_of(things, info.labels) for info in snapshot]
        assert [found.at(info.labels) for info in snapshot] == expected
        at_once = found.rows(nodes, nodes.rows)
        if at_once is not None:
            cut = [
                -1 if position is None else min(position, 1 << 62)
                for position in expected
            ]
            assert at_once.tolist() == cut
        else:
            assert len({tuple(labels) for _, labels, _ in steps}) > 1
