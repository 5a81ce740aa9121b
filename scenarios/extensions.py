"""Extensions: objects that are looked up by a name, shipped with hipo or supplied by a plugin.

An *extension point* is a kind of thing that can be added (a strategy, a gate, a row format). What
ships is listed as ``name -> "module:object"`` and imported when it is first used. What does not
ship comes from a *plugin*: a Python file named with ``--plugin FILE`` or in the recipe, or an
installed package with an entry point in the group ``hipo.plugins``. Both hold a sequence
``EXTENSIONS`` of objects that say which point they belong to and which name they have.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    cast,
    get_args,
    runtime_checkable,
)

from scenarios.errors import UsageError
from scenarios.spelling import suggestion

PointName = Literal[
    "strategy", "critic", "gate", "judge", "provider", "export kind", "export format"
]
POINT_NAMES: Final[tuple[PointName, ...]] = get_args(PointName)
ENTRY_POINT_GROUP: Final = "hipo.plugins"


@runtime_checkable
class Extension(Protocol):
    """What an object must say of itself to be listed in ``EXTENSIONS``."""

    @property
    def point(self) -> PointName:
        """The extension point it belongs to."""

    @property
    def name(self) -> str:
        """The name it is looked up by; unique within its point."""


E = TypeVar("E", bound=Extension)


@dataclass(frozen=True, slots=True)
class Plugin:
    """Where extensions that do not ship come from; its code is never stored."""

    origin: str
    """The file name, or the name and version of the installed package."""
    fingerprint: str
    """SHA-256 of the file's content, or of the package's name and version."""
    path: Path | None
    """The file; None for an installed package."""
    extensions: tuple[Extension, ...]

    def identity(self) -> dict[str, str]:
        """Return what is recorded of it, as plain data."""
        return {"origin": self.origin, "fingerprint": self.fingerprint}


@dataclass(slots=True)
class Plugins:
    """The plugins of this process: files as they are named, packages when they are needed."""

    files: dict[Path, Plugin] = field(default_factory=dict)
    packages: tuple[Plugin, ...] | None = None
    """None until the entry points have been read."""

    def load_file(self, file: str | Path) -> Plugin:
        """Run a plugin file, once for each content it has.

        Raises:
            UsageError: there is no such file, it does not run, or it declares nothing usable.
        """
        path = Path(file).resolve()
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"cannot read the plugin {file}: {error.strerror}", "give --plugin a Python file"
            ) from error
        digest = hashlib.sha256(content).hexdigest()
        loaded = self.files.get(path)
        if loaded is None or loaded.fingerprint != digest:
            module = _run_file(path, content, digest)
            loaded = Plugin(path.name, digest, path, _declared(module, str(file)))
            others = [plugin for plugin in self.files.values() if plugin.path != path]
            _refuse_duplicates([*others, *(self.packages or ()), loaded])
            self.files[path] = loaded
        return loaded

    def load_packages(self) -> None:
        """Import what installed packages offer, the first time that this is called.

        Raises:
            UsageError: a package cannot be imported, or declares nothing usable.
        """
        if self.packages is None:
            found = sorted(
                entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (point.value, point.name)
            )
            packages = tuple(_from_entry_point(entry_point) for entry_point in found)
            _refuse_duplicates([*self.files.values(), *packages])
            self.packages = packages

    def __iter__(self) -> Iterator[Plugin]:
        """Return the plugins loaded so far."""
        return iter([*self.files.values(), *(self.packages or ())])


PLUGINS: Final = Plugins()


def load_plugins(files: Iterable[str | Path]) -> None:
    """Run plugin files, so that their extensions can be used by name in this process.

    A file is run once, however often it is named; a file that has changed replaces itself. Nothing
    is put on ``sys.path``: a plugin of several modules is an installed package.

    Raises:
        UsageError: a file does not run, or two plugins have an extension of the same name.
    """
    for file in files:
        PLUGINS.load_file(file)


class ExtensionPoint(Generic[E]):
    """All extensions of one kind, by name.

    Args:
        name: the point, e.g. ``gate``.
        kind: the class that its extensions are instances of.
        shipped: what comes with hipo, as ``name -> "module:object"``, in the order of listings.
    """

    def __init__(self, name: PointName, kind: type[Any], shipped: Mapping[str, str]) -> None:
        self.name = name
        self.shipped = tuple(shipped)
        """The names that ship; reading them imports nothing."""
        self._kind = kind
        self._addresses = dict(shipped)
        self._imported: dict[str, E] = {}

    def get(self, name: str) -> E:
        """Return the extension of that name, importing it if it ships.

        Raises:
            UsageError: there is none, two have the name, or it is of the wrong class.
        """
        plugin_extensions = self._from_plugins()
        if name in self._addresses:
            return self._shipped(name)
        if name not in plugin_extensions:
            PLUGINS.load_packages()
            plugin_extensions = self._from_plugins()
        if name not in plugin_extensions:
            raise self.unknown(name)
        return plugin_extensions[name][0]

    def names(self) -> tuple[str, ...]:
        """Return every name there is; this imports the installed plugins, not what ships.

        Raises:
            UsageError: a plugin cannot be imported, or two have an extension of the same name.
        """
        PLUGINS.load_packages()
        return (*self._addresses, *self._from_plugins())

    def plugin(self, name: str) -> Plugin | None:
        """Return the plugin that an extension comes from, or None for one that ships."""
        if name in self._addresses:
            return None
        self.get(name)
        return self._from_plugins()[name][1]

    def identity(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return origin and fingerprint of the plugins behind these names; none for what ships."""
        plugins = {name: self.plugin(name) for name in names}
        return {name: plugin.identity() for name, plugin in sorted(plugins.items()) if plugin}

    def unknown(self, name: str) -> UsageError:
        """Return the error for a name that nothing has, with the nearest name there is."""
        article = "an" if self.name.startswith("e") else "a"
        return UsageError(
            f"there is no {self.name} {name!r}",
            f"{suggestion(name, self.names(), listing=f'{self.name} names')};"
            f" {article} {self.name} of your own comes with --plugin FILE",
        )

    def _shipped(self, name: str) -> E:
        if name not in self._imported:
            module, _, attribute = self._addresses[name].partition(":")
            self._imported[name] = cast("E", getattr(import_module(module), attribute))
        return self._imported[name]

    def _from_plugins(self) -> dict[str, tuple[E, Plugin]]:
        """Return what the plugins loaded so far add to this point, checked."""
        added: dict[str, tuple[E, Plugin]] = {}
        for plugin in PLUGINS:
            for extension in plugin.extensions:
                if extension.point != self.name:
                    continue
                if extension.name in self._addresses:
                    raise UsageError(
                        f"{plugin.origin} adds the {self.name} {extension.name!r},"
                        " and hipo has one of that name",
                        "rename yours",
                    )
                if not isinstance(extension, self._kind):
                    raise UsageError(
                        f"{plugin.origin}: the {self.name} {extension.name!r} is of the class"
                        f" {type(extension).__name__}",
                        f"it must be a {self._kind.__module__}.{self._kind.__name__}",
                    )
                added[extension.name] = (cast("E", extension), plugin)
        return added


