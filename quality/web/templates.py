"""Templates of pages: every value is escaped, and a missing one is an error."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from prompts.compiled_templates import CompiledOnce

PAGES = Path(__file__).parent / "pages"
_compiled = CompiledOnce()


def page_templates(folder: Path) -> Environment:
    """Return the templates of a folder, which may extend ``frame.html.j2``.

    They are compiled when first used; :func:`compile_all` does it beforehand.
    """
    return Environment(
        loader=FileSystemLoader([folder, PAGES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled,
    )


def compile_all(templates: Environment) -> None:
    """Compile every template now, so that nobody waits for it; filters have to be there."""
    for name in templates.list_templates():
        templates.get_template(name)
