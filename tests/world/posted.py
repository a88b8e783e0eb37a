"""Posts an object to our cluster, among the objects of its case."""

import json

from quaymaster import ApiObject
from quaymaster.cluster import ApiError
from quaymaster.errors import ObjectError
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import KINDS, encode, from_wire
from quaymaster.scheduler import VirtualClock
from tests.world.cases import Tree

__all__ = ["post"]


def post(case: Tree) -> Tree:
    """Post the object of a case; return our answer, in the form of the recording."""
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    for tree in case.get("prereq", ()):
        cluster.create(_object(tree))
    answer: Tree = {"id": case["id"]}
    tree = case["submitted"]
    kind = KINDS.get(str(tree.get("kind")))
    if kind is None or kind.api_version != tree.get("apiVersion"):
        return answer | {"unknown": f"{tree.get('kind')} ({tree.get('apiVersion')})"}
    try:
        stored = cluster.create(from_wire(tree, kind))
    except (AdmissionError, ObjectError) as error:
        fields = [problem.path for problem in error.problems]
        return answer | {"refused": str(error), "fields": fields}
    except ApiError as error:
        return answer | {"refused": str(error)}
    return answer | {"stored": json.loads(encode(stored))}


def _object(tree: Tree) -> ApiObject:
    return from_wire(tree, KINDS[tree["kind"]])
