"""Loads benchmark files: workloads that are ready to run."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import attrs

from quaymaster._base.errors import Problem
from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.reading import documents
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.converter import structure
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.naming import show
from quaymaster._studies.perf.cases import THROUGHPUT, TestCase, WorkloadEntry
from quaymaster._studies.perf.errors import PerfErrors
from quaymaster._studies.perf.gates import check_gates
from quaymaster._studies.perf.model import (
    OPERATIONS,
    CreatePods,
    CreatePodSets,
    Operation,
    StopCollecting,
)
from quaymaster._studies.perf.parameters import Parameters

__all__ = ["FILE_NAME", "Workload", "find_files", "load_workloads"]

FILE_NAME: Final = "performance-config.yaml"
"""The name of benchmark files in directories."""

# Upstream's own tests of a topic read these; operations do not.
DECLARED_FEATURES: Final = "numNodeDeclaredFeatures"


@attrs.frozen(kw_only=True)
class Workload:
    """A workload with the values of all its parameters.

    Attributes:
        name: The names of its test case and its own, ``SchedulingBasic/5Nodes``.
        file: Its file.
        topic: The name of the file's folder.
        labels: The labels of its test case and its own.
        operations: The steps, in order.
        feature_gates: The gates that it sets.
        threshold: How many pods per second upstream demands; 0 if it does not, or its
            threshold is for another figure.
        default_pod_template: The template file for pods without one.
        scheduler_config: The file of its configuration, or None.
        declared_features: How many features every node declares.
        missing_parameters: The parameters that its operations name and that only other
            workloads of the test case have.
        metrics: The metrics that the test case collects, if it names them.
        threshold_metric: The figure that upstream's threshold applies to.
    """

    name: str
    file: str
    topic: str
    labels: tuple[str, ...]
    operations: tuple[Operation, ...]
    feature_gates: Mapping[str, bool]
    threshold: float
    default_pod_template: str | None
    scheduler_config: str | None
    declared_features: int
    missing_parameters: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    threshold_metric: str = THROUGHPUT

    def path(self, relative: str) -> Path:
        """Return the path of a file, relative to the benchmark file."""
        return Path(os.path.normpath(Path(self.file).parent / relative))


def find_files(paths: Iterable[str]) -> list[str]:
    """Find the benchmark files that some files and directories name.

    Raises:
        PerfErrors: A directory has none.
    """
    files: list[str] = []
    problems = []
    for path in paths:
        if not Path(path).is_dir():
            files.append(path)
            continue
        below = sorted(map(str, Path(path).rglob(FILE_NAME)))
        if not below:
            message = f"no {FILE_NAME} in this directory"
            problems.append(Problem(where=path, message=message))
        files += below
    if problems:
        raise PerfErrors(problems)
    return list(dict.fromkeys(files))


def load_workloads(paths: Iterable[str]) -> list[Workload]:
    """Load all workloads of some benchmark files, in their order.

    Raises:
        PerfErrors: A file cannot be read, or is invalid.
    """
    workloads: list[Workload] = []
    problems: list[Problem] = []
    for path in paths:
        findings = Findings(path)
        loaded = list(_workloads(path, findings))
        problems += findings.problems
        workloads += loaded
    if problems:
        raise PerfErrors(problems)
    return workloads


def _workloads(file: str, findings: Findings) -> Iterator[Workload]:
    names: set[str] = set()
    for index, entry in enumerate(_entries(file, findings)):
        test_case, mistakes = structure(entry, TestCase)
        name = test_case.name if isinstance(test_case, TestCase) else ""
        place = name or f"[{index}]"
        findings.extend(place, mistakes)
        if not isinstance(test_case, TestCase):
            continue
        if name in names:
            findings.add(place, "expected a name of its own")
        names.add(name)
        yield from _Case(file, test_case, place, findings).workloads()


def _entries(file: str, findings: Findings) -> Sequence[object]:
    try:
        trees = list(documents(Path(file).read_bytes(), unique_keys=True))
    except OSError as error:
        findings.add("", (error.strerror or str(error)).lower())
        return ()
    except YamlError as error:
        findings.add("", str(error))
        return ()
    if len(trees) != 1 or not isinstance(trees[0], list) or not trees[0]:
        got = show(trees[0]) if len(trees) == 1 else f"{len(trees)} documents"
        findings.add("", f"expected a list of test cases, got {got}")
        return ()
    return trees[0]


class _Case:
    """Makes the workloads of one test case."""

    def __init__(
        self, file: str, case: TestCase, place: str, findings: Findings
    ) -> None:
        self._file = file
        self._case = case
        self._place = place
        self._findings = findings
        # Unused parameters cannot be found while operations are missing.
        self._is_broken = False
        self._operations = tuple(self._read_operations())

    def workloads(self) -> Iterator[Workload]:
        """Return the valid workloads."""
        case = self._case
        check_gates(case.feature_gates, f"{self._place}.featureGates", self._findings)
        names: set[str] = set()
        for index, entry in enumerate(case.workloads):
            place = f"{self._place}.workloads[{index}]"
            if entry.name in names:
                self._findings.add(f"{place}.name", "expected a name of its own")
            names.add(entry.name)
            check_gates(entry.feature_gates, f"{place}.featureGates", self._findings)
            yield self._workload(entry, place)

    def _workload(self, entry: WorkloadEntry, place: str) -> Workload:
        case = self._case
        names = {name for other in case.workloads for name in other.params}
        parameters = Parameters(
            entry.params, f"{place} ({entry.name})", names, self._findings
        )
        operations = tuple(
            resolved
            for index, operation in self._operations
            for resolved in self._resolved(operation, index, parameters)
        )
        features = parameters.take(DECLARED_FEATURES)
        if not self._is_broken:
            for name in parameters.unused():
                self._findings.add(f"{place}.params.{name}", "no operation uses it")
        topic = Path(self._file).absolute().parent.name
        threshold = entry.threshold
        if isinstance(threshold, Mapping):
            threshold = threshold.get(topic, 0.0)
        selector = (
            entry.threshold_metric_selector or case.default_threshold_metric_selector
        )
        metric = THROUGHPUT if selector is None else selector.metric
        return Workload(
            name=f"{case.name}/{entry.name}",
            file=self._file,
            topic=topic,
            labels=(*case.labels, *entry.labels),
            operations=operations,
            feature_gates={**case.feature_gates, **entry.feature_gates},
            threshold=threshold if metric == THROUGHPUT else 0.0,
            default_pod_template=case.default_pod_template_path,
            scheduler_config=case.scheduler_config_path,
            declared_features=features if isinstance(features, int) else 0,
            missing_parameters=tuple(parameters.missing()),
            metrics=case.metrics,
            threshold_metric=metric,
        )

    def _read_operations(self) -> Iterator[tuple[int, Operation]]:
        """Yield the valid operations, each with its number."""
        collects = False
        for index, tree in enumerate(self._case.workload_template):
            place = f"{self._place}.workloadTemplate[{index}]"
            opcode = tree.get("opcode")
            operation = self._read_operation(tree, opcode, place)
            if operation is None:
                self._is_broken = True
                continue
            collects = collects or _collects(operation)
            yield index, operation
        if not collects and not self._is_broken:
            message = "expected an operation that collects metrics"
            self._findings.add(f"{self._place}.workloadTemplate", message)

    def _read_operation(
        self, tree: Mapping[str, object], opcode: object, place: str
    ) -> Operation | None:
        kind = OPERATIONS.get(str(opcode))
        if kind is None:
            names = ", ".join(OPERATIONS)
            hint = did_you_mean(opcode, OPERATIONS) or f" (known: {names})"
            message = f"unknown opcode {show(opcode)}{hint}"
            self._findings.add(f"{place}.opcode", message)
            return None
        operation, mistakes = structure(tree, kind)
        self._findings.extend(place, mistakes)
        return None if mistakes else cast(Operation, operation)

    def _resolved(
        self, operation: Operation, index: int, parameters: Parameters
    ) -> Iterator[Operation]:
        place = f"{self._place}.workloadTemplate[{index}]"
        operation = parameters.fill(operation, place)
        if not isinstance(operation, CreatePodSets):
            yield operation
            return
        inner = parameters.fill(operation.create_pods_op, f"{place}.createPodsOp")
        for number in range(operation.count):
            namespace = f"{operation.namespace_prefix}-{number}"
            yield attrs.evolve(inner, namespace=namespace)


def _collects(operation: Operation) -> bool:
    if isinstance(operation, CreatePodSets):
        return operation.create_pods_op.collect_metrics
    return isinstance(operation, StopCollecting) or (
        isinstance(operation, CreatePods) and operation.collect_metrics
    )
