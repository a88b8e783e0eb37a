"""A gate that follows objects of its own kind, and mistakes in it."""

from collections.abc import Sequence
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Pod,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.testing import clusters, make_metadata, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["GATE_MISTAKES", "OWN", "GatesEachPod", "GatesGroups"]

SEASON = "example.com/season"
CLOSED = Status.unresolvable("its season has not begun")


class Season(ApiObject, frozen=True, kw_only=True):
    """A season of all namespaces, which has begun."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Season"
    plural: ClassVar[str] = "seasons"
    namespaced: ClassVar[bool] = False


class LocalSeason(ApiObject, frozen=True, kw_only=True):
    """A season of one namespace, which has begun."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "LocalSeason"
    plural: ClassVar[str] = "localseasons"


class GatesEachPod(Plugin):
    """Correct: a pod waits until the season of its label has begun."""

    season: ClassVar[type[ApiObject]] = Season
    kinds: ClassVar[Sequence[type[ApiObject]]] = (Season,)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        name = pod.labels.get(SEASON, "")
        has_begun = self.handle.informers.get(self.season, name) is not None
        return None if has_begun or not name else CLOSED

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            EventsOf(self.season)(Change.ADD),
            on_pod.target(Change.UPDATE_POD_LABEL),
        ]


class GatesGroups(GatesEachPod):
    """Correct: all pods of a group have the namespace in common."""

    gates_groups = True

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        has_begun = self.handle.informers.get(self.season, pod.namespace) is not None
        return CLOSED if pod.namespace == "winter" and not has_begun else None


class GatesGroupsByTheLabelsOfPods(GatesEachPod):
    gates_groups = True


class LooksUpNamesWithoutNamespaces(GatesEachPod):
    season: ClassVar[type[ApiObject]] = LocalSeason
    kinds: ClassVar[Sequence[type[ApiObject]]] = (LocalSeason,)


class LooksUpNamesWithNamespaces(GatesEachPod):
    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        key = f"{pod.namespace}/{pod.labels.get(SEASON)}"
        has_begun = self.handle.informers.get(self.season, key) is not None
        return None if has_begun or SEASON not in pod.labels else CLOSED


def _season(name: str) -> ApiObject:
    return Season(metadata=make_metadata(Season, name=name))


def _local_season(name: str) -> ApiObject:
    return LocalSeason(metadata=make_metadata(LocalSeason, name=name))


NAMES = ("spring", "autumn")
LABELLED = pods(
    *({"labels": {SEASON: name}} for name in NAMES), {"namespace": "winter"}
)
OWN = clusters(pods=LABELLED, objects=st.builds(_season, st.sampled_from(NAMES)))
LOCAL = clusters(
    pods=LABELLED, objects=st.builds(_local_season, st.sampled_from(NAMES))
)
GATE_MISTAKES: Sequence[Mistake] = (
    Mistake(GatesGroupsByTheLabelsOfPods, ["group gates"], OWN),
    Mistake(LooksUpNamesWithoutNamespaces, ["failures"], LOCAL),
    Mistake(LooksUpNamesWithNamespaces, ["failures"], OWN),
)
