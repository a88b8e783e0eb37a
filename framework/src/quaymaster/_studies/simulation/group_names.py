"""Finds the PodGroup that a user asks about."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import CompositePodGroup, PodGroup
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.simulation.kinds import kind_fits

__all__ = ["GroupName", "GroupNotFoundError", "group_name"]

_GATE: Final = "GenericWorkload"
_NEAR: Final = 3
_SHOWN: Final = 5


class GroupNotFoundError(QuaymasterError):
    """No PodGroup, or more than one, has a name, or groups are switched off.

    Attributes:
        name: The requested name.
        problem: What is wrong.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"podgroup '{name}': {problem}")
        self.name = name
        self.problem = problem


@attrs.frozen
class GroupName:
    """A requested PodGroup, which may not exist yet.

    Attributes:
        namespace: Its namespace; empty for all.
        name: Its name.
    """

    namespace: str
    name: str

    def fits(self, key: str) -> bool:
        """Whether a key, ``namespace/name``, has this name."""
        namespace, _, name = key.partition("/")
        return name == self.name and self.namespace in ("", namespace)

    def key_in(self, cluster: InMemoryCluster) -> str:
        """Return ``namespace/name`` of the group that exists, or that pods name.

        Raises:
            GroupNotFoundError: There is none, or there are several.
        """
        self._require_gate(cluster.kubernetes)
        keys = sorted(_keys(cluster))
        fitting = [key for key in keys if self.fits(key)]
        if not fitting:
            raise GroupNotFoundError(self._text, f"no such PodGroup{self._hint(keys)}")
        if len(fitting) > 1:
            listed = ", ".join(fitting[:_SHOWN])
            more = ", ..." if len(fitting) > _SHOWN else ""
            problem = f"{len(fitting)} PodGroups match: {listed}{more}"
            raise GroupNotFoundError(self._text, f"{problem}; give the namespace")
        return fitting[0]

    def _require_gate(self, kubernetes: Kubernetes) -> None:
        if not kubernetes.enabled(_GATE):
            problem = (
                f"the feature gate {_GATE} is off, so PodGroups have no effect; "
                f"--feature-gates {_GATE}=true switches it on"
            )
            raise GroupNotFoundError(self._text, problem)

    @property
    def _text(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def _hint(self, keys: Sequence[str]) -> str:
        if not keys:
            return "; there is none"
        by_name = {key.partition("/")[2]: key for key in reversed(keys)}
        # A controller appends a hash to the names of the groups that it makes.
        near = [name for name in by_name if name.startswith(f"{self.name}-")]
        near = near or difflib.get_close_matches(self.name, by_name, n=_NEAR)
        if near:
            texts = [by_name[name] for name in near[:_NEAR]]
            return f"; did you mean {' or '.join(texts)}?"
        more = ", ..." if len(keys) > _SHOWN else ""
        return f"; there are: {', '.join(keys[:_SHOWN])}{more}"


def _keys(cluster: InMemoryCluster) -> Iterable[str]:
    keys = {group.key for group in cluster.list(PodGroup).items}
    return keys | {pod.group_key for pod in cluster.list(Pod).items if pod.group_key}


def group_name(
    text: str,
    namespace: str = "",
    *,
    error: Callable[[str, str], QuaymasterError] = GroupNotFoundError,
) -> GroupName | None:
    """Return the PodGroup that a text names, or None if it names something else.

    Args:
        text: ``podgroup/NAME`` or ``NAMESPACE/podgroup/NAME``.
        namespace: The only namespace to search; empty for all.
        error: Makes the error about a text and a problem.

    Raises:
        GroupNotFoundError: The text names another namespace, or a CompositePodGroup.
    """
    parts = text.split("/")
    if len(parts) not in (2, 3) or not all(parts):
        return None
    if kind_fits(parts[-2], CompositePodGroup.kind, CompositePodGroup.api_version):
        problem = "expected a PodGroup below this CompositePodGroup: podgroup/NAME"
        raise error(text, problem)
    if not kind_fits(parts[-2], PodGroup.kind, PodGroup.api_version):
        return None
    own = parts[0] if len(parts) == 3 else ""
    if own and namespace not in ("", own):
        raise error(text, f"it is not in the namespace {namespace}")
    return GroupName(own or namespace, parts[-1])
