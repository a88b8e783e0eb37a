"""The messages about preemption that are exchanged with extenders.

Mirrors ``ProcessPreemption`` (Kubernetes v1.36, ``pkg/scheduler/extender.go``) and the
types of k8s.io/kube-scheduler v0.36, ``extender/v1/types.go``.
"""

from collections.abc import Mapping, Sequence

import msgspec

from quaymaster._api.objects import encode
from quaymaster._core.contract.results import Candidate
from quaymaster._core.extenders.wire import (
    WireError,
    decoded,
    fields_of,
    list_of,
    text_of,
)

__all__ = ["Victims", "preemption_request", "read_preemption_answer"]


class Victims(msgspec.Struct, frozen=True):
    """The pods that preemption would evict from a node (``MetaVictims``).

    Attributes:
        uids: Their uids, the most important first.
        violations: The number of victims that a disruption budget protects.
    """

    uids: Sequence[str]
    violations: int


def preemption_request(
    pod: msgspec.Raw, candidates: Sequence[Candidate], *, by_uid: bool
) -> bytes:
    """Write the request of preempt (``ExtenderPreemptionArgs``).

    Args:
        pod: The pod that needs room.
        candidates: The nodes where room could be made, with their victims.
        by_uid: Whether to send the victims' uids only.
    """
    key = "NodeNameToMetaVictims" if by_uid else "NodeNameToVictims"
    victims = {
        candidate.node_name: {
            "Pods": [
                {"UID": victim.uid} if by_uid else msgspec.Raw(encode(victim))
                for victim in candidate.victims
            ],
            "NumPDBViolations": candidate.violations,
        }
        for candidate in candidates
    }
    return msgspec.json.encode({"Pod": pod, key: victims})


def read_preemption_answer(body: bytes) -> Mapping[str, Victims]:
    """Read the answer of preempt: node name -> the victims there.

    Raises:
        WireError: The text is not such an answer.
    """
    key = "NodeNameToMetaVictims"
    tree = fields_of(decoded(body), "the answer").get(key.lower())
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise WireError(f"{key}: expected an object, got {type(tree).__name__}")
    return {name: _victims(value, f"{key}.{name}") for name, value in tree.items()}


def _victims(value: object, where: str) -> Victims:
    fields = fields_of(value, where)
    pods = list_of(fields.get("pods"), f"{where}.Pods")
    uids = [text_of(fields_of(pod, "Pods[]").get("uid"), "Pods[].UID") for pod in pods]
    violations = fields.get("numpdbviolations", 0)
    # Upstream trusts the number of the extender and does not count again, although the
    # choice of the node starts with it (pickOneNodeForPreemption).
    if not isinstance(violations, int):
        kind = type(violations).__name__
        raise WireError(f"{where}.NumPDBViolations: expected an integer, got {kind}")
    return Victims(uids, violations)
