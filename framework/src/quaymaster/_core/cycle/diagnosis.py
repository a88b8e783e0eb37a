"""The reasons why a pod fits no node: for each node, and as one message.

Mirrors ``Diagnosis``, ``NodeToStatus`` and ``FitError`` (Kubernetes v1.36,
``pkg/scheduler/framework``).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from quaymaster._core.contract.messages import unfit_message
from quaymaster._core.contract.results import NodeVerdicts
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.summary import Summary
from quaymaster._core.state.arrays import (
    BoolArray,
    Int32Array,
    RowArray,
    Rows,
    is_frozen,
)
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Diagnosis", "PluginRejections", "Rejections", "counted", "picked"]

_UNRESOLVABLE = Status.unresolvable()
_PENDING: Final = (Code.PENDING,)
_ANY_REJECTION: Final = (
    Code.UNSCHEDULABLE,
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    Code.PENDING,
)

# Up to this many codes are counted in Python: 0.5 us for 16 codes and 1.2 us for 64,
# while array functions take 2 us. Some workloads have many pods and only two nodes.
_FEW_REJECTIONS: Final = 64

_FEW_CODES: Final = 8

_SMALL_CODE: Final = 1023  # plugins number their statuses from 1 on


class Rejections(Protocol):
    """Some rejected nodes, each with the code of a status.

    Attributes:
        rows: The rejected rows, ascending.
        codes: The code of each row.
        summary: What was computed of the last diagnosis that ended with these, or None.
    """

    summary: Summary | None

    @property
    def rows(self) -> RowArray: ...

    @property
    def codes(self) -> npt.NDArray[np.integer[Any]] | BoolArray: ...

    @property
    def lasts(self) -> bool:
        """Whether rows and codes can still be computed after the attempt."""

    @property
    def counts(self) -> Mapping[int, int]:
        """The number of rows with each code."""

    def __len__(self) -> int: ...

    def status(self, code: int, /) -> Status:
        """Return the status of a code, with its plugin."""


class PluginRejections:
    """The nodes that the batch twin of one plugin rejected.

    Args:
        plugin: The plugin's name.
        judged: The rows that it judged, ascending.
        verdicts: A code for each of them; 0 passes.
        count: The number of rejected rows.
    """

    def __init__(
        self, plugin: str, judged: Rows, verdicts: NodeVerdicts, count: int
    ) -> None:
        self.summary: Summary | None = None
        self._plugin = plugin
        self._judged = judged
        self._verdicts = verdicts
        self._count = count
        self._statuses: dict[int, Status] = {}
        self._places: RowArray | None = None
        self._rows: RowArray | None = None
        self._codes: npt.NDArray[np.integer[Any]] | BoolArray | None = None
        self._counts: Mapping[int, int] | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def lasts(self) -> bool:
        """Whether the plugin's array is frozen, or its codes have been copied."""
        return self._codes is not None or is_frozen(self._verdicts.codes)

    # Not `functools.cached_property`: with few rows, its lock takes most of the time.
    @property
    def rows(self) -> RowArray:
        """The rejected rows, ascending."""
        if self._rows is None:
            self._rows = picked(self._judged, self._positions)
        return self._rows

    @property
    def codes(self) -> npt.NDArray[np.integer[Any]] | BoolArray:
        """The code of each rejected row."""
        if self._codes is None:
            self._codes = self._verdicts.codes[self._positions]
        return self._codes

    @property
    def counts(self) -> Mapping[int, int]:
        """The number of rows with each code."""
        if self._counts is None:
            self._counts = counted(self.codes)
        return self._counts

    @property
    def _positions(self) -> RowArray:
        if self._places is None:
            # Convert to flags first: `nonzero` of flags takes a quarter of the time.
            flags: BoolArray = self._verdicts.codes != 0
            self._places = flags.nonzero()[0]
        return self._places

    def status(self, code: int) -> Status:
        """Return the plugin's status for a code, or a substitute if that is invalid."""
        status = self._statuses.get(code)
        if status is None:
            status = self._statuses[code] = self._status_of(code)
        return status

    def _status_of(self, code: int) -> Status:
        status = self._verdicts.status_of(code)
        if not status.is_rejected:
            text = f"plugin '{self._plugin}' gave no reason: {status.message}"
            status = Status(Code.UNSCHEDULABLE, (text,), error=status.error)
        return status.with_plugin(self._plugin)


