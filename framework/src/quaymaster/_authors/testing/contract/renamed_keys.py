"""Clusters whose keys have other names, as a plugin's arguments name them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar, cast

import attrs

from quaymaster._api.objects import ApiObject, to_wire
from quaymaster._api.objects.wire import read_tree
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.config.dump import plain

__all__ = ["Renaming", "renamings"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_OF_KUBERNETES: Final = ("kubernetes.io", "k8s.io")
"""Other code than the plugin gives a meaning to keys of these domains."""

_KEY_FIELDS: Final = frozenset({"key", "topologyKey"})
"""The fields of selectors, tolerations and terms that name a key."""


@attrs.frozen(eq=False)
class Renaming:
    """A plugin whose arguments name other keys.

    Attributes:
        subject: The plugin with the other arguments.
        names: Old name -> new name.
        arguments: Key of an argument -> its new value.
    """

    subject: Subject
    names: Mapping[str, str]
    arguments: Mapping[str, object]

    def cluster(self, cluster: SmallCluster) -> SmallCluster:
        """Return a cluster whose objects have the new keys."""
        parts = attrs.asdict(cluster, recurse=False)
        return SmallCluster(
            **{name: tuple(map(self.renamed, part)) for name, part in parts.items()}
        )

    def renamed(self, obj: ObjT) -> ObjT:
        """Return an object that has the new keys."""
        tree = to_wire(obj)
        renamed = self._value(tree)
        return obj if renamed == tree else read_tree(renamed, type(obj))

    def _value(self, value: object) -> object:
        if isinstance(value, Mapping):
            return {
                self.names.get(key, key): self.names.get(part, part)
                if key in _KEY_FIELDS and isinstance(part, str)
                else self._value(part)
                for key, part in value.items()
            }
        if isinstance(value, list | tuple):
            return [*map(self._value, value)]
        # Without a domain, an equal text may mean something else.
        if isinstance(value, str) and "/" in value:
            return self.names.get(value, value)
        return value

    def restored(self, text: str) -> str:
        """Return a text with the old names."""
        for old, new in self.names.items():
            text = text.replace(new, old)
        return text


def renamings(subject: Subject, cluster: SmallCluster) -> Iterator[Renaming]:
    """Yield the plugin with new names, if its arguments name keys of a cluster.

    Args:
        subject: The plugin.
        cluster: The cluster whose labels, annotations and resources are keys.
    """
    args = subject.config.plugin_args.get(subject.name)
    if args is None:
        return
    written = cast(Mapping[str, object], plain(args))
    keys = {*_keys([*cluster.nodes, *cluster.pods, *cluster.pending])}
    used = dict.fromkeys(
        text for value in written.values() for text in _texts(value) if text in keys
    )
    names = {text: _new(text) for text in used}
    if not names:
        return
    arguments = {
        key: _with_names(value, names)
        for key, value in written.items()
        if any(text in names for text in _texts(value))
    }
    given = attrs.evolve(subject, args={**(subject.args or {}), **arguments})
    try:
        _ = given.config
    except QuaymasterError:
        return  # these names are not valid
    yield Renaming(given, names, arguments)


def _new(name: str) -> str:
    domain, slash, rest = name.rpartition("/")
    return f"other.{domain}/{rest}" if slash else f"other-{rest}"


def _texts(value: object) -> Sequence[str]:
    """Return the texts of an argument: itself, or those of a list."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


def _with_names(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, list):
        return [_with_names(part, names) for part in value]
    return names.get(value, value) if isinstance(value, str) else value


def _keys(objects: Iterable[ApiObject]) -> Iterator[str]:
    for obj in objects:
        for key in _keys_of(to_wire(obj)):
            if not any(domain in key for domain in _OF_KUBERNETES):
                yield key


def _keys_of(tree: object) -> Iterator[str]:
    """Yield the keys of labels, annotations, selectors and amounts."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if key in _MAPPINGS and isinstance(value, Mapping):
                yield from value
            else:
                yield from _keys_of(value)
    elif isinstance(tree, list | tuple):
        for part in tree:
            yield from _keys_of(part)


_MAPPINGS: Final = frozenset(
    {
        "labels",
        "annotations",
        "nodeSelector",
        "requests",
        "limits",
        "capacity",
        "allocatable",
    }
)
"""The fields whose keys are names."""
