"""Answers of a process in another virtual environment, written and read again."""

import attrs

from quaymaster.scheduler import PluginMetric
from quaymaster.simulation import observe
from quaymaster.testing import make_node
from tests.kit.internals.comparing import Answer, decode_answer, encode
from tests.kit.internals.contract import MetricKind
from tests.kit.internals.runtime import Measured


def test_an_observed_run_keeps_the_metrics_of_plugins() -> None:
    metric = PluginMetric(
        name="quaymaster_spot_price_fetch_seconds",
        plugin="SpotPrice",
        kind=MetricKind.HISTOGRAM,
        description="How long a request took.",
        labels=("profile",),
        bounds=(1.0,),
        values={("batch",): Measured((2, 1), 2.5)},
    )
    run = attrs.evolve(observe([make_node(name="n")]), metrics=[metric])
    decoded = decode_answer(encode(Answer.showing(run))).observed_run("there")
    assert decoded is not None
    [copy] = decoded.metrics
    assert attrs.asdict(copy) == attrs.asdict(metric)
