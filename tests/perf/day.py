"""A day of arrivals with an autoscaler: how long it takes, and its course.

    python -m tests.perf.day --nodes 5000 --pods 50000 --autoscaler cluster-autoscaler
    python -m tests.perf.day --nodes 5000 --pods 50000 --autoscaler karpenter
    python -m tests.perf.day --nodes 5000 --pods 50000
    python -m tests.perf.day --hours 6 --autoscaler karpenter --course course.txt

It prints CPU seconds beside those of a loop that measures the machine. Two versions of
the code play the same course if they print the same digest.
"""

import argparse
import hashlib
import math
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from quaymaster import Node
from quaymaster.autoscaling import read_autoscaler
from quaymaster.config import SchedulerConfig
from quaymaster.experiments import Arrival, Workload
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Run
from quaymaster.testing import make_node, make_pod
from tests.kit.cpu import calibration_loop
from tests.kit.internals.experiments import drive

__all__ = ["Day", "Played"]

_SEED: Final = 7
_DAY: Final = 86_400
_HOUR: Final = 3_600
_SHORTEST: Final = 30.0
_ROOM: Final = {"cpu": "4", "memory": "16Gi", "pods": "110"}
_FILES: Final = {
    "cluster-autoscaler": """\
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
flags: [--max-nodes-total={total}]
groups:
- name: workers
  min: 1
  max: {nodes}
  resources: {{cpu: 4, memory: 16Gi, pods: 110}}
""",
    # Its pool consolidates at once, and chooses among sizes: both make it move more
    # pods than most clusters see.
    "karpenter": """\
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Karpenter
zones: [zone-a, zone-b, zone-c]
catalogue: types.csv
nodePools:
- metadata: {{name: general}}
  spec:
    limits: {{nodes: {nodes}}}
    template:
      spec:
        requirements:
        - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
""",
}
_TYPES: Final = """\
name,cpu,memory,pods,on-demand $/h,spot $/h
m6i.large,2,8Gi,29,0.096,0.038
m6i.xlarge,4,16Gi,58,0.192,0.074
m6i.2xlarge,8,32Gi,58,0.384,0.150
c6i.2xlarge,8,16Gi,58,0.340,0.132
"""


@attrs.frozen(kw_only=True)
class Played:
    """What came of a day.

    Attributes:
        course: Where and when each pod was bound, each node, and the end; as text.
        attempts: The number of attempts.
        seconds: How many CPU seconds it took.
    """

    course: str
    attempts: int
    seconds: float

    @property
    def digest(self) -> str:
        """A short hash of the course."""
        return hashlib.sha256(self.course.encode()).hexdigest()[:16]


@attrs.frozen(kw_only=True)
class Day:
    """A day of pods of 32 sizes, most of which arrive in the afternoon.

    Attributes:
        nodes: The number of nodes, or the most that the autoscaler may add.
        pods: About how many pods arrive in 24 hours.
        start: The hour at which it begins.
        hours: For how long pods arrive.
        run_hours: How long a pod runs on average.
        autoscaler: What adds nodes to a cluster that begins without any; None for a
            cluster with all its nodes.
    """

    nodes: int = 5_000
    pods: int = 50_000
    start: float = 0.0
    hours: float = 24.0
    run_hours: float = 3.5
    autoscaler: str | None = "cluster-autoscaler"

    def play(
        self,
        config: SchedulerConfig | None = None,
        registry: PluginRegistry | None = None,
    ) -> Played:
        """Play the day to its end."""
        nodes = self._first_nodes()
        workload = Workload(objects=nodes, arrivals=[*self._arrivals()])
        begun = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            autoscaler = None
            if self.autoscaler is not None:
                (Path(folder) / "types.csv").write_text(_TYPES)
                file = Path(folder) / "autoscaler.yaml"
                text = _FILES[self.autoscaler]
                file.write_text(text.format(total=2 * self.nodes, nodes=self.nodes))
                autoscaler = read_autoscaler(str(file))
            with Run(
                nodes, config=config, registry=registry, seed=1, autoscaler=autoscaler
            ) as run:
                drive(run, workload, {})
                scaled = run.simulation.autoscaler
                lives = [] if scaled is None else scaled.nodes()
                attempts, result = run.observe().attempts, run.result()
                parts = [*result.placements, *result.unscheduled, *lives, run.now]
        return Played(
            course="\n".join(map(repr, parts)),
            attempts=attempts,
            seconds=time.process_time() - begun,
        )

    def _first_nodes(self) -> Sequence[Node]:
        if self.autoscaler is not None:
            return ()
        return [
            make_node(name=f"node-{number}", capacity=_ROOM)
            for number in range(self.nodes)
        ]

    def _arrivals(self) -> Iterator[Arrival]:
        """Yield the pods; by thinning, so that each hour has its own rate."""
        generator = random.Random(_SEED)
        at, end, number = 0.0, self.start + self.hours, 0
        most = 1.9
        while at < _DAY:
            at += generator.expovariate(self.pods / _DAY * most)
            hour = at / _HOUR
            rate = 1 + 0.9 * math.sin((hour - 8) / 24 * 2 * math.pi)
            is_let_in = generator.random() * most < rate
            cpu, memory = generator.randint(1, 4), generator.randint(1, 8)
            stays = generator.expovariate(1 / (self.run_hours * _HOUR))
            if not is_let_in or not self.start <= hour < end:
                continue
            requests = {"cpu": f"{500 * cpu}m", "memory": f"{memory}Gi"}
            pod = make_pod(name=f"pod-{number}", requests=requests)
            number += 1
            yield Arrival(
                obj=pod, at=at - self.start * _HOUR, stays=max(_SHORTEST, stays)
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="Play a day of arrivals.")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--start", type=float, default=0.0, metavar="HOUR")
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--run-hours", type=float, default=3.5)
    parser.add_argument("--autoscaler", choices=[*_FILES])
    parser.add_argument("--course", type=Path, help="a file for the whole course")
    options = parser.parse_args()
    day = Day(
        nodes=options.nodes,
        pods=options.pods,
        start=options.start,
        hours=options.hours,
        run_hours=options.run_hours,
        autoscaler=options.autoscaler,
    )
    before = calibration_loop()
    played = day.play()
    loops = before, calibration_loop()
    if options.course is not None:
        options.course.write_text(played.course)
    measured = ", ".join(f"{1000 * each:.1f}" for each in loops)
    sys.stdout.write(
        f"{played.attempts} attempts, course {played.digest}\n"
        f"{played.seconds:.1f} CPU s; the loop took {measured} ms before and after\n"
    )


if __name__ == "__main__":
    main()
