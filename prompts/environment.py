"""The Jinja environment of the prompts: strict, values on one line, the user's templates sandboxed."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from jinja2 import (
    Environment,
    FunctionLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
)
from jinja2 import nodes as jinja_nodes
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from prompts.compiled_templates import CompiledOnce
from prompts.languages import writing_note
from prompts.plain_text import one_line
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.spelling import suggestion

SHIPPED = Path(__file__).parent / "templates"
_REPAIR = (
    "the run is damaged: see what is wrong with hipo runs check, and save what can be read with "
    "hipo runs repair"
)
_MEND = "mend the template, or remove the file to use the shipped one"
_MAX_BYTES = 256 * 1024
REMEMBERED_LINES = 8_192
"""Values of prompts that are kept as they are put on a line; 200 bytes each, as a rule."""
REMEMBERED_INCLUDES = 512
"""Templates of which it is kept what they include."""
REMEMBERED_VIEWS = 1_024
"""Views for which what depends on nothing else is kept rendered; 2 kB each, as a rule."""
_INCLUDE = re.compile(r'^{% include "(\w+)\.j2" %}\n', re.MULTILINE)
_OF_THE_VIEW = re.compile(
    r'(?:^{% include "(?:private|scene|speaker_part|speaker_scene)\.j2" %}\n)+', re.MULTILINE
)
"""Some that depend on nothing but what somebody knows, one after the other."""
_HEADING = re.compile(r"#+(?:\s|$)")
_RUNTIME = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError,
    RecursionError,
)  # fmt: skip


class MultilineText(str):
    """Text of our own making that may span several lines of a prompt."""

    __slots__ = ()


def as_data(value: object) -> object:
    """Put a value on one line and keep it from opening a section; a :class:`MultilineText` stays as it is."""
    if not isinstance(value, str) or isinstance(value, MultilineText):
        return value
    return as_line(value)


@lru_cache(maxsize=REMEMBERED_LINES)
def as_line(text: str) -> str:
    """Put a text on one line and keep it from opening a section.

    Most of what a prompt says was said in others: the situation, roles, the lines before.
    """
    line = one_line(text)
    return "\\" + line if _HEADING.match(line) else line


class Templates:
    """The shipped templates, any of them replaced by stored texts or by files in a directory.

    Values are data: they are never rendered as templates, and cannot start a line of their own.
    """

    def __init__(
        self, directory: Path | None = None, *, stored: Mapping[str, str] | None = None
    ) -> None:
        """Read every template, and compile those that are not what ships.

        Args:
            directory: the user's own files, by the names of shipped ones.
            stored: sources by name, as :meth:`sources` gave them when a run was made.

        Raises:
            UsageError: the directory is not there, holds a file that replaces nothing, or one that
                cannot be read, compiled, or names a variable that no prompt has; or a stored text
                cannot be compiled.
        """
        self._files = {path.name: path for path in sorted(SHIPPED.glob("*.j2"))}
        shipped = {name: path.read_text(encoding="utf-8") for name, path in self._files.items()}
        self._sources = dict(shipped) | dict(stored or {})
        self._files |= {name: Path("stored in the run") / name for name in stored or {}}
        own = () if directory is None else self._override(directory)
        self.own: dict[str, str] | None = None
        """The sources that a directory put in place of shipped ones; None for stored ones."""
        if directory is not None or stored is None:
            self.own = {name: self._sources[name] for name in own}
        self.stored_names = None if stored is None else frozenset(stored)
        """The names of those that came out of a run; None where none did."""
        # What comes out of a run may be anybody's: it is trusted only where it is what ships.
        foreign = any(shipped.get(name) != source for name, source in (stored or {}).items())
        self.shipped = not own and not foreign
        """Whether all of them are what ships."""
        self._environment = _environment(self._load, sandboxed=not self.shipped)
        if own:
            known = _variables(tuple(shipped.values()))
            for name in own:
                self._check(name, known)
        self._templates: dict[str, Template] = {}
        self._rendered_views: dict[str, dict[object, str]] = {}
        if not self.shipped:
            self._compile(self._sources)

    def _compile(self, names: Iterable[str]) -> None:
        """Compile some; after the check of the user's files only stored ones can fail."""
        try:
            found = {name: self._environment.get_template(name) for name in names}
        except TemplateSyntaxError as error:
            place = f"{error.filename}:{error.lineno}"
            raise UsageError(f"{place}: {error.message}", _REPAIR) from error
        except RecursionError as error:
            raise UsageError("a stored template is nested too deeply", _REPAIR) from error
        for template in found.values():
            # Jinja copies them whenever it renders, and a plain dict quickly
            template.globals = dict(template.globals)
            if self.shipped:
                template.blocks = {
                    block: _once_a_view(render, self._rendered_views.setdefault(block, {}))
                    for block, render in template.blocks.items()
                }
        self._templates |= found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all templates, sorted."""
        return tuple(sorted(self._sources))

    @property
    def fingerprint(self) -> str:
        """The content hash of all effective sources."""
        return self.fingerprint_of(self._sources)

    def fingerprint_of(self, names: Iterable[str]) -> str:
        """Return the content hash of some effective sources."""
        return fingerprint({name: self._sources[name] for name in names})

    def sources(self, names: Iterable[str]) -> dict[str, str]:
        """Return the effective sources of some templates and of all that they include, by name."""
        wanted = list(names)
        found: dict[str, str] = {}
        while wanted:
            name = wanted.pop()
            if name in found or name not in self._sources:
                continue
            found[name] = self._sources[name]
            included = _included(found[name])
            wanted += self.names if None in included else [one for one in included if one]
        return dict(sorted(found.items()))

    def render(self, name: str, variables: Mapping[str, object]) -> str:
        """Render one template, without blank lines at its ends.

        Raises:
            UsageError: the template asks for something that is not there or not allowed.
        """
        if name not in self._templates:
            self._compile([name])
        template = self._templates[name]
        try:
            return template.render(variables).strip()
        except _RUNTIME as error:
            raise UsageError(
                f"{self._place(name, error)}: {one_line(str(error))}",
                f"compare it with the shipped template {name}",
            ) from error

    def _load(self, name: str) -> tuple[str, str, None] | None:
        if name not in self._sources:
            return None
        # Only a mistake needs to be found in the file it is in, and what ships has none. To compile
        # a system message as a whole, which is rendered once, would take longer than it saves.
        whole = self.shipped and not name.endswith("_system.j2")
        source = self._as_a_whole(name) if whole else self._sources[name]
        return source, str(self._files[name]), None

    def _as_a_whole(self, name: str) -> str:
        """Return a template with what it includes put in; what depends on the view alone is a block.

        Jinja takes longer to prepare an include than to render what most of them hold.
        """
        parted = _OF_THE_VIEW.sub(_as_block, self._sources[name])
        return _INCLUDE.sub(lambda found: self._as_a_whole(f"{found[1]}.j2"), parted)

    def _override(self, directory: Path) -> tuple[str, ...]:
        """Put the files of a directory in place of shipped ones, and return their names."""
        if not directory.is_dir():
            raise UsageError(
                f"{directory}: there is no such directory",
                "give a directory with templates of your own, or leave the option out",
            )
        found = [
            path
            for path in sorted(directory.iterdir())
            if not path.name.startswith(".") and path.name.upper() != "README.MD"
        ]
        if not found:
            raise UsageError(
                f"{directory}: holds no template",
                suggestion("", sorted(self._files), listing="templates"),
            )
        for path in found:
            if path.name not in self._files:
                raise UsageError(
                    f"{path}: replaces no template",
                    suggestion(path.name, sorted(self._files), listing="templates"),
                )
            self._sources[path.name] = _read(path)
            self._files[path.name] = path
        return tuple(path.name for path in found)

    def _check(self, name: str, known: frozenset[str]) -> None:
        """Refuse a template of the user's that cannot work, before anything is rendered."""
        file = self._files[name]
        try:
            tree = self._environment.parse(self._sources[name], name, str(file))
            # Some mistakes, unknown filters among them, only show when the template is compiled.
            self._environment.get_template(name)
        except TemplateSyntaxError as error:
            raise UsageError(f"{file}:{error.lineno}: {error.message}", _MEND) from error
        except RecursionError as error:
            raise UsageError(f"{file}: is nested too deeply", _MEND) from error
        for included in tree.find_all(jinja_nodes.Include):
            target = included.template
            if isinstance(target, jinja_nodes.Const) and target.value not in self._sources:
                raise UsageError(
                    f"{file}:{included.lineno}: includes the unknown template {target.value!r}",
                    suggestion(str(target.value), self._sources, listing="templates"),
                )
        unknown = find_undeclared_variables(tree) - known - set(self._environment.globals)
        for node in tree.find_all(jinja_nodes.Name):
            if node.ctx == "load" and node.name in unknown:
                raise UsageError(
                    f"{file}:{node.lineno}: {node.name!r} is no variable of any prompt",
                    suggestion(node.name, sorted(known), listing="variables"),
                )

    def _place(self, name: str, error: Exception) -> str:
        """Return ``file:line`` of the innermost template line that raised."""
        files = {str(path) for path in self._files.values()}
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename in files:
                return f"{frame.filename}:{frame.lineno}"
        return str(self._files[name])


