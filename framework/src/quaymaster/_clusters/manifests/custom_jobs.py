"""Makes Jobs of custom kinds and CronJobs, which the cluster itself does not run."""

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from quaymaster._base.errors import Problem
from quaymaster._clusters.manifests.custom_groups import GroupShare, share_of
from quaymaster._clusters.manifests.custom_kinds import (
    Count,
    CustomKind,
    PodSource,
    UnfollowedField,
)
from quaymaster._clusters.manifests.paths import Tree, field_at, first_field, is_unset
from quaymaster._core.config.naming import join_path, show

__all__ = [
    "CustomJob",
    "custom_jobs",
    "job_of_cron_job",
    "metadata_of_part",
    "name_of",
    "unfollowed_fields",
    "valid_name",
]

_LONGEST_NAME: Final = 63  # that of a Job is also the value of a label
_LONGEST_GROUP_NAME: Final = 253
_ENDING: Final = ("Never", "OnFailure")


@attrs.frozen(kw_only=True)
class CustomJob:
    """A Job that runs the pods of another object.

    Attributes:
        tree: The Job, in wire form.
        owner: The other object's kind and name, for messages.
        path: The path of the pod template in that object.
        is_final: Whether its pods get this template. Operators of custom kinds may
            complete theirs, with volumes for example.
        share: The part of a PodGroup that its pods are, or None.
    """

    tree: Tree
    owner: str
    path: str
    is_final: bool = False
    share: GroupShare | None = None


def custom_jobs(
    owner: Tree, kind: CustomKind, problems: list[Problem]
) -> Iterator[CustomJob]:
    """Yield the Jobs that run the pods of a custom object.

    Args:
        owner: The object, in wire form.
        kind: The paths of templates and numbers.
        problems: Receives the problems, each with its path in the object.
    """
    if _is_true(owner, kind.suspend):
        return
    for source in kind.pods:
        for path, part, item in _items(owner, source, problems):
            pods = _Pods(owner, kind, source, path, part, item)
            template = first_field([item], source.template)
            if template is None and _is_elsewhere(item, source):
                continue
            if template is None or not isinstance(template[1], Mapping):
                expected = " or ".join(
                    join_path(path, template_path) for template_path in source.template
                )
                message = f"expected a pod template at {expected}"
                problems.append(Problem(path=path, message=message))
            elif not _is_true(item, source.suspend):
                for tree, share in _groups(pods, template[1], problems):
                    yield CustomJob(
                        tree=tree,
                        owner=name_of(owner),
                        path=join_path(path, template[0]),
                        share=share,
                    )


@attrs.frozen
class _Pods:
    """The pods of one source of an object, in one of its items."""

    owner: Tree
    kind: CustomKind
    source: PodSource
    path: str
    part: str
    item: Tree


def _groups(
    pods: _Pods, template: Tree, problems: list[Problem]
) -> Iterator[tuple[Tree, GroupShare | None]]:
    """Yield a Job for each group of pods, and its share in a PodGroup."""
    source, part = pods.source, pods.part
    jobs = _product(pods.item, source.jobs, pods.path, problems)
    for index in range(jobs):
        spec = _job_spec(pods, problems)
        if spec.get("parallelism") == 0:
            return
        labelled = _labelled(template, pods, index)
        with_copies = _with_copies(labelled, pods.owner, pods.kind)
        spec = {**spec, "template": _ending(with_copies)}
        name = f"{part}-{index}" if source.jobs else part
        yield _job(pods.owner, name, spec), _share(pods, spec, index, problems)


def _share(
    pods: _Pods, spec: Tree, index: int, problems: list[Problem]
) -> GroupShare | None:
    """Return the share of a Job's pods in a PodGroup, or None."""
    # Only the first Job of an item reports its mistakes.
    mistakes = [] if index else problems
    values = _values(pods, index)
    trees = [pods.item, pods.owner]
    count = _running(spec)
    share = share_of(pods.kind.pod_groups, trees, values, count, mistakes)
    if share is None:
        return None
    return attrs.evolve(share, name=valid_name(share.name))


