"""The format of experiment files."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import each, integer, matching, non_empty, one_of

__all__ = [
    "API_VERSION",
    "KIND",
    "Document",
    "InputEntry",
    "MetricEntry",
    "Parameter",
    "ProfileEntry",
]

API_VERSION: Final = "simulation.quaymaster.io/v1alpha1"
KIND: Final = "Experiment"

_a_text: Final = non_empty()
_a_name: Final = matching(r"[A-Za-z][\w-]*", "a name of letters, digits, - and _")


@attrs.frozen(kw_only=True)
class InputEntry:
    """What runs begin with, and what arrives.

    Attributes:
        name: What it is called in the results.
        use: What makes it: a name that an installed distribution offers, such as
            ``manifests``, or a class as ``package.module:Class``.
        parameters: Its parameters.
    """

    name: str = attrs.field(validator=_a_name)
    use: str = attrs.field(default="manifests", validator=_a_text)
    parameters: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class ProfileEntry:
    """A configuration of the scheduler.

    Attributes:
        name: What it is called in the results.
        config: Its file, relative to the experiment, or the name of a profile that is
            shipped; by default the one that is called like it.
    """

    name: str = attrs.field(validator=_a_name)
    config: str | None = attrs.field(default=None, validator=_a_text)


@attrs.frozen(kw_only=True)
class Parameter:
    """What differs from run to run: each value is tried with all else.

    Attributes:
        name: What it is called in the results.
        config: The field of the configurations that it sets, such as
            ``profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight``: an
            element of a list is known by its number or by its name, and made if no
            element has that name.
        input: The parameter of the inputs that it sets.
        values: The values.
        only_for: The profiles, or the inputs, that have it; by default all.
    """

    name: str = attrs.field(validator=_a_name)
    config: str | None = attrs.field(default=None, validator=_a_text)
    input: str | None = attrs.field(default=None, validator=_a_text)
    values: tuple[object, ...]
    only_for: tuple[str, ...] = ()

    def validate(self) -> "Sequence[ArgsError]":
        """Check that it sets one thing, to something."""
        problems = []
        if (self.config is None) == (self.input is None):
            problems.append(ArgsError("", "expected either config or input"))
        if not self.values:
            problems.append(ArgsError("values", "expected at least one value"))
        return problems


@attrs.frozen(kw_only=True)
class MetricEntry:
    """What is measured.

    Attributes:
        name: What its columns are called.
        use: What measures it: a name that an installed distribution offers, or a class
            as ``package.module:Class``; by default what is called like it.
        parameters: Its parameters.
    """

    name: str = attrs.field(validator=_a_name)
    use: str | None = attrs.field(default=None, validator=_a_text)
    parameters: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Document:
    """An experiment: each input with each profile, each value and each seed.

    Attributes:
        api_version: The format's group and version.
        kind: The format's name.
        name: What it is called; by default the name of its file.
        description: What it is about.
        kubernetes_version: The Kubernetes whose scheduler decides, such as ``1.37``.
        feature_gates: Its feature gates that are set otherwise than by default.
        plugins: Plugins that no installed distribution offers: name -> class, as
            ``package.module:Class``.
        inputs: What runs begin with, and what arrives.
        profiles: The configurations of the scheduler.
        parameters: What else differs from run to run.
        seeds: Each decides what is random in a run: the choice between equally good
            nodes, generated names, and what the input draws.
        repetitions: How often each run is made, which is of use for times: all else is
            a function of the seed.
        metrics: What is measured.
    """

    api_version: str = attrs.field(validator=one_of(API_VERSION))
    kind: str = attrs.field(validator=one_of(KIND))
    name: str = ""
    description: str = ""
    kubernetes_version: str = DEFAULT_KUBERNETES.version
    feature_gates: Mapping[str, bool] = attrs.field(factory=dict)
    plugins: Mapping[str, str] = attrs.field(factory=dict)
    inputs: tuple[InputEntry, ...]
    profiles: tuple[ProfileEntry, ...] = (ProfileEntry(name="default"),)
    parameters: tuple[Parameter, ...] = ()
    seeds: tuple[int, ...] = attrs.field(default=(0,), validator=each(integer(0)))
    repetitions: int = attrs.field(default=1, validator=integer(1, 1_000_000))
    metrics: tuple[MetricEntry, ...]

    def validate(self) -> "Sequence[ArgsError]":
        """Check that there is something to do."""
        return [
            ArgsError(name, "expected at least one")
            for name in ("inputs", "profiles", "seeds", "metrics")
            if not getattr(self, name)
        ]
