"""The service account, roles and configuration of a scheduler."""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from quaymaster._base.yaml_text import yaml_text
from quaymaster._core.config.wrapped import CONFIG_KEY
from quaymaster._surfaces.deploy.plan import Plan
from quaymaster._surfaces.deploy.role_text import role_text
from quaymaster._surfaces.deploy.rules import rules_of

__all__ = ["config_map", "role_texts", "service_account"]

Tree: TypeAlias = dict[str, Any]

_RBAC: Final = "rbac.authorization.k8s.io"


def service_account(plan: Plan) -> Tree:
    """Return the service account of its pods."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _metadata(plan, plan.namespace),
        "automountServiceAccountToken": False,
    }


def config_map(plan: Plan) -> Tree:
    """Return the ConfigMap with its configuration."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(plan, plan.namespace),
        "data": {CONFIG_KEY: yaml_text(plan.document)},
    }


def role_texts(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the roles and their bindings, as file names and texts.

    There is a ClusterRole for rights in all namespaces, and a Role for each namespace
    with its own rights. Roles after the first have the namespace in their file name.
    """
    kinds: set[str] = set()
    namespaces = dict.fromkeys(need.right.namespace for need in plan.needs)
    for namespace in namespaces:
        needs = [need for need in plan.needs if need.right.namespace == namespace]
        kind = "Role" if namespace else "ClusterRole"
        where = f"-in-{namespace}" if kind in kinds else ""
        kinds.add(kind)
        head: Tree = {
            "apiVersion": f"{_RBAC}/v1",
            "kind": kind,
            "metadata": _metadata(plan, namespace),
        }
        yield f"{kind.lower()}{where}", role_text(head, rules_of(needs))
        binding = yaml_text(_binding(plan, kind, namespace))
        yield f"{kind.lower()}binding{where}", binding


def _binding(plan: Plan, kind: str, namespace: str) -> Tree:
    subject = {
        "kind": "ServiceAccount",
        "name": plan.name,
        "namespace": plan.namespace,
    }
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{kind}Binding",
        "metadata": _metadata(plan, namespace),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": plan.name},
        "subjects": [subject],
    }


def _metadata(plan: Plan, namespace: str) -> Tree:
    where = {"namespace": namespace} if namespace else {}
    return {"name": plan.name, **where, "labels": plan.all_labels}
