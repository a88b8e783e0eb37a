"""A pod whose attempt never ends takes one leader down, and not the next one."""

import json
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from typing import Final

import pytest

from tests.e2e.client import ApiClient, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.loads import nodes, pods
from tests.e2e.processes import eventually
from tests.e2e.replicas import ELECTION, USERS

POISON: Final = "pod-00000"
PROGRAM: Final = """
import ctypes
import json
import sys

from quaymaster import hookimpl
from quaymaster.config import parse_config
from quaymaster.kubernetes import KubernetesScheduler
from quaymaster.scheduler import PluginRegistry

kubeconfig, election = sys.argv[1:]

class Stuck:
    def __init__(self, args, handle):
        pass

    @hookimpl
    def filter(self, state, pod, node):
        while pod.name == "POISON":
            ctypes.PyDLL(None).sleep(600)  # it holds the lock of the interpreter

registry = PluginRegistry.discover().with_plugin(Stuck)
plugins = {"multiPoint": {"enabled": [{"name": "Stuck"}]}}
config = parse_config({
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "harbour", "plugins": plugins}],
    "leaderElection": json.loads(election),
}, registry)
with KubernetesScheduler(config, registry, kubeconfig=kubeconfig) as live:
    live.run()
"""


def is_placed(admin: ApiClient, path: str) -> bool:
    return bool(admin.get(path)["spec"].get("nodeName"))


@pytest.fixture
def plane(servers: None) -> Iterator[ControlPlane]:
    """A cluster with two replicas of a scheduler."""
    text = textwrap.dedent(PROGRAM).replace("POISON", POISON)
    with ControlPlane(users=USERS) as plane:
        for user in USERS:
            kubeconfig = plane.kubeconfig(user)
            arguments = [str(kubeconfig), json.dumps(ELECTION)]
            plane.run([sys.executable, "-c", text, *arguments]).start()
        yield plane


def test_other_pods_are_bound_although_one_attempt_never_ends(
    plane: ControlPlane,
) -> None:
    admin = plane.client()
    for tree in nodes(2):
        admin.create(tree)
    poison, *others = [
        path_of(admin.create(tree)) for tree in pods(5, "default", scheduler="harbour")
    ]
    for path in others:
        eventually(partial(is_placed, admin, path), what=path)
    assert not is_placed(admin, poison)
