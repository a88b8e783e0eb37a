"""Terms of pod affinity and anti-affinity, compiled.

A `PodTerm` selects pods by their labels, in namespaces that it names or selects by
labels. Mirrors ``AffinityTerm`` (k8s.io/kube-scheduler v0.36,
``framework/types.go``).
"""

from collections.abc import Iterable, Mapping

import attrs

from quaymaster._api.objects import PodAffinityTerm
from quaymaster._api.objects.selectors import Selector, compile_label_selector

__all__ = ["PodTerm", "compile_pod_terms"]


@attrs.frozen(kw_only=True, cache_hash=True)
class PodTerm:
    """Selects pods, and names the node label whose equal values mean "near".

    Attributes:
        selector: Matches the labels of the pods.
        namespaces: The namespaces that the term names.
        namespace_selector: Selects more namespaces by their labels.
        topology_key: The node label.
    """

    selector: Selector
    namespaces: frozenset[str]
    namespace_selector: Selector
    topology_key: str

    def selects(
        self,
        namespace: str,
        namespace_labels: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> bool:
        """Whether the term is about a pod.

        Args:
            namespace: The pod's namespace.
            namespace_labels: The labels of that namespace.
            labels: The labels of the pod.
        """
        return (
            namespace in self.namespaces
            or self.namespace_selector.matches(namespace_labels)
        ) and self.selector.matches(labels)


def compile_pod_terms(
    terms: Iterable[PodAffinityTerm], namespace: str
) -> tuple[PodTerm, ...]:
    """Compile the terms of a pod in a namespace.

    A term that neither names nor selects namespaces is about the pod's own. The fields
    ``matchLabelKeys`` and ``mismatchLabelKeys`` are not read: the API server has merged
    them into the selectors.

    Raises:
        SelectorError: Some selector cannot be evaluated.
    """
    return tuple(_compile(term, namespace) for term in terms)


def _compile(term: PodAffinityTerm, namespace: str) -> PodTerm:
    names = term.namespaces
    if not names and term.namespace_selector is None:
        names = (namespace,)
    return PodTerm(
        selector=compile_label_selector(term.label_selector),
        namespaces=frozenset(names),
        namespace_selector=compile_label_selector(term.namespace_selector),
        topology_key=term.topology_key,
    )
