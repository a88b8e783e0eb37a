"""What end-to-end tests ask pytest for."""

from collections.abc import Iterator

import pytest

from tests.e2e.binaries import MISSING, servers_folder
from tests.e2e.client import ApiClient
from tests.e2e.control_plane import ControlPlane


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command line say how much is compared."""
    parser.addoption(
        "--decisions",
        type=int,
        default=200,
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


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test of this folder, so that other runs leave it out."""
    item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def servers() -> None:
    """Skip tests that start servers where there are none."""
    if servers_folder() is None:
        pytest.skip(MISSING)


@pytest.fixture(scope="session")
def control_plane(servers: None) -> Iterator[ControlPlane]:
    """A cluster for all tests of a worker: each keeps to a namespace of its own."""
    with ControlPlane() as plane:
        yield plane


@pytest.fixture
def admin(control_plane: ControlPlane) -> ApiClient:
    """A client that may do everything."""
    return control_plane.client()
