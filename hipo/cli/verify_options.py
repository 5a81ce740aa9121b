"""The options that say who verifies and by which policy, for every command that can."""

from __future__ import annotations

import typer

from hipo.app.verification import Wishes
from hipo.cli.option_groups import with_group


def _wishes(
    *,
    judges: list[str] | None = typer.Option(
        None, "--judge", metavar="MODEL", show_default=False,
        help="provider/model of an external judge; repeat it for a panel.",
    ),
    self_judge: str | None = typer.Option(
        None, "--self-judge", metavar="MODEL", help="Who labels anew; default the generator."
    ),
    no_self: bool = typer.Option(False, "--no-self", help="No self-judgement."),
    policy: str | None = typer.Option(
        None, "--policy",
        help="review (flagged waits for people, default), auto (flagged is discarded), gates "
        "(judges do not decide), or a file.",
    ),
    gates: list[str] | None = typer.Option(
        None, "--gate", metavar="NAME", show_default=False,
        help="A gate of a plugin to ask beside those that ship; repeatable.",
    ),
    allow_same_judge: bool = typer.Option(
        False, "--allow-same-judge", help="Let the generator's model be an external judge."
    ),
    judge_base_url: str | None = typer.Option(
        None, "--judge-base-url", help="Where the named judges are reached."
    ),
    judge_api_key_env: str | None = typer.Option(
        None, "--judge-api-key-env", help="Variable that holds their key."
    ),
) -> Wishes:  # fmt: skip
    return Wishes(
        judges=tuple(judges or ()),
        self_judge=self_judge,
        base_url=judge_base_url,
        api_key_env=judge_api_key_env,
        self_judgement=False if no_self else None,
        allow_same_judge=allow_same_judge or None,
        policy=policy,
        gates=tuple(gates or ()),
    )


with_verification_options = with_group("wishes", _wishes)
"""Gives a command the options of verification; what was given reaches it as ``wishes``."""
