"""A check: the owner references that a plugin writes fit the objects that they name."""

from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._api.objects import ApiObject, OwnerReference, Pod
from quaymaster._authors.testing.contract.background_acts import (
    Act,
    acts_of,
    bind_elsewhere,
    delete_pod,
    settle,
    touch,
    writes_objects,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["OWNERS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""

_ADVICE: Final = (
    "The garbage collector finds an owner by all fields of the reference, and deletes "
    "an object without an owner: take them from the owner itself, as "
    "OwnerReference(api_version=owner.api_version, kind=owner.kind, name=owner.name, "
    "uid=owner.uid)"
)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in cluster.pending:
        for act in acts_of(subject):
            _ask_act(Bench(subject, cluster), act, pod)


def _ask_act(bench: Bench, act: Act, pod: Pod) -> None:
    before = bench.all_stored()
    act.play(bench, pod)
    bind_elsewhere(bench, pod)
    bench.advance(_SECONDS)
    settle(bench)
    touch(bench)
    objects = [*before, *bench.all_stored()]
    delete_pod(bench, pod)
    settle(bench)
    for obj in bench.cluster.owned:
        for reference in obj.metadata.owner_references:
            bench.subject.exercised["owner references"] += 1
            _ask_reference(act, obj, reference, before, objects)


def _ask_reference(
    act: Act,
    obj: ApiObject,
    reference: OwnerReference,
    before: Iterable[ApiObject],
    objects: Iterable[ApiObject],
) -> None:
    """Compare an owner reference with the object that it names.

    Args:
        act: What has written it.
        obj: The object with the reference.
        reference: The reference.
        before: The objects that were there before the plugin wrote any.
        objects: All objects that were there at some time.
    """
    if any(reference in each.metadata.owner_references for each in before):
        return  # it is copied from another object, and its owner need not be here
    owners = [each for each in objects if _may_be_meant(reference, each)]
    problems = (
        list(_problems(reference, owners[-1], obj))
        if owners
        else [f"its uid '{reference.uid}' is that of no object"]
    )
    if problems:
        text = (
            f"writes {obj.kind} '{obj.key}' with an owner reference whose owner would "
            f"not be found: {'; '.join(problems)}. {_ADVICE}"
        )
        fail(act.hook, text, obj, owners[-1:])


def _may_be_meant(reference: OwnerReference, obj: ApiObject) -> bool:
    """Return whether a reference names an object by its uid.

    Authors may draw objects without uids; then it is the name that counts.
    """
    if reference.uid or obj.uid:
        return reference.uid == obj.uid
    return (reference.kind, reference.name) == (obj.kind, obj.name)


def _problems(
    reference: OwnerReference, owner: ApiObject, obj: ApiObject
) -> Iterator[str]:
    """Yield the differences of a reference from the owner of an object."""
    for field, actual, expected in (
        ("apiVersion", reference.api_version, owner.api_version),
        ("kind", reference.kind, owner.kind),
        ("name", reference.name, owner.name),
    ):
        if actual != expected:
            yield f"its {field} is '{actual}', expected '{expected}' as of this uid"
    if owner.namespaced and not obj.namespaced:
        yield (
            f"{owner.kind} '{owner.key}' has a namespace, but the owner of an object "
            "without a namespace has none either"
        )
    elif owner.namespaced and owner.namespace != obj.namespace:
        yield (
            f"{owner.kind} '{owner.key}' is in another namespace than the object, "
            "where only objects of the same namespace, or of none, may be owners"
        )


OWNERS: Final = Check(
    name="owners",
    promise="the owner references that it writes fit the objects that they name",
    ask=_ask,
    only_for=writes_objects,
    hooks=frozenset({"post_filter", "reserve", "permit", "pre_bind", "post_bind"}),
)
