"""The options of ``hipo verify`` that say which jurors are asked."""

from __future__ import annotations

import typer

from hipo.app.options.groups import OptionGroup
from hipo.app.verification.jury_request import JUROR_SCHEME, JUROR_TASK, JuryRequest
from hipo.cli.options.plain import with_group
from prompts.tasks.modes import MODES
from scenarios.errors import UsageError


def _jury(
    *,
    juror: list[str] | None = typer.Option(
        None,
        "--juror",
        metavar="MODEL",
        help="Label every answer as a juror would, by a scheme apart from the run's; repeatable. "
        "Jurors decide nothing, and without --judge they alone are asked.",
        show_default=False,
    ),
    juror_task: str = typer.Option(
        JUROR_TASK,
        hidden=True,
        metavar="NAME|FILE",
        help="What jurors are asked; or cobra-juror-principles.",
    ),
    juror_mode: str | None = typer.Option(
        None,
        hidden=True,
        metavar="MODE",
        help="How: zero-shot, icl (worked examples), cot, two-phase; default zero-shot.",
        show_default=False,
    ),
    juror_scheme: str = typer.Option(
        JUROR_SCHEME, hidden=True, metavar="NAME|FILE", help="Whose labels jurors give."
    ),
) -> JuryRequest | None:
    if not juror:
        settings = (juror_task, juror_mode, juror_scheme)
        if settings != (JUROR_TASK, None, JUROR_SCHEME):
            raise UsageError(
                "--juror-task, --juror-mode and --juror-scheme say what jurors are asked",
                "name who: --juror MODEL",
            )
        return None
    mode = next((known for known in MODES if known == juror_mode), None)
    if juror_mode is not None and mode is None:
        raise UsageError(f"there is no mode {juror_mode!r}", f"modes: {', '.join(MODES)}")
    if len(set(juror)) < len(juror):
        raise UsageError("a juror is named twice", "name each model once")
    return JuryRequest(models=juror, task=juror_task, mode=mode, scheme=juror_scheme)


with_jury_options = with_group("jury", _jury, heading=OptionGroup.JURORS)
"""Gives a command the options of jurors; it gets them as ``jury``, None without jurors."""
