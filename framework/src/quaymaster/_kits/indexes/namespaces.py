"""The namespaces of the cluster, as the selectors of pod affinity see them.

Mirrors how kube-scheduler 1.36.2 and 1.37.2 look namespaces up
(``pkg/scheduler/framework/plugins/interpodaffinity/plugin.go``).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster._api.objects import Namespace
from quaymaster._api.objects.selectors import Selector
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.contract.informers import Informers
from quaymaster._core.state.counting.pod_terms import PodTerm

__all__ = ["Namespaces"]

_NO_LABELS: Final[Mapping[str, str]] = {}


class Namespaces:
    """The namespaces of the cluster, as selectors see them.

    Answers are remembered until a namespace is added, removed or changed.

    Args:
        informers: Where the namespaces come from.
        kubernetes: The Kubernetes whose decisions are made.
    """

    __slots__ = (
        "_changes",
        "_informers",
        "_listed",
        "_rechecks_selectors",
        "_selected",
    )

    def __init__(
        self, informers: Informers, kubernetes: Kubernetes = DEFAULT_KUBERNETES
    ) -> None:
        self._rechecks_selectors = not kubernetes.has("namespace-selector-resolved")
        self._informers = informers
        self._changes = informers.changes(Namespace)
        self._listed: Sequence[Namespace] = ()
        self._selected: dict[Selector, frozenset[str]] = {}

    @property
    def revision(self) -> int:
        """Grows whenever a namespace is added, removed or changed."""
        return self._changes.revision

    def labels_of(self, name: str) -> Mapping[str, str]:
        """Return the labels of a namespace; none if it is not known."""
        namespace = self._informers.get(Namespace, name)
        return _NO_LABELS if namespace is None else namespace.metadata.labels

    def select(self, selector: Selector) -> frozenset[str]:
        """Return the names of the namespaces that a selector matches."""
        listed = self._informers.list(Namespace)
        # Identity, mostly: objects are replaced and never changed.
        if listed != self._listed:
            self._listed = listed
            self._selected.clear()
        names = self._selected.get(selector)
        if names is None:
            names = self._selected[selector] = frozenset(
                namespace.name
                for namespace in listed
                if selector.matches(namespace.metadata.labels)
            )
        return names

    def of(self, term: PodTerm) -> frozenset[str] | None:
        """Return the namespaces that a term selects; None means all, known or not.

        Before Kubernetes 1.37, a selector that also matches a namespace without labels
        (by ``NotIn`` or ``DoesNotExist``) selects all namespaces: the names of the
        matching namespaces are added to the term, but the selector is evaluated again
        for each pod, and without the labels of the pod's namespace.
        """
        if term.namespace_selector.matches_everything:
            return None
        if self._rechecks_selectors and term.namespace_selector.matches(_NO_LABELS):
            return None
        if term.namespace_selector.matches_nothing:
            return term.namespaces
        return term.namespaces | self.select(term.namespace_selector)
