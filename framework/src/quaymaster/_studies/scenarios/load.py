"""Loads scenario files: scenarios that are ready to run."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from os import PathLike
from pathlib import Path

from quaymaster._api.objects import SpecPool
from quaymaster._base.errors import SelectorError
from quaymaster._base.versions.kubernetes import Kubernetes, KubernetesError
from quaymaster._clusters.inmemory.pod_times import chosen_times
from quaymaster._core.config.duration import format_duration
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.typed_file import read_document, read_path
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.changes.change import ChangeError
from quaymaster._studies.changes.target import Target
from quaymaster._studies.scenarios.checks import Checks, PodChoice
from quaymaster._studies.scenarios.choosing import node_test, pod_test
from quaymaster._studies.scenarios.errors import ScenarioErrors
from quaymaster._studies.scenarios.model import (
    ACTIONS,
    API_VERSION,
    KIND,
    Document,
    Step,
)
from quaymaster._studies.scenarios.reading import PartReader
from quaymaster._studies.scenarios.scenario import Scenario, StepPart
from quaymaster._studies.scenarios.templates import Template, can_run_for
from quaymaster._studies.simulation.autoscaling import (
    notices_of_sizes,
    with_autoscaler_size,
)
from quaymaster._studies.simulation.recommended_requests import (
    notices_of_recommendations,
    with_recommendation,
)

__all__ = ["load_scenario", "parse_scenario"]


def load_scenario(
    file: str | PathLike[str],
    *,
    registry: PluginRegistry | None = None,
    kubernetes: Kubernetes | None = None,
) -> Scenario:
    """Read a scenario file, and all files that it names.

    Args:
        file: The file; paths in it are relative to its folder.
        registry: Where plugins are found by name; by default the installed plugins.
        kubernetes: The version of Kubernetes; None for the one in the file.

    Raises:
        ScenarioErrors: The file is invalid; the error lists all mistakes.
    """
    try:
        source, content = read_path(file)
    except ConfigErrors as error:
        raise ScenarioErrors(error.problems) from error
    return parse_scenario(
        content, registry=registry, file=source, kubernetes=kubernetes
    )


def parse_scenario(
    text: str | bytes,
    *,
    registry: PluginRegistry | None = None,
    file: str = "scenario.yaml",
    kubernetes: Kubernetes | None = None,
) -> Scenario:
    """Read a scenario from its text, and all files that it names.

    Args:
        text: YAML or JSON.
        registry: Where plugins are found by name; by default the installed plugins.
        file: The path of the text: paths in it are relative to its folder.
        kubernetes: The version of Kubernetes; None for the one in the text.

    Raises:
        ScenarioErrors: The file is invalid; the error lists all mistakes.
    """
    registry = installed_plugins() if registry is None else registry
    findings = Findings(file)
    try:
        document = read_document(
            text, findings, Document, api_version=API_VERSION, kind=KIND
        )
    except ConfigErrors as error:
        raise ScenarioErrors(error.problems) from error
    if kubernetes is None:
        kubernetes = _kubernetes(document, findings)
    return _Loading(file, document, registry, findings, kubernetes).scenario()


def _kubernetes(document: Document, findings: Findings) -> Kubernetes:
    """Return the version of Kubernetes that a scenario names.

    Raises:
        ScenarioErrors: It is not supported.
    """
    try:
        return Kubernetes(document.kubernetes_version, document.feature_gates)
    except KubernetesError as error:
        is_version = error.where == "kubernetes_version"
        findings.add(
            "kubernetesVersion" if is_version else "featureGates", error.problem
        )
        raise ScenarioErrors(findings.problems) from error


class _Loading:
    """Completes one scenario.

    Args:
        file: Its path.
        document: Its content.
        registry: The installed plugins.
        findings: Receives mistakes.
    """

    def __init__(
        self,
        file: str,
        document: Document,
        registry: PluginRegistry,
        findings: Findings,
        kubernetes: Kubernetes,
    ) -> None:
        self._file = file
        self._document = document
        self._findings = findings
        self._reader = PartReader(file, registry, findings, kubernetes)
        self._pool = SpecPool()

    def scenario(self) -> Scenario:
        """The scenario.

        Raises:
            ScenarioErrors: Something is wrong.
        """
        document, reader = self._document, self._reader
        config = reader.config(document.config)
        if config is not None:
            reader.knows_kinds_of(config)
        start = document.input
        nodes = reader.nodes(start.nodes, "input.nodes")
        objects = reader.objects(
            start.files,
            start.objects,
            "input",
            namespace=start.namespace,
            custom_kinds=start.custom_kinds,
            run_cron_jobs=start.run_cron_jobs,
        )
        parts = [
            self._part(step, f"steps[{index}]")
            for index, step in enumerate(document.steps)
        ]
        self._check_times()
        self._check_names()
        for index, assertion in enumerate(document.assertions):
            self._check_choices(assertion, f"assertions[{index}]")
        problems = [*self._findings.problems, *reader.problems]
        if problems or config is None:
            raise ScenarioErrors(problems)
        return Scenario(
            name=document.name or Path(self._file).name.partition(".")[0],
            file=self._file,
            description=document.description,
            config=config,
            seed=document.seed,
            objects=with_recommendation(
                with_autoscaler_size([*nodes, *objects], start.hpa),
                start.vpa,
            ),
            times=chosen_times(
                _seconds(document.startup),
                _seconds(document.termination),
                None if document.pull is None else float(document.pull.value),
            ),
            until=_seconds(document.until),
            steps=document.steps,
            parts=parts,
            assertions=document.assertions,
            kinds=reader.kinds,
            notices=(
                *reader.notices,
                *notices_of_sizes(objects, start.hpa, "hpa of the input"),
                *notices_of_recommendations(
                    objects,
                    start.vpa,
                    option="vpa: target or vpa: upper of the input",
                ),
            ),
        )

    def _part(self, step: Step, place: str) -> StepPart:
        """Return what a step needs from other files."""
        place = f"{place}.{ACTIONS[step.action]}"
        if step.create is not None:
            return self._creation(step, place)
        if (apply := step.apply) is not None:
            objects = self._reader.objects(
                apply.files, apply.objects, place, namespace=apply.namespace
            )
            return StepPart(objects=objects)
        if step.use_config is not None:
            return StepPart(config=self._reader.config(step.use_config.file))
        if step.add_nodes is not None:
            self._reader.nodes(step.add_nodes.nodes, f"{place}.nodes")
        check = step.wait_until or step.check
        if check is not None:
            self._check_choices(check, place)
        for target in _targets(step):
            try:
                Target.parse(target)
            except ChangeError as error:
                self._findings.add(f"{place}.target", str(error))
        return StepPart()

    def _creation(self, step: Step, place: str) -> StepPart:
        create, reader = step.create, self._reader
        assert create is not None
        objects = reader.objects(
            create.files, create.objects, place, namespace=create.namespace
        )
        times: Sequence[float] = ()
        if create.run_time is not None:
            for obj in objects:
                if not can_run_for(obj):
                    got = f"{obj.kind} {obj.key!r}"
                    message = f"expected Pods and Jobs alone, got {got}"
                    self._findings.add(f"{place}.runTime", message)
            empirical = create.run_time.empirical
            if empirical is not None:
                where = f"{place}.runTime.empirical.file"
                times = reader.run_times(empirical.file, where)
        templates = [Template.of(obj, self._pool) for obj in objects]
        return StepPart(templates=templates, run_times=times)

    def _check_times(self) -> None:
        """Check that times ascend, and that nothing comes after the end."""
        end, before = self._document.until, timedelta()
        for index, step in enumerate(self._document.steps):
            place = f"steps[{index}].at"
            if step.at is not None:
                if step.at < before:
                    expected = f"{format_duration(before)} or more, as before it"
                    got = format_duration(step.at)
                    self._findings.add(place, f"expected {expected}, got {got}")
                before = max(before, step.at)
                self._check_end(step.at, end, place)
            elif step.after is not None:
                before += step.after
        for index, assertion in enumerate(self._document.assertions):
            by = assertion.placed.by if assertion.placed is not None else None
            times = {
                "at": assertion.at,
                "from": assertion.since,
                "to": assertion.to,
                "placed.by": by,
            }
            for key, time in times.items():
                if time is not None:
                    self._check_end(time, end, f"assertions[{index}].{key}")

    def _check_end(self, time: timedelta, end: timedelta | None, place: str) -> None:
        if end is not None and time > end:
            limit = f"expected at most {format_duration(end)}, the end ('until')"
            self._findings.add(place, f"{limit}, got {format_duration(time)}")

    def _check_names(self) -> None:
        seen: dict[str, int] = {}
        for index, step in enumerate(self._document.steps):
            first = seen.setdefault(step.name, index)
            if step.name and first != index:
                message = f"expected a name of its own, got that of steps[{first}]"
                self._findings.add(f"steps[{index}].name", message)

    def _check_choices(self, check: Checks, place: str) -> None:
        """Check the selectors of a check."""
        for name, part in _given(check):
            for key in ("pods", "selector"):
                value = getattr(part, key, None)
                try:
                    if isinstance(value, PodChoice):
                        pod_test(value)
                    elif key == "selector":
                        node_test(value)
                except SelectorError as error:
                    path = f"{place}.{_KEYS.get(name, name)}.{key}"
                    path += ".selector" if key == "pods" else ""
                    self._findings.add(path, str(error))


_KEYS = {"pending_time": "pendingTime"}


def _given(check: Checks) -> Iterator[tuple[str, object]]:
    for name in check.given():
        yield name, getattr(check, name)


def _targets(step: Step) -> list[str]:
    actions = (step.patch, step.scale, step.set_image, step.delete)
    return [action.target for action in actions if action is not None]


def _seconds(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()
