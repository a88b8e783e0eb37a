"""What runs of an experiment begin with, and what arrives in them."""

import abc
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs
import msgspec

from quaymaster._api.objects import ApiObject
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION

__all__ = ["Arrival", "ExperimentInput", "InputContext", "Workload"]


@attrs.frozen(kw_only=True, eq=False)
class Arrival:
    """An object that comes in while a run goes on.

    Attributes:
        obj: A pod, or anything else, such as a Deployment.
        at: When it comes, in seconds since the run began. One that is earlier than the
            arrival before it comes right behind that one.
        stays: For a pod: how many seconds it runs once it has its node; None for as
            long as it says itself.
    """

    obj: ApiObject
    at: float = 0.0
    stays: float | None = None

    def made(self) -> ApiObject:
        """Return the object as it comes in, which says how long it stays."""
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
class Workload:
    """What one run is about.

    Attributes:
        objects: Nodes and all else that is there at the beginning. Pods without a node
            are tried before anything arrives.
        arrivals: What comes in, in order; each is tried before the next one comes.
        turn_away: Whether a pod that arrived and found no node leaves for good, instead
            of waiting to be tried again.
    """

    objects: Sequence[ApiObject]
    arrivals: Iterable[Arrival] = ()
    turn_away: bool = False


@attrs.frozen(kw_only=True, eq=False)
class InputContext:
    """What a workload is made for.

    Attributes:
        seed: The seed of the run, which is also that of the scheduler.
        folder: Where the experiment file is; relative paths begin there.
        kinds: The kinds of objects that the run's plugins bring, beside those of
            Kubernetes.
        kubernetes: The Kubernetes whose scheduler decides.
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

        It is a function of the parameters, the context and the files: runs are repeated
        in other processes, and have to be the same.

        Args:
            context: What the workload is for: a seed, and where files are.

        Raises:
            QuaymasterError: It cannot be made. Any other exception is reported with
                its type and place.
        """

    @abc.abstractmethod
    def reads(self, folder: Path) -> Iterable[Path]:
        """Return the files and folders that `make` reads, if any.

        Earlier runs are reused if their content is unchanged.

        Args:
            folder: Where the experiment file is.
        """
