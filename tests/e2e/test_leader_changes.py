"""Two processes and one Lease: never do both write, and soon one does."""

import itertools
import sys
from collections.abc import Iterator

import pytest

from tests.e2e.client import RefusedError
from tests.e2e.control_plane import ControlPlane
from tests.e2e.electing import SETTINGS
from tests.e2e.processes import Program, eventually
from tests.kit.sources import ROOT

LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/electing"
LENGTH = SETTINGS.lease_duration.total_seconds()


class Candidates:
    """Processes that take part in the election, each with its own name."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane, self.admin = plane, plane.client()
        self.all: dict[str, Program] = {}
        self.names = (f"candidate-{number}" for number in itertools.count())

    def start(self) -> None:
        name = next(self.names)
        self.all[name] = self.plane.run(
            [
                sys.executable,
                "-m",
                "tests.e2e.electing",
                self.plane.kubeconfig(),
                name,
            ],
            environment={"PYTHONPATH": str(ROOT)},
        )
        self.all[name].start()

    @property
    def holder(self) -> str:
        """The holder of the lease, or an empty text."""
        try:
            holder: str = self.admin.get(LEASE)["spec"]["holderIdentity"]
        except RefusedError:  # not created yet
            return ""
        return holder

    def writing(self, *, other_than: str = "") -> str:
        """Wait until the holder of the lease writes, and return its name."""

        def writes() -> bool:
            name = self.holder
            return name not in ("", other_than) and bool(self.times(name))

        eventually(writes, what="another leader")
        return self.holder

    def times(self, name: str) -> list[float]:
        """Return when a process has written so far."""
        lines = self.all[name].log.read_text().splitlines()
        return [float(line) for line in lines if line[:1].isdigit()]

    def turns(self) -> list[str]:
        """Return the writers, in order of time, one entry for consecutive writes."""
        writes = sorted((time, name) for name in self.all for time in self.times(name))
        return [name for name, _ in itertools.groupby(name for _, name in writes)]


@pytest.fixture
def candidates(control_plane: ControlPlane) -> Iterator[Candidates]:
    made = Candidates(control_plane)
    made.start()
    made.writing()
    made.start()
    yield made
    for program in made.all.values():
        program.kill()
    made.admin.delete(LEASE)


def test_leader_that_stood_still_past_its_lease_never_writes_again(
    candidates: Candidates,
) -> None:
    order = []
    for _ in range(3):
        leader = candidates.writing()
        order.append(leader)
        candidates.all[leader].pause()
        candidates.writing(other_than=leader)
        candidates.all[leader].resume()
        assert candidates.all[leader].wait() == 1
        candidates.start()
    order.append(candidates.writing())
    assert candidates.turns() == order


def test_leader_that_is_killed_is_followed_by_another(candidates: Candidates) -> None:
    leader = candidates.writing()
    candidates.all[leader].kill()
    other = candidates.writing(other_than=leader)
    [last, first] = candidates.times(leader)[-1], candidates.times(other)[0]
    assert first - last > LENGTH / 2
    assert candidates.turns() == [leader, other]


def test_leader_that_ends_cleanly_is_followed_at_once(candidates: Candidates) -> None:
    leader = candidates.writing()
    candidates.all[leader].stop()
    other = candidates.writing(other_than=leader)
    [last, first] = candidates.times(leader)[-1], candidates.times(other)[0]
    assert first - last < LENGTH
    assert candidates.turns() == [leader, other]


def test_leader_without_an_api_server_ends(candidates: Candidates) -> None:
    leader = candidates.writing()
    candidates.plane.apiserver.pause()
    try:
        assert candidates.all[leader].wait() == 1
    finally:
        candidates.plane.apiserver.resume()
    candidates.writing(other_than=leader)
