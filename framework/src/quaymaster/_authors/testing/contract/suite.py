"""The public calls of the contract suite."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.argument_effects import without_effect
from quaymaster._authors.testing.contract.bench import HookFailedError
from quaymaster._authors.testing.contract.blocking import stopping_blocking_calls
from quaymaster._authors.testing.contract.check import Check, Finding
from quaymaster._authors.testing.contract.checks import CHECKS
from quaymaster._authors.testing.contract.effects import (
    EFFECTS,
    effects_of,
    vacuous_effects,
    warn_of,
)
from quaymaster._authors.testing.contract.own_features import checked_features
from quaymaster._authors.testing.contract.quiet_logs import quiet_logs
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject, declared_opt_outs
from quaymaster._authors.testing.contract_error import (
    ClustersError,
    ContractError,
    Violation,
)
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.missing_packages import not_installed
from quaymaster._base.suggestions import did_you_mean
from quaymaster._base.versions.kubernetes import (
    DEFAULT_KUBERNETES,
    KUBERNETES_VERSIONS,
    Kubernetes,
)

if TYPE_CHECKING:  # it is an optional dependency
    from hypothesis.strategies import SearchStrategy

__all__ = [
    "MissingHypothesisError",
    "PluginContract",
    "StableRun",
    "check_plugin",
    "clusters",
    "nodes",
    "pods",
    "stable_run",
]

_NOTHING = SmallCluster()


class MissingHypothesisError(QuaymasterError, ImportError):
    """The contract suite was used without hypothesis, which draws its clusters."""

    def __init__(self) -> None:
        super().__init__(not_installed(["hypothesis"], "testing"))


def pods(*features: object) -> "SearchStrategy[Pod]":
    """Draw pods with a few of many features: labels, requests, affinity, claims...

    A pod gets up to two of your features, and up to seven that are drawn from yours and
    about forty usual ones. A single feature of yours is on two thirds of the pods; of
    two, each is on two fifths. With more features, each becomes rarer. If every pod
    needs a feature, use ``hypothesis.strategies.builds(make_pod, ...)``.

    Args:
        *features: Your features: dicts with arguments of `make_pod`, such as
            ``{"labels": {"tier": "gold"}}``. Of two values for one label, the later
            one wins.

    Returns:
        A strategy, for the argument ``pods`` of `clusters`. Names and nodes of the pods
        are set there.

    Raises:
        MissingHypothesisError: hypothesis is not installed.
        TypeError: A feature is not a dict, or has an argument that `make_pod` does not
            have.
    """
    _need_hypothesis()
    from quaymaster._authors.testing.contract.strategies import draw_pods  # noqa: PLC0415

    return draw_pods(checked_features("pods", make_pod, features))


def nodes(*features: object) -> "SearchStrategy[Node]":
    """Draw nodes with a few of many features: labels, taints, capacities, images...

    Features are chosen as by `pods`; here twenty are those of this module.

    Args:
        *features: Your features: dicts with arguments of `make_node`, such as
            ``{"labels": {"disk": "ssd"}}``.

    Returns:
        A strategy, for the argument ``nodes`` of `clusters`, which sets the names.

    Raises:
        MissingHypothesisError: hypothesis is not installed.
        TypeError: A feature is not a dict, or has an argument that `make_node` does not
            have.
    """
    _need_hypothesis()
    from quaymaster._authors.testing.contract.strategies import draw_nodes  # noqa: PLC0415

    return draw_nodes(checked_features("nodes", make_node, features))


def clusters(
    *,
    nodes: "SearchStrategy[Node] | None" = None,
    pods: "SearchStrategy[Pod] | None" = None,
    objects: "SearchStrategy[ApiObject] | None" = None,
) -> "SearchStrategy[SmallCluster]":
    """Draw clusters of one to four nodes, with pods on them and pods that wait.

    Return it from `PluginContract.clusters`, or pass it to `check_plugin`.

    Args:
        nodes: Draws the nodes, such as `nodes` with your labels. They are called ``n0``
            to ``n3``, whatever their names were.
        pods: Draws up to four pods on nodes and two or three pending ones, such as
            `pods` with your labels. Their names and nodes are set.
        objects: Draws up to six other objects, such as those of your own kinds; by
            default claims, volumes, namespaces and services.

    Returns:
        A strategy of hypothesis.

    Raises:
        MissingHypothesisError: hypothesis is not installed.
    """
    _need_hypothesis()
    from quaymaster._authors.testing.contract.strategies import (  # noqa: PLC0415
        draw_clusters,
        draw_nodes,
        draw_pods,
    )

    return draw_clusters(
        draw_nodes() if nodes is None else nodes,
        draw_pods() if pods is None else pods,
        objects,
    )


def check_plugin(
    plugin: type,
    *,
    args: Mapping[str, object] | None = None,
    objects: Iterable[ApiObject] = (),
    clusters: "SearchStrategy[SmallCluster] | None" = None,
    opt_outs: Mapping[str, str] | None = None,
    kubernetes: Iterable[Kubernetes] = (),
) -> None:
    """Check that a plugin keeps the contract of plugins.

    It returns nothing if all is well. In a file of tests, `PluginContract` has a test
    for each check, with the same arguments as attributes.

    Args:
        plugin: Its class.
        args: Its arguments, as under ``pluginConfig[].args`` of a configuration file;
            None for its defaults.
        objects: The objects that the cluster always has.
        clusters: Draws the clusters to try, see `clusters`.
        opt_outs: The checks that it may fail -> why, in addition to those that the
            class itself declares: ``contract_opt_outs = {"events": "as upstream's"}``.
        kubernetes: The versions to simulate; by default the newest version, and the
            others as well if the plugin reads the version, as with `Handle.kubernetes`.

    Raises:
        ContractError: A check failed; the message has a line for each failed check,
            with a small example.
        MissingHypothesisError: hypothesis is not installed.
        ValueError: There is no such check to opt out of, or no reason is given.
    """
    subject = Subject(plugin=plugin, args=args, objects=tuple(objects))
    chosen = _chosen(plugin, opt_outs or {})
    violations = list(_violations(subject, chosen, clusters, tuple(kubernetes)))
    if violations:
        raise ContractError(violations)
    if EFFECTS in chosen:
        warn_of(subject, stacklevel=2)


@attrs.frozen
class StableRun:
    """The result of the contract suite on the same clusters each time.

    Attributes:
        violations: The violations.
        vacuous: The hooks that had no effect on any cluster, with what they did.
    """

    violations: Sequence[Violation]
    vacuous: Sequence[str]


def stable_run(
    plugin: type,
    args: Mapping[str, object] | None,
    opt_outs: Mapping[str, str],
    kubernetes: Sequence[Kubernetes] = (),
    *,
    objects: Iterable[ApiObject] = (),
    clusters: "SearchStrategy[SmallCluster] | None" = None,
) -> StableRun:
    """Check a plugin on the same clusters each time.

    Args:
        plugin: Its class.
        args: Its arguments, as in a configuration file.
        opt_outs: The checks that it may fail -> why, in addition to those that the
            class declares.
        kubernetes: The versions to simulate, as in `check_plugin`.
        objects: The objects that the cluster always has.
        clusters: Draws the clusters to try, see `clusters`.

    Raises:
        MissingHypothesisError: hypothesis is not installed.
        ValueError: There is no such check to opt out of.
    """
    _need_hypothesis()
    subject = Subject(plugin=plugin, args=args, objects=tuple(objects))
    chosen = _chosen(plugin, opt_outs)
    violations = list(_violations(subject, chosen, clusters, kubernetes, stable=True))
    vacuous = vacuous_effects(subject) if EFFECTS in chosen else ()
    return StableRun(violations, vacuous)


def _violations(
    subject: Subject,
    checks: Iterable[Check],
    clusters: "SearchStrategy[SmallCluster] | None",
    kubernetes: Sequence[Kubernetes] = (),
    *,
    stable: bool = False,
) -> Iterator[Violation]:
    subjects = _Subjects(subject, kubernetes)
    for variant in subjects:
        try:
            _ = variant.config
        except QuaymasterError as error:
            yield _violation("loading", variant, Finding("", f"{error}"))
            return
    for check in checks:
        yield from islice(_of_check(check, subjects, clusters, stable=stable), 1)


class _Subjects:
    """A plugin with each version of Kubernetes to simulate.

    By default, these are the newest version and, if the plugin is found to depend on
    versions, the others. The plugin may have to run before that is clear.

    Args:
        subject: The plugin.
        kubernetes: The chosen versions; empty for the default.
    """

    def __init__(self, subject: Subject, kubernetes: Sequence[Kubernetes]) -> None:
        self._is_chosen = bool(kubernetes)
        versions = kubernetes or [*map(Kubernetes, reversed(KUBERNETES_VERSIONS))]
        self._all = [attrs.evolve(subject, kubernetes=version) for version in versions]

    def __iter__(self) -> Iterator[Subject]:
        newest, *others = self._all
        yield newest
        if self._is_chosen or newest.knows_versions:
            yield from others


def _of_check(
    check: Check,
    subjects: Iterable[Subject],
    clusters: "SearchStrategy[SmallCluster] | None",
    *,
    stable: bool,
) -> Iterator[Violation]:
    for subject in subjects:
        if check.is_about(subject):
            with stopping_blocking_calls(subject.plugin), quiet_logs():
                finding = _finding_of(check, subject, clusters, stable=stable)
            if finding is not None:
                yield _violation(check.name, subject, finding)


def _violation(check: str, subject: Subject, finding: Finding) -> Violation:
    is_usual = subject.kubernetes == DEFAULT_KUBERNETES
    return Violation(
        check=check,
        plugin=subject.name,
        hook=finding.hook,
        problem=finding.problem,
        example=finding.example,
        kubernetes="" if is_usual else str(subject.kubernetes),
    )


def _finding_of(
    check: Check,
    subject: Subject,
    clusters: "SearchStrategy[SmallCluster] | None",
    *,
    stable: bool,
) -> Finding | None:
    if check.needs_clusters:
        _need_hypothesis()
        from quaymaster._authors.testing.contract.running import (  # noqa: PLC0415
            default_clusters,
            find,
        )

        drawn = default_clusters() if clusters is None else clusters
        return find(check, subject, drawn, stable=stable)
    try:
        check.ask(subject, _NOTHING, _NOTHING)
    except Finding as finding:
        return finding
    except HookFailedError:
        pass  # another check reports failures
    return None


def _chosen(plugin: type, opt_outs: Mapping[str, str]) -> Sequence[Check]:
    opt_outs = {**declared_opt_outs(plugin), **opt_outs}
    for name, reason in opt_outs.items():
        if name not in CHECKS:
            names = ", ".join(CHECKS)
            hint = did_you_mean(name, CHECKS)
            raise ValueError(f"no check '{name}' (there are: {names}){hint}")
        if not reason:
            raise ValueError(f"opting out of '{name}' needs a reason")
    return [check for name, check in CHECKS.items() if name not in opt_outs]


def _need_hypothesis() -> None:
    try:
        import hypothesis  # noqa: F401, PLC0415
    except ModuleNotFoundError:
        raise MissingHypothesisError from None


class PluginContract:
    """The contract suite as a test class: a subclass is a test of one plugin.

    ::

        class TestMyPlugin(PluginContract):
            plugin = MyPlugin

    pytest then runs ``test_contract`` once for each check that applies to this plugin.

    Of what is logged meanwhile, the report shows the first record of each line of code,
    and none about a call that the suite lets fail. To see all, add a handler to the
    plugin's own logger.

    The subclass can set `args`, `objects`, `opt_outs` and `kubernetes`, too, and return
    its own `clusters`. A plugin that reads labels needs clusters with these labels.
    """

    _without_clusters: ClassVar[set[type]] = set()
    """The classes whose clusters cannot be drawn."""

    @property
    def plugin(self) -> type:
        """The plugin's class.

        Raises:
            ContractError: The subclass does not set it.
        """
        raise ContractError(f"{type(self).__name__}: set plugin = YourPlugin")

    @property
    def args(self) -> Mapping[str, object] | None:
        """Its arguments, as under ``pluginConfig[].args``; None for its defaults."""
        return None

    @property
    def objects(self) -> Sequence[ApiObject]:
        """The objects that every cluster has, such as a class that pods refer to."""
        return ()

    @property
    def opt_outs(self) -> Mapping[str, str]:
        """The checks that it may fail -> why, besides those that its class declares."""
        return {}

    @property
    def kubernetes(self) -> Sequence[Kubernetes]:
        """The versions to simulate, as in `check_plugin`."""
        return ()

    def clusters(self) -> "SearchStrategy[SmallCluster]":
        """Return the clusters to try, see `quaymaster.testing.clusters`."""
        return clusters()

    def pytest_generate_tests(self, metafunc: Any) -> None:  # noqa: ANN401 - pytest's
        """Make a test of each check."""
        if "check" in metafunc.fixturenames:
            subject = self._subject()
            names = ["loading"]
            chosen = _chosen(self.plugin, self.opt_outs)
            names += [check.name for check in chosen if check.is_about(subject)]
            metafunc.parametrize("check", names)

    def test_contract(self, check: str) -> None:
        """Run one check on the plugin."""
        checks = [CHECKS[check]] if check in CHECKS else []
        subject = self._subject()
        try:
            clusters = self._own_clusters()
            violations = list(_violations(subject, checks, clusters, self.kubernetes))
        except ClustersError:
            self._report_once()
            raise
        if violations:
            raise ContractError(violations)
        for what, count in (+subject.exercised).items():
            print(f"{check}: compared {count} {what}")  # noqa: T201 - a test prints
        if EFFECTS in checks:
            # pytest shows it with -rP, or with -s.
            lines = [*map(str, effects_of(subject)), *without_effect(subject)]
            print("\n".join(lines))  # noqa: T201 - a test prints
            warn_of(subject, stacklevel=1)

    def _own_clusters(self) -> "SearchStrategy[SmallCluster]":
        try:
            return self.clusters()
        except Exception as error:
            if isinstance(error, MissingHypothesisError):
                raise
            raise ClustersError(error) from error

    def _report_once(self) -> None:
        """Skip the test if another one of its class has failed with the same error."""
        import pytest  # noqa: PLC0415 - only tests need it

        if type(self) in self._without_clusters:
            pytest.skip("no clusters to try, as another test of this class reports")
        self._without_clusters.add(type(self))

    def _subject(self) -> Subject:
        return Subject(plugin=self.plugin, args=self.args, objects=tuple(self.objects))
