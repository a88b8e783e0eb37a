"""Reads the inputs of commands: manifests, generated nodes, a configuration."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs
import click

from quaymaster._api.objects import ApiObject
from quaymaster._base.errors import ManifestErrors
from quaymaster._base.notices import Notice
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._cli.configuration import (
    ConfigSource,
    config_options,
    read_config,
)
from quaymaster._cli.live_options import live_options
from quaymaster._cli.notices import print_notices
from quaymaster._cli.output import progress_bar, warn
from quaymaster._cli.values import (
    MANIFEST,
    complete_custom_kinds,
    complete_validation,
)
from quaymaster._clusters.inmemory.admission.problems import AdmissionError, place_of
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.nodes_spec import MAX_NODES, make_nodes
from quaymaster._clusters.manifests.load import load
from quaymaster._clusters.manifests.loaded import Loaded, Source, skipped_text
from quaymaster._clusters.manifests.shipped_mappings import shipped_mappings
from quaymaster._clusters.manifests.validation import Validation
from quaymaster._core.config.kinds import declared_kinds
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.recording.files import is_record
from quaymaster._studies.simulation.autoscaling import (
    AutoscalerSize,
    notices_of_sizes,
    with_autoscaler_size,
)
from quaymaster._studies.simulation.names import PodNotFoundError
from quaymaster._studies.simulation.recommended_requests import (
    Recommendation,
    notices_of_recommendations,
    with_recommendation,
)

if TYPE_CHECKING:
    from quaymaster._clusters.kubernetes.listing import LiveObjects
    from quaymaster._studies.recording.reading import RecordedObjects

__all__ = [
    "InputOptions",
    "Inputs",
    "input_options",
    "input_options_with",
    "read_inputs",
]


def _validation(
    context: click.Context, option: click.Parameter, text: str | None
) -> Validation | None:
    """Read ``--validate``; as kubectl's, it may also be true or false."""
    try:
        return None if text is None else Validation.of(text)
    except ValueError as error:
        message = f"expected strict, warn or ignore, got {text!r}"
        raise click.BadParameter(message, context, option) from error


_OPTIONS = (
    click.argument("paths", metavar="[PATH]...", nargs=-1, type=MANIFEST),
    live_options,
    click.option(
        "--nodes",
        "specs",
        metavar="SPEC",
        multiple=True,
        help="Add nodes, such as 100:cpu=4,memory=16Gi,zones=3. May be repeated.",
    ),
    click.option(
        "-n",
        "--namespace",
        metavar="NAME",
        help="The namespace of objects without one, instead of default. Pods and "
        "workloads that an option names are looked for in it.",
    ),
    click.option(
        "--validate",
        "validation",
        metavar="[strict|warn|ignore]",
        is_flag=False,
        flag_value="strict",
        callback=_validation,
        shell_complete=complete_validation,
        help="How to treat unknown and duplicate fields, as in kubectl. By default "
        "they are errors; in objects that an API server has stored, warnings.",
    ),
    click.option(
        "--custom-kinds",
        metavar="FILE",
        multiple=True,
        shell_complete=complete_custom_kinds,
        help="Where custom kinds keep their pod templates: a file, or a shipped "
        "mapping (" + ", ".join(shipped_mappings()) + "). May be repeated.",
    ),
    click.option(
        "--run-cronjobs",
        "run_cron_jobs",
        is_flag=True,
        help="Create one Job for each CronJob.",
    ),
    click.option(
        "--hpa",
        type=click.Choice([size.value for size in AutoscalerSize]),
        callback=lambda _context, _option, size: size and AutoscalerSize(size),
        help="The size of workloads with a HorizontalPodAutoscaler, or with a "
        "ScaledObject or ScaledJob of KEDA: its minimum, its maximum, or as it is, "
        "within these limits.  [default: as-it-is]",
    ),
    click.option(
        "--vpa",
        type=click.Choice([choice.value for choice in Recommendation]),
        callback=lambda _context, _option, choice: Recommendation(choice),
        default=Recommendation.IGNORE.value,
        show_default=True,
        help="What new pods of workloads with a VerticalPodAutoscaler request: what "
        "their template says, or the target or upper bound of the recommendation.",
    ),
    click.option(
        "--max-pods",
        metavar="N",
        type=click.IntRange(min=0),
        default=MAX_PODS,
        show_default=True,
        help="The maximum number of pods of all workloads.",
    ),
    click.option(
        "--max-nodes",
        metavar="N",
        type=click.IntRange(min=0),
        default=MAX_NODES,
        show_default=True,
        help="The maximum number of nodes that --nodes adds.",
    ),
)

