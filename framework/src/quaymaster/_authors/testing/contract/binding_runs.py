"""Runs a pod from Reserve to PreBind, and ends its attempt in different ways."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.answers import answers, is_open
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._core.contract.cluster import ApiError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PreBindWait
from quaymaster._core.contract.status import Status
from quaymaster._core.registry.access import writes_of_plugin

__all__ = ["BindingRun", "begin", "content_of", "open_nodes", "written_objects"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""


def open_nodes(bench: Bench, pod: Pod) -> Sequence[str]:
    """Return the nodes that the plugin accepts for a pod; none if a gate holds it."""
    actual = answers(bench, pod)
    is_gated = isinstance(actual.pre_enqueue, Status)
    if is_gated or not is_open(actual.pre_filter):
        return ()
    names = (info.name for info in bench.snapshot)
    return [name for name in names if name not in actual.rejected]


@attrs.define(eq=False)
class BindingRun:
    """An attempt after Permit.

    Attributes:
        bench: The plugin and its cluster.
        state: The state of the attempt.
        pod: The assumed pod, with what Reserve has chosen.
        written: The objects that PreBind has written.
    """

    bench: Bench
    state: CycleState
    pod: Pod
    written: Sequence[ApiObject] = ()

    def pre_bind(self) -> PreBindWait | Status | None:
        """Run PreBind, and deliver what it has written.

        Returns:
            Its answer; after a Skip, None. If it raised an error of the API server,
            that error as a status, as the framework makes it.

        Raises:
            HookFailedError: A hook failed otherwise.
        """
        if self.bench.subject.has("pre_bind_pre_flight"):
            flight = self.ask("pre_bind_pre_flight")
            if isinstance(flight, Status):
                return None if flight.is_skip else flight
        return self.pre_bind_alone()

    def pre_bind_alone(self) -> PreBindWait | Status | None:
        """Run PreBind without asking whether it has anything to do; see `pre_bind`."""
        answer: object = None
        if self.bench.subject.has("pre_bind"):
            try:
                answer = self.ask("pre_bind")
            except HookFailedError as failure:
                if not isinstance(failure.__cause__, ApiError):
                    raise
                answer = Status.from_error(failure.__cause__)
        self.written = [
            obj for obj in self.bench.deliver() if not isinstance(obj, Pod | Node)
        ]
        assert answer is None or isinstance(answer, PreBindWait | Status)
        return answer

    def ask(self, hook: str) -> object:
        """Call a hook for the assumed pod; None if the plugin does not have it."""
        if not self.bench.subject.has(hook):
            return None
        return self.bench.ask(hook, self.state, self.pod, self.pod.node_name)

    def forget(self) -> None:
        """Remove the assumed pod from its node, as the engine does at a restart."""
        self.bench.snapshot.remove_pod(self.pod)

    def give_up(self) -> None:
        """End the attempt: the pod returns to the queue."""
        self.ask("unreserve")
        self.forget()
        self.settle()

    def bind(self) -> None:
        """Deliver the pod with its node."""
        self.forget()
        self.bench.add(self.pod)

    def end(self, hook: str) -> None:
        """Call a last hook, and let its timers and tasks run."""
        self.state.end_annotations()
        self.ask(hook)
        self.settle()

    def settle(self) -> None:
        """Let timers and tasks run, and deliver what they write."""
        self.bench.deliver()
        self.bench.advance(_SECONDS)
        self.bench.deliver()


def begin(bench: Bench, pod: Pod, node_name: str) -> BindingRun | None:
    """Run an attempt up to Permit.

    Args:
        bench: The plugin and its cluster.
        pod: The pod, which is not assumed yet.
        node_name: A node that the plugin accepts.

    Returns:
        None if Reserve or Permit rejects the pod, which then is not assumed.
    """
    state = CycleState()
    bench.filter_on(state, pod, node_name)
    run = BindingRun(bench, state, replace(pod, node_name=node_name))
    bench.snapshot.add_pod(run.pod)
    for answer in _reserve(run):
        if isinstance(answer, Status):
            run.give_up()
            return None
    return run


def _reserve(run: BindingRun) -> Iterator[object]:
    yield run.ask("reserve")
    run.pod = run.bench.annotate(run.pod, run.state)
    yield run.ask("permit")
    run.bench.deliver()


def content_of(obj: ApiObject | None) -> ApiObject | None:
    """Return an object without its version."""
    if obj is None:
        return None
    return replace(obj, metadata=replace(obj.metadata, resource_version=""))


def written_objects(bench: Bench) -> Mapping[tuple[type, str], ApiObject]:
    """Return the objects of the kinds that the plugin writes, without versions.

    Pods and nodes are left out: others write them, too.
    """
    kinds = {write.kind for write in writes_of_plugin(bench.subject.plugin)}
    return {
        (kind, obj.key): replace(
            obj, metadata=replace(obj.metadata, resource_version="")
        )
        for kind in kinds - {Pod, Node}
        for obj in bench.cluster.list(kind).items
    }