class Diagnosis(msgspec.Struct, eq=False):
    """The reasons why each node was rejected; details are computed on first use.

    Attributes:
        nodes: The nodes of the attempt.
        placement: The rows to which the attempt is restricted, or None.
        absent: The status of the nodes that were never filtered.
        pre_filter_message: The message of the rejecting PreFilter plugin, or empty.
        post_filter_message: The message of the PostFilter plugins, or empty.
        pre_filter_plugins: The plugins that restricted the nodes in PreFilter.
        extender_plugins: The plugin name of extenders, if they rejected nodes.
        filtered: The number of nodes that plugins judged; None without extenders.
    """

    nodes: NodeTable
    placement: RowArray | None = None
    absent: Status = _UNRESOLVABLE
    pre_filter_message: str = ""
    post_filter_message: str = ""
    pre_filter_plugins: frozenset[str] = frozenset()
    extender_plugins: frozenset[str] = frozenset()
    filtered: int | None = None
    _by_node: Mapping[str, Status] | None = None
    _plugin_statuses: tuple[Status, ...] = ()
    _explicit: dict[str, Status] = {}
    _batches: list[Rejections] = []
    _last_summary: Summary | None = None

    def reject(self, node_name: str, status: Status) -> None:
        """Add a node's rejection, and replace an earlier one."""
        self._explicit[node_name] = status
        self._by_node = self._last_summary = None

    def reject_batch(self, rejections: Rejections) -> None:
        """Add the rejections of many nodes at once."""
        self._batches.append(rejections)
        self._by_node = self._last_summary = None

    def override(self, rejections: Rejections) -> None:
        """Add rejections, and drop earlier ones of the same nodes."""
        if self._batches:
            apart: BoolArray = np.zeros(self.nodes.capacity, dtype=np.bool_)
            apart[rejections.rows] = True
            self._batches = [_less(batch, apart) for batch in self._batches]
        self.reject_batch(rejections)

    def write_codes(self, codes: Int32Array, code_of: Callable[[Status], int]) -> None:
        """Write the code of each rejected node.

        Args:
            codes: The array to write to, shape ``(C,)``.
            code_of: Returns the code of a status.
        """
        for batch in self._batches:
            new = {code: code_of(batch.status(code)) for code in _distinct(batch)}
            if len(new) == 1:
                codes[batch.rows] = next(iter(new.values()))
                continue
            rows, own = batch.rows, batch.codes
            for code, written in new.items():
                codes[rows[own == code]] = written
        for name, status in self._explicit.items():
            row = self.nodes.row_of(name)
            assert row is not None, "it was judged in this attempt"
            codes[row] = code_of(status)

    def reject_all(self, status: Status) -> None:
        """Note that PreFilter rejected the pod, before any node was filtered."""
        self.absent = status
        self.pre_filter_message = status.message
        self._plugin_statuses = (*self._plugin_statuses, status)
        self._last_summary = None

    @property
    def is_filtered(self) -> bool:
        """Whether PreFilter restricted no nodes and did not reject the pod."""
        # Identity: only PreFilter replaces the default object.
        return self.absent is _UNRESOLVABLE

    def __getitem__(self, node_name: str) -> Status:
        return self.by_node().get(node_name, self.absent)

    def nodes_with(self, *codes: int) -> Sequence[str]:
        """Return the names of the nodes whose status has one of these codes."""
        return self.nodes.names_at(self.rows_with(*codes))

    def rows_with(self, *codes: int) -> RowArray:
        """Return the rows whose status has one of these codes, ascending."""
        summary = self._summary()
        if summary is None:
            return self._rows_with(codes)
        rows = summary.rows.get(codes)
        if rows is None:
            rows = summary.rows[codes] = self._rows_with(codes)
        # A copy, because a plugin may write to it.
        return rows.copy()

    def _rows_with(self, codes: Collection[int]) -> RowArray:
        if len(self._batches) == 1 and not self._explicit:
            [batch] = self._batches
            # One batch with all nodes, as in a full cluster, has the answer itself.
            if len(batch) == self.size:
                return _with_codes(batch, codes)
        flags: BoolArray = np.zeros(self.nodes.capacity, dtype=np.bool_)
        is_absent_matching = self.absent.code in codes
        if is_absent_matching:
            flags[self.nodes.rows if self.placement is None else self.placement] = True
        for batch, tally in self._tallied():
            matching = [code for code in tally if batch.status(code).code in codes]
            if len(matching) == len(tally):
                flags[batch.rows] = True
            elif matching or is_absent_matching:
                flags[batch.rows] = _are_among(batch.codes, matching)
        for name, status in self._explicit.items():
            row = self.nodes.row_of(name)
            if row is not None:
                flags[row] = status.code in codes
        return flags.nonzero()[0]

    def by_node(self) -> Mapping[str, Status]:
        """Map the name of each node that has a status of its own to that status."""
        if self._by_node is None:
            merged: dict[str, Status] = {}
            for batch, tally in self._tallied():
                statuses = _statuses(batch, tally)
                names = self.nodes.names_at(batch.rows)
                merged.update(
                    (name, statuses[code])
                    for name, code in zip(names, batch.codes.tolist(), strict=True)
                )
            merged.update(self._explicit)
            self._by_node = merged
        return self._by_node

    @property
    def lasts(self) -> bool:
        """Whether the diagnosis can still be read long after the attempt."""
        return all(batch.lasts for batch in self._batches)

    def by_row(self, names: Mapping[int, str]) -> Mapping[int, Status]:
        """Map each row that has a status of its own to that status.

        Args:
            names: Row -> the name of its node during the attempt.
        """
        merged: dict[int, Status] = {}
        for batch, tally in self._tallied():
            statuses = _statuses(batch, tally)
            pairs = zip(batch.rows.tolist(), batch.codes.tolist(), strict=True)
            merged.update((row, statuses[code]) for row, code in pairs)
        explicit = self._explicit
        if explicit:
            merged.update(
                (row, explicit[name]) for row, name in names.items() if name in explicit
            )
        return merged

    def processed(self) -> int:
        """Count the nodes that were filtered and rejected."""
        batched = sum(map(len, self._batches))
        return batched + len(self._explicit)

    @property
    def unschedulable_plugins(self) -> frozenset[str]:
        """The plugins that rejected the pod; their events may help it."""
        rejecting = self._plugins(_ANY_REJECTION)
        if not self.pre_filter_plugins and not self.extender_plugins:
            return rejecting
        return self.pre_filter_plugins | rejecting | self.extender_plugins

    @property
    def pending_plugins(self) -> frozenset[str]:
        """The plugins whose status is Pending."""
        return self._plugins(_PENDING)

    @property
    def size(self) -> int:
        """The number of nodes to which the attempt is restricted."""
        return len(self.nodes) if self.placement is None else len(self.placement)

    def message(self) -> str:
        """Return the message of the pod's condition and Event."""
        return self.message_and_reasons()[0]

    def message_and_reasons(self) -> tuple[str, tuple[str, ...]]:
        """Return the message, and each of its reasons once, without counts."""
        reasons: tuple[str, ...]
        if self.pre_filter_message:
            reasons = (self.pre_filter_message,)
            text = f"{unfit_message(self.size, {})} {self.pre_filter_message}."
        else:
            text, reasons = self._text_and_reasons()
        if self.post_filter_message:
            text += f" {self.post_filter_message}"
        return text, reasons

    def is_equal_to(self, other: "Diagnosis") -> bool:
        """Whether both consist of the same objects, as far as they are cached.

        Equal diagnoses may differ in it. The message of PostFilter is not compared.
        """
        summary = self._last_summary
        # Identity: a summary is shared by attempts that end with the same rejections.
        return summary is not None and summary is other._summary()

    def _summary(self) -> Summary | None:
        """Return what equal attempts share; None if more than batches was rejected."""
        # Identity: only PreFilter replaces the default object.
        if self._last_summary is not None and self.absent is _UNRESOLVABLE:
            return self._last_summary
        if (
            not self._batches
            or self._explicit
            or self._plugin_statuses
            or self.placement is not None
            or not self.is_filtered
        ):
            return None
        self._last_summary = Summary.of(self._batches, self.size)
        return self._last_summary

    def _text_and_reasons(self) -> tuple[str, tuple[str, ...]]:
        summary = self._summary()
        if summary is not None and summary.text is not None:
            return summary.text
        counts = self._histogram()
        text = unfit_message(self.size, counts), tuple(counts)
        if summary is not None:
            summary.text = text
        return text

    def _histogram(self) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        explicit = self._explicit
        if explicit and self._batches:
            for status in self.by_node().values():
                counts.update(status.reasons)
            filtered = len(self.by_node())
        else:
            filtered = self._count_batches(counts) + len(explicit)
            for status in explicit.values():
                counts.update(status.reasons)
        if missing := self.size - filtered:
            for reason in self.absent.reasons:
                counts[reason] += missing
        return counts

    def _count_batches(self, counts: Counter[str]) -> int:
        filtered = 0
        for batch, tally in self._tallied():
            for code, count in tally.items():
                filtered += count
                for reason in batch.status(code).reasons:
                    counts[reason] += count
        return filtered

    def _plugins(self, codes: tuple[Code, ...]) -> frozenset[str]:
        summary = self._summary()
        if summary is None:
            return self._plugins_with(codes)
        plugins = summary.plugins.get(codes)
        if plugins is None:
            plugins = summary.plugins[codes] = self._plugins_with(codes)
        return plugins

    def _plugins_with(self, codes: Collection[Code]) -> frozenset[str]:
        plugins = {
            status.plugin
            for status in (*self._explicit.values(), *self._plugin_statuses)
            if status.code in codes
        }
        for batch, tally in self._tallied():
            plugins.update(
                status.plugin
                for status in map(batch.status, tally)
                if status.code in codes
            )
        return frozenset(plugins - {""})

    def _tallied(self) -> Iterator[tuple[Rejections, Mapping[int, int]]]:
        """Yield each batch with the number of nodes per code."""
        return ((batch, batch.counts) for batch in self._batches)


