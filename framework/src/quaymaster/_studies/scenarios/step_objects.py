"""Checks the objects of steps before anything happens."""

from collections.abc import Iterator, Sequence

from quaymaster._api.objects import ApiObject
from quaymaster._base.errors import Problem
from quaymaster._clusters.inmemory.admission.problems import AdmissionError
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import ApiError
from quaymaster._studies.scenarios.model import ACTIONS, Step
from quaymaster._studies.scenarios.scenario import Scenario, StepPart

__all__ = ["step_problems"]


def step_problems(scenario: Scenario, cluster: InMemoryCluster) -> Iterator[Problem]:
    """Find objects of steps that no cluster would store.

    Errors that depend on the moment, such as quotas and taken names, are left to the
    run. So are all errors of steps that may fail.

    Args:
        scenario: The scenario.
        cluster: A cluster with its input. The objects of the steps are created there
            one after the other, since later steps may need them.
    """
    for index, (step, part) in enumerate(
        zip(scenario.steps, scenario.parts, strict=True)
    ):
        where = f"{scenario.file or scenario.name}: steps[{index}]"
        for obj in () if step.may_fail else _first_objects(step, part):
            try:
                cluster.create(obj)
            except AdmissionError as error:
                for problem in error.problems:
                    place = f"{where}.{ACTIONS[step.action]} ({problem.where})"
                    yield Problem(
                        where=place, path=problem.path, message=problem.message
                    )
            except ApiError:
                pass  # may be valid by then


def _first_objects(step: Step, part: StepPart) -> Sequence[ApiObject]:
    """Return the objects that a step applies, or creates first."""
    create = step.create
    if create is None:
        return part.objects
    number = 0 if create.count > 1 or step.repeat is not None else None
    return [template.numbered(number) for template in part.templates]
