"""Simulations have the nodes and claims of the real Karpenter.

Each case is drawn so that nothing in it is left to chance: every set of pods has a pool
of its own, no two offerings of a pool cost the same, and a set ends as a whole.
"""

import random
import time
from collections.abc import Iterator
from functools import partial
from typing import Final

import pytest

from tests.autoscale.cases import Tree
from tests.autoscale.live_player import LivePlayer, launchable, shapes
from tests.e2e.binaries import KARPENTER_MISSING, karpenter_folder
from tests.e2e.control_plane import ControlPlane
from tests.e2e.processes import eventually
from tests.e2e.real_karpenter import RealKarpenter

_ZONES: Final = ("test-zone-a", "test-zone-b", "test-zone-c")
_CPUS: Final = (1, 2, 4, 8, 16)
_QUIET: Final = 12.0
"""Seconds for which the nodes must stay as they are.

Karpenter looks for nodes to remove every ten seconds.
"""


@pytest.fixture
def plane(servers: None) -> Iterator[ControlPlane]:
    if not karpenter_folder().is_dir():
        pytest.skip(KARPENTER_MISSING)
    with ControlPlane() as plane:
        yield plane
        plane.apiserver.kill()  # it would wait for open watches


def case_of(seed: int) -> Tree:
    """Draw instance types, pools and sets of pods; at the end a set has no pods."""
    chance = random.Random(seed)
    names = [f"set-{number}" for number in range(chance.randint(2, 4))]
    sets = [_stateful_set(chance, name) for name in names]
    changes = [[chance.choice(names), 0], [chance.choice(names), 0]]
    return {
        "id": f"drawn-{seed}",
        "types": [*_types(chance)],
        "pools": [_pool(chance, name) for name in names],
        "do": [sets, changes],
    }


def _types(chance: random.Random) -> Iterator[Tree]:
    prices = chance.sample(range(100, 999), 400)  # all differ
    for arch in ("amd64", "arm64"):
        for family, gigabytes in (("c", 2), ("m", 4)):
            for cpus in _CPUS:
                yield {
                    "name": f"{family}-{cpus}x-{arch}-linux",
                    "arch": arch,
                    "os": ["linux"],
                    "capacity": {
                        "cpu": str(cpus),
                        "ephemeral-storage": "20Gi",
                        "memory": f"{cpus * gigabytes}Gi",
                        "pods": str(cpus * 16),
                    },
                    "offerings": [
                        [zone, kind, round(cpus * share * prices.pop() / 1e4, 6)]
                        for zone in _ZONES
                        for kind, share in (("on-demand", 1.0), ("spot", 0.4))
                    ],
                }


def _pool(chance: random.Random, name: str) -> Tree:
    kinds = ["on-demand"], ["spot"], ["on-demand", "spot"]
    requirements = [
        {
            "key": "kubernetes.io/arch",
            "operator": "In",
            "values": [chance.choice(("amd64", "arm64"))],
        },
        {
            "key": "karpenter.sh/capacity-type",
            "operator": "In",
            "values": chance.choice(kinds),
        },
    ]
    if chance.random() < 0.5:
        family = {"key": "karpenter.kwok.sh/instance-family", "values": ["m"]}
        requirements.append({**family, "operator": "In"})
    reference = {
        "group": "karpenter.kwok.sh",
        "kind": "KWOKNodeClass",
        "name": "default",
    }
    spec = {
        "nodeClassRef": reference,
        "requirements": requirements,
        "taints": [{"key": "set", "value": name, "effect": "NoSchedule"}],
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "disruption": {
                "budgets": [{"nodes": "100%"}],
                "consolidateAfter": "5s",
                "consolidationPolicy": "WhenEmpty",
            },
            "template": {"metadata": {"labels": {"set": name}}, "spec": spec},
        },
    }


def _stateful_set(chance: random.Random, name: str) -> Tree:
    requests = {
        "cpu": f"{chance.randint(2, 30)}00m",
        "memory": f"{chance.randint(2, 40)}00Mi",
    }
    template: Tree = {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "containers": [
                {
                    "image": "pause:3.10",
                    "name": "c",
                    "resources": {"requests": requests},
                }
            ],
            "nodeSelector": {"set": name},
            "terminationGracePeriodSeconds": 1,
            "tolerations": [{"key": "set", "operator": "Exists"}],
        },
    }
    if chance.random() < 0.3:
        template["spec"]["affinity"] = {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "labelSelector": {"matchLabels": {"app": name}},
                        "topologyKey": "kubernetes.io/hostname",
                    }
                ]
            }
        }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "podManagementPolicy": "Parallel",
            "replicas": chance.randint(1, 7),
            "selector": {"matchLabels": {"app": name}},
            "serviceName": name,
            "template": template,
        },
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_nodes_are_those_of_the_real_karpenter(plane: ControlPlane, seed: int) -> None:
    case = case_of(seed)
    real = RealKarpenter(plane, case)
    real.start()
    with LivePlayer(case) as player:
        for changes in case["do"]:
            player.begin(changes)
            ours = player.settle(), launchable(player.claims())
            real.begin(changes)
            differs = f"not settled as simulated: {ours}"
            eventually(partial(_is, real, ours), within=90, what=differs)
            quiet = time.monotonic() + _QUIET
            while time.monotonic() < quiet:
                assert _state(real) == ours
                time.sleep(1)


def _is(real: RealKarpenter, state: object) -> bool:
    return _state(real) == state


def _state(real: RealKarpenter) -> object:
    claims = launchable(real.claims())
    return (shapes(real.nodes()), claims) if real.is_placed() else None
