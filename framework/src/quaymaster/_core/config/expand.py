"""Lists the plugins of every extension point, from the plugins of a profile.

Mirrors ``expandMultiPointPlugins``, ``updatePluginList`` and ``getValidScoreWeights``
(Kubernetes v1.36, ``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.merge import Entry, EntrySet, EntrySets
from quaymaster._core.config.model import EnabledPlugin
from quaymaster._core.config.points import MULTI_POINT, POINTS
from quaymaster._core.contract.extension_points import ExtensionPoint
from quaymaster._core.registry.registered import RegisteredPlugin

__all__ = ["expand"]


def expand(
    sets: EntrySets,
    plugins: Mapping[str, RegisteredPlugin],
    findings: Findings,
    kubernetes: Kubernetes,
) -> dict[str, tuple[EnabledPlugin, ...]]:
    """List the plugins of each extension point, in the order of their calls.

    Args:
        sets: The sets of the profile, merged with the defaults. They enable only
            plugins of ``plugins``.
        plugins: The plugins that can be loaded, by name.
        findings: Collects plugins at extension points that they do not implement.
        kubernetes: The version of Kubernetes whose hooks exist.
    """
    everywhere = sets[MULTI_POINT].enabled
    return {
        key: _Expansion(
            point, sets[key], everywhere, plugins, findings, kubernetes
        ).plugins()
        for key, point in POINTS.items()
    }


class _Expansion(msgspec.Struct, frozen=True):
    point: ExtensionPoint
    own: EntrySet
    everywhere: Sequence[Entry]
    usable: Mapping[str, RegisteredPlugin]
    findings: Findings
    kubernetes: Kubernetes

    def plugins(self) -> tuple[EnabledPlugin, ...]:
        """Return the plugins of the point.

        First come the point's own plugins that override ``multiPoint``, then the others
        of ``multiPoint``, then the rest. A plugin of ``multiPoint`` that the point
        lists itself has the position and the weight of the point's list.
        """
        if self.point.gate and not self.kubernetes.enabled(self.point.gate):
            return ()
        own = self._listed()
        added = self._added(own)
        inherited = {entry.name for entry in self._inherited()}
        return tuple(
            EnabledPlugin(name=name, weight=self._weight(name))
            for name in (
                *(name for name in own if name in inherited),
                *added,
                *(name for name in own if name not in inherited),
            )
        )

    def _listed(self) -> Sequence[str]:
        """Return the plugins that the point lists itself."""
        for entry in self.own.enabled:
            plugin = self.usable[entry.name]
            if not plugin.extends(self.point.key, self.kubernetes):
                points = ", ".join(
                    point.key for point in plugin.extension_points if point.key
                )
                self._note(
                    entry,
                    f"plugin {entry.name!r} does not implement {self.point.key} (it "
                    f"implements: {points or 'nothing'})",
                )
        return self._once(self.own.enabled)

    def _added(self, own: Sequence[str]) -> Sequence[str]:
        """Return the plugins that only ``multiPoint`` enables here."""
        return self._once(entry for entry in self._inherited() if entry.name not in own)

    def _inherited(self) -> Sequence[Entry]:
        """Return the entries of ``multiPoint`` that apply to this point."""
        if self.own.disables_all:
            # As in ``expandMultiPointPlugins``: ``*`` keeps the plugins of
            # ``multiPoint`` out of this point, but not those that the point itself
            # enables.
            return ()
        return [
            entry
            for entry in self.everywhere
            if self.usable[entry.name].extends(self.point.key, self.kubernetes)
            and not self.own.disables(entry.name)
        ]

    def _once(self, entries: Iterable[Entry]) -> Sequence[str]:
        names: dict[str, Entry] = {}
        for entry in entries:
            first = names.setdefault(entry.name, entry)
            # Identity: the same plugin may be listed twice by equal entries.
            if first is not entry:
                where = first.path.removesuffix(".name")
                message = f"plugin {entry.name!r} is enabled already, by {where}"
                self._note(entry, message)
        return list(names)

    def _weight(self, name: str) -> int:
        if not self.point.weighted:
            return 1
        # The point's own list first, so that its weight overrides that of
        # ``multiPoint``. Upstream replaces a weight of 0 by 1 and does not switch the
        # plugin off (``getValidScoreWeights``).
        for entry in (*self.own.enabled, *self.everywhere):
            if entry.name == name:
                return entry.weight or 1
        return 1

    def _note(self, entry: Entry, message: str) -> None:
        self.findings.add(entry.path, message, entry.source)
