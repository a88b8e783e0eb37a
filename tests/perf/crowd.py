"""Fills a real API server: thousands of nodes, and many pods of some five kilobytes.

    python -m tests.perf.crowd KUBECONFIG --nodes 5000 --pods 100000

The pods have a hundred templates. They are on a node already, except some that wait for
another scheduler.
"""

import argparse
import ssl
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec
import yaml

__all__ = ["crowd_node", "crowd_pod", "fill"]

Tree: TypeAlias = dict[str, Any]

_TEMPLATES: Final = 100
_THREADS: Final = 8
_CREATED: Final = 201
_EXISTS: Final = 409


def crowd_node(number: int) -> Tree:
    """Return a node with room for a hundred pods."""
    name = f"node-{number:05}"
    zone = f"zone-{number % 3}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    room = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    images = [
        {"names": [f"registry.example/app-{index}:v1"], "sizeBytes": 50_000_000 + index}
        for index in range(number % 20)
    ]
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [ready],
            "images": images,
        },
    }


def crowd_pod(number: int, nodes: int, *, scheduler: str = "") -> Tree:
    """Return a pod of one of the templates.

    Args:
        number: The pod's number.
        nodes: The number of nodes; the pod is on one of them.
        scheduler: The scheduler of a pod without a node, if any.
    """
    app = f"app-{number % _TEMPLATES}"
    env = [
        {"name": f"SETTING_{index}_OF_{app.upper()}", "value": f"value-{index}" * 3}
        for index in range(14)
    ]
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10}
    container = {
        "name": "main",
        "image": f"registry.example/{app}:v1",
        "env": env,
        "ports": [{"name": "http", "containerPort": 8080}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "livenessProbe": probe,
        "readinessProbe": probe,
        "volumeMounts": [{"name": "config", "mountPath": "/etc/config"}],
    }
    spec: Tree = {
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": f"{app}-config"}}],
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "terminationGracePeriodSeconds": 30,
    }
    spec |= {"schedulerName": scheduler} if scheduler else {}
    spec |= {} if scheduler else {"nodeName": f"node-{number % nodes:05}"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{app}-{number:06}",
            "namespace": "default",
            "labels": {"app": app, "tier": "web", "pod-template-hash": app},
            "annotations": {"checksum/config": app * 8},
        },
        "spec": spec,
    }


def fill(kubeconfig: Path, trees: Sequence[tuple[str, Tree]]) -> None:
    """Create objects, each at its path, over several connections.

    Raises:
        RuntimeError: The server rejects an object.
    """
    server, token = _reached(kubeconfig)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connections = threading.local()

    def create(item: tuple[str, Tree]) -> None:
        if not hasattr(connections, "one"):
            connections.one = HTTPSConnection(server, context=context)
        path, tree = item
        headers = {"Authorization": f"Bearer {token}"}
        headers["Content-Type"] = "application/json"
        body = msgspec.json.encode(tree)
        connections.one.request("POST", path, body, headers)
        answer = connections.one.getresponse()
        said = answer.read()
        if answer.status not in (_CREATED, _EXISTS):
            raise RuntimeError(said.decode())

    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(create, trees):
            pass


def _reached(kubeconfig: Path) -> tuple[str, str]:
    tree = yaml.safe_load(kubeconfig.read_text())
    server = tree["clusters"][0]["cluster"]["server"]
    return urlsplit(server).netloc, tree["users"][0]["user"]["token"]


def _crowd(nodes: int, pods: int) -> Iterator[tuple[str, Tree]]:
    for number in range(nodes):
        yield "/api/v1/nodes", crowd_node(number)
    for number in range(pods):
        yield "/api/v1/namespaces/default/pods", crowd_pod(number, nodes)


def main() -> None:
    """Fill a server, and print how long it took."""
    parser = argparse.ArgumentParser(description="Fill an API server.")
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=100_000)
    arguments = parser.parse_args()
    begun = time.perf_counter()
    fill(arguments.kubeconfig, list(_crowd(arguments.nodes, arguments.pods)))
    sys.stdout.write(f"filled in {time.perf_counter() - begun:.0f} s\n")


if __name__ == "__main__":
    main()
