"""Pods that claim devices, one after another, and their results."""

import contextlib
import re
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import yaml

from quaymaster.objects import to_wire
from quaymaster.testing import make_node
from tests.e2e.client import ApiClient, RefusedError, Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.follower import Follower, key_of
from tests.e2e.processes import ProcessError, eventually

__all__ = ["NODES", "DeviceStage", "request_for"]

NODES: Final = {"device-a": "first", "device-b": "second", "device-c": "third"}
"""The nodes, in the order in which pods of a stage prefer them."""

_MOST_LAG: Final = 30.0
"""The seconds in which a scheduler sees an object, even on a busy machine."""
_GROUP: Final = "/apis/resource.k8s.io/v1"
_GENERATED: Final = re.compile(r"-[a-z0-9]{5}$")
_NAMED: Final = re.compile(r"(-own)-[a-z0-9]{5}\b")
_PREFERRED: Final = [
    {
        "weight": weight,
        "preference": {
            "matchExpressions": [
                {"key": "device-rank", "operator": "In", "values": [rank]}
            ]
        },
    }
    for rank, weight in zip(NODES.values(), (100, 50, 1), strict=True)
]


def request_for(device_class: str, *expressions: str, **fields: Any) -> Tree:
    """Return one request of a claim.

    Args:
        device_class: The class.
        *expressions: Selectors in CEL.
        **fields: Further fields of the request.
    """
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    selected = {"selectors": selectors} if selectors else {}
    return {"deviceClassName": device_class, **selected, **fields}


