"""Plugins: files and installed packages that add strategies, gates, row formats and the like.

A plugin is a Python file named with ``--plugin FILE`` or in the recipe, or an installed package
with an entry point in the group ``hipo.plugins``. Either holds a sequence ``EXTENSIONS`` of objects
that say which extension point they belong to and which name they have.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Final, Literal, Protocol, get_args

from scenarios.errors import UsageError
from scenarios.text_file import real_path

PointName = Literal[
    "strategy",
    "critic",
    "verifier",
    "gate",
    "judge",
    "task",
    "provider",
    "derived",
    "export kind",
    "export format",
]
POINT_NAMES: Final[tuple[PointName, ...]] = get_args(PointName)
ENTRY_POINT_GROUP: Final = "hipo.plugins"
_FILE_MODULE: Final = "hipo_plugin_"
"""What the names of modules begin with that are made of plugin files."""


class Extension(Protocol):
    """What an object must say of itself to be listed in ``EXTENSIONS``."""

    @property
    def point(self) -> PointName:
        """The extension point it belongs to."""

    @property
    def name(self) -> str:
        """The name it is looked up by; unique within its point."""


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
    stored: list[Path] = field(default_factory=list)
    """Files that the recipe of a run names. None of them is run: whoever sent the run chose them."""

    def load_file(self, file: str | Path) -> None:
        """Run a plugin file, once for each content it has; one that changed replaces itself.

        Raises:
            UsageError: there is no such file, it does not run, it declares nothing usable, or it
                has a name that another plugin has.
        """
        plugin = self._run(Path(file))
        if plugin not in self.files.values():
            others = [other for other in self.files.values() if other.path != plugin.path]
            _refuse_duplicates([*others, *(self.packages or ()), plugin])
            self.files[plugin.path or Path(file)] = plugin

    def _run(self, file: Path) -> Plugin:
        """Return the plugin of a file, the one that is loaded if its content is the same."""
        path = real_path(file)
        if path.exists() and not path.is_file():  # a pipe or a device is not waited for
            raise UsageError(f"the plugin {file} is no file", "give --plugin a Python file")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"cannot read the plugin {file}: {error.strerror}", "give --plugin a Python file"
            ) from error
        digest = hashlib.sha256(content).hexdigest()
        same = next((p for p in self.files.values() if p.fingerprint == digest), None)
        if same is not None:
            return same
        module = _run_file(path, content, digest)
        return Plugin(path.name, digest, path, _declared(module, str(path)))

    def load_rest(self) -> None:
        """Import what installed packages offer, once.

        Raises:
            UsageError: a plugin cannot be loaded, declares nothing usable, or takes another's name.
        """
        if self.packages is None:
            found = {point.value: point for point in entry_points(group=ENTRY_POINT_GROUP)}
            packages = tuple(_from_entry_point(found[value]) for value in sorted(found))
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
    for file in [files] if isinstance(files, str | Path) else files:
        PLUGINS.load_file(file)


def note_stored_plugins(files: Iterable[str | Path]) -> None:
    """Remember the plugin files that the recipe of a run names, for the message of what needs them.

    They are not run. A run may come from somebody else, who could name a file that came with it.
    """
    paths = (real_path(Path(file)) for file in files)
    PLUGINS.stored += [path for path in paths if path not in PLUGINS.stored]


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
    name = f"{_FILE_MODULE}{digest[:16]}"
    loader = _ContentLoader(path, content)
    module = module_from_spec(ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        with redirect_stdout(sys.stderr):  # a command may print JSON
            loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failure(str(path), error) from error
    return module


def _from_entry_point(entry_point: EntryPoint) -> Plugin:
    """Import what an installed package offers; its identity is its name and version.

    Raises:
        UsageError: it cannot be imported, or declares nothing usable.
    """
    distribution = entry_point.dist
    origin = f"{distribution.name} {distribution.version}" if distribution else entry_point.value
    if (entry_point.attr or "EXTENSIONS") != "EXTENSIONS":
        raise UsageError(
            f"the plugin {origin}: the entry point {entry_point.name!r} is {entry_point.value}",
            f"name the module alone, {entry_point.module}: its list is called EXTENSIONS",
        )
    try:
        with redirect_stdout(sys.stderr):  # a command may print JSON
            module = import_module(entry_point.module)
    except (Exception, SystemExit) as error:
        raise _failure(f"{origin} ({entry_point.value})", error) from error
    digest = hashlib.sha256(origin.encode()).hexdigest()
    return Plugin(origin, digest, None, _declared(module, f"{origin} ({entry_point.module})"))


def _failure(plugin: str, error: BaseException) -> UsageError:
    """Say where loading a plugin failed."""
    return UsageError(
        f"the plugin {plugin} cannot be loaded: {place_of(error)}{type(error).__name__}: {error}",
        "mend it, or leave it out",
    )


def place_in_plugin(error: BaseException) -> str | None:
    """Return the file and line in a plugin that an error passed through last, None for no plugin."""
    packages = {point.module.partition(".")[0] for point in entry_points(group=ENTRY_POINT_GROUP)}
    found = None
    step = error.__traceback__
    while step is not None:
        name = str(step.tb_frame.f_globals.get("__name__"))
        if name.startswith(_FILE_MODULE) or name.partition(".")[0] in packages:
            found = f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}"
        step = step.tb_next
    return found


def place_of(error: BaseException) -> str:
    """Return the file and line where a plugin went wrong, with a colon; empty if it shows nowhere."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: "
    place = place_in_plugin(error)
    return f"{place}: " if place else ""


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
