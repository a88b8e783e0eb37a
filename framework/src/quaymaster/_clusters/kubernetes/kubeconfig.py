"""Reads kubeconfig files, and merges them as kubectl does.

Mirrors ``ClientConfigLoadingRules`` (k8s.io/client-go v0.36,
``tools/clientcmd/loader.go``): a cluster, user or context is taken whole from the first
file that names it. The first current context applies.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, TypeVar

import attrs
import msgspec

from quaymaster._api.objects.check import clean, complaint
from quaymaster._base.errors import Problem
from quaymaster._clusters.kubernetes.kubeconfig_model import (
    Cluster,
    Context,
    KubeconfigFile,
    User,
)
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.yaml_file import read_content, read_yaml

__all__ = ["Entry", "Kubeconfig", "kubeconfig_files", "merged", "read_kubeconfig"]

VARIABLE: Final = "KUBECONFIG"

ValueT = TypeVar("ValueT")


@attrs.frozen
class Entry(Generic[ValueT]):
    """A part of a kubeconfig file, with its place.

    Attributes:
        value: The part.
        file: The file; paths in it are relative to its folder.
        path: Its place in the file, such as ``users[0].user``.
    """

    value: ValueT
    file: str
    path: str

    def resolved(self, name: str) -> str:
        """Return the path of a file that this part names, or an empty text."""
        return os.path.join(os.path.dirname(self.file), name) if name else ""  # noqa: PTH118, PTH120 - the name stays as it is written

    def problem(self, key: str, message: str) -> Problem:
        """Return a problem of this part."""
        path = f"{self.path}.{key}" if key else self.path
        return Problem(where=self.file, path=path, message=message)


@attrs.frozen(kw_only=True)
class Kubeconfig:
    """The content of one kubeconfig file, or of several together.

    Attributes:
        files: The files.
        current_context: The context that is used by default, or empty.
        clusters: The clusters by name.
        users: The users by name.
        contexts: The contexts by name.
    """

    files: tuple[str, ...] = ()
    current_context: str = ""
    clusters: Mapping[str, Entry[Cluster]] = attrs.field(factory=dict)
    users: Mapping[str, Entry[User]] = attrs.field(factory=dict)
    contexts: Mapping[str, Entry[Context]] = attrs.field(factory=dict)


def merged(configs: Iterable[Kubeconfig]) -> Kubeconfig:
    """Merge files: each name is taken from the first file that has it."""
    whole = Kubeconfig()
    for entry in configs:
        whole = Kubeconfig(
            files=(*whole.files, *entry.files),
            current_context=whole.current_context or entry.current_context,
            clusters={**entry.clusters, **whole.clusters},
            users={**entry.users, **whole.users},
            contexts={**entry.contexts, **whole.contexts},
        )
    return whole


def kubeconfig_files(
    explicit: str | None, environment: Mapping[str, str]
) -> Sequence[str]:
    """Return the files to read: the explicit one, or all that exist of the default.

    Args:
        explicit: The only file to read, or None.
        environment: The environment: ``KUBECONFIG``, and ``HOME``.
    """
    if explicit is not None:
        return [explicit]
    listed = environment.get(VARIABLE, "")
    if listed:
        # As upstream, a file that is listed twice is read once.
        files = list(dict.fromkeys(filter(None, listed.split(os.pathsep))))
    else:
        files = [str(Path(environment.get("HOME", "~"), ".kube", "config"))]
    # As upstream: a file of the variable that does not exist is left out, but an
    # explicit one is an error.
    return [file for file in files if Path(file).exists()]


def read_kubeconfig(file: str) -> Kubeconfig:
    """Read one file.

    Raises:
        ConfigErrors: It cannot be read, or something in it has the wrong form.
    """
    tree = read_yaml(read_content(Path(file), file), file)
    mistakes: list[Problem] = []
    cleaned = clean({} if tree is None else tree, KubeconfigFile, mistakes)
    if mistakes:
        raise ConfigErrors(attrs.evolve(entry, where=file) for entry in mistakes)
    content = msgspec.convert(cleaned, KubeconfigFile)
    problems: list[Problem] = []
    config = Kubeconfig(
        files=(file,),
        current_context=content.current_context,
        clusters=_by_name(
            file,
            "cluster",
            [(entry.name, entry.cluster) for entry in content.clusters],
            problems,
        ),
        users=_by_name(
            file,
            "user",
            [(entry.name, entry.user) for entry in content.users],
            problems,
        ),
        contexts=_by_name(
            file,
            "context",
            [(entry.name, entry.context) for entry in content.contexts],
            problems,
        ),
    )
    if problems:
        raise ConfigErrors(problems)
    return config


def _by_name(
    file: str,
    what: str,
    named: Sequence[tuple[str, ValueT]],
    problems: list[Problem],
) -> dict[str, Entry[ValueT]]:
    entries: dict[str, Entry[ValueT]] = {}
    for index, (name, value) in enumerate(named):
        place = f"{what}s[{index}]"
        if not name:
            message = complaint(None, "a string")
        elif name in entries:
            message = f"expected another name, got {name!r} twice"
        else:
            entries[name] = Entry(value, file, f"{place}.{what}")
            continue
        problems.append(Problem(where=file, path=f"{place}.name", message=message))
    return entries
