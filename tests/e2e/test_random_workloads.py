"""Random workloads take the same course in simulations as on real servers."""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quaymaster.testing import make_namespace
from tests.e2e.client import ApiClient
from tests.e2e.control_plane import ControlPlane
from tests.e2e.live_course import LiveNamespace, Looks
from tests.e2e.random_workloads import NODES, random_courses
from tests.world.cases import Tree
from tests.world.cluster import PlayedCluster
from tests.world.compare_courses import course_differences
from tests.world.course import play

AT_ONCE = 100
"""Courses wait nearly all of the time, and their looks are shared."""

SECONDS_OF_A_TURN = 4
RECORDINGS = 3
"""How often a course is recorded before it counts as different.

Servers on a busy machine are late at times, so a recording may have passing states that
other recordings lack. A real difference is in all recordings.
"""

CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "namespace-controller",
)


class PunctualCluster(PlayedCluster):
    """Our cluster, before the steps that are due at exactly this time.

    Real controllers need a while after a delay has passed, such as the ten seconds
    before a Job replaces a failed pod.
    """

    def wait_until(self, seconds: float) -> None:
        super().wait_until(seconds - 0.01)


@pytest.fixture
def count(pytestconfig: pytest.Config) -> int:
    number: int = pytestconfig.getoption("--workloads", 10)
    return number


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    number: int = pytestconfig.getoption("--workload-seed", 2)
    return number


@pytest.fixture
def client(servers: None, tmp_path: Path) -> Iterator[ApiClient]:
    """A client of a cluster in which workloads run, but nothing starts their pods."""
    with (
        ControlPlane(tmp_path / "plane") as plane,
        plane.controller_manager(controllers=CONTROLLERS),
        plane.scheduler(),
    ):
        client = plane.client()
        for node in next(random_courses(1, seed=0))["nodes"]:
            stored = client.create(node)
            ready = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]
            status = {**node["status"], "conditions": ready}
            name = stored["metadata"]["name"]
            client.patch(f"/api/v1/nodes/{name}/status", {"status": status})
        yield client


def recorded(client: ApiClient, cases: Sequence[Tree], attempt: int) -> Iterator[Tree]:
    """Play courses on real servers, many at the same time."""
    looks = Looks(client)

    def record(numbered: tuple[int, Tree]) -> Tree:
        number, case = numbered
        namespace = f"{case['id']}-{attempt}"
        client.create(make_namespace(name=namespace))
        delay = number % SECONDS_OF_A_TURN
        recording = play(case, LiveNamespace(client, looks, namespace, delay))
        client.delete(f"/api/v1/namespaces/{namespace}")
        return {**case, **recording, "loose": True}

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(record, enumerate(cases))


def compared(recording: Tree, ours: Tree) -> Iterator[str]:
    """Compare the order of states, and the final state.

    The counts of a Job follow its pods with a delay: only the final ones are compared.
    All pods fit, so a state in which one waits for its node is a moment of its
    scheduling.
    """
    states = [state for state in recording["course"] if not _has_waiting_pods(state)]
    loose = {**recording, "course": states, "skip": ("jobs",)}
    yield from course_differences(loose, ours)
    if recording["course"][-1]["at"] < recording["until"] - recording["early"]:
        expected, actual = (course["course"][-1] for course in (recording, ours))
        if expected.get("jobs") != actual.get("jobs"):
            yield f"final: expected {expected['jobs']} got {actual.get('jobs')}"


def _has_waiting_pods(state: Tree) -> bool:
    return any("waiting" in counts for counts in state["pods"].values())


def test_random_workloads_take_the_course_that_real_controllers_give_them(
    client: ApiClient, count: int, seed: int
) -> None:
    assert len(NODES) == len(client.items("/api/v1/nodes"))
    left = list(random_courses(count, seed=seed))
    ours = {case["id"]: play(case, PunctualCluster(case)) for case in left}
    differences: dict[str, list[str]] = {}
    for attempt in range(RECORDINGS):
        for recording in recorded(client, left, attempt):
            name = recording["id"]
            differences[name] = list(compared(recording, ours[name]))
        left = [case for case in left if differences[case["id"]]]
        sys.stderr.write(f"recording {attempt + 1}: {len(left)} of {count} differ\n")
        if not left:
            break
    assert {case["id"]: differences[case["id"]] for case in left} == {}
