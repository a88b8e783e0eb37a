"""Files with PodGroups and racks, for tests of commands."""

from collections.abc import Iterator, Sequence

__all__ = [
    "GATES",
    "composite_yaml",
    "gang_yaml",
    "members_yaml",
    "rack_yaml",
    "yaml_file",
]

GATES: Sequence[str] = (
    "--feature-gates",
    "GenericWorkload=true,TopologyAwareWorkloadScheduling=true",
)
"""The options that switch groups on."""

_RACK = "topology.kubernetes.io/rack"


def rack_yaml(*racks: int, nodes: int = 2, cpu: int = 4) -> str:
    """Return nodes ``node-RACK-NUMBER`` in racks ``rack-RACK``.

    Args:
        racks: The numbers of the racks.
        nodes: The number of nodes in each.
        cpu: The CPU of each node.
    """
    return yaml_file(*_nodes(racks, nodes, cpu))


def _nodes(racks: Sequence[int], nodes: int, cpu: int) -> Iterator[str]:
    for rack in racks:
        for number in range(1, nodes + 1):
            yield (
                "apiVersion: v1\nkind: Node\n"
                f"metadata: {{name: node-{rack}-{number}, "
                f"labels: {{{_RACK}: rack-{rack}}}}}\n"
                "status: {allocatable: "
                f'{{cpu: "{cpu}", memory: 16Gi, pods: "110"}}}}\n'
            )


def gang_yaml(
    name: str,
    min_count: int | None,
    *,
    pods: int,
    cpu: int = 2,
    in_rack: bool = False,
    policy: str = "",
    parent: str = "",
) -> str:
    """Return a PodGroup with its pods ``NAME-0``, ``NAME-1``, ...

    Args:
        name: Its name.
        min_count: The quorum; None: as many pods as fit.
        pods: The number of its pods.
        cpu: The CPU that each pod requests.
        in_rack: Whether its pods need nodes of one rack.
        policy: The preemption policy of its pods.
        parent: The CompositePodGroup that it is below.
    """
    chosen = "basic: {}" if min_count is None else f"gang: {{minCount: {min_count}}}"
    group = (
        "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"
        f"metadata: {{name: {name}}}\nspec:\n  schedulingPolicy: {{{chosen}}}\n"
    )
    if parent:
        group += f"  parentCompositePodGroupName: {parent}\n{_ORIGIN}"
    if in_rack:
        group += f"  schedulingConstraints: {{topology: [{{key: {_RACK}}}]}}\n"
    return yaml_file(group, members_yaml(name, pods, cpu=cpu, policy=policy))


_ORIGIN = "  workloadRef: {workloadName: work, templateName: part}\n"


def composite_yaml(name: str, min_count: int = 1, *, parent: str = "") -> str:
    """Return a CompositePodGroup.

    Args:
        name: Its name.
        min_count: How many of its children must fit together.
        parent: The CompositePodGroup that it is below.
    """
    above = f"  parentCompositePodGroupName: {parent}\n" if parent else ""
    policy = f"  schedulingPolicy: {{gang: {{minGroupCount: {min_count}}}}}\n"
    return (
        "apiVersion: scheduling.k8s.io/v1alpha3\nkind: CompositePodGroup\n"
        f"metadata: {{name: {name}}}\nspec:\n{above}{policy}{_ORIGIN}"
    )


def members_yaml(
    group: str, pods: int, *, cpu: int = 2, first: int = 0, policy: str = ""
) -> str:
    """Return pods of a PodGroup, without the group.

    Args:
        group: The name of the group.
        pods: The number of pods.
        cpu: The CPU that each requests.
        first: The number of the first one.
        policy: Their preemption policy.
    """
    preempting = f"  preemptionPolicy: {policy}\n" if policy else ""
    return yaml_file(
        *(
            "apiVersion: v1\nkind: Pod\n"
            f"metadata: {{name: {group}-{number}}}\nspec:\n"
            f"  schedulingGroup: {{podGroupName: {group}}}\n{preempting}"
            "  containers:\n  - name: main\n    image: trainer\n"
            f'    resources: {{requests: {{cpu: "{cpu}"}}}}\n'
            for number in range(first, first + pods)
        )
    )


def yaml_file(*documents: str) -> str:
    """Return several documents as one file."""
    return "---\n".join(documents)
