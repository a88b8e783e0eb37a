"""A check: before its start and after a reload, a plugin has no timer or thread."""

import gc
import threading
import weakref

from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod

__all__ = ["LEAKS"]

_CLUSTER = SmallCluster(
    nodes=(make_node(name="n0"), make_node(name="n1")),
    pods=(make_pod(name="p0", node="n0"),),
    pending=(make_pod(name="w0"),),
)


def _ask(subject: Subject, _cluster: SmallCluster, _other: SmallCluster) -> None:
    _ask_unstarted(subject)
    threads = set(threading.enumerate())
    services = subject.make_services()
    bench = Bench(subject, _CLUSTER, services=services)
    walk(bench, _CLUSTER.pending[0])
    if bench in subject.benches:
        subject.benches.remove(bench)
    bench.close()
    if services.clock.next_due() is not None:
        fail("", "a timer fires after a reload; set timers on handle.clock")
    started = [thread.name for thread in threading.enumerate() if thread not in threads]
    if started:
        fail("", f"thread '{started[0]}' runs on after a reload")
    alive = _weak(bench.plugin)
    del bench
    gc.collect()
    if alive is not None and alive() is not None:
        fail("", f"is kept alive after a reload, by {_holder(alive)}")


def _ask_unstarted(subject: Subject) -> None:
    """Check that an instance which is never started has no timers and no threads."""
    threads = set(threading.enumerate())
    services = subject.make_services()
    _, handle = subject.make(services)
    has_timers = services.clock.next_due() is not None
    handle.retire()
    started = [thread.name for thread in threading.enumerate() if thread not in threads]
    if has_timers or started:
        what = f"thread '{started[0]}'" if started else "a timer"
        text = (
            f"starts {what}, although the configuration may only be checked, or not "
            "be applied: do it in start"
        )
        fail("__init__", text)


def _weak(plugin: object) -> "weakref.ref[object] | None":
    try:
        return weakref.ref(plugin)
    except TypeError:
        return None  # it has slots


def _holder(alive: "weakref.ref[object]") -> str:
    """Describe the objects that still refer to the plugin."""
    plugin = alive()
    kinds = {type(holder).__name__ for holder in gc.get_referrers(plugin)}
    kinds.discard("frame")
    return f"a {', a '.join(sorted(kinds))}" if kinds else "something"


LEAKS = Check(
    name="leaks",
    promise="no timer or thread before start; a reload leaves none, and no reference",
    ask=_ask,
    needs_clusters=False,
)
