"""Admits objects into the in-memory cluster."""

import json
from collections.abc import Mapping
from typing import Final

from quaymaster import ApiObject
from quaymaster.config import Kubernetes
from quaymaster.errors import ObjectError, Problem
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import KINDS, encode, from_wire
from quaymaster.scheduler import VirtualClock
from tests.admission.cases import Case, Tree, prerequisites

__all__ = ["Outcome", "admit", "as_record", "object_of"]


RECORDED: Final = Kubernetes("1.36")
"""The Kubernetes version of the recorded API server."""


class Outcome:
    """The outcome of one object.

    Attributes:
        stored: The object, in wire form; None if it was rejected.
        problems: The reasons for the rejection.
    """

    def __init__(self, stored: Tree | None, problems: tuple[Problem, ...] = ()) -> None:
        self.stored = stored
        self.problems = problems


def admit(tree: Tree) -> Outcome:
    """Admit one object into a cluster that has only the prerequisites."""
    cluster = InMemoryCluster(
        VirtualClock(), kubelet=False, controllers=False, kubernetes=RECORDED
    )
    cluster.load([object_of(given) for given in prerequisites()])
    try:
        stored = cluster.create(object_of(tree))
    except (AdmissionError, ObjectError) as error:
        return Outcome(None, error.problems)
    wire: Tree = json.loads(encode(stored))
    return Outcome(wire)


def object_of(tree: Mapping[str, object]) -> ApiObject:
    """Decode an object from its wire form.

    Raises:
        ObjectError: It cannot be decoded, or its kind is unknown.
    """
    kind = KINDS.get(str(tree.get("kind")))
    if kind is None or kind.api_version != tree.get("apiVersion"):
        given = f"{tree.get('kind')} ({tree.get('apiVersion')})"
        message = f"expected a kind of the API, got {given}"
        raise ObjectError([Problem(path="kind", message=message)])
    return from_wire(tree, kind)


def as_record(case: Case, outcome: Outcome) -> Tree:
    """Return one line of ``emit``."""
    if outcome.stored is not None:
        return {"id": case.id, "stored": outcome.stored}
    return {"id": case.id, "refused": "; ".join(map(str, outcome.problems))}
