"""The one call that loads manifests."""

import os
from collections.abc import Callable, Iterable

from quaymaster._api.objects import ApiObject, SpecPool
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.openapi.table import field_table
from quaymaster._base.garbage import collector_paused
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.manifests.collector import Collector
from quaymaster._clusters.manifests.custom_kinds import read_custom_kinds
from quaymaster._clusters.manifests.loaded import Loaded
from quaymaster._clusters.manifests.validation import Validation

__all__ = ["load"]


def load(
    paths: Iterable[str | os.PathLike[str]],
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

    Directories are searched for ``.yaml``, ``.yml`` and ``.json`` files, with all that
    is below them but without what begins with a dot, in the order of the paths. The
    garbage collector pauses meanwhile.

    Args:
        paths: Files, directories, or ``-`` for standard input.
        pool: What the objects share their parts with.
        kinds: Kinds that plugins and packages declare, beside those of Kubernetes; see
            `quaymaster.config.declared_kinds`. What their classes have no field for
            counts as unknown.
        namespace: Where namespaced objects go that name no namespace; ``default`` if
            not given. If it is, objects that people write may name no other one, as
            ``kubectl apply -n`` has it; those that a server has stored may.
        custom_kinds: Mappings that tell where custom kinds keep their pod templates:
            files, or names of `shipped_mappings`. Their pods run as Jobs.
        run_cron_jobs: Whether to make one Job of each CronJob that is not suspended.
        validation: How to take fields that nobody knows, and keys that come twice. None
            is strict with what people write, but only tells unknown fields in the specs
            of what a server has stored, which has a uid or a resourceVersion: that
            server may be newer.
        on_progress: Told now and then how many objects there are so far.
        stored: What a cluster holds already: names for messages, and JSON or YAML. What
            the paths have of the same name is applied to it.
        default_namespace: Where namespaced objects go that name no namespace, if
            ``namespace`` is not given; others may name another one.
        kubernetes: The Kubernetes whose fields are known. A field whose feature gate is
            off is dropped with a notice, unless a server has stored the object, or one
            of its name with a field of that gate.

    Raises:
        KindError: A kind is wrong, or is declared by two classes.
        ConfigErrors: Something is wrong with a mapping of custom kinds.
        ManifestErrors: Something is wrong; nothing was loaded.
    """
    collector = Collector(
        pool if pool is not None else SpecPool(),
        kinds=KindSet(kinds),
        table=field_table(kubernetes),
        namespace=namespace,
        custom_kinds=read_custom_kinds(custom_kinds),
        run_cron_jobs=run_cron_jobs,
        validation=validation,
        on_progress=on_progress,
        default_namespace=default_namespace,
    )
    with collector_paused():
        for name, content in stored:
            collector.read_stored(name, content)
        for path in paths:
            collector.read_path(os.fspath(path))
    return collector.result()
