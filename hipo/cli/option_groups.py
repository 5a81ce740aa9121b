"""Give a command a group of options that reach it as one value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

Command = Callable[..., int]


def with_group(
    name: str,
    made: Callable[..., object],
    parameters: Sequence[inspect.Parameter] | None = None,
) -> Callable[[Command], Command]:
    """Return a decorator that puts options in the place of a command's parameter ``name``.

    typer reads options from a signature, so that is where they are put together.

    Args:
        name: of the parameter, which gets what ``made`` returns.
        made: is called with what was said for each of the parameters, by name.
        parameters: keyword-only, with options of typer as defaults; None: those of ``made``.
    """
    if parameters is None:
        parameters = tuple(inspect.signature(made, eval_str=True).parameters.values())
    group = tuple(parameters)

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        together = [p for one in own for p in (group if one.name == name else (one,))]

        @functools.wraps(command)
        def wrapper(**values: Any) -> int:
            said = {p.name: values.pop(p.name) for p in group}
            return command(**{name: made(**said)}, **values)

        wrapper.__signature__ = inspect.Signature(together)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in together}
        return wrapper

    return decorate
