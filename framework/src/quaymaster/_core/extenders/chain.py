"""Calls all extenders of a scheduler, one after the other.

Mirrors ``findNodesThatPassExtenders``, the extenders' part of ``prioritizeNodes`` and
``extendersBinding`` (Kubernetes v1.36, ``pkg/scheduler/schedule_one.go``), and
``callExtenders`` (``pkg/scheduler/framework/preemption/preemption.go``).
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.config.settings import Extender
from quaymaster._core.contract.results import Candidate
from quaymaster._core.contract.status import Status
from quaymaster._core.extenders.errors import ExtenderError
from quaymaster._core.extenders.victims import Victims
from quaymaster._core.extenders.wire import FilterAnswer
from quaymaster._core.state.arrays import Int64Array, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

if TYPE_CHECKING:
    from quaymaster._core.extenders.client import ExtenderClient

__all__ = [
    "EXTENDER",
    "NO_EXTENDERS",
    "ExtenderScores",
    "ExtenderVerdicts",
    "Extenders",
]

EXTENDER: Final = "Extender"
"""The name of all extenders in the list of plugins that rejected a pod (upstream:
``ExtenderName``)."""

_SCALE: Final = 10  # 0 to 10, as extenders score, becomes 0 to 100
_LARGEST: Final = 2**63  # the first number that int64 cannot hold

_log = logging.getLogger(__name__)


class ExtenderVerdicts(msgspec.Struct, frozen=True, eq=False):
    """The verdicts of the extenders on some rows.

    Attributes:
        passed: The rows that are left, ascending.
        rejected: Node name -> why it was rejected; a node may be dropped without a
            reason.
        answered: The nodes of these rows as the extenders sent them back, without pods
            and images; None if they sent only names.
    """

    passed: Rows
    rejected: Mapping[str, Status] = {}
    answered: NodeTable | None = None


class ExtenderScores(msgspec.Struct, frozen=True, eq=False):
    """The scores of one extender for some nodes; arrays of shape ``(N,)``, int64.

    Attributes:
        name: The extender's name.
        weight: The factor of its scores.
        raw: Its scores, from 0 to 10.
        normalized: The same scores, from 0 to 100.
    """

    name: str
    weight: int
    raw: Int64Array
    normalized: Int64Array

    @property
    def weighted(self) -> Int64Array:
        """The extender's part of the totals."""
        return self.normalized * self.weight