def _running(spec: Tree) -> int:
    """Return how many pods of a Job run at once."""
    numbers = [
        number
        for number in (spec.get("parallelism", 1), spec.get("completions"))
        if isinstance(number, int)
    ]
    return min(numbers, default=0)


def _job_spec(pods: _Pods, problems: list[Problem]) -> Tree:
    """Return the spec of a group's Job, without its template."""
    source = pods.source
    own = None if source.job is None else field_at(pods.item, source.job)
    if not isinstance(own, Mapping):
        count = _product(pods.item, source.count, pods.path, problems)
        return {"parallelism": count, "completions": count}
    spec = {key: value for key, value in own.items() if key != "suspend"}
    # An indexed Job needs completions, which a work queue does not have.
    has_number = "completions" in spec or "parallelism" not in spec
    if source.indexed and has_number:
        spec.setdefault("completionMode", "Indexed")
    return spec


def _labelled(template: Tree, pods: _Pods, index: int) -> Tree:
    """Return a template with the labels that the operator adds."""
    if not pods.source.labels:
        return template
    values = _values(pods, index)
    own = _metadata(template)
    labels = own.get("labels")
    added = {key: _filled(text, values) for key, text in pods.source.labels.items()}
    labels = {**(labels if isinstance(labels, Mapping) else {}), **added}
    return {**template, "metadata": {**own, "labels": labels}}


def _values(pods: _Pods, index: int) -> Mapping[str, str]:
    """Return the placeholders and their values."""
    metadata = _metadata(pods.owner)
    return {
        "{name}": str(metadata.get("name") or ""),
        "{namespace}": str(metadata.get("namespace") or "default"),
        "{part}": pods.part,
        "{lowerPart}": pods.part.lower(),
        "{index}": str(index),
    }


