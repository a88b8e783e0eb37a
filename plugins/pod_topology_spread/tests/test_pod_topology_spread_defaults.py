"""Selectors of default constraints: rule 25 of the parity format."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quaymaster import ApiObject
from quaymaster.columns import ChangeLog
from quaymaster.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    ObjectIndex,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicationController,
    ReplicationControllerSpec,
    StatefulSet,
    StatefulSetSpec,
    selector_from_labels,
)
from quaymaster.testing import make_metadata, make_pod, make_service
from quaymaster_pod_topology_spread.defaults import DefaultSelectors

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)

APP, FRONT = {"app": "web"}, {"tier": "front"}
BOTH = {**APP, **FRONT}
BROKEN = LabelSelector(
    match_expressions=(LabelSelectorRequirement(key="app", operator="Sometimes"),)
)


class FixedObjects:
    """Make informers with a few objects."""

    def __init__(self, objects: Sequence[ApiObject]) -> None:
        self._objects = objects
        self._log: ChangeLog[str] = ChangeLog()

    def replace(self, objects: Sequence[ApiObject]) -> None:
        keys = dict.fromkeys(obj.key for obj in (*self._objects, *objects))
        self._objects = objects
        for key in keys:
            self._log.note(key)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        return next((obj for obj in self.list(kind) if obj.key == key), None)

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        return [
            obj
            for obj in self._objects
            if isinstance(obj, kind) and namespace in (None, obj.namespace)
        ]

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        return ObjectIndex(self, kind, by)

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        return self._log

    def on_change(
        self, kind: type[ObjT], callback: Callable[[ObjT | None, ObjT | None], None]
    ) -> Callable[[], None]:
        raise AssertionError("the code under test reads the log")


def replication_controller(selector: dict[str, str]) -> ReplicationController:
    metadata = make_metadata(ReplicationController, name="owner", namespace="default")
    spec = ReplicationControllerSpec(selector=selector)
    return ReplicationController(metadata=metadata, spec=spec)


def replica_set(selector: LabelSelector | None) -> ReplicaSet:
    metadata = make_metadata(ReplicaSet, name="owner", namespace="default")
    return ReplicaSet(metadata=metadata, spec=ReplicaSetSpec(selector=selector))


def stateful_set(selector: LabelSelector | None) -> StatefulSet:
    metadata = make_metadata(StatefulSet, name="owner", namespace="default")
    return StatefulSet(metadata=metadata, spec=StatefulSetSpec(selector=selector))


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        pytest.param([], {}, id="no service"),
        pytest.param([make_service(selector=APP)], APP, id="one"),
        pytest.param([make_service(selector={"app": "db"})], {}, id="another one"),
        pytest.param([make_service(selector={})], {}, id="one that leads nowhere"),
        pytest.param(
            [make_service(namespace="other", selector=APP)], {}, id="elsewhere"
        ),
        pytest.param(
            [
                make_service(name="x", selector=APP),
                make_service(name="y", selector=FRONT),
            ],
            BOTH,
            id="two together",
        ),
    ],
)
def test_rule_25_selectors_of_services_are_merged(
    services: list[ApiObject], expected: Mapping[str, str]
) -> None:
    selector = DefaultSelectors(FixedObjects(services)).of(make_pod(labels=BOTH))
    assert selector == selector_from_labels(expected)


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        pytest.param(
            replica_set(LabelSelector(match_labels=APP)), BOTH, id="replica set"
        ),
        pytest.param(
            stateful_set(LabelSelector(match_labels=APP)), BOTH, id="stateful set"
        ),
        pytest.param(replication_controller(APP), BOTH, id="replication controller"),
        pytest.param(replica_set(None), FRONT, id="owner without selector"),
        pytest.param(replica_set(LabelSelector()), FRONT, id="empty selector"),
        pytest.param(stateful_set(BROKEN), FRONT, id="broken selector"),
        pytest.param(make_service(name="owner", selector=APP), BOTH, id="no set"),
    ],
)
def test_rule_25_selector_of_the_owner_is_added(
    owner: ApiObject, expected: Mapping[str, str]
) -> None:
    objects = FixedObjects([make_service(selector=FRONT), owner])
    selector = DefaultSelectors(objects).of(make_pod(labels=BOTH, owner=owner))
    assert selector == selector_from_labels(expected)


@pytest.mark.parametrize(
    "owner",
    [replica_set(None), stateful_set(None), replication_controller(APP)],
    ids=["replica set", "stateful set", "replication controller"],
)
def test_rule_25_owner_that_is_gone_counts_for_nothing(owner: ApiObject) -> None:
    pod = make_pod(labels=APP, owner=owner)
    assert DefaultSelectors(FixedObjects([])).of(pod).matches_everything


def test_services_that_come_and_go_are_heard_of() -> None:
    objects = FixedObjects([])
    selectors = DefaultSelectors(objects)
    pod = make_pod(labels=APP)
    assert selectors.of(pod).matches_everything
    objects.replace([make_service(selector=APP)])
    assert selectors.of(pod) == selector_from_labels(APP)
    objects.replace([])
    assert selectors.of(pod).matches_everything


OWNERS = [
    replica_set(LabelSelector(match_labels=APP)),
    replica_set(LabelSelector(match_labels=FRONT)),
    stateful_set(LabelSelector(match_labels=APP)),
    replication_controller(FRONT),
]
SERVICES = [
    make_service(name="x", selector=APP),
    make_service(name="y", selector=FRONT),
    make_service(name="z", namespace="other", selector=BOTH),
]
PODS = [
    make_pod(labels=labels, owner=owner, namespace=namespace)
    for labels in (APP, FRONT, BOTH)
    for owner in (None, *OWNERS[1:])
    for namespace in ("default", "other")
]


@given(
    st.lists(st.sets(st.sampled_from(range(7))), min_size=1, max_size=4),
    st.lists(st.sampled_from(range(len(PODS))), min_size=1, max_size=3),
)
@example([{0}, {1}], [2])  # one owner replaces another
@example([{4}, {5}], [18])  # another service selects the pod
@example([{4}], [2, 10])  # the pods of one owner differ
def test_what_is_known_of_an_owner_is_what_a_new_search_finds(
    history: list[set[int]], indexes: list[int]
) -> None:
    objects = FixedObjects([])
    selectors = DefaultSelectors(objects)
    for present in history:
        objects.replace([(*OWNERS, *SERVICES)[index] for index in sorted(present)])
        for pod in [PODS[index] for index in indexes]:
            assert selectors.of(pod) == DefaultSelectors(objects).of(pod)
