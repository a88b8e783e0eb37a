"""The options, markers and fixtures of the end-to-end tests."""

from collections.abc import Iterator

import pytest

from tests.e2e.binaries import MISSING, servers_folder
from tests.e2e.client import ApiClient
from tests.e2e.control_plane import ControlPlane


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that set how much is compared."""
    parser.addoption(
        "--decisions",
        type=int,
        default=80,
        metavar="N",
        help="how many pods are decided by both schedulers, one after another",
    )
    parser.addoption(
        "--workloads",
        type=int,
        default=10,
        metavar="N",
        help="how many random workloads run on real servers and in a simulation",
    )
    parser.addoption(
        "--workload-seed",
        type=int,
        default=2,
        metavar="N",
        help="the seed of the random workloads",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test of this folder, so that other runs deselect it."""
    item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def servers() -> None:
    """Skip the tests that start servers if the servers are missing."""
    if servers_folder() is None:
        pytest.skip(MISSING)


@pytest.fixture(scope="module")
def control_plane(servers: None) -> Iterator[ControlPlane]:
    """Start a cluster for the tests of a file.

    The next file has a new one: what a file leaves behind, such as nodes, must not
    depend on which files a worker of pytest has played before.
    """
    with ControlPlane() as plane:
        yield plane


@pytest.fixture
def admin(control_plane: ControlPlane) -> ApiClient:
    """Return a client with all rights."""
    return control_plane.client()