class DeviceStage:
    """A namespace, nodes and devices; all of it is deleted at the end.

    It acts as the drivers: it publishes ``devices.yaml`` at the start.

    Attributes:
        results: The results of pods, in a fixed order: the node with the allocations of
            the claims, or the messages.

    Args:
        plane: The control plane, with running controllers and kubelets.
        namespace: The namespace of the pods.
    """

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.results: list[tuple[str, object]] = []
        self._plane = plane
        self._client: ApiClient = plane.client()
        self._namespace = namespace
        self._messages: dict[str, list[str]] = {}
        self._made: list[str] = []
        self._ended: set[str] = set()
        self._trees: dict[str, Tree] = {}
        self._pods = Follower(
            self._client, f"/api/v1/namespaces/{namespace}/pods", self._note
        )

    def __enter__(self) -> Self:
        labels = {"resource.kubernetes.io/admin-access": "true"}
        self._create(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": self._namespace, "labels": labels},
            }
        )
        for name, rank in NODES.items():
            node = make_node(
                name=name,
                labels={"device-rank": rank},
                capacity={"cpu": "32", "memory": "64Gi", "pods": "110"},
            )
            self._create(to_wire(node))
        file = Path(__file__).with_name("devices.yaml")
        for tree in yaml.safe_load(file.read_text())["items"]:
            self._create(tree)
        self._pods.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for pod in self._client.items(f"/api/v1/namespaces/{self._namespace}/pods"):
            self._client.delete(path_of({**_POD, **pod}), grace=0)
        for claim in self.claims():
            with contextlib.suppress(RefusedError):  # the controller was faster
                self._client.delete(self._path_of(claim))
        eventually(lambda: not self.claims(), what="the end of all claims")
        for path in reversed(self._made):
            self._client.delete(path, grace=0)
        self._pods.__exit__()

    def claims(self) -> list[Tree]:
        """Return all claims of the stage."""
        path = f"{_GROUP}/namespaces/{self._namespace}/resourceclaims"
        return self._client.items(path)

    def publish(self, tree: Tree) -> None:
        """Publish a slice, as a driver does."""
        self._create({"apiVersion": "resource.k8s.io/v1", **tree})

    def claim(self, name: str, **devices: Any) -> None:
        """Create a claim that pods share; its requests are named after their places."""
        self._client.create(self._claiming("ResourceClaim", name, _spec(devices)))

    def create_pod(
        self,
        name: str,
        *requests: Tree,
        shared: Sequence[str] = (),
        resources: Mapping[str, str] | None = None,
        **devices: Any,
    ) -> None:
        """Create a pod.

        Args:
            name: Its name.
            *requests: The requests of the claim from its template.
            shared: The shared claims that it uses.
            resources: Its extended resources.
            **devices: Further fields of the template's claim.
        """
        claims = [{"name": name, "resourceClaimName": name} for name in shared]
        if requests:
            spec = {"spec": _spec({"requests": requests, **devices})}
            self._client.create(self._claiming("ResourceClaimTemplate", name, spec))
            claims.append({"name": "own", "resourceClaimTemplateName": name})
        amounts = {"requests": {"cpu": "100m", **(resources or {})}}
        if resources:
            amounts["limits"] = dict(resources)
        used = [{"name": entry["name"]} for entry in claims]
        container = {
            "name": "main",
            "image": "example.com/train:1",
            "resources": {**amounts, "claims": used},
        }
        affinity = {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": _PREFERRED
            }
        }
        self._trees[name] = {
            **_POD,
            "metadata": {"name": name, "namespace": self._namespace},
            "spec": {
                "containers": [container],
                "resourceClaims": claims,
                "affinity": affinity,
            },
        }
        self._client.create(self._trees[name])

    def create_refused(self, name: str, request: Tree) -> None:
        """Create a pod that gets no device, and record its first message.

        Each kind has its own watch, so a scheduler may see the pod before the rule that
        keeps it off all devices. Then it has a node, and is created again.

        Args:
            name: Its name.
            request: The request of the claim from its template.

        Raises:
            ProcessError: It gets a node for too long.
        """
        key = f"{self._namespace}/{name}"
        said = self._messages.setdefault(name, [])
        self.create_pod(name, request)
        end = time.monotonic() + _MOST_LAG
        while time.monotonic() < end:
            self._pods.wait(
                lambda: said or self._node_of(key), what=f"a message for {name}"
            )
            if said:
                self.results.append((name, said[:1]))
                return
            self.leave(name)
            self._pods.wait(lambda: not self._pods.get(key), what=f"the end of {name}")
            eventually(
                lambda: not any(_is_from(claim, name) for claim in self.claims()),
                what=f"the end of the claim of {name}",
            )
            self._client.create(self._trees[name])
        raise ProcessError(f"{name} gets a node after {_MOST_LAG:g} s, too")

    def placed(self, *names: str) -> None:
        """Wait until pods have their nodes, and record their claims' allocations."""
        for name in names:
            key = f"{self._namespace}/{name}"
            self._pods.wait(lambda: self._node_of(key), what=f"a node for {name}")  # noqa: B023 - it is called here
            pod = self._pods.get(key)
            assert pod is not None
            result: Tree = {
                "node": pod["spec"]["nodeName"],
                "claims": [
                    _record(claim, self._ended)
                    for claim in self.claims()
                    if _uses(claim, pod["metadata"]["uid"])
                ],
            }
            served = pod["status"].get("extendedResourceClaimStatus")
            if served:
                result["served"] = served["requestMappings"]
            self.results.append((name, result))

    def refused(self, name: str, messages: int = 1) -> None:
        """Wait until a pod has so many different messages, and record them."""
        said = self._messages.setdefault(name, [])
        self._pods.wait(lambda: len(said) >= messages, what=f"a message for {name}")
        self.results.append((name, said[:messages]))

    def expanded(self, name: str) -> None:
        """Wait until a pod has the claim of its template."""
        key = f"{self._namespace}/{name}"
        self._pods.wait(lambda: self._has_claim(key), what=f"the claim of {name}")

    def given(self, name: str) -> None:
        """Wait until a pod has the devices of its template's claim."""
        eventually(lambda: self._given_to(name), what=f"a device for {name}")

    def end(self, name: str) -> None:
        """Let a pod succeed, and wait until the controller has freed its claims."""
        key = f"{self._namespace}/{name}"
        # Otherwise its kubelet may set the phase Running afterwards.
        self._pods.wait(lambda: self._runs(key), what=f"the start of {name}")
        pod = self._pods.get(key)
        assert pod is not None
        self._ended.add(name)
        uid = pod["metadata"]["uid"]
        path = f"{path_of({**_POD, **pod})}/status"
        self._client.patch(path, {"status": {"phase": "Succeeded"}})
        eventually(
            lambda: not any(_uses(claim, uid) for claim in self.claims()),
            what=f"the end of what {name} has claimed",
        )

    def leave(self, name: str) -> None:
        """Delete a pod."""
        path = f"/api/v1/namespaces/{self._namespace}/pods/{name}"
        self._client.delete(path, grace=0)

    def set_condition(self, pod: str, condition: str, message: str = "") -> None:
        """Set a condition of the devices of a waiting pod, as drivers do."""
        self.given(pod)
        claim = self._given_to(pod)
        assert claim is not None
        set_now = {
            "type": condition,
            "status": "True",
            "reason": "Told",
            "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        devices = [
            {key: device[key] for key in ("driver", "pool", "device")}
            | {"conditions": [set_now]}
            for device in claim["status"]["allocation"]["devices"]["results"]
        ]
        path = f"{self._path_of(claim)}/status"
        self._client.patch(path, {"status": {"devices": devices}})

    def _given_to(self, pod: str) -> Tree | None:
        """Return a template's claim that has devices and is reserved for its pod."""
        for claim in self.claims():
            if _is_from(claim, pod):
                return claim if claim.get("status", {}).get("reservedFor") else None
        return None

    def _create(self, tree: Tree) -> None:
        self._made.append(path_of(self._client.create(tree)))

    def _claiming(self, kind: str, name: str, spec: Tree) -> Tree:
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": self._namespace},
            "spec": spec,
        }

    def _path_of(self, claim: Tree) -> str:
        name = claim["metadata"]["name"]
        return f"{_GROUP}/namespaces/{self._namespace}/resourceclaims/{name}"

    def _node_of(self, key: str) -> object:
        pod = self._pods.get(key)
        return pod and pod["spec"].get("nodeName")

    def _has_claim(self, key: str) -> bool:
        pod = self._pods.get(key)
        return bool(pod and pod["status"].get("resourceClaimStatuses"))

    def _runs(self, key: str) -> bool:
        pod = self._pods.get(key)
        return pod is not None and pod["status"]["phase"] == "Running"

    def _note(self, pod: Tree) -> None:
        said = self._messages.setdefault(key_of(pod).partition("/")[2], [])
        for condition in pod.get("status", {}).get("conditions", ()):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                text = f"{condition['reason']}: {condition.get('message', '')}"
                text = _NAMED.sub(r"\1-*", text).replace(self._namespace, "NAMESPACE")
                if text not in said:
                    said.append(text)


