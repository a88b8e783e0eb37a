"""The results of the commands of ``plugins``."""

from quaymaster._authors.packages.findings import Level
from quaymaster._cli.documents.parts import DocumentPart

__all__ = [
    "PackageDocument",
    "PackageFindingPart",
    "PluginArgumentPart",
    "PluginDocument",
    "PluginEventPart",
    "PluginHookPart",
    "PluginKindDocument",
    "PluginKindPart",
    "PluginRowDocument",
    "PluginWritePart",
]


class PluginRowDocument(DocumentPart, frozen=True):
    """An installed plugin; ``plugins list -o json`` prints a list of them.

    Attributes:
        name: Its name in profiles.
        distribution: The distribution that it comes from.
        version: The version of the distribution.
        origin: Where it comes from.
        extension_points: The extension points that it implements.
        events: What requeues the pods that it has rejected: list, all or unknown; null
            if nothing has to.
        kinds: The kinds of objects that it declares.
        args: The name of the class of its arguments; null if it has none.
    """

    name: str
    distribution: str
    version: str
    origin: str
    extension_points: list[str]
    events: str | None
    kinds: list[str]
    args: str | None


class PluginKindDocument(DocumentPart, frozen=True):
    """A kind of objects; ``plugins kinds -o json`` prints a list of them.

    Attributes:
        kind: The kind.
        api_version: Its API version.
        plugin: The plugin that declares it; null if a package offers it.
        distribution: The distribution that it comes from.
    """

    kind: str
    api_version: str
    plugin: str | None
    distribution: str


class PluginHookPart(DocumentPart, frozen=True):
    """A hook that a plugin implements.

    Attributes:
        name: The name of the hook.
        extension_point: Its extension point in profiles; null if it has none.
        twin: The batch twin that the plugin implements, too; null if it has none.
        wrapper: Whether it wraps the hook of others.
        since: The version that the hook exists since.
        deprecated: Why it is deprecated; null if it is not.
    """

    name: str
    extension_point: str | None
    twin: str | None
    wrapper: bool
    since: str
    deprecated: str | None


class PluginArgumentPart(DocumentPart, frozen=True):
    """An argument of a plugin.

    Attributes:
        path: Its path in the arguments.
        type: Its type.
        default: Its default; null if it has none.
        required: Whether it must be given.
    """

    path: str
    type: str
    default: str | None
    required: bool


class PluginEventPart(DocumentPart, frozen=True):
    """An event that requeues pods which the plugin has rejected.

    Attributes:
        resource: The resource.
        actions: The actions.
        hint: Whether a hint decides which pods it requeues.
    """

    resource: str
    actions: list[str]
    hint: bool


class PluginKindPart(DocumentPart, frozen=True):
    """A kind of objects.

    Attributes:
        kind: The kind.
        api_version: Its API version.
    """

    kind: str
    api_version: str


class PluginWritePart(DocumentPart, frozen=True):
    """A right to write, in the terms of RBAC.

    Attributes:
        verb: The verb.
        group: The group of the resource; empty for the core group.
        resource: The resource with its subresource, such as pods/binding.
    """

    verb: str
    group: str
    resource: str


class PluginDocument(DocumentPart, frozen=True):
    """A plugin: ``plugins show NAME -o json``.

    Attributes:
        name: Its name in profiles.
        summary: The first line of its documentation.
        distribution: The distribution that it comes from.
        version: The version of the distribution.
        origin: Where it comes from.
        scope: What its decisions about a node depend on; null if arguments decide it.
        pod_use: What it uses of other pods; null if arguments decide it.
        hooks: The hooks that it implements.
        arguments: Its arguments.
        events: What requeues the pods that it has rejected: list, all or unknown; null
            if nothing has to.
        registered: The events that it registers.
        kinds: The kinds of objects that it declares.
        reads: The kinds that it reads; null if it does not declare them.
        writes: What it writes; null if it does not declare that.
        contract_opt_outs: Check of the contract suite that it leaves out -> the reason.
    """

    name: str
    summary: str
    distribution: str
    version: str
    origin: str
    scope: str | None
    pod_use: str | None
    hooks: list[PluginHookPart]
    arguments: list[PluginArgumentPart]
    events: str | None
    registered: list[PluginEventPart]
    kinds: list[PluginKindPart]
    reads: list[PluginKindPart] | None
    writes: list[PluginWritePart] | None
    contract_opt_outs: dict[str, str]


class PackageFindingPart(DocumentPart, frozen=True):
    """A problem of a package.

    Attributes:
        level: The severity.
        check: The name of the check.
        where: The subject: a field of the metadata, a plugin, a hook.
        message: The problem and the expectation.
        example: The smallest cluster that shows it, an object a line.
    """

    level: Level
    check: str
    where: str
    message: str
    example: list[str]


class PackageDocument(DocumentPart, frozen=True):
    """The problems of a package of plugins: ``plugins check PACKAGE -o json``.

    Attributes:
        distribution: The name of the distribution.
        version: Its version.
        plugins: The plugins that it offers.
        kinds: The kinds that it offers.
        needs: The lowest version of the framework with all hooks and names that the
            code of the package uses.
        errors: How many errors there are.
        warnings: How many warnings there are.
        findings: The problems.
    """

    distribution: str
    version: str
    plugins: list[str]
    kinds: list[str]
    needs: str
    errors: int
    warnings: int
    findings: list[PackageFindingPart]
