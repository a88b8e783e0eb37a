"""Drops the fields whose feature gates are off.

Mirrors what the strategies of the API server do before they validate an object
(Kubernetes v1.37, ``dropDisabledFields`` in ``pkg/api/pod/util.go`` and
``pkg/registry``): a field is dropped unless the old object has one of its gate.
"""

from collections.abc import Collection, Mapping

from quaymaster._api.openapi.table import (
    DROPS_WHOLE_REFERENCE,
    FieldTable,
    Reference,
)

__all__ = ["without_disabled_fields"]


def without_disabled_fields(
    tree: object, reference: Reference, table: FieldTable, used: Collection[str] = ()
) -> object:
    """Return a tree without the fields that an API server drops.

    Args:
        tree: Dicts, lists, strings, numbers; it stays as it is.
        reference: The expected type.
        table: The fields of Kubernetes' kinds.
        used: The gates of which the old object has fields, so that they are kept.
    """
    if isinstance(reference, int):
        if reference > 0 and isinstance(tree, Mapping):
            return _structure(tree, reference, table, used)
    elif isinstance(reference, list):
        if isinstance(tree, list):
            item = reference[0]
            return [
                without_disabled_fields(item_tree, item, table, used)
                for item_tree in tree
            ]
    elif isinstance(tree, Mapping):
        item = reference[""]
        return {
            key: without_disabled_fields(value, item, table, used)
            for key, value in tree.items()
        }
    return tree


def _structure(
    tree: Mapping[str, object],
    structure: int,
    table: FieldTable,
    used: Collection[str],
) -> object:
    fields = table.fields_of(structure)
    remaining: dict[str, object] = {}
    for name, value in tree.items():
        gate = table.gate_of(structure, name)
        if not gate or gate in used:
            reference = fields.get(name, 0)
            remaining[name] = without_disabled_fields(value, reference, table, used)
        elif gate == DROPS_WHOLE_REFERENCE and value:
            return None
    return remaining
