"""The Deployment of a scheduler, and the objects around its pods."""

from typing import Any, Final, TypeAlias

from quaymaster._base.versions.kubernetes import written_gates
from quaymaster._surfaces.deploy.plan import PORT, Plan

__all__ = ["deployment", "disruption_budget", "network_policy", "service"]

Tree: TypeAlias = dict[str, Any]

_PORT_NAME: Final = "https"
_NOBODY: Final = 65532
_CONFIG_FOLDER: Final = "/etc/quaymaster"
_HOSTNAME: Final = "kubernetes.io/hostname"
_DNS: Final = 53


def deployment(plan: Plan) -> Tree:
    """Return the Deployment of the replicas."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(plan),
        "spec": {
            "replicas": plan.replicas,
            "revisionHistoryLimit": 3,
            "selector": {"matchLabels": plan.labels},
            "strategy": _strategy(plan),
            "template": {
                "metadata": {"labels": plan.pod_labels},
                "spec": _pod_spec(plan),
            },
        },
    }


def _strategy(plan: Plan) -> Tree:
    if not plan.config.leader_election.leader_elect:
        return {"type": "Recreate"}  # two at once would both schedule
    return {
        "type": "RollingUpdate",
        # The new replica stands by before an old one gives up the lease.
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
    }


def _pod_spec(plan: Plan) -> Tree:
    spec: Tree = {"serviceAccountName": plan.name}
    if plan.priority_class:
        spec["priorityClassName"] = plan.priority_class
    spread = {
        "maxSkew": 1,
        "topologyKey": _HOSTNAME,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": plan.labels},
    }
    return {
        **spec,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        # live.py drains for 20 s of them.
        "terminationGracePeriodSeconds": 30,
        "topologySpreadConstraints": [spread],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(plan)],
        "volumes": [
            {"name": "config", "configMap": {"name": plan.name}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "16Mi"}},
        ],
    }


def _container(plan: Plan) -> Tree:
    return {
        "name": "scheduler",
        "image": plan.image,
        "args": [
            "run",
            f"--config={_CONFIG_FOLDER}/config.yaml",
            *_kubernetes(plan),
            "--bind-address=0.0.0.0",
            f"--secure-port={PORT}",
        ],
        "ports": [{"name": _PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        # Up to five minutes for the first lists of a large cluster.
        "startupProbe": _probe("/livez", period=5, failures=60),
        "livenessProbe": _probe("/livez", period=10, failures=8),
        "readinessProbe": _probe("/readyz", period=5, failures=3),
        "resources": {"requests": {"cpu": plan.cpu, "memory": plan.memory}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": _CONFIG_FOLDER, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    }


def _kubernetes(plan: Plan) -> list[str]:
    """Return the arguments for the version, also if it is the default."""
    kubernetes = plan.config.kubernetes
    arguments = [f"--kubernetes={kubernetes.version}"]
    if kubernetes.feature_gates:
        arguments.append(f"--feature-gates={written_gates(kubernetes.feature_gates)}")
    return arguments


def _probe(path: str, *, period: int, failures: int) -> Tree:
    """Return a probe; kubelets do not verify the certificate."""
    return {
        "httpGet": {"path": path, "port": _PORT_NAME, "scheme": "HTTPS"},
        "periodSeconds": period,
        "timeoutSeconds": 15,
        "failureThreshold": failures,
    }


def disruption_budget(plan: Plan) -> Tree:
    """Return a budget with which drains evict one replica at a time."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(plan),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": plan.labels}},
    }


def service(plan: Plan) -> Tree:
    """Return a headless service, because each replica has its own metrics."""
    port = {"name": _PORT_NAME, "port": PORT, "targetPort": _PORT_NAME}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(plan),
        "spec": {
            "clusterIP": "None",
            "selector": plan.labels,
            "ports": [{**port, "protocol": "TCP"}],
        },
    }


def network_policy(plan: Plan) -> Tree:
    """Return the network policy of its pods."""
    ports = [_DNS, *plan.api_ports, *plan.extender_ports]
    egress = [{"protocol": "UDP", "port": _DNS}]
    egress += [{"protocol": "TCP", "port": port} for port in dict.fromkeys(ports)]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(plan),
        "spec": {
            "podSelector": {"matchLabels": plan.labels},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"ports": [{"protocol": "TCP", "port": PORT}]}],
            "egress": [{"ports": egress}],
        },
    }


def _metadata(plan: Plan) -> Tree:
    return {
        "name": plan.name,
        "namespace": plan.namespace,
        "labels": plan.all_labels,
    }
