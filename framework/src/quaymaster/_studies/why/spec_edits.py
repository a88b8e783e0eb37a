"""Changes of what a pod requires: tolerations, labels of nodes, ports."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from quaymaster._api.objects import (
    Affinity,
    Container,
    Node,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinityTerm,
    PodSpec,
    Taint,
    Toleration,
)
from quaymaster._studies.why.changes import Candidate, ChangeKind, yaml_scalar
from quaymaster._studies.why.editing import Editing
from quaymaster._studies.why.label_families import is_interrupted, names_devices
from quaymaster._studies.why.node_facts import can_be_ignored, is_protective

__all__ = [
    "dropped_affinity",
    "dropped_ports",
    "dropped_selectors",
    "opened_gates",
    "other_schedulers",
    "tolerations",
]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PYTHON_REQUIRED: Final = "required_during_scheduling_ignored_during_execution"


def other_schedulers(
    editing: Editing, spec: PodSpec, names: Iterable[str]
) -> Iterator[Candidate]:
    """Offer the scheduler names of the profiles."""
    for name in sorted(names):
        edit = partial(_replaced, scheduler_name=name)
        old = spec.scheduler_name
        text = f"have {editing.subject} scheduled by {name}, not by {old}"
        field = editing.field("schedulerName", old, yaml_scalar(name))
        yield editing.candidate(ChangeKind.SCHEDULER, text, field, edit)


def opened_gates(editing: Editing, spec: PodSpec) -> Iterator[Candidate]:
    """Offer to open all scheduling gates."""
    gates = ", ".join(gate.name for gate in spec.scheduling_gates)
    if gates:
        edit = partial(_replaced, scheduling_gates=())
        text = (
            f"have the scheduling gates of {editing.subject} removed by their "
            f"controllers: {gates}"
        )
        field = editing.field("schedulingGates", gates, "")
        yield editing.candidate(ChangeKind.GATES, text, field, edit)


def tolerations(
    editing: Editing, spec: PodSpec, taints: Iterable[Taint], usable: Collection[Node]
) -> Iterator[Candidate]:
    """Offer to tolerate each of some taints.

    Nodes with devices are kept for pods that request some.

    Args:
        editing: Makes the changes.
        spec: The spec of the pod.
        taints: The taints.
        usable: The nodes that only taints keep from the pod. If some lack the taint,
            it reserves nodes for other pods.
    """
    for taint in taints:
        # Such taints keep other pods away from devices, as intended.
        reserves_devices = names_devices(taint.key, taint.value)
        if is_protective(taint) or (reserves_devices and not _requests_devices(spec)):
            continue
        is_only_way = all(_has(node, taint) for node in usable)
        is_only_way = is_only_way and not is_interrupted(taint.key, taint.value)
        kind = ChangeKind.TOLERATION if is_only_way else ChangeKind.RESERVED_NODES
        yield _tolerating(editing, taint, kind)


def _requests_devices(spec: PodSpec) -> bool:
    """Whether a pod requests an extended resource or a resource claim."""
    containers = (*spec.init_containers, *spec.containers)
    return bool(spec.resource_claims) or any(
        "/" in name for each in containers for name in each.resources.requests
    )


def _has(node: Node, taint: Taint) -> bool:
    return any(
        (each.key, each.value, each.effect) == (taint.key, taint.value, taint.effect)
        for each in node.spec.taints
    )


def _tolerating(editing: Editing, taint: Taint, kind: ChangeKind) -> Candidate:
    toleration = Toleration(
        key=taint.key,
        operator="Equal" if taint.value else "Exists",
        value=taint.value,
        effect=taint.effect,
    )

    def edit(spec: PodSpec) -> PodSpec:
        return _replaced(spec, tolerations=(*spec.tolerations, toleration))

    shown = f"{taint.key}={taint.value}" if taint.value else taint.key
    condition = (
        "its pods may be interrupted at any time"
        if is_interrupted(taint.key, taint.value)
        else "it may use the nodes that this reserves"
    )
    text = (
        f"let {editing.subject} tolerate the taint {shown}:{taint.effect}, if "
        f"{condition}"
    )
    field = editing.field("tolerations[]", "", _as_text(toleration))
    return editing.candidate(kind, text, field, edit)


def _as_text(toleration: Toleration) -> str:
    """Return a toleration as YAML. The value is quoted: it may look like a number."""
    key = yaml_scalar(toleration.key)
    value = f", value: {json.dumps(toleration.value)}" if toleration.value else ""
    return (
        f"{{key: {key}, operator: {toleration.operator}{value}, "
        f"effect: {toleration.effect}}}"
    )


def dropped_ports(editing: Editing, spec: PodSpec) -> Iterator[Candidate]:
    """Offer to drop each host port."""
    for index, container in enumerate(spec.containers):
        for number, port in enumerate(container.ports):
            if not port.host_port:
                continue
            edit = partial(_without_port, index=index, number=number)
            text = f"do without the host port {port.host_port} of {editing.subject}"
            path = f"containers[{index}].ports[{number}].hostPort"
            field = editing.field(path, str(port.host_port), "")
            yield editing.candidate(ChangeKind.HOST_PORT, text, field, edit)


def _without_port(spec: PodSpec, index: int, number: int) -> PodSpec:
    def changed(container: Container) -> Container:
        ports = list(container.ports)
        ports[number] = msgspec.structs.replace(ports[number], host_port=0)
        return msgspec.structs.replace(container, ports=tuple(ports))

    containers = list(spec.containers)
    containers[index] = changed(containers[index])
    return _replaced(spec, containers=tuple(containers))


def dropped_selectors(editing: Editing, spec: PodSpec) -> Iterator[Candidate]:
    """Offer to drop each label of the node selector."""
    for key, value in sorted(spec.node_selector.items()):
        if not can_be_ignored(key, (value,)):
            continue

        def edit(spec: PodSpec, gone: str = key) -> PodSpec:
            left = {label: spec.node_selector[label] for label in spec.node_selector}
            left.pop(gone, None)
            return _replaced(spec, node_selector=left)

        text = f"let {editing.subject} do without nodes labelled {key}={value}"
        field = editing.field(f"nodeSelector.{key}", value, "")
        yield editing.candidate(ChangeKind.SELECTOR, text, field, edit)


def dropped_affinity(editing: Editing, spec: PodSpec) -> Iterator[Candidate]:
    """Offer to drop each required term of affinity and anti-affinity."""
    affinity = spec.affinity
    if affinity is None:
        return
    yield from _dropped_expressions(editing, affinity)
    for field, path in (
        ("pod_affinity", "podAffinity"),
        ("pod_anti_affinity", "podAntiAffinity"),
    ):
        rules = getattr(affinity, field)
        terms: Sequence[PodAffinityTerm] = (
            getattr(rules, _PYTHON_REQUIRED) if rules is not None else ()
        )
        for index, term in enumerate(terms):
            what = "affinity" if field == "pod_affinity" else "anti-affinity"
            where = f"affinity.{path}.{_REQUIRED}[{index}]"
            text = (
                f"do not insist on the {what} of {editing.subject} by "
                f"{term.topology_key}"
            )
            old = f"{{topologyKey: {term.topology_key}, ...}}"
            edit = partial(_without_term, field=field, term=term)
            change = editing.field(where, old, "")
            yield editing.candidate(ChangeKind.AFFINITY, text, change, edit)


def _dropped_expressions(editing: Editing, affinity: Affinity) -> Iterator[Candidate]:
    """Offer to drop each expression of the required node affinity."""
    rules = affinity.node_affinity
    required = getattr(rules, _PYTHON_REQUIRED) if rules is not None else None
    terms: Sequence[NodeSelectorTerm] = (
        required.node_selector_terms if required is not None else ()
    )
    for number, term in enumerate(terms):
        for index, expression in enumerate(term.match_expressions):
            if not can_be_ignored(expression.key, expression.values):
                continue
            values = " ".join(expression.values)
            shown = f"{expression.key} {expression.operator} {values}".strip()
            path = (
                f"affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[{number}]"
                f".matchExpressions[{index}]"
            )
            text = f"let {editing.subject} do without nodes that match {shown}"
            edit = partial(_without_expression, number=number, expression=expression)
            field = editing.field(path, shown, "")
            yield editing.candidate(ChangeKind.AFFINITY, text, field, edit)


def _without_term(spec: PodSpec, *, field: str, term: PodAffinityTerm) -> PodSpec:
    affinity = spec.affinity
    assert affinity is not None, "it has the term"
    rules = getattr(affinity, field)
    terms = tuple(each for each in getattr(rules, _PYTHON_REQUIRED) if each != term)
    rules = msgspec.structs.replace(rules, **{_PYTHON_REQUIRED: terms})
    return _replaced(spec, affinity=msgspec.structs.replace(affinity, **{field: rules}))


def _without_expression(
    spec: PodSpec, *, number: int, expression: NodeSelectorRequirement
) -> PodSpec:
    affinity = spec.affinity
    rules = affinity.node_affinity if affinity is not None else None
    required = getattr(rules, _PYTHON_REQUIRED) if rules is not None else None
    if affinity is None or rules is None or required is None:
        return spec  # another change has dropped the last expression of a term
    terms = list(required.node_selector_terms)
    term = terms[number]
    left = tuple(each for each in term.match_expressions if each != expression)
    terms[number] = msgspec.structs.replace(term, match_expressions=left)
    # A term without any condition matches no node: then nothing is required at all.
    is_empty = not left and not term.match_fields
    new = (
        None
        if is_empty
        else msgspec.structs.replace(required, node_selector_terms=tuple(terms))
    )
    rules = msgspec.structs.replace(rules, **{_PYTHON_REQUIRED: new})
    return _replaced(
        spec, affinity=msgspec.structs.replace(affinity, node_affinity=rules)
    )


def _replaced(spec: PodSpec, **changes: object) -> PodSpec:
    return msgspec.structs.replace(spec, **changes)
