"""A check: a plugin validates the documents that its server returns."""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, NoReturn

import attrs
import msgspec

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.changed_documents import (
    changed_documents,
    text_of,
)
from quaymaster._authors.testing.contract.check import Check, Finding, fail
from quaymaster._authors.testing.contract.derived import base_of_package
from quaymaster._authors.testing.contract.failed_callbacks import collecting_failures
from quaymaster._authors.testing.contract.readings import (
    data_of,
    is_repeated,
    started,
)
from quaymaster._authors.testing.contract.served_documents import ServedText
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.twin import compare_twins
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._core.contract.scores import MAX_NODE_SCORE

__all__ = ["OUTSIDE_DATA"]

_DOCUMENTS: Final = "documents of the server"
_PER_CLUSTER: Final = 5
"""The other documents that are tried on each cluster."""
_SECONDS: Final = 61
"""Enough for a class of a test that returns other data each minute."""
_MOST_SHOWN: Final = 60
_REMEDY: Final = (
    "check each part of what a server returns where it is read, and keep the former "
    "data if one has another form"
)
_CLUSTER: Final = SmallCluster(nodes=tuple(make_node(name=f"n{at}") for at in range(3)))


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    base = base_of_package(subject.plugin)
    if base is None:
        return
    document = _document_of(subject, base)
    subject.exercised[_DOCUMENTS] += 0
    if document is None:
        return
    package = attrs.evolve(subject, plugin=base)
    documents = _chosen(list(changed_documents(document)), cluster)
    trial = _Trial(package, cluster, text_of(document))
    subject.exercised[_DOCUMENTS] += trial.ask(documents)


def _chosen(
    documents: Sequence[tuple[str, str]], cluster: SmallCluster
) -> Sequence[tuple[str, str]]:
    """Return some of the documents: always the same ones for a cluster."""
    first = zlib.crc32(repr(cluster).encode()) % len(documents)
    return [*documents[first:], *documents[:first]][:_PER_CLUSTER]


@lru_cache(maxsize=8)
def _document_of(subject: Subject, base: type) -> object:
    """Return a document that the class of the package reads, or None.

    The data that a class of a test returns are often the document itself. They are if
    the class of the package reads the same data from it.
    """
    package = attrs.evolve(subject, plugin=base)
    for data in _data(subject):
        with suppress(Exception):  # it cannot be written as JSON, or not be read
            document = _as_document(data)
            (read, *_) = _data(package, text_of(document))
            if read == data:
                return document
    return None


def _data(subject: Subject, text: str = "") -> Sequence[object]:
    """Return the data that background tasks return.

    Args:
        subject: The plugin.
        text: What its server returns, if it reads one.
    """
    server = ServedText()
    server.text = text
    with server.serving():
        bench, executor = started(subject, _CLUSTER)
        bench.advance(_SECONDS)
        with suppress(HookFailedError):
            bench.close()
    return [data for data in data_of(executor) if data is not None]


def _as_document(data: object) -> object:
    if isinstance(data, str | bytes):
        return json.loads(data)
    return msgspec.to_builtins(data, str_keys=True)


@attrs.frozen
class _Trial:
    """A plugin that reads a usual document first, and then others.

    Attributes:
        package: The class of the package.
        cluster: The cluster.
        usual: The usual document.
    """

    package: Subject
    cluster: SmallCluster
    usual: str

    def ask(self, documents: Iterable[tuple[str, str]]) -> int:
        """Try other documents.

        Args:
            documents: The text of each, and what is different in it.

        Returns:
            How many were tried.

        Raises:
            Finding: The plugin fails with one.
        """
        count, server, failures = 0, ServedText(), list[tuple[str, str]]()
        server.text = self.usual
        with server.serving(), collecting_failures(failures):
            bench, executor = started(self.package, self.cluster)
            if self._has_problem(bench) or failures:
                return 0  # another check reports problems with usual data
            is_periodic, when = is_repeated(bench, executor), ""
            for text, what in documents:
                server.text, count = text, count + 1
                if not is_periodic:
                    bench, executor = started(self.package, self.cluster)
                elif not is_repeated(bench, executor):
                    break
                when = (
                    f" once the server has returned {what}: {_short(text)}; {_REMEDY}"
                )
                self._expect_no_problem(bench, failures, when)
            if is_periodic and not is_repeated(bench, executor):
                self._fail("", f"the background task is not repeated{when}")
        return count

    def _has_problem(self, bench: Bench) -> bool:
        try:
            return any(_problems(bench, self.cluster, ""))
        except Finding:
            return True

    def _expect_no_problem(
        self, bench: Bench, failures: Iterable[tuple[str, str]], when: str
    ) -> None:
        for hook, problem in (*failures, *_problems(bench, self.cluster, when)):
            self._fail(hook, f"{problem}{when}")

    def _fail(self, hook: str, problem: str) -> NoReturn:
        cluster = self.cluster
        fail(hook, problem, cluster.pending, cluster.nodes, cluster.pods)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _problems(
    bench: Bench, cluster: SmallCluster, when: str
) -> Iterator[tuple[str, str]]:
    """Yield the hooks that fail, and how.

    Raises:
        Finding: A batch twin differs from its scalar hook.
    """
    try:
        for pod in cluster.pending:
            yield from _wrong_scores(bench, pod)
        compare_twins(bench, cluster.pending, cluster, when)
    except HookFailedError as failure:
        yield failure.hook, failure.problem


def _wrong_scores(bench: Bench, pod: Pod) -> Iterator[tuple[str, str]]:
    subject = bench.subject
    if subject.has("queue_sort"):
        bench.ask("queue_sort", make_queued_pod(pod))
    if subject.has("sign_pod"):
        bench.ask("sign_pod", pod)
    hook = "normalize_score" if subject.has("normalize_score") else "score"
    for name, score in answers(bench, pod).normalized.items():
        if isinstance(score, int) and not 0 <= score <= MAX_NODE_SCORE:
            text = f"returned {score} for node '{name}', expected 0 to {MAX_NODE_SCORE}"
            yield hook, text


def _is_derived(plugin: type) -> bool:
    return base_of_package(plugin) is not None


OUTSIDE_DATA: Final = Check(
    name="outside data",
    promise="no document that a server returns makes a hook fail",
    ask=_ask,
    only_for=_is_derived,
)