def _as_block(includes: re.Match[str]) -> str:
    """Return some includes in a block that is named after all of them."""
    name = "_".join(_INCLUDE.findall(includes[0]))
    return f"{{% block {name} %}}\n{includes[0]}{{% endblock %}}\n"


def _once_a_view(
    render: Callable[[Context], Iterator[str]], known: dict[object, str]
) -> Callable[[Context], Iterator[str]]:
    """Render a block that depends on the view alone once for each view, and keep that in ``known``.

    What somebody knows stays as it is from turn to turn, from a draft to its critique, and from
    one strategy to the next.
    """

    def rendered(context: Context) -> Iterator[str]:
        view = context["view"]
        try:
            text = known.get(view)
        except TypeError:  # somebody's own view, which cannot be hashed
            yield from render(context)
            return
        if text is None:
            if len(known) >= REMEMBERED_VIEWS:
                known.clear()
            text = known[view] = "".join(render(context))
        yield text

    return rendered


_compiled = {sandboxed: CompiledOnce() for sandboxed in (False, True)}
"""In a sandbox other code is made of the same text."""


def _environment(
    load: Callable[[str], tuple[str, str, None] | None], *, sandboxed: bool
) -> Environment:
    """Return the strict environment; our own templates do without the cost of a sandbox."""
    kind = ImmutableSandboxedEnvironment if sandboxed else Environment
    environment = kind(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        finalize=as_data,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        autoescape=False,
        cache_size=-1,  # a plain dict: every include looks its template up
        bytecode_cache=_compiled[sandboxed],
    )
    environment.filters["writing_note"] = writing_note
    return environment


@lru_cache(maxsize=1)
def _variables(shipped: tuple[str, ...]) -> frozenset[str]:
    """Collect the variables that the shipped templates use: what prompts have to offer."""
    environment = _environment(lambda _: None, sandboxed=False)
    found = (find_undeclared_variables(environment.parse(source)) for source in shipped)
    return frozenset().union(*found) - set(environment.globals)


@lru_cache(maxsize=REMEMBERED_INCLUDES)
def _included(source: str) -> frozenset[str | None]:
    """Return the names of what a template includes; None is one only known while it is rendered."""
    parsed = _environment(lambda _: None, sandboxed=False).parse(source)
    return frozenset(find_referenced_templates(parsed))


def _read(path: Path) -> str:
    """Return the text of a template file of the user's.

    Raises:
        UsageError: it is no file, too large, or not UTF-8.
    """
    if not path.is_file():
        raise UsageError(f"{path}: is no file", "put templates directly into the directory")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "make the file readable") from error
    if len(content) > _MAX_BYTES:
        raise UsageError(
            f"{path}: {len(content):,} bytes", f"a template may have {_MAX_BYTES:,} at most"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 ({error.reason})", "save it as UTF-8") from error
