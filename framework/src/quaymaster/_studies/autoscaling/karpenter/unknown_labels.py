"""Warns of labels in requirements that no node can have, since they are misspelt.

Such a label rejects all types for a pod, and each pod has a reason of its own; one
warning names the label. A pool may define labels by its requirements, as upstream
(``pkg/scheduling/requirements.go``), so a label of a pool is only probably wrong: if it
is like a label of the types.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from quaymaster._api.objects import Node, Pod
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._base.suggestions import did_you_mean
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions

__all__ = ["notices_of_unknown_labels"]

_NEEDS_LABEL: Final = ("In", "Exists", "Gt", "Lt", "Gte", "Lte")
_CLOSE: Final = 0.9
"""Allows one or two wrong letters, as labels of one domain share many letters."""

_REQUIREMENTS: Final = "spec.template.spec.requirements"


def notices_of_unknown_labels(
    pools: Sequence[NodePool],
    types: Iterable[InstanceType],
    nodes: Iterable[Node],
    pending: Iterable[Pod],
    options: KarpenterOptions,
) -> Iterator[Notice]:
    """Yield one warning for each label that is probably misspelt.

    Args:
        pools: The pools.
        types: The types that the cloud offers.
        nodes: The nodes of the cluster.
        pending: The pods without a node.
        options: The options of Karpenter.
    """
    labels = set(options.well_known_labels)
    for each in types:
        labels.update(requirement.key for requirement in each.requirements)
        labels.update(each.offering_labels)
    for pool in pools:
        labels.update(pool.spec.template.metadata.labels)
    for pool in pools:
        for key in _keys_of_pool(pool):
            close = difflib.get_close_matches(key, labels, 1, _CLOSE)
            if close and close[0] != key:
                hint = f"; did you mean {close[0]!r}?"
                where = f"{pool.kind} {pool.name}"
                yield _notice(where, _REQUIREMENTS, key, hint)
    for pool in pools:
        labels.update(_keys_of_pool(pool))
    for node in nodes:
        labels.update(node.labels)
    yield from _notices_of_pods(pending, labels)


def _notices_of_pods(pending: Iterable[Pod], labels: set[str]) -> Iterator[Notice]:
    pods: dict[str, list[str]] = {}
    for pod in pending:
        for key in _keys_of_pod(pod) - labels:
            pods.setdefault(key, []).append(pod.key)
    for key, names in sorted(pods.items()):
        others = len(names) - 1
        more = f" and {others} more" if others else ""
        yield _notice(f"Pod {names[0]}{more}", "", key, did_you_mean(key, labels))


def _keys_of_pool(pool: NodePool) -> set[str]:
    return {
        each.key
        for each in pool.spec.template.spec.requirements
        if each.operator in _NEEDS_LABEL
    }


def _keys_of_pod(pod: Pod) -> set[str]:
    """Return the labels without which no node is right for a pod."""
    spec = pod.spec
    keys = set(spec.node_selector)
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    selector = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity is not None
        else None
    )
    terms = selector.node_selector_terms if selector is not None else ()
    of_terms = [
        {each.key for each in term.match_expressions if each.operator in _NEEDS_LABEL}
        for term in terms
    ]
    # One of the terms must hold, so only a label of all of them is needed.
    return keys | (set.intersection(*of_terms) if of_terms else set())


def _notice(where: str, path: str, key: str, hint: str) -> Notice:
    return Notice(
        reason=NoticeReason.ODD_FIELDS,
        where=where,
        path=path,
        message=f"no instance type, NodePool or node has the label {key!r}{hint}",
    )
