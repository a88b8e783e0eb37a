"""The priorities that groups get from their classes.

Mirrors ``admitPodGroup`` and ``admitCompositePodGroup`` (Kubernetes v1.37,
``plugin/pkg/admission/priority/admission.go``).
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import CompositePodGroupSpec, PodGroupSpec, PriorityClass
from quaymaster._clusters.inmemory.admission.classes import find_priority_class
from quaymaster._clusters.inmemory.admission.refusal import Refusal

__all__ = ["resolve_group_priority"]

SpecT = TypeVar("SpecT", PodGroupSpec, CompositePodGroupSpec)

_USUAL_POLICY: Final = "PreemptLowerPriority"


def resolve_group_priority(
    spec: SpecT,
    classes: Iterable[PriorityClass],
    what: str,
    *,
    has_policies: bool,
) -> SpecT:
    """Return the spec of a new group with the priority of its class.

    Args:
        spec: The spec.
        classes: The priority classes.
        what: The kind in messages, such as ``pod group``.
        has_policies: Whether groups have a preemption policy of their own.

    Raises:
        Refusal: There is no such class, or the group contradicts it.
    """
    name = spec.priority_class_name
    priority_class = find_priority_class(name, classes)
    if priority_class is None and name:
        raise Refusal(f"no PriorityClass with name {name} was found")
    value, policy = 0, _USUAL_POLICY
    if priority_class is not None:
        name, value = priority_class.name, priority_class.value
        policy = priority_class.preemption_policy or _USUAL_POLICY
    # A number without a class is rejected, as upstream does; `resolve_priority` is more
    # lenient with pods.
    if spec.priority not in (None, value):
        raise Refusal(
            f"priority set in the {what} ({spec.priority}) must match the priority "
            f"computed ({value}) based on the priority class set in the spec"
        )
    # Written back even if it was empty: the default class then stays the group's class
    # when another class becomes the default.
    spec = replace(spec, priority=value, priority_class_name=name)
    # Before the gate PodGroupPreemptionPolicy, the policy of the class is not copied to
    # the group.
    if not has_policies:
        return spec
    if spec.preemption_policy not in (None, policy):
        raise Refusal(
            f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not "
            f"be provided in {what} spec; priority admission controller computed "
            f"{policy} from the given PriorityClass name"
        )
    return replace(spec, preemption_policy=policy)
