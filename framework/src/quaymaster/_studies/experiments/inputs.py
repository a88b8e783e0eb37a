"""The initial objects and the arrivals of runs."""

import abc
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs
import msgspec

from quaymaster._api.objects import ApiObject
from quaymaster._base.notices import Notice
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._studies.changes.change import ClusterChange

__all__ = ["Arrival", "Disruption", "ExperimentInput", "InputContext", "Workload"]


@attrs.frozen(kw_only=True, eq=False)
class Arrival:
    """An object that arrives during a run.

    Attributes:
        obj: A pod, or anything else, such as a Deployment.
        at: When it arrives, in seconds since the run began. If that is earlier than the
            previous arrival, it arrives directly after that one.
        stays: For a pod: how many seconds it runs once it has its node; None for its
            own run time.
    """

    obj: ApiObject
    at: float = 0.0
    stays: float | None = None

    def made(self) -> ApiObject:
        """Return the arriving object, annotated with its run time."""
        obj = self.obj
        if self.stays is None:
            return obj
        annotations = {
            **obj.metadata.annotations,
            RUN_SECONDS_ANNOTATION: f"{self.stays:.9f}",
        }
        metadata = msgspec.structs.replace(obj.metadata, annotations=annotations)
        return msgspec.structs.replace(obj, metadata=metadata)


@attrs.frozen(kw_only=True, eq=False)
class Disruption:
    """A change of the cluster during a run: a failure, a drain, a repair.

    Attributes:
        change: The change, such as `quaymaster.planning.FailNodes`, ``Drain``,
            ``ReturnNodes`` or ``RemoveNodes``. A reclaimed spot node is a drain with a
            short ``grace_period_seconds``, and its removal later.
        at: When it happens, in seconds since the run began; see `Arrival.at`.
    """

    change: ClusterChange
    at: float = 0.0


@attrs.frozen(kw_only=True, eq=False)
class Workload:
    """The objects of one run.

    Attributes:
        objects: Nodes and all else that exists at the beginning. Pods without a node
            are tried before anything arrives.
        arrivals: The arrivals and disruptions, in order. Ready pods are tried after
            each of them.
        turn_away: Whether an arrived pod that found no node is deleted, instead of
            waiting for another attempt.
        notices: What the input contains and the workload leaves out.
    """

    objects: Sequence[ApiObject]
    arrivals: Iterable[Arrival | Disruption] = ()
    turn_away: bool = False
    notices: Sequence[Notice] = ()


@attrs.frozen(kw_only=True, eq=False)
class InputContext:
    """The context in which a workload is made.

    Attributes:
        seed: The seed of the workload; by default that of the run, which is also that
            of the scheduler.
        folder: The folder of the experiment file; relative paths begin there.
        kinds: The kinds of objects that the run's plugins declare, in addition to those
            of Kubernetes.
        kubernetes: The simulated version of Kubernetes.
    """

    seed: int
    folder: Path
    kinds: Sequence[type[ApiObject]] = ()
    kubernetes: Kubernetes = DEFAULT_KUBERNETES


class ExperimentInput(abc.ABC):
    """Makes the workloads of an experiment; subclasses are attrs classes.

    The fields of a subclass are its parameters: an experiment file gives them below
    ``parameters``, in camelCase, and they are checked like the arguments of a plugin.
    A distribution offers its class in the entry-point group
    ``quaymaster.experiment_inputs``.
    """

    @abc.abstractmethod
    def make(self, context: InputContext) -> Workload:
        """Make the workload of one run.

        The result must depend only on the parameters, the context and the files: runs
        are repeated in other processes and must be the same.

        Args:
            context: The context of the run: a seed, and the folder of files.

        Raises:
            QuaymasterError: The workload cannot be made. Any other exception is
                reported with its type and place.
        """

    @abc.abstractmethod
    def reads(self, folder: Path) -> Iterable[Path]:
        """Return the files and folders that `make` reads, if any.

        Earlier runs are reused if their content is unchanged.

        Args:
            folder: The folder of the experiment file.
        """
