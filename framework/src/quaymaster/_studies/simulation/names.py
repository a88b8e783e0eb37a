"""Finds the pod that a user asks about by one of its names."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from quaymaster._api.objects import KINDS, ApiObject, Pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.simulation.kinds import POD_KINDS, kind_called, kind_fits
from quaymaster._studies.simulation.owners import owners_of

__all__ = ["NodeNotFoundError", "PodNotFoundError", "RequestedPod"]

_SHOWN: Final = 5  # names that fit, in a message of one line
_NEAR: Final = 3  # similar names, in the same message
_PARTS: Final = ("namespace", "kind", "name")


class PodNotFoundError(QuaymasterError):
    """No pod, or more than one, has a name.

    Attributes:
        wanted: The requested object.
        pods: The keys that match.
        near: Names that are similar.
    """

    def __init__(
        self,
        wanted: str,
        pods: Sequence[str],
        *,
        problem: str = "no such pod",
        near: Sequence[str] = (),
    ) -> None:
        if len(pods) > 1:
            problem = f"{len(pods)} pods match: {_listed(pods)}; give the whole name"
        elif near:
            problem = f"{problem}; did you mean {' or '.join(near)}?"
        super().__init__(f"pod '{wanted}': {problem}")
        self.wanted = wanted
        self.pods = tuple(pods)
        self.near = tuple(near)


class NodeNotFoundError(QuaymasterError):
    """No node has a name.

    Args:
        wanted: The requested object.
        names: The names of all nodes.

    Attributes:
        wanted: The requested object.
        near: Names that are similar.
    """

    def __init__(self, wanted: str, names: Iterable[str]) -> None:
        self.wanted = wanted
        self.near = tuple(difflib.get_close_matches(wanted, names, n=_NEAR))
        hint = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        super().__init__(f"node '{wanted}': no such node{hint}")


class RequestedPod:
    """A requested pod, or the first pod of a workload; it may not exist yet.

    Args:
        text: ``name``, ``namespace/name``, ``kind/name`` or ``namespace/kind/name``.
            The kind is as for kubectl: singular, plural or short, with or without a
            group.
        namespace: The only namespace to search; empty for all namespaces.
        cluster: The cluster with the pods and their owners.

    Raises:
        PodNotFoundError: The text cannot be a name.
    """

    def __init__(self, text: str, namespace: str, cluster: InMemoryCluster) -> None:
        self._text = text
        self._cluster = cluster
        parts = text.split("/")
        if len(parts) > len(_PARTS) or not all(parts):
            expected = "expected NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME"
            raise PodNotFoundError(text, [], problem=expected)
        own, self._kind, self._name = [""] * (len(_PARTS) - len(parts)) + parts
        if own and namespace not in ("", own):
            problem = f"it is not in the namespace {namespace}"
            raise PodNotFoundError(text, [], problem=problem)
        self._namespace = own or namespace
        self._tried: dict[str, Pod] = {}

    def takes(self, pod: Pod) -> bool:
        """Whether a pod that is about to be tried may be the requested one.

        Of the pods of a workload, only the first one in each namespace may.
        """
        if pod.key in self._tried:
            return True
        if self._namespace not in ("", pod.namespace):
            return False
        if not self._is_named(pod):
            namespaces = {tried.namespace for tried in self._tried.values()}
            if pod.namespace in namespaces or not self._is_owned(pod):
                return False
        self._tried[pod.key] = pod
        return True

    def has_taken(self, pod: Pod) -> bool:
        """Whether `takes` has returned True for a pod."""
        return pod.key in self._tried

    def find(self) -> Pod:
        """Return the requested pod among existing pods and pods that were tried.

        Raises:
            PodNotFoundError: No pod matches, or several do.
        """
        now = {pod.key: pod for pod in self._cluster.list(Pod).items}
        pods = [now.get(key, pod) for key, pod in self._tried.items()]
        pods += [pod for key, pod in now.items() if key not in self._tried]
        if self._namespace:
            pods = [pod for pod in pods if pod.namespace == self._namespace]
        named = [pod for pod in pods if self._is_named(pod)]
        if len(named) > 1:
            raise PodNotFoundError(self._text, [pod.key for pod in named])
        owned = named or [pod for pod in pods if self._is_owned(pod)]
        if not owned:
            raise self._not_found(pods)
        namespaces = list(dict.fromkeys(pod.namespace for pod in owned))
        if len(namespaces) > 1:
            listed = _listed(namespaces)
            problem = f"{len(namespaces)} namespaces have it: {listed}; name one"
            raise PodNotFoundError(self._text, [], problem=problem)
        return owned[0]

    def pending(self) -> Pod | None:
        """Return the first pod of the workload that has no node, or None.

        None is returned, too, if the name is that of a pod.
        """
        pods = self.matching()
        if any(map(self._is_named, pods)):
            return None
        return next(
            (
                pod
                for pod in pods
                if not (pod.node_name or pod.is_finished or pod.is_terminating)
            ),
            None,
        )

    def matching(self) -> list[Pod]:
        """Return the existing pods with the name, or whose workload has it."""
        pods = [
            pod
            for pod in self._cluster.list(Pod).items
            if self._namespace in ("", pod.namespace)
        ]
        named = [pod for pod in pods if self._is_named(pod)]
        return named or [pod for pod in pods if self._is_owned(pod)]

    def _is_named(self, pod: Pod) -> bool:
        if pod.name != self._name:
            return False
        return self._kind in ("", pod.namespace) or kind_called(self._kind) == "Pod"

    def _is_owned(self, pod: Pod) -> bool:
        return bool(self._kind) and any(
            owner.name == self._name
            and kind_fits(self._kind, owner.kind, owner.api_version)
            for owner in owners_of(pod, self._cluster)
        )

    def _not_found(self, pods: Sequence[Pod]) -> PodNotFoundError:
        kind = kind_called(self._kind) or "Pod"
        workloads = list(self._workloads())
        for obj in workloads:
            if obj.kind == kind and obj.name == self._name:
                why = self._cluster.why_short(obj)
                problem = f"the {kind} has no pods" + (f": {why}" if why else "")
                return PodNotFoundError(self._text, [], problem=problem)
        reason = self._why_missing() if kind == "Pod" else ""
        if reason:
            return PodNotFoundError(self._text, [], problem=reason)
        problem = "no such pod" if kind == "Pod" else f"no such {kind}"
        near = self._near(
            {
                # Reversed, so that of equal names the first one counts.
                **{obj.name: obj.key for obj in reversed(pods)},
                **{
                    obj.name: f"{obj.kind.lower()}/{obj.name}"
                    for obj in reversed(workloads)
                    if obj.metadata.controller is None or obj.kind == kind
                },
            }
        )
        return PodNotFoundError(self._text, [], problem=problem, near=near)

    def _why_missing(self) -> str:
        """Return why a workload lacks its pod; empty for other names."""
        # A first part that is not a kind is a namespace.
        namespace = "" if kind_called(self._kind) else self._kind
        if namespace and self._namespace not in ("", namespace):
            return ""
        return self._cluster.why_missing(self._name, namespace or self._namespace)

    def _workloads(self) -> Iterable[ApiObject]:
        for kind in POD_KINDS:
            cls = KINDS.get(kind, Pod)
            for obj in () if cls is Pod else self._cluster.list(cls).items:
                if self._namespace in ("", obj.namespace):
                    yield obj

    def _near(self, called: Mapping[str, str]) -> Sequence[str]:
        """Return names that are similar to the requested one.

        Args:
            called: Name -> the form in which to show it.
        """
        # The names of pods begin with that of their workload.
        begins = [name for name in called if name.startswith(f"{self._name}-")]
        same = [self._name] if self._name in called else []
        close = difflib.get_close_matches(self._name, called, n=_NEAR)
        names = dict.fromkeys([*same, *begins[:1], *close])
        return [called[name] for name in list(names)[:_NEAR]]


def _listed(keys: Sequence[str]) -> str:
    shown = ", ".join(keys[:_SHOWN])
    return shown if len(keys) <= _SHOWN else f"{shown}, ..."
