"""The contract suite advises what to change about a finding."""

from collections.abc import Sequence
from typing import ClassVar

import pytest
from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    Handle,
    NodeInfo,
    Pod,
    QueueingHint,
    Scope,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.objects import ApiValue
from quaymaster.testing import (
    ContractError,
    check_plugin,
    clusters,
    make_metadata,
    make_pod,
)
from tests.kit.internals.testing import CHECKS


class HealthSpec(ApiValue, frozen=True, kw_only=True):
    health: int = 0


class Health(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Health"
    plural: ClassVar[str] = "healths"
    namespaced: ClassVar[bool] = False
    spec: HealthSpec = HealthSpec()


class Relative:
    """Compares nodes with the healthiest one, although its scope is one node."""

    kinds = (Health,)
    scope = Scope.NODE

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle
        handle.informers.on_change(Health, self.follow)

    def follow(self, old: Health | None, new: Health | None) -> None:
        changed = new or old
        assert changed is not None
        self.handle.changed(nodes=[changed.name], requeue=False)

    @hookimpl
    def sign_pod(self) -> str:
        return ""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        healths = {
            each.name: each.spec.health for each in self.handle.informers.list(Health)
        }
        return 100 * healths.get(node.name, 1) // max(healths.values(), default=1)


def health(name: str, value: int) -> Health:
    metadata = make_metadata(Health, name=name)
    return Health(metadata=metadata, spec=HealthSpec(health=value))


@pytest.mark.usefixtures("unshrunk_examples")
@pytest.mark.long
def test_scope_that_is_too_narrow_is_named() -> None:
    drawn = st.builds(health, st.sampled_from(["n0", "n1"]), st.integers(1, 9))
    others = {name: "not asked here" for name in CHECKS if name != "object changes"}
    with pytest.raises(ContractError, match=r"declare scope = Scope\.CLUSTER"):
        check_plugin(Relative, clusters=clusters(objects=drawn), opt_outs=others)


def _after(pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
    other = old or new
    is_near = other is not None and other.namespace == pod.namespace
    return QueueingHint.QUEUE if is_near else QueueingHint.SKIP


class CountsAllNamespaces:
    """Its hint wakes pods of one namespace, but its filter looks at all of them."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.DELETE | Change.UPDATE, _after)]

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        loud = any(pod.labels for pod in node.pods.values())
        return Status.unschedulable("a pod is loud") if loud else None


@pytest.mark.usefixtures("unshrunk_examples")
@pytest.mark.long
def test_finding_about_pods_of_two_namespaces_says_so() -> None:
    drawn = st.builds(
        make_pod,
        namespace=st.sampled_from(["default", "other"]),
        labels=st.sampled_from([{}, {"loud": "yes"}]),
    )
    others = dict.fromkeys(CHECKS, "not asked here")
    del others["events"]
    with pytest.raises(ContractError, match="they are in different namespaces"):
        check_plugin(
            CountsAllNamespaces, clusters=clusters(pods=drawn), opt_outs=others
        )
