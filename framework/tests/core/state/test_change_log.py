"""Logs of changes, which let an index be kept up to date."""

from quaymaster import Node, Pod, Snapshot
from quaymaster.columns import ChangeLog, RowReader
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PersistentVolume
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_persistent_volume, make_pod
from tests.kit.informers import IgnoresChanges
from tests.kit.internals.engine import EngineInformers


def test_reader_gets_each_changed_key_once() -> None:
    log: ChangeLog[str] = ChangeLog()
    log.note("a")
    revision = log.revision
    assert log.since(revision) == set()
    for key in ("b", "c", "b"):
        log.note(key)
    assert list(log.since(revision) or ()) == ["b", "c"]
    assert list(log.since(0) or ()) == ["a", "b", "c"]


def test_new_objects_come_in_the_order_of_their_arrival() -> None:
    log: ChangeLog[str] = ChangeLog()
    log.note("a")  # it went
    log.note("b", is_new=True)
    log.note("a", is_new=True)
    log.note("b")
    assert list(log.since(0) or ()) == ["b", "a"]


def test_reader_that_is_too_late_gets_no_changes_but_a_reset() -> None:
    log: ChangeLog[str] = ChangeLog(limit=2)
    for number in range(5):
        log.note(str(number))
    assert log.revision == 5
    assert log.since(1) is None
    assert list(log.since(2) or ()) == ["2", "3", "4"]


def test_informers_log_the_changes_of_watches_and_lists() -> None:
    cluster = InMemoryCluster(VirtualClock())
    kinds = [PersistentVolume]
    informers = EngineInformers(cluster, lambda: None, kinds=kinds)
    log = informers.changes(PersistentVolume)
    nodes = informers.changes(Node)
    cluster.create(make_persistent_volume(name="a"))
    informers.start(IgnoresChanges())
    cluster.create(make_persistent_volume(name="b"))
    cluster.delete(PersistentVolume, "a")
    informers.sync()
    assert list(log.since(0) or ()) == ["a", "b"]
    assert nodes.revision == 0


def test_informers_log_only_kinds_with_readers() -> None:
    cluster = InMemoryCluster(VirtualClock())
    informers = EngineInformers(cluster, lambda: None)
    cluster.create(make_pod(name="a"))
    informers.start(IgnoresChanges())
    assert informers.changes(Pod).revision == 0


def test_rows_are_returned_once_for_each_reader_and_table() -> None:
    snapshot = Snapshot()
    for name in ("one", "two"):
        snapshot.add_node(make_node(name=name))
    reader = RowReader()
    assert set(reader.changed(snapshot.nodes)) == {0, 1}
    assert not reader.changed(snapshot.nodes)
    snapshot.add_pod(make_pod(name="a", node="two"))
    assert set(reader.changed(snapshot.nodes.imagined())) == {1}
    assert not reader.changed(snapshot.nodes)
    assert not reader.changed(Snapshot().nodes)
    assert set(reader.changed(snapshot.nodes)) == {0, 1}
