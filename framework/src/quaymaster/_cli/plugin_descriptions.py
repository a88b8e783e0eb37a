"""Prints the description of a plugin, as tables or as plain data."""

from collections.abc import Sequence

from quaymaster._api.objects import ApiObject
from quaymaster._authors.packages.description import PluginDescription
from quaymaster._authors.packages.events import EventsDeclaration
from quaymaster._cli.output import print_line, print_table
from quaymaster._core.contract.declarations import Write
from quaymaster._core.contract.hook_marks import HookAge

__all__ = ["as_document", "events_word", "kind_names", "print_description"]


def kind_names(kinds: Sequence[type[ApiObject]]) -> list[str]:
    """The kinds as messages name them: ``PodGroup (scheduling.x-k8s.io/v1alpha1)``."""
    return [f"{kind.kind} ({kind.api_version})" for kind in kinds]


def events_word(declaration: EventsDeclaration) -> str | None:
    """The word of JSON documents for a declaration."""
    words = {EventsDeclaration.UNNEEDED: None, EventsDeclaration.UNKNOWN: "unknown"}
    return words.get(declaration, declaration.value)


def print_description(description: PluginDescription) -> None:
    """Print a plugin: its distribution, hooks, arguments and events."""
    print_line(
        f"{description.plugin.name}: {description.summary}"
        if description.summary
        else description.plugin.name
    )
    facts = {
        "DISTRIBUTION": description.plugin.owner,
        "ORIGIN": description.plugin.origin,
        "SCOPE": description.scope.value if description.scope else "?",
        "POD USE": description.pod_use.value if description.pod_use else "?",
        "EVENTS": description.declaration.value,
        "KINDS": ", ".join(kind_names(description.kinds)) or "-",
        "READS": _listed(
            None if description.reads is None else kind_names(description.reads)
        ),
        "WRITES": _listed(
            None if description.writes is None else _write_names(description.writes)
        ),
    }
    print_line()
    width = max(map(len, facts)) + 3
    for name, fact in facts.items():
        print_line(f"{name:<{width}}{fact}")
    for columns, rows in _tables(description):
        if rows:
            print_line()
            print_table(columns, rows)


def _listed(words: Sequence[str] | None) -> str:
    return "not declared" if words is None else ", ".join(words) or "-"


def _write_names(writes: Sequence[Write]) -> list[str]:
    """The writes in the terms of RBAC: ``create pods/binding``."""
    return [f"{write.verb.value} {write.resource}" for write in writes]


def _tables(
    description: PluginDescription,
) -> Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]:
    hooks = [
        (
            hook.name + (" (wrapper)" if hook.wraps else ""),
            hook.point or "-",
            hook.twin or "-",
            _age(hook.age),
        )
        for hook in description.hooks
    ]
    arguments = [
        (argument.path, argument.type, _default(argument.default, argument.required))
        for argument in description.arguments
    ]
    events = [
        (event.resource, ", ".join(event.actions), "yes" if event.has_hint else "-")
        for event in description.events
    ]
    return (
        (("HOOK", "EXTENSION POINT", "TWIN", "SINCE"), hooks),
        (("ARGUMENT", "TYPE", "DEFAULT"), arguments),
        (("EVENT OF", "ACTIONS", "HINT"), events),
        (("CHECK LEFT OUT", "REASON"), list(description.opt_outs.items())),
    )


def _age(age: HookAge) -> str:
    return f"{age.since} ({age.deprecated})" if age.deprecated else age.since


def _default(default: str, required: bool) -> str:
    return "(required)" if required else default or "-"


def as_document(description: PluginDescription) -> dict[str, object]:
    """The description, in the form of ``-o json``."""
    return {
        "name": description.plugin.name,
        "summary": description.summary,
        "distribution": description.plugin.distribution,
        "version": description.plugin.version,
        "origin": description.plugin.origin,
        "scope": description.scope.value if description.scope else None,
        "podUse": description.pod_use.value if description.pod_use else None,
        "hooks": [
            {
                "name": hook.name,
                "extensionPoint": hook.point or None,
                "twin": hook.twin or None,
                "wrapper": hook.wraps,
                "since": hook.age.since,
                "deprecated": str(hook.age.deprecated) if hook.age.deprecated else None,
            }
            for hook in description.hooks
        ],
        "arguments": [
            {
                "path": argument.path,
                "type": argument.type,
                "default": argument.default or None,
                "required": argument.required,
            }
            for argument in description.arguments
        ],
        "events": events_word(description.declaration),
        "registered": [
            {
                "resource": event.resource,
                "actions": list(event.actions),
                "hint": event.has_hint,
            }
            for event in description.events
        ],
        "kinds": _kinds(description.kinds),
        "reads": None if description.reads is None else _kinds(description.reads),
        "writes": None
        if description.writes is None
        else list(map(_write, description.writes)),
        "contractOptOuts": dict(description.opt_outs),
    }


def _kinds(kinds: Sequence[type[ApiObject]]) -> list[dict[str, str]]:
    return [{"kind": kind.kind, "apiVersion": kind.api_version} for kind in kinds]


def _write(write: Write) -> dict[str, str]:
    return {
        "verb": write.verb.value,
        "group": write.group,
        "resource": write.resource,
    }
