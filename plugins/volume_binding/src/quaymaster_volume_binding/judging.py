"""Compute the verdicts of a `Finder` for many nodes at once.

If claims compete for the same few volumes, the affected nodes are evaluated one by one.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from quaymaster import BoolArray, Int64Array, NodeTable, NodeVerdicts, Rows, Status
from quaymaster.objects import PersistentVolume, TopologySelectorTerm
from quaymaster.volumes import NO_PROVISIONER, in_tree_plugin
from quaymaster_volume_binding.finder import Finder, Problem, reasons_of
from quaymaster_volume_binding.pod_claims import DelayedClaim

__all__ = ["judge"]

_CONFLICT, _MISSING = 4, 8  # bits of a code, in addition to the Problem


def judge(finder: Finder, nodes: NodeTable, rows: Rows) -> NodeVerdicts | None:
    """Filter many nodes: whether a pod's volumes exist, or can be provisioned.

    Args:
        finder: The pod's claims.
        nodes: The nodes.
        rows: The rows in question.

    Returns:
        The verdicts, or None if all nodes pass.

    Raises:
        TranslationError: An in-tree volume cannot be translated to CSI.
    """
    codes = _bound(finder, nodes, rows)
    waiting = _waiting(finder, nodes, rows)
    if waiting is not None:
        codes = waiting if codes is None else codes | waiting
    return None if codes is None else NodeVerdicts(codes, _status)


def _status(code: int) -> Status:
    reasons = reasons_of(
        conflict=bool(code & _CONFLICT),
        problem=Problem(code & ~(_CONFLICT | _MISSING)),
        missing=bool(code & _MISSING),
    )
    return Status.unresolvable(*reasons)


# Bound claims -------------------------------------------------------------------------


def _bound(finder: Finder, nodes: NodeTable, rows: Rows) -> Int64Array | None:
    """Return the first problem with bound claims, by row, or None."""
    rejected: BoolArray | None = None
    for claim in finder.claims.bound:
        if claim.volume is None:
            codes: Int64Array = np.full(nodes.count(rows), _MISSING, dtype=np.int64)
            if rejected is not None:
                # Rows that an earlier claim has rejected keep that reason, as a loop
                # over the claims of one node would.
                codes[rejected] = _CONFLICT
            return codes
        reached = _reached(finder, claim.volume, nodes, rows, rejected)
        if reached is not None:
            rejected = ~reached if rejected is None else rejected | ~reached
    return None if rejected is None else rejected.astype(np.int64) * _CONFLICT


def _reached(
    finder: Finder,
    volume: PersistentVolume,
    nodes: NodeTable,
    rows: Rows,
    rejected: BoolArray | None,
) -> BoolArray | None:
    """Return which of the remaining rows reach a volume, or None if all do."""
    reachable = finder.topology(volume, "").rows(nodes, rows)
    plugin = in_tree_plugin(volume)
    if plugin is None:
        return reachable
    column = finder.migrated_by_row(nodes)
    codes = column.codes[rows]
    for code, listed in enumerate(column.values):
        if plugin.name not in listed.split(","):
            continue
        there: BoolArray = codes == code
        if rejected is not None:
            there &= ~rejected
        if not there.any():
            continue  # nor must the volume be translated, which may fail
        moved = finder.topology(volume, listed).rows(nodes, rows)
        if moved is not None or reachable is not None:
            reachable = np.where(there, _or_all(moved), _or_all(reachable))
    return reachable


def _or_all(reachable: BoolArray | None) -> BoolArray | bool:
    return True if reachable is None else reachable


# Delayed claims -----------------------------------------------------------------------


def _waiting(finder: Finder, nodes: NodeTable, rows: Rows) -> Int64Array | None:
    """Return the problems with delayed claims, by row; None without such claims."""
    claims = finder.claims
    if not claims.selected and not claims.open:
        return None
    problems: Int64Array = np.zeros(nodes.count(rows), dtype=np.int64)
    if finder.selected_nodes:
        problems[:] = Problem.BIND_CONFLICT
        selected = nodes.rows_of(finder.selected_nodes)
        # Only the selected node can pass, so only that one is looked at.
        single = np.isin(nodes.row_numbers(rows), selected)
    else:
        single = _open(claims.open, nodes, rows, problems)
    positions = np.flatnonzero(single)
    for position, node in zip(
        positions.tolist(),
        nodes.infos_at(nodes.row_numbers(rows)[positions]),
        strict=True,
    ):
        problems[position] = finder.problem(node.name, node.labels)
    return problems


def _open(
    claims: Sequence[DelayedClaim], nodes: NodeTable, rows: Rows, problems: Int64Array
) -> BoolArray:
    """Record problems; return the rows that must be evaluated one by one."""
    unsure: BoolArray = np.zeros(len(problems), dtype=np.bool_)
    earlier: Counter[str] = Counter()
    seen: set[str] = set()
    for claim in claims:
        kept, name = claim.candidates.kept, claim.storage_class.name
        if claim.claim.key in seen:
            unsure[:] = True  # a pod that names a claim twice needs two volumes for it
            return unsure
        seen.add(claim.claim.key)
        if kept:
            reachable = kept[0].topology.rows(nodes, rows)
        else:
            counts = claim.candidates.free.counts(nodes, rows)
            # The claims before this one may take up to this many.
            reachable = counts > earlier[name]
            if earlier[name]:
                unsure |= (counts > 0) & ~reachable
        earlier[name] += 1
        if reachable is not None and not reachable.all():
            problem = _problem_of_making(claim, nodes, rows)
            # The first claim with a problem decides on each node.
            problem[reachable | (problems > 0)] = Problem.NONE
            problems += problem
    return unsure


def _problem_of_making(claim: DelayedClaim, nodes: NodeTable, rows: Rows) -> Int64Array:
    """Return why no volume can be provisioned for a claim, by row."""
    storage_class = claim.storage_class
    problems: Int64Array = np.zeros(nodes.count(rows), dtype=np.int64)
    if storage_class.provisioner in ("", NO_PROVISIONER):
        problems[:] = Problem.BIND_CONFLICT
        return problems
    if claim.room is not None:
        problems[~claim.room.rows(nodes, rows)] = Problem.NOT_ENOUGH_SPACE
    terms = storage_class.allowed_topologies
    if terms:
        problems[~_allowed(terms, nodes, rows)] = Problem.BIND_CONFLICT
    return problems


def _allowed(
    terms: Sequence[TopologySelectorTerm], nodes: NodeTable, rows: Rows
) -> BoolArray:
    """Return the rows that a term of a class allows; an empty term allows none."""
    allowed: BoolArray = np.zeros(nodes.count(rows), dtype=np.bool_)
    for term in terms:
        expressions = term.match_label_expressions
        holds: BoolArray = np.full(len(allowed), bool(expressions), dtype=np.bool_)
        for expression in expressions:
            holds &= nodes.label(expression.key).is_in(expression.values, rows)
        allowed |= holds
    return allowed
