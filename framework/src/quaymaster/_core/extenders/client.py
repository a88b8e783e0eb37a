"""The scheduler's client of an extender.

Mirrors ``HTTPExtender`` (Kubernetes v1.36, ``pkg/scheduler/extender.go``). An extender
that names a node which is not in the request is an error. If it sends such a node back
in full, the node is feasible.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from quaymaster._api.objects import Container, Node, Pod, encode
from quaymaster._core.config.settings import Extender
from quaymaster._core.contract.results import Candidate
from quaymaster._core.extenders.errors import ExtenderError, LostAnswerError
from quaymaster._core.extenders.node_texts import NodeTexts
from quaymaster._core.extenders.transport import Endpoint
from quaymaster._core.extenders.victims import (
    Victims,
    preemption_request,
    read_preemption_answer,
)
from quaymaster._core.extenders.wire import (
    FilterAnswer,
    WireError,
    binding_request,
    nodes_request,
    read_binding_answer,
    read_filter_answer,
    read_scores,
    within_depth,
)
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["ExtenderClient"]

T = TypeVar("T")


class ExtenderClient:
    """Calls one extender.

    Args:
        config: Its configuration.

    Attributes:
        config: Its configuration.

    Raises:
        ExtenderError: The URL or the certificates cannot be used.
    """

    def __init__(self, config: Extender) -> None:
        self.config = config
        self._endpoint = Endpoint(config)
        self._managed = frozenset(item.name for item in config.managed_resources)
        self._answered = NodeTexts()
        # (verb, node name) -> node and text: other extenders may replace the nodes
        # between two verbs.
        self._node_texts: dict[tuple[str, str], tuple[Node, msgspec.Raw]] = {}

    @property
    def name(self) -> str:
        """The name of the extender: its URL."""
        return self.config.url_prefix

    def is_interested(self, pod: Pod) -> bool:
        """Whether the pod requests a resource that this extender manages."""
        if not self._managed:
            return True
        spec = pod.spec
        containers: Iterable[Container] = (*spec.containers, *spec.init_containers)
        # The names in requests and limits of single containers decide, as in
        # ``hasManagedResources``: an amount of 0 counts, and resources of the pod as a
        # whole do not. The total requests of the pod would answer both differently.
        return any(
            not self._managed.isdisjoint(amounts)
            for container in containers
            for amounts in (container.resources.requests, container.resources.limits)
        )

    def filter(self, pod: Pod, nodes: Sequence[NodeInfo]) -> FilterAnswer:
        """Call the filter verb for some nodes.

        Raises:
            ExtenderError: There was no response, or it is not valid.
        """
        by_name = self.config.node_cache_capable
        answer = self._call(
            self.config.filter_verb,
            self._request(self.config.filter_verb, pod, nodes),
            lambda body: read_filter_answer(
                body, by_name=by_name, texts=self._answered
            ),
        )
        if answer.error:
            raise ExtenderError(answer.error)
        if answer.nodes is None:
            self._check(answer.passed, {node.name for node in nodes})
        return answer

    def prioritize(
        self, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> Sequence[tuple[str, int]]:
        """Call the prioritize verb: scores of some nodes, from 0 to 10.

        Raises:
            ExtenderError: There was no response, or it is not valid.
        """
        verb = self.config.prioritize_verb
        return self._call(verb, self._request(verb, pod, nodes), read_scores)

    def preempt(
        self, pod: Pod, candidates: Sequence[Candidate]
    ) -> Mapping[str, Victims]:
        """Call the preempt verb: the nodes to make room on, with their victims.

        Raises:
            ExtenderError: There was no response, or it is not valid.
        """
        request = preemption_request(
            msgspec.Raw(encode(pod)),
            candidates,
            by_uid=self.config.node_cache_capable,
        )
        return self._call(self.config.preempt_verb, request, read_preemption_answer)

    def bind(self, pod: Pod, node_name: str) -> None:
        """Call the bind verb for a pod.

        Raises:
            LostAnswerError: The pod may be bound or not.
            ExtenderError: The pod was not bound.
        """
        metadata = pod.metadata
        request = binding_request(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            node_name=node_name,
        )
        problem = self._call(self.config.bind_verb, request, read_binding_answer)
        if problem:
            raise ExtenderError(problem)

    def _request(self, verb: str, pod: Pod, nodes: Sequence[NodeInfo]) -> bytes:
        text = msgspec.Raw(encode(pod))
        if self.config.node_cache_capable:
            return nodes_request(text, names=[node.name for node in nodes])
        return nodes_request(text, nodes=[self._text_of(verb, node) for node in nodes])

    def _text_of(self, verb: str, info: NodeInfo) -> msgspec.Raw:
        key = verb, info.name
        entry = self._node_texts.get(key)
        # Identity: a changed node is a new object; an equal one is encoded again.
        if entry is not None and entry[0] is info.node:
            return entry[1]
        text = msgspec.Raw(encode(info.node))
        self._node_texts[key] = info.node, text
        return text

    def _call(self, verb: str, request: bytes, read: Callable[[bytes], T]) -> T:
        body = self._endpoint.post(verb, request)
        try:
            with within_depth("the answer"):
                return read(body)
        except WireError as error:
            problem = f"cannot read the response of extender {self.name!r}: {error}"
            # Not a plain error: the extender has handled the request, so a bind may
            # have happened.
            raise LostAnswerError(problem) from error

    def _check(self, passed: Iterable[str], requested: Collection[str]) -> None:
        for name in passed:
            if name not in requested:
                raise ExtenderError(
                    f'extender "{self.name}" claims a filtered node "{name}" which is '
                    "not found in the input node list"
                )
