"""Columns with values of objects other than nodes."""

from quaymaster import Snapshot
from quaymaster.columns import ObjectColumn
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import CSINode
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_csi_node, make_node
from tests.kit.informers import follow


class DriverColumn:
    def __init__(self) -> None:
        self.cluster = InMemoryCluster(VirtualClock())
        self.informers = follow(self.cluster)
        self.snapshot = Snapshot()
        self.reads = 0
        self.column = ObjectColumn(self.informers, CSINode, self.read)

    def read(self, csi_node: CSINode) -> str | None:
        self.reads += 1
        return csi_node.spec.drivers[0].name

    def put(self, name: str, says: str) -> None:
        csi_node = make_csi_node(name=name, limits={says: 1})
        if self.informers.get(CSINode, name) is None:
            self.cluster.create(csi_node)
        else:
            self.cluster.update(csi_node)
        self.informers.sync()

    def shown(self) -> dict[str, str | None]:
        nodes = self.snapshot.nodes
        column = self.column.of(nodes)
        codes = column.codes[nodes.rows].tolist()
        said = [None if code < 0 else column.values[code] for code in codes]
        return dict(zip(nodes.names_at(nodes.rows), said, strict=True))


def test_column_follows_objects_and_nodes() -> None:
    world = DriverColumn()
    world.put("one", "a")
    world.snapshot.add_node(make_node(name="one"))
    world.snapshot.add_node(make_node(name="two"))
    assert world.shown() == {"one": "a", "two": None}
    world.put("two", "b")
    world.put("three", "c")
    assert world.shown() == {"one": "a", "two": "b"}
    world.snapshot.remove_node("one")
    world.snapshot.add_node(make_node(name="three"))
    assert world.shown() == {"three": "c", "two": "b"}
    world.put("two", "d")
    world.cluster.delete(CSINode, "three")
    world.informers.sync()
    assert world.shown() == {"three": None, "two": "d"}


def test_column_reads_an_object_once_per_change() -> None:
    world = DriverColumn()
    for number in range(200):
        world.put(f"node-{number}", "a")
        world.snapshot.add_node(make_node(name=f"node-{number}"))
    assert set(world.shown().values()) == {"a"}
    reads = world.reads
    world.put("node-7", "b")
    world.snapshot.add_node(make_node(name="node-8", labels={"new": "label"}))
    assert world.shown()["node-7"] == "b"
    assert world.reads == reads + 1
