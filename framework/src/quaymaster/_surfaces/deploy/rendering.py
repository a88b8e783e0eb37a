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
    "serviceaccount": "The scheduler's account. Only its pods get a token.",
    "clusterrole": "The rights in all namespaces, each with the plugins that need it: "
    "the least for this configuration. Render it again for other plugins.",
    "clusterrolebinding": "Gives the scheduler these rights.",
    "role": "The rights in this namespace only.",
    "rolebinding": "Gives the scheduler these rights.",
    "configmap": "The configuration. The scheduler reloads it once the kubelet has "
    "updated the file; changes of the leader election need a restart.",
    "deployment": "The replicas: one schedules, the others stand by. There is no limit "
    "of memory, which grows with nodes and pods.",
    "poddisruptionbudget": "Drains take one replica after the other.",
    "service": "Health and metrics of each replica, over HTTPS. Clients of /metrics "
    "need the right to get that path.",
    "networkpolicy": "In: health and metrics. Out: DNS, the API server by its ports, "
    "and extenders.",
}


def rendered(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the objects of a deployment, in the order of their creation.

    Args:
        plan: The plan.

    Returns:
        The file name of each object, and its text.
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
