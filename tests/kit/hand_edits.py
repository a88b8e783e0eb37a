"""Makes the changes of suggestions as people do: they paste what is printed."""

import copy
import json
import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import yaml

from quaymaster.simulation import FieldChange, SuggestedChange

__all__ = ["Document", "edited_by_hand"]

Document: TypeAlias = dict[str, Any]
_MAP: Final = re.compile(r"(.*(?:^|\.)(?:labels|nodeSelector|requests|limits))\.(.+)")
"""The path of a value whose key may contain dots."""
_STEP: Final = re.compile(r"[^.\[\]]+|\[\d*\]")


def edited_by_hand(
    documents: Sequence[Document], change: SuggestedChange
) -> list[Document]:
    """Return documents in which the fields of a change are edited.

    Args:
        documents: The documents, which stay as they are.
        change: The change.
    """
    # Drawn documents may share a selector, which a deep copy would still share.
    changed: list[Document] = json.loads(json.dumps(list(documents)))
    for field in change.fields:
        if field.new.startswith("a copy of "):
            _add_copy(changed, field)
        else:
            _edit(changed, field)
    return changed


def _edit(documents: Sequence[Document], field: FieldChange) -> None:
    """Edit the documents as a person would who reads the suggestion."""
    kind, _, name = field.object.partition("/")
    place: Any
    [place] = [
        document
        for document in documents
        if document["kind"].lower() == kind and document["metadata"]["name"] == name
    ]
    *steps, last = _steps(field.path)
    for step, following in zip(steps, [*steps[1:], last], strict=True):
        empty: object = [] if following == "[]" else {}
        if step.startswith("["):
            place = place[int(step[1:-1])]
        else:
            place = place.setdefault(step, empty)
    if last == "[]":
        place.append(yaml.safe_load(field.new))
    elif not field.new:
        del place[int(last[1:-1]) if last.startswith("[") else last]
    else:
        place[last] = yaml.safe_load(field.new)


def _steps(path: str) -> list[str]:
    match = _MAP.fullmatch(path)
    if match is None:
        return _STEP.findall(path)
    return [*_STEP.findall(match[1]), match[2]]


def _add_copy(documents: list[Document], field: FieldChange) -> None:
    like = re.sub(r"a copy of ([^,]+).*", r"\1", field.new)
    [old] = [
        document
        for document in documents
        if document["kind"] == "Node" and document["metadata"]["name"] == like
    ]
    new = copy.deepcopy(old)
    name = field.object.removeprefix("node/")
    new["metadata"]["name"] = name
    new["metadata"]["labels"]["kubernetes.io/hostname"] = name
    new["metadata"]["labels"] |= dict(re.findall(r"with (\S+)=([^,]+)", field.new))
    new["spec"].pop("unschedulable", None)
    documents.append(new)
