"""The requests to a process in another virtual environment, and its responses."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import msgspec

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.wire import from_wire, to_wire
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.plugin_metrics import MetricKind
from quaymaster._core.contract.status import Code
from quaymaster._core.cycle.explanation import (
    Explanation,
    NodeRejection,
    NodeScores,
    PluginScore,
)
from quaymaster._core.engine.attempts import AttemptOutcome, RejectedNodes
from quaymaster._core.runtime.measures import Labels, Measured
from quaymaster._core.runtime.plugin_metrics import PluginMetric
from quaymaster._studies.comparing.outcome import Decision, Outcome
from quaymaster._studies.simulation.observed import ObservedAttempt, ObservedRun
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.series import Sample

__all__ = ["FORM", "Answer", "Request", "decode_answer", "decode_request", "encode"]

FORM: Final = 2
"""The newest format of requests and answers; both sides must support a request's.

Format 2 has the version of Kubernetes; a request without it has format 1.
"""


@attrs.frozen(kw_only=True)
class Request:
    """A request to a process.

    Attributes:
        form: The format of this request.
        objects: A list of objects, as kubectl prints one.
        config: A configuration file, or the name of a shipped one; None for the
            default.
        seed: Decides ties and generated names.
        max_pods: How many pods workloads may ask for in all.
        prices: Instance type -> price per hour.
        topology_keys: The node labels over whose values the balance is measured.
        explain: The decision to explain; None to simulate and return the result.
        observe: Whether to simulate, and return the observed run.
        kubernetes: The version of Kubernetes; None for the process's default.
    """

    form: int = 1
    objects: Mapping[str, Any]
    config: str | None
    seed: int
    max_pods: int
    prices: Mapping[str, float]
    topology_keys: tuple[str, ...]
    explain: Decision | None = None
    observe: bool = False
    kubernetes: Kubernetes | None = None


@attrs.frozen(kw_only=True)
class _Rejected:
    node: str
    plugin: str
    code: int
    reasons: tuple[str, ...]


@attrs.frozen(kw_only=True)
class _Explained:
    pod: str
    scheduler: str
    rejections: Sequence[_Rejected]
    scores: Sequence[NodeScores]
    message: str


@attrs.frozen(kw_only=True)
class _Attempted:
    """An observed attempt; other versions of Quaymaster read and write these fields."""

    pod: str
    number: int
    at: float
    outcome: AttemptOutcome
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    preempted: tuple[str, ...] = ()
    feasible: int = 0
    scores: tuple[NodeScores, ...] = ()
    rejected: tuple[RejectedNodes, ...] = ()

    @classmethod
    def of(cls, attempt: ObservedAttempt) -> "_Attempted":
        names = (field.name for field in attrs.fields(cls))
        return cls(**{name: getattr(attempt, name) for name in names})

    def attempt(self) -> ObservedAttempt:
        parts = attrs.asdict(self, recurse=False)
        return ObservedAttempt(feasible_nodes=self.feasible, **parts)


@attrs.frozen(kw_only=True)
class _Metric:
    """A metric of a plugin; its values are pairs, because JSON has only text keys."""

    name: str
    plugin: str
    kind: MetricKind
    description: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...]
    values: Sequence[tuple[Labels, float | Measured]]

    @classmethod
    def of(cls, metric: PluginMetric) -> "_Metric":
        parts = attrs.asdict(metric, recurse=False)
        return cls(**{**parts, "values": list(metric.values.items())})

    def metric(self) -> PluginMetric:
        parts = attrs.asdict(self, recurse=False)
        return PluginMetric(**{**parts, "values": dict(self.values)})


@attrs.frozen(kw_only=True)
class _Observed:
    """An observed run, with its objects as kubectl prints them."""

    result: SimulationResult
    nodes: Sequence[Mapping[str, Any]]
    pods: Sequence[Mapping[str, Any]]
    samples: Sequence[Sample]
    attempts: Sequence[_Attempted]
    workloads: Mapping[str, str]
    metrics: Sequence[_Metric] = ()


@attrs.frozen(kw_only=True)
class Answer:
    """The answer of a process, or an error.

    Attributes:
        outcome: The outcome.
        explained: An explained decision; `explanation` converts it back.
        observed: The observed run; `observed_run` converts it back.
        mistake: The error if there is no other answer, in one line or several.
    """

    outcome: Outcome | None = None
    explained: _Explained | None = None
    observed: _Observed | None = None
    mistake: str = ""

    @classmethod
    def explaining(cls, explanation: Explanation | None) -> "Answer":
        """Make the answer with an explained decision."""
        if explanation is None:
            return cls()
        rejections = [
            _Rejected(
                node=rejection.node,
                plugin=rejection.plugin,
                code=int(rejection.code),
                reasons=rejection.reasons,
            )
            for rejection in explanation.rejections
        ]
        explained = _Explained(
            pod=explanation.pod,
            scheduler=explanation.scheduler,
            rejections=rejections,
            scores=explanation.scores,
            message=explanation.message
            or (explanation.status.message if explanation.status else ""),
        )
        return cls(explained=explained)

    def explanation(self) -> Explanation | None:
        """Return the explained decision, if any."""
        explanation = self.explained
        if explanation is None:
            return None
        return Explanation(
            pod=explanation.pod,
            scheduler=explanation.scheduler,
            rejections=tuple(
                NodeRejection(
                    node=rejection.node,
                    plugin=rejection.plugin,
                    code=Code(rejection.code),
                    reasons=rejection.reasons,
                )
                for rejection in explanation.rejections
            ),
            scores=tuple(
                attrs.evolve(
                    scores,
                    plugins={
                        name: PluginScore(
                            raw=score.raw,
                            normalized=score.normalized,
                            weighted=score.weighted,
                        )
                        for name, score in scores.plugins.items()
                    },
                )
                for scores in explanation.scores
            ),
            message=explanation.message,
        )

    @classmethod
    def showing(cls, run: ObservedRun) -> "Answer":
        """Make the answer with an observed run."""
        observed = _Observed(
            result=run.result,
            nodes=[to_wire(node) for node in run.nodes],
            pods=[to_wire(pod) for pod in run.pods],
            samples=run.samples,
            attempts=[_Attempted.of(attempt) for attempt in run.attempts],
            workloads=run.workloads,
            metrics=[_Metric.of(metric) for metric in run.metrics],
        )
        return cls(observed=observed)

    def observed_run(self, name: str) -> ObservedRun | None:
        """Return the observed run, if any.

        Args:
            name: Its name in comparisons.
        """
        observed = self.observed
        if observed is None:
            return None
        return ObservedRun(
            name=name,
            result=observed.result,
            nodes=[from_wire(node, Node) for node in observed.nodes],
            pods=[from_wire(pod, Pod) for pod in observed.pods],
            samples=observed.samples,
            attempts=[attempted.attempt() for attempted in observed.attempts],
            workloads=observed.workloads,
            metrics=[metric.metric() for metric in observed.metrics],
        )


def encode(message: Request | Answer) -> bytes:
    """Write a request or an answer."""
    _name_groups()
    return msgspec.json.encode(message)


def decode_request(text: bytes) -> Request:
    """Read a request.

    Raises:
        msgspec.DecodeError: The text has another format.
    """
    return msgspec.json.decode(text, type=Request)


def decode_answer(text: bytes) -> Answer:
    """Read an answer.

    Raises:
        msgspec.DecodeError: The text has another format.
    """
    _name_groups()
    return msgspec.json.decode(text, type=Answer)


def _name_groups() -> None:
    """Let msgspec find the class of groups, which results import only for mypy."""
    from quaymaster._studies.simulation.explained_groups import (  # noqa: PLC0415
        ExplainedGroup,
    )

    SimulationResult.__annotations__["groups"] = tuple[ExplainedGroup, ...]