def picked(rows: Rows, positions: RowArray) -> RowArray:
    """Return the rows at some positions of `rows`."""
    if not isinstance(rows, slice):
        return rows.take(positions)
    return positions + rows.start if rows.start else positions


class _Less:
    """Rejections without some of their rows."""

    def __init__(self, batch: Rejections, left: RowArray) -> None:
        self.summary: Summary | None = None
        self._batch = batch
        self._left = left

    @property
    def lasts(self) -> bool:
        return self._batch.lasts

    def __len__(self) -> int:
        return len(self._left)

    @cached_property
    def rows(self) -> RowArray:
        return self._batch.rows[self._left]

    @cached_property
    def codes(self) -> npt.NDArray[np.integer[Any]] | BoolArray:
        return self._batch.codes[self._left]

    @cached_property
    def counts(self) -> Mapping[int, int]:
        return counted(self.codes)

    def status(self, code: int) -> Status:
        return self._batch.status(code)


def _less(batch: Rejections, apart: BoolArray) -> Rejections:
    left = (~apart[batch.rows]).nonzero()[0]
    return batch if len(left) == len(batch) else _Less(batch, left)


def counted(codes: npt.NDArray[np.integer[Any]] | BoolArray) -> Mapping[int, int]:
    """Count the rejected nodes with each code."""
    if codes.dtype == np.bool_:
        return {1: len(codes)}  # all rows of a batch are rejected
    if len(codes) == 1:  # most batches of clusters with few nodes
        return {codes.item(): 1}
    if len(codes) <= _FEW_REJECTIONS:
        return Counter(sorted(codes.tolist()))
    if codes.min() >= 0 and codes.max() <= _SMALL_CODE:
        # `np.unique` sorts the codes, which takes twice as long.
        of_each = np.bincount(codes.astype(np.intp, copy=False))
        distinct = of_each.nonzero()[0]
        return dict(zip(distinct.tolist(), of_each[distinct].tolist(), strict=True))
    unique, counts = np.unique(codes, return_counts=True)
    return dict(zip(unique.tolist(), counts.tolist(), strict=True))


