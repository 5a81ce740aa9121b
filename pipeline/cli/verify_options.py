"""The options that say who verifies and by which policy, for every command that can."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import typer

from pipeline.cli.verification import Wishes

_OPTIONS: tuple[tuple[str, Any, Any], ...] = (
    (
        "judges",
        list[str] | None,
        typer.Option(
            None, "--judge", metavar="MODEL", show_default=False,
            help="provider/model of an external judge; repeat it for a panel.",
        ),
    ),
    (
        "self_judge",
        str | None,
        typer.Option(
            None, "--self-judge", metavar="MODEL", help="Who labels anew; default the generator."
        ),
    ),
    ("no_self", bool, typer.Option(False, "--no-self", help="No self-judgement.")),
    (
        "policy",
        str | None,
        typer.Option(
            None, "--policy",
            help="review (flagged waits for people, default), auto (flagged is discarded), gates "
            "(judges do not decide), or a file.",
        ),
    ),
    (
        "allow_same_judge",
        bool,
        typer.Option(
            False, "--allow-same-judge", help="Let the generator's model be an external judge."
        ),
    ),
    (
        "judge_base_url",
        str | None,
        typer.Option(None, "--judge-base-url", help="Where the named judges are reached."),
    ),
    (
        "judge_api_key_env",
        str | None,
        typer.Option(None, "--judge-api-key-env", help="Variable that holds their key."),
    ),
)  # fmt: skip


def with_verification_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of verification; what was given reaches it as ``wishes``."""
    own = inspect.signature(command, eval_str=True).parameters
    parameters = [p for p in own.values() if p.name != "wishes"]
    parameters += [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=annotation
        )
        for name, annotation, option in _OPTIONS
    ]

    @functools.wraps(command)
    def wrapper(**values: Any) -> int:
        said = {name: values.pop(name) for name, _, _ in _OPTIONS}
        return command(wishes=_wishes(said), **values)

    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapper


def _wishes(said: dict[str, Any]) -> Wishes:
    return Wishes(
        judges=tuple(said["judges"] or ()),
        self_judge=said["self_judge"],
        base_url=said["judge_base_url"],
        api_key_env=said["judge_api_key_env"],
        self_judgement=False if said["no_self"] else None,
        allow_same_judge=said["allow_same_judge"] or None,
        policy=said["policy"],
    )
