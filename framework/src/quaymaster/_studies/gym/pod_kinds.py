"""Kinds of pods: all pods of a kind are alike to every filter of their profile."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects import Pod
from quaymaster._api.objects.codec import ENCODER
from quaymaster._api.objects.resources import PodUsage, usage_by
from quaymaster._clusters.inmemory.durations import (
    RUN_SECONDS_ANNOTATION,
    STARTUP_SECONDS_ANNOTATION,
    TERMINATION_SECONDS_ANNOTATION,
)
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse, skips_binding
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.filter_call import FilterCall
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.gym.unsupported import UnsupportedWorkloadError
from quaymaster._studies.simulation.driven import Run

__all__ = ["PodKind", "PodKinds"]

_TIMES: Final = frozenset(
    {
        RUN_SECONDS_ANNOTATION,
        STARTUP_SECONDS_ANNOTATION,
        TERMINATION_SECONDS_ANNOTATION,
    }
)
_BINDING_POINTS: Final = ("reserve", "permit", "preBind", "postBind")


@attrs.frozen(kw_only=True, eq=False)
class PodKind:
    """Pods that are alike to every filter, and use as much of a node.

    Attributes:
        number: Its number among all kinds.
        pod: One of the pods, as the cluster has admitted it.
        usage: What such a pod uses of its node.
        state: The cycle state after PreFilter, which filters read.
        calls: The filters that do not skip the pod.
        node_names: The nodes that PreFilter allows; None for all.
        reads_pods: Whether a filter reads more of the pods on a node than sums.
    """

    number: int
    pod: Pod
    usage: PodUsage
    state: CycleState
    calls: Sequence[FilterCall]
    node_names: frozenset[str] | None
    reads_pods: bool


class PodKinds:
    """Finds the kinds of pods, with the plugins of a run.

    Args:
        run: A run whose plugins are called; it has the initial objects.
        kinds: All kinds of pods, by their numbers; new ones are added.
    """

    def __init__(self, run: Run, kinds: list[PodKind]) -> None:
        self._run = run
        self._kinds = kinds
        self._usage_of = usage_by(run.config.kubernetes)
        self._by_content: dict[bytes, PodKind] = {}
        self._by_traits: dict[Hashable, PodKind] = {}
        self._unchecked: list[PodKind] = []

    def __iter__(self) -> Iterator[PodKind]:
        """All kinds so far."""
        return iter(self._by_traits.values())

    def of(self, pod: Pod) -> PodKind:
        """Return the kind of a pod that has no node.

        Raises:
            AdmissionError: The cluster rejects the pod.
            UnsupportedWorkloadError: More than filters of single nodes decides about
                the pod.
            PluginError: A plugin failed.
        """
        content = _content(pod)
        kind = self._by_content.get(content)
        if kind is None:
            kind = self._by_content[content] = self._new(pod)
        return kind

    def check(self) -> None:
        """Check that plugins skip all kinds, also when such pods are on a node.

        Raises:
            UnsupportedWorkloadError: A plugin that reads other nodes skips a pod only
                as long as no pod of another kind is on a node.
        """
        names = self._run.snapshot.nodes.names_at(self._run.snapshot.nodes.rows)
        if not self._unchecked or not names:
            return
        snapshot = self._run.snapshot
        # A plugin may skip a pod only while no other is there, as InterPodAffinity does
        # while no pod has terms. So pods of all kinds are put on a node for the check.
        placed = [_on_node(kind.pod, names[0], kind.number) for kind in self]
        for pod in placed:
            snapshot.add_pod(pod)
        try:
            for kind in self:
                framework = self._framework_of(kind.pod)
                self._filters(framework, kind.pod, CycleState())
        finally:
            for pod in placed:
                snapshot.remove_pod(pod)
        self._unchecked.clear()

    def _new(self, pod: Pod) -> PodKind:
        admitted = self._run.cluster.admitted(pod)
        framework = self._framework_of(admitted)
        self._refuse_other_causes(framework, admitted)
        state = CycleState()
        calls, node_names = self._filters(framework, admitted, state)
        self._refuse_binding(framework, admitted, state)
        usage = self._usage_of(admitted)
        reads_pods = any(call.pod_use_in(state) is PodUse.PODS for call in calls)
        traits: Hashable = (
            admitted.spec.scheduler_name,
            node_names,
            _amounts(usage),
            *_fragments(framework, admitted),
        )
        # Plugins that read single pods may read fields of others that they do not sign.
        if reads_pods or usage.host_ports:
            traits = _content(admitted)
        kind = self._by_traits.get(traits)
        if kind is None:
            kind = PodKind(
                number=len(self._kinds),
                pod=admitted,
                usage=usage,
                state=state,
                calls=calls,
                node_names=node_names,
                reads_pods=reads_pods,
            )
            self._by_traits[traits] = kind
            self._kinds.append(kind)
            self._unchecked.append(kind)
        return kind

    def _framework_of(self, pod: Pod) -> Framework:
        name = pod.spec.scheduler_name
        framework = self._run.simulation.scheduler.frameworks.get(name)
        if framework is None:
            raise UnsupportedWorkloadError(f"pod '{pod.key}'", f"no profile '{name}'")
        return framework

    def _refuse_other_causes(self, framework: Framework, pod: Pod) -> None:
        """Refuse pods that something else than their filters keeps from a node."""
        subject = f"pod '{pod.key}'"
        if pod.node_name:
            raise UnsupportedWorkloadError(subject, "it arrives with a node")
        if pod.group_key:
            raise UnsupportedWorkloadError(subject, "it belongs to a PodGroup")
        for call in framework.profile.plan("preEnqueue"):
            status = framework.pre_enqueue(call.plugin, pod)
            if status is not None:
                reason = f"plugin '{call.plugin}' gates it: {status.message}"
                raise UnsupportedWorkloadError(subject, reason)

    def _filters(
        self, framework: Framework, pod: Pod, state: CycleState
    ) -> tuple[Sequence[FilterCall], frozenset[str] | None]:
        """Run PreFilter; return the filters that do not skip the pod, and the nodes."""
        plain = framework.plain
        outcome = plain.pre_filter.run(Attempt.begin(state, pod, plain.nodes))
        if outcome.status is not None:
            reason = outcome.status.message or "it is rejected"
            raise UnsupportedWorkloadError(f"pod '{pod.key}'", reason)
        skipped = state.skip_filter_plugins
        calls = [call for call in plain.filter.calls if call.plugin not in skipped]
        signed = _signed(framework, pod)
        for call in calls:
            if call.plugin not in signed:
                reason = f"plugin '{call.plugin}' reads more than one node"
                raise UnsupportedWorkloadError(f"pod '{pod.key}'", reason)
        return calls, outcome.node_names

    def _refuse_binding(
        self, framework: Framework, pod: Pod, state: CycleState
    ) -> None:
        """Refuse pods with which a plugin does something after a node is chosen."""
        profile, skipped = framework.profile, state.skip_filter_plugins
        for point in _BINDING_POINTS:
            for call in profile.plan(point):
                plugin = profile.plugins[call.plugin]
                if call.plugin not in skipped or not skips_binding(plugin):
                    reason = f"plugin '{call.plugin}' is called at {point}"
                    raise UnsupportedWorkloadError(f"pod '{pod.key}'", reason)


def _fragments(framework: Framework, pod: Pod) -> tuple[Hashable, ...]:
    profile = framework.profile
    return tuple(profile.sign[name](pod) for name in profile.remembered)


def _signed(framework: Framework, pod: Pod) -> frozenset[str]:
    """Return the plugins whose verdict depends on the pod and one node alone."""
    names, fragments = framework.profile.remembered, _fragments(framework, pod)
    return frozenset(
        name
        for name, fragment in zip(names, fragments, strict=True)
        if fragment is not None and not isinstance(fragment, Status)
    )


def _content(pod: Pod) -> bytes:
    """Return all of a pod that plugins may read, except its name."""
    metadata = pod.metadata
    annotations = {
        name: value
        for name, value in metadata.annotations.items()
        if name not in _TIMES
    }
    parts = (
        metadata.namespace,
        metadata.labels,
        annotations,
        metadata.owner_references,
        pod.node_name,
        pod.spec,
    )
    return ENCODER.encode(parts)


def _amounts(usage: PodUsage) -> Hashable:
    requests = usage.requests
    return (
        requests.milli_cpu,
        requests.memory,
        requests.ephemeral_storage,
        usage.non_zero_milli_cpu,
        usage.non_zero_memory,
        tuple(sorted(requests.scalars.items())),
    )


def _on_node(pod: Pod, node_name: str, number: int) -> Pod:
    replace = msgspec.structs.replace
    metadata = replace(pod.metadata, uid=f"kind-{number}", name=f"kind-{number}")
    return replace(pod, node_name=node_name, metadata=metadata)
