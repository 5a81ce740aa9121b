"""Extensions: objects that are looked up by a name, shipped with hipo or supplied by a plugin.

An *extension point* is a kind of thing that can be added: a strategy, a gate, a row format. What
ships is listed as ``name -> "module:object"`` and imported when it is first used; what does not
ship comes from a plugin (see :mod:`scenarios.plugins`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from scenarios.errors import HipoError, UsageError
from scenarios.extension_fields import wrong_fields
from scenarios.plugins import PLUGINS, Extension, Plugin, PointName, place_of
from scenarios.spelling import suggestion
from scenarios.text_file import typed_path

E = TypeVar("E", bound=Extension)


class ExtensionPoint(Generic[E]):
    """All extensions of one kind, by name.

    Args:
        name: the point, e.g. ``gate``.
        kind: the class that its extensions are instances of.
        shipped: what comes with hipo, in the order of listings: ``"module:object"`` by name, or
            the object itself where it imports nothing.
    """

    def __init__(self, name: PointName, kind: type[Any], shipped: Mapping[str, str | E]) -> None:
        self.name = name
        self.shipped = tuple(shipped)
        """The names that ship; reading them imports nothing."""
        self._kind = kind
        self._shipped = dict(shipped)
        self._checked: list[Extension] = []
        """Extensions of plugins that have been looked at."""

    def get(self, name: str) -> E:
        """Return the extension of that name, importing it if it ships.

        Raises:
            UsageError: there is none, two have the name, or it is of the wrong class.
        """
        extension = self.find(name)
        if extension is None:
            raise self.unknown(name)
        return extension

    def find(self, name: str) -> E | None:
        """Return the extension of that name, or None; otherwise as :meth:`get`."""
        added = self._from_plugins()
        if name in self._shipped:
            return self._from_house(name)
        if name not in added:
            PLUGINS.load_rest()
            added = self._from_plugins()
        return added[name][0] if name in added else None

    def names(self) -> tuple[str, ...]:
        """Return every name there is; this imports the installed plugins, not what ships.

        Raises:
            UsageError: a plugin cannot be imported, or two have an extension of the same name.
        """
        PLUGINS.load_rest()
        return (*self._shipped, *self._from_plugins())

    def plugin(self, name: str) -> Plugin | None:
        """Return the plugin that an extension comes from, or None for one that ships."""
        if name in self._shipped:
            return None
        self.get(name)
        return self._from_plugins()[name][1]

    def identity(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return origin and fingerprint of the plugins behind these names; none for what ships."""
        plugins = {name: self.plugin(name) for name in names}
        return {name: plugin.identity() for name, plugin in sorted(plugins.items()) if plugin}

    def unknown(self, name: str) -> UsageError:
        """Return the error for a name that nothing has, with the nearest name there is."""
        listing = suggestion(name, self.names(), listing=f"{self.name} names")
        return UsageError(f"there is no {self.name} {name!r}", f"{listing}; {self.origin_hint()}")

    def origin_hint(self) -> str:
        """Say where one that is not known could come from: a file that the run names, or a plugin."""
        named = [
            f"the run names the plugin {path}: if you trust it, --plugin {typed_path(path)}"
            for path in PLUGINS.stored
            if path not in PLUGINS.files
        ]
        article = "an" if self.name.startswith("e") else "a"
        own = f"{article} {self.name} of your own comes with --plugin FILE or an installed package"
        return "; ".join(named or [own])

    def _from_house(self, name: str) -> E:
        shipped = self._shipped[name]
        if isinstance(shipped, str):
            shipped = self._shipped[name] = cast("E", imported(shipped))
        return shipped

    def _from_plugins(self) -> dict[str, tuple[E, Plugin]]:
        """Return what the plugins loaded so far add to this point, checked."""
        added: dict[str, tuple[E, Plugin]] = {}
        for plugin in PLUGINS:
            for extension in plugin.extensions:
                if extension.point != self.name:
                    continue
                if extension.name in self._shipped:
                    raise UsageError(
                        f"{plugin.origin} adds the {self.name} {extension.name!r},"
                        " and hipo has one of that name",
                        "rename yours",
                    )
                if not any(extension is known for known in self._checked):
                    self._check(extension, plugin)
                    self._checked.append(extension)
                added[extension.name] = (cast("E", extension), plugin)
        return added

    def _check(self, extension: Extension, plugin: Plugin) -> None:
        """Refuse an extension of another class, or with a field that its class does not allow."""
        who = f"{plugin.origin}: the {self.name} {extension.name!r}"
        if not isinstance(extension, self._kind):
            raise UsageError(
                f"{who} is of the class {type(extension).__name__}",
                f"it must be a {self._kind.__module__}.{self._kind.__name__}",
            )
        for field, value, annotation in wrong_fields(extension, self._kind):
            raise UsageError(
                f"{who}: found {value!r:.100} as {field}, expected {annotation}",
                f"see {self._kind.__module__}.{self._kind.__name__}",
            )


@contextmanager
def told_of_plugin(point: ExtensionPoint[Any], name: str) -> Iterator[None]:
    """Tell what goes wrong within as a mistake of the plugin that the extension comes from.

    What ships is not touched: its mistakes are ours.

    Raises:
        UsageError: with the file and line of the plugin's own code, where it went wrong in there.
    """
    try:
        yield
    except HipoError:
        raise
    except (Exception, SystemExit) as error:
        plugin = point.plugin(name)
        if plugin is None:
            raise
        raise UsageError(
            f"the {point.name} {name!r} of the plugin {plugin.origin} does not work:"
            f" {place_of(error)}{type(error).__name__}: {error}",
            "mend it, or leave it out",
        ) from error


def imported(address: str) -> Any:
    """Import ``module:object`` and return the object."""
    module, _, attribute = address.partition(":")
    return getattr(import_module(module), attribute)