class Extenders:
    """Calls the extenders in the order of the configuration, ignorable ones last.

    Args:
        configs: The extenders.

    Attributes:
        filters: Whether any of them filters nodes.
        prioritizes: Whether any of them scores nodes.
        binds: Whether any of them binds pods.

    Raises:
        ExtenderError: A URL or certificate cannot be used.
    """

    def __init__(self, configs: Iterable[Extender] = ()) -> None:
        # A stable sort, so that each half keeps the order of the file.
        # ``buildExtenders`` (pkg/scheduler/scheduler.go) moves ignorable extenders
        # behind the others.
        ordered = sorted(configs, key=lambda config: config.ignorable)
        clients = [_client(config) for config in ordered]
        self._filters = [client for client in clients if client.config.filter_verb]
        self._scorers = [client for client in clients if client.config.prioritize_verb]
        self._binders = [client for client in clients if client.config.bind_verb]
        self._preemptors = [client for client in clients if client.config.preempt_verb]
        self._count = len(clients)
        self.filters = bool(self._filters)
        self.prioritizes = bool(self._scorers)
        self.binds = bool(self._binders)

    def __bool__(self) -> bool:
        return self._count > 0

    def filter(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> ExtenderVerdicts | Status:
        """Filter the feasible rows by the extenders; an Error if an extender failed.

        Nodes that an extender sends back in full replace the scheduler's own, for the
        extenders after it and for the scores.
        """
        rejected: dict[str, Status] = {}
        sent_back: Sequence[NodeInfo] | None = None  # None until an extender does
        for client in self._filters:
            # Once an extender has sent whole nodes, its nodes are the only ones: their
            # labels may differ from ours, and the next extender must see the same as
            # upstream's.
            infos = nodes.infos_at(rows) if sent_back is None else sent_back
            if not infos:
                break
            if not client.is_interested(pod):
                continue
            try:
                answer = client.filter(pod, infos)
            except ExtenderError as error:
                if not client.config.ignorable:
                    return Status.from_error(error)
                _log.info("skipping extender %s, which failed: %s", client.name, error)
                continue
            rejected.update(_rejections(answer))
            if answer.nodes is not None:
                sent_back = [NodeInfo(node) for node in answer.nodes]
            elif sent_back is not None:
                by_name = {info.name: info for info in sent_back}
                sent_back = [by_name[name] for name in answer.passed]
            else:
                rows = np.sort(nodes.rows_of(frozenset(answer.passed)))
        if sent_back is None:
            return ExtenderVerdicts(rows, rejected)
        answered = nodes.with_others(sent_back)
        return ExtenderVerdicts(answered.rows, rejected, answered)

    def scores(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Sequence[ExtenderScores]:
        """Return the extenders' scores of the feasible rows; skip failed extenders."""
        scores = []
        # Upstream calls these in parallel. Their scores are only added up, so the order
        # does not change a total.
        for client in self._scorers:
            if not client.is_interested(pod):
                continue
            try:
                answer = client.prioritize(pod, nodes.infos_at(rows))
                scores.append(_scores(client, answer, nodes.names_at(rows)))
            except ExtenderError as error:
                # Whether the extender is ignorable does not matter here:
                # ``prioritizeNodes`` (pkg/scheduler/schedule_one.go) ignores all
                # failures of scores, so that the pod is placed by the other scores.
                _log.info("extender %s returned no scores: %s", client.name, error)
        return scores

    def preempt(
        self, pod: Pod, candidates: Sequence[Candidate], nodes: NodeTable
    ) -> Sequence[Candidate] | Status:
        """Let the extenders drop candidates for preemption, or change their victims."""
        for client in self._preemptors:
            if not candidates:
                break
            if not client.is_interested(pod):
                continue
            try:
                victims = client.preempt(pod, candidates)
                candidates = _candidates(client, victims, nodes)
            except ExtenderError as error:
                if not client.config.ignorable:
                    return Status.from_error(error)
                _log.info("skipping extender %s, which failed: %s", client.name, error)
        return candidates

    def bind(
        self, pod: Pod, node_name: str, annotations: Mapping[str, str]
    ) -> Status | None:
        """Let the extender that is responsible for the pod bind it.

        Args:
            pod: The assumed pod.
            node_name: Its node.
            annotations: The annotations that plugins set on it. The protocol cannot
                send them to an extender, so binding such a pod fails.

        Returns:
            None if it bound the pod; Skip if there is no such extender; an Error if it
            failed.
        """
        for client in self._binders:
            if not client.is_interested(pod):
                continue
            try:
                if annotations:
                    raise ExtenderError(_lost(client, annotations))
                client.bind(pod, node_name)
            except ExtenderError as error:
                if not client.config.ignorable:
                    return Status.from_error(error)
                _log.info("skipping extender %s, which failed: %s", client.name, error)
                continue
            return None
        return Status.skip()


NO_EXTENDERS: Final = Extenders()


def _client(config: Extender) -> "ExtenderClient":
    # HTTP and TLS take 10 ms to import, and few configurations have extenders.
    from quaymaster._core.extenders.client import (  # noqa: PLC0415 - above
        ExtenderClient,
    )

    return ExtenderClient(config)


def _lost(client: "ExtenderClient", annotations: Iterable[str]) -> str:
    return (
        f"extender {client.name} binds the pod, but cannot write the annotations that "
        f"plugins set: {', '.join(annotations)}"
    )


def _rejections(answer: FilterAnswer) -> Mapping[str, Status]:
    statuses = {name: Status.unschedulable(why) for name, why in answer.failed.items()}
    for name, why in answer.unresolvable.items():
        # Last, because it counts if an extender names a node in both maps: preemption
        # must not try such a node.
        statuses[name] = Status.unresolvable(why)
    return statuses


def _scores(
    client: "ExtenderClient", answer: Sequence[tuple[str, int]], names: Sequence[str]
) -> ExtenderScores:
    by_name: dict[str, int] = {}
    for name, score in answer:
        # Upstream adds the scores if an answer names a node twice, and ignores nodes
        # that it did not send.
        by_name[name] = by_name.get(name, 0) + score
    scores = [by_name.get(name, 0) for name in names]
    weight = client.config.weight
    # Checked with Python's integers before numpy multiplies, which would wrap around
    # without an error. The check comes for all nodes at once, since one overflow makes
    # all totals useless.
    most = max(map(abs, scores), default=0) * weight * _SCALE
    if most >= _LARGEST:
        raise ExtenderError(f"its scores, times weight {weight}, exceed 64 bits")
    raw: Int64Array = np.array(scores, dtype=np.int64)
    return ExtenderScores(client.name, weight, raw, raw * _SCALE)


def _candidates(
    client: "ExtenderClient", victims: Mapping[str, Victims], nodes: NodeTable
) -> Sequence[Candidate]:
    """Convert an extender's answer to candidates, sorted by the names of their nodes.

    A node without victims is an error, or left out if the extender is ignorable.
    """
    candidates = []
    # In Go, the order of a map is random. A fixed order makes the choice among equally
    # good nodes repeatable.
    for name, answer in sorted(victims.items()):
        pods = _pods(client, name, answer.uids, nodes)
        if pods:
            candidate = Candidate(
                node_name=name, victims=pods, violations=answer.violations
            )
            candidates.append(candidate)
        elif not client.config.ignorable:
            raise ExtenderError(f'expected at least one victim pod on node "{name}"')
    return candidates


def _pods(
    client: "ExtenderClient", node_name: str, uids: Sequence[str], nodes: NodeTable
) -> tuple[Pod, ...]:
    node = nodes.get(node_name)
    if node is None:
        raise ExtenderError(f'nodeinfo not found for node name "{node_name}"')
    for uid in uids:
        if uid not in node.pods:
            raise ExtenderError(
                f"extender: {client.name} claims to preempt pod (UID: {uid}) on node: "
                f"{node_name}, but the pod is not found on that node"
            )
    return tuple(node.pods[uid] for uid in uids)