def _with_codes(batch: Rejections, codes: Collection[int]) -> RowArray:
    """Return the rows of a batch whose status has one of some codes, in a new array."""
    counts = batch.counts
    matching = [code for code in counts if batch.status(code).code in codes]
    if len(matching) == len(counts):
        return batch.rows.copy()
    rows: RowArray = batch.rows[_are_among(batch.codes, matching)]
    return rows


def _are_among(
    codes: npt.NDArray[np.integer[Any]] | BoolArray, wanted: Sequence[int]
) -> BoolArray:
    """Whether each code is one of some codes."""
    # `isin` takes 37 us for 1,000 codes, and each comparison 2 us.
    if not 1 <= len(wanted) <= _FEW_CODES:
        return np.isin(codes, wanted)
    among: BoolArray = codes == wanted[0]
    for code in wanted[1:]:
        among |= codes == code
    return among


def _distinct(batch: Rejections) -> Iterable[int]:
    """Return each code that some node got."""
    codes = batch.codes
    if len(codes) <= _FEW_REJECTIONS and codes.dtype != np.bool_:
        return set(codes.tolist())
    return batch.counts


def _statuses(batch: Rejections, codes: Iterable[int]) -> Mapping[int, Status]:
    """Map each code that some node got to its status."""
    return {code: batch.status(code) for code in codes}
