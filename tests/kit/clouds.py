"""Nodes as clouds and distributions make them: with their labels, taints and sizes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from quaymaster import Node
from quaymaster.testing import make_node

__all__ = ["CLOUDS", "TWIN_ZONES", "Maker"]

Maker: TypeAlias = Callable[[str, int, bool], Node]
"""Makes a node: its zone, its number, and whether it has an ARM processor."""

TWIN_ZONES: Final[tuple[str, ...]] = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.ebs.csi.aws.com/zone",
    "topology.k8s.aws/zone",
    "topology.gke.io/zone",
    "topology.disk.csi.azure.com/zone",
)
"""Labels that have the same value on a node."""


def _node(
    name: str,
    zone: str,
    region: str,
    machine: tuple[str, int, int],
    labels: Mapping[str, str],
    *,
    arch: str = "amd64",
    taints: Sequence[str] = (),
    devices: Mapping[str, str] | None = None,
) -> Node:
    kind, cpus, gigabytes = machine
    amounts = {"cpu": str(cpus), "memory": f"{gigabytes}Gi", "pods": "29"}
    amounts["ephemeral-storage"] = "80Gi"
    common = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": arch,
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": arch,
        "beta.kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": kind,
        "beta.kubernetes.io/instance-type": kind,
    }
    return make_node(
        name=name,
        zone=zone,
        region=region,
        labels={**common, **labels},
        taints=taints,
        allocatable={**amounts, **(devices or {})},
    )


def _eks(zone: str, number: int, is_arm: bool) -> Node:
    kind = ("m7g.large", 2, 8) if is_arm else ("m6i.xlarge", 4, 16)
    is_spot = number % 3 == 1
    group = ("arm" if is_arm else "general") + ("-spot" if is_spot else "")
    name = f"ip-10-0-{number}-{ord(zone)}.eu-west-1.compute.internal"
    return _node(
        name,
        f"eu-west-1{zone}",
        "eu-west-1",
        kind,
        {
            "kubernetes.io/hostname": name,
            "eks.amazonaws.com/nodegroup": group,
            "eks.amazonaws.com/capacityType": "SPOT" if is_spot else "ON_DEMAND",
            "alpha.eksctl.io/nodegroup-name": group,
            "alpha.eksctl.io/instance-id": f"i-0{number}{ord(zone)}",
            "failure-domain.beta.kubernetes.io/zone": f"eu-west-1{zone}",
            "failure-domain.beta.kubernetes.io/region": "eu-west-1",
            "topology.ebs.csi.aws.com/zone": f"eu-west-1{zone}",
            "k8s.io/cloud-provider-aws": "abc",
        },
        arch="arm64" if is_arm else "amd64",
        taints=("node.cilium.io/agent-not-ready=true:NoExecute",)
        if number % 5 == 4
        else (),
    )


def _karpenter(zone: str, number: int, is_arm: bool) -> Node:
    family, cpus = ("c7g", 8) if is_arm else ("c6i", 4)
    size = "2xlarge" if is_arm else "xlarge"
    spot = "spot" if number % 2 else "on-demand"
    return _node(
        f"i-0kp{number}{zone}{'g' if is_arm else 'i'}",
        f"us-east-1{zone}",
        "us-east-1",
        (f"{family}.{size}", cpus, 2 * cpus),
        {
            "karpenter.sh/nodepool": "graviton" if is_arm else "default",
            "karpenter.sh/capacity-type": spot,
            "karpenter.sh/registered": "true",
            "karpenter.sh/initialized": "true",
            "karpenter.k8s.aws/instance-family": family,
            "karpenter.k8s.aws/instance-size": size,
            "karpenter.k8s.aws/instance-cpu": str(cpus),
            "karpenter.k8s.aws/instance-category": "c",
            "topology.k8s.aws/zone-id": f"use1-az{ord(zone) - 96}",
            "topology.ebs.csi.aws.com/zone": f"us-east-1{zone}",
        },
        arch="arm64" if is_arm else "amd64",
        taints=("karpenter.sh/disrupted:NoSchedule",) if number % 4 == 3 else (),
    )


def _gke(zone: str, number: int, is_arm: bool) -> Node:
    has_gpu = not is_arm and number % 3 == 2
    kind = ("t2a-standard-4", 4, 16) if is_arm else ("n2-standard-8", 8, 32)
    pool = "arm" if is_arm else "gpu" if has_gpu else "default-pool"
    labels = {
        "cloud.google.com/gke-nodepool": pool,
        "cloud.google.com/gke-boot-disk": "pd-balanced",
        "cloud.google.com/gke-os-distribution": "cos",
        "cloud.google.com/machine-family": kind[0].partition("-")[0],
        "cloud.google.com/gke-provisioning": "standard",
        "topology.gke.io/zone": f"us-east1-{zone}",
        "failure-domain.beta.kubernetes.io/zone": f"us-east1-{zone}",
    }
    taints = []
    if is_arm:
        taints.append("kubernetes.io/arch=arm64:NoSchedule")
    if has_gpu:
        labels["cloud.google.com/gke-accelerator"] = "nvidia-tesla-t4"
        taints.append("nvidia.com/gpu=present:NoSchedule")
    return _node(
        f"gke-prod-{pool}-{number}{zone}",
        f"us-east1-{zone}",
        "us-east1",
        kind,
        labels,
        arch="arm64" if is_arm else "amd64",
        taints=taints,
        devices={"nvidia.com/gpu": "2"} if has_gpu else None,
    )


def _aks(zone: str, number: int, is_arm: bool) -> Node:
    is_spot = number % 3 == 2
    pool = "system" if number % 3 == 0 else "spot" if is_spot else "user"
    place = f"westeurope-{ord(zone) - 96}"
    labels = {
        "agentpool": pool,
        "kubernetes.azure.com/agentpool": pool,
        "kubernetes.azure.com/mode": "system" if pool == "system" else "user",
        "kubernetes.azure.com/os-sku": "Ubuntu",
        "kubernetes.azure.com/node-image-version": "AKSUbuntu-2204gen2",
        "topology.disk.csi.azure.com/zone": place,
        "storageprofile": "managed",
    }
    taints = ["CriticalAddonsOnly=true:NoSchedule"] if pool == "system" else []
    if is_spot:
        labels["kubernetes.azure.com/scalesetpriority"] = "spot"
        taints.append("kubernetes.azure.com/scalesetpriority=spot:NoSchedule")
    return _node(
        f"aks-{pool}-1234-vmss00{number}{zone}{'a' if is_arm else 'x'}",
        place,
        "westeurope",
        ("Standard_D4ps_v5" if is_arm else "Standard_D4s_v5", 4, 16),
        labels,
        arch="arm64" if is_arm else "amd64",
        taints=taints,
    )


def _openshift(zone: str, number: int, is_arm: bool) -> Node:
    role = ("master", "worker", "infra")[number % 3]
    return _node(
        f"ocp-{role}-{number}{zone}.corp.example",
        f"dc-{zone}",
        "dc",
        ("m6g.xlarge" if is_arm else "m5.xlarge", 4, 16),
        {
            f"node-role.kubernetes.io/{role}": "",
            "node.openshift.io/os_id": "rhcos",
            "node.openshift.io/os_version": "4.16",
            "cluster.ocs.openshift.io/openshift-storage": "",
        },
        arch="arm64" if is_arm else "amd64",
        taints=[f"node-role.kubernetes.io/{role}:NoSchedule"]
        if role != "worker"
        else (),
    )


def _k3s(zone: str, number: int, is_arm: bool) -> Node:
    is_server = number % 4 == 0
    labels = {"k3s.io/hostname": f"pi-{number}{zone}"}
    if is_server:
        labels |= {
            "node-role.kubernetes.io/control-plane": "true",
            "node-role.kubernetes.io/master": "true",
        }
    return _node(
        f"pi-{number}{zone}",
        f"room-{zone}",
        "home",
        ("k3s", 2, 4),
        labels,
        arch="arm64" if is_arm else "amd64",
    )


def _bare_metal(zone: str, number: int, is_arm: bool) -> Node:
    return _node(
        f"rack{zone}-u{number}{'a' if is_arm else ''}",
        f"rack-{zone}",
        "frankfurt",
        ("metal", 16, 64),
        {
            "feature.node.kubernetes.io/cpu-cpuid.AVX512F": "false",
            "feature.node.kubernetes.io/kernel-version.major": "6",
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB",
            "nvidia.com/mig.capable": "true",
            "topology.topolvm.io/node": f"rack{zone}-u{number}{'a' if is_arm else ''}",
            "example.com/disk": "ssd" if number % 2 else "hdd",
            "cilium.io/no-schedule": "false",
        },
        arch="arm64" if is_arm else "amd64",
        taints=("dedicated=ml:NoSchedule",) if number % 3 == 2 else (),
        devices={"nvidia.com/gpu": "4"} if number % 2 else None,
    )


CLOUDS: Final[Mapping[str, Maker]] = {
    "eks": _eks,
    "karpenter": _karpenter,
    "gke": _gke,
    "aks": _aks,
    "openshift": _openshift,
    "k3s": _k3s,
    "bare-metal": _bare_metal,
}
