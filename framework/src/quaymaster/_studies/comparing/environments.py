"""Variants that run in other virtual environments, to compare plugin versions."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs
import msgspec

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.wire import to_wire
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._studies.comparing.messages import (
    FORM,
    Answer,
    Request,
    decode_answer,
    encode,
)
from quaymaster._studies.comparing.outcome import Decision, Outcome
from quaymaster._studies.comparing.variants import Measures
from quaymaster._studies.simulation.observed import ObservedRun

__all__ = ["EnvironmentFailedError", "EnvironmentVariant", "interpreter_of"]

_CHILD: Final = "quaymaster._studies.comparing.child"
_PYTHONS: Final = ("bin/python", "Scripts/python.exe")


class EnvironmentFailedError(QuaymasterError):
    """A virtual environment cannot run its part of a comparison.

    Attributes:
        environment: Its folder.
        problem: The reason.
    """

    def __init__(self, environment: Path, problem: str) -> None:
        super().__init__(f"{environment}: {problem}")
        self.environment = environment
        self.problem = problem


def interpreter_of(environment: Path) -> Path | None:
    """Return the interpreter of a virtual environment; None if the folder has none."""
    if not (environment / "pyvenv.cfg").is_file():
        return None
    candidates = (environment / python for python in _PYTHONS)
    return next((python for python in candidates if python.exists()), None)


@attrs.frozen(kw_only=True)
class EnvironmentVariant:
    """An input, simulated with the packages of a virtual environment.

    Attributes:
        name: Its name in the comparison.
        environment: The folder of the virtual environment, in which Quaymaster and the
            plugins are installed in the versions to compare.
        objects: Nodes, pods, workloads and all else, as for `simulate`.
        config_file: A configuration file, or the name of a shipped one; None for the
            default. The environment's own Quaymaster reads it, since arguments of
            plugins may have changed.
        max_pods: How many pods the workloads may ask for in all.
        kubernetes: The simulated version of Kubernetes; None for the default of the
            installed Quaymaster.
    """

    name: str
    environment: Path
    objects: Sequence[ApiObject] = attrs.field(repr=False)
    config_file: str | None = None
    max_pods: int = MAX_PODS
    kubernetes: Kubernetes | None = None

    def outcome(self, seed: int, measures: Measures) -> Outcome:
        """Simulate in the environment, and return the outcome.

        Args:
            seed: Decides ties and generated names.
            measures: The metrics.

        Raises:
            EnvironmentFailedError: It cannot simulate, or rejects the input.
        """
        answer = self._ask(seed, measures)
        if answer.outcome is None:
            raise EnvironmentFailedError(self.environment, "it answered something else")
        return answer.outcome

    def explain(self, decision: Decision, seed: int) -> Explanation | None:
        """Return the verdict of every plugin about every node for a decision."""
        return self._ask(seed, explain=decision).explanation()

    def observe(self, seed: int) -> ObservedRun:
        """Simulate in the environment, and return the observed run.

        Args:
            seed: What decides ties and generated names.

        Raises:
            EnvironmentFailedError: As for `outcome`.
        """
        run = self._ask(seed, observe=True).observed_run(self.name)
        if run is None:
            text = "its quaymaster is too old for a report: install this version there"
            raise EnvironmentFailedError(self.environment, text)
        return run

    def _ask(
        self,
        seed: int,
        measures: Measures | None = None,
        *,
        explain: Decision | None = None,
        observe: bool = False,
    ) -> Answer:
        measures = measures or Measures()
        items = [to_wire(obj) for obj in self.objects]
        request = Request(
            # The oldest form that will do, as the environment may have an earlier
            # Quaymaster.
            form=1 if self.kubernetes is None else FORM,
            kubernetes=self.kubernetes,
            objects={"apiVersion": "v1", "kind": "List", "items": items},
            config=self.config_file,
            seed=seed,
            max_pods=self.max_pods,
            prices=measures.prices.per_instance_type,
            topology_keys=measures.topology_keys,
            explain=explain,
            observe=observe,
        )
        answer = self._run(encode(request))
        if answer.mistake:
            raise EnvironmentFailedError(self.environment, answer.mistake)
        return answer

    def _run(self, request: bytes) -> Answer:
        python = interpreter_of(self.environment)
        if python is None:
            raise EnvironmentFailedError(
                self.environment, "expected a virtual environment, with pyvenv.cfg"
            )
        ended = subprocess.run(
            [python, "-m", _CHILD], input=request, capture_output=True, check=False
        )
        if ended.returncode != 0:
            # A traceback has its cause in the last line.
            last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:]
            why = last[0] if last else f"exit code {ended.returncode}"
            raise EnvironmentFailedError(self.environment, _problem_of(why))
        try:
            return decode_answer(ended.stdout)
        except msgspec.DecodeError as error:
            text = f"its answer cannot be read: {error}"
            raise EnvironmentFailedError(self.environment, text) from error


def _problem_of(why: str) -> str:
    """Return the last message of a failed interpreter, or what to do about it."""
    if "No module named" in why and "quaymaster" in why:
        return "it has no quaymaster of this version: install it there"
    return f"quaymaster broke there: {why}"