def _filled(text: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


def unfollowed_fields(owner: Tree, kind: CustomKind) -> Iterator[tuple[str, str]]:
    """Yield path and effect of the fields of an object that nothing here follows."""
    yield from _set_fields(owner, "", kind.unfollowed)
    for source in kind.pods:
        for path, _, item in _items(owner, source, []):
            yield from _set_fields(item, path, source.unfollowed)


def _set_fields(
    item: Tree, path: str, unfollowed: Iterable[UnfollowedField]
) -> Iterator[tuple[str, str]]:
    for field in unfollowed:
        value = field_at(item, field.path)
        if not is_unset(value) and (field.default is None or value != field.default):
            yield join_path(path, field.path), field.effect


def job_of_cron_job(owner: Tree) -> CustomJob | None:
    """Return the Job that a CronJob creates when it is due; None if it is suspended.

    Mirrors ``getJobFromTemplate2`` (Kubernetes v1.36, ``pkg/controller/cronjob``); the
    number of the run is 0 instead of the minutes since 1970.
    """
    spec = owner.get("spec")
    if not isinstance(spec, Mapping) or spec.get("suspend") is True:
        return None
    template = spec.get("jobTemplate")
    template = template if isinstance(template, Mapping) else {}
    job_spec = template.get("spec")
    job = _job(owner, "0", job_spec if isinstance(job_spec, Mapping) else {})
    metadata = template.get("metadata")
    for key in ("labels", "annotations"):
        if isinstance(metadata, Mapping) and metadata.get(key):
            job["metadata"][key] = metadata[key]
    return CustomJob(
        tree=job,
        owner=name_of(owner),
        path="spec.jobTemplate.spec.template",
        is_final=True,
    )


def name_of(tree: Tree) -> str:
    """Return kind and name, if any, of an object in wire form, for messages."""
    metadata, kind = _metadata(tree), tree.get("kind")
    name = metadata.get("name")
    if not name:
        return str(kind)
    return f"{kind} {metadata.get('namespace') or 'default'}/{name}"


def _items(
    owner: Tree, source: PodSource, problems: list[Problem]
) -> Iterator[tuple[str, str, Tree]]:
    """Yield path, name and tree of each item that has a template."""
    if source.each is None:
        yield "", source.name or "", owner
        return
    items = field_at(owner, source.each)
    if items is not None and not isinstance(items, Mapping | list):
        message = f"expected a list or an object, got {show(items)}"
        problems.append(Problem(path=source.each, message=message))
    for path, name, item in _parts(items, source.each):
        if not isinstance(item, Mapping):
            message = f"expected an object, got {show(item)}"
            problems.append(Problem(path=path, message=message))
            continue
        own = None if source.name_from is None else field_at(item, source.name_from)
        yield path, source.name or (own if isinstance(own, str) else name), item


def _parts(tree: object, path: str) -> Iterator[tuple[str, str, object]]:
    if isinstance(tree, Mapping):
        for key, item in tree.items():
            yield f"{path}.{key}", str(key), item
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield f"{path}[{index}]", str(index), item


def _product(
    item: Tree, counts: tuple[Count, ...], path: str, problems: list[Problem]
) -> int:
    product = 1
    for count in counts:
        where, value = first_field([item], count.paths) or (
            count.paths[0],
            count.default,
        )
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            message = f"expected an integer of at least 0, got {show(value)}"
            problems.append(Problem(path=join_path(path, where), message=message))
            return 0
        product *= max(_bounded(item, count, value) + count.plus, 0)
    return product


def _bounded(item: Tree, count: Count, value: int) -> int:
    """Return a number within the limits that the item itself sets."""
    _, least = first_field([item], count.least) or ("", None)
    _, most = first_field([item], count.most) or ("", None)
    if isinstance(least, int) and value < least:
        return least
    return min(value, most) if isinstance(most, int) else value


def _is_true(tree: Tree, path: str | None) -> bool:
    return path is not None and field_at(tree, path) is True


def _is_elsewhere(item: Tree, source: PodSource) -> bool:
    """Return whether an item refers to another object with its template."""
    return source.elsewhere is not None and field_at(item, source.elsewhere) is not None


def _with_copies(template: Tree, owner: Tree, kind: CustomKind) -> Tree:
    """Return a template with the fields that pods have from the object itself."""
    spec = template.get("spec")
    if not isinstance(spec, Mapping):
        return template
    copied: dict[str, object] = {}
    for copy in kind.copies:
        value = field_at(owner, copy.path)
        value = copy.default if is_unset(value) else value
        if value is not None and is_unset(spec.get(copy.field)):
            copied[copy.field] = value
    return {**template, "spec": {**spec, **copied}} if copied else template


def _ending(template: Tree) -> Tree:
    """Return a template whose pods a Job may run."""
    spec = template.get("spec")
    if not isinstance(spec, Mapping) or spec.get("restartPolicy") in _ENDING:
        return template
    # A Job may not have the default, which is Always.
    return {**template, "spec": {**spec, "restartPolicy": "Never"}}


def _job(owner: Tree, name: str, spec: Tree) -> dict[str, dict[str, object]]:
    own = metadata_of_part(owner)
    own["name"] = _name(str(_metadata(owner).get("name") or ""), name)
    return {"metadata": own, "spec": dict(spec)}


def metadata_of_part(owner: Tree) -> dict[str, object]:
    """Return the metadata of an object that a custom object controls, unnamed."""
    metadata = _metadata(owner)
    place = f"{owner.get('apiVersion')}/{name_of(owner)}"
    reference = {
        "apiVersion": owner.get("apiVersion"),
        "kind": owner.get("kind"),
        "name": metadata.get("name"),
        # Manifests have no uids. One made of the name is the same in each run.
        "uid": metadata.get("uid") or str(uuid.uuid5(uuid.NAMESPACE_URL, place)),
        "controller": True,
    }
    own: dict[str, object] = {"ownerReferences": [reference]}
    if metadata.get("namespace"):
        own["namespace"] = metadata["namespace"]
    return own


def valid_name(text: str) -> str:
    """Return a text as the name of an object."""
    name = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")
    return name[:_LONGEST_GROUP_NAME].rstrip("-.")


def _metadata(tree: Tree) -> Tree:
    metadata = tree.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _name(owner: str, part: str) -> str:
    part = re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")
    if not part:
        return owner
    return f"{owner[: _LONGEST_NAME - len(part) - 1]}-{part}"