_POD: Final = {"apiVersion": "v1", "kind": "Pod"}


def _spec(devices: Mapping[str, Any]) -> Tree:
    """Return a claim whose requests have names."""
    requests = [
        {
            "name": f"request-{at}",
            **(request if "firstAvailable" in request else {"exactly": request}),
        }
        for at, request in enumerate(devices["requests"])
    ]
    return {"devices": {**devices, "requests": requests}}


def _is_from(claim: Tree, pod: str) -> bool:
    """Whether a claim comes from the template of a pod."""
    return _GENERATED.sub("", claim["metadata"]["name"]) == f"{pod}-own"


def _uses(claim: Tree, uid: str) -> bool:
    consumers = claim.get("status", {}).get("reservedFor", ())
    return any(consumer["uid"] == uid for consumer in consumers)


def _record(claim: Tree, ended: Collection[str]) -> Tree:
    """Return a claim without the fields that differ between clusters.

    For a moment, the controller may add pods again that have ended.
    """
    metadata, status = claim["metadata"], claim["status"]
    allocation = dict(status["allocation"])
    assert allocation.pop("allocationTimestamp")
    for result in allocation["devices"]["results"]:
        if "shareID" in result:
            result["shareID"] = "*"
    return {
        "name": _GENERATED.sub("-*", metadata["name"])
        if "generateName" in metadata
        else metadata["name"],
        "finalizers": metadata.get("finalizers"),
        "annotations": metadata.get("annotations"),
        "owners": [
            {key: value for key, value in owner.items() if key != "uid"}
            for owner in metadata.get("ownerReferences", ())
        ],
        "spec": claim["spec"],
        "allocation": allocation,
        "reservedFor": [
            consumer["name"]
            for consumer in status["reservedFor"]
            if consumer["name"] not in ended
        ],
    }