_SEED = click.option(
    "--seed",
    metavar="N",
    default=0,
    help="Decides the choice between equally good nodes, and generated names.",
)


@attrs.frozen(kw_only=True)
class InputOptions:
    """The options of the command line about the input.

    Attributes:
        paths: Files, directories, or ``-``.
        specs: Lines that describe nodes.
        namespace: The namespace of objects without one.
        validation: How to treat unknown fields; None: depends on their source.
        custom_kinds: Mappings of custom kinds: files or names.
        run_cron_jobs: Whether each CronJob runs once.
        hpa: The size of workloads with an autoscaler; None if the user chose none.
        vpa: What new pods of workloads with a VerticalPodAutoscaler request.
        max_pods: The maximum number of pods of all workloads.
        max_nodes: The maximum number of nodes in those lines.
        configured: The options about the configuration.
        seed: Decides the choice between equally good nodes, and generated names.
        context: The context of a live cluster to read; empty: the current one.
        kubeconfig: The kubeconfig file with the context.
    """

    paths: tuple[str, ...]
    specs: tuple[str, ...] = ()
    namespace: str | None = None
    validation: Validation | None = None
    custom_kinds: tuple[str, ...] = ()
    run_cron_jobs: bool = False
    hpa: AutoscalerSize | None = None
    vpa: Recommendation = Recommendation.IGNORE
    max_pods: int = MAX_PODS
    max_nodes: int = MAX_NODES
    configured: ConfigSource = ConfigSource()
    seed: int = 0
    context: str | None = None
    kubeconfig: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether a live cluster is read."""
        return self.context is not None or self.kubeconfig is not None


def input_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about the input to a command, which gets them as ``options``."""
    return input_options_with(several=False)(command)


