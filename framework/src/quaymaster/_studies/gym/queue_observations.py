"""What an agent that orders pods observes: the waiting pods, the nodes, the queue."""

from collections.abc import Mapping, Sequence
from typing import Final

import gymnasium
import numpy as np
import numpy.typing as npt

from quaymaster._core.state.arrays import BoolArray, Float64Array, Int64Array
from quaymaster._studies.gym.lane import Lane
from quaymaster._studies.gym.node_states import NodeStates
from quaymaster._studies.gym.pod_kinds import PodKind

__all__ = ["QueueColumns", "QueueView"]

_LARGEST: Final = float(np.finfo(np.float32).max)
_QUEUE: Final = ("waiting pods", "running pods", "seconds", "seconds to the next end")


class QueueColumns:
    """The names of the observed columns.

    Args:
        resources: The observed resources.

    Attributes:
        pods: The columns of a waiting pod.
        nodes: The columns of a node.
        queue: The numbers about the run.
    """

    def __init__(self, resources: Sequence[str]) -> None:
        self.pods = (
            "seconds waited",
            "feasible nodes",
            "seconds to run",
            *(f"{name} requested" for name in resources),
        )
        self.nodes = tuple(
            f"{name} {what}" for name in resources for what in ("used", "size")
        )
        self.queue = _QUEUE

    def space(self, window: int, nodes: int) -> gymnasium.spaces.Dict:
        """Return the space of the observations of one run."""
        shapes = {
            "pods": (window, len(self.pods)),
            "nodes": (nodes, len(self.nodes)),
            "queue": (len(self.queue),),
        }
        return gymnasium.spaces.Dict(
            {
                name: gymnasium.spaces.Box(0.0, _LARGEST, shape, np.float32)
                for name, shape in shapes.items()
            }
        )


class QueueView:
    """Reads the observations and the masks of many runs at once.

    ``K`` is the number of runs, ``M`` the size of the window, ``N`` the largest number
    of nodes.

    Args:
        runs: The number of runs.
        window: The size of the window.
        nodes: The largest number of nodes.
        columns: The observed columns.

    Attributes:
        states: Shape ``(K, N)``: the state of each node; lanes write them.
        empty: The states without the pods that will end.
    """

    def __init__(
        self, runs: int, window: int, nodes: int, columns: QueueColumns
    ) -> None:
        self._columns = columns
        self._window = window
        self._all = np.arange(runs)[:, None]
        resources = len(columns.nodes) // 2
        self.states: Int64Array = np.zeros((runs, nodes), np.int64)
        self.empty: Int64Array = np.zeros((runs, nodes), np.int64)
        self._is_node: BoolArray = np.zeros((runs, nodes), np.bool_)
        self._sizes: Float64Array = np.ones((runs, nodes, resources))
        self._shares: Float64Array = np.zeros((runs, nodes, resources))
        # Position -1 means no pod. As an index it picks the last element of the arrays
        # below, so no branch is needed.
        self._positions: Int64Array = np.full((runs, window), -1, np.int64)
        # The last element is that of positions without a pod.
        self._at: Float64Array = np.zeros((runs, 1))
        self._numbers: Int64Array = np.zeros((runs, 1), np.int64)
        self._features: Float64Array = np.zeros((runs, 1, 1 + resources))

    def begin(self, run: int, lane: Lane, resources: Sequence[str]) -> None:
        """Begin an episode of one run."""
        compiled = lane.compiled
        count = len(compiled.at)
        self._make_room(count + 1)
        self._at[run, :count] = compiled.at
        self.renumber(run, lane)
        self._features[run, :count] = compiled.features
        infos = compiled.cluster.infos
        sizes = np.array(
            [[info.allocatable.get(name) for name in resources] for info in infos],
            dtype=np.float64,
        ).reshape(len(infos), len(resources))
        largest = np.maximum(sizes.max(axis=0, initial=1.0), 1.0)
        self._is_node[run] = False
        self._is_node[run, : len(infos)] = True
        self._sizes[run, : len(infos)] = np.maximum(sizes, 1.0)
        self._shares[run] = 0.0
        self._shares[run, : len(infos)] = sizes / largest

    def renumber(self, run: int, lane: Lane) -> None:
        """Take over the numbers of kinds and of the empty states."""
        numbers, empty = lane.compiled.numbers, lane.empty_states()
        self._numbers[run, : len(numbers)] = numbers
        self.empty[run, : len(empty)] = empty

    def look(self, run: int, lane: Lane) -> None:
        """Note which pods are in the window of a run."""
        shown = lane.queue[: self._window] if not lane.is_over else []
        row = self._positions[run]
        row[: len(shown)] = shown
        row[len(shown) :] = -1

    def fits(
        self, table: NodeStates, kinds: Sequence[PodKind], states: Int64Array
    ) -> BoolArray:
        """Return which pods fit on which nodes, shape ``(K, M, N)``.

        Args:
            table: The states of nodes.
            kinds: All kinds of pods, by their numbers.
            states: Shape ``(K, N)``: the states of the nodes, `states` or `empty`.
        """
        if not kinds:
            return np.zeros((*self._positions.shape, states.shape[1]), np.bool_)
        numbers = self._numbers[self._all, self._positions]
        is_pod = self._positions >= 0
        # Judge only pairs that exist: anything else has the state of a node of another
        # run, or a kind of an earlier episode.
        rows, places = np.nonzero(is_pod)
        verdicts = np.zeros((*is_pod.shape, states.shape[1]), np.bool_)
        judged = table.lookup(states[rows], numbers[rows, places][:, None], kinds)
        verdicts[rows, places] = (judged == 1) & self._is_node[rows]
        return verdicts

    def observe(
        self, lanes: Sequence[Lane], table: NodeStates, fits: BoolArray
    ) -> Mapping[str, npt.NDArray[np.float32]]:
        """Return the observations, one line for each run."""
        is_pod = self._positions >= 0
        now = np.array([lane.now for lane in lanes])
        shape = (*is_pod.shape, len(self._columns.pods))
        pods: npt.NDArray[np.float32] = np.zeros(shape, np.float32)
        pods[..., 0] = now[:, None] - self._at[self._all, self._positions]
        pods[..., 1] = fits.sum(axis=2)
        pods[..., 2:] = self._features[self._all, self._positions]
        pods[~is_pod] = 0.0
        used = table.used[self.states] / self._sizes
        used[~self._is_node] = 0.0
        runs, count, resources = used.shape
        nodes = np.zeros((runs, count, resources, 2), np.float32)
        nodes[..., 0], nodes[..., 1] = used, self._shares
        over = np.array([lane.is_over for lane in lanes])
        nodes[over] = 0.0
        return {
            "pods": pods,
            "nodes": nodes.reshape(runs, count, 2 * resources),
            "queue": np.array([_queue(lane) for lane in lanes], np.float32),
        }

    def _make_room(self, count: int) -> None:
        more = count - self._at.shape[1]
        if more > 0:
            # Added at the end, so the last element stays that of no pod.
            self._at = np.pad(self._at, ((0, 0), (0, more)))
            self._numbers = np.pad(self._numbers, ((0, 0), (0, more)))
            self._features = np.pad(self._features, ((0, 0), (0, more), (0, 0)))


def _queue(lane: Lane) -> tuple[float, ...]:
    if lane.is_over:
        return (0.0,) * len(_QUEUE)
    end = lane.next_end
    return (
        len(lane.queue),
        len(lane.running),
        lane.now - lane.compiled.cluster.started,
        0.0 if end is None else end - lane.now,
    )
