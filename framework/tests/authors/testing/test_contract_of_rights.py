"""The harness and the contract suite report undeclared reads and writes."""

from collections.abc import Sequence

import pytest

from quaymaster import ApiObject, Handle, Pod, Status, hookimpl
from quaymaster.cluster import ApiError, Verb, Write
from quaymaster.objects import Service
from quaymaster.testing import (
    ContractError,
    PluginHarness,
    check_plugin,
    make_node,
    make_pod,
)


class Evicts:
    """Deletes the pods that it handles, without declaring it."""

    reads: Sequence[type[ApiObject]] = ()

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        try:
            self.handle.cluster.delete(Pod, pod.key)
        except ApiError as error:
            return Status.from_error(error)
        return None


class SaysSo(Evicts):
    writes = (Write(Verb.DELETE, Pod),)


class Old:
    """Declares neither its reads nor its writes."""

    __init__ = Evicts.__init__
    pre_bind = Evicts.pre_bind


class Hides(Evicts):
    """Hides that a call failed."""

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        try:
            self.handle.cluster.delete(Pod, pod.key)
        except Exception:
            return None
        return None


class Looks:
    """Reads services without declaring it."""

    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        self.handle.informers.list(Service)
        return None


def harness_of(plugin: type) -> PluginHarness:
    pod = make_pod(name="p")
    return PluginHarness(plugin, nodes=[make_node(name="n")], objects=[pod])


def test_harness_rejects_an_undeclared_write() -> None:
    harness = harness_of(Evicts)
    with pytest.raises(ContractError) as caught:
        harness.pre_bind(harness.cluster.get(Pod, "default/p"), "n")
    assert str(caught.value) == (
        "plugin 'Evicts' asks for delete of pods, which its class does not declare: "
        "writes = (Write(Verb.DELETE, Pod),)"
    )
    assert harness.cluster.get(Pod, "default/p").name == "p"


@pytest.mark.parametrize("plugin", [SaysSo, Old])
def test_harness_accepts_declared_writes_and_plugins_without_declarations(
    plugin: type,
) -> None:
    harness = harness_of(plugin)
    assert harness.pre_bind(harness.cluster.get(Pod, "default/p"), "n") is None
    assert not harness.refused


@pytest.mark.long
@pytest.mark.parametrize("plugin", [Evicts, Hides])
def test_suite_finds_an_undeclared_write(plugin: type) -> None:
    with pytest.raises(ContractError) as caught:
        check_plugin(plugin)
    (found,) = [
        violation
        for violation in caught.value.violations
        if violation.check == "rights"
    ]
    assert found.hook == "pre_bind"
    assert found.problem.startswith("asks for delete of pods, which its class does")


@pytest.mark.long
def test_suite_finds_an_undeclared_lookup() -> None:
    with pytest.raises(ContractError, match=r"reads = \(Service,\)"):
        check_plugin(Looks)
