"""Explains an attempt of one pod: `explain_pod`."""

from collections.abc import Iterable, Sequence

import attrs
import msgspec

from quaymaster._api.objects import ApiObject, Node, Pod, PodStatus
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.defaults import with_defaults
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.engine.attempts import Attempt, AttemptOutcome
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.attempts import AttemptLog, shown_attempt
from quaymaster._studies.simulation.autoscaler import Autoscaler, AutoscalerFactory
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.explained import ExplainedPod, WhichAttempt
from quaymaster._studies.simulation.group_log import GroupLog
from quaymaster._studies.simulation.member_groups import with_group
from quaymaster._studies.simulation.names import NodeNotFoundError, RequestedPod
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.simulation.scaling import explaining, pod_scaling
from quaymaster._studies.simulation.verdicts import OUTCOMES
from quaymaster._studies.simulation.why_not import why_not as fate_of_node

__all__ = ["explain_pod", "without_node"]


def explain_pod(
    pod: str,
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    attempt: WhichAttempt | int = WhichAttempt.AUTO,
    namespace: str = "",
    unbind: bool = False,
    why_not: str = "",
    on_progress: ProgressFn | None = None,
    max_pods: int = MAX_PODS,
    as_it_is: bool = False,
    autoscaler: AutoscalerFactory | None = None,
) -> ExplainedPod:
    """Simulate, and explain an attempt of one pod.

    Args:
        pod: ``name``, ``namespace/name``, or ``kind/name`` as in kubectl. Of a
            workload, a pod that has no node in the end is explained, or else the first
            that an autoscaler has looked at, or else the first that is tried.
        objects: As for `simulate`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: As for `simulate`.
        attempt: The attempt, by number or by word. If the word selects several, the
            last one is explained.
        namespace: The only namespace to search; empty for all namespaces.
        unbind: Whether a pod that came with a node loses it at the beginning, so that
            it is scheduled again.
        why_not: The name of a node that all plugins evaluate; empty for none.
        on_progress: Called with the progress.
        max_pods: As for `simulate`.
        as_it_is: Whether the state of objects from a cluster is kept as it was read:
            claims without a volume stay without one, and the status of disruption
            budgets is used.
        autoscaler: Makes what adds and removes nodes; by default nothing does.

    Raises:
        PodNotFoundError: No object or several objects have that name, or the pod was
            tried less often.
        NodeNotFoundError: No node ever has the name ``why_not``.
    """
    config, registry = with_defaults(config, registry)
    given = list(objects)
    cluster = filled_cluster(
        given, seed, max_pods, kubernetes=config.kubernetes, as_it_is=as_it_is
    )
    if unbind:
        # In a filled cluster, since the name of a workload leads to its pods only
        # there.
        taken = RequestedPod(pod, namespace, cluster).find()
        without = without_node(given, taken)
        cluster = filled_cluster(
            without, seed, max_pods, kubernetes=config.kubernetes, as_it_is=as_it_is
        )
        pod, namespace = taken.key, ""
    requested = RequestedPod(pod, namespace, cluster)
    terminating = sum(map(_is_about_to_go, cluster.list(Pod).items))
    if attempt is WhichAttempt.AUTO:
        attempt = WhichAttempt.FIRST if terminating else WhichAttempt.LAST
    log = AttemptLog(requested, attempt, why_not)
    with Simulation(
        cluster,
        config=config,
        registry=registry,
        seed=seed,
        log=log,
        autoscaler=None if autoscaler is None else explaining(autoscaler),
    ) as run:
        names = {node.name for node in cluster.list(Node).items}
        is_tree = config.kubernetes.enabled("CompositePodGroup")
        groups = GroupLog(
            # In a tree, a group may fail because of another one, whose attempts are
            # shown too.
            lambda group: is_tree or any(map(requested.has_taken, group.pods)),
            explains=requested.has_taken,
        )
        run.follow_groups(groups)
        run.settle(on_progress)
        names.update(node.name for node in cluster.list(Node).items)
        if why_not and why_not not in names:
            raise NodeNotFoundError(why_not, sorted(names))
        subject = requested.find()
        pending = requested.pending() if subject.node_name and not unbind else None
        worker = run.autoscaler
        if pending is None and worker is not None:
            pending = _looked_at(requested, subject, worker)
        if pending is None:
            explained = _explained(run, subject, log, attempt, pod)
            explained = with_group(run, subject, explained, groups)
            return attrs.evolve(
                explained,
                terminating=terminating,
                scaling=pod_scaling(worker, subject) if worker else None,
            )
    # Only one pod is followed, since an explanation takes time; names are the same.
    return explain_pod(
        pending.key,
        given,
        config=config,
        registry=registry,
        seed=seed,
        attempt=attempt,
        why_not=why_not,
        on_progress=on_progress,
        max_pods=max_pods,
        as_it_is=as_it_is,
        autoscaler=autoscaler,
    )


def _explained(
    run: Simulation, pod: Pod, log: AttemptLog, which: WhichAttempt | int, name: str
) -> ExplainedPod:
    attempts = log.of(pod.key)
    is_untried = not attempts and isinstance(which, WhichAttempt)
    return attrs.evolve(
        _never_tried(pod, run)
        if is_untried
        else _of_attempt(pod, shown_attempt(name, attempts, which)),
        attempts=attempts,
        notices=run.notices(),
    )


def _of_attempt(pod: Pod, shown: Attempt) -> ExplainedPod:
    return ExplainedPod(
        pod=pod.key,
        scheduler=pod.spec.scheduler_name,
        outcome=shown.outcome,
        node=shown.node,
        message=shown.message,
        explanation=shown.explanation,
        attempt=shown.number,
        why_not=fate_of_node(shown),
    )


def _never_tried(pod: Pod, run: Simulation) -> ExplainedPod:
    """Explain a pod that was never tried."""
    left = None if pod.node_name else run.unscheduled(pod)
    return ExplainedPod(
        pod=pod.key,
        scheduler=pod.spec.scheduler_name,
        outcome=AttemptOutcome.HAS_NODE if left is None else OUTCOMES[left.reason],
        node=pod.node_name,
        message=left.message if left else "",
        explanation=None,
    )


def _looked_at(requested: RequestedPod, subject: Pod, worker: Autoscaler) -> Pod | None:
    """Return the first pod of a workload that an autoscaler has looked at.

    None is returned, too, if the autoscaler has looked at the subject itself.
    """
    if pod_scaling(worker, subject).groups:
        return None
    pods = (pod for pod in requested.matching() if pod.key != subject.key)
    return next((pod for pod in pods if pod_scaling(worker, pod).groups), None)


def without_node(objects: Sequence[ApiObject], pod: Pod) -> list[ApiObject]:
    """Return the objects, with one pod as if it had just been created."""
    return [
        msgspec.structs.replace(obj, node_name="", status=PodStatus())
        if isinstance(obj, Pod)
        and (obj.namespace or "default", obj.name) == (pod.namespace, pod.name)
        else obj
        for obj in objects
    ]


def _is_about_to_go(pod: Pod) -> bool:
    return bool(pod.node_name) and pod.is_terminating and not pod.is_finished
