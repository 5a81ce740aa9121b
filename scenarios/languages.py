"""Which languages a scenario can be played in: those that its fixed lines are written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scenarios.errors import InputError, Problem
from scenarios.language_code import check_code
from scenarios.located import Located
from scenarios.spec import Scenario

_MOST: Final = 8
"""Scenarios that a message names."""


def is_written_in(scenario: Scenario, language: str) -> bool:
    """Return whether a scenario's texts are in a language; ``en`` serves ``en-GB``, too."""
    wanted = language.casefold()
    return any(
        wanted == own.casefold() or wanted.startswith(f"{own.casefold()}-")
        for own in scenario.languages
    )


def is_in_english(scenario: Scenario) -> bool:
    """Return whether all of its texts are in English, which the model that compares meanings reads.

    Between any two texts in German the cosine of all-MiniLM-L6-v2 is some 0.4, in Chinese 0.6:
    thresholds that were set on English would call different texts alike.
    """
    return all(own.casefold().split("-")[0] == "en" for own in scenario.languages)


def check_languages(
    scenarios: Sequence[Scenario], languages: Sequence[str], files: Mapping[str, Located]
) -> None:
    """Do nothing where every scenario is written in every language it is to be played in.

    Fixed lines are said as they are written: a dialogue in another language would mix two.

    Args:
        scenarios: those to be played.
        languages: those of the dialogues (BCP 47).
        files: where scenarios were read, by id; what is stored in a run has no file.

    Raises:
        UsageError: a language is no code.
        InputError: names a language that is missing and the first file that lacks it.
    """
    for language in languages:
        check_code(language)
        lacking = [s for s in scenarios if not is_written_in(s, language)]
        if not lacking:
            continue
        first, others = lacking[0], len(lacking) - 1
        are = "is" if others == 1 else "are"
        more = f" ({others} more {are} not written in {language} either)" if others else ""
        shared = [own for own in first.languages if all(is_written_in(s, own) for s in scenarios)]
        as_written = f"play them as they are written (--language {shared[0]}), " if shared else ""
        written = [s.id for s in scenarios if is_written_in(s, language)]
        if written:
            some = ",".join(written[:_MOST]) + (",..." if len(written) > _MOST else "")
            as_written = (
                f"play those that are (--scenarios {some}), the others in a run of their own, "
            )
        located = files.get(first.id)
        problem = Problem(
            file=f"scenario {first.id}" if located is None else located.file,
            line=None if located is None else located.line(("languages",)),
            field="languages",
            found=f"{', '.join(first.languages)}{more}",
            expected=f"{language!r}, which the dialogues are to be in (--language)",
            hint=f"{as_written}have them put into it (hipo scenarios translate --language {language}) and name "
            f"the wordings with --wordings, write a file of your own with languages: [{language}], "
            "or choose other scenarios with --scenarios",
        )
        raise InputError([problem])
