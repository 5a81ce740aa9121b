"""``hipo scheme show``: read one label scheme."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from hipo.cli.main import command_app
from hipo.cli.schemes.options import PRINT
from hipo.cli.terminal.console import Format, write_json
from scenarios.schemes.model import Dimension, Label, Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.terms import LabelValue

app = command_app()
MAX_WIDTH = 100


@app.command("show")
def show(
    target: str = typer.Argument(
        ..., metavar="SCHEME", help="The name of a scheme that ships, or a file."
    ),
    output_format: Format = PRINT,
) -> None:
    """Read one label scheme: what is asked, which labels answer it, how they are told apart."""
    scheme = load_scheme(target)
    if output_format == "json":
        write_json(scheme_as_data(scheme))
    else:
        print("\n".join(readable_scheme(scheme)))


def scheme_as_data(scheme: Scheme) -> dict[str, Any]:
    """Return what ``hipo scheme show SCHEME --print json`` prints: the fields of a scheme file.

    Fields left at nothing are left out; ``hipo scheme schema`` describes it.
    """
    data: dict[str, Any] = _filled(scheme.model_dump(mode="json", by_alias=True))
    return data


def _filled(value: Any) -> Any:
    """Return nested data without the fields that hold nothing."""
    if isinstance(value, dict):
        kept = {name: _filled(item) for name, item in value.items()}
        return {n: item for n, item in kept.items() if item not in (None, "", [], {}, False)}
    return [_filled(item) for item in value] if isinstance(value, list) else value


def readable_scheme(scheme: Scheme) -> Iterator[str]:
    """Yield the lines of a scheme the way people read it."""
    yield f"{scheme.title}  ({scheme.name})"
    yield from _wrapped(scheme.description)
    yield from _wrapped(scheme.source, "from ")
    for dimension in scheme.dimensions:
        yield ""
        yield from _dimension(dimension, assigned=dimension.id == scheme.assigned)
    rules = [
        *(
            (f"never together: {_labels(rule.labels)}", rule.reason)
            for rule in scheme.contradictions
        ),
        *(
            (f"hardly together: {_labels(rule.labels)}", rule.reason)
            for rule in scheme.rarely_together
        ),
        *(
            (f"with {_labels(rule.when)}, some turn has {_labels(rule.some_turn)}", rule.reason)
            for rule in scheme.requirements
        ),
    ]
    yield from _section("Rules", (f"{rule}. {reason}" for rule, reason in rules))
    yield from _section("Words", (f"{word}: {meaning}" for word, meaning in scheme.terms.items()))
    yield from _section("Conventions", scheme.conventions)
    yield from _section("Categories", [", ".join(scheme.categories)] if scheme.categories else [])
    yield from _section("Tags", [", ".join(scheme.tags)] if scheme.tags else [])


def _dimension(dimension: Dimension, *, assigned: bool) -> Iterator[str]:
    notes: list[str] = [dimension.level, dimension.measurement]
    notes += ["assigned to the dialogue: the goal"] if assigned else []
    notes += ["readers alone"] if dimension.by == "reader" else []
    notes += ["computed"] if dimension.derived else []
    notes += [f"of {', '.join(dimension.of)}"] if dimension.of else []
    notes += [f"if {_labels(dimension.when)}"] if dimension.when else []
    yield f"{dimension.title or dimension.id}  [{dimension.id}]"
    yield f"  {', '.join(notes)}"
    yield from _wrapped(dimension.question, "  ")
    if dimension.range is not None:
        points = f", {dimension.points} points" if dimension.points else ""
        yield f"    from {dimension.range[0]:g} to {dimension.range[1]:g}{points}"
    for label in dimension.labels:
        yield from _label(label)
    if dimension.steps:
        about = f" (about {dimension.look_at})" if dimension.look_at else ""
        yield from _wrapped(f"the first that holds{about}:", "    ")
    for number, step in enumerate(dimension.steps, 1):
        yield from _wrapped(f"{step.when}: {step.label}", f"    {number}. ", indent=7)


def _label(label: Label) -> Iterator[str]:
    only = f" (only {_labels(label.applies)})" if label.applies else ""
    yield from _wrapped(f"{label.definition}{only}", f"    {label.id}: ", indent=8)
    if label.example:
        yield from _wrapped(label.example, "        e.g. ", indent=8)


def _labels(labels: Mapping[str, LabelValue]) -> str:
    return " and ".join(
        f"{name} {value if isinstance(value, str) else ' or '.join(map(str, value))}"  # type: ignore[arg-type]
        for name, value in labels.items()
    )


def _section(title: str, texts: Any) -> Iterator[str]:
    """Yield a titled section, or nothing where it is empty."""
    for number, text in enumerate(texts):
        if not number:
            yield ""
            yield title
        yield from _wrapped(text, "  ", indent=4)


def _wrapped(text: str, opening: str = "", *, indent: int = 2) -> Iterator[str]:
    width = min(shutil.get_terminal_size((MAX_WIDTH, 24)).columns, MAX_WIDTH)
    yield from textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=opening,
        subsequent_indent=" " * (indent if opening else 0),
        break_on_hyphens=False,
    )