def input_options_with(
    *, several: bool
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options about the input, with variations.

    Args:
        several: Whether there may be several versions of Kubernetes.
    """

    def give(command: Callable[..., None]) -> Callable[..., None]:
        names = [attribute.name for attribute in attrs.fields(InputOptions)]

        @functools.wraps(command)
        def gathered(**arguments: Any) -> None:
            options = InputOptions(**{name: arguments.pop(name) for name in names})
            command(options=options, **arguments)

        configuring = config_options(several=several, is_simulated=True)
        # Help lists options in the order of decorators, of which the first is applied
        # last.
        for option in reversed((*_OPTIONS, configuring, _SEED)):
            gathered = option(gathered)
        return gathered

    return give


@attrs.frozen(kw_only=True)
class Inputs:
    """The inputs of a simulation.

    Attributes:
        registry: The installed plugins.
        config: The scheduler's configuration.
        objects: All objects; generated nodes come first.
        sources: The source of each object, by the name that messages use.
        notices: What the reader left out or assumed.
    """

    registry: PluginRegistry
    config: SchedulerConfig
    objects: Sequence[ApiObject]
    sources: Mapping[str, str]
    notices: Sequence[Notice]

    @contextmanager
    def located(self) -> Iterator[None]:
        """Add the file to the problems of objects that are raised inside the block.

        They are raised in the order of the files. The notices are printed first, since
        an assumption of the reader may be the cause of a problem or of a missing pod.
        """
        try:
            yield
        except PodNotFoundError:
            print_notices(self.notices)
            raise
        except (AdmissionError, ManifestErrors) as error:
            print_notices(self.notices)
            order = {place: number for number, place in enumerate(self.sources)}
            problems = [
                attrs.evolve(problem, where=f"{source} ({problem.where})")
                if (source := self.sources.get(problem.where))
                else problem
                for problem in sorted(
                    error.problems,
                    key=lambda problem: order.get(problem.where, len(order)),
                )
            ]
            raise ManifestErrors(problems) from error


def read_inputs(
    options: InputOptions,
    *,
    asks_extenders: bool = True,
    needs_paths: bool = True,
    kubernetes: Kubernetes | None = None,
    kinds: Iterable[type[ApiObject]] = (),
) -> Inputs:
    """Read everything that the command line names.

    Args:
        options: The options about the input.
        asks_extenders: Whether extenders of the configuration will be called.
        needs_paths: Whether a file or a live cluster is required.
        kubernetes: The version whose fields are valid, if not the configuration's.
        kinds: Kinds of objects beside those of Kubernetes and of plugins.
    """
    registry = installed_plugins().with_kinds(kinds)
    config, notices = read_config(
        options.configured, registry, asks_extenders=asks_extenders
    )
    nodes = make_nodes(options.specs, max_nodes=options.max_nodes)
    declared = declared_kinds(config, registry)
    if needs_paths and not options.is_live and not options.paths:
        raise click.UsageError("expected a PATH, or a live cluster (--context)")
    live, namespace = _read_live(options, declared, kubernetes or config.kubernetes)
    records = [path for path in options.paths if is_record(path)]
    recorded = _read_records(records, declared)
    with progress_bar() as progress:
        task = progress.add_task("reading", total=None)
        loaded = load(
            [path for path in options.paths if path not in records],
            kinds=declared,
            namespace=options.namespace,
            validation=options.validation,
            custom_kinds=options.custom_kinds,
            run_cron_jobs=options.run_cron_jobs,
            on_progress=lambda count: progress.update(task, completed=count),
            stored=live.named_texts() if live else (),
            default_namespace=namespace,
            kubernetes=kubernetes or config.kubernetes,
        )
    if loaded.skipped:
        warn(skipped_text(loaded))
    recorded_objects = (obj for record in recorded for obj in record.objects)
    objects = [*nodes, *loaded.objects, *recorded_objects]
    sources = _sources(loaded)
    return Inputs(
        registry=registry,
        config=config,
        objects=with_recommendation(
            with_autoscaler_size(objects, options.hpa), options.vpa
        ),
        sources=sources,
        notices=(
            *notices,
            *(live.notices if live else ()),
            *loaded.notices,
            *(notice for record in recorded for notice in record.notices),
            *notices_of_sizes(objects, options.hpa),
            *notices_of_recommendations(
                objects, options.vpa, functools.partial(_where, sources)
            ),
        ),
    )


def _where(sources: Mapping[str, str], obj: ApiObject) -> str:
    """Return the name of an object, with its source."""
    place = place_of(obj)
    return f"{sources[place]} ({place})" if place in sources else place


def _read_live(
    options: InputOptions, kinds: Iterable[type[ApiObject]], kubernetes: Kubernetes
) -> tuple["LiveObjects | None", str]:
    """Read the live cluster, if any; the namespace is that of its context."""
    if not options.is_live:
        return None, "default"
    # A client needs TLS and HTTP: 20 ms that inputs from files need not wait for.
    from quaymaster._cli.live import access_of, read_live  # noqa: PLC0415 - above

    access = access_of(options.context, options.kubeconfig)
    live = read_live(
        access, kinds, kubernetes=kubernetes, cron_jobs=options.run_cron_jobs
    )
    return live, access.namespace or "default"


def _read_records(
    paths: Sequence[str], kinds: Iterable[type[ApiObject]]
) -> "list[RecordedObjects]":
    if not paths:
        return []
    # Most inputs are manifests, which need nothing of records.
    from quaymaster._studies.recording.reading import read_objects  # noqa: PLC0415

    return [read_objects(path, kinds) for path in paths]


def _sources(loaded: Loaded) -> Mapping[str, str]:
    """The source of each object, by the name that messages use."""
    places: dict[str, list[Source]] = {}
    for obj, source in zip(loaded.objects, loaded.sources, strict=True):
        places.setdefault(place_of(obj), []).append(source)
    return {
        place: str(first) + (f" and {len(more)} more" if more else "")
        for place, (first, *more) in places.items()
    }
