"""Loads manifests in one call."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from quaymaster._api.objects import ApiObject, SpecPool
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.openapi.table import field_table
from quaymaster._base.garbage import collector_paused
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.manifests.collector import Collector
from quaymaster._clusters.manifests.inputs import ManifestInput, inputs_of
from quaymaster._clusters.manifests.loaded import Loaded
from quaymaster._clusters.manifests.validation import Validation

if TYPE_CHECKING:
    from quaymaster._clusters.manifests.custom_kinds import CustomKind

__all__ = ["load"]


def load(
    paths: ManifestInput | Iterable[ManifestInput],
    *,
    pool: SpecPool | None = None,
    kinds: Iterable[type[ApiObject]] = (),
    namespace: str | None = None,
    custom_kinds: Iterable[str] = (),
    run_cron_jobs: bool = False,
    validation: Validation | None = None,
    on_progress: Callable[[int], None] | None = None,
    stored: Iterable[tuple[str, bytes]] = (),
    default_namespace: str = "default",
    kubernetes: Kubernetes = DEFAULT_KUBERNETES,
) -> Loaded:
    """Load manifests.

    Directories are searched for ``.yaml``, ``.yml`` and ``.json`` files, with all
    folders below, in the order of the paths. Names that begin with a dot are skipped.
    The garbage collector pauses meanwhile.

    Args:
        paths: One input or several: files, directories, ``-`` for standard input,
            texts, or open files. A ``str`` of several lines, or one that begins with
            ``{``, is a text of YAML or JSON, and so are ``bytes``; any other ``str`` is
            a path.
        pool: Shares equal parts between the objects.
        kinds: Kinds that plugins and packages declare, beside those of Kubernetes; see
            `quaymaster.config.declared_kinds`. Fields that their classes do not have
            count as unknown.
        namespace: The namespace of namespaced objects that name none; ``default`` if
            not set. If it is set, objects that people write may name no other one, as
            with ``kubectl apply -n``; objects from a server may.
        custom_kinds: Mappings that describe where custom kinds keep their pod
            templates: files, or names of `shipped_mappings`. Their pods run as Jobs.
        run_cron_jobs: Whether to make one Job of each CronJob that is not suspended.
        validation: How to treat unknown fields and duplicate keys. None is strict with
            the objects that people write. For objects from a server (with a uid or a
            resourceVersion) it only warns of unknown fields in specs: that server may
            be newer.
        on_progress: Called now and then with the number of objects so far.
        stored: The objects that a cluster already has: names for messages, and JSON or
            YAML. Objects of the same name in the paths are applied to them.
        default_namespace: The namespace of namespaced objects that name none, if
            ``namespace`` is not set; others may name another one.
        kubernetes: The Kubernetes version whose fields are valid. A field whose feature
            gate is off is dropped with a notice, unless the object comes from a server,
            or the stored object of its name has a field of that gate.

    Raises:
        KindError: A kind is invalid, or two classes declare it.
        ConfigErrors: A mapping of custom kinds has a mistake.
        ManifestErrors: The input has mistakes; nothing was loaded.
    """
    collector = Collector(
        pool if pool is not None else SpecPool(),
        kinds=KindSet(kinds),
        table=field_table(kubernetes),
        namespace=namespace,
        custom_kinds=_custom_kinds(tuple(custom_kinds)),
        run_cron_jobs=run_cron_jobs,
        validation=validation,
        on_progress=on_progress,
        default_namespace=default_namespace,
    )
    with collector_paused():
        for name, content in stored:
            collector.read_stored(name, content)
        for path in inputs_of(paths):
            collector.read(path)
    return collector.result()


def _custom_kinds(
    sources: tuple[str, ...],
) -> Mapping[tuple[str, str], "CustomKind"] | None:
    if not sources:
        return None
    # Few inputs have custom kinds, and a small simulation takes about as long as its
    # imports.
    from quaymaster._clusters.manifests.custom_kinds import (  # noqa: PLC0415 - above
        read_custom_kinds,
    )

    return read_custom_kinds(sources)
