"""Options that need nothing of hipo, and how a command gets a group of options as one value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import typer
from typer.models import OptionInfo

from hipo.app.options.groups import OptionGroup

Command = Callable[..., int]


JSON_SHAPES = typer.Option(
    "text",
    "--format",
    rich_help_panel=OptionGroup.OUTPUT,
    help="json: see docs/json-shapes.md.",
)
QUIET = typer.Option(
    False,
    "-q",
    "--quiet",
    rich_help_panel=OptionGroup.OUTPUT,
    help="No progress, no summary; only what a run waits for.",
)
DRY_RUN = typer.Option(
    False, "--dry-run", help="Say what it would take (calls, tokens, cost); send nothing."
)


def with_group(
    name: str,
    build: Callable[..., object],
    parameters: Sequence[inspect.Parameter] | None = None,
    *,
    heading: OptionGroup | None = None,
) -> Callable[[Command], Command]:
    """Return a decorator that puts options in the place of a command's parameter ``name``.

    typer reads options from a signature, so that is where they are put together.

    Args:
        name: of the parameter, which gets what ``build`` returns.
        build: is called with the value of each of the parameters, by name.
        parameters: keyword-only, with options of typer as defaults; None: those of ``build``.
        heading: in the help, of those that name none themselves.
    """
    if parameters is None:
        parameters = tuple(inspect.signature(build, eval_str=True).parameters.values())
    group = tuple(_under(heading, parameter) for parameter in parameters)

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        together = [p for one in own for p in (group if one.name == name else (one,))]

        @functools.wraps(command)
        def wrapper(**values: Any) -> int:
            chosen = {p.name: values.pop(p.name) for p in group}
            return command(**{name: build(**chosen)}, **values)

        wrapper.__signature__ = inspect.Signature(together)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in together}
        return wrapper

    return decorate


def _under(heading: OptionGroup | None, parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter whose option stands under a heading."""
    option = parameter.default
    if heading is None or not isinstance(option, OptionInfo) or option.rich_help_panel is not None:
        return parameter
    option = copy(option)
    option.rich_help_panel = heading
    return parameter.replace(default=option)
