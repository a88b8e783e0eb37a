"""All objects of a deployment, as YAML."""

from collections.abc import Iterator, Mapping
from typing import Final

from quaymaster._base.yaml_text import commented, yaml_text
from quaymaster._surfaces.deploy.identity import config_map, role_texts, service_account
from quaymaster._surfaces.deploy.plan import Plan
from quaymaster._surfaces.deploy.workload import (
    deployment,
    disruption_budget,
    network_policy,
    service,
)

__all__ = ["rendered"]

_COMMENTS: Final[Mapping[str, str]] = {
    "serviceaccount": "Whom the scheduler runs as. Its pods alone get a token.",
    "clusterrole": "What it may do in all namespaces, and who needs it: the least that "
    "this configuration can do with. With other plugins, render it anew.",
    "clusterrolebinding": "The scheduler may do that.",
    "role": "What it may do in this namespace alone.",
    "rolebinding": "The scheduler may do that.",
    "configmap": "The configuration. The scheduler takes changes over once the kubelet "
    "has brought them to the pods; those of the leader election need a restart.",
    "deployment": "The replicas: one schedules, the others stand by. There is no limit "
    "of memory, which grows with nodes and pods.",
    "poddisruptionbudget": "Drains take one replica after the other.",
    "service": "Health and metrics of each replica, over HTTPS. Who reads /metrics "
    "needs the right to get that path.",
    "networkpolicy": "In: health and metrics. Out: DNS, the API server by its ports, "
    "and extenders.",
}


def rendered(plan: Plan) -> Iterator[tuple[str, str]]:
    """The objects of a deployment, in the order in which they are needed.

    Args:
        plan: What it is to be like.

    Returns:
        The name of each, for a file, and its text.
    """
    for name, text in _texts(plan):
        kind, _, _ = name.partition("-")
        yield name, commented(_COMMENTS[kind], text)


def _texts(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "serviceaccount", yaml_text(service_account(plan))
    yield from role_texts(plan)
    for make in (
        config_map,
        deployment,
        disruption_budget,
        service,
        network_policy,
    ):
        tree = make(plan)
        yield tree["kind"].lower(), yaml_text(tree)