def _refuse_duplicates(plugins: Iterable[Plugin]) -> None:
    """Refuse a name that is given twice within a point, by two plugins or by one."""
    origins: dict[tuple[str, str], Plugin] = {}
    for plugin in plugins:
        for extension in plugin.extensions:
            key = (extension.point, extension.name)
            if key in origins:
                raise UsageError(
                    f"the {extension.point} {extension.name!r} is in {_place(origins[key])}"
                    f" and in {_place(plugin)}",
                    "rename one of them, or leave one plugin out",
                )
            origins[key] = plugin


def _place(plugin: Plugin) -> str:
    return str(plugin.path or plugin.origin)


class _ContentLoader(SourceLoader):
    """Compiles the content that was fingerprinted; writes no bytecode beside a user's file."""

    def __init__(self, path: Path, content: bytes) -> None:
        self._path = path
        self._content = content

    def get_filename(self, fullname: str) -> str:
        """Return the path that error messages and tracebacks show."""
        return str(self._path)

    def get_data(self, path: str | bytes) -> bytes:
        """Return the source."""
        return self._content


def _run_file(path: Path, content: bytes, digest: str) -> ModuleType:
    """Run a file as a module of a name that no other module has.

    The name depends on the content alone, so that objects of the module can be pickled and read
    by another process that has loaded the same file.
    """
    name = f"hipo_plugin_{digest[:16]}"
    loader = _ContentLoader(path, content)
    module = module_from_spec(ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _failure(str(path), error) from error
    return module


def _from_entry_point(entry_point: EntryPoint) -> Plugin:
    """Import what an installed package offers; its identity is its name and version."""
    distribution = entry_point.dist
    origin = f"{distribution.name} {distribution.version}" if distribution else entry_point.value
    try:
        module = import_module(entry_point.module)
    except Exception as error:
        raise _failure(f"{origin} ({entry_point.value})", error) from error
    digest = hashlib.sha256(origin.encode()).hexdigest()
    return Plugin(origin, digest, None, _declared(module, f"{origin} ({entry_point.module})"))


def _failure(plugin: str, error: Exception) -> UsageError:
    """Say where loading a plugin failed: the innermost line of its own, where there is one."""
    place = plugin
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}:{error.lineno}"
    else:
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename != __file__ and not frame.filename.startswith("<frozen")
        ]
        own = [frame for frame in frames if frame.filename == plugin] or frames
        if own:
            place = f"{own[-1].filename}:{own[-1].lineno}"
    return UsageError(
        f"the plugin {plugin} cannot be loaded: {place}: {type(error).__name__}: {error}",
        "mend it, or leave it out",
    )


def _declared(module: ModuleType, plugin: str) -> tuple[Extension, ...]:
    """Return what a plugin's module lists in EXTENSIONS.

    Raises:
        UsageError: there is no such list, or something in it is no extension.
    """
    listed = getattr(module, "EXTENSIONS", None)
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise UsageError(
            f"the plugin {plugin} declares nothing",
            "list its extensions: EXTENSIONS = [my_gate, my_strategy]",
        )
    for position, extension in enumerate(listed):
        point = getattr(extension, "point", None)
        name = getattr(extension, "name", None)
        if point not in POINT_NAMES or not isinstance(name, str) or not name:
            raise UsageError(
                f"the plugin {plugin}: EXTENSIONS[{position}] is no extension:"
                f" point {point!r}, name {name!r}",
                f"points: {', '.join(POINT_NAMES)}; the name is any text",
            )
    return tuple(listed)
