"""The contract suite advises what to change about a finding."""

from typing import ClassVar

import pytest
from hypothesis import strategies as st

from quaymaster import ApiObject, Handle, NodeInfo, Scope, hookimpl
from quaymaster.objects import ApiValue
from quaymaster.testing import ContractError, check_plugin, clusters, make_metadata
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
