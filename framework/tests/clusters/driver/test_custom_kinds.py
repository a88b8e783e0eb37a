"""Kinds that plugins declare are followed where the server has them."""

from typing import ClassVar

from quaymaster import ApiObject
from tests.kit.following import Following
from tests.kit.scripted_server import ScriptedServer


class Lane(ApiObject, frozen=True, kw_only=True):
    """A kind of the whole cluster."""

    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Lane"
    plural: ClassVar[str] = "lanes"
    namespaced: ClassVar[bool] = False

    width: int = 0


class Berth(ApiObject, frozen=True, kw_only=True):
    """A kind of namespaces."""

    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Berth"
    plural: ClassVar[str] = "berths"


def test_a_kind_of_the_whole_cluster_has_no_namespace_in_its_keys() -> None:
    server = ScriptedServer()
    server.put("left", namespace="", width=3)
    following = Following(server, Lane)
    following.step()
    lane = following.informers.get(Lane, "left")
    assert lane is not None
    assert lane.width == 3
    server.remove("left", namespace="")
    server.forget()
    following.step(2)
    assert following.changes.lines == ["added left", "gone left (missed)"]


def test_declared_kinds_are_followed_by_their_paths() -> None:
    paths = [Following(ScriptedServer(), kind).followed.path for kind in (Lane, Berth)]
    assert paths == ["/apis/acme.example/v1/lanes", "/apis/acme.example/v1/berths"]


def test_an_object_that_breaks_the_rules_of_its_class_keeps_its_last_state() -> None:
    server = ScriptedServer()
    server.put("left", namespace="", width=3)
    following = Following(server, Lane)
    following.step()
    server.put("left", namespace="", width="wide")
    following.step()
    lane = following.informers.get(Lane, "left")
    assert lane is not None
    assert lane.width == 3
    assert following.followed.unreadable == 1
