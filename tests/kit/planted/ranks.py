"""A plugin that orders pods by an object of their team, and mistakes in it."""

from collections.abc import Sequence
from typing import ClassVar

from hypothesis import strategies as st

from quaymaster import ApiObject, Handle, Pod, QueuedPodInfo, hookimpl
from quaymaster.objects import ObjectMeta
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "RANK_MISTAKES", "CountsRanks", "Ranks"]

TEAM = "example.com/team"


class Team(ApiObject, frozen=True, kw_only=True):
    """The rank of a team in its namespace."""

    api_version: ClassVar[str] = "example.com/v1"
    kind: ClassVar[str] = "Team"
    plural: ClassVar[str] = "teams"

    rank: int = 0


class Ranks(Plugin):
    """Correct: pods of teams with higher ranks come first."""

    kinds = (Team,)
    reads = ()

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.ranks: dict[str, int] = {}
        self.pods = handle.informers.index(Pod, by=self.team_of)
        handle.informers.on_change(Team, self.learn)

    def team_of(self, pod: Pod) -> str | None:
        """Return the key of a pod's team."""
        name = pod.labels.get(TEAM)
        return f"{pod.namespace}/{name}" if name else None

    def learn(self, old: Team | None, new: Team | None) -> None:
        """Read a change of a team."""
        team = new or old
        assert team is not None
        self.ranks[team.key] = self.rank_of(old, new)
        self.report(team)

    def rank_of(self, old: Team | None, new: Team | None) -> int:
        """Return the rank after a change."""
        return 0 if new is None else new.rank

    def report(self, team: Team) -> None:
        """Report the new sort keys."""
        self.handle.changed(pods=self.pods.get(team.key))

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        rank = self.ranks.get(self.team_of(queued.pod) or "", 0)
        return -rank, queued.timestamp


class CountsRanks(Ranks):
    """Correct: ranks are above those of so many teams, and all pods are reported."""

    def report(self, team: Team) -> None:
        """Report the new sort keys."""
        self.handle.changed(pods=self.handle.informers.list(Pod))

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        own = self.ranks.get(self.team_of(queued.pod) or "", 0)
        return sum(rank > own for rank in self.ranks.values()), queued.timestamp


class ReportsNothing(Ranks):
    def report(self, team: Team) -> None:
        return


class ReportsNewTeamsOnly(Ranks):
    def learn(self, old: Team | None, new: Team | None) -> None:
        team = new or old
        assert team is not None
        is_new = team.key not in self.ranks
        self.ranks[team.key] = self.rank_of(old, new)
        if is_new:
            self.report(team)


class ReportsOneNamespaceOnly(Ranks):
    def report(self, team: Team) -> None:
        self.handle.changed(
            pods=[pod for pod in self.pods.get(team.key) if pod.namespace == "default"]
        )


class ReadsRanksAsTheyAre(Ranks):
    def learn(self, old: Team | None, new: Team | None) -> None:
        return

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        team = self.handle.informers.get(Team, self.team_of(queued.pod) or "")
        return 0 if team is None else -team.rank, queued.timestamp


class KeepsRanksOfDeletedTeams(Ranks):
    def rank_of(self, old: Team | None, new: Team | None) -> int:
        return new.rank if new is not None else old.rank if old is not None else 0


class KeepsTheHighestRank(Ranks):
    def rank_of(self, old: Team | None, new: Team | None) -> int:
        return max(each.rank for each in (old, new) if each is not None)


def _team(name: str, namespace: str, rank: int) -> Team:
    return Team(metadata=ObjectMeta(name=name, namespace=namespace), rank=rank)


OWN = clusters(
    pods=pods(
        {"labels": {TEAM: "red"}},
        {"labels": {TEAM: "blue"}},
        {"labels": {TEAM: "red"}, "namespace": "other"},
    ),
    objects=st.builds(
        _team,
        st.sampled_from(["red", "blue"]),
        st.sampled_from(["default", "other"]),
        st.integers(0, 2),
    ),
)
RANK_MISTAKES: Sequence[Mistake] = (
    Mistake(ReportsNothing, ["sort keys"], OWN),
    Mistake(ReportsNewTeamsOnly, ["sort keys"], OWN),
    Mistake(ReportsOneNamespaceOnly, ["sort keys"], OWN),
    Mistake(ReadsRanksAsTheyAre, ["sort keys"], OWN),
    Mistake(KeepsRanksOfDeletedTeams, ["sort keys"], OWN),
    Mistake(KeepsTheHighestRank, ["sort keys"], OWN),
)
